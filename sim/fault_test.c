/* The fault menu: kinds, caps, profiles, heal.
 * link: sim/fault sim/choice sim/lane sim/arena sinks/base/bytes sinks/base/units
 * link: sinks/base/allocator
 */
#include "sim/fault.h"

#include "sinks/base/test.h"

#include <string.h>

#define LANE   lane_make(LANE_WRITER, 0)
#define BIT(n) (UINT32_C(1) << (n))

static const struct choice_outcome outcomes[] = {
    {"calm", 10, FAULT_NONE, NULL},
    {"lost", 10, FAULT_REQUEST_LOST, "X-05"},
    {"observed", 10, FAULT_REFUSED, "observed OBS-1"},
    {"adversary", 10, FAULT_DUPLICATED, "adversary X-10"},
    {"slow", 10, FAULT_LATENCY, "X-04"},
    {"service", 10, FAULT_SERVICE, "CT-06"},
    {"reading", 10, FAULT_READING, "CT-09"},
    {"neutral", 10, FAULT_NONE, NULL},
    {"order", 10, FAULT_ORDER, NULL},
};
static const struct choice_site site = {
    0x1f40, ARRAY_COUNT(outcomes), "test.fault", outcomes, "for a test"};

#define ALL_OUTCOMES (BIT(ARRAY_COUNT(outcomes)) - 1)

static _Alignas(16) uint8_t kit_memory[1 << 16];

struct kit {
    struct arena arena;
    struct choice choice;
    struct fault_menu menu;
    struct fault fault;
    uint32_t offered; /* mask of the last draw */
    uint32_t answer;
};

static uint32_t
answer(void *context, const struct choice_site *at, lane who, uint32_t ordinal, uint32_t mask)
{
    struct kit *kit = context;
    (void)at;
    (void)who;
    (void)ordinal;
    kit->offered = mask;
    return (mask >> kit->answer & 1) != 0 ? kit->answer : 0;
}

static void open_kit(struct kit *kit, struct fault_menu menu, enum profile profile)
{
    *kit = (struct kit){.menu = menu};
    const struct choice_options options = {
        .mode = CHOICE_POLICY, .policy = answer, .policy_context = kit};
    arena_init(&kit->arena, kit_memory, sizeof(kit_memory), sizeof(kit_memory));
    choice_init(&kit->choice, &kit->arena, &options);
    fault_init(&kit->fault, &kit->menu, &kit->choice, profile);
}

static uint32_t pick(struct kit *kit, uint32_t wanted_outcome)
{
    kit->answer = wanted_outcome;
    return fault_pick(&kit->fault, &site, LANE, CHOICE_ALL);
}

static void only_kinds_of_the_menu_are_offered_and_neutral_ones_always(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit, (struct fault_menu){.kinds = 0}, PROFILE_ADVERSARY);
    assert_int_equal(pick(&kit, 1), 0);
    assert_int_equal(kit.offered, BIT(0) | BIT(7));
    assert_int_equal(pick(&kit, 7), 7);
    assert_int_equal(kit.fault.fired_total, 0);
    open_kit(&kit, (struct fault_menu){.kinds = BIT(FAULT_REQUEST_LOST)}, PROFILE_ADVERSARY);
    assert_int_equal(pick(&kit, 1), 1);
    assert_int_equal(kit.offered, BIT(0) | BIT(1) | BIT(7));
    assert_int_equal(kit.fault.fired[FAULT_REQUEST_LOST], 1);
}

static void the_clause_names_the_narrowest_profile(void **state)
{
    (void)state;
    struct kit kit;
    static const uint32_t masks[] = {
        ALL_OUTCOMES & ~(BIT(2) | BIT(3)), ALL_OUTCOMES & ~BIT(3), ALL_OUTCOMES};
    for (uint32_t profile = 0; profile < PROFILE_COUNT; profile++) {
        open_kit(&kit, (struct fault_menu){.kinds = UINT32_MAX}, (enum profile)profile);
        (void)pick(&kit, 0);
        assert_int_equal(kit.offered, masks[profile]);
    }
}

static void wanted_narrows_what_is_offered(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit, (struct fault_menu){.kinds = UINT32_MAX}, PROFILE_DOCUMENTED);
    (void)fault_pick(&kit.fault, &site, LANE, BIT(1) | BIT(3));
    assert_int_equal(kit.offered, BIT(0) | BIT(1));
    (void)fault_pick(&kit.fault, &site, LANE, CHOICE_ALL);
    assert_int_equal(kit.offered, ALL_OUTCOMES & ~(BIT(2) | BIT(3)));
}

static void a_kind_stops_at_its_cap_and_draws_go_on(void **state)
{
    (void)state;
    struct kit kit;
    struct fault_menu menu = {.kinds = UINT32_MAX};
    menu.cap[FAULT_REQUEST_LOST] = 2;
    menu.cap[FAULT_SERVICE] = 1;
    open_kit(&kit, menu, PROFILE_ADVERSARY);
    assert_int_equal(pick(&kit, 1), 1);
    assert_int_equal(pick(&kit, 1), 1);
    assert_int_equal(pick(&kit, 1), 0);
    assert_int_equal(kit.offered, ALL_OUTCOMES & ~BIT(1));
    assert_false(fault_is_open(&kit.fault, FAULT_REQUEST_LOST));
    assert_true(fault_is_open(&kit.fault, FAULT_REFUSED));
    assert_int_equal(pick(&kit, 5), 5);
    assert_int_equal(pick(&kit, 5), 0);
    assert_int_equal(kit.choice.draws, 5);
}

static void the_total_cap_counts_faults_only(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit, (struct fault_menu){.kinds = UINT32_MAX, .cap_total = 2}, PROFILE_ADVERSARY);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(pick(&kit, 4), 4);
        assert_int_equal(pick(&kit, 5), 5);
    }
    assert_int_equal(pick(&kit, 1), 1);
    assert_int_equal(pick(&kit, 3), 3);
    (void)pick(&kit, 0);
    assert_int_equal(kit.offered, BIT(0) | BIT(4) | BIT(5) | BIT(6) | BIT(7) | BIT(8));
}

static void no_cap_means_255_faults_and_no_end_of_the_rules_of_a_service(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit, (struct fault_menu){.kinds = UINT32_MAX}, PROFILE_ADVERSARY);
    for (uint32_t i = 0; i < 300; i++) {
        assert_int_equal(pick(&kit, 1), i < 255 ? 1 : 0);
        assert_int_equal(pick(&kit, 5), 5);
    }
    assert_int_equal(kit.fault.fired_total, 255);
    assert_int_equal(kit.fault.fired[FAULT_SERVICE], 255);
}

static void heal_ends_faults_order_and_latency_but_no_rule_of_a_service(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit, (struct fault_menu){.kinds = UINT32_MAX}, PROFILE_ADVERSARY);
    (void)pick(&kit, 0);
    assert_int_equal(kit.offered, ALL_OUTCOMES);
    fault_heal(&kit.fault);
    (void)pick(&kit, 0);
    assert_int_equal(kit.offered, BIT(0) | BIT(5) | BIT(6) | BIT(7));
    assert_false(fault_is_open(&kit.fault, FAULT_CRASH));
    assert_true(fault_is_open(&kit.fault, FAULT_SERVICE));
}

/* More sites than masks are remembered: what is forgotten is made anew. */
static void sites_that_share_a_place_do_not_mix(void **state)
{
    (void)state;
    struct kit kit;
    static struct choice_site sites[3 * FAULT_MASK_COUNT];
    open_kit(&kit, (struct fault_menu){.kinds = UINT32_MAX}, PROFILE_ADVERSARY);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < ARRAY_COUNT(sites); i++) {
            sites[i] = site;
            sites[i].key = (uint16_t)(0x1000 + i);
            sites[i].outcome_count = (uint16_t)(2 + i % 5);
            (void)fault_pick(&kit.fault, &sites[i], LANE, CHOICE_ALL);
            assert_int_equal(kit.offered, BIT(2 + i % 5) - 1);
        }
    }
}

static void the_last_end_of_a_fault_never_moves_back(void **state)
{
    (void)state;
    struct kit kit;
    open_kit(&kit, (struct fault_menu){0}, PROFILE_DOCUMENTED);
    fault_lasts_until(&kit.fault, 20);
    fault_lasts_until(&kit.fault, 10);
    assert_int_equal(kit.fault.last_at, 20);
}

static void profiles_have_names_that_parse(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PROFILE_COUNT; i++) {
        enum profile profile = PROFILE_COUNT;
        assert_int_equal(profile_parse(bytes_of_text(profile_name(i)), &profile), ERR_OK);
        assert_int_equal(profile, i);
    }
    enum profile profile = PROFILE_OBSERVED;
    assert_int_equal(profile_parse(BYTES_LITERAL("document"), &profile), ERR_NOT_FOUND);
    assert_int_equal(profile, PROFILE_OBSERVED);
    expect_check_failure((void)profile_name(PROFILE_COUNT));
}

TEST_MAIN(fault,
          TEST(only_kinds_of_the_menu_are_offered_and_neutral_ones_always),
          TEST(the_clause_names_the_narrowest_profile),
          TEST(wanted_narrows_what_is_offered),
          TEST(a_kind_stops_at_its_cap_and_draws_go_on),
          TEST(the_total_cap_counts_faults_only),
          TEST(no_cap_means_255_faults_and_no_end_of_the_rules_of_a_service),
          TEST(heal_ends_faults_order_and_latency_but_no_rule_of_a_service),
          TEST(sites_that_share_a_place_do_not_mix),
          TEST(the_last_end_of_a_fault_never_moves_back),
          TEST(profiles_have_names_that_parse))
