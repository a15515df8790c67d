/* Waiting behind one timer: windows are kept whatever the host draws.
 * link: sinks/parking sinks/base/allocator sinks/base/units
 */
#include "sinks/parking.h"

#include "sinks/base/digest.h"
#include "sinks/base/test.h"

#include <string.h>

#define COUNT 200

/* A host's side of the timer. */
struct clock {
    struct sink_effect items[SINK_EFFECTS_MAX];
    nanos now;
    nanos fires; /* TIME_NEVER: not set */
    uint32_t sets;
    uint64_t random;
};

static void arm(struct parking *parking, struct clock *clock)
{
    struct sink_effects effects = {
        .items = clock->items, .capacity = SINK_EFFECTS_MAX, .send_room = 1};
    parking_arm(parking, clock->now, &effects);
    assert_true(effects.count <= 1);
    if (effects.count == 0) {
        return;
    }
    if (clock->items[0].kind == SINK_EFFECT_TIMER_CLEAR) {
        assert_true(clock->fires != TIME_NEVER);
        clock->fires = TIME_NEVER;
        return;
    }
    assert_int_equal(clock->items[0].kind, SINK_EFFECT_TIMER);
    const nanos min = clock->items[0].u.timer.min;
    const nanos max = clock->items[0].u.timer.max;
    clock->random = digest_mix(clock->random + 1);
    clock->fires = clock->now + min + clock->random % (max - min + 1);
    clock->sets++;
}

static void every_slot_goes_within_its_window(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct test_memory memory = {0};
        const struct allocator allocator = test_allocator(&memory);
        static struct parking_slot slots[COUNT];
        static struct clock clock;
        memset(slots, 0, sizeof(slots));
        memset(&clock, 0, sizeof(clock));
        clock.now = 1000;
        clock.fires = TIME_NEVER;
        clock.random = seed;
        struct parking parking;
        parking_init(&parking, &allocator);
        uint32_t gone = 0;
        uint32_t added = 0;
        for (uint64_t turn = 0; gone < COUNT; turn++) {
            const uint64_t random = digest_mix(seed * 100000 + turn);
            if (added < COUNT && random % 3 != 0) {
                const nanos min = random % 5000;
                assert_int_equal(
                    parking_add(
                        &parking, &slots[added], clock.now, min, min + (random >> 20) % 1000),
                    ERR_OK);
                added++;
            } else if (clock.fires != TIME_NEVER) {
                clock.now = clock.fires;
                clock.fires = TIME_NEVER;
                parking_fired(&parking);
                struct parking_slot *slot = NULL;
                while ((slot = parking_take_due(&parking, clock.now)) != NULL) {
                    assert_true(clock.now >= slot->min);
                    assert_true(clock.now <= slot->max);
                    gone++;
                }
            }
            arm(&parking, &clock);
        }
        assert_int_equal(clock.fires == TIME_NEVER, 1);
        assert_null(parking_any(&parking));
        parking_fini(&parking);
        assert_int_equal(memory.live, 0);
    }
}

static void the_timer_is_set_again_only_for_one_that_closes_earlier(void **state)
{
    (void)state;
    struct test_memory memory = {0};
    const struct allocator allocator = test_allocator(&memory);
    struct parking_slot slots[3] = {{0}};
    static struct clock clock;
    memset(&clock, 0, sizeof(clock));
    clock.fires = TIME_NEVER;
    struct parking parking;
    parking_init(&parking, &allocator);
    assert_int_equal(parking_add(&parking, &slots[0], 0, 75, 125), ERR_OK);
    arm(&parking, &clock);
    assert_int_equal(parking_add(&parking, &slots[1], 0, 80, 130), ERR_OK);
    arm(&parking, &clock);
    assert_int_equal(clock.sets, 1);
    assert_int_equal(parking_add(&parking, &slots[2], 0, 10, 20), ERR_OK);
    arm(&parking, &clock);
    assert_int_equal(clock.sets, 2);
    parking_remove(&parking, &slots[2]);
    parking_remove(&parking, &slots[2]);
    arm(&parking, &clock);
    assert_int_equal(clock.sets, 2); /* it fires for nobody */
    clock.now = 20;
    parking_fired(&parking);
    assert_null(parking_take_due(&parking, clock.now));
    arm(&parking, &clock);
    assert_int_equal(clock.sets, 3);
    assert_int_equal(clock.items[0].u.timer.min, 55);
    assert_int_equal(clock.items[0].u.timer.max, 105);
    parking_remove(&parking, &slots[0]);
    parking_remove(&parking, &slots[1]);
    arm(&parking, &clock);
    assert_true(clock.fires == TIME_NEVER);
    parking_fired(&parking); /* a timer that was cleared: heard by nobody */
    assert_null(parking_take_due(&parking, clock.now));
    parking_fini(&parking);
}

static void the_allocators_limit_leaves_the_rest_usable(void **state)
{
    (void)state;
    struct test_memory memory = {.fail_at = 2};
    const struct allocator allocator = test_allocator(&memory);
    struct parking_slot slots[17] = {{0}};
    struct parking parking;
    parking_init(&parking, &allocator);
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(parking_add(&parking, &slots[i], 0, i, i), ERR_OK);
    }
    assert_int_equal(parking_add(&parking, &slots[16], 0, 1, 1), ERR_LIMIT);
    assert_int_equal(slots[16].place, 0);
    for (uint32_t i = 0; i < 16; i++) {
        assert_ptr_equal(parking_take_due(&parking, 100), &slots[i]);
    }
    assert_int_equal(parking_add(&parking, &slots[16], 0, 1, 1), ERR_OK);
    const uint64_t digest = parking_digest(&parking);
    parking_clear(&parking);
    assert_int_equal(slots[16].place, 0);
    assert_true(parking_digest(&parking) != digest);
    parking_fini(&parking);
}

TEST_MAIN(parking,
          TEST(every_slot_goes_within_its_window),
          TEST(the_timer_is_set_again_only_for_one_that_closes_earlier),
          TEST(the_allocators_limit_leaves_the_rest_usable))
