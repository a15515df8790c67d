/* How the tests of the Cloud Tasks model speak to it, and the list of them by clause. */
#ifndef MODELS_CLOUDTASKS_CLOUDTASKS_TESTKIT_H
#define MODELS_CLOUDTASKS_CLOUDTASKS_TESTKIT_H

#include "models/cloudtasks/cloudtasks.h"
#include "models/cloudtasks/state.h"
#include "models/model_testkit.h"
#include "sinks/base/digest.h"
#include "sinks/base/test.h"
#include "sinks/port/cloudtasks.h"

#define LOCATION "projects/p/locations/l"
#define QUEUE    LOCATION "/queues/q"
#define TASK_A   QUEUE "/tasks/a"
#define TASK_B   QUEUE "/tasks/b"
#define ANY      TESTKIT_ANY_CODE

/* The tests of each file: X(ids, test), where ids are the clauses that the test is about, separated
 * by spaces. cloudtasks_test.c finds the clause that has none. */
#define LIMITS_TESTS(X)                                                                            \
    X("CT-02", ct_02_a_task_id_has_500_of_few_characters)                                          \
    X("CT-02", ct_02_a_queue_id_has_100_characters)                                                \
    X("T1 CT-02", t1_unnamed_creates_make_distinct_tasks)                                          \
    X("CT-08", ct_08_schedule_times)                                                               \
    X("CT-09", ct_09_the_size_of_a_task)                                                           \
    X("CT-09", ct_09_a_body_needs_a_method_that_takes_it)                                          \
    X("T11 CT-09", t11_malformed_tasks_are_invalid)                                                \
    X("CT-14", ct_14_the_dispatch_deadline_has_a_range)

#define NAMES_TESTS(X)                                                                             \
    X("CT-03", ct_03_a_name_that_lives_or_is_remembered_already_exists)                            \
    X("CT-03", ct_03_of_concurrent_creates_one_wins)                                               \
    X("T5", t5_two_may_be_told_ok_about_one_task)                                                  \
    X("CT-04", ct_04_the_first_payload_stays)                                                      \
    X("CT-05", ct_05_protection_starts_when_the_task_is_gone)                                      \
    X("CT-06", ct_06_a_fixed_window_ends_at_its_instant)                                           \
    X("CT-06", ct_06_within_a_day_the_release_is_drawn_per_name)                                   \
    X("CT-06", ct_06_a_release_that_nobody_can_see_is_not_drawn)                                   \
    X("CT-06", ct_06_any_reading_is_drawn_once_for_the_run)                                        \
    X("T6", t6_after_the_release_a_new_task_is_made)                                               \
    X("T4", t4_a_name_may_be_remembered_beyond_its_ttl)                                            \
    X("T4", t4_a_name_was_seen_remembered_after_two_hours)                                         \
    X("T13", t13_a_late_create_meets_what_is_there_then)

#define HANDLER_TESTS(X)                                                                           \
    X("CT-07", ct_07_a_task_is_deleted_at_its_ttl)                                                 \
    X("CT-07", ct_07_a_task_scheduled_beyond_its_ttl_never_runs)                                   \
    X("CT-10", ct_10_a_paused_queue_takes_tasks_and_holds_them)                                    \
    X("CT-12", ct_12_every_task_is_dispatched)                                                     \
    X("CT-12", ct_12_a_task_may_be_dispatched_twice)                                               \
    X("CT-12", ct_12_a_later_task_may_come_first)                                                  \
    X("CT-12", ct_12_a_new_task_of_the_name_ends_old_dispatches)                                   \
    X("T12 CT-12", t12_a_handler_sees_a_task_once_or_twice)                                        \
    X("CT-13", ct_13_only_a_success_removes_the_task)                                              \
    X("CT-14", ct_14_an_attempt_that_overruns_is_repeated)                                         \
    X("CT-16", ct_16_run_task_dispatches_at_once)                                                  \
    X("CT-17", ct_17_a_task_that_is_done_is_not_found)                                             \
    X("CT-19", ct_19_delete_takes_what_is_not_done)                                                \
    X("CT-13", ct_13_a_handler_can_slow_its_queue_down)                                            \
    X("CT-15", ct_15_attempts_are_spaced_by_the_retry_config)                                      \
    X("CT-15", ct_15_a_task_without_attempts_left_is_deleted)                                      \
    X("CT-15", ct_15_endless_failure_is_offered_by_an_option)                                      \
    X("CT-16", ct_16_run_task_ends_a_backoff)                                                      \
    X("CT-17", ct_17_bodies_need_the_full_view_and_a_permission)                                   \
    X("CT-19", ct_19_an_attempt_may_arrive_after_the_deletion)                                     \
    X("T12", t12_a_handler_with_a_ledger_has_its_effect_once)                                      \
    X("T12", t12_a_ledger_outlives_the_tasks_of_a_name)

#define QUEUES_TESTS(X)                                                                            \
    X("CT-01", ct_01_create_without_a_queue_is_not_found)                                          \
    X("CT-01", ct_01_a_missing_queue_is_there_after_the_heal)                                      \
    X("T7", t7_a_shortened_ttl_takes_protection_away)                                              \
    X("T8 CT-10", t8_a_pause_from_outside_ends)                                                    \
    X("T8", t8_a_heal_leaves_the_jobs_own_pause_alone)                                             \
    X("CT-11", ct_11_a_waking_queue_is_not_found_for_a_while)                                      \
    X("T9 CT-11", t9_waking_ends_with_the_heal)                                                    \
    X("CT-20", ct_20_a_purge_takes_the_tasks_before_it)                                            \
    X("CT-20", ct_20_tasks_may_be_dispatched_during_a_purge)                                       \
    X("T7 CT-20", t7_a_purge_may_forget_names_for_the_adversary)                                   \
    X("CT-21", ct_21_delete_queue_drops_all_tasks)                                                 \
    X("CT-02", ct_02_queues_are_made_by_name)                                                      \
    X("T8", t8_a_pause_ends_with_its_queue)                                                        \
    X("CT-21", ct_21_a_deleted_queues_name_rests)                                                  \
    X("CT-21", ct_21_the_reading_is_drawn_once)                                                    \
    X("CT-21", ct_21_names_outlive_their_queue_but_not_for_the_adversary)                          \
    X("T7 CT-21", t7_a_queue_deleted_from_outside_comes_back_by_the_rules)                         \
    X("T7 CT-21", t7_a_queue_that_was_deleted_anew_rests_anew)                                     \
    X("T7", t7_only_what_the_options_offer_is_done)                                                \
    X("T7", t7_the_heal_calls_off_what_was_planned)                                                \
    X("T14", t14_get_queue_tells_the_ttl)                                                          \
    X("CT-10", ct_10_a_disabled_queue_holds_its_tasks)                                             \
    X("CT-11", ct_11_an_idle_or_new_queue_may_have_to_wake)                                        \
    X("T9 CT-11", t9_a_task_of_an_idle_queue_waits_for_it)                                         \
    X("T14", t14_update_queue_makes_or_changes_a_queue)                                            \
    X("CT-07", ct_07_a_queue_has_a_ttl_of_its_own)                                                 \
    X("CT-27", ct_27_the_queues_target_wins_over_the_tasks_url)                                    \
    X("T7", t7_a_ttl_may_change_right_after_it_was_read)                                           \
    X("T7 CT-06", t7_a_shorter_ttl_may_be_that_of_older_names)                                     \
    X("CT-20", ct_20_a_slow_purge_may_take_later_tasks)

#define LISTS_TESTS(X)                                                                             \
    X("CT-18", ct_18_a_page_has_at_most_1000_tasks)                                                \
    X("CT-18", ct_18_pages_give_every_task_once)                                                   \
    X("CT-18", ct_18_the_order_and_length_of_pages_is_free)                                        \
    X("CT-18", ct_18_a_token_is_valid_for_two_hours)                                               \
    X("CT-18", ct_18_what_is_new_may_not_be_seen_yet)                                              \
    X("CT-17", ct_17_a_list_shows_bodies_by_the_same_rule)

#define BATCH_TESTS(X)                                                                             \
    X("CT-25", ct_25_a_batch_is_done_one_by_one)                                                   \
    X("CT-25", ct_25_a_batch_has_a_hundred_requests_of_one_queue)                                  \
    X("CT-25", ct_25_a_batch_may_be_done_in_part)                                                  \
    X("CT-25 X-13", ct_25_a_request_id_is_done_once)                                               \
    X("T16", t16_one_known_name_may_refuse_all_and_make_the_rest)

#define RULES_TESTS(X)                                                                             \
    X("CT-24", ct_24_names_cost_time_and_sequences_errors)                                         \
    X("CT-26", ct_26_calls_beyond_a_quota_are_refused)                                             \
    X("T15", t15_a_new_queue_takes_its_creates_in_a_ramp)                                          \
    X("CT-15", ct_15_a_queue_dispatches_at_its_rate)                                               \
    X("CT-26 T15", ct_26_no_rule_is_on_unless_asked_for)

#define CALLS_TESTS(X)                                                                             \
    X("CT-23", ct_23_an_ambiguous_create_may_have_happened)                                        \
    X("CT-26 T10", ct_26_t10_refusals_have_no_effect)                                              \
    X("X-05 X-01 X-03 X-04 X-16", x_05_only_ambiguous_codes_come_after_an_effect)

static inline struct testkit *open_kit(enum profile profile)
{
    return testkit_open(&cloudtasks_model, profile);
}

/* A model with default options under the documented profile. */
static inline struct testkit *start(void)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    testkit_init(kit);
    return kit;
}

static inline struct testkit *start_with(const char *key, uint64_t number)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    testkit_option(kit, key, number);
    testkit_init(kit);
    return kit;
}

/* A model where an outcome of a site is pinned. */
static inline struct testkit *start_pinned(const char *site, const char *outcome)
{
    struct testkit *kit = open_kit(PROFILE_DOCUMENTED);
    (void)testkit_pin(kit, site, outcome);
    testkit_init(kit);
    return kit;
}

static const struct cloudtasks_http_request http_default = {
    .url = {(const uint8_t *)"https://example.com/x", 21},
    .http_method = CLOUDTASKS_POST,
    .body = {(const uint8_t *)"body", 4},
};

static inline enum port_code create_task(struct testkit *kit, const struct cloudtasks_task *task)
{
    const struct cloudtasks_create_task_request request = {
        .parent = BYTES_LITERAL(QUEUE),
        .task = task,
    };
    return testkit_call(kit, &cloudtasks_create_task_method, &request);
}

/* Create a task with a name ("" is none) and a body. */
static inline enum port_code create_body(struct testkit *kit, const char *name, const char *body)
{
    struct cloudtasks_http_request http = http_default;
    http.body = bytes_of_text(body);
    const struct cloudtasks_task task = {.name = bytes_of_text(name), .http_request = &http};
    return create_task(kit, &task);
}

static inline enum port_code create(struct testkit *kit, const char *name)
{
    return create_body(kit, name, "body");
}

static inline enum port_code create_http(struct testkit *kit,
                                         const struct cloudtasks_http_request *http)
{
    const struct cloudtasks_task task = {.http_request = http};
    return create_task(kit, &task);
}

static inline enum port_code get(struct testkit *kit, const char *name)
{
    const struct cloudtasks_get_task_request request = {.name = bytes_of_text(name)};
    return testkit_call(kit, &cloudtasks_get_task_method, &request);
}

static inline enum port_code delete_task(struct testkit *kit, const char *name)
{
    const struct cloudtasks_delete_task_request request = {.name = bytes_of_text(name)};
    return testkit_call(kit, &cloudtasks_delete_task_method, &request);
}

static inline enum port_code run(struct testkit *kit, const char *name)
{
    const struct cloudtasks_run_task_request request = {.name = bytes_of_text(name)};
    return testkit_call(kit, &cloudtasks_run_task_method, &request);
}

static inline enum port_code get_queue(struct testkit *kit)
{
    const struct cloudtasks_get_queue_request request = {.name = BYTES_LITERAL(QUEUE)};
    return testkit_call(kit, &cloudtasks_get_queue_method, &request);
}

static inline enum port_code pause_queue(struct testkit *kit)
{
    const struct cloudtasks_pause_queue_request request = {.name = BYTES_LITERAL(QUEUE)};
    return testkit_call(kit, &cloudtasks_pause_queue_method, &request);
}

static inline enum port_code resume_queue(struct testkit *kit)
{
    const struct cloudtasks_resume_queue_request request = {.name = BYTES_LITERAL(QUEUE)};
    return testkit_call(kit, &cloudtasks_resume_queue_method, &request);
}

static inline enum port_code purge_queue(struct testkit *kit)
{
    const struct cloudtasks_purge_queue_request request = {.name = BYTES_LITERAL(QUEUE)};
    return testkit_call(kit, &cloudtasks_purge_queue_method, &request);
}

static inline enum port_code delete_queue(struct testkit *kit)
{
    const struct cloudtasks_delete_queue_request request = {.name = BYTES_LITERAL(QUEUE)};
    return testkit_call(kit, &cloudtasks_delete_queue_method, &request);
}

static inline enum port_code create_queue_ttl(struct testkit *kit, int64_t ttl_seconds)
{
    const struct cloudtasks_duration ttl = {.seconds = ttl_seconds};
    const struct cloudtasks_queue queue = {
        .name = BYTES_LITERAL(QUEUE),
        .tombstone_ttl = ttl_seconds == 0 ? NULL : &ttl,
    };
    const struct cloudtasks_create_queue_request request = {
        .parent = BYTES_LITERAL(LOCATION),
        .queue = &queue,
    };
    return testkit_call(kit, &cloudtasks_create_queue_method, &request);
}

static inline enum port_code create_queue(struct testkit *kit)
{
    return create_queue_ttl(kit, 0);
}

static inline uint32_t created(const struct testkit *kit)
{
    return testkit_count(kit, WORLD_CREATED, ANY);
}

static inline uint32_t handled(const struct testkit *kit)
{
    return testkit_count(kit, WORLD_VISIBLE, CLOUDTASKS_READER_HANDLER);
}

static inline uint32_t removed(const struct testkit *kit, enum cloudtasks_cause cause)
{
    return testkit_count(kit, WORLD_REMOVED, (uint32_t)cause);
}

static inline const struct cloudtasks_task *task_answer(const struct testkit *kit)
{
    assert_non_null(kit->payload);
    return kit->payload;
}

static inline const struct cloudtasks_queue *queue_answer(const struct testkit *kit)
{
    assert_non_null(kit->payload);
    return kit->payload;
}

/* Create a task and let the handler do it: its name is remembered from the returned instant on. */
static inline nanos create_and_execute(struct testkit *kit, const char *name)
{
    assert_int_equal(create(kit, name), PORT_OK);
    testkit_run_for(kit, SECONDS(1));
    const struct journal_entry *entry = testkit_last(kit, WORLD_REMOVED);
    assert_int_equal(entry->code, CAUSE_EXECUTED);
    return entry->time;
}

static inline enum port_code create_issued(struct testkit *kit, const char *name, nanos issued)
{
    const struct cloudtasks_task task = {
        .name = bytes_of_text(name),
        .http_request = &http_default,
    };
    const struct cloudtasks_create_task_request request = {
        .parent = BYTES_LITERAL(QUEUE),
        .task = &task,
    };
    return testkit_call_issued(kit, &cloudtasks_create_task_method, &request, issued);
}

static inline enum port_code
create_deadline(struct testkit *kit, int64_t seconds, uint32_t rest, bool app_engine)
{
    const struct cloudtasks_duration deadline = {seconds, rest};
    const struct cloudtasks_app_engine_http_request app = {.relative_uri = BYTES_LITERAL("/x")};
    const struct cloudtasks_task task = {
        .http_request = app_engine ? NULL : &http_default,
        .app_engine_http_request = app_engine ? &app : NULL,
        .dispatch_deadline = &deadline,
    };
    return create_task(kit, &task);
}

#endif
