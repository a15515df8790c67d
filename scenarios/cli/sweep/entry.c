#include "scenarios/cli/sweep/entry.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/seeds.h"
#include "scenarios/cli/sweep/summary.h"
#include "scenarios/wiring/catalogue.h"
#include "sim/search/near.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ----------------------------------------------------------------------------------- */

/* Read the number behind a word: "record 7". */
static bool number_behind(const char *text, const char *word, uint64_t *number)
{
    const size_t size = strlen(word);
    return strncmp(text, word, size) == 0 && number_parse(text + size, number) == ERR_OK;
}

/* What summary_subject writes. Only records are told apart by their number: what else a subject
 * stands for changes with the attempt that made it, so that only its kind is looked at. */
static bool parse_subject(const char *text, struct culprit *culprit)
{
    static const struct {
        const char *start;
        uint8_t kind;
    } kinds[] = {
        {"identity 0x", SUBJECT_IDENTITY},
        {"checkpoint ", SUBJECT_CHECKPOINT},
        {"effect 0x", SUBJECT_EFFECT},
        {"lane ", SUBJECT_LANE},
        {"the job", SUBJECT_JOB},
        {"the run", SUBJECT_NONE},
    };
    culprit->subject = 0;
    if (number_behind(text, "record ", &culprit->subject)) {
        culprit->subject_kind = SUBJECT_RECORD;
        return culprit->subject != CULPRIT_ANY_RECORD;
    }
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        if (strncmp(text, kinds[i].start, strlen(kinds[i].start)) == 0) {
            culprit->subject_kind = kinds[i].kind;
            return true;
        }
    }
    return false;
}

static enum status
bad(const struct entry *entry, const char *what, const char *seen, const char *allowed)
{
    if (seen[0] == '\0') {
        complain("%s: no %s; wanted: %s, as %s", entry->path, what, what, allowed);
    } else {
        complain("%s: %s \"%s\"; allowed: %s", entry->path, what, seen, allowed);
    }
    return STATUS_USAGE;
}

enum status entry_read(struct session *session, const char *path, struct entry *entry)
{
    *entry = (struct entry){.path = path};
    const enum status status = session_tape_headed(session, path, &entry->tape, &entry->header);
    const struct tape_header *header = &entry->header;
    if (status != STATUS_OK) {
        return status;
    }
    if (header->scenario[0] == '\0') {
        return bad(entry, "scenario", "", "a path, or a name as in list scenarios");
    }
    if (strcmp(header->verdict, "holds") == 0) {
        entry->was = REPORT_HOLDS;
    } else if (strcmp(header->verdict, "fails") == 0) {
        entry->was = REPORT_FAILS;
    } else {
        return bad(entry, "verdict", header->verdict, "holds or fails");
    }
    if (summary_oracle_parse(header->oracle, &entry->culprit.oracle) != ERR_OK) {
        return bad(entry, "oracle", header->oracle, "those of sinkproof list oracles");
    }
    if (!parse_subject(header->subject, &entry->culprit)) {
        return bad(entry,
                   "subject",
                   header->subject,
                   "record N, identity 0xN, checkpoint N, effect 0xN, lane L, the job, the run");
    }
    return STATUS_OK;
}

enum status
entry_scenario(struct session *session, const struct entry *entry, struct scenario **scenario)
{
    const struct tape_header *header = &entry->header;
    enum profile profile = PROFILE_DOCUMENTED;
    if (header->profile[0] == '\0') {
        return session_scenario(session, header->scenario, scenario);
    }
    if (profile_parse(bytes_of_text(header->profile), &profile) != ERR_OK) {
        return bad(entry, "profile", header->profile, "documented, observed or adversary");
    }
    return session_scenario_under(session, header->scenario, profile, scenario);
}

/* --- judging ----------------------------------------------------------------------------------- */

/* An entry on its way to a record. */
struct judging {
    struct session *session;
    const struct entry *entry;
    const struct scenario *scenario;
    struct reproducer *reproducer;
    struct report_entry *record;
    bool shows;            /* the last run broke what the entry names */
    struct culprit broken; /* what the last run broke, the entry's own first; oracle if is FAILS */
};

static bool is_process_oracle(uint8_t oracle)
{
    return oracle == SUMMARY_ORACLE_CRASH || oracle == SUMMARY_ORACLE_HANG;
}

static void note_finding(struct judging *judging, const struct culprit *broken, const char *message)
{
    struct text_pool *texts = &judging->session->texts;
    judging->broken = *broken;
    judging->record->is = REPORT_FAILS;
    judging->record->finding =
        text_format(texts,
                    "%s: %s: %s",
                    summary_oracle_name(broken->oracle),
                    summary_subject(texts, broken->subject_kind, broken->subject),
                    message);
}

static void note_lost(struct judging *judging, uint8_t oracle)
{
    const struct culprit broken = {.oracle = oracle, .subject_kind = SUBJECT_JOB};
    judging->shows = judging->entry->culprit.oracle == oracle;
    judging->record->digest = 0;
    judging->record->aligned = 0;
    judging->record->drifted = 0;
    note_finding(judging,
                 &broken,
                 oracle == SUMMARY_ORACLE_CRASH ? "the run ended its process"
                                                : "the run did not end");
}

/* The verdict of a run that ended. */
static void note_result(struct judging *judging, const struct result *result)
{
    struct report_entry *record = judging->record;
    const struct finding *own = culprit_find(&judging->entry->culprit, result);
    judging->shows = own != NULL;
    record->digest = result->digest;
    record->aligned = result->alignment.aligned;
    record->drifted = result->alignment.drifted;
    record->finding = "";
    if (result->finding_count > 0) {
        const struct finding *shown = own != NULL ? own : &result->findings[0].finding;
        const struct culprit broken = {
            .oracle = own != NULL ? judging->entry->culprit.oracle : result->findings[0].oracle,
            .subject_kind = shown->subject_kind,
            .subject = shown->subject,
        };
        note_finding(judging, &broken, shown->message);
        return;
    }
    switch ((enum run_verdict)result->verdict) {
    case RUN_OK:
    case RUN_VACUOUS:
        record->is = REPORT_HOLDS;
        return;
    case RUN_REFUSED:
        record->is = REPORT_REFUSED;
        return;
    case RUN_LIMIT:
        record->is = REPORT_INCONCLUSIVE;
        return;
    case RUN_VIOLATION:
        break;
    }
    UNREACHABLE();
}

/* Run a tape in a process of its own, and note what came of it. */
static enum status run_noted(struct judging *judging, const struct tape *tape)
{
    const struct run_request request = reproducer_tape_request(tape);
    int detail = 0;
    switch (reproducer_run_guarded(
        judging->reproducer, &request, judging->session->options->hang_after, &detail)) {
    case REPRODUCER_DONE:
        note_result(judging, reproducer_result(judging->reproducer));
        return STATUS_OK;
    case REPRODUCER_CRASHED:
        note_lost(judging, SUMMARY_ORACLE_CRASH);
        return STATUS_OK;
    case REPRODUCER_HUNG:
        note_lost(judging, SUMMARY_ORACLE_HANG);
        return STATUS_OK;
    case REPRODUCER_NO_PROCESS:
        break;
    }
    complain("no process for a run");
    return STATUS_INTERNAL;
}

/* What a candidate near the tape must do: fail in the same way, or, where nothing is to fail, meet
 * its entries, which the search sees itself. */
static bool shows(void *context, const struct tape *candidate, struct tape *recorded)
{
    struct judging *judging = context;
    const struct culprit *culprit = &judging->entry->culprit;
    const struct run_request request = reproducer_tape_request(candidate);
    bool found = judging->entry->was == REPORT_HOLDS;
    if (is_process_oracle(culprit->oracle)) {
        const enum reproducer_end wanted =
            culprit->oracle == SUMMARY_ORACLE_HANG ? REPRODUCER_HUNG : REPRODUCER_CRASHED;
        int detail = 0;
        found = reproducer_run_guarded(judging->reproducer,
                                       &request,
                                       judging->session->options->hang_after,
                                       &detail) == wanted ||
                found;
    } else {
        const struct result *result = reproducer_run(judging->reproducer, &request);
        found = found || culprit_find(culprit, result) != NULL;
    }
    const struct tape made = reproducer_recorded(judging->reproducer);
    CHECK(made.count <= recorded->capacity);
    if (made.count > 0) {
        memcpy(recorded->entries, made.entries, made.count * sizeof *made.entries);
    }
    recorded->count = made.count;
    return found;
}

/* Look near the tape; *found is the tape to keep, in the texts, when the record says near_found. */
static void look_near(struct judging *judging, struct tape *found)
{
    const struct tape *tape = &judging->entry->tape;
    struct report_entry *record = judging->record;
    const struct near_options options = {
        .shows = shows,
        .context = judging,
        .registry = catalogue_registry(),
        .runs_max = (uint32_t)judging->session->options->attempts,
        .may_drop = judging->entry->was == REPORT_FAILS,
    };
    struct near_result result;
    void *memory = memory_take(near_memory_size(tape->count, &options));
    near_run(tape, &options, memory, &result);
    record->searched = true;
    record->near_found = result.found;
    record->near_runs = result.runs;
    record->near_steps = result.steps;
    record->near_all_tried = result.all_tried;
    if (result.found) {
        *found = result.tape;
        found->entries = text_memory(
            &judging->session->texts, (size_t)result.tape.count + 1, sizeof *found->entries);
        memcpy(found->entries, result.tape.entries, result.tape.count * sizeof *found->entries);
    }
    free(memory);
}

static bool is_in_step(const struct report_entry *record)
{
    return record->aligned == record->entries && record->drifted == 0;
}

/* --- what to keep ------------------------------------------------------------------------------ */

/* Lines of the tape that are not on the other, as text. */
static size_t lines_beyond(struct text_pool *texts,
                           const struct tape *tape,
                           const struct tape *other,
                           const char *const **lines)
{
    const char **taken = text_memory(texts, (size_t)tape->count + 1, sizeof *taken);
    size_t count = 0;
    for (uint32_t i = 0; i < tape->count; i++) {
        struct tape_entry entry = tape->entries[i];
        const struct tape_entry *same = tape_find(other, &entry);
        if (same != NULL && same->value == entry.value && same->bound == entry.bound) {
            continue;
        }
        const struct tape one = {.entries = &entry, .count = 1, .capacity = 1};
        const char *text = entry_text(texts, &(struct tape_header){.digest = 0}, &one);
        const char *line = strstr(text, "identity");
        line = strchr(line, '\n') + 1;
        taken[count++] =
            text_copy(texts, (struct bytes){(const uint8_t *)line, strcspn(line, "\n")});
    }
    *lines = taken;
    return count;
}

/* Say what to keep instead of the old tape. */
static void offer(struct judging *judging, const struct tape *tape)
{
    struct session *session = judging->session;
    const struct entry *entry = judging->entry;
    struct report_entry *record = judging->record;
    struct tape_header header = entry->header;
    const struct culprit *kept = record->is == REPORT_FAILS ? &judging->broken : &entry->culprit;
    struct text_pool *texts = &session->texts;
    entry_fill_header(texts, kept, record->digest, &header);
    (void)snprintf(header.verdict, sizeof header.verdict, "%s", report_verdict_name(record->is));
    if (record->is != REPORT_FAILS) {
        (void)snprintf(header.subject, sizeof header.subject, "%s", entry->header.subject);
    }
    record->tape = entry_text(texts, &header, tape);
    record->gone_count = lines_beyond(texts, &entry->tape, tape, &record->gone);
    record->come_count = lines_beyond(texts, tape, &entry->tape, &record->come);
    record->command = text_format(texts,
                                  "%s rejudge --update %s",
                                  text_shell_word(texts, session->options->program),
                                  text_shell_word(texts, entry->path));
}

static enum report_entry_state state_of(const struct judging *judging)
{
    const struct report_entry *record = judging->record;
    const bool is_same_verdict =
        record->is == record->was && (record->was == REPORT_HOLDS || judging->shows);
    if (!is_same_verdict) {
        return REPORT_ENTRY_DIFFERS;
    }
    if (record->near_found) {
        return REPORT_ENTRY_MOVED;
    }
    if (judging->entry->header.digest != 0 && judging->entry->header.digest != record->digest) {
        return REPORT_ENTRY_CHANGED;
    }
    return REPORT_ENTRY_SAME;
}

static enum status judge(struct judging *judging)
{
    struct report_entry *record = judging->record;
    struct tape tape = judging->entry->tape;
    enum status status = run_noted(judging, &tape);
    if (status != STATUS_OK) {
        return status;
    }
    /* A run that took its process with it says nothing of its entries. */
    const bool was_lost = record->is == REPORT_FAILS && is_process_oracle(judging->broken.oracle);
    const bool in_step = was_lost || is_in_step(record);
    const uint32_t aligned = record->aligned;
    const uint32_t drifted = record->drifted;
    if (!in_step || (record->was == REPORT_FAILS && !judging->shows)) {
        look_near(judging, &tape);
        status = record->near_found ? run_noted(judging, &tape)
                                    : run_noted(judging, &judging->entry->tape);
        record->aligned = aligned;
        record->drifted = drifted;
    }
    record->state = state_of(judging);
    if (!in_step && !record->near_found &&
        (record->was == REPORT_FAILS || record->is == REPORT_HOLDS)) {
        record->state = REPORT_ENTRY_STALE;
    } else if (record->state != REPORT_ENTRY_SAME &&
               (record->is == REPORT_HOLDS || record->is == REPORT_FAILS)) {
        offer(judging, &tape);
    }
    return status;
}

enum status entry_judge(struct session *session,
                        const struct entry *entry,
                        const struct scenario *scenario,
                        struct report_entry *record)
{
    struct judging judging = {
        .session = session,
        .entry = entry,
        .scenario = scenario,
        .reproducer = reproducer_create(scenario),
        .record = record,
    };
    *record = (struct report_entry){
        .file = entry->path,
        .scenario = entry->header.scenario,
        .profile = profile_name(scenario->config.profile),
        .oracle = entry->header.oracle,
        .subject = entry->header.subject,
        .was = entry->was,
        .entries = entry->tape.count,
        .digest_was = entry->header.digest,
        .finding = "",
        .tape = "",
        .command = "",
    };
    if (judging.reproducer == NULL) {
        complain("no memory for a run");
        return STATUS_INTERNAL;
    }
    const enum status status = judge(&judging);
    reproducer_destroy(judging.reproducer);
    return status;
}

enum status entry_status(const struct options *options, const struct report_entry *record)
{
    switch (record->state) {
    case REPORT_ENTRY_SAME:
        return STATUS_OK;
    case REPORT_ENTRY_CHANGED:
    case REPORT_ENTRY_MOVED:
        return option_is_given(options, OPTION_BIT(STRICT)) ? STATUS_BROKEN : STATUS_OK;
    case REPORT_ENTRY_DIFFERS:
    case REPORT_ENTRY_STALE:
        return STATUS_BROKEN;
    case REPORT_ENTRY_STATE_COUNT:
        break;
    }
    UNREACHABLE();
}

/* --- writing ----------------------------------------------------------------------------------- */

char *entry_text(struct text_pool *texts, const struct tape_header *header, const struct tape *tape)
{
    struct byte_writer writer;
    byte_writer_init(&writer, NULL, 0);
    tape_write_text(tape, header, catalogue_registry(), &writer);
    const size_t size = writer.size;
    char *text = text_memory(texts, size + 1, 1);
    byte_writer_init(&writer, (uint8_t *)text, size);
    tape_write_text(tape, header, catalogue_registry(), &writer);
    CHECK(!writer.overflowed);
    return text;
}

void entry_fill_header(struct text_pool *texts,
                       const struct culprit *culprit,
                       uint64_t digest,
                       struct tape_header *header)
{
    (void)snprintf(header->verdict, sizeof header->verdict, "fails");
    (void)snprintf(
        header->oracle, sizeof header->oracle, "%s", summary_oracle_name(culprit->oracle));
    (void)snprintf(header->subject,
                   sizeof header->subject,
                   "%s",
                   summary_subject(texts, culprit->subject_kind, culprit->subject));
    header->digest = digest;
}

/* The lines at the start that are comments. */
static struct bytes comments_of(struct bytes text)
{
    size_t size = 0;
    while (size < text.size && text.data[size] == '#') {
        while (size < text.size && text.data[size] != '\n') {
            size++;
        }
        size += size < text.size ? 1 : 0;
    }
    return (struct bytes){text.data, size};
}

enum status
entry_update(struct session *session, const struct entry *entry, const struct report_entry *record)
{
    struct bytes old = {0};
    if (file_read(&session->texts, entry->path, &old) == ERR_OK) {
        const struct bytes comments = comments_of(old);
        const char *whole = text_format(&session->texts,
                                        "%.*s%s",
                                        (int)comments.size,
                                        (const char *)comments.data,
                                        record->tape);
        if (file_write(entry->path, bytes_of_text(whole)) == ERR_OK) {
            return STATUS_OK;
        }
    }
    complain("\"%s\": cannot be written; allowed: a file that can", entry->path);
    return STATUS_USAGE;
}
