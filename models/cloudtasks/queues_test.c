/* Queues, by the API and from outside: CT-01, CT-11, CT-20, CT-21, T7 to T9, T14.
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

/* Goal: CreateTask does not make queues. Method: create where no queue is, then look for one. */
static void ct_01_create_without_a_queue_is_not_found(void **state)
{
    struct testkit *kit = start_with("queue_state", START_MISSING);
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(testkit_last(kit, WORLD_REFUSED)->code, PORT_NOT_FOUND);
    assert_int_equal(testkit_last(kit, WORLD_REFUSED)->request, 1);
    assert_int_equal(get_queue(kit), PORT_NOT_FOUND);
    assert_int_equal(created(kit), 0);
    assert_int_equal(create_queue(kit), PORT_OK);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_close(kit);
}

/* Goal: a queue missing by a fault comes back with the heal. Method: pin the fault, heal. */
static void ct_01_a_missing_queue_is_there_after_the_heal(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "admin_missing", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "missing_until_heal");
    testkit_init(kit);
    assert_int_equal(testkit_last(kit, WORLD_CHANGED)->code, CAUSE_QUEUE_MISSING);
    testkit_run_for(kit, DAYS(1));
    assert_int_equal(create(kit, TASK_A), PORT_NOT_FOUND);
    testkit_heal(kit);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_close(kit);
}

/* Goal: T7, a shortened ttl shortens the protection of what is removed later. Method: the fault
 * after the first creation. */
static void t7_a_shortened_ttl_takes_protection_away(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "tombstone_reading", 1 + TOMBSTONE_FIXED_TTL);
    testkit_option(kit, "tombstone_ttl", DAYS(9));
    testkit_option(kit, "admin_shorten_ttl", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "shorten_ttl_after_first");
    testkit_init(kit);
    assert_int_equal(get_queue(kit), PORT_OK);
    assert_int_equal(queue_answer(kit)->tombstone_ttl->seconds, 9 * 24 * 3600);
    const nanos gone = create_and_execute(kit, TASK_A);
    assert_int_equal(testkit_last(kit, WORLD_CHANGED)->code, CAUSE_TTL_SHORTENED);
    assert_int_equal(get_queue(kit), PORT_OK);
    assert_int_equal(queue_answer(kit)->tombstone_ttl->seconds, 3600);
    testkit_run_until(kit, gone + HOURS(1));
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_close(kit);
}

/* Goal: T8, pauses from outside end by themselves or with the heal. Method: pin each. */
static void t8_a_pause_from_outside_ends(void **state)
{
    static const struct {
        const char *outcome;
        bool brief;
    } cases[] = {
        {"pause_at_start_brief", true},
        {"pause_at_start_until_heal", false},
        {"pause_after_first_until_heal", false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
        testkit_option(kit, "admin_pause", 1);
        testkit_option(kit, "admin_length", SECONDS(40));
        (void)testkit_pin(kit, "cloudtasks.admin", cases[i].outcome);
        testkit_init(kit);
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        assert_int_equal(testkit_last(kit, WORLD_CHANGED)->code, CAUSE_QUEUE_PAUSED);
        testkit_run_until(kit, SECONDS(39));
        assert_int_equal(handled(kit), 0);
        testkit_run_until(kit, SECONDS(41));
        assert_int_equal(handled(kit), cases[i].brief);
        testkit_run_until(kit, HOURS(1));
        assert_int_equal(handled(kit), cases[i].brief);
        testkit_heal(kit);
        testkit_run_for(kit, SECONDS(1));
        assert_int_equal(handled(kit), 1);
        testkit_close(kit);
    }
}

/* Goal: heal before the end of a brief pause ends it, once. Method: heal, pause by the job, and
 * pass the instant at which the brief pause would have ended. */
static void t8_a_heal_leaves_the_jobs_own_pause_alone(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "admin_pause", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "pause_at_start_brief");
    testkit_init(kit);
    testkit_run_until(kit, SECONDS(1));
    testkit_heal(kit);
    assert_int_equal(pause_queue(kit), PORT_OK);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_until(kit, MINUTES(5));
    assert_int_equal(handled(kit), 0);
    testkit_close(kit);
}

/* Goal: a waking queue is NOT_FOUND and dispatches nothing, then is as before. Method: pin it. */
static void ct_11_a_waking_queue_is_not_found_for_a_while(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "admin_missing", 1);
    testkit_option(kit, "admin_length", MINUTES(3));
    (void)testkit_pin(kit, "cloudtasks.admin", "waking_at_start");
    testkit_init(kit);
    assert_int_equal(create(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(get_queue(kit), PORT_NOT_FOUND);
    testkit_run_until(kit, MINUTES(3) - 1);
    assert_int_equal(create(kit, TASK_A), PORT_NOT_FOUND);
    testkit_run_until(kit, MINUTES(3) + 1);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 1);
    assert_int_equal(kit->world->fault->last_at, MINUTES(3));
    testkit_close(kit);
}

/* Goal: T9, waking ends with the heal, and single calls may meet it. Method: heal; the fate
 * menu. */
static void t9_waking_ends_with_the_heal(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "admin_missing", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "waking_at_start");
    testkit_init(kit);
    testkit_heal(kit);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_until(kit, HOURS(1));
    assert_int_equal(handled(kit), 1);
    testkit_close(kit);
}

/* Goal: a purge deletes what was there before, and nothing later. Method: a task before, one
 * after; a purge that takes its minute. */
static void ct_20_a_purge_takes_the_tasks_before_it(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.purge", "in_a_minute");
    (void)state;
    testkit_init(kit);
    assert_int_equal(pause_queue(kit), PORT_OK);
    assert_int_equal(purge_queue(kit), PORT_OK);
    assert_int_equal(pin->draws, 0);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(purge_queue(kit), PORT_OK);
    assert_int_equal(create(kit, TASK_B), PORT_OK);
    testkit_run_for(kit, SECONDS(30));
    assert_int_equal(get(kit, TASK_A), PORT_OK);
    assert_int_equal(testkit_pending(kit), 1);
    testkit_run_for(kit, SECONDS(30));
    assert_int_equal(get(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(get(kit, TASK_B), PORT_OK);
    assert_int_equal(removed(kit, CAUSE_PURGED), 1);
    assert_int_equal(testkit_pending(kit), 0);
    pin->value = PURGE_AT_ONCE;
    assert_int_equal(purge_queue(kit), PORT_OK);
    assert_int_equal(get(kit, TASK_B), PORT_NOT_FOUND);
    assert_int_equal(removed(kit, CAUSE_PURGED), 2);
    testkit_close(kit);
}

/* Goal: a task may still be dispatched while the purge is under way. Method: it is, then is not
 * purged a second time. */
static void ct_20_tasks_may_be_dispatched_during_a_purge(void **state)
{
    struct testkit *kit = start_pinned("cloudtasks.purge", "in_a_minute");
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(purge_queue(kit), PORT_OK);
    testkit_run_for(kit, MINUTES(2));
    assert_int_equal(handled(kit), 1);
    assert_int_equal(removed(kit, CAUSE_EXECUTED), 1);
    assert_int_equal(removed(kit, CAUSE_PURGED), 0);
    testkit_close(kit);
}

/* Goal: T7 and an open point: purged names are remembered, but not for the adversary. Method:
 * create again under each. */
static void t7_a_purge_may_forget_names_for_the_adversary(void **state)
{
    static const struct {
        enum profile profile;
        uint64_t option;
        enum port_code code;
    } cases[] = {
        {PROFILE_DOCUMENTED, TOMBSTONES_BY_PROFILE, PORT_ALREADY_EXISTS},
        {PROFILE_OBSERVED, TOMBSTONES_BY_PROFILE, PORT_ALREADY_EXISTS},
        {PROFILE_ADVERSARY, TOMBSTONES_BY_PROFILE, PORT_OK},
        {PROFILE_ADVERSARY, TOMBSTONES_KEPT, PORT_ALREADY_EXISTS},
        {PROFILE_DOCUMENTED, TOMBSTONES_LOST, PORT_OK},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = open_kit(cases[i].profile);
        testkit_option(kit, "purge_tombstones", cases[i].option);
        (void)testkit_pin(kit, "cloudtasks.reading.purge", "lost");
        testkit_option(kit, "admin_purge", 1);
        (void)testkit_pin(kit, "cloudtasks.admin", "purge_after_first");
        testkit_init(kit);
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        assert_int_equal(removed(kit, CAUSE_PURGED), 1);
        assert_int_equal(create(kit, TASK_A), cases[i].code);
        testkit_run_for(kit, SECONDS(1));
        assert_int_equal(handled(kit), cases[i].code == PORT_OK);
        testkit_close(kit);
    }
}

/* Goal: DeleteQueue drops the tasks and takes the queue away. Method: look for both. */
static void ct_21_delete_queue_drops_all_tasks(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(pause_queue(kit), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(create(kit, TASK_B), PORT_OK);
    assert_int_equal(delete_queue(kit), PORT_OK);
    assert_int_equal(kit->sched.pending, 0);
    assert_int_equal(delete_queue(kit), PORT_NOT_FOUND);
    assert_int_equal(removed(kit, CAUSE_QUEUE_DELETED), 2);
    assert_int_equal(create(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(get(kit, TASK_A), PORT_NOT_FOUND);
    testkit_run_for(kit, DAYS(1));
    assert_int_equal(handled(kit), 0);
    assert_int_equal(testkit_pending(kit), 0);
    testkit_close(kit);
}

static enum port_code create_queue_named(struct testkit *kit, const char *parent, const char *name)
{
    const struct cloudtasks_queue queue = {.name = bytes_of_text(name)};
    const struct cloudtasks_create_queue_request request = {
        .parent = bytes_of_text(parent),
        .queue = &queue,
    };
    return testkit_call(kit, &cloudtasks_create_queue_method, &request);
}

/* Goal: queues are made where they are asked for, as many as are, and nowhere else. Method: good
 * and bad names, more than the first table holds. */
static void ct_02_queues_are_made_by_name(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    struct testkit *kit = start();
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        uint8_t name[64] = {0};
        struct byte_writer writer;
        byte_writer_init(&writer, name, sizeof(name) - 1);
        byte_writer_text(&writer, LOCATION "/queues/");
        byte_writer_text(&writer, names[i]);
        assert_int_equal(create_queue_named(kit, LOCATION, (const char *)name), PORT_OK);
        assert_int_equal(create_queue_named(kit, LOCATION, (const char *)name),
                         PORT_ALREADY_EXISTS);
    }
    assert_int_equal(create_queue_named(kit, LOCATION, LOCATION "/queues/"), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_queue_named(kit, "projects/p/locations/m", LOCATION "/queues/z"),
                     PORT_INVALID_ARGUMENT);
    assert_int_equal(create_queue_named(kit, "projects/p", LOCATION "/queues/z"),
                     PORT_INVALID_ARGUMENT);
    testkit_close(kit);
}

/* Goal: a queue that is deleted during a brief pause does not come back to life with its end.
 * Method: delete it, and pass that instant. */
static void t8_a_pause_ends_with_its_queue(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "admin_pause", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "pause_at_start_brief");
    testkit_init(kit);
    assert_int_equal(delete_queue(kit), PORT_OK);
    assert_int_equal(kit->sched.pending, 0);
    testkit_run_for(kit, HOURS(1));
    testkit_heal(kit);
    assert_int_equal(get_queue(kit), PORT_NOT_FOUND);
    testkit_close(kit);
}

/* Goal: the two readings of the name's rest. Method: CreateQueue before and after each window. */
static void ct_21_a_deleted_queues_name_rests(void **state)
{
    struct testkit *kit = start_with("queue_reuse_reading", 1 + QUEUE_REUSE_REFUSE_7D);
    (void)state;
    assert_int_equal(create_queue(kit), PORT_ALREADY_EXISTS);
    assert_int_equal(delete_queue(kit), PORT_OK);
    testkit_run_for(kit, DAYS(7) - 1);
    assert_int_equal(create_queue(kit), PORT_FAILED_PRECONDITION);
    assert_int_equal(get_queue(kit), PORT_NOT_FOUND);
    testkit_run_for(kit, 1);
    assert_int_equal(create_queue(kit), PORT_OK);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_close(kit);

    kit = start_with("queue_reuse_reading", 1 + QUEUE_REUSE_GHOST_3D);
    assert_int_equal(delete_queue(kit), PORT_OK);
    testkit_run_for(kit, DAYS(3) - 1);
    assert_int_equal(create_queue(kit), PORT_OK);
    assert_non_null(kit->payload);
    assert_int_equal(get_queue(kit), PORT_NOT_FOUND);
    assert_int_equal(create(kit, TASK_A), PORT_NOT_FOUND);
    testkit_run_for(kit, 1);
    assert_int_equal(create_queue(kit), PORT_OK);
    assert_int_equal(get_queue(kit), PORT_OK);
    testkit_close(kit);
}

/* Goal: by default the run draws one of the readings, once. Method: pin the second. */
static void ct_21_the_reading_is_drawn_once(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.reading.queue_reuse", "ghost_3d");
    (void)state;
    testkit_init(kit);
    assert_int_equal(delete_queue(kit), PORT_OK);
    assert_int_equal(pin->draws, 0);
    assert_int_equal(create_queue(kit), PORT_OK);
    assert_int_equal(create_queue(kit), PORT_OK);
    assert_int_equal(pin->draws, 1);
    testkit_close(kit);
}

/* Goal: an open point: names outlive the queue, but not for the adversary. Method: re-create the
 * queue while a fixed window of nine days still runs. */
static void ct_21_names_outlive_their_queue_but_not_for_the_adversary(void **state)
{
    static const struct {
        enum profile profile;
        uint64_t option;
        enum port_code code;
    } cases[] = {
        {PROFILE_DOCUMENTED, TOMBSTONES_BY_PROFILE, PORT_ALREADY_EXISTS},
        {PROFILE_ADVERSARY, TOMBSTONES_BY_PROFILE, PORT_OK},
        {PROFILE_ADVERSARY, TOMBSTONES_KEPT, PORT_ALREADY_EXISTS},
        {PROFILE_DOCUMENTED, TOMBSTONES_LOST, PORT_OK},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct testkit *kit = open_kit(cases[i].profile);
        testkit_option(kit, "recreate_tombstones", cases[i].option);
        (void)testkit_pin(kit, "cloudtasks.reading.recreate", "lost");
        testkit_option(kit, "tombstone_reading", 1 + TOMBSTONE_FIXED_TTL);
        testkit_option(kit, "tombstone_ttl", DAYS(9));
        testkit_option(kit, "queue_reuse_reading", 1 + QUEUE_REUSE_GHOST_3D);
        testkit_init(kit);
        (void)create_and_execute(kit, TASK_A);
        assert_int_equal(delete_queue(kit), PORT_OK);
        testkit_run_for(kit, DAYS(3));
        assert_int_equal(create_queue_ttl(kit, 9 * 24 * 3600), PORT_OK);
        assert_int_equal(create(kit, TASK_A), cases[i].code);
        assert_int_equal(testkit_count(kit, WORLD_EXPIRED, CAUSE_TOMBSTONE_LOST),
                         cases[i].code == PORT_OK);
        testkit_close(kit);
    }
}

/* Goal: T7, deletion from outside comes with a re-creation as soon as the name allows it, which the
 * heal does not hasten. Method: pin it. */
static void t7_a_queue_deleted_from_outside_comes_back_by_the_rules(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "admin_recreate", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "recreate_after_fourth");
    testkit_init(kit);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(get_queue(kit), PORT_OK);
        assert_int_equal(create(kit, ""), PORT_OK);
    }
    assert_int_equal(removed(kit, CAUSE_QUEUE_DELETED), 4);
    assert_int_equal(create(kit, ""), PORT_NOT_FOUND);
    assert_int_equal(kit->world->fault->last_at, DAYS(7));
    testkit_heal(kit);
    assert_int_equal(create(kit, ""), PORT_NOT_FOUND);
    testkit_run_until(kit, DAYS(7) + 1);
    assert_int_equal(create(kit, ""), PORT_OK);
    assert_int_equal(testkit_last(kit, WORLD_CHANGED)->code, CAUSE_QUEUE_CREATED);
    testkit_close(kit);
}

/* Goal: a re-creation from outside does not break the rest of a name that was used in between.
 * Method: make and delete the queue at the instant of the planned re-creation, before it. */
static void t7_a_queue_that_was_deleted_anew_rests_anew(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "admin_recreate", 1);
    testkit_option(kit, "queue_reuse_reading", 1 + QUEUE_REUSE_GHOST_3D);
    (void)testkit_pin(kit, "cloudtasks.admin", "recreate_after_first");
    testkit_init(kit);
    testkit_stop_at(kit, DAYS(3));
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_until(kit, DAYS(4));
    assert_int_equal(world_now(kit->world), DAYS(3));
    assert_int_equal(create_queue(kit), PORT_OK);
    assert_int_equal(delete_queue(kit), PORT_OK);
    testkit_run_for(kit, HOURS(1));
    assert_int_equal(get_queue(kit), PORT_NOT_FOUND);
    testkit_close(kit);
}

/* Goal: what no option offers is not done to a queue. Method: no draw without an option; with
 * one, only its own group is on offer. */
static void t7_only_what_the_options_offer_is_done(void **state)
{
    static const struct {
        const char *option;
        uint32_t mask;
    } groups[] = {
        {"admin_pause",
         1u << ADMIN_PAUSE_BRIEF | 1u << ADMIN_PAUSE | 1u << ADMIN_PAUSE_LATER |
             1u << ADMIN_DISABLE},
        {"admin_missing", 1u << ADMIN_WAKING | 1u << ADMIN_MISSING},
        {"admin_purge", 1u << ADMIN_PURGE_FIRST | 1u << ADMIN_PURGE_FOURTH},
        {"admin_recreate", 1u << ADMIN_RECREATE_FIRST | 1u << ADMIN_RECREATE_FOURTH},
        {"admin_shorten_ttl",
         1u << ADMIN_SHORTEN_FIRST | 1u << ADMIN_SHORTEN_FOURTH | 1u << ADMIN_SHORTEN_VERIFIED},
        {"admin_retarget", 1u << ADMIN_RETARGET},
    };
    struct testkit *kit = open_kit(PROFILE_ADVERSARY);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.admin", "none");
    (void)state;
    testkit_init(kit);
    assert_int_equal(pin->draws, 0);
    testkit_close(kit);
    for (size_t i = 0; i < ARRAY_COUNT(groups); i++) {
        kit = open_kit(PROFILE_DOCUMENTED);
        testkit_option(kit, groups[i].option, 1);
        pin = testkit_pin(kit, "cloudtasks.admin", "none");
        testkit_init(kit);
        assert_int_equal(pin->draws, 1);
        assert_int_equal(pin->mask & ~1u, groups[i].mask);
        testkit_close(kit);
    }
}

/* Goal: a healed run is not harmed any more. Method: heal before the creation that was waited
 * for. */
static void t7_the_heal_calls_off_what_was_planned(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "admin_purge", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "purge_after_fourth");
    testkit_init(kit);
    assert_int_equal(create(kit, ""), PORT_OK);
    testkit_heal(kit);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(create(kit, ""), PORT_OK);
    }
    assert_int_equal(removed(kit, CAUSE_PURGED), 0);
    testkit_close(kit);
}

/* Goal: T14, GetQueue shows the ttl if there is one, to those who may read. Method: three
 * settings. */
static void t14_get_queue_tells_the_ttl(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(get_queue(kit), PORT_OK);
    assert_null(queue_answer(kit)->tombstone_ttl);
    assert_int_equal(queue_answer(kit)->task_ttl->seconds, 31 * 24 * 3600);
    testkit_close(kit);
    kit = start_with("tombstone_ttl", HOURS(2));
    assert_int_equal(get_queue(kit), PORT_OK);
    assert_int_equal(queue_answer(kit)->tombstone_ttl->seconds, 7200);
    testkit_close(kit);
    kit = start_with("queue_readable", 0);
    assert_int_equal(get_queue(kit), PORT_PERMISSION_DENIED);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_close(kit);
    kit = start_with("queue_state", START_MISSING);
    assert_int_equal(create_queue_ttl(kit, 3599), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_queue_ttl(kit, 9 * 24 * 3600 + 1), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_queue_ttl(kit, -1), PORT_INVALID_ARGUMENT);
    assert_int_equal(create_queue_ttl(kit, 3600), PORT_OK);
    testkit_close(kit);
}

/* Goal: a disabled queue takes tasks and dispatches none until it is resumed; GetQueue says so.
 * Method: by option, and from outside until the heal. */
static void ct_10_a_disabled_queue_holds_its_tasks(void **state)
{
    struct testkit *kit = start_with("queue_state", START_DISABLED);
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_for(kit, HOURS(5));
    testkit_heal(kit);
    testkit_run_for(kit, HOURS(5));
    assert_int_equal(handled(kit), 0);
    assert_int_equal(get_queue(kit), PORT_OK);
    assert_int_equal(queue_answer(kit)->state, CLOUDTASKS_QUEUE_DISABLED);
    assert_int_equal(resume_queue(kit), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 1);
    testkit_close(kit);
    kit = open_kit(PROFILE_DOCUMENTED);
    testkit_option(kit, "admin_pause", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "disable_at_start_until_heal");
    testkit_init(kit);
    assert_int_equal(testkit_last(kit, WORLD_CHANGED)->code, CAUSE_QUEUE_DISABLED);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_for(kit, HOURS(5));
    assert_int_equal(handled(kit), 0);
    testkit_heal(kit);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 1);
    testkit_close(kit);
}

/* Goal: a queue that nobody used for 30 days, or that is new, may be NOT_FOUND for minutes, with
 * nothing dispatched. Method: pin it; one day less changes nothing. */
static void ct_11_an_idle_or_new_queue_may_have_to_wake(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    struct testkit_pin *pin = testkit_pin(kit, "cloudtasks.waking", "in_minutes");
    (void)state;
    testkit_option(kit, "admin_length", MINUTES(3));
    testkit_init(kit);
    testkit_run_for(kit, DAYS(29));
    assert_int_equal(create(kit, ""), PORT_OK);
    testkit_run_for(kit, DAYS(29));
    assert_int_equal(create(kit, ""), PORT_OK);
    assert_int_equal(pin->draws, 0);
    testkit_run_for(kit, DAYS(30) + SECONDS(1));
    assert_int_equal(create(kit, ""), PORT_NOT_FOUND);
    assert_true(marks_has(&kit->world->marks, MARK_CLOUDTASKS_QUEUE_IDLE));
    assert_int_equal(pin->draws, 1);
    testkit_run_for(kit, MINUTES(2));
    assert_int_equal(create(kit, ""), PORT_NOT_FOUND);
    testkit_run_for(kit, MINUTES(2));
    assert_int_equal(create(kit, ""), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 3);
    testkit_close(kit);
    kit = open_kit(PROFILE_DOCUMENTED);
    (void)testkit_pin(kit, "cloudtasks.waking", "in_minutes");
    testkit_option(kit, "queue_state", START_MISSING);
    testkit_init(kit);
    assert_int_equal(create_queue(kit), PORT_OK);
    assert_int_equal(create(kit, TASK_A), PORT_NOT_FOUND);
    testkit_run_for(kit, MINUTES(1));
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_close(kit);
}

/* Goal: a dispatch that comes after 30 idle days waits for the queue, too. Method: a task scheduled
 * 30 days ahead. */
static void t9_a_task_of_an_idle_queue_waits_for_it(void **state)
{
    struct testkit *kit = start_pinned("cloudtasks.waking", "in_minutes");
    const struct cloudtasks_timestamp when = {(int64_t)((CLOCK_BASE + DAYS(30)) / NANOS_PER_S), 0};
    const struct cloudtasks_task task = {.http_request = &http_default, .schedule_time = &when};
    (void)state;
    assert_int_equal(create_task(kit, &task), PORT_OK);
    testkit_run_until(kit, DAYS(30) + SECONDS(29));
    assert_int_equal(handled(kit), 0);
    assert_int_equal(testkit_last(kit, WORLD_CHANGED)->code, CAUSE_QUEUE_WAKING);
    testkit_run_until(kit, DAYS(30) + SECONDS(31));
    assert_int_equal(handled(kit), 1);
    testkit_close(kit);
}

static enum port_code
update(struct testkit *kit, int64_t tombstone_ttl, int64_t task_ttl, const char *host)
{
    const struct cloudtasks_duration remembered = {.seconds = tombstone_ttl};
    const struct cloudtasks_duration age = {.seconds = task_ttl};
    const struct cloudtasks_uri_override uri = {.host = bytes_of_text(host)};
    const struct cloudtasks_http_target target = {.uri_override = &uri};
    const struct cloudtasks_queue queue = {
        .name = BYTES_LITERAL(QUEUE),
        .tombstone_ttl = tombstone_ttl == 0 ? NULL : &remembered,
        .task_ttl = task_ttl == 0 ? NULL : &age,
        .http_target = host[0] == 0 ? NULL : &target,
    };
    const struct cloudtasks_update_queue_request request = {.queue = &queue};
    return testkit_call(kit, &cloudtasks_update_queue_method, &request);
}

#define SECONDS_OF(length) ((int64_t)((length) / NANOS_PER_S))

/* Goal: UpdateQueue makes a queue, and changes one. Method: both; bounds of its fields; a name that
 * rests. */
static void t14_update_queue_makes_or_changes_a_queue(void **state)
{
    struct testkit *kit = start_with("queue_state", START_MISSING);
    (void)state;
    assert_int_equal(update(kit, SECONDS_OF(HOURS(5)), 0, ""), PORT_OK);
    assert_int_equal(queue_answer(kit)->tombstone_ttl->seconds, 5 * 3600);
    assert_null(queue_answer(kit)->http_target);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(update(kit, 0, SECONDS_OF(DAYS(12)), "x"), PORT_OK);
    assert_int_equal(testkit_last(kit, WORLD_CHANGED)->code, CAUSE_QUEUE_UPDATED);
    assert_null(queue_answer(kit)->tombstone_ttl);
    assert_int_equal(queue_answer(kit)->task_ttl->seconds, SECONDS_OF(DAYS(12)));
    assert_non_null(queue_answer(kit)->http_target);
    assert_int_equal(update(kit, SECONDS_OF(MINUTES(59)), 0, ""), PORT_INVALID_ARGUMENT);
    assert_int_equal(update(kit, SECONDS_OF(DAYS(9)) + 1, 0, ""), PORT_INVALID_ARGUMENT);
    assert_int_equal(update(kit, 0, SECONDS_OF(DAYS(10)) - 1, ""), PORT_INVALID_ARGUMENT);
    assert_int_equal(update(kit, 0, SECONDS_OF(DAYS(3650)) + 1, ""), PORT_INVALID_ARGUMENT);
    assert_int_equal(delete_queue(kit), PORT_OK);
    assert_int_equal(update(kit, 0, 0, ""), PORT_FAILED_PRECONDITION);
    testkit_close(kit);
}

/* Goal: a queue's own task_ttl decides, also for tasks that wait when it is changed. Method: shorten
 * it under a held task. */
static void ct_07_a_queue_has_a_ttl_of_its_own(void **state)
{
    struct testkit *kit = start();
    (void)state;
    assert_int_equal(pause_queue(kit), PORT_OK);
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_until(kit, DAYS(11));
    assert_int_equal(get(kit, TASK_A), PORT_OK);
    assert_int_equal(update(kit, 0, SECONDS_OF(DAYS(12)), ""), PORT_OK);
    testkit_run_until(kit, DAYS(12) - 1);
    assert_int_equal(get(kit, TASK_A), PORT_OK);
    testkit_run_until(kit, DAYS(12) + 1);
    assert_int_equal(get(kit, TASK_A), PORT_NOT_FOUND);
    assert_int_equal(removed(kit, CAUSE_TTL), 1);
    testkit_close(kit);
}

/* Goal: a target of the queue takes the place of every task's URL, and nobody is told. Method: by
 * option, by call, and from outside until the heal. */
static void ct_27_the_queues_target_wins_over_the_tasks_url(void **state)
{
    struct testkit *kit = start_with("queue_target", 1);
    (void)state;
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 0);
    assert_int_equal(testkit_count(kit, WORLD_VISIBLE, CLOUDTASKS_READER_QUEUE_TARGET), 1);
    assert_int_equal(removed(kit, CAUSE_EXECUTED), 1);
    assert_int_equal(update(kit, 0, 0, ""), PORT_OK);
    assert_int_equal(create(kit, TASK_B), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 1);
    testkit_close(kit);
    kit = open_kit(PROFILE_DOCUMENTED);
    testkit_option(kit, "admin_retarget", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "retarget_after_first_until_heal");
    testkit_init(kit);
    assert_int_equal(create(kit, ""), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(testkit_count(kit, WORLD_VISIBLE, CLOUDTASKS_READER_QUEUE_TARGET), 1);
    testkit_heal(kit);
    assert_int_equal(create(kit, ""), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(handled(kit), 1);
    testkit_close(kit);
}

/* Goal: T7, what GetQueue told is not what is there afterwards. Method: pin it; the answer has the
 * old ttl, the next one the new. */
static void t7_a_ttl_may_change_right_after_it_was_read(void **state)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)state;
    testkit_option(kit, "tombstone_reading", 1 + TOMBSTONE_FIXED_TTL);
    testkit_option(kit, "tombstone_ttl", DAYS(9));
    testkit_option(kit, "admin_shorten_ttl", 1);
    (void)testkit_pin(kit, "cloudtasks.admin", "shorten_ttl_after_verification");
    testkit_init(kit);
    assert_int_equal(create(kit, ""), PORT_OK);
    assert_int_equal(get_queue(kit), PORT_OK);
    assert_int_equal(queue_answer(kit)->tombstone_ttl->seconds, SECONDS_OF(DAYS(9)));
    const nanos gone = create_and_execute(kit, TASK_A);
    testkit_run_until(kit, gone + HOURS(1));
    assert_int_equal(create(kit, TASK_A), PORT_OK);
    assert_int_equal(get_queue(kit), PORT_OK);
    assert_int_equal(queue_answer(kit)->tombstone_ttl->seconds, 3600);
    testkit_close(kit);
}

/* Goal: T7 and an open point: whether a shorter ttl releases names that are remembered already.
 * Method: shorten it after the removal, under both outcomes. */
static void t7_a_shorter_ttl_may_be_that_of_older_names(void **state)
{
    (void)state;
    for (uint32_t profile = 0; profile < PROFILE_COUNT; profile++) {
        struct testkit *kit = open_kit((enum profile)profile);
        testkit_option(kit, "tombstone_reading", 1 + TOMBSTONE_FIXED_TTL);
        testkit_option(kit, "tombstone_ttl", DAYS(9));
        (void)testkit_pin(kit, "cloudtasks.ttl_change", "of_remembered_names_too");
        testkit_init(kit);
        const nanos gone = create_and_execute(kit, TASK_A);
        assert_int_equal(update(kit, SECONDS_OF(HOURS(2)), 0, ""), PORT_OK);
        testkit_run_until(kit, gone + HOURS(1) + MINUTES(59));
        assert_int_equal(create(kit, TASK_A), PORT_ALREADY_EXISTS);
        testkit_run_until(kit, gone + HOURS(4));
        assert_int_equal(create(kit, TASK_A),
                         profile == PROFILE_ADVERSARY ? PORT_OK : PORT_ALREADY_EXISTS);
        testkit_close(kit);
    }
}

/* Goal: an open point of CT-20: tasks made while a purge is under way may be taken, by the adversary
 * only. Method: create in between. */
static void ct_20_a_slow_purge_may_take_later_tasks(void **state)
{
    (void)state;
    for (uint32_t profile = 0; profile < PROFILE_COUNT; profile++) {
        struct testkit *kit = open_kit((enum profile)profile);
        (void)testkit_pin(kit, "cloudtasks.purge", "takes_later_ones_too");
        testkit_option(kit, "dispatch", 0);
        testkit_init(kit);
        assert_int_equal(create(kit, TASK_A), PORT_OK);
        assert_int_equal(purge_queue(kit), PORT_OK);
        assert_int_equal(create(kit, TASK_B), PORT_OK);
        testkit_run_for(kit, MINUTES(2));
        assert_int_equal(removed(kit, CAUSE_PURGED), profile == PROFILE_ADVERSARY ? 2 : 1);
        assert_int_equal(testkit_pending(kit), 0);
        testkit_close(kit);
    }
}

#define X(ids, test) TEST(test),
TEST_MAIN(cloudtasks_queues, QUEUES_TESTS(X))
