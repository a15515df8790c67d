#include "scenarios/cli/story/words.h"

#include "scenarios/wiring/catalogue.h"

#include <inttypes.h>
#include <string.h>

#define LINE_SIZE   400
#define STORY_LINES 32u

static const struct journal *journal_of(const struct reproducer *reproducer)
{
    const struct world *world = reproducer_world(reproducer);
    CHECK(world != NULL);
    return world->journal;
}

/* The last two parts of a path are enough to tell resources apart on a screen: tasks/7f3a. */
static struct bytes short_resource(void *context, uint32_t resource)
{
    const struct reproducer *reproducer = context;
    const struct journal_names names = reproducer_names(reproducer);
    struct bytes name = names.resource(names.context, resource);
    size_t from = name.size;
    for (uint32_t slashes = 0; from > 0; from--) {
        slashes += name.data[from - 1] == '/' ? 1 : 0;
        if (slashes == 2) {
            break;
        }
    }
    return (struct bytes){name.data + from, name.size - from};
}

static struct bytes method_of(void *context, uint16_t service, uint8_t method)
{
    const struct reproducer *reproducer = context;
    const struct journal_names names = reproducer_names(reproducer);
    return names.method(names.context, service, method);
}

const char *
words_of_entry(struct text_pool *texts, struct reproducer *reproducer, uint32_t position)
{
    const struct journal *journal = journal_of(reproducer);
    const struct journal_names names = {
        .context = reproducer,
        .resource = short_resource,
        .method = method_of,
    };
    uint8_t line[LINE_SIZE];
    struct byte_writer writer;
    if (position >= journal->count) {
        return "";
    }
    byte_writer_init(&writer, line, sizeof line);
    journal_describe_named(journal_at(journal, position), &names, &writer);
    const struct bytes view = byte_writer_view(&writer);
    return text_format(texts, "#%" PRIu32 " %.*s", position, (int)view.size, line);
}

const char *words_of_line(struct text_pool *texts, const struct tape_entry *choice)
{
    const struct choice_site *site = choice_site_by_key(catalogue_registry(), choice->key);
    char name[LANE_NAME_SIZE];
    CHECK(site != NULL);
    CHECK(choice->value < site->outcome_count);
    lane_name(choice->lane, name);
    return text_format(texts,
                       "%s/%s#%" PRIu32 " = %s (%u/%u)",
                       site->name,
                       name,
                       choice->ordinal,
                       site->outcomes[choice->value].name,
                       (unsigned)choice->value,
                       (unsigned)site->outcome_count);
}

/* --- when -------------------------------------------------------------------------------------- */

/* How far the checkpoints were. */
struct phase {
    uint32_t under_way; /* triggered, and not ended; 0: none */
    uint32_t completed; /* the last one; 0: none */
};

static struct phase phase_at(const struct journal *journal, uint32_t position)
{
    struct phase phase = {0, 0};
    for (uint32_t i = 0; i < position && i < journal->count; i++) {
        const struct journal_entry *entry = journal_at(journal, i);
        if (entry->kind == HOST_CHECKPOINT_TRIGGERED) {
            phase.under_way = entry->checkpoint;
        } else if (entry->kind == HOST_CHECKPOINT_COMPLETED ||
                   entry->kind == HOST_CHECKPOINT_ABORTED) {
            phase.completed =
                entry->kind == HOST_CHECKPOINT_COMPLETED ? entry->checkpoint : phase.completed;
            phase.under_way = entry->checkpoint == phase.under_way ? 0 : phase.under_way;
        }
    }
    return phase;
}

static const char *
words_of_time(struct text_pool *texts, const struct reproducer *reproducer, uint32_t position)
{
    const struct journal *journal = journal_of(reproducer);
    const struct phase phase = phase_at(journal, position);
    const uint32_t at = position < journal->count ? position : journal->count - 1;
    const nanos time = journal->count == 0 ? 0 : journal_at(journal, at)->time;
    const char *clock = text_format(texts,
                                    "at %" PRIu64 ".%03" PRIu64 " s",
                                    time / NANOS_PER_S,
                                    time % NANOS_PER_S / NANOS_PER_MS);
    if (phase.under_way != 0) {
        return text_format(
            texts, "%s, before checkpoint %" PRIu32 " completed", clock, phase.under_way);
    }
    return phase.completed != 0
               ? text_format(texts, "%s, after checkpoint %" PRIu32, clock, phase.completed)
               : text_format(texts, "%s, before the first checkpoint", clock);
}

/* --- what -------------------------------------------------------------------------------------- */

/* "CreateTask #3 (request 17, record 8) of committer0" */
static const char *
words_of_request(struct text_pool *texts, const struct reproducer *reproducer, uint32_t request)
{
    const struct journal *journal = journal_of(reproducer);
    const struct journal_names names = reproducer_names(reproducer);
    const struct journal_entry *issued = NULL;
    uint32_t sent_of[UINT8_MAX + 1] = {0};
    record_id record = 0;
    for (uint32_t i = 0; i < journal->count; i++) {
        const struct journal_entry *entry = journal_at(journal, i);
        if (entry->kind == WIRE_ISSUED && issued == NULL) {
            sent_of[entry->code]++;
            issued = entry->request == request ? entry : NULL;
        }
        record = entry->request == request && entry->record != 0 ? entry->record : record;
    }
    if (issued == NULL) {
        return NULL;
    }
    const struct bytes method = names.method(names.context, issued->service, issued->code);
    char who[LANE_NAME_SIZE];
    lane_name(issued->lane, who);
    return text_format(texts,
                       "%.*s #%" PRIu32 " of %s (request %" PRIu32 "%s)",
                       (int)method.size,
                       (const char *)method.data,
                       sent_of[issued->code],
                       who,
                       request,
                       record == 0 ? "" : text_format(texts, ", record %" PRIu32, record));
}

/* The line that says a fault was injected, among those of one instant from a position on;
 * UINT32_MAX: there is none. */
static uint32_t injected_at(const struct journal *journal, uint32_t from, uint8_t kind)
{
    const nanos time = from < journal->count ? journal_at(journal, from)->time : 0;
    for (uint32_t i = from; i < journal->count && journal_at(journal, i)->time == time; i++) {
        const struct journal_entry *entry = journal_at(journal, i);
        if (entry->kind == HOST_INJECTED && entry->code == kind) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* "writer0, committer0; down for 20.000 s" */
static const char *
words_of_victims(struct text_pool *texts, const struct journal *journal, uint32_t injected)
{
    const nanos lasting = journal_at(journal, injected)->a;
    const char *list = "";
    for (uint32_t i = injected + 1; i < journal->count; i++) {
        const struct journal_entry *entry = journal_at(journal, i);
        char who[LANE_NAME_SIZE];
        if (entry->kind != HOST_CRASHED && entry->kind != HOST_ZOMBIE) {
            break;
        }
        lane_name(entry->lane, who);
        list = text_format(texts, "%s%s%s", list, list[0] == '\0' ? "" : ", ", who);
    }
    return text_format(texts,
                       "%s%sfor %" PRIu64 ".%03" PRIu64 " s",
                       list,
                       list[0] == '\0' ? "" : "; ",
                       lasting / NANOS_PER_S,
                       lasting % NANOS_PER_S / NANOS_PER_MS);
}

struct choice_words words_of_choice(struct text_pool *texts,
                                    const struct reproducer *reproducer,
                                    const struct tape_entry *choice,
                                    uint32_t line)
{
    const struct journal *journal = journal_of(reproducer);
    const struct choice_site *site = choice_site_by_key(catalogue_registry(), choice->key);
    char who[LANE_NAME_SIZE];
    CHECK(site != NULL);
    const char *sentence = catalogue_outcome_words(site, choice->value);
    const char *request = choice->span_kind == SPAN_REQUEST
                              ? words_of_request(texts, reproducer, choice->span)
                              : NULL;
    const uint32_t injected = injected_at(journal, line, site->outcomes[choice->value].kind);
    lane_name(choice->lane, who);
    if (injected != UINT32_MAX && request == NULL) {
        return (struct choice_words){
            .when = words_of_time(texts, reproducer, injected),
            .what =
                text_format(texts, "%s (%s)", sentence, words_of_victims(texts, journal, injected)),
        };
    }
    return (struct choice_words){
        .when = words_of_time(texts, reproducer, line),
        .what = text_format(texts, "%s: %s", request != NULL ? request : who, sentence),
    };
}

/* --- whose ------------------------------------------------------------------------------------- */

static bool tells_of_subject(uint8_t kind)
{
    const uint64_t telling = UINT64_C(1) << HOST_STAGED | UINT64_C(1) << HOST_RESTORED |
                             UINT64_C(1) << HOST_SIGNAL | UINT64_C(1) << HOST_FINALISED |
                             UINT64_C(1) << HOST_RECORD_FAILED | UINT64_C(1) << HOST_DROPPED |
                             UINT64_C(1) << HOST_SKIPPED | UINT64_C(1) << WORLD_CREATED |
                             UINT64_C(1) << WORLD_REPLACED | UINT64_C(1) << WORLD_REMOVED |
                             UINT64_C(1) << WORLD_EXPIRED | UINT64_C(1) << HOST_NOT_RESTORED |
                             UINT64_C(1) << HOST_RECORD_GONE;
    return kind < 64 && (telling >> kind & 1) != 0;
}

/* What a record is known by beside its number. */
struct aliases {
    uint64_t identity;
    uint32_t resource;
};

static bool is_about(const struct culprit *culprit,
                     const struct aliases *aliases,
                     const struct journal_entry *entry)
{
    if (culprit->subject_kind == SUBJECT_IDENTITY) {
        return entry->identity == culprit->subject;
    }
    return entry->record == culprit->subject ||
           (aliases->identity != 0 && entry->identity == aliases->identity) ||
           (aliases->resource != 0 && entry->resource == aliases->resource);
}

size_t words_of_subject(struct text_pool *texts,
                        struct reproducer *reproducer,
                        const struct culprit *culprit,
                        uint32_t last,
                        const char *const **lines)
{
    const struct journal *journal = journal_of(reproducer);
    const char **list = text_memory(texts, STORY_LINES, sizeof *list);
    struct aliases aliases = {0, 0};
    nanos before = 0;
    size_t count = 0;
    *lines = list;
    if (culprit->subject_kind != SUBJECT_RECORD && culprit->subject_kind != SUBJECT_IDENTITY) {
        return 0;
    }
    for (uint32_t i = 0; i < journal->count && i <= last; i++) {
        const struct journal_entry *entry = journal_at(journal, i);
        if (!is_about(culprit, &aliases, entry)) {
            continue;
        }
        if (entry->kind == HOST_STAGED) {
            aliases.identity = entry->identity;
        } else if (entry->kind == WORLD_CREATED) {
            aliases.resource = entry->resource;
        }
        if (tells_of_subject(entry->kind)) {
            if (count == STORY_LINES) {
                count--;
                memmove(list, list + 1, count * sizeof *list);
            }
            list[count++] = text_format(texts,
                                        "+%" PRIu64 ".%03" PRIu64 " s  %s",
                                        (entry->time - before) / NANOS_PER_S,
                                        (entry->time - before) % NANOS_PER_S / NANOS_PER_MS,
                                        words_of_entry(texts, reproducer, i));
            before = entry->time;
        }
    }
    return count;
}
