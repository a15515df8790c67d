#include "scenarios/cli/sweep/failures.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/search/shrinking.h"
#include "scenarios/cli/story/story.h"
#include "scenarios/cli/sweep/entry.h"
#include "scenarios/wiring/catalogue.h"
#include "scenarios/workers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TAPE_TEXT_MAX ((size_t)512 << 10)
#define DECISIVE_MAX  400
#define STORY_MAX     ((size_t)DECISIVE_MAX * STORY_LINES)
#define SHRINK_HANGS  MINUTES(10)
#define CHOICES_MAX   4096u

/* What a worker leaves for one finding. */
struct slot {
    bool reproduced;
    bool wrote;
    uint32_t deviations;
    uint32_t deviations_found;
    char message[ORACLE_MESSAGE_SIZE];
    char decisive[DECISIVE_MAX];
    char story[STORY_MAX];
    uint32_t story_decisive;
    size_t tape_size;
    char tape[TAPE_TEXT_MAX];
};

struct collector {
    struct session *session;
    const struct failures_options *options;
    const struct summary_finding *const *findings; /* in order */
    struct report_violation *violations;
    size_t taken;
    enum status status;
};

/* --- tapes as text ----------------------------------------------------------------------------- */

struct tape_header failures_header(const struct scenario *scenario)
{
    struct tape_header header = {.digest = 0};
    (void)snprintf(header.scenario, sizeof header.scenario, "%s", scenario->name);
    (void)snprintf(
        header.profile, sizeof header.profile, "%s", profile_name(scenario->config.profile));
    return header;
}

char *failures_tape_text(struct text_pool *texts,
                         const struct scenario *scenario,
                         const struct tape *tape)
{
    const struct tape_header header = failures_header(scenario);
    return entry_text(texts, &header, tape);
}

size_t failures_choices(struct text_pool *texts, const char *tape, const char *const **choices)
{
    struct tape_header header;
    struct tape_fault fault;
    struct tape read = {
        .entries = memory_take(CHOICES_MAX * sizeof *read.entries),
        .capacity = CHOICES_MAX,
    };
    const char **lines = NULL;
    if (tape_read_text(bytes_of_text(tape), catalogue_registry(), &read, &header, &fault) !=
        ERR_OK) {
        read.count = 0;
    }
    lines = text_memory(texts, (size_t)read.count + 1, sizeof *lines);
    for (uint32_t i = 0; i < read.count; i++) {
        const struct tape_entry *entry = &read.entries[i];
        const struct choice_site *site = choice_site_by_key(catalogue_registry(), entry->key);
        char name[LANE_NAME_SIZE];
        CHECK(site != NULL);
        CHECK(entry->value < site->outcome_count);
        lane_name(entry->lane, name);
        lines[i] = text_format(texts,
                               "%s/%s#%" PRIu32 " = %s: %s",
                               site->name,
                               name,
                               entry->ordinal,
                               site->outcomes[entry->value].name,
                               catalogue_outcome_words(site, entry->value));
    }
    free(read.entries);
    *choices = lines;
    return read.count;
}

/* --- in a worker: one finding ------------------------------------------------------------------ */

/* What one finding is worked on with. */
struct examination {
    const struct collector *collector;
    const struct summary_finding *finding;
    struct reproducer *reproducer;
    struct slot *slot;
};

static struct culprit culprit_of(const struct examination *examination)
{
    const struct summary_finding *finding = examination->finding;
    return (struct culprit){
        .oracle = finding->oracle,
        .subject_kind = finding->subject_kind,
        .subject =
            examination->collector->options->any_record ? CULPRIT_ANY_RECORD : finding->subject,
    };
}

/* Run until the finding shows; false when it does not. */
static bool show(const struct examination *examination, const struct run_request *request)
{
    const struct culprit culprit = culprit_of(examination);
    return reproducer_shows(examination->reproducer,
                            request,
                            &culprit,
                            examination->collector->session->options->hang_after);
}

static void copy_tape(struct tape *target, const struct tape *source)
{
    *target = *source;
    target->entries = memory_take((size_t)(source->count + 1) * sizeof *target->entries);
    target->capacity = source->count + 1;
    if (source->count > 0) {
        memcpy(target->entries, source->entries, source->count * sizeof *target->entries);
    }
}

static void write_slot_tape(const struct examination *examination, const struct tape *tape)
{
    const struct tape_header header = failures_header(examination->collector->options->scenario);
    struct slot *slot = examination->slot;
    struct byte_writer writer;
    byte_writer_init(&writer, (uint8_t *)slot->tape, sizeof slot->tape - 1);
    tape_write_text(tape, &header, catalogue_registry(), &writer);
    slot->tape_size = byte_writer_view(&writer).size;
    slot->tape[slot->tape_size] = '\0';
    slot->deviations = tape->count;
}

/* Say what decided, from the run that the reproducer holds. */
static void explain(const struct examination *examination)
{
    struct slot *slot = examination->slot;
    const struct culprit culprit = culprit_of(examination);
    const struct finding *found =
        culprit_find(&culprit, reproducer_result(examination->reproducer));
    const struct world *world = reproducer_world(examination->reproducer);
    struct byte_writer writer;
    byte_writer_init(&writer, (uint8_t *)slot->decisive, sizeof slot->decisive - 1);
    (void)snprintf(slot->message,
                   sizeof slot->message,
                   "%s",
                   found != NULL ? found->message : examination->finding->message);
    if (found != NULL) {
        struct byte_writer story;
        reproducer_describe(examination->reproducer, found->position, &writer);
        byte_writer_init(&story, (uint8_t *)slot->story, sizeof slot->story - 1);
        story_write(examination->reproducer, found, &story, &slot->story_decisive);
    } else if (world != NULL && world->journal->count > 0) {
        /* It ended in the middle: the last that is known is what led there. */
        reproducer_describe(examination->reproducer, world->journal->count - 1, &writer);
    }
}

char *failures_run_name(struct text_pool *texts, const struct explore_witness *witness)
{
    char *name = text_format(texts, "%s", witness->step_count == 0 ? "the calm run" : "run");
    for (uint32_t i = 0; i < witness->step_count; i++) {
        name = text_format(texts,
                           "%s %" PRIu32 ":%" PRIu32,
                           name,
                           witness->steps[i].draw,
                           witness->steps[i].value);
    }
    return name;
}

/* "seed17", or the name of a run of an exploration. */
static char *stem_of_run(struct text_pool *texts,
                         const struct collector *collector,
                         const struct summary_finding *finding)
{
    const struct explore_counts *explored = collector->options->explored_or_null;
    return explored == NULL ? text_format(texts, "seed%" PRIu64, finding->seed)
                            : failures_run_name(texts, explore_witness_of(explored, finding->seed));
}

/* Files of a failure: DIR/<scenario>-<oracle>-seed<N>.<ending>, slashes and blanks made dashes. */
static char *file_name(struct text_pool *texts,
                       const struct collector *collector,
                       const struct summary_finding *finding,
                       const char *ending)
{
    char *stem = text_format(texts,
                             "%s-%s-%u-%s",
                             collector->options->scenario->name,
                             summary_oracle_name(finding->oracle),
                             (unsigned)finding->subject_kind,
                             stem_of_run(texts, collector, finding));
    for (char *at = stem; *at != '\0'; at++) {
        if (*at == '/' || *at == ' ' || *at == ':') {
            *at = '-';
        }
    }
    return text_format(texts,
                       "%s/%s.%s",
                       collector->session->options->out,
                       stem[0] == '.' ? stem + 1 : stem,
                       ending);
}

/* A tape that is in no file, for a pipe: "printf '...\n' | ". */
static char *pipe_of(struct text_pool *texts, const char *tape)
{
    char *text = text_memory(texts, 2 * strlen(tape) + 1, 1);
    char *at = text;
    for (; *tape != '\0'; tape++) {
        if (*tape == '\n') {
            *at++ = '\\';
            *at++ = 'n';
        } else {
            *at++ = *tape;
        }
    }
    return text_format(texts, "printf %s | ", text_shell_word(texts, text));
}

static char *replay_command(struct text_pool *texts,
                            const struct collector *collector,
                            const struct summary_finding *finding,
                            const char *tape)
{
    const char *pipe = "";
    struct session *session = collector->session;
    const struct options *options = session->options;
    char *source =
        text_format(texts, " --seed %" PRIu64 "%s", finding->seed, session_policy(session));
    if (options->out != NULL && !collector->options->brief) {
        source = text_format(texts,
                             " --tape %s",
                             text_shell_word(texts, file_name(texts, collector, finding, "tape")));
    } else if (collector->options->explored_or_null != NULL) {
        pipe = pipe_of(texts, tape);
        source = text_format(texts, "%s", " --tape /dev/stdin");
    } else if (collector->options->tape) {
        source = text_format(texts, "%s", "");
    }
    return text_format(texts,
                       "%s%s replay %s%s%s",
                       pipe,
                       text_shell_word(texts, options->program),
                       text_shell_word(texts, collector->options->word),
                       source,
                       session_selection(session));
}

static bool write_trace(const struct examination *examination, const char *path)
{
    struct file_writer writer;
    const struct world *world = reproducer_world(examination->reproducer);
    file_writer_start(&writer, path);
    bool complete = writer.stream != NULL;
    const uint32_t count = world == NULL ? 0 : world->journal->count;
    for (uint32_t i = 0; i < count && complete; i++) {
        uint8_t line[DECISIVE_MAX];
        struct byte_writer text;
        byte_writer_init(&text, line, sizeof line);
        reproducer_describe(examination->reproducer, i, &text);
        const struct bytes view = byte_writer_view(&text);
        complete = fprintf(writer.stream, "#%" PRIu32 " %.*s\n", i, (int)view.size, line) > 0;
    }
    return file_writer_finish(&writer, complete) == ERR_OK;
}

static bool write_files(const struct examination *examination)
{
    const struct collector *collector = examination->collector;
    const struct summary_finding *finding = examination->finding;
    struct text_pool texts = {0};
    const struct bytes tape = {(const uint8_t *)examination->slot->tape,
                               examination->slot->tape_size};
    const char *command = text_format(
        &texts, "%s\n", replay_command(&texts, collector, finding, examination->slot->tape));
    bool ok = folder_make(collector->session->options->out) == ERR_OK &&
              file_write(file_name(&texts, collector, finding, "tape"), tape) == ERR_OK &&
              file_write(file_name(&texts, collector, finding, "command"),
                         bytes_of_text(command)) == ERR_OK;
    if (ok) {
        ok = write_trace(examination, file_name(&texts, collector, finding, "trace"));
    }
    text_pool_fini(&texts);
    return ok;
}

/* Shrink what was shown, and leave the smallest run in the reproducer. */
static void shrink(const struct examination *examination, struct tape *tape)
{
    const struct summary_finding *finding = examination->finding;
    const struct culprit culprit = culprit_of(examination);
    const struct shrinking_limits limits = {
        .attempts =
            finding->oracle == SUMMARY_ORACLE_CRASH ? FAILURE_CRASH_ATTEMPTS : FAILURE_ATTEMPTS,
        .fresh = SHRINKING_FRESH,
        .fresh_above = SHRINKING_FRESH_ABOVE,
        .hang_after = examination->collector->session->options->hang_after,
    };
    if (finding->oracle == SUMMARY_ORACLE_HANG) {
        return;
    }
    struct shrinking *shrinking = memory_take(sizeof *shrinking);
    shrinking_run(shrinking, examination->reproducer, tape, &culprit, &limits);
    free(tape->entries);
    copy_tape(tape, &shrinking->result.tape);
    shrinking_free(shrinking);
    free(shrinking);
}

/* How the run was made in which the finding was seen first. */
static struct run_request first_request(const struct examination *examination,
                                        struct run_space_replay *replay)
{
    const struct failures_options *options = examination->collector->options;
    const uint64_t seed = examination->finding->seed;
    if (options->explored_or_null != NULL) {
        const struct explore_witness *witness = explore_witness_of(options->explored_or_null, seed);
        replay->step_count = witness->step_count;
        memcpy(replay->steps, witness->steps, sizeof replay->steps);
        return (struct run_request){
            .choice =
                {
                    .mode = CHOICE_POLICY,
                    .policy = run_space_replay,
                    .policy_context = replay,
                },
        };
    }
    return options->tape ? reproducer_tape_request(&options->scenario->tape)
                         : reproducer_seed_request(options->scenario, seed);
}

static bool examine(void *context, void *state, void *memory, uint64_t item)
{
    const struct collector *collector = context;
    const struct examination examination = {
        .collector = collector,
        .finding = collector->findings[item],
        .reproducer = state,
        .slot = memory,
    };
    struct run_space_replay replay = {.step_count = 0};
    const struct run_request first = first_request(&examination, &replay);
    struct tape tape;
    examination.slot->reproduced = show(&examination, &first);
    examination.slot->wrote = true;
    if (!examination.slot->reproduced) {
        return true;
    }
    const struct tape recorded = reproducer_recorded(examination.reproducer);
    copy_tape(&tape, &recorded);
    examination.slot->deviations_found = tape.count;
    shrink(&examination, &tape);
    struct run_request last = reproducer_tape_request(&tape);
    last.keep_trace = true;
    if (examination.finding->oracle != SUMMARY_ORACLE_HANG) {
        examination.slot->reproduced = show(&examination, &last);
    }
    write_slot_tape(&examination, &tape);
    explain(&examination);
    if (collector->session->options->out != NULL && !collector->options->brief) {
        examination.slot->wrote = write_files(&examination);
    }
    free(tape.entries);
    return true;
}

static void *start(void *context)
{
    const struct collector *collector = context;
    return reproducer_create(collector->options->scenario);
}

/* --- in the parent ----------------------------------------------------------------------------- */

/* Shrinking crashed or hung: the finding stands as the sweep saw it, with a tape if one was found
 * before. */
static bool lost(void *context, void *memory, uint64_t item, enum workers_loss loss, int detail)
{
    const struct collector *collector = context;
    struct slot *slot = memory;
    (void)loss;
    (void)detail;
    slot->reproduced = true;
    slot->wrote = true;
    (void)snprintf(slot->message, sizeof slot->message, "%s", collector->findings[item]->message);
    return true;
}

/* The names of a finding's oracle and of those that its run broke as well. */
static const char *const *
oracle_names(struct text_pool *texts, const struct summary_finding *finding, size_t *count)
{
    const char **names = text_memory(texts, 64, sizeof *names);
    size_t used = 0;
    names[used++] = summary_oracle_name(finding->oracle);
    for (uint8_t oracle = 0; oracle < 64; oracle++) {
        if ((finding->oracles >> oracle & 1) != 0 && oracle != finding->oracle) {
            names[used++] = summary_oracle_name(oracle);
        }
    }
    *count = used;
    return names;
}

/* The lines of a text that ends each with a newline; one that was cut short is left out. */
static size_t split_lines(struct text_pool *texts, const char *text, const char *const **lines)
{
    const char **list = text_memory(texts, STORY_LINES + 1, sizeof *list);
    size_t count = 0;
    for (const char *end = strchr(text, '\n'); end != NULL && count <= STORY_LINES;
         end = strchr(text, '\n')) {
        list[count] = text_copy(texts, (struct bytes){(const uint8_t *)text, (size_t)(end - text)});
        count++;
        text = end + 1;
    }
    *lines = list;
    return count;
}

static void take(void *context, const void *memory)
{
    struct collector *collector = context;
    struct text_pool *texts = &collector->session->texts;
    const struct slot *slot = memory;
    const struct summary_finding *finding = collector->findings[collector->taken];
    struct report_violation *violation = &collector->violations[collector->taken];
    collector->taken++;
    *violation = (struct report_violation){
        .subject = summary_subject(texts, finding->subject_kind, finding->subject),
        .seed = finding->seed,
        .tape = text_copy(texts, bytes_of_text(slot->tape)),
        .deviations = slot->deviations,
        .deviations_found = slot->deviations_found,
        .run_or_null = collector->options->tape ? "tape" : NULL,
        .message = text_copy(texts, bytes_of_text(slot->message)),
        .decisive = text_copy(texts, bytes_of_text(slot->decisive)),
        .command = replay_command(texts, collector, finding, slot->tape),
    };
    violation->story_count = split_lines(texts, slot->story, &violation->story);
    violation->story_decisive = slot->story_decisive;
    if (collector->options->explored_or_null != NULL) {
        violation->seed = 0;
        violation->run_or_null = stem_of_run(texts, collector, finding);
    }
    violation->oracles = oracle_names(texts, finding, &violation->oracle_count);
    violation->choice_count = failures_choices(texts, violation->tape, &violation->choices);
    if (!slot->reproduced) {
        violation->message = text_copy(texts, bytes_of_text(finding->message));
        complain("%s of %s broke %s in the sweep and not when it was run again",
                 stem_of_run(texts, collector, finding),
                 collector->options->word,
                 violation->oracles[0]);
        collector->status = status_worse(collector->status, STATUS_NONDETERMINISM);
    }
    if (!slot->wrote) {
        complain("--out \"%s\": cannot write there; allowed: a folder that can be made or written",
                 collector->session->options->out);
        collector->status = status_worse(collector->status, STATUS_USAGE);
    }
}

static int compare_findings(const void *a, const void *b)
{
    const struct summary_finding *const *left = a;
    const struct summary_finding *const *right = b;
    if ((*left)->seed != (*right)->seed) {
        return (*left)->seed < (*right)->seed ? -1 : 1;
    }
    if ((*left)->oracle != (*right)->oracle) {
        return (*left)->oracle < (*right)->oracle ? -1 : 1;
    }
    return (*left)->subject_kind < (*right)->subject_kind ? -1 : 1;
}

/* The findings that are asked for, in order. */
static size_t select_findings(const struct failures_options *options,
                              const struct summary *summary,
                              const struct summary_finding **findings)
{
    size_t count = 0;
    for (uint32_t i = 0; i < summary->finding_count; i++) {
        const struct summary_finding *finding = &summary->findings[i];
        if ((options->oracles >> finding->oracle & 1) != 0 && finding->seed <= options->last_seed) {
            findings[count++] = finding;
        }
    }
    qsort(findings, count, sizeof(void *), compare_findings);
    return count;
}

enum status failures_collect(struct session *session,
                             const struct failures_options *options,
                             const struct summary *summary,
                             struct report_run *run)
{
    const struct summary_finding *findings[SUMMARY_FINDING_MAX] = {0};
    const size_t count = select_findings(options, summary, findings);
    struct collector collector = {
        .session = session,
        .options = options,
        .findings = findings,
        .violations = text_memory(&session->texts, count + 1, sizeof(struct report_violation)),
    };
    const struct workers_options pool = {
        .jobs = session->options->jobs,
        .slot_size = sizeof(struct slot),
        .hang_after = SHRINK_HANGS,
        .count = count,
        .chunk = 1,
        .context = &collector,
        .start = start,
        .work = examine,
        .lost = lost,
        .take = take,
    };
    uint64_t done = 0;
    if (workers_run(&pool, &done) != ERR_OK) {
        complain("no processes or memory to shrink with");
        return STATUS_INTERNAL;
    }
    run->violations = collector.violations;
    run->violation_count = collector.taken;
    return collector.status;
}
