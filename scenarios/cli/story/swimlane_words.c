#include "scenarios/cli/story/swimlane_words.h"

#include "reports/timeline.h"
#include "sim/fault.h"
#include "sinks/port/port.h"
#include "sinks/sink.h"

#include <inttypes.h>
#include <string.h>

#define LINE_SIZE  400
#define NAME_SHOWN 8u /* of the last part of a resource's name */

/* --- columns ------------------------------------------------------------------------------------- */

static bool is_part_of_subtask(enum lane_kind kind)
{
    return kind == LANE_WRITER || kind == LANE_COMMITTER || kind == LANE_OPERATOR ||
           kind == LANE_POLICY || kind == LANE_TASK;
}

static bool is_outside(enum lane_kind kind)
{
    return kind == LANE_READER || kind == LANE_ACTOR;
}

/* "Cloud Tasks" is what a model's sentence calls it before its colon; else its name. */
static const char *service_name(struct text_pool *texts, const struct model_type *type)
{
    const char *colon = strchr(type->sentence, ':');
    const size_t size = colon == NULL ? 0 : (size_t)(colon - type->sentence);
    return size == 0 || size > 16
               ? type->name
               : text_copy(texts, (struct bytes){(const uint8_t *)type->sentence, size});
}

void swimlane_columns_make(struct text_pool *texts,
                           const struct reproducer *reproducer,
                           uint32_t lines,
                           struct swimlane_columns *columns)
{
    const struct world *world = reproducer_world(reproducer);
    bool has_outside = false;
    *columns = (struct swimlane_columns){.subtask_first = 1, .service_count = world->service_count};
    for (uint32_t i = 0; i < lines; i++) {
        const struct journal_entry *entry = journal_at(world->journal, i);
        const enum lane_kind kind = lane_kind_of(entry->lane);
        const uint32_t index = lane_index_of(entry->lane);
        if (is_part_of_subtask(kind) && index >= columns->subtask_count) {
            columns->subtask_count = index + 1;
        }
        has_outside = has_outside || is_outside(kind);
    }
    columns->coordinator = columns->subtask_first + columns->subtask_count;
    columns->service_first = columns->coordinator + 1;
    columns->count = columns->service_first + columns->service_count + (has_outside ? 1 : 0);
    const char **names = text_memory(texts, columns->count, sizeof *names);
    names[0] = "source";
    for (uint32_t i = 0; i < columns->subtask_count; i++) {
        names[columns->subtask_first + i] = text_format(texts, "subtask %" PRIu32, i);
    }
    names[columns->coordinator] = "coordinator";
    for (uint32_t i = 0; i < columns->service_count; i++) {
        names[columns->service_first + i] = service_name(texts, world->services[i].type);
    }
    if (has_outside) {
        names[columns->count - 1] = "outside";
    }
    columns->names = names;
}

uint32_t swimlane_service_column(const struct swimlane_columns *columns, uint32_t service)
{
    CHECK(service < columns->service_count);
    return columns->service_first + service;
}

uint32_t swimlane_column(const struct swimlane_columns *columns, lane who)
{
    const enum lane_kind kind = lane_kind_of(who);
    const uint32_t index = lane_index_of(who);
    if (is_part_of_subtask(kind)) {
        return columns->subtask_first + index;
    }
    if (kind == LANE_SERVICE) {
        return swimlane_service_column(columns, index);
    }
    if (is_outside(kind)) {
        return columns->count - 1;
    }
    return kind == LANE_SOURCE ? 0 : columns->coordinator;
}

/* --- words --------------------------------------------------------------------------------------- */

/* "tasks/9cb3dbc9": what tells resources apart on one page. */
static const char *resource_words(struct text_pool *texts,
                                  const struct reproducer *reproducer,
                                  const struct journal_entry *entry)
{
    const struct journal_names names = reproducer_names(reproducer);
    if (entry->resource == 0) {
        return "it";
    }
    const struct bytes name = names.resource(names.context, entry->resource);
    size_t last = name.size;
    while (last > 0 && name.data[last - 1] != '/') {
        last--;
    }
    size_t first = last > 0 ? last - 1 : 0;
    while (first > 0 && name.data[first - 1] != '/') {
        first--;
    }
    const size_t rest = name.size - last;
    const size_t size = last - first + (rest > NAME_SHOWN ? NAME_SHOWN : rest);
    return text_copy(texts, (struct bytes){name.data + first, size});
}

static const char *world_words(struct text_pool *texts,
                               const struct reproducer *reproducer,
                               const struct journal_entry *entry)
{
    const char *what = resource_words(texts, reproducer, entry);
    switch (entry->kind) {
    case WORLD_CREATED:
        return entry->generation > 1
                   ? text_format(
                         texts, "%s exists again (generation %" PRIu32 ")", what, entry->generation)
                   : text_format(texts, "%s exists", what);
    case WORLD_REPLACED:
        return text_format(texts, "%s is replaced", what);
    case WORLD_REMOVED:
        return text_format(texts, "%s is gone", what);
    case WORLD_EXPIRED:
        return text_format(texts, "%s: its time is over", what);
    case WORLD_VISIBLE:
        return text_format(texts, "%s is seen outside", what);
    case WORLD_HIDDEN:
        return text_format(texts, "%s is no longer seen", what);
    case WORLD_CHANGED:
        return text_format(texts, "%s is changed from outside", what);
    default:
        return text_format(texts,
                           "no effect of request %" PRIu32 ": %s",
                           entry->request,
                           port_code_name(entry->code));
    }
}

static const char *learnt_words(struct text_pool *texts, const struct journal_entry *entry)
{
    switch (entry->a) {
    case PORT_OUTCOME_OK:
        return text_format(texts, "knows: request %" PRIu32 " succeeded", entry->request);
    case PORT_OUTCOME_ERROR:
        return text_format(texts,
                           "knows: request %" PRIu32 " had no effect (%s)",
                           entry->request,
                           port_code_name(entry->code));
    default:
        return text_format(texts,
                           "does not know of request %" PRIu32 " (%s)",
                           entry->request,
                           port_code_name(entry->code));
    }
}

static const char *wire_words(struct text_pool *texts,
                              const struct reproducer *reproducer,
                              const struct journal_entry *entry)
{
    const struct journal_names names = reproducer_names(reproducer);
    if (entry->kind == WIRE_ISSUED) {
        const struct bytes method = names.method(names.context, entry->service, entry->code);
        return text_format(texts,
                           "%.*s, request %" PRIu32,
                           (int)method.size,
                           (const char *)method.data,
                           entry->request);
    }
    if (entry->kind == WIRE_ANSWERED) {
        return learnt_words(texts, entry);
    }
    return text_format(texts,
                       entry->kind == WIRE_CANCELLED ? "cancels request %" PRIu32
                       : entry->kind == WIRE_EXPIRED ? "request %" PRIu32 " never leaves: too late"
                                                     : "nobody is left to hear of request %" PRIu32,
                       entry->request);
}

static const char *start_words(struct text_pool *texts, const struct journal_entry *entry)
{
    static const char *const from[] = {
        [START_LATEST] = "",
        [START_OLDER] = ", an older one",
        [START_SAVEPOINT] = ", a savepoint",
        [START_BEGINNING] = " without state, from the beginning",
        [START_OWN_POSITION] = " without state, from the source's own position",
    };
    const uint64_t place = entry->b % START_NEXT_SINK;
    const char *how = place < ARRAY_COUNT(from) ? from[place] : "";
    const char *sink = entry->b >= START_NEXT_SINK ? ", with the second sink" : "";
    const char *state = entry->checkpoint == 0
                            ? ""
                            : text_format(texts, " from checkpoint %" PRIu32, entry->checkpoint);
    return text_format(
        texts, "attempt %u starts%s%s%s", (unsigned)entry->attempt, state, how, sink);
}

static const char *fault_words(struct text_pool *texts, const struct journal_entry *entry)
{
    const char *name = fault_kind_name((enum fault_kind)entry->code);
    char lasting[REPORT_DURATION_SIZE];
    report_duration(entry->a, lasting);
    return entry->a == 0 ? text_format(texts, "injected: %s", name)
                         : text_format(texts, "injected: %s, for %s", name, lasting);
}

/* The sentence of the journal without its time and lane. */
static const char *
journal_words(struct text_pool *texts, struct reproducer *reproducer, uint32_t position)
{
    const struct world *world = reproducer_world(reproducer);
    const struct journal_names names = reproducer_names(reproducer);
    uint8_t line[LINE_SIZE];
    struct byte_writer writer;
    byte_writer_init(&writer, line, sizeof line);
    journal_describe_named(journal_at(world->journal, position), &names, &writer);
    const struct bytes view = byte_writer_view(&writer);
    const char *whole = text_copy(texts, view);
    const char *behind = strstr(whole, ": ");
    return behind == NULL ? whole : behind + 2;
}

const char *
swimlane_words(struct text_pool *texts, struct reproducer *reproducer, uint32_t position)
{
    const struct journal_entry *entry = journal_at(reproducer_world(reproducer)->journal, position);
    switch (entry->kind) {
    case HOST_JOB_STARTED:
    case HOST_REGION_STARTED:
        return start_words(texts, entry);
    case HOST_INJECTED:
        return fault_words(texts, entry);
    case HOST_RECORD:
        return text_format(texts, "reads record %" PRIu32, entry->record);
    case HOST_STAGED:
        return text_format(texts, "stages record %" PRIu32, entry->record);
    case HOST_RESTORED:
        return text_format(
            texts, "has the staged write again, of checkpoint %" PRIu32, entry->checkpoint);
    case HOST_FINALISED:
        return "is done with the staged write";
    case HOST_CHECKPOINT_TRIGGERED:
        return text_format(texts, "checkpoint %" PRIu32 " begins", entry->checkpoint);
    case HOST_CHECKPOINT_COMPLETED:
        return text_format(texts, "checkpoint %" PRIu32 " is complete", entry->checkpoint);
    default:
        break;
    }
    if (entry->kind >= WIRE_ISSUED && entry->kind <= WIRE_EXPIRED) {
        return wire_words(texts, reproducer, entry);
    }
    if (entry->kind >= WORLD_CREATED && entry->kind <= WORLD_REFUSED) {
        return world_words(texts, reproducer, entry);
    }
    return journal_words(texts, reproducer, position);
}
