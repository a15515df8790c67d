#include "sinks/bigquery/client/appends_testkit.h"

#include "sinks/port/bigquery.h"

/* The bytes are TableSchema{fields: {name, type}}. */
enum sink_user_result one_column(void *context,
                                 const struct sink_record *record,
                                 struct bytes destination,
                                 uint64_t *version,
                                 struct bytes *description)
{
    (void)context;
    (void)record;
    (void)destination;
    *version = 1;
    *description = BYTES_LITERAL("\x0a\x06\x0a\x02id\x10\x01");
    return SINK_USER_OK;
}

/* The n-th latest send of a method that is no opening of a connection, from 0. */
uint32_t latest(const struct host *host, const struct port_method *method, uint32_t n)
{
    for (uint32_t i = host->send_count; i > 0; i--) {
        const struct host_send *send = &host->sends[i - 1];
        if (send->method == method && send->kind != PORT_OPEN) {
            if (n == 0) {
                return i - 1;
            }
            n--;
        }
    }
    return NONE;
}

uint32_t latest_append(const struct host *host, uint32_t n)
{
    return latest(host, &bigquery_append_rows_method, n);
}

uint32_t sends_of(const struct host *host, const struct port_method *method)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < host->send_count; i++) {
        count += host->sends[i].method == method && host->sends[i].kind != PORT_OPEN;
    }
    return count;
}

uint32_t appends(const struct host *host)
{
    return sends_of(host, &bigquery_append_rows_method);
}

uint32_t openings(const struct host *host)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < host->send_count; i++) {
        count += host->sends[i].kind == PORT_OPEN;
    }
    return count;
}

void stored(struct host *host, uint32_t send, int64_t offset)
{
    const struct bigquery_int64 at = {offset};
    const struct bigquery_append_result result = {&at};
    const struct bigquery_append_rows_response response = {.append_result = &result};
    const struct port_answer answer = {.outcome = PORT_OUTCOME_OK, .payload = &response};
    host_answer_stream(host, send, &answer);
}

void refused(struct host *host,
             uint32_t send,
             enum port_code code,
             enum bigquery_storage_error reason)
{
    struct port_answer answer = {.outcome = PORT_OUTCOME_ERROR, .status = port_status_grpc(code)};
    answer.status.causes[0].reason = (uint16_t)reason;
    host_answer_stream(host, send, &answer);
}

/* Refused for one row, by its index. */
void bad_row(struct host *host, uint32_t send, enum port_code code, int64_t index)
{
    const struct bigquery_row_error error = {.index = index, .code = BIGQUERY_ROW_FIELDS_ERROR};
    const void *items[] = {&error};
    const struct bigquery_append_rows_response response = {.row_errors = {items, 1}};
    const struct port_answer answer = {
        .outcome = PORT_OUTCOME_ERROR, .status = port_status_grpc(code), .payload = &response};
    host_answer_stream(host, send, &answer);
}

void refuse_call(struct host *host, uint32_t send, enum port_code code)
{
    struct sink_event event = {.kind = SINK_EVENT_ANSWER};
    event.u.answer = (struct port_answer){.request = host->sends[send].number,
                                          .kind = PORT_ANSWER,
                                          .outcome = PORT_OUTCOME_ERROR,
                                          .method = host->sends[send].method,
                                          .status = port_status_grpc(code)};
    host->sends[send].done = true;
    host_step(host, &event);
}
