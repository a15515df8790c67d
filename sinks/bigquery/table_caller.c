#include "sinks/bigquery/table_caller.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/bigquery/client/classify.h"
#include "sinks/effects.h"

/* A race for the table's etag is run so often, with a pause between. */
#define ROUNDS_MAX     5u
#define RACE_PAUSE     MS(500)
#define PAUSE_SHORTEST MS(1)

void table_caller_init(struct table_caller *caller,
                       const struct table_caller_options *options,
                       const struct allocator *allocator,
                       struct appender_numbers *numbers,
                       struct parking *parking)
{
    *caller = (struct table_caller){
        .options = options, .allocator = allocator, .numbers = numbers, .parking = parking};
}

void table_caller_forget(struct table_caller *caller)
{
    allocator_give(caller->allocator, caller->seen, caller->seen_size);
    caller->seen = NULL;
    caller->seen_size = 0;
}

void table_caller_reset(struct table_caller *caller)
{
    CHECK(caller->call == 0);
    CHECK(!caller->waits);
    table_caller_forget(caller);
    caller->failures = 0;
    caller->rounds = 0;
    caller->reason = SINK_REASON_NONE;
    caller->has_status = false;
}

void table_caller_fini(struct table_caller *caller)
{
    parking_remove(caller->parking, &caller->pause);
    table_caller_forget(caller);
}

/* --- calls and answers ------------------------------------------------------------------------- */

bool table_caller_may_send(const struct table_caller *caller, struct sink_effects *effects)
{
    return caller->call == 0 && !caller->waits && effects_has_room(effects);
}

void table_caller_send(struct table_caller *caller,
                       const struct port_method *method,
                       const void *payload,
                       struct sink_effects *effects)
{
    caller->numbers->request++;
    caller->call = caller->numbers->request;
    caller->method = method;
    const struct port_envelope envelope = {
        .request = caller->call,
        .kind = PORT_CALL,
        .method = method,
        .deadline = caller->options->request_timeout,
        .payload = payload,
    };
    effects_send(effects, &envelope);
}

bool table_caller_answer(struct table_caller *caller, const struct port_answer *answer)
{
    const bool is_its = caller->call != 0 && answer->request == caller->call;
    caller->call = is_its ? 0 : caller->call;
    return is_its;
}

bool table_caller_due(struct table_caller *caller, const struct parking_slot *slot)
{
    const bool is_its = slot == &caller->pause;
    caller->waits = caller->waits && !is_its;
    return is_its;
}

bool table_caller_is_transient(const struct port_answer *answer)
{
    return answer->outcome == PORT_OUTCOME_UNKNOWN || bigquery_is_rate_limited(&answer->status) ||
           bigquery_classify(&answer->status, false) == BIGQUERY_VERDICT_TRANSIENT;
}

/* --- failing and waiting ----------------------------------------------------------------------- */

void table_caller_fail(struct table_caller *caller,
                       enum sink_reason reason,
                       const struct port_status *status_or_null,
                       const char *message)
{
    caller->reason = reason;
    caller->has_status = status_or_null != NULL;
    if (status_or_null != NULL) {
        caller->status = *status_or_null;
        for (uint8_t i = 0; i < caller->status.count; i++) {
            /* Details die with the answer. */
            caller->status.causes[i].detail_message_or_null = NULL;
            caller->status.causes[i].detail_or_null = NULL;
        }
    }
    caller->message = message;
}

static void wait(struct table_caller *caller, nanos now, nanos min, nanos max)
{
    if (parking_add(caller->parking, &caller->pause, now, min, max) != ERR_OK) {
        table_caller_fail(caller, SINK_REASON_MEMORY, NULL, "no memory for a pause");
        return;
    }
    caller->waits = true;
}

void table_caller_try_again(struct table_caller *caller,
                            nanos now,
                            const struct port_status *status)
{
    const struct retry_schedule *schedule = caller->options->schedule;
    caller->failures++;
    if (!retry_is_allowed(schedule, caller->failures)) {
        table_caller_fail(caller,
                          SINK_REASON_EXHAUSTED,
                          status,
                          "the attempts to look at or to make the table are used up");
        return;
    }
    const struct retry_window pause = retry_backoff(schedule, caller->failures);
    wait(caller, now, pause.min, pause.max);
}

void table_caller_again_or_fail(struct table_caller *caller,
                                nanos now,
                                const struct port_answer *answer,
                                const char *message)
{
    if (table_caller_is_transient(answer)) {
        table_caller_try_again(caller, now, &answer->status);
    } else {
        table_caller_fail(caller, SINK_REASON_SERVICE, &answer->status, message);
    }
}

void table_caller_look_again(struct table_caller *caller,
                             nanos now,
                             const struct port_status *status)
{
    caller->rounds++;
    if (caller->rounds >= ROUNDS_MAX) {
        table_caller_fail(caller,
                          SINK_REASON_EXHAUSTED,
                          status,
                          "the table was changed by others each time that it was to be changed");
        return;
    }
    wait(caller, now, PAUSE_SHORTEST, RACE_PAUSE);
}

void table_caller_keep(struct table_caller *caller, const struct bigquery_table *table)
{
    table_caller_forget(caller);
    const size_t size = port_clone_size(&bigquery_table_message, table);
    void *block = allocator_take(caller->allocator, size);
    if (block == NULL) {
        table_caller_fail(
            caller, SINK_REASON_MEMORY, NULL, "no memory for the metadata of a table");
        return;
    }
    caller->seen = port_clone_into(&bigquery_table_message, table, block, size, NULL);
    caller->seen_size = size;
    caller->failures = 0;
}

/* --- life -------------------------------------------------------------------------------------- */

void table_caller_close(struct table_caller *caller, struct sink_effects *effects)
{
    if (caller->call != 0) {
        effects_cancel(effects, caller->call, caller->method);
        caller->call = 0;
    }
    parking_remove(caller->parking, &caller->pause);
    caller->waits = false;
}

uint64_t table_caller_digest(uint64_t digest, const struct table_caller *caller)
{
    digest = digest_fold(digest, caller->rounds);
    digest = digest_fold(digest, caller->failures);
    digest = digest_fold(digest, caller->waits);
    digest = digest_fold(digest, caller->call);
    return caller->seen == NULL
               ? digest
               : digest_fold(digest, port_digest(&bigquery_table_message, caller->seen));
}
