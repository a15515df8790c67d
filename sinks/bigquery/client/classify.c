#include "sinks/bigquery/client/classify.h"

#include "sinks/port/bigquery.h"

/* A number that is no code at all is not among them. */
#define TRANSIENT_CODES                                                                            \
    (PORT_CODE_BIT(PORT_UNAVAILABLE) | PORT_CODE_BIT(PORT_ABORTED) |                               \
     PORT_CODE_BIT(PORT_INTERNAL) | PORT_CODE_BIT(PORT_CANCELLED) |                                \
     PORT_CODE_BIT(PORT_DEADLINE_EXCEEDED) | PORT_CODE_BIT(PORT_RESOURCE_EXHAUSTED) |              \
     PORT_CODE_BIT(PORT_UNKNOWN))

/* A StorageError may stand anywhere in the chain of causes. */
static bool has_reason(const struct port_status *status, uint16_t reason)
{
    for (uint8_t i = 0; i < status->count; i++) {
        if (status->causes[i].reason == reason) {
            return true;
        }
    }
    return false;
}

static bool is_writer_closed(const struct port_status *status)
{
    return status->count > 0 && status->causes[0].domain == PORT_DOMAIN_CLIENT;
}

bool bigquery_is_rate_limited(const struct port_status *status)
{
    return has_reason(status, BIGQUERY_REASON_RATE_LIMIT_EXCEEDED);
}

bool bigquery_is_lost_race(const struct port_status *status)
{
    const uint32_t codes =
        PORT_CODE_BIT(PORT_ALREADY_EXISTS) | PORT_CODE_BIT(PORT_FAILED_PRECONDITION);
    return port_status_any(status, codes) ||
           has_reason(status, BIGQUERY_REASON_CONDITION_NOT_MET) ||
           bigquery_is_rate_limited(status);
}

struct port_status bigquery_writer_closed(void)
{
    struct port_status status = {.count = 1};
    status.causes[0] = (struct port_cause){.domain = PORT_DOMAIN_CLIENT, .code = PORT_ABORTED};
    return status;
}

enum bigquery_verdict bigquery_classify(const struct port_status *status, bool has_row_errors)
{
    const uint16_t code = port_status_first(status);
    if (is_writer_closed(status)) {
        return BIGQUERY_VERDICT_WRITER_CLOSED;
    }
    if (port_status_any(status, TRANSIENT_CODES)) {
        return BIGQUERY_VERDICT_TRANSIENT;
    }
    if (has_row_errors) {
        return BIGQUERY_VERDICT_ROWS;
    }
    if (has_reason(status, BIGQUERY_OFFSET_ALREADY_EXISTS) || code == PORT_ALREADY_EXISTS) {
        return BIGQUERY_VERDICT_OFFSET_EXISTS;
    }
    if (has_reason(status, BIGQUERY_OFFSET_OUT_OF_RANGE) || code == PORT_OUT_OF_RANGE) {
        return BIGQUERY_VERDICT_OFFSET_AHEAD;
    }
    if (has_reason(status, BIGQUERY_STREAM_FINALIZED) ||
        has_reason(status, BIGQUERY_STREAM_NOT_FOUND) ||
        has_reason(status, BIGQUERY_INVALID_STREAM_STATE)) {
        return BIGQUERY_VERDICT_STREAM_UNUSABLE;
    }
    if (has_reason(status, BIGQUERY_SCHEMA_MISMATCH_EXTRA_FIELDS)) {
        return BIGQUERY_VERDICT_SCHEMA_MISMATCH;
    }
    if (code == PORT_PERMISSION_DENIED || code == PORT_NOT_FOUND) {
        return BIGQUERY_VERDICT_MISSING_TABLE;
    }
    return BIGQUERY_VERDICT_TERMINAL;
}
