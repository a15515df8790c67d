#include "sinks/bigquery/client/appender.h"

#include "sinks/base/digest.h"
#include "sinks/bigquery/client/classify.h"
#include "sinks/effects.h"

enum appender_state {
    STATE_OPEN = 0,
    STATE_WAITING,
    STATE_FINAL,
};

/* Codes that are tried again within a connection (BQW-51). */
#define RETRIED_CODES                                                                              \
    (PORT_CODE_BIT(PORT_ABORTED) | PORT_CODE_BIT(PORT_UNAVAILABLE) |                               \
     PORT_CODE_BIT(PORT_CANCELLED) | PORT_CODE_BIT(PORT_INTERNAL) |                                \
     PORT_CODE_BIT(PORT_DEADLINE_EXCEEDED) | PORT_CODE_BIT(PORT_RESOURCE_EXHAUSTED))

void appender_init(struct appender *appender,
                   const struct allocator *allocator,
                   const struct bigquery_config *config,
                   struct appender_numbers *numbers,
                   struct parking *parking)
{
    *appender = (struct appender){
        .allocator = allocator, .config = config, .numbers = numbers, .parking = parking};
    list_init(&appender->appends);
    appender->failing_since = TIME_NEVER;
}

static void stop_slots(struct appender *appender)
{
    appender->watched = 0;
    parking_remove(appender->parking, &appender->pause);
    parking_remove(appender->parking, &appender->watch);
}

void appender_reset(struct appender *appender, struct bytes stream)
{
    CHECK(list_is_empty(&appender->appends));
    stop_slots(appender);
    appender->stream = stream;
    appender->state = STATE_OPEN;
    appender->lost = 0;
    appender->failing_since = TIME_NEVER;
}

/* --- settling ---------------------------------------------------------------------------------- */

static void settle(struct append *append, bool ok, const struct port_status *status_or_null)
{
    append->number = 0;
    append->settled = true;
    append->ok = ok;
    if (status_or_null != NULL) {
        append->status = *status_or_null;
        for (uint8_t i = 0; i < append->status.count; i++) {
            /* Details die with the answer. */
            append->status.causes[i].detail_message_or_null = NULL;
            append->status.causes[i].detail_or_null = NULL;
        }
    }
}

static struct append *first_open(const struct appender *appender)
{
    struct list_link *link = list_first(&appender->appends);
    while (link != NULL && append_of(link)->settled) {
        link = list_next(&appender->appends, link);
    }
    return link == NULL ? NULL : append_of(link);
}

static struct append *next_of(const struct appender *appender, struct append *append)
{
    struct list_link *link = list_next(&appender->appends, &append->link);
    return link == NULL ? NULL : append_of(link);
}

/* The connection is over for good: the oldest hears why, the others that it is closed. */
static void make_final(struct appender *appender, const struct port_status *status)
{
    const struct port_status closed = bigquery_writer_closed();
    const struct port_status *heard = status;
    appender->state = STATE_FINAL;
    stop_slots(appender);
    for (struct append *append = first_open(appender); append != NULL;
         append = next_of(appender, append)) {
        settle(append, false, heard);
        heard = &closed;
    }
}

/* Pull an append back with all that were sent behind it: they go again, in their order. */
static void pull_back(struct appender *appender, struct append *from)
{
    for (struct append *append = from; append != NULL; append = next_of(appender, append)) {
        append->number = 0;
    }
}

/* Only the append itself goes again, before any that was not sent yet. */
static void put_back(struct appender *appender, struct append *failed)
{
    struct append *place = next_of(appender, failed);
    while (place != NULL && place->number != 0) {
        place = next_of(appender, place);
    }
    failed->number = 0;
    list_remove(&appender->appends, &failed->link);
    if (place == NULL) {
        list_push_back(&appender->appends, &failed->link);
    } else {
        list_insert_before(&appender->appends, &place->link, &failed->link);
    }
}

static void make_progress(struct appender *appender)
{
    appender->lost = 0;
    appender->failing_since = TIME_NEVER;
}

/* A failure that is tried again, unless it has been for too long. */
static bool may_go_on(struct appender *appender, nanos now)
{
    if (appender->failing_since == TIME_NEVER) {
        appender->failing_since = now;
    }
    return nanos_sub(now, appender->failing_since) < appender->config->retry_duration_max;
}

static void wait_for_retry(struct appender *appender, uint32_t failures, nanos now)
{
    const struct retry_window pause = retry_backoff(&appender->config->retry, failures);
    parking_remove(appender->parking, &appender->pause);
    appender->state = STATE_WAITING;
    if (parking_add(appender->parking, &appender->pause, now, pause.min, pause.max) != ERR_OK) {
        const struct port_status closed = bigquery_writer_closed();
        make_final(appender, &closed);
    }
}

/* --- the interface ----------------------------------------------------------------------------- */

void appender_submit(struct appender *appender, struct append *append)
{
    CHECK(!append->submitted);
    append->submitted = true;
    list_push_back(&appender->appends, &append->link);
    if (appender->state == STATE_FINAL) {
        const struct port_status closed = bigquery_writer_closed();
        settle(append, false, &closed);
    }
}

struct append *appender_take_settled(struct appender *appender)
{
    struct list_link *link = list_first(&appender->appends);
    if (link == NULL || !append_of(link)->settled) {
        return NULL;
    }
    return append_of(list_pop_front(&appender->appends));
}

uint32_t appender_count(const struct appender *appender)
{
    return (uint32_t)appender->appends.count;
}

bool appender_is_final(const struct appender *appender)
{
    return appender->state == STATE_FINAL;
}

static void open_connection(struct appender *appender, struct sink_effects *effects)
{
    appender->numbers->stream++;
    appender->numbers->request++;
    appender->connection = appender->numbers->stream;
    appender->opened_by = appender->numbers->request;
    appender->has_schema = false;
    appender->opening = (struct bigquery_append_rows_request){.write_stream = appender->stream};
    const struct port_envelope envelope = {
        .request = appender->opened_by,
        .stream = appender->connection,
        .kind = PORT_OPEN,
        .method = &bigquery_append_rows_method,
        .deadline = TIME_NEVER,
        .payload = &appender->opening,
    };
    effects_send(effects, &envelope);
}

/* Section 2.3: a record counts as sent once, when it is first handed over. */
static void count_rows(struct append *append, struct sink_effects *effects)
{
    const uint32_t count = append_mark_sent(append);
    if (count > 0) {
        effects_metric(effects, BIGQUERY_METRIC_RECORDS_SENT, count);
    }
}

/* The first request of a connection carries the schema (BQW-10), and so do those behind it until one of them is
 * stored: what an error says of a request leaves open whether its schema was heard. */
static enum err send_append(struct appender *appender,
                            struct append *append,
                            nanos now,
                            struct sink_effects *effects)
{
    CHECK(appender->schema != NULL);
    const enum err err = append_fill(appender->allocator,
                                     append,
                                     appender->stream,
                                     appender->has_schema ? NULL : appender->schema);
    if (err != ERR_OK) {
        return err;
    }
    appender->numbers->request++;
    append->number = appender->numbers->request;
    append->sent_at = now;
    const struct port_envelope envelope = {
        .request = append->number,
        .stream = appender->connection,
        .kind = PORT_STREAM_SEND,
        .method = &bigquery_append_rows_method,
        .deadline = TIME_NEVER,
        .payload = &append->request,
    };
    effects_send(effects, &envelope);
    count_rows(append, effects);
    effects_metric(
        effects, append->attempts == 0 ? BIGQUERY_METRIC_APPENDS : BIGQUERY_METRIC_RETRIES, 1);
    return ERR_OK;
}

/* The watch follows the oldest append that is on its way. */
static enum err watch(struct appender *appender, nanos now)
{
    const struct append *oldest = first_open(appender);
    const uint64_t number = oldest == NULL ? 0 : oldest->number;
    if (number == appender->watched) {
        return ERR_OK;
    }
    parking_remove(appender->parking, &appender->watch);
    appender->watched = number;
    if (number == 0) {
        return ERR_OK;
    }
    const nanos due = nanos_add(oldest->sent_at, appender->config->response_timeout);
    const nanos left = nanos_sub(due, now);
    return parking_add(appender->parking, &appender->watch, now, left, left);
}

enum err appender_advance(struct appender *appender,
                          const struct sink_now *now,
                          struct sink_effects *effects)
{
    uint32_t in_flight = 0;
    for (struct append *append = first_open(appender);
         append != NULL && appender->state == STATE_OPEN &&
         in_flight < appender->config->in_flight_max;
         append = next_of(appender, append)) {
        in_flight++;
        if (append->number == 0) {
            if (!effects_has_space(effects) || !effects_has_room(effects)) {
                break;
            }
            if (appender->connection == 0) {
                open_connection(appender, effects);
                if (!effects_has_room(effects)) {
                    break;
                }
            }
            if (send_append(appender, append, now->monotonic, effects) != ERR_OK) {
                return ERR_LIMIT;
            }
        }
    }
    return watch(appender, now->monotonic);
}

bool appender_has(const struct appender *appender, const struct port_answer *answer)
{
    return appender->connection != 0 && answer->stream == appender->connection;
}

static void settle_answer(struct appender *appender,
                          struct append *append,
                          const struct port_answer *answer,
                          nanos now)
{
    const struct bigquery_append_rows_response *response = answer->payload;
    if (answer->outcome == PORT_OUTCOME_OK) {
        const struct bigquery_int64 *offset = response == NULL || response->append_result == NULL
                                                  ? NULL
                                                  : response->append_result->offset;
        /* An offset that is echoed must be the one that was asked for. */
        const bool fits =
            offset == NULL || !append->has_offset || (uint64_t)offset->value == append->offset;
        const struct port_status lies = port_status_grpc(PORT_DATA_LOSS);
        appender->has_schema = true;
        make_progress(appender);
        settle(append, fits, fits ? NULL : &lies);
        return;
    }
    const bool has_row_errors = response != NULL && response->row_errors.count > 0;
    append->attempts++;
    if (port_status_any(&answer->status, RETRIED_CODES) &&
        append->attempts < appender->config->retry.attempts_max && may_go_on(appender, now)) {
        if (appender->is_default) {
            put_back(appender, append);
        } else {
            pull_back(appender, append);
        }
        if (port_status_first(&answer->status) == PORT_RESOURCE_EXHAUSTED) {
            wait_for_retry(appender, append->attempts, now);
        }
        return;
    }
    append->has_row_errors = has_row_errors;
    (void)append_mark_bad(append, response);
    settle(append, false, &answer->status);
}

/* The connection is lost: all that has no answer goes again. */
static void end_connection(struct appender *appender, const struct port_answer *answer, nanos now)
{
    struct append *oldest = first_open(appender);
    appender->connection = 0;
    if (oldest == NULL || oldest->number == 0) {
        return;
    }
    const bool retried = answer->outcome == PORT_OUTCOME_OK || answer->status.count == 0 ||
                         port_status_any(&answer->status, RETRIED_CODES);
    pull_back(appender, oldest);
    if (!retried || !may_go_on(appender, now)) {
        make_final(appender, &answer->status);
        return;
    }
    appender->lost++;
    wait_for_retry(appender, appender->lost, now);
}

void appender_answer(struct appender *appender,
                     const struct sink_now *now,
                     const struct port_answer *answer)
{
    if (answer->kind == PORT_STREAM_END) {
        end_connection(appender, answer, now->monotonic);
        return;
    }
    for (struct append *append = first_open(appender); append != NULL;
         append = next_of(appender, append)) {
        if (append->number != 0 && append->number == answer->request) {
            settle_answer(appender, append, answer, now->monotonic);
            return;
        }
    }
}

bool appender_due(struct appender *appender,
                  const struct parking_slot *slot,
                  const struct sink_now *now,
                  struct sink_effects *effects)
{
    (void)now;
    if (slot == &appender->pause) {
        CHECK(appender->state == STATE_WAITING);
        appender->state = STATE_OPEN;
        return true;
    }
    if (slot == &appender->watch) {
        /* The client's own verdict, which carries no status of the service's (M21). */
        struct port_status silent = {.count = 1};
        silent.causes[0] =
            (struct port_cause){.domain = PORT_DOMAIN_CLIENT, .code = PORT_CODE_NONE};
        appender_close(appender, effects);
        make_final(appender, &silent);
        return true;
    }
    return false;
}

void appender_close(struct appender *appender, struct sink_effects *effects)
{
    stop_slots(appender);
    if (appender->connection != 0) {
        /* The request that opened a connection stands for all of it. */
        effects_cancel(effects, appender->opened_by, &bigquery_append_rows_method);
        appender->connection = 0;
    }
    pull_back(appender, first_open(appender));
}

void appender_fini(struct appender *appender)
{
    stop_slots(appender);
    while (!list_is_empty(&appender->appends)) {
        append_release(appender->allocator, append_of(list_pop_front(&appender->appends)));
    }
}

uint64_t appender_digest(uint64_t digest, const struct appender *appender)
{
    digest = digest_fold(digest, appender->connection);
    digest = digest_fold(digest, appender->has_schema);
    digest = digest_fold(digest, appender->state);
    digest = digest_fold(digest, appender->lost);
    digest = digest_fold(digest, appender->failing_since);
    digest = digest_fold(digest, digest_bytes(appender->stream));
    for (struct list_link *link = list_first(&appender->appends); link != NULL;
         link = list_next(&appender->appends, link)) {
        digest = append_digest(digest, append_of(link));
    }
    return digest;
}
