/* The writer of the at-least-once sink: the frame of table_writer.h over outlets (outlet.h). Nothing is kept
 * in checkpoints: a restored writer begins anew, and what it gets again is there twice. It flushes in an
 * interval, too, if there is one; a flush that is under way then serves as well. */
#include "sinks/base/check.h"
#include "sinks/bigquery/at_least_once/at_least_once.h"
#include "sinks/bigquery/at_least_once/change.h"
#include "sinks/bigquery/at_least_once/outlet.h"
#include "sinks/effects.h"

_Static_assert(BIGQUERY_CHANGE_SIZE_MAX <= TABLE_WRITER_TAIL_SIZE_MAX, "a change is a tail");

struct eager_writer {
    struct table_writer base;
    struct parking_slot interval;
};

static struct eager_writer *eager_of(const struct table_writer_step *step)
{
    return LIST_ITEM(step->writer, struct eager_writer, base);
}

/* False without memory: the writer has failed. */
static bool await_interval(const struct table_writer_step *step)
{
    struct eager_writer *writer = eager_of(step);
    const nanos interval = writer->base.config.flush_interval;
    if (interval > 0 && parking_add(&writer->base.host.parking,
                                    &writer->interval,
                                    step->now->monotonic,
                                    interval,
                                    interval) != ERR_OK) {
        table_writer_fail_text(step, SINK_REASON_MEMORY, "no memory for the flush interval");
        return false;
    }
    return true;
}

static bool interval_over(const struct table_writer_step *step, const struct parking_slot *slot)
{
    if (slot != &eager_of(step)->interval) {
        return false;
    }
    if (table_writer_flush(step)) {
        effects_phase(step->effects, BIGQUERY_EAGER_PHASE_INTERVAL_PASSED);
    }
    (void)await_interval(step);
    return true;
}

static bool open_writer(const struct table_writer_step *step, const struct sink_event *event)
{
    if (event->u.open.piece_count > 0) {
        table_writer_fail_text(
            step, SINK_REASON_STATE, "this sink keeps no state, and some was restored");
        return false;
    }
    return await_interval(step);
}

/* A row says how it changes the table, where that is asked for. */
static bool write_change(const struct table_writer_step *step,
                         const struct sink_record *record,
                         struct byte_writer *tail)
{
    const struct bigquery_config *config = &step->writer->config;
    return !config->changes || bigquery_change_write(record, config->sequence, tail);
}

static const struct table_writer_mode mode = {
    .tables = &bigquery_outlet_functions,
    .phases =
        {
            .opened = BIGQUERY_EAGER_PHASE_WRITER_OPENED,
            .holding = BIGQUERY_EAGER_PHASE_WRITER_HOLDING,
            .policy_flushing = BIGQUERY_EAGER_PHASE_POLICY_FLUSHING,
            .row_routed = BIGQUERY_EAGER_PHASE_ROW_ROUTED,
            .evicted = BIGQUERY_EAGER_PHASE_DESTINATION_EVICTED,
            .failed = BIGQUERY_EAGER_PHASE_WRITER_FAILED,
            .closed = BIGQUERY_EAGER_PHASE_WRITER_CLOSED,
        },
    .open = open_writer,
    .write_tail = write_change,
    .due = interval_over,
};

static enum err init(void *state, const struct sink_env *env)
{
    struct eager_writer *writer = state;
    uint8_t text[256];
    struct byte_writer complaint;
    byte_writer_init(&complaint, text, sizeof(text));
    const enum err err = bigquery_configure_eager(env->options, &writer->base.config, &complaint);
    table_writer_init(&writer->base, &mode, env);
    return err;
}

static void fini(void *state)
{
    struct eager_writer *writer = state;
    parking_remove(&writer->base.host.parking, &writer->interval);
    table_writer_fini(&writer->base);
}

const struct sink_half bigquery_at_least_once_writer_half = {
    .state_size = sizeof(struct eager_writer),
    .init = init,
    .step = table_writer_step,
    .digest = table_writer_digest,
    .fini = fini,
};
