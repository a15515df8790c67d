/* Random walks through the Cloud Tasks model: whatever is asked of it and drawn by it, the journal
 * tells a story that the clauses allow.
 *
 * link: models/cloudtasks/cloudtasks models/cloudtasks/handler models/cloudtasks/limits
 * link: models/cloudtasks/names models/cloudtasks/queues models/cloudtasks/ledger
 * link: models/cloudtasks/rules models/cloudtasks/lists models/cloudtasks/batch
 * link: models/cloudtasks/admin models/cloudtasks/queue_calls models/model_testkit
 * link: sinks/port/cloudtasks sinks/port/port sinks/port/decode sinks/port/status
 * link: sinks/base/err sinks/base/bytes sinks/base/digest sinks/base/list
 * link: sinks/base/units sinks/base/allocator
 * link: sim/model sim/world sim/fault sim/choice sim/lane sim/sched sim/journal sim/trace sim/clock
 * link: sim/arena
 */
#include "models/cloudtasks/cloudtasks_testkit.h"

#include <string.h>

#define WALKS        400u
#define STEPS        150u
#define RESOURCE_MAX 512u

/* What the journal says of one task name. */
struct story {
    bool live;
    bool protected; /* removed, and not seen released since */
    uint32_t generation;
    uint32_t handled; /* of this generation */
    nanos removed_at;
};

struct walk {
    struct testkit *kit;
    enum profile profile;
    uint64_t random;
    uint32_t read; /* entries of the journal */
    struct story stories[RESOURCE_MAX];
};

/* By site, a bit per outcome that came up. */
struct fired {
    uint32_t outcomes[PROFILE_COUNT][TESTKIT_SITE_MAX];
};

static uint32_t chance(struct walk *walk, uint32_t bound)
{
    walk->random += UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(digest_mix(walk->random) >> 32) % bound;
}

/* CT-03, CT-05, CT-06: one live task of a name, and none within an hour of its removal unless the
 * protection was lost. T6: generations count. */
static void read_created(struct walk *walk, struct story *story, const struct journal_entry *entry)
{
    assert_false(story->live);
    assert_false(story->protected);
    assert_int_equal(entry->generation, story->generation + 1);
    assert_int_not_equal(entry->request, 0);
    (void)walk;
    story->live = true;
    story->generation = entry->generation;
    story->handled = 0;
}

/* CT-13: a task that was executed has been seen by the handler. */
static void read_removed(struct story *story, const struct journal_entry *entry)
{
    assert_true(story->live);
    assert_int_equal(entry->generation, story->generation);
    if (entry->code == CAUSE_EXECUTED) {
        assert_true(story->handled > 0);
    }
    story->live = false;
    story->protected = true;
    story->removed_at = entry->time;
}

static void
read_expired(const struct walk *walk, struct story *story, const struct journal_entry *entry)
{
    assert_true(story->protected);
    assert_int_equal(entry->generation, story->generation);
    if (entry->code == CAUSE_TOMBSTONE_RELEASED) {
        assert_true(entry->time - story->removed_at >= HOURS(1));
    } else {
        assert_int_equal(entry->code, CAUSE_TOMBSTONE_LOST);
        assert_int_equal(walk->profile, PROFILE_ADVERSARY);
    }
    story->protected = false;
}

static void read_visible(struct story *story, const struct journal_entry *entry)
{
    assert_int_equal(entry->generation, story->generation);
    assert_true(entry->value != 0);
    if (entry->code == CLOUDTASKS_READER_HANDLER) {
        story->handled++;
        assert_true(story->handled <= 2 + STEPS);
    }
}

static void read_entries(struct walk *walk)
{
    const struct journal *journal = &walk->kit->journal;
    for (; walk->read < journal->count; walk->read++) {
        const struct journal_entry *entry = journal_at(journal, walk->read);
        assert_true(entry->resource < RESOURCE_MAX);
        struct story *story = &walk->stories[entry->resource];
        if (entry->kind == WORLD_CREATED) {
            read_created(walk, story, entry);
        } else if (entry->kind == WORLD_REMOVED) {
            read_removed(story, entry);
        } else if (entry->kind == WORLD_EXPIRED) {
            read_expired(walk, story, entry);
        } else if (entry->kind == WORLD_VISIBLE) {
            read_visible(story, entry);
        } else {
            assert_true(entry->kind == WORLD_REFUSED || entry->kind == WORLD_CHANGED);
        }
    }
}

static uint32_t live_count(const struct walk *walk)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < RESOURCE_MAX; i++) {
        count += walk->stories[i].live;
    }
    return count;
}

static const char *const names[] = {
    TASK_A, TASK_B, QUEUE "/tasks/c", QUEUE "/tasks/d", QUEUE "/tasks/e"};

/* An answer OK to a create means a live task of that name (T5 included). */
static void step_create(struct walk *walk, const char *name)
{
    const nanos now = world_now(walk->kit->world);
    const nanos issued = chance(walk, 2) == 0 ? now : nanos_sub(now, SECONDS(10));
    const enum port_code code = create_issued(walk->kit, name, issued);
    read_entries(walk);
    if (code == PORT_OK) {
        const uint32_t resource = world_resource(walk->kit->world, task_answer(walk->kit)->name);
        assert_true(walk->stories[resource].generation > 0);
    } else {
        assert_true(code == PORT_NOT_FOUND || code == PORT_ALREADY_EXISTS);
    }
}

static void step_time(struct walk *walk)
{
    static const nanos lengths[] = {
        MS(1), SECONDS(1), MINUTES(1), MINUTES(11), MINUTES(59), MINUTES(61), HOURS(3), HOURS(25)};
    const nanos length = lengths[chance(walk, ARRAY_COUNT(lengths))];
    testkit_run_for(walk->kit, chance(walk, 40) == 0 ? DAYS(4) : length);
}

static void list(struct testkit *kit)
{
    struct cloudtasks_list_tasks_request request = {
        .parent = BYTES_LITERAL(QUEUE),
        .page_size = 2,
    };
    if (testkit_call(kit, &cloudtasks_list_tasks_method, &request) == PORT_OK) {
        const struct cloudtasks_list_tasks_response *page = kit->payload;
        assert_true(page->tasks.count <= 2);
        request.page_token = page->next_page_token;
        (void)testkit_call(kit, &cloudtasks_list_tasks_method, &request);
    }
}

static void step_batch(struct walk *walk)
{
    const struct cloudtasks_task tasks[] = {
        {.name = bytes_of_text(names[chance(walk, ARRAY_COUNT(names))]),
         .http_request = &http_default},
        {.name = bytes_of_text(names[chance(walk, ARRAY_COUNT(names))]),
         .http_request = &http_default},
    };
    const struct cloudtasks_create_task_request requests[] = {{.task = &tasks[0]},
                                                              {.task = &tasks[1]}};
    const void *const items[] = {&requests[0], &requests[1]};
    const struct cloudtasks_batch_create_tasks_request request = {
        .parent = BYTES_LITERAL(QUEUE),
        .requests = {items, 2},
    };
    (void)testkit_call(walk->kit, &cloudtasks_batch_create_tasks_method, &request);
}

static void update(struct walk *walk)
{
    const struct cloudtasks_duration ttl = {.seconds = 3600 * (1 + (int64_t)chance(walk, 30))};
    const struct cloudtasks_queue queue = {.name = BYTES_LITERAL(QUEUE), .tombstone_ttl = &ttl};
    const struct cloudtasks_update_queue_request request = {.queue = &queue};
    (void)testkit_call(walk->kit, &cloudtasks_update_queue_method, &request);
}

static void step(struct walk *walk)
{
    struct testkit *kit = walk->kit;
    const char *name = names[chance(walk, ARRAY_COUNT(names))];
    const uint32_t what = chance(walk, 100);
    if (what < 36) {
        step_create(walk, name);
    } else if (what < 43) {
        step_create(walk, "");
    } else if (what < 46) {
        step_batch(walk);
    } else if (what < 48) {
        list(kit);
    } else if (what < 49) {
        update(walk);
    } else if (what < 50) {
        (void)get_queue(kit);
    } else if (what < 80) {
        step_time(walk);
    } else if (what < 84) {
        (void)delete_task(kit, name);
    } else if (what < 88) {
        (void)run(kit, name);
    } else if (what < 90) {
        (void)get(kit, name);
    } else if (what < 92) {
        (void)pause_queue(kit);
    } else if (what < 95) {
        (void)resume_queue(kit);
    } else if (what < 97) {
        (void)purge_queue(kit);
    } else if (what < 98) {
        (void)delete_queue(kit);
    } else {
        (void)create_queue(kit);
    }
    read_entries(walk);
}

static void start_walk(struct walk *walk, uint64_t seed)
{
    static const char *const offers[] = {
        "admin_pause", "admin_missing", "admin_purge", "admin_recreate", "admin_shorten_ttl"};
    walk->random = seed * 1000;
    walk->profile = (enum profile)(seed % PROFILE_COUNT);
    walk->kit = open_kit(walk->profile);
    walk->kit->seed = seed;
    testkit_option(walk->kit, offers[chance(walk, ARRAY_COUNT(offers))], 1);
    testkit_option(walk->kit, "tombstone_reading", chance(walk, 4));
    testkit_option(walk->kit, "queue_reuse_reading", chance(walk, 3));
    testkit_option(walk->kit, "handler_latency", chance(walk, 2) == 0 ? 0 : SECONDS(2));
    if (chance(walk, 2) == 0) {
        testkit_option(walk->kit, "tombstone_ttl", HOURS(1 + chance(walk, 30)));
    }
    testkit_init(walk->kit);
}

/* CT-12: after the heal, and once the queue dispatches, no task is left behind. */
static uint64_t finish_walk(struct walk *walk)
{
    struct testkit *kit = walk->kit;
    testkit_heal(kit);
    (void)resume_queue(kit);
    testkit_run_for(kit, HOURS(1));
    read_entries(walk);
    assert_int_equal(live_count(walk), 0);
    assert_int_equal(testkit_pending(kit), 0);
    const uint64_t digest =
        digest_fold(digest_fold(cloudtasks_model.digest(kit->state), kit->trace.digest),
                    choice_unseed(&kit->choice));
    testkit_close(kit);
    return digest;
}

static uint64_t walk_once(struct walk *walk, uint64_t seed, struct fired *fired)
{
    memset(walk, 0, sizeof(*walk));
    start_walk(walk, seed);
    for (uint32_t i = 0; i < STEPS; i++) {
        step(walk);
    }
    for (size_t i = 0; i < cloudtasks_model.site_count; i++) {
        fired->outcomes[walk->profile][i] |= walk->kit->fired[i];
    }
    return finish_walk(walk);
}

/* An outcome of a wider profile never came up, and one of this profile did. The fates of calls are
 * drawn elsewhere, and names in sequence are an option. */
static void
check_fired(const struct fired *fired, enum profile profile, size_t index, uint32_t value)
{
    const struct choice_site *site = &cloudtasks_model.sites[index];
    const enum profile least = testkit_profile_of(&site->outcomes[value]);
    const bool came_up = (fired->outcomes[profile][index] >> value & 1) != 0;
    if (least > profile) {
        assert_false(came_up);
    } else if (least != PROFILE_DOCUMENTED && strstr(site->name, ".fate") == NULL && !came_up) {
        fail_msg("%s of %s never came up", site->outcomes[value].name, site->name);
    }
}

/* Goal: no history breaks a clause, and each is a function of its seed. Method: random requests,
 * times and draws under all profiles; the journal is read as it grows; every eighth walk is made
 * twice; what came up is what the profiles allow, all of it. */
static void walks_keep_the_clauses(void **state)
{
    static struct walk walk;
    static struct fired fired;
    (void)state;
    for (uint64_t seed = 1; seed <= WALKS; seed++) {
        const uint64_t digest = walk_once(&walk, seed, &fired);
        if (seed % 8 == 0) {
            assert_true(walk_once(&walk, seed, &fired) == digest);
        }
    }
    for (uint32_t profile = 0; profile < PROFILE_COUNT; profile++) {
        for (size_t i = 0; i < cloudtasks_model.site_count; i++) {
            for (uint32_t value = 0; value < cloudtasks_model.sites[i].outcome_count; value++) {
                check_fired(&fired, (enum profile)profile, i, value);
            }
        }
    }
}

TEST_MAIN(cloudtasks_walk, TEST(walks_keep_the_clauses))
