/* The judge: who hears what, which finding is kept, and what a limit means.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

#include <inttypes.h>
#include <string.h>

/* An oracle that counts what it hears. */
struct counts {
    uint32_t inits;
    uint32_t entries;
    uint32_t heals;
    uint32_t ends;
    uint8_t last_kind;
    uint8_t last_end;
    uint32_t covered_seen; /* covered records that the ledger knew of at the last entry */
};

static void count_init(void *state, struct judge *judge)
{
    struct counts *counts = state;
    assert_non_null(judge->ledger);
    assert_int_equal(counts->inits, 0);
    counts->inits++;
}

static void
count_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    struct counts *counts = state;
    assert_int_equal(position, judge->world->journal->count - 1);
    counts->entries++;
    counts->last_kind = entry->kind;
    counts->covered_seen = judge->ledger->covered_count;
}

static void count_heal(void *state, struct judge *judge)
{
    assert_true(judge->healed);
    ((struct counts *)state)->heals++;
}

static void count_end(void *state, struct judge *judge)
{
    struct counts *counts = state;
    counts->ends++;
    counts->last_end = judge->end;
}

static const char *const no_names[] = {NULL};
static const uint16_t no_marks[] = {MARK_NONE};

static const struct oracle_type counting = {
    .name = "counting",
    .sentence = "counts",
    .mutants = no_names,
    .marks = no_marks,
    .kinds = KIND(HOST_RECORD) | KIND(HOST_CHECKPOINT_COMPLETED),
    .state_size = sizeof(struct counts),
    .init = count_init,
    .on_entry = count_entry,
    .at_heal = count_heal,
    .at_end = count_end,
};

static void goal_of_subscription(struct kit *kit)
{
    kit_init(kit, &counting);
    kit_start(kit);
}

/* Goal: an oracle hears the kinds it wants, after the ledger took them in. */
static void an_oracle_hears_what_it_wants_and_no_more(void **state)
{
    (void)state;
    struct kit kit;
    goal_of_subscription(&kit);
    const struct counts *counts = kit.judge->states[0];
    assert_int_equal(counts->inits, 1);
    assert_int_equal(counts->entries, 0);
    kit_accept(&kit, 1, 3);
    assert_int_equal(counts->entries, 3);
    kit_checkpoint(&kit, 3, NULL);
    assert_int_equal(counts->entries, 4);
    assert_int_equal(counts->last_kind, HOST_CHECKPOINT_COMPLETED);
    assert_int_equal(counts->covered_seen, 3);
}

static void heal_and_end_reach_every_oracle_once(void **state)
{
    (void)state;
    struct kit kit;
    goal_of_subscription(&kit);
    const struct counts *counts = kit.judge->states[0];
    kit_wait(&kit, SECONDS(3));
    judge_heal(kit.judge);
    assert_int_equal(kit.judge->healed_at, SECONDS(3));
    kit_wait(&kit, SECONDS(1));
    judge_end(kit.judge, RUN_END_STUCK);
    assert_int_equal(kit.judge->ended_at, SECONDS(4));
    assert_int_equal(counts->heals, 1);
    assert_int_equal(counts->ends, 1);
    assert_int_equal(counts->last_end, RUN_END_STUCK);
    expect_check_failure(judge_end(kit.judge, RUN_END_COMPLETE));
}

/* --- findings ---------------------------------------------------------------------------------- */

/* An oracle that says what an entry's fields ask for: code as verdict, a as subject. */
static void
say(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    if (entry->code == VERDICT_VIOLATION) {
        judge_violation(judge, position, SUBJECT_EFFECT, entry->a, "subject %" PRIu64, entry->a);
    } else if (entry->code == VERDICT_INCONCLUSIVE) {
        judge_inconclusive(judge, position, "out of scope %" PRIu64, entry->a);
    }
}

static const struct oracle_type saying = {
    .name = "saying",
    .sentence = "says",
    .mutants = no_names,
    .marks = no_marks,
    .kinds = KIND(HOST_RECORD_GONE),
    .on_entry = say,
};

static uint32_t ask(struct kit *kit, enum verdict verdict, uint64_t subject)
{
    return kit_note(
        kit,
        (struct journal_entry){.kind = HOST_RECORD_GONE, .code = (uint8_t)verdict, .a = subject});
}

static void the_first_violation_stays(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &saying);
    kit_start(&kit);
    const uint32_t first = ask(&kit, VERDICT_VIOLATION, 5);
    (void)ask(&kit, VERDICT_VIOLATION, 6);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
    assert_int_equal(kit_finding(&kit)->position, first);
    assert_int_equal(kit_finding(&kit)->subject, 5);
    assert_int_equal(kit_finding(&kit)->subject_kind, SUBJECT_EFFECT);
    assert_string_equal(kit_finding(&kit)->message, "subject 5");
}

static void a_violation_outranks_inconclusive_before_and_after(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &saying);
    kit_start(&kit);
    const uint32_t first = ask(&kit, VERDICT_INCONCLUSIVE, 1);
    (void)ask(&kit, VERDICT_INCONCLUSIVE, 2);
    assert_int_equal(kit_verdict(&kit), VERDICT_INCONCLUSIVE);
    assert_int_equal(kit_finding(&kit)->position, first);
    assert_string_equal(kit_finding(&kit)->message, "out of scope 1");
    (void)ask(&kit, VERDICT_VIOLATION, 3);
    (void)ask(&kit, VERDICT_INCONCLUSIVE, 4);
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
    assert_string_equal(kit_finding(&kit)->message, "subject 3");
}

/* Goal: no verdict at a limit, but for what was already seen; the end checks are not made. */
static void a_limit_leaves_violations_and_judges_nothing_else(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &saying);
    kit_start(&kit);
    (void)ask(&kit, VERDICT_VIOLATION, 3);
    assert_int_equal(kit_end(&kit, RUN_END_LIMIT), VERDICT_VIOLATION);
    goal_of_subscription(&kit);
    assert_int_equal(kit_end(&kit, RUN_END_LIMIT), VERDICT_INCONCLUSIVE);
    assert_int_equal(((const struct counts *)kit.judge->states[0])->ends, 0);
}

static void say_much(void *state, struct judge *judge)
{
    (void)state;
    char text[3 * ORACLE_MESSAGE_SIZE];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    judge_violation(judge, POSITION_END, SUBJECT_JOB, 0, "%s", text);
}

static const struct oracle_type wordy = {
    .name = "wordy",
    .sentence = "says much",
    .mutants = no_names,
    .marks = no_marks,
    .at_end = say_much,
};

static void a_long_message_is_cut_and_ends(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &wordy);
    kit_start(&kit);
    kit_accept(&kit, 1, 1);
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_VIOLATION);
    assert_int_equal(strlen(kit_finding(&kit)->message), ORACLE_MESSAGE_SIZE - 1);
    assert_int_equal(kit_finding(&kit)->position, kit.journal.count - 1);
}

/* Goal: findings of several oracles stay apart, and each hears its own kinds. */
static void each_oracle_has_its_own_finding(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &saying);
    const struct oracle_type *const types[] = {&counting, &saying, &wordy, &saying};
    kit.judge = arena_take(&kit.arena, sizeof(*kit.judge));
    judge_init(kit.judge, &kit.world, &kit.log, &kit.store, &kit.facts, types, 4);
    kit.attempt = 1;
    (void)ask(&kit, VERDICT_VIOLATION, 9);
    kit_host(&kit, HOST_RECORD, 1);
    judge_end(kit.judge, RUN_END_COMPLETE);
    assert_int_equal(kit.judge->findings[0].verdict, VERDICT_OK);
    assert_int_equal(kit.judge->findings[1].subject, 9);
    assert_int_equal(kit.judge->findings[2].subject_kind, SUBJECT_JOB);
    assert_int_equal(kit.judge->findings[3].subject, 9);
    assert_int_equal(((const struct counts *)kit.judge->states[0])->entries, 1);
}

/* --- marks ------------------------------------------------------------------------------------- */

static const uint16_t all_marks[] = {
    MARK_JUDGE_RECORD_COVERED,
    MARK_JUDGE_RESTORE,
    MARK_JUDGE_ROLLED_BACK,
    MARK_JUDGE_ENVELOPE_RESTORED,
    MARK_JUDGE_RECORD_FAILED,
    MARK_JUDGE_DEAD_LETTER,
    MARK_JUDGE_EFFECT,
    MARK_JUDGE_ENVELOPE_SENT,
    MARK_JUDGE_BARRIER,
    MARK_JUDGE_HEAL,
};

static void expect_marks(const struct kit *kit, uint32_t wanted)
{
    for (uint32_t index = 0; index < ARRAY_COUNT(all_marks); index++) {
        assert_int_equal(kit_is_marked(kit, all_marks[index]), wanted >> index & 1);
    }
}

static void mark_most(struct kit *kit, uint32_t what)
{
    kit_init(kit, &saying);
    kit_start(kit);
    kit_accept(kit, 1, 1);
    if (what == 0 || what == 1) {
        kit_stage(kit, 1, 21);
        (void)kit_checkpoint(kit, 1, (uint32_t[]){21, 0});
    }
    if (what == 1) {
        kit_restart(kit, 1);
    } else if (what == 2) {
        kit_restart(kit, 0);
    } else if (what == 3) {
        kit_envelope(kit, HOST_RESTORED, 21);
    } else if (what == 4) {
        kit_fail_record(kit, 1, SINK_REASON_REJECTED);
    } else if (what == 5) {
        kit_letter(kit, 1);
    } else if (what == 6) {
        kit_effect(kit, WORLD_CREATED, 1, 11, 0);
    } else if (what == 7) {
        kit_stage(kit, 1, 21);
        (void)kit_send(kit, kit_committer, 21);
    } else if (what == 8) {
        kit_host(kit, HOST_BARRIER, 0);
    } else if (what == 9) {
        kit_host(kit, HOST_HEAL, 0);
    }
    (void)kit_end(kit, RUN_END_STUCK);
}

/* Goal: each mark stands for one thing that happened, and for nothing else. */
static void marks_say_what_was_seen(void **state)
{
    (void)state;
    for (uint32_t what = 0; what < ARRAY_COUNT(all_marks); what++) {
        struct kit kit;
        mark_most(&kit, what);
        const uint32_t covered = what == 1 ? 1 : 0;
        expect_marks(&kit, (uint32_t)1 << what | covered);
    }
}

/* --- unusual entries --------------------------------------------------------------------------- */

static void report_record(void *state,
                          struct judge *judge,
                          const struct journal_entry *entry,
                          uint32_t position)
{
    (void)state;
    judge_violation(judge, position, SUBJECT_RECORD, entry->record, "heard");
}

static const struct oracle_type of_the_unusual = {
    .name = "of-the-unusual",
    .sentence = "hears what is not plain",
    .mutants = no_names,
    .marks = no_marks,
    .kinds = KIND(HOST_ACCEPTED) | KIND(HOST_SKIPPED),
    .kinds_unusual = KIND(HOST_ACCEPTED),
    .on_entry = report_record,
};

static void an_unusual_entry_reaches_those_that_want_no_plain_one(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &of_the_unusual);
    kit_start(&kit);
    kit_host(&kit, HOST_RECORD, 1);
    kit_host(&kit, HOST_ACCEPTED, 2);
    assert_int_equal(kit_finding(&kit)->subject, 2);
    kit_init(&kit, &of_the_unusual);
    kit.records[0].traits = RECORD_SKIPPED;
    kit_start(&kit);
    kit_host(&kit, HOST_RECORD, 1);
    kit_host(&kit, HOST_ACCEPTED, 1);
    assert_int_equal(kit_finding(&kit)->subject, 1);
}

/* Goal: a checked build asks an oracle about plain entries all the same, and it must have nothing to
 * say. */
static void a_finding_in_a_plain_entry_fails_a_checked_build(void **state)
{
    (void)state;
    struct kit kit;
    kit_init(&kit, &of_the_unusual);
    kit_start(&kit);
    kit_host(&kit, HOST_RECORD, 1);
    expect_check_failure(kit_host(&kit, HOST_ACCEPTED, 1));
}

TEST_MAIN(oracle,
          TEST(an_oracle_hears_what_it_wants_and_no_more),
          TEST(heal_and_end_reach_every_oracle_once),
          TEST(the_first_violation_stays),
          TEST(a_violation_outranks_inconclusive_before_and_after),
          TEST(a_limit_leaves_violations_and_judges_nothing_else),
          TEST(a_long_message_is_cut_and_ends),
          TEST(each_oracle_has_its_own_finding),
          TEST(marks_say_what_was_seen),
          TEST(an_unusual_entry_reaches_those_that_want_no_plain_one),
          TEST(a_finding_in_a_plain_entry_fails_a_checked_build))
