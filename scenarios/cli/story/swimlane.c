#include "scenarios/cli/story/swimlane.h"

#include "scenarios/cli/story/swimlane_words.h"
#include "scenarios/wiring/catalogue.h"

#include <inttypes.h>
#include <string.h>

/* Of a longer story the middle is left out. */
#define ROWS_FIRST      36u
#define ROWS_LAST       16u
#define REQUESTS_SHOWN  8u /* where the story is about no record */
#define LIVES_MAX       64u
#define RESOURCES_SHOWN 8u

/* A line of the journal that becomes a row. */
struct shown {
    uint32_t position;
    uint32_t checkpoint_from; /* a row that stands for those of several checkpoints */
    uint32_t left_out;        /* it stands for so many rows that are not shown */
};

struct maker {
    struct text_pool *texts;
    struct reproducer *reproducer;
    const struct journal *journal;
    const struct swimlane_options *options;
    struct swimlane_columns columns;
    uint32_t end; /* lines */
    /* the subject's other names */
    uint64_t identity;
    uint32_t resources[RESOURCES_SHOWN];
    uint32_t resource_count;
    bool *is_followed; /* by request */
    bool *carries;     /* by request: it has an effect that is the subject's */
    uint32_t request_count;
    struct shown *shown;
    uint32_t shown_count;
    struct report_row *rows;
    struct report_request *requests; /* by request; sent and so on stay REPORT_NO_ROW */
    struct report_life *lives;
    struct report_timeline *timeline;
};

/* --- whose story ------------------------------------------------------------------------------- */

static bool knows_resource(const struct maker *maker, uint32_t resource)
{
    for (uint32_t i = 0; i < maker->resource_count; i++) {
        if (maker->resources[i] == resource) {
            return true;
        }
    }
    return false;
}

static bool is_world(uint8_t kind)
{
    return kind >= WORLD_CREATED && kind <= WORLD_REFUSED;
}

static bool is_of_record(const struct maker *maker, const struct journal_entry *entry)
{
    const struct culprit *culprit = maker->options->culprit;
    return culprit->subject_kind == SUBJECT_RECORD && entry->record != 0 &&
           entry->record == culprit->subject;
}

static bool is_of_subject(const struct maker *maker, const struct journal_entry *entry)
{
    const bool by_identity = maker->identity != 0 && entry->identity == maker->identity;
    return is_of_record(maker, entry) || by_identity ||
           (entry->resource != 0 && knows_resource(maker, entry->resource));
}

/* A record is followed by the names that its envelope and its effects have. */
static void learn_names(struct maker *maker)
{
    const struct culprit *culprit = maker->options->culprit;
    maker->identity = culprit->subject_kind == SUBJECT_IDENTITY ? culprit->subject : 0;
    for (uint32_t i = 0; i < maker->journal->count; i++) {
        const struct journal_entry *entry = journal_at(maker->journal, i);
        maker->request_count =
            entry->request >= maker->request_count ? entry->request + 1 : maker->request_count;
        if (culprit->subject_kind != SUBJECT_RECORD || entry->record != culprit->subject) {
            continue;
        }
        if (entry->kind == HOST_STAGED) {
            maker->identity = entry->identity;
        } else if (is_world(entry->kind) && entry->resource != 0 &&
                   !knows_resource(maker, entry->resource) &&
                   maker->resource_count < RESOURCES_SHOWN) {
            maker->resources[maker->resource_count++] = entry->resource;
        }
    }
}

/* The requests of the story: those for its subject, those that a choice was made for, and where it has
 * no subject that requests are for, the first few. */
static void follow_requests(struct maker *maker)
{
    const struct tape recorded = reproducer_recorded(maker->reproducer);
    const bool is_about_record = maker->options->culprit->subject_kind == SUBJECT_RECORD ||
                                 maker->options->culprit->subject_kind == SUBJECT_IDENTITY;
    maker->is_followed = text_memory(maker->texts, (size_t)maker->request_count + 1, sizeof(bool));
    maker->carries = text_memory(maker->texts, (size_t)maker->request_count + 1, sizeof(bool));
    for (uint32_t i = 0; i < maker->journal->count; i++) {
        const struct journal_entry *entry = journal_at(maker->journal, i);
        const bool is_named = is_of_subject(maker, entry) && entry->request != 0;
        const bool is_early = !is_about_record && entry->request <= REQUESTS_SHOWN;
        if (is_named || is_early) {
            maker->is_followed[entry->request] = true;
        }
        if (is_world(entry->kind) && is_of_record(maker, entry)) {
            maker->carries[entry->request] = true;
        }
    }
    for (uint32_t i = 0; i < recorded.count; i++) {
        const struct tape_entry *choice = &recorded.entries[i];
        if (choice->span_kind == SPAN_REQUEST && choice->span < maker->request_count) {
            maker->is_followed[choice->span] = true;
        }
    }
}

/* --- what is shown ------------------------------------------------------------------------------ */

/* Lines of the job as a whole; those of an injected crash tell that the job stops. */
static bool tells_of_job(const struct journal_entry *entry)
{
    switch (entry->kind) {
    case HOST_JOB_STOPPED:
    case HOST_REGION_STOPPED:
        return entry->code != STOP_CAUSE_CRASH;
    case HOST_JOB_STARTED:
    case HOST_REGION_STARTED:
    case HOST_JOB_FAILED:
    case HOST_JOB_FINISHED:
    case HOST_INJECTED:
    case HOST_CONTRACT:
    case HOST_CHECKPOINT_TRIGGERED:
    case HOST_CHECKPOINT_COMPLETED:
    case HOST_CHECKPOINT_ABORTED:
    case HOST_NOTICE_LOST:
    case HOST_HALF_FAILED:
    case HOST_ZOMBIE:
    case HOST_ZOMBIE_ENDED:
    case WORLD_CHANGED:
        return true;
    default:
        return false;
    }
}

/* Lines about the subject that say nothing which the rows beside them do not. */
static bool is_noise(uint8_t kind)
{
    return kind == HOST_ACCEPTED || kind == HOST_RECEIVED || kind == HOST_COMMIT_REQUEST;
}

/* What a request that has the subject's effect does for other records: a load fills a table. */
static bool is_of_others(const struct maker *maker, const struct journal_entry *entry)
{
    return is_world(entry->kind) && entry->record != 0 && entry->request != 0 &&
           maker->carries[entry->request] && !is_of_record(maker, entry);
}

static bool is_chosen(const struct maker *maker, uint32_t position)
{
    for (uint32_t i = 0; i < maker->options->choice_count; i++) {
        if (maker->options->choices[i] == position) {
            return true;
        }
    }
    return false;
}

static bool is_shown(const struct maker *maker, uint32_t position)
{
    const struct journal_entry *entry = journal_at(maker->journal, position);
    if (position == maker->options->decisive || tells_of_job(entry)) {
        return true;
    }
    if (is_of_others(maker, entry) && !is_chosen(maker, position)) {
        return false;
    }
    const bool is_followed = entry->request != 0 && maker->is_followed[entry->request];
    return (is_followed || is_of_subject(maker, entry)) && !is_noise(entry->kind);
}

static const struct journal_entry *entry_of(const struct maker *maker, uint32_t at)
{
    return journal_at(maker->journal, maker->shown[at].position);
}

/* A checkpoint that begins and completes with nothing between is one row, and so are several of them
 * in a row. */
static bool joins_checkpoints(struct maker *maker, const struct journal_entry *entry)
{
    if (entry->kind != HOST_CHECKPOINT_COMPLETED || maker->shown_count == 0) {
        return false;
    }
    struct shown *last = &maker->shown[maker->shown_count - 1];
    const struct journal_entry *before = journal_at(maker->journal, last->position);
    if (before->kind != HOST_CHECKPOINT_TRIGGERED || before->checkpoint != entry->checkpoint ||
        last->position == maker->options->decisive) {
        return false;
    }
    last->checkpoint_from = entry->checkpoint;
    if (maker->shown_count > 1 && last[-1].checkpoint_from != 0 &&
        last[-1].position != maker->options->decisive) {
        last[-1].position = last->position;
        maker->shown_count--;
    }
    return true;
}

/* Where a line with a choice or the decision stands, the row must be its own. */
static void select_rows(struct maker *maker)
{
    maker->shown = text_memory(maker->texts, (size_t)maker->end + 1, sizeof *maker->shown);
    for (uint32_t i = 0; i < maker->end; i++) {
        if (!is_shown(maker, i)) {
            continue;
        }
        if (joins_checkpoints(maker, journal_at(maker->journal, i))) {
            maker->shown[maker->shown_count - 1].position = i;
        } else {
            maker->shown[maker->shown_count++] = (struct shown){.position = i};
        }
    }
    if (maker->shown_count > ROWS_FIRST + ROWS_LAST + 1) {
        const uint32_t left_out = maker->shown_count - ROWS_FIRST - ROWS_LAST;
        maker->shown[ROWS_FIRST].left_out = left_out;
        memmove(&maker->shown[ROWS_FIRST + 1],
                &maker->shown[maker->shown_count - ROWS_LAST],
                ROWS_LAST * sizeof *maker->shown);
        maker->shown_count = ROWS_FIRST + 1 + ROWS_LAST;
    }
}

/* --- requests ------------------------------------------------------------------------------------ */

static enum report_learnt learnt_of(const struct journal_entry *entry)
{
    if (entry->kind != WIRE_ANSWERED) {
        return REPORT_LEARNT_NOTHING;
    }
    switch (entry->a) {
    case PORT_OUTCOME_OK:
        return REPORT_LEARNT_OK;
    case PORT_OUTCOME_ERROR:
        return REPORT_LEARNT_ERROR;
    default:
        return REPORT_LEARNT_UNKNOWN;
    }
}

static void note_request(struct maker *maker, const struct journal_entry *entry, uint32_t row)
{
    struct report_request *request = &maker->requests[entry->request];
    if (entry->kind == WIRE_ISSUED) {
        request->from = swimlane_column(&maker->columns, entry->lane);
        request->to = swimlane_service_column(&maker->columns, entry->service);
        request->sent = row;
    } else if (is_world(entry->kind) && request->effect == REPORT_NO_ROW) {
        request->effect = row;
        request->took_effect = entry->kind != WORLD_REFUSED;
    } else if (entry->kind == WIRE_ANSWERED || entry->kind == WIRE_DROPPED ||
               entry->kind == WIRE_EXPIRED) {
        request->heard = request->heard == REPORT_NO_ROW ? row : request->heard;
        request->learnt = learnt_of(entry);
        request->is_lost = request->learnt == REPORT_LEARNT_UNKNOWN;
    }
}

/* Those that left within the story and have a row, in the order of their numbers; the others are
 * counted. */
static void gather_requests(struct maker *maker)
{
    struct report_request *list = maker->requests;
    size_t issued = 0;
    size_t count = 0;
    for (uint32_t i = 0; i < maker->end; i++) {
        issued += journal_at(maker->journal, i)->kind == WIRE_ISSUED ? 1 : 0;
    }
    for (uint32_t i = 0; i < maker->journal->count; i++) {
        const struct journal_entry *entry = journal_at(maker->journal, i);
        if (is_world(entry->kind) && entry->request != 0) {
            list[entry->request].is_lost = false;
        }
    }
    for (uint32_t i = 1; i < maker->request_count; i++) {
        if (list[i].sent != REPORT_NO_ROW) {
            list[count++] = list[i];
        }
    }
    maker->timeline->requests = list;
    maker->timeline->request_count = count;
    maker->timeline->requests_left_out = issued - count;
}

/* --- lives --------------------------------------------------------------------------------------- */

static struct report_life *life_in(struct maker *maker, uint32_t column)
{
    for (size_t i = maker->timeline->life_count; i > 0; i--) {
        struct report_life *life = &maker->lives[i - 1];
        if (life->lane == column && life->to == REPORT_NO_ROW) {
            return life;
        }
    }
    return NULL;
}

static void end_life(struct maker *maker, uint32_t column, uint32_t row, bool is_killed)
{
    struct report_life *life = life_in(maker, column);
    if (life == NULL) {
        return;
    }
    life->to = row;
    life->is_killed = is_killed;
    if (life->from == row && life == &maker->lives[maker->timeline->life_count - 1]) {
        maker->timeline->life_count--; /* it passed between two rows */
    }
}

static void begin_life(struct maker *maker, uint32_t column, uint32_t row, bool is_zombie)
{
    if (maker->timeline->life_count < LIVES_MAX && life_in(maker, column) == NULL) {
        maker->lives[maker->timeline->life_count++] = (struct report_life){
            .lane = column, .from = row, .to = REPORT_NO_ROW, .is_zombie = is_zombie};
    }
}

/* The lanes of subtasks live while the job runs. row: the next one. */
static void note_life(struct maker *maker, const struct journal_entry *entry, uint32_t row)
{
    const uint32_t last = row > 0 ? row - 1 : 0;
    const struct swimlane_columns *columns = &maker->columns;
    switch (entry->kind) {
    case HOST_OPENED:
    case HOST_RECORD:
        begin_life(maker, swimlane_column(columns, entry->lane), last, false);
        return;
    case HOST_CRASHED:
        end_life(maker, swimlane_column(columns, entry->lane), last, true);
        return;
    case HOST_ZOMBIE:
        end_life(maker, swimlane_column(columns, entry->lane), last, false);
        begin_life(maker, swimlane_column(columns, entry->lane), last, true);
        return;
    case HOST_ZOMBIE_ENDED:
        end_life(maker, swimlane_column(columns, entry->lane), last, false);
        return;
    case HOST_JOB_STOPPED:
    case HOST_JOB_FAILED:
    case HOST_JOB_FINISHED:
        for (uint32_t i = 0; i < columns->subtask_count; i++) {
            end_life(maker, columns->subtask_first + i, last, false);
        }
        return;
    default:
        return;
    }
}

/* --- rows ---------------------------------------------------------------------------------------- */

static enum report_row_kind row_kind(uint8_t kind)
{
    switch (kind) {
    case HOST_RECORD:
        return REPORT_ROW_READ;
    case WIRE_ISSUED:
        return REPORT_ROW_SENT;
    case WORLD_REFUSED:
        return REPORT_ROW_REFUSED;
    case WIRE_ANSWERED:
    case WIRE_DROPPED:
    case WIRE_EXPIRED:
        return REPORT_ROW_LEARNT;
    case HOST_CHECKPOINT_TRIGGERED:
    case HOST_CHECKPOINT_COMPLETED:
    case HOST_CHECKPOINT_ABORTED:
        return REPORT_ROW_CHECKPOINT;
    case HOST_INJECTED:
    case HOST_NOTICE_LOST:
        return REPORT_ROW_FAULT;
    case HOST_JOB_STOPPED:
    case HOST_REGION_STOPPED:
    case HOST_JOB_FAILED:
    case HOST_HALF_FAILED:
        return REPORT_ROW_DEATH;
    case HOST_JOB_STARTED:
    case HOST_REGION_STARTED:
        return REPORT_ROW_START;
    default:
        return is_world(kind) ? REPORT_ROW_EFFECT : REPORT_ROW_EVENT;
    }
}

static void make_row(struct maker *maker, uint32_t at)
{
    const struct shown *shown = &maker->shown[at];
    const struct journal_entry *entry = entry_of(maker, at);
    struct report_row *row = &maker->rows[at];
    *row = (struct report_row){
        .time_ns = entry->time,
        .kind = row_kind(entry->kind),
        .lane = swimlane_column(&maker->columns, entry->lane),
        .is_subject = is_of_subject(maker, entry) ||
                      (entry->request != 0 && maker->is_followed[entry->request]),
        .is_decisive = shown->position == maker->options->decisive,
    };
    if (shown->left_out > 0) {
        row->kind = REPORT_ROW_LEFT_OUT;
        row->is_subject = false;
        row->words =
            text_format(maker->texts, "%" PRIu32 " rows more, not shown here", shown->left_out);
    } else if (shown->checkpoint_from != 0 && shown->checkpoint_from != entry->checkpoint) {
        row->words = text_format(maker->texts,
                                 "checkpoints %" PRIu32 " %s %" PRIu32 " complete",
                                 shown->checkpoint_from,
                                 entry->checkpoint == shown->checkpoint_from + 1 ? "and" : "to",
                                 entry->checkpoint);
    } else {
        row->words = swimlane_words(maker->texts, maker->reproducer, shown->position);
    }
    if (row->is_decisive) {
        row->words = text_format(maker->texts, "%s: this decides", row->words);
    }
}

/* The choices are pinned to the first row that shows what came next. */
static void pin_choices(struct maker *maker)
{
    const struct swimlane_options *options = maker->options;
    for (uint32_t i = 0; i < options->choice_count; i++) {
        uint32_t at = 0;
        while (at < maker->shown_count && maker->shown[at].position < options->choices[i]) {
            at++;
        }
        struct report_row *row = &maker->rows[at];
        row->choice = row->choices == 0 ? i + 1 : row->choice;
        row->choices++;
    }
}

/* Every line up to the end, those without a row as well: for a crash ends lives. */
static void walk(struct maker *maker)
{
    uint32_t row = 0;
    for (uint32_t i = 0; i < maker->end; i++) {
        const struct journal_entry *entry = journal_at(maker->journal, i);
        const bool has_row = row < maker->shown_count && maker->shown[row].position == i;
        if (has_row) {
            make_row(maker, row);
            if (entry->request != 0 && maker->is_followed[entry->request] &&
                maker->shown[row].left_out == 0) {
                note_request(maker, entry, row);
            }
            row++;
        }
        note_life(maker, entry, row);
    }
}

static void make_ending(struct maker *maker)
{
    const uint32_t at = maker->shown_count;
    const nanos time = maker->end > 0 ? journal_at(maker->journal, maker->end - 1)->time : 0;
    maker->rows[at] = (struct report_row){
        .time_ns = time,
        .kind = REPORT_ROW_END,
        .lane = 0,
        .words = maker->options->ending,
    };
    for (size_t i = 0; i < maker->timeline->life_count; i++) {
        maker->lives[i].to = maker->lives[i].to == REPORT_NO_ROW ? at : maker->lives[i].to;
    }
}

void swimlane_make(struct text_pool *texts,
                   struct reproducer *reproducer,
                   const struct swimlane_options *options,
                   struct report_timeline *timeline)
{
    struct maker maker = {
        .texts = texts,
        .reproducer = reproducer,
        .journal = reproducer_world(reproducer)->journal,
        .options = options,
        .timeline = timeline,
    };
    *timeline = (struct report_timeline){.title = options->title};
    maker.end = options->last < maker.journal->count ? options->last + 1 : maker.journal->count;
    swimlane_columns_make(texts, reproducer, maker.end, &maker.columns);
    learn_names(&maker);
    follow_requests(&maker);
    select_rows(&maker);
    maker.rows = text_memory(texts, (size_t)maker.shown_count + 1, sizeof *maker.rows);
    maker.lives = text_memory(texts, LIVES_MAX, sizeof *maker.lives);
    maker.requests = text_memory(texts, (size_t)maker.request_count + 1, sizeof *maker.requests);
    for (uint32_t i = 0; i < maker.request_count; i++) {
        maker.requests[i].sent = REPORT_NO_ROW;
        maker.requests[i].effect = REPORT_NO_ROW;
        maker.requests[i].heard = REPORT_NO_ROW;
    }
    walk(&maker);
    make_ending(&maker);
    pin_choices(&maker);
    gather_requests(&maker);
    timeline->lanes = maker.columns.names;
    timeline->lane_count = maker.columns.count;
    timeline->rows = maker.rows;
    timeline->row_count = (size_t)maker.shown_count + 1;
    timeline->lives = maker.lives;
    timeline->parting = timeline->row_count;
}
