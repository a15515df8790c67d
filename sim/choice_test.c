/* The tape's draws: stability under edits, replay, drift, weights, swarm, overrides.
 * link: sim/choice sim/lane sim/arena sinks/base/bytes sinks/base/allocator
 */
#include "sim/choice.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY_SIZE ((size_t)16 << 20)
#define BIT(kind)   (UINT32_C(1) << (kind))

static const struct choice_outcome fate_outcomes[] = {
    {"ok", 900, FAULT_NONE, NULL},
    {"lost", 40, FAULT_REQUEST_LOST, "X-1"},
    {"applied_answer_lost", 30, FAULT_ANSWER_LOST, "X-2"},
    {"refused", 20, FAULT_REFUSED, "X-3"},
    {"never", 0, FAULT_AMBIGUOUS, "X-4"},
    {"slow", 10, FAULT_LATENCY, "X-5"},
};
static const struct choice_outcome crash_outcomes[] = {
    {"none", 50, FAULT_NONE, NULL},
    {"crash", 50, FAULT_CRASH, "X-6"},
};
static const struct choice_outcome reading_outcomes[] = {
    {"a", 1, FAULT_READING, NULL},
    {"b", 1, FAULT_READING, "X-7"},
    {"c", 2, FAULT_READING, "X-7"},
};
static const struct choice_outcome zero_outcomes[] = {
    {"a", 0, FAULT_NONE, NULL},
    {"b", 0, FAULT_ORDER, NULL},
};
static const struct choice_site fate = {0x1000, 6, "test.fate", fate_outcomes, "fate"};
static const struct choice_site crash = {0x0300, 2, "test.crash", crash_outcomes, "crash"};
static const struct choice_site reading = {0x1001, 3, "test.reading", reading_outcomes, "reading"};
static const struct choice_site zero = {0x1002, 2, "test.zero", zero_outcomes, "zero"};
static const struct choice_site *const sites[] = {&fate, &crash, &reading, &zero};

struct fixture {
    struct arena arena;
    struct choice choice;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    void *memory = malloc(MEMORY_SIZE);

    assert_non_null(fixture);
    assert_non_null(memory);
    /* Whatever an earlier run left there must not matter. */
    memset(memory, 0xa5, MEMORY_SIZE);
    arena_init(&fixture->arena, memory, MEMORY_SIZE, MEMORY_SIZE);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    free(fixture->arena.memory);
    free(fixture);
    return 0;
}

static struct choice *start(struct fixture *fixture, struct choice_options options)
{
    choice_init(&fixture->choice, &fixture->arena, &options);
    return &fixture->choice;
}

static struct choice *start_seeded(struct fixture *fixture, uint64_t seed)
{
    return start(fixture, (struct choice_options){.mode = CHOICE_SEEDED, .seed = seed});
}

static lane writer(uint32_t index)
{
    return lane_make(LANE_WRITER, index);
}

/* A made-up run: draws at all sites, over some lanes, with masks and spans that depend on earlier
 * draws, so that a wrong value has consequences. */
static void run_workload(struct choice *choice, uint32_t steps)
{
    uint32_t mask = CHOICE_ALL;

    for (uint32_t i = 0; i < steps; i++) {
        const lane who = writer(i % 3);

        choice_span(choice, i % 4 == 0 ? SPAN_NONE : SPAN_REQUEST, i / 4);
        const uint32_t value = choice_pick(choice, &fate, who, mask);
        if (value == 3) {
            (void)choice_pick(choice, &crash, lane_make(LANE_RUN, 0), CHOICE_ALL);
        }
        mask = value == 1 ? ~UINT32_C(2) : CHOICE_ALL;
        if (i % 7 == 0) {
            (void)choice_pick(choice, &reading, who, CHOICE_ALL);
        }
    }
}

static struct tape
copy_tape(const struct tape *source, struct tape_entry *entries, uint32_t capacity)
{
    struct tape copy = *source;

    assert_true(source->count <= capacity);
    copy.entries = entries;
    copy.capacity = capacity;
    if (source->count > 0) {
        memcpy(entries, source->entries, source->count * sizeof(*entries));
    }
    return copy;
}

static void assert_same_tape(const struct tape *a, const struct tape *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->identity, b->identity);
    for (uint32_t i = 0; i < a->count; i++) {
        assert_int_equal(a->entries[i].key, b->entries[i].key);
        assert_int_equal(a->entries[i].lane, b->entries[i].lane);
        assert_int_equal(a->entries[i].ordinal, b->entries[i].ordinal);
        assert_int_equal(a->entries[i].bound, b->entries[i].bound);
        assert_int_equal(a->entries[i].value, b->entries[i].value);
        assert_int_equal(a->entries[i].span_kind, b->entries[i].span_kind);
        assert_int_equal(a->entries[i].span, b->entries[i].span);
        assert_int_equal(a->entries[i].position, b->entries[i].position);
    }
}

static void calm_draws_are_zero_and_leave_no_entry(void **state)
{
    struct choice *choice = start(*state, (struct choice_options){.identity = 9});

    for (uint32_t i = 0; i < 5000; i++) {
        assert_int_equal(choice_pick(choice, sites[i % 4], writer(i % 50), CHOICE_ALL), 0);
    }
    assert_int_equal(choice->recorded.count, 0);
    assert_int_equal(choice->draws, 5000);
    assert_int_equal(choice->kinds_fired, 0);
    assert_int_equal(choice->digest, 0);
    assert_int_equal(choice->identity, 9);
    assert_int_equal(choice->recorded.identity, 9);
    assert_false(choice->over_cap);
}

/* Every mask of a menu: the value is one of its bits, and 0 counts as offered without its bit. */
static void seeded_draws_give_what_is_offered(void **state)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct fixture *fixture = *state;

        arena_reset(&fixture->arena);
        struct choice *choice = start_seeded(fixture, seed);
        for (uint32_t mask = 0; mask < 64; mask++) {
            const uint32_t value = choice_pick(choice, &fate, writer(0), mask);

            assert_true(((mask | 1) >> value & 1) != 0);
        }
        assert_int_equal(choice_pick(choice, &fate, writer(0), 0), 0);
        assert_int_equal(choice_pick(choice, &fate, writer(0), UINT32_MAX << 6), 0);
    }
}

/* The n-th nonce of a stream. */
static uint64_t
nonce_of(const struct choice *choice, uint32_t attempt, uint32_t subtask, uint32_t n)
{
    struct choice_nonces nonces = choice_nonces(choice, attempt, subtask);
    for (uint32_t i = 0; i < n; i++) {
        (void)choice_nonce(&nonces);
    }
    return choice_nonce(&nonces);
}

/* Pinned values: they must be the same on every compiler and processor, and a change of the
 * generator turns every seed into another run. */
static void seeded_values_are_pinned(void **state)
{
    struct choice *choice = start_seeded(*state, 42);
    uint64_t digest = 0;

    for (uint32_t i = 0; i < 1000; i++) {
        digest = digest_fold(digest, choice_pick(choice, &reading, writer(i % 2), CHOICE_ALL));
    }
    assert_int_equal(digest, UINT64_C(0xd2d5e9c3e46c144e));
    choice = start(
        *state, (struct choice_options){.mode = CHOICE_SEEDED, .seed = UINT64_MAX, .swarm = true});
    run_workload(choice, 1000);
    assert_int_equal(choice_unseed(choice), UINT64_C(0xe2d4c62b130d80a6));
    assert_int_equal(nonce_of(choice, 1, 2, 3), UINT64_C(0x37d3ea04ad09948b));
}

/* The same draws with and without others between them, at another site, on another lane. */
static void an_added_draw_moves_no_other(void **state)
{
    struct fixture *fixture = *state;
    uint32_t values[2][500];

    for (uint32_t added = 0; added < 2; added++) {
        struct choice *choice = start_seeded(fixture, 5);

        for (uint32_t i = 0; i < 500; i++) {
            if (added == 1) {
                (void)choice_pick(choice, &crash, writer(1), CHOICE_ALL);
                (void)choice_pick(choice, &reading, writer(2), CHOICE_ALL);
            }
            values[added][i] = choice_pick(choice, &reading, writer(1), CHOICE_ALL);
        }
    }
    assert_memory_equal(values[0], values[1], sizeof(values[0]));
}

/* What a lane draws does not depend on when others draw, and lanes draw differently. */
static void lanes_are_independent(void **state)
{
    struct fixture *fixture = *state;
    uint32_t alone[3][200];
    uint32_t interleaved[3][200];

    for (uint32_t who = 0; who < 3; who++) {
        struct choice *choice = start_seeded(fixture, 6);

        for (uint32_t i = 0; i < 200; i++) {
            alone[who][i] = choice_pick(choice, &crash, writer(who), CHOICE_ALL);
        }
    }
    struct choice *choice = start_seeded(fixture, 6);
    for (uint32_t i = 0; i < 200; i++) {
        for (uint32_t who = 0; who < 3; who++) {
            interleaved[2 - who][i] = choice_pick(choice, &crash, writer(2 - who), CHOICE_ALL);
        }
    }
    assert_memory_equal(alone, interleaved, sizeof(alone));
    assert_memory_not_equal(alone[0], alone[1], sizeof(alone[0]));
    assert_memory_not_equal(alone[1], alone[2], sizeof(alone[1]));
}

/* Neighbouring seeds and neighbouring ordinals agree as often as chance says: 300 of 600. */
static void seeds_and_ordinals_are_unrelated(void **state)
{
    struct fixture *fixture = *state;
    uint32_t before[600] = {0};

    for (uint64_t seed = 0; seed < 40; seed++) {
        struct choice *choice = start_seeded(fixture, seed);
        uint32_t as_before = 0;
        uint32_t as_last = 0;
        uint32_t last = 0;

        for (uint32_t i = 0; i < 600; i++) {
            const uint32_t value = choice_pick(choice, &crash, writer(0), CHOICE_ALL);

            as_before += value == before[i] ? 1 : 0;
            as_last += value == last ? 1 : 0;
            before[i] = value;
            last = value;
        }
        assert_in_range(as_before, seed == 0 ? 0 : 230, 370);
        assert_in_range(as_last, 230, 370);
    }
}

/* 200,000 draws; each count within 6 standard deviations or so of its expectation. */
static void weights_are_respected(void **state)
{
    struct choice *choice = start(
        *state, (struct choice_options){.mode = CHOICE_SEEDED, .seed = 11, .tape_cap = 100000});
    uint32_t all[6] = {0};
    uint32_t some[6] = {0};

    for (uint32_t i = 0; i < 200000; i++) {
        const uint32_t value = choice_pick(choice, &fate, writer(0), CHOICE_ALL);

        all[value]++;
    }
    assert_in_range(all[0], 179000, 181000);
    assert_in_range(all[1], 7500, 8500);
    assert_in_range(all[2], 5550, 6450);
    assert_in_range(all[3], 3620, 4380);
    assert_int_equal(all[4], 0);
    assert_in_range(all[5], 1730, 2270);

    /* Outcomes 3 and 5 alone beside 0: their odds to 0 stay. 60,000 draws. */
    for (uint32_t i = 0; i < 60000; i++) {
        const uint32_t value = choice_pick(choice, &fate, writer(1), 1U << 3 | 1U << 5);

        some[value]++;
    }
    assert_in_range(some[3], 1080, 1510);
    assert_in_range(some[5], 490, 800);
    assert_int_equal(some[0] + some[3] + some[5], 60000);
    assert_false(choice->over_cap);
}

static void a_menu_without_weights_gives_zero(void **state)
{
    struct choice *choice = start_seeded(*state, 12);

    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(choice_pick(choice, &zero, writer(0), CHOICE_ALL), 0);
    }
}

/* The greatest menu at the greatest weights and a strong swarm: no sum wraps around. */
static void the_greatest_menu_does_not_overflow(void **state)
{
    struct fixture *fixture = *state;
    struct choice_outcome outcomes[CHOICE_MENU_MAX];
    uint32_t counts[CHOICE_MENU_MAX] = {0};
    const struct choice_site site = {0x2000, CHOICE_MENU_MAX, "big", outcomes, "big"};

    for (uint32_t i = 0; i < CHOICE_MENU_MAX; i++) {
        outcomes[i] = (struct choice_outcome){"x", UINT16_MAX, FAULT_CRASH, "X-1"};
    }
    outcomes[0].kind = FAULT_NONE;
    for (uint64_t seed = 0; seed < 200; seed++) {
        arena_reset(&fixture->arena);
        struct choice *choice = start(
            fixture, (struct choice_options){.mode = CHOICE_SEEDED, .seed = seed, .swarm = true});
        for (uint32_t i = 0; i < 100; i++) {
            const uint32_t value = choice_pick(choice, &site, writer(0), CHOICE_ALL);

            counts[value]++;
        }
    }
    for (uint32_t i = 1; i < CHOICE_MENU_MAX; i++) {
        assert_in_range(counts[i], 100, 600);
    }
    assert_in_range(counts[0], 8000, 16000);
}

/* Over 4000 seeds each fault kind is on in about half; in some runs no kind is; scales stay in
 * their range; freedoms and readings keep their weights. */
static void swarm_switches_fault_kinds_by_seed(void **state)
{
    struct fixture *fixture = *state;
    uint32_t on[FAULT_KIND_COUNT] = {0};
    uint32_t weaker = 0;
    uint32_t stronger = 0;
    uint32_t calm_runs = 0;

    for (uint64_t seed = 0; seed < 4000; seed++) {
        uint32_t on_here = 0;

        arena_reset(&fixture->arena);
        struct choice *choice = start(
            fixture, (struct choice_options){.mode = CHOICE_SEEDED, .seed = seed, .swarm = true});
        for (uint32_t kind = FAULT_NONE; kind < FAULT_KIND_COUNT; kind++) {
            const uint32_t scale = choice->swarm_scale[kind];

            if (!fault_kind_is_fault((enum fault_kind)kind)) {
                assert_int_equal(scale, 256);
            } else if (scale != 0) {
                assert_in_range(scale, 16, 1024);
                on[kind]++;
                on_here++;
                weaker += scale < 256 ? 1 : 0;
                stronger += scale > 256 ? 1 : 0;
            }
        }
        calm_runs += on_here == 0 ? 1 : 0;
    }
    for (uint32_t kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        if (fault_kind_is_fault((enum fault_kind)kind)) {
            assert_in_range(on[kind], 1650, 2100);
        }
    }
    assert_in_range(calm_runs, 150, 350);
    assert_true(stronger > 4000);
    assert_true(weaker > 4000);
}

/* A kind switched off never fires, however often it is drawn; readings still do. */
static void swarm_silences_a_kind_for_the_whole_run(void **state)
{
    struct fixture *fixture = *state;
    uint32_t silenced = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        uint32_t crashes = 0;

        arena_reset(&fixture->arena);
        struct choice *choice = start(
            fixture, (struct choice_options){.mode = CHOICE_SEEDED, .seed = seed, .swarm = true});
        for (uint32_t i = 0; i < 500; i++) {
            crashes += choice_pick(choice, &crash, writer(0), CHOICE_ALL);
            (void)choice_pick(choice, &reading, writer(0), CHOICE_ALL);
        }
        assert_true((crashes == 0) == (choice->swarm_scale[FAULT_CRASH] == 0));
        assert_true(choice->kind_counts[FAULT_READING] > 300);
        silenced += crashes == 0 ? 1 : 0;
    }
    assert_in_range(silenced, 15, 50);
}

/* Kinds outside the scenario's menu are off; what the others get does not depend on them. */
static void swarm_keeps_to_the_kinds_allowed(void **state)
{
    struct fixture *fixture = *state;

    for (uint64_t seed = 0; seed < 300; seed++) {
        uint16_t all[FAULT_KIND_COUNT];
        const uint32_t allowed = BIT(FAULT_CRASH) | BIT(FAULT_ANSWER_LOST);

        arena_reset(&fixture->arena);
        struct choice *choice = start(
            fixture, (struct choice_options){.mode = CHOICE_SEEDED, .seed = seed, .swarm = true});
        memcpy(all, choice->swarm_scale, sizeof(all));
        choice = start(
            fixture,
            (struct choice_options){
                .mode = CHOICE_SEEDED, .seed = seed, .swarm = true, .kinds_allowed = allowed});
        for (uint32_t kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
            const bool kept =
                (allowed >> kind & 1) != 0 || !fault_kind_is_fault((enum fault_kind)kind);

            assert_int_equal(choice->swarm_scale[kind], kept ? all[kind] : 0);
        }
    }
}

/* What swarm takes from a kind goes to 0: others do not become likelier. */
static void swarm_gives_the_rest_to_zero(void **state)
{
    struct fixture *fixture = *state;

    for (uint64_t seed = 0; seed < 400; seed++) {
        arena_reset(&fixture->arena);
        struct choice *choice =
            start(fixture,
                  (struct choice_options){
                      .mode = CHOICE_SEEDED, .seed = seed, .swarm = true, .tape_cap = 100000});
        uint32_t slow = 0;

        for (uint32_t kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
            if (choice->swarm_scale[kind] > 256) {
                choice->swarm_scale[kind] = 0;
            }
        }
        for (uint32_t i = 0; i < 5000; i++) {
            slow += choice_pick(choice, &fate, writer(0), CHOICE_ALL) == 5 ? 1 : 0;
        }
        assert_in_range(slow, 15, 95);
    }
}

/* Record under a seed with swarm, replay without: equal values, tape, digest and unseed. */
static void a_recorded_run_replays_equal(void **state)
{
    struct fixture *fixture = *state;

    for (uint64_t seed = 0; seed < 100; seed++) {
        static struct tape_entry entries[300];

        arena_reset(&fixture->arena);
        struct choice *choice = start(
            fixture, (struct choice_options){.mode = CHOICE_SEEDED, .seed = seed, .swarm = true});
        run_workload(choice, 400);
        const struct tape tape = copy_tape(&choice->recorded, entries, ARRAY_COUNT(entries));
        const uint64_t digest = choice->digest;
        const uint64_t unseed = choice_unseed(choice);

        arena_reset(&fixture->arena);
        choice = start(fixture, (struct choice_options){.mode = CHOICE_REPLAY, .tape = &tape});
        run_workload(choice, 400);
        assert_same_tape(&choice->recorded, &tape);
        assert_int_equal(choice->digest, digest);
        assert_int_equal(choice_unseed(choice), unseed);
        assert_int_equal(choice_alignment(choice).entries, tape.count);
        assert_int_equal(choice_alignment(choice).aligned, tape.count);
        assert_int_equal(choice_alignment(choice).drifted, 0);
    }
}

/* The order of entries on a tape does not matter. */
static void a_replay_finds_entries_in_any_order(void **state)
{
    struct fixture *fixture = *state;
    struct choice *choice = start_seeded(fixture, 3);
    struct tape_entry entries[300];
    struct tape_entry turned[300];

    run_workload(choice, 600);
    const struct tape tape = copy_tape(&choice->recorded, entries, ARRAY_COUNT(entries));
    struct tape other = copy_tape(&tape, turned, ARRAY_COUNT(turned));
    assert_true(tape.count > 50);
    for (uint32_t i = 0; i < tape.count; i++) {
        turned[i] = entries[tape.count - 1 - i];
    }
    choice = start(fixture, (struct choice_options){.mode = CHOICE_REPLAY, .tape = &other});
    run_workload(choice, 600);
    assert_same_tape(&choice->recorded, &tape);
}

static struct choice *
replay_one(struct fixture *fixture, struct tape *tape, struct tape_entry *entry)
{
    *tape = (struct tape){.entries = entry, .count = 1, .capacity = 1, .identity = 77};
    return start(fixture, (struct choice_options){.mode = CHOICE_REPLAY, .tape = tape});
}

/* A draw whose entry is not offered gives 0 and counts as drift; a later draw still aligns. */
static void a_value_not_offered_drifts_to_zero(void **state)
{
    struct tape_entry entry = {
        .key = 0x1000, .lane = writer(0), .ordinal = 1, .bound = 6, .value = 2};
    struct tape tape;
    struct choice *choice = replay_one(*state, &tape, &entry);

    assert_int_equal(choice->identity, 77);
    assert_int_equal(choice_pick(choice, &fate, writer(0), CHOICE_ALL), 0);
    assert_int_equal(choice_pick(choice, &fate, writer(0), ~UINT32_C(4)), 0);
    assert_int_equal(choice_pick(choice, &fate, writer(0), CHOICE_ALL), 0);
    assert_int_equal(choice_alignment(choice).entries, 1);
    assert_int_equal(choice_alignment(choice).aligned, 0);
    assert_int_equal(choice_alignment(choice).drifted, 1);
    assert_int_equal(choice->recorded.count, 0);
}

/* Another bound drifts. The value is kept where it is offered, clamped where the menu is shorter,
 * and 0 where the clamped one is not offered. */
static void another_bound_drifts_and_clamps(void **state)
{
    struct tape_entry entry = {.key = 0x1000, .lane = writer(0), .bound = 7, .value = 2};
    struct tape tape;
    struct choice *choice = replay_one(*state, &tape, &entry);

    assert_int_equal(choice_pick(choice, &fate, writer(0), CHOICE_ALL), 2);
    assert_int_equal(choice_alignment(choice).aligned, 0);
    assert_int_equal(choice_alignment(choice).drifted, 1);
    assert_int_equal(choice->recorded.entries[0].bound, 6);

    entry = (struct tape_entry){.key = 0x1000, .lane = writer(0), .bound = 12, .value = 11};
    choice = replay_one(*state, &tape, &entry);
    assert_int_equal(choice_pick(choice, &fate, writer(0), CHOICE_ALL), 5);
    assert_int_equal(choice_alignment(choice).drifted, 1);

    choice = replay_one(*state, &tape, &entry);
    assert_int_equal(choice_pick(choice, &fate, writer(0), 31), 0);
    assert_int_equal(choice_alignment(choice).drifted, 1);
}

/* An entry that no draw meets is neither aligned nor drifted. */
static void an_entry_that_is_not_met_is_not_aligned(void **state)
{
    struct tape_entry entry = {.key = 0x1000, .lane = writer(1), .bound = 6, .value = 2};
    struct tape tape;
    struct choice *choice = replay_one(*state, &tape, &entry);

    (void)choice_pick(choice, &fate, writer(0), CHOICE_ALL);
    (void)choice_pick(choice, &crash, writer(1), CHOICE_ALL);
    assert_int_equal(choice_alignment(choice).entries, 1);
    assert_int_equal(choice_alignment(choice).aligned, 0);
    assert_int_equal(choice_alignment(choice).drifted, 0);
}

static void of_two_entries_for_a_draw_the_first_counts(void **state)
{
    struct tape_entry entries[] = {
        {.key = 0x1000, .lane = writer(0), .bound = 6, .value = 2},
        {.key = 0x1000, .lane = writer(0), .bound = 6, .value = 3},
    };
    const struct tape tape = {.entries = entries, .count = 2, .capacity = 2};
    struct choice *choice =
        start(*state, (struct choice_options){.mode = CHOICE_REPLAY, .tape = &tape});

    assert_int_equal(choice_pick(choice, &fate, writer(0), CHOICE_ALL), 2);
    assert_int_equal(choice_pick(choice, &fate, writer(0), CHOICE_ALL), 0);
}

static void an_empty_tape_replays_calm(void **state)
{
    const struct tape tape = {.identity = 5};
    struct choice *choice =
        start(*state, (struct choice_options){.mode = CHOICE_REPLAY, .tape = &tape});

    run_workload(choice, 300);
    assert_int_equal(choice->recorded.count, 0);
    assert_int_equal(choice->identity, 5);
}

/* The cap's last entry fits; the next non-zero value becomes 0 and sets the flag. */
static void a_full_tape_forces_zero(void **state)
{
    struct fixture *fixture = *state;
    struct choice *choice =
        start(fixture, (struct choice_options){.mode = CHOICE_SEEDED, .seed = 1, .tape_cap = 20});
    uint32_t fired = 0;

    while (fired < 20) {
        fired += choice_pick(choice, &crash, writer(0), CHOICE_ALL);
    }
    assert_false(choice->over_cap);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(choice_pick(choice, &crash, writer(0), CHOICE_ALL), 0);
    }
    assert_true(choice->over_cap);
    assert_int_equal(choice->recorded.count, 20);
    assert_int_equal(choice->kind_counts[FAULT_CRASH], 20);
}

static void the_default_cap_is_4096(void **state)
{
    struct choice *choice = start_seeded(*state, 1);

    for (uint32_t i = 0; i < 10000; i++) {
        (void)choice_pick(choice, &crash, writer(i % 9), CHOICE_ALL);
    }
    assert_true(choice->over_cap);
    assert_int_equal(choice->recorded.count, 4096);
}

/* Kinds are counted by non-zero values, and the entries tell the same. */
static void fired_kinds_are_counted(void **state)
{
    struct choice *choice = start_seeded(*state, 8);
    uint32_t counts[FAULT_KIND_COUNT] = {0};
    uint64_t kinds = 0;

    run_workload(choice, 1000);
    for (uint32_t i = 0; i < choice->recorded.count; i++) {
        const struct tape_entry *entry = &choice->recorded.entries[i];

        for (size_t s = 0; s < ARRAY_COUNT(sites); s++) {
            if (sites[s]->key == entry->key) {
                counts[sites[s]->outcomes[entry->value].kind]++;
                kinds |= UINT64_C(1) << sites[s]->outcomes[entry->value].kind;
            }
        }
    }
    assert_memory_equal(counts, choice->kind_counts, sizeof(counts));
    assert_int_equal(kinds, choice->kinds_fired);
    assert_true((kinds >> FAULT_CRASH & 1) != 0);
    assert_true((kinds >> FAULT_MEMORY & 1) == 0);
}

/* Entries carry the span and the number of their draw. */
static void entries_hold_span_and_position(void **state)
{
    struct choice *choice = start(*state, (struct choice_options){.mode = CHOICE_CALM});

    choice_override(choice, &fate, 0, 1);
    choice_override(choice, &fate, 1, 2);
    choice_override(choice, &crash, 0, 1);
    (void)choice_pick(choice, &reading, writer(0), CHOICE_ALL);
    choice_span(choice, SPAN_REQUEST, 12);
    (void)choice_pick(choice, &fate, writer(0), CHOICE_ALL);
    choice_span(choice, SPAN_CRASH, 3);
    (void)choice_pick(choice, &crash, writer(0), CHOICE_ALL);
    choice_span(choice, SPAN_NONE, 3);
    (void)choice_pick(choice, &fate, writer(1), CHOICE_ALL);

    const struct tape_entry *entries = choice->recorded.entries;
    assert_int_equal(choice->recorded.count, 3);
    assert_int_equal(entries[0].span_kind, SPAN_REQUEST);
    assert_int_equal(entries[0].span, 12);
    assert_int_equal(entries[0].position, 1);
    assert_int_equal(entries[1].span_kind, SPAN_CRASH);
    assert_int_equal(entries[1].span, 3);
    assert_int_equal(entries[1].position, 2);
    assert_int_equal(entries[2].span_kind, SPAN_NONE);
    assert_int_equal(entries[2].span, 0);
    assert_int_equal(entries[2].position, 3);
    assert_int_equal(entries[2].lane, writer(1));
    assert_int_equal(entries[2].ordinal, 0);
}

/* Offers are kept up to the capacity and counted past it; they do not change what is drawn. */
static void offers_are_kept_up_to_their_capacity(void **state)
{
    struct fixture *fixture = *state;
    struct choice *choice = start_seeded(fixture, 4);
    struct tape_entry entries[300];

    run_workload(choice, 500);
    const struct tape tape = copy_tape(&choice->recorded, entries, ARRAY_COUNT(entries));
    const uint32_t draws = choice->draws;
    choice = start(
        fixture, (struct choice_options){.mode = CHOICE_SEEDED, .seed = 4, .offer_capacity = 550});
    run_workload(choice, 500);
    assert_same_tape(&choice->recorded, &tape);
    assert_int_equal(choice->offer_count, draws);
    assert_true(draws > 550);

    uint32_t entry = 0;
    for (uint32_t i = 0; i < 550; i++) {
        const struct choice_offer *offer = &choice->offers[i];

        assert_true((offer->mask >> offer->value & 1) != 0);
        assert_true((offer->mask & 1) != 0);
        if (offer->value != 0) {
            assert_int_equal(tape.entries[entry].position, i);
            assert_int_equal(tape.entries[entry].value, offer->value);
            assert_int_equal(tape.entries[entry].key, offer->key);
            assert_int_equal(tape.entries[entry].lane, offer->lane);
            assert_int_equal(tape.entries[entry].ordinal, offer->ordinal);
            entry++;
        }
    }
}

struct script {
    uint32_t answer;
    uint32_t calls;
    uint32_t mask;
    uint32_t ordinal;
    lane who;
};

static uint32_t answer_script(
    void *context, const struct choice_site *site, lane who, uint32_t ordinal, uint32_t mask)
{
    struct script *script = context;

    assert_ptr_equal(site, &fate);
    script->calls++;
    script->mask = mask;
    script->ordinal = ordinal;
    script->who = who;
    return script->answer;
}

static void a_policy_decides(void **state)
{
    struct script script = {.answer = 3};
    struct choice *choice = start(*state,
                                  (struct choice_options){.mode = CHOICE_POLICY,
                                                          .identity = 4,
                                                          .policy = answer_script,
                                                          .policy_context = &script});

    (void)choice_pick(choice, &fate, writer(6), CHOICE_ALL);
    assert_int_equal(choice_pick(choice, &fate, writer(6), 1U << 3 | 1U << 9), 3);
    assert_int_equal(script.calls, 2);
    assert_int_equal(script.mask, 1U << 3 | 1);
    assert_int_equal(script.ordinal, 1);
    assert_int_equal(script.who, writer(6));
    assert_int_equal(choice->recorded.count, 2);
    assert_int_equal(choice->identity, 4);
    expect_check_failure((void)choice_pick(choice, &fate, writer(6), 1));
    script.answer = 6;
    expect_check_failure((void)choice_pick(choice, &fate, writer(6), CHOICE_ALL));
}

/* An override counts a site's draws over all lanes, also those before it was set. */
static void an_override_pins_the_nth_draw_of_a_site(void **state)
{
    struct choice *choice = start_seeded(*state, 100);

    (void)choice_pick(choice, &crash, writer(0), CHOICE_ALL);
    (void)choice_pick(choice, &crash, writer(1), CHOICE_ALL);
    (void)choice_pick(choice, &fate, writer(1), CHOICE_ALL);
    expect_check_failure(choice_override(choice, &crash, 1, 1));
    for (uint32_t nth = 2; nth < 10; nth++) {
        choice_override(choice, &crash, nth, nth % 2);
    }
    expect_check_failure(choice_override(choice, &crash, 20, 1));
    for (uint32_t nth = 2; nth < 10; nth++) {
        (void)choice_pick(choice, &fate, writer(nth), CHOICE_ALL);
        assert_int_equal(choice_pick(choice, &crash, writer(nth), CHOICE_ALL), nth % 2);
    }
}

/* A pinned value that is not offered would make a test pass for no reason. */
static void an_override_that_is_not_offered_is_a_broken_invariant(void **state)
{
    struct choice *choice = start_seeded(*state, 100);

    expect_check_failure(choice_override(choice, &crash, 0, 2));
    choice_override(choice, &fate, 0, 2);
    expect_check_failure(choice_override(choice, &fate, 0, 1));
    expect_check_failure((void)choice_pick(choice, &fate, writer(0), 1));
}

/* 12,000 (site, lane) pairs, drawn in rounds: the table grows, and every ordinal is the round. */
static void ordinals_count_per_site_and_lane(void **state)
{
    struct choice *choice =
        start(*state, (struct choice_options){.mode = CHOICE_CALM, .offer_capacity = UINT32_MAX});

    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t index = 0; index < 2000; index++) {
            for (uint32_t kind = LANE_WRITER; kind < LANE_WRITER + 3; kind++) {
                const lane who = lane_make((enum lane_kind)kind, index);

                (void)choice_pick(choice, &fate, who, CHOICE_ALL);
                (void)choice_pick(choice, &reading, who, CHOICE_ALL);
                assert_int_equal(choice->offers[choice->offer_count - 1].ordinal, round);
                assert_int_equal(choice->offers[choice->offer_count - 2].ordinal, round);
            }
        }
    }
}

/* Equal runs have equal unseeds; one more calm draw, or the same number elsewhere, another one. */
static void the_unseed_sees_every_draw(void **state)
{
    uint64_t unseeds[4];

    for (uint32_t i = 0; i < 4; i++) {
        struct choice *choice = start(*state, (struct choice_options){.mode = CHOICE_CALM});

        (void)choice_pick(choice, &fate, writer(0), CHOICE_ALL);
        if (i == 2) {
            (void)choice_pick(choice, &fate, writer(0), CHOICE_ALL);
        }
        if (i == 3) {
            (void)choice_pick(choice, &fate, writer(1), CHOICE_ALL);
        }
        unseeds[i] = choice_unseed(choice);
    }
    assert_int_equal(unseeds[0], unseeds[1]);
    assert_int_not_equal(unseeds[0], unseeds[2]);
    assert_int_not_equal(unseeds[0], unseeds[3]);
    assert_int_not_equal(unseeds[2], unseeds[3]);
}

/* Each part of a non-zero choice reaches the digest. */
static void the_digest_sees_every_choice(void **state)
{
    static const struct tape_entry variants[] = {
        {.key = 0x1000, .lane = LANE_WRITER << 11, .ordinal = 1, .bound = 6, .value = 1},
        {.key = 0x1000, .lane = LANE_WRITER << 11, .ordinal = 1, .bound = 6, .value = 2},
        {.key = 0x1000, .lane = LANE_WRITER << 11, .ordinal = 0, .bound = 6, .value = 1},
        {.key = 0x1000, .lane = LANE_WRITER << 11 | 1, .ordinal = 1, .bound = 6, .value = 1},
        {.key = 0x0300, .lane = LANE_WRITER << 11, .ordinal = 1, .bound = 2, .value = 1},
    };
    uint64_t digests[ARRAY_COUNT(variants)];

    for (size_t i = 0; i < ARRAY_COUNT(variants); i++) {
        struct tape_entry entry = variants[i];
        struct tape tape;
        struct choice *choice = replay_one(*state, &tape, &entry);

        for (uint32_t draw = 0; draw < 4; draw++) {
            (void)choice_pick(choice, &fate, writer(draw / 2), CHOICE_ALL);
            (void)choice_pick(choice, &crash, writer(draw / 2), CHOICE_ALL);
        }
        assert_int_equal(choice_alignment(choice).aligned, 1);
        digests[i] = choice->digest;
        for (size_t other = 0; other < i; other++) {
            assert_int_not_equal(digests[i], digests[other]);
        }
    }
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

/* 32,000 nonces of neighbouring attempts, subtasks and numbers: all differ, and they depend on the
 * identity alone, not on what was drawn. */
static void nonces_never_repeat(void **state)
{
    static uint64_t nonces[32 * 10 * 100];
    size_t count = 0;
    struct choice *choice = start_seeded(*state, 3);

    for (uint32_t attempt = 0; attempt < 32; attempt++) {
        for (uint32_t subtask = 0; subtask < 10; subtask++) {
            for (uint32_t n = 0; n < 100; n++) {
                nonces[count] = nonce_of(choice, attempt, subtask, n);
                count++;
            }
        }
    }
    const uint64_t first = nonces[0];
    qsort(nonces, count, sizeof(nonces[0]), compare_u64);
    for (size_t i = 1; i < count; i++) {
        assert_true(nonces[i - 1] < nonces[i]);
    }
    choice = start(*state, (struct choice_options){.mode = CHOICE_CALM, .identity = 3});
    (void)choice_pick(choice, &fate, writer(0), CHOICE_ALL);
    assert_int_equal(nonce_of(choice, 0, 0, 0), first);
    choice = start(*state, (struct choice_options){.mode = CHOICE_CALM, .identity = 4});
    assert_int_not_equal(nonce_of(choice, 0, 0, 0), first);
}

static void fault_kinds_have_names(void **state)
{
    (void)state;
    for (uint32_t i = FAULT_NONE + 1; i < FAULT_KIND_COUNT; i++) {
        enum fault_kind kind = FAULT_NONE;
        const struct bytes name = bytes_of_text(fault_kind_name((enum fault_kind)i));

        assert_int_equal(fault_kind_parse(name, &kind), ERR_OK);
        assert_int_equal(kind, i);
    }
    enum fault_kind kind = FAULT_CRASH;
    assert_int_equal(fault_kind_parse(BYTES_LITERAL("none"), &kind), ERR_NOT_FOUND);
    assert_int_equal(fault_kind_parse(BYTES_LITERAL(""), &kind), ERR_NOT_FOUND);
    assert_int_equal(kind, FAULT_CRASH);
    assert_string_equal(fault_kind_name(FAULT_ANSWER_LOST), "answer_lost");
    assert_true(fault_kind_is_fault(FAULT_ANSWER_LOST));
    assert_false(fault_kind_is_fault(FAULT_READING));
    assert_false(fault_kind_is_fault(FAULT_NONE));
}

static void sites_are_found_by_key_and_name(void **state)
{
    (void)state;
    const struct choice_registry registry = {sites, ARRAY_COUNT(sites)};

    assert_ptr_equal(choice_site_by_key(&registry, 0x1001), &reading);
    assert_null(choice_site_by_key(&registry, 0x1009));
    assert_ptr_equal(choice_site_by_name(&registry, BYTES_LITERAL("test.crash")), &crash);
    assert_null(choice_site_by_name(&registry, BYTES_LITERAL("test.cras")));
    assert_null(choice_site_by_name(&registry, BYTES_LITERAL("")));
}

/* Menus and lanes are checked when a (site, lane) first draws. */
static void a_wrong_site_or_lane_is_a_broken_invariant(void **state)
{
    struct choice *choice = start_seeded(*state, 1);
    struct choice_site site = fate;

    expect_check_failure((void)choice_pick(choice, &fate, 0, CHOICE_ALL));
    site.outcome_count = 1;
    expect_check_failure((void)choice_pick(choice, &site, writer(0), CHOICE_ALL));
    site.outcome_count = 0;
    expect_check_failure((void)choice_pick(choice, &site, writer(0), CHOICE_ALL));
    site.outcome_count = CHOICE_MENU_MAX + 1;
    expect_check_failure((void)choice_pick(choice, &site, writer(0), CHOICE_ALL));
}

#define RUN(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

TEST_MAIN(choice,
          RUN(calm_draws_are_zero_and_leave_no_entry),
          RUN(seeded_draws_give_what_is_offered),
          RUN(seeded_values_are_pinned),
          RUN(an_added_draw_moves_no_other),
          RUN(lanes_are_independent),
          RUN(seeds_and_ordinals_are_unrelated),
          RUN(weights_are_respected),
          RUN(a_menu_without_weights_gives_zero),
          RUN(the_greatest_menu_does_not_overflow),
          RUN(swarm_switches_fault_kinds_by_seed),
          RUN(swarm_silences_a_kind_for_the_whole_run),
          RUN(swarm_keeps_to_the_kinds_allowed),
          RUN(swarm_gives_the_rest_to_zero),
          RUN(a_recorded_run_replays_equal),
          RUN(a_replay_finds_entries_in_any_order),
          RUN(a_value_not_offered_drifts_to_zero),
          RUN(another_bound_drifts_and_clamps),
          RUN(an_entry_that_is_not_met_is_not_aligned),
          RUN(of_two_entries_for_a_draw_the_first_counts),
          RUN(an_empty_tape_replays_calm),
          RUN(a_full_tape_forces_zero),
          RUN(the_default_cap_is_4096),
          RUN(fired_kinds_are_counted),
          RUN(entries_hold_span_and_position),
          RUN(offers_are_kept_up_to_their_capacity),
          RUN(a_policy_decides),
          RUN(an_override_pins_the_nth_draw_of_a_site),
          RUN(an_override_that_is_not_offered_is_a_broken_invariant),
          RUN(ordinals_count_per_site_and_lane),
          RUN(the_unseed_sees_every_draw),
          RUN(the_digest_sees_every_choice),
          RUN(nonces_never_repeat),
          TEST(fault_kinds_have_names),
          TEST(sites_are_found_by_key_and_name),
          RUN(a_wrong_site_or_lane_is_a_broken_invariant))
