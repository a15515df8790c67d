/* Object storage, clause by clause.
 *
 * link: models/storage/storage models/model_testkit sinks/port/storage sinks/port/port
 * link: sinks/port/decode sinks/port/status sinks/base/err sinks/base/bytes sinks/base/digest sinks/base/list
 * link: sinks/base/units sinks/base/allocator
 * link: sim/model sim/world sim/fault sim/choice sim/lane sim/sched sim/journal sim/trace sim/clock
 * link: sim/arena
 */
#include "models/storage/storage.h"

#include "models/model_testkit.h"
#include "sinks/base/digest.h"
#include "sinks/base/test.h"
#include "sinks/port/storage.h"

#define ANY INT64_C(-1) /* no condition */
#define A   "gs://staging/a"

static struct testkit *start_with(const char *key_or_null, uint64_t number)
{
    struct testkit *kit = testkit_open(&storage_model, PROFILE_DOCUMENTED);
    if (key_or_null != NULL) {
        testkit_option(kit, key_or_null, number);
    }
    testkit_init(kit);
    return kit;
}

static struct testkit *start(void)
{
    return start_with(NULL, 0);
}

/* Changes of one object that follow each other too soon are no part of most tests. */
static struct testkit *start_without_rate(void)
{
    return start_with("mutation_pause", 0);
}

struct spec {
    struct storage_object object;
    struct storage_int64 condition;
    struct storage_write_object_spec spec;
};

static void spec_init(struct spec *spec, const char *bucket, const char *name, int64_t condition)
{
    spec->object =
        (struct storage_object){.name = bytes_of_text(name), .bucket = bytes_of_text(bucket)};
    spec->condition.value = condition;
    spec->spec = (struct storage_write_object_spec){
        .resource = &spec->object,
        .if_generation_match = condition == ANY ? NULL : &spec->condition,
    };
}

static enum port_code write_to(
    struct testkit *kit, const char *bucket, const char *name, const char *text, int64_t condition)
{
    struct spec spec;
    spec_init(&spec, bucket, name, condition);
    const struct storage_checksummed_data data = {bytes_of_text(text)};
    const struct storage_write_object_request request = {
        .write_object_spec = &spec.spec, .checksummed_data = &data, .finish_write = true};
    return testkit_call(kit, &storage_write_object_method, &request);
}

static enum port_code write_a(struct testkit *kit, const char *text)
{
    return write_to(kit, "staging", "a", text, ANY);
}

static enum port_code start_upload(struct testkit *kit, const char *name, int64_t condition)
{
    struct spec spec;
    spec_init(&spec, "staging", name, condition);
    const struct storage_start_resumable_write_request request = {.write_object_spec = &spec.spec};
    return testkit_call(kit, &storage_start_resumable_write_method, &request);
}

static enum port_code
go_on(struct testkit *kit, const char *upload, int64_t offset, const char *text, bool finish)
{
    const struct storage_checksummed_data data = {bytes_of_text(text)};
    const struct storage_write_object_request request = {.upload_id = bytes_of_text(upload),
                                                         .write_offset = offset,
                                                         .checksummed_data = &data,
                                                         .finish_write = finish};
    return testkit_call(kit, &storage_write_object_method, &request);
}

static enum port_code get(struct testkit *kit, const char *bucket, const char *name)
{
    const struct storage_get_object_request request = {bytes_of_text(bucket), bytes_of_text(name)};
    return testkit_call(kit, &storage_get_object_method, &request);
}

static enum port_code delete_named(struct testkit *kit, const char *name)
{
    const struct storage_delete_object_request request = {BYTES_LITERAL("staging"),
                                                          bytes_of_text(name)};
    return testkit_call(kit, &storage_delete_object_method, &request);
}

static int64_t persisted(const struct testkit *kit)
{
    const struct storage_write_object_response *response = kit->payload;
    assert_null(response->resource);
    return response->persisted_size;
}

static const struct storage_object *written(const struct testkit *kit)
{
    const struct storage_write_object_response *response = kit->payload;
    assert_non_null(response->resource);
    return response->resource;
}

static void assert_content(struct testkit *kit, const char *uri, const char *wanted_or_null)
{
    struct bytes content = {0};
    assert_int_equal(storage_read(kit->state, bytes_of_text(uri), &content),
                     wanted_or_null != NULL);
    if (wanted_or_null != NULL) {
        assert_bytes_equal(content, bytes_of_text(wanted_or_null));
    }
}

/* Goal: what was written is there for all, and what was deleted is gone, at once. Method: a look by call and
 * by another model behind each. */
static void gcs_01_a_write_is_seen_at_once(void **state)
{
    (void)state;
    struct testkit *kit = start_without_rate();
    assert_int_equal(get(kit, "staging", "a"), PORT_NOT_FOUND);
    assert_content(kit, A, NULL);
    assert_int_equal(write_a(kit, "one"), PORT_OK);
    assert_bytes_equal(written(kit)->name, BYTES_LITERAL("a"));
    assert_bytes_equal(written(kit)->bucket, BYTES_LITERAL("staging"));
    const int64_t generation = written(kit)->generation;
    assert_int_equal(get(kit, "staging", "a"), PORT_OK);
    const struct storage_object *object = kit->payload;
    assert_int_equal(object->size, 3);
    assert_int_equal(object->generation, generation);
    assert_content(kit, A, "one");
    const struct journal_entry *entry = testkit_last(kit, WORLD_CREATED);
    assert_true(entry->value == digest_bytes(BYTES_LITERAL("one")));
    assert_bytes_equal(world_resource_name(kit->world, entry->resource), BYTES_LITERAL(A));
    assert_int_equal(delete_named(kit, "a"), PORT_OK);
    assert_content(kit, A, NULL);
    assert_int_equal(write_to(kit, "staging", "folder/b", "", ANY), PORT_OK);
    assert_bytes_equal(written(kit)->name, BYTES_LITERAL("folder/b"));
    assert_content(kit, "gs://staging/folder/b", "");
    testkit_close(kit);
}

/* Goal: a reader may be put off, and only so. Method: the fates of a look. */
static void gcs_02_a_look_may_be_put_off(void **state)
{
    (void)state;
    const struct fate_menu *menu = NULL;
    for (size_t i = 0; i < storage_model.fate_count; i++) {
        menu = storage_model.fates[i].method == &storage_get_object_method ? &storage_model.fates[i]
                                                                           : menu;
    }
    assert_non_null(menu);
    uint32_t refusals = 0;
    for (uint32_t i = 0; i < menu->site->outcome_count; i++) {
        refusals += menu->fates[i].action == FATE_REFUSED ? 1u : 0u;
        assert_true(menu->fates[i].action != FATE_REFUSED || menu->fates[i].code == PORT_INTERNAL);
    }
    assert_int_equal(refusals, 1);
}

/* Goal: nothing of an upload is seen before its end, and then all is. Method: chunks of 4 bytes, one that is
 * cut down, one that is sent again with other bytes, one that leaves a gap; the end, twice. */
static void gcs_03_an_upload_appears_when_it_is_finished(void **state)
{
    (void)state;
    struct testkit *kit = start_with("chunk_bytes", 4);
    assert_int_equal(start_upload(kit, "a", ANY), PORT_OK);
    const struct storage_start_resumable_write_response *started = kit->payload;
    assert_bytes_equal(started->upload_id, BYTES_LITERAL("upload-1"));
    assert_int_equal(go_on(kit, "upload-1", 0, "abcdef", false), PORT_OK);
    assert_int_equal(persisted(kit), 4);
    assert_int_equal(go_on(kit, "upload-1", 5, "xxxx", false), PORT_OUT_OF_RANGE);
    assert_int_equal(go_on(kit, "upload-1", -1, "xxxx", false), PORT_OUT_OF_RANGE);
    assert_int_equal(go_on(kit, "upload-1", 2, "XXefgh", false), PORT_OK);
    assert_int_equal(persisted(kit), 8);
    assert_int_equal(go_on(kit, "upload-1", 0, "XX", false), PORT_OK);
    assert_true(marks_has(&kit->world->marks, MARK_STORAGE_UNFINISHED));
    assert_int_equal(persisted(kit), 8);
    assert_content(kit, A, NULL);
    assert_int_equal(get(kit, "staging", "a"), PORT_NOT_FOUND);
    assert_int_equal(testkit_count(kit, WORLD_CREATED, TESTKIT_ANY_CODE), 0);
    assert_int_equal(go_on(kit, "upload-1", 8, "i", true), PORT_OK);
    assert_int_equal(written(kit)->size, 9);
    assert_content(kit, A, "abcdefghi");
    const int64_t generation = written(kit)->generation;
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(write_a(kit, "other"), PORT_OK);
    assert_int_equal(go_on(kit, "upload-1", 8, "i", true), PORT_OK);
    assert_int_equal(written(kit)->generation, generation);
    assert_content(kit, A, "other");
    testkit_close(kit);
}

/* Goal: uploads have ids, and what is none is not found. Method: ids beside those that there are. */
static void gcs_03_an_upload_is_known_by_its_id(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "upload-", "upload-0", "upload-3", "upload-1x", "pload-1", "upload-99999999999999999999"};
    struct testkit *kit = start();
    assert_int_equal(start_upload(kit, "a", ANY), PORT_OK);
    assert_int_equal(start_upload(kit, "b", ANY), PORT_OK);
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        assert_int_equal(go_on(kit, wrong[i], 0, "x", true), PORT_NOT_FOUND);
    }
    assert_int_equal(go_on(kit, "upload-2", 0, "x", true), PORT_OK);
    assert_content(kit, "gs://staging/b", "x");
    assert_content(kit, A, NULL);
    testkit_close(kit);
}

/* Goal: a write that is not resumable must end, and begins at the beginning. Method: one that does not,
 * one that names nothing. */
static void gcs_03_a_whole_write_is_finished(void **state)
{
    (void)state;
    struct testkit *kit = start();
    struct spec spec;
    spec_init(&spec, "staging", "a", ANY);
    struct storage_write_object_request request = {.write_object_spec = &spec.spec};
    assert_int_equal(testkit_call(kit, &storage_write_object_method, &request),
                     PORT_INVALID_ARGUMENT);
    request.finish_write = true;
    request.write_offset = 1;
    assert_int_equal(testkit_call(kit, &storage_write_object_method, &request),
                     PORT_INVALID_ARGUMENT);
    request.write_offset = 0;
    request.write_object_spec = NULL;
    assert_int_equal(testkit_call(kit, &storage_write_object_method, &request),
                     PORT_INVALID_ARGUMENT);
    request.write_object_spec = &spec.spec;
    spec.object.name = (struct bytes){0};
    assert_int_equal(testkit_call(kit, &storage_write_object_method, &request),
                     PORT_INVALID_ARGUMENT);
    assert_int_equal(testkit_count(kit, WORLD_CREATED, TESTKIT_ANY_CODE), 0);
    testkit_close(kit);
}

/* Goal: writing over an object replaces it; the same bytes again are another generation. */
static void gcs_04_a_write_replaces(void **state)
{
    (void)state;
    struct testkit *kit = start_without_rate();
    assert_int_equal(write_a(kit, "one"), PORT_OK);
    const int64_t first = written(kit)->generation;
    assert_int_equal(write_a(kit, "two"), PORT_OK);
    const int64_t second = written(kit)->generation;
    assert_true(second > first);
    assert_content(kit, A, "two");
    assert_int_equal(testkit_count(kit, WORLD_REPLACED, TESTKIT_ANY_CODE), 1);
    assert_true(marks_has(&kit->world->marks, MARK_STORAGE_REPLACED));
    assert_int_equal(write_a(kit, "two"), PORT_OK);
    assert_true(written(kit)->generation > second);
    assert_int_equal(testkit_count(kit, WORLD_CREATED, TESTKIT_ANY_CODE), 1);
    testkit_close(kit);
}

/* Goal: a write on condition is done when it holds, and not otherwise; repeated, it is refused. Method: none,
 * the live generation, an older one; by a whole write and by an upload, whose condition counts at its end. */
static void gcs_05_a_condition_is_the_live_generation(void **state)
{
    (void)state;
    struct testkit *kit = start_without_rate();
    assert_int_equal(write_to(kit, "staging", "a", "one", 7), PORT_FAILED_PRECONDITION);
    assert_true(marks_has(&kit->world->marks, MARK_STORAGE_CONDITION));
    assert_int_equal(write_to(kit, "staging", "a", "one", 0), PORT_OK);
    const int64_t first = written(kit)->generation;
    assert_int_equal(write_to(kit, "staging", "a", "one", 0), PORT_FAILED_PRECONDITION);
    assert_int_equal(write_to(kit, "staging", "a", "two", first), PORT_OK);
    assert_int_equal(write_to(kit, "staging", "a", "three", first), PORT_FAILED_PRECONDITION);
    assert_content(kit, A, "two");
    assert_int_equal(start_upload(kit, "b", 0), PORT_OK);
    assert_int_equal(write_to(kit, "staging", "b", "other", ANY), PORT_OK);
    assert_int_equal(go_on(kit, "upload-1", 0, "mine", true), PORT_FAILED_PRECONDITION);
    assert_content(kit, "gs://staging/b", "other");
    assert_int_equal(delete_named(kit, "b"), PORT_OK);
    assert_int_equal(go_on(kit, "upload-1", 4, "", true), PORT_OK);
    assert_content(kit, "gs://staging/b", "mine");
    testkit_close(kit);
}

/* Goal: a second delete finds nothing, and neither does one of what never was. */
static void gcs_09_a_second_delete_finds_nothing(void **state)
{
    (void)state;
    struct testkit *kit = start_without_rate();
    assert_int_equal(write_a(kit, "one"), PORT_OK);
    assert_int_equal(delete_named(kit, "a"), PORT_OK);
    assert_int_equal(delete_named(kit, "a"), PORT_NOT_FOUND);
    assert_int_equal(delete_named(kit, "b"), PORT_NOT_FOUND);
    assert_true(marks_has(&kit->world->marks, MARK_STORAGE_MISSING));
    assert_int_equal(testkit_count(kit, WORLD_REMOVED, 0), 1);
    assert_int_equal(get(kit, "staging", "a"), PORT_NOT_FOUND);
    testkit_close(kit);
}

/* Goal: changes of one object within a second may be refused, those of others and later ones not. */
static void gcs_11_changes_that_are_too_close_may_be_refused(void **state)
{
    (void)state;
    struct testkit *kit = start();
    const struct testkit_pin *pin = testkit_pin(kit, "storage.mutation_rate", "refused");
    assert_int_equal(write_a(kit, "one"), PORT_OK);
    assert_int_equal(write_to(kit, "staging", "b", "one", ANY), PORT_OK);
    assert_int_equal(pin->draws, 0);
    testkit_run_for(kit, SECONDS(1) - 1);
    assert_int_equal(write_a(kit, "two"), PORT_RESOURCE_EXHAUSTED);
    assert_true(marks_has(&kit->world->marks, MARK_STORAGE_TOO_OFTEN));
    assert_int_equal(delete_named(kit, "a"), PORT_RESOURCE_EXHAUSTED);
    assert_content(kit, A, "one");
    testkit_run_for(kit, 1);
    assert_int_equal(write_a(kit, "two"), PORT_OK);
    assert_content(kit, A, "two");
    testkit_run_for(kit, SECONDS(1));
    assert_int_equal(delete_named(kit, "a"), PORT_OK);
    assert_int_equal(write_a(kit, "three"), PORT_RESOURCE_EXHAUSTED);
    assert_content(kit, A, NULL);
    testkit_close(kit);
}

/* Goal: an object that is too old is gone, counted from its latest write, and is missed once. */
static void gcs_12_a_lifecycle_deletes_by_age(void **state)
{
    (void)state;
    struct testkit *kit = start_with("object_lifetime", HOURS(1));
    assert_int_equal(write_a(kit, "one"), PORT_OK);
    testkit_run_for(kit, HOURS(1) - 1);
    assert_content(kit, A, "one");
    assert_int_equal(write_a(kit, "two"), PORT_OK);
    testkit_run_for(kit, HOURS(1) - 1);
    assert_int_equal(get(kit, "staging", "a"), PORT_OK);
    testkit_run_for(kit, 1);
    assert_content(kit, A, NULL);
    assert_int_equal(get(kit, "staging", "a"), PORT_NOT_FOUND);
    assert_int_equal(delete_named(kit, "a"), PORT_NOT_FOUND);
    assert_int_equal(testkit_count(kit, WORLD_EXPIRED, 1), 1);
    assert_true(marks_has(&kit->world->marks, MARK_STORAGE_EXPIRED));
    assert_int_equal(write_to(kit, "staging", "a", "three", 0), PORT_OK);
    assert_content(kit, A, "three");
    testkit_close(kit);
}

/* Goal: only buckets that are there have objects. Method: two of them, and another one. */
static void gcs_13_a_bucket_is_there_or_not(void **state)
{
    (void)state;
    struct testkit *kit = testkit_open(&storage_model, PROFILE_DOCUMENTED);
    for (size_t i = 0; i < storage_model.option_count; i++) {
        if (strcmp(storage_model.options[i].key, "bucket") == 0) {
            kit->options[i].text = BYTES_LITERAL("one two");
        }
    }
    testkit_init(kit);
    assert_int_equal(write_to(kit, "two", "a", "x", ANY), PORT_OK);
    assert_int_equal(write_to(kit, "one", "a", "y", ANY), PORT_OK);
    assert_content(kit, "gs://two/a", "x");
    assert_int_equal(write_to(kit, "on", "a", "z", ANY), PORT_NOT_FOUND);
    assert_int_equal(start_upload(kit, "a", ANY), PORT_NOT_FOUND); /* of "staging" */
    assert_int_equal(get(kit, "three", "a"), PORT_NOT_FOUND);
    testkit_close(kit);
}

/* Goal: what a caller does not hear of may have happened or not. Method: the fates of each call that
 * changes something. */
static void x_05_a_timeout_says_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < storage_model.fate_count; i++) {
        const struct fate_menu *menu = &storage_model.fates[i];
        uint32_t actions = 0;
        for (uint32_t k = 0; k < menu->site->outcome_count; k++) {
            actions |= UINT32_C(1) << menu->fates[k].action;
        }
        const bool is_look = menu->method == &storage_get_object_method;
        assert_true((actions >> FATE_REQUEST_LOST & 1) != 0);
        assert_true((actions >> FATE_REFUSED & 1) != 0);
        assert_true(is_look || (actions >> FATE_ANSWER_LOST & 1) != 0);
    }
}

#define CLAUSE_TESTS(X)                                                                            \
    X("GCS-01", gcs_01_a_write_is_seen_at_once)                                                    \
    X("GCS-02", gcs_02_a_look_may_be_put_off)                                                      \
    X("GCS-03", gcs_03_an_upload_appears_when_it_is_finished)                                      \
    X("GCS-03", gcs_03_an_upload_is_known_by_its_id)                                               \
    X("GCS-03", gcs_03_a_whole_write_is_finished)                                                  \
    X("GCS-04 GCS-07", gcs_04_a_write_replaces)                                                    \
    X("GCS-05 GCS-06", gcs_05_a_condition_is_the_live_generation)                                  \
    X("GCS-09", gcs_09_a_second_delete_finds_nothing)                                              \
    X("GCS-11", gcs_11_changes_that_are_too_close_may_be_refused)                                  \
    X("GCS-12", gcs_12_a_lifecycle_deletes_by_age)                                                 \
    X("GCS-13", gcs_13_a_bucket_is_there_or_not)                                                   \
    X("X-01 X-03 X-04 X-05 X-16", x_05_a_timeout_says_nothing)

/* Goal: the tables agree, and every clause has its test. Method: walk them. */
static void tables_agree(void **state)
{
    static const struct testkit_clause_test tests[] = {
#define X(ids, test) {ids, #test},
        CLAUSE_TESTS(X)
#undef X
    };
    (void)state;
    testkit_check_tables(&storage_model, 0x1a00, 0x1aff);
    testkit_check_profiles(&storage_model);
    testkit_check_clause_tests(&storage_model, tests, ARRAY_COUNT(tests));
}

/* Goal: equal histories have equal digests, others do not. Method: two runs, with one difference at a time. */
static void digest_covers_what_was_done(void **state)
{
    (void)state;
    struct testkit *a = start_without_rate();
    struct testkit *b = start_without_rate();
    (void)write_a(a, "one");
    assert_true(storage_model.digest(a->state) != storage_model.digest(b->state));
    (void)write_a(b, "two");
    assert_true(storage_model.digest(a->state) != storage_model.digest(b->state));
    testkit_close(b);
    b = start_without_rate();
    (void)write_a(b, "one");
    assert_true(storage_model.digest(a->state) == storage_model.digest(b->state));
    (void)delete_named(a, "a");
    assert_true(storage_model.digest(a->state) != storage_model.digest(b->state));
    (void)delete_named(b, "a");
    (void)start_upload(a, "b", ANY);
    assert_true(storage_model.digest(a->state) != storage_model.digest(b->state));
    (void)start_upload(b, "b", ANY);
    (void)go_on(a, "upload-1", 0, "x", true);
    (void)go_on(b, "upload-1", 0, "x", true);
    assert_true(storage_model.digest(a->state) == storage_model.digest(b->state));
    testkit_close(a);
    testkit_close(b);
}

#define X(ids, test) TEST(test),
TEST_MAIN(storage, CLAUSE_TESTS(X) TEST(tables_agree), TEST(digest_covers_what_was_done))
