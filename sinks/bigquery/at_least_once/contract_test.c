/* The contract of a table whose rows change others (section 5.4).
 *
 * link: sinks/bigquery/at_least_once/at_least_once sinks/bigquery/at_least_once/at_least_once_writer sinks/bigquery/at_least_once/outlet
 * link: sinks/bigquery/at_least_once/change sinks/bigquery/destination_host sinks/bigquery/table_writer
 * link: sinks/bigquery/at_least_once/contract sinks/bigquery/table_caller sinks/base/sha256
 * link: sinks/bigquery/client/appender sinks/bigquery/client/append
 * link: sinks/bigquery/client/classify sinks/bigquery/options sinks/bigquery/client/appends_testkit sinks/bigquery/schema
 * link: sinks/bigquery/reconcile
 * link: sinks/generic/user_testkit sinks/host_testkit sinks/parking sinks/retry
 * link: sinks/port/port sinks/port/decode sinks/port/status sinks/port/bigquery
 * link: sinks/base/bytes sinks/base/digest sinks/base/list sinks/base/allocator sinks/base/units
 * link: sinks/base/err
 */
#include "sinks/bigquery/at_least_once/contract.h"

#include "sinks/base/test.h"
#include "sinks/bigquery/at_least_once/at_least_once.h"
#include "sinks/bigquery/client/appends_testkit.h"
#include "sinks/generic/user_testkit.h"

#include <string.h>

#define ASKED   "INTERVAL \"0-0 0 0:10:0\" YEAR TO SECOND"
#define ANOTHER "INTERVAL \"0-0 0 0:0:0\" YEAR TO SECOND"
#define FOREIGN "pending_00112233445566778899aabbccddeeff"

static struct generic_user user;

/* A label value of the sink's own, as it wrote it last. */
static uint8_t label_text[2][CONTRACT_VALUE_MAX];

static void prepare(enum bigquery_contract contract, nanos staleness)
{
    generic_user_init(&user, &bigquery_at_least_once);
    user.user.describe = one_column;
    user.options[BIGQUERY_EAGER_OPTION_CHANGE_DATA_CAPTURE].number = 1;
    user.options[BIGQUERY_EAGER_OPTION_TABLE_CONTRACT].number = contract;
    user.options[BIGQUERY_EAGER_OPTION_PRIMARY_KEY].text = BYTES_LITERAL("id");
    user.options[BIGQUERY_EAGER_OPTION_MAX_STALENESS].number = staleness;
}

/* A row, and a barrier behind it. */
static void begin(struct host *host)
{
    generic_open(host, &user, &bigquery_at_least_once_writer_half);
    host_record(host, 1, "k", "one");
    host_barrier(host, 1);
}

static void begin_with(struct host *host, enum bigquery_contract contract)
{
    prepare(contract, MINUTES(10));
    begin(host);
}

/* Answer the look at the table; a NULL label: it has none. */
static void
seen_with_key(struct host *host, const char *key_or_null, struct bytes label, const char *etag)
{
    const struct bytes column = bytes_of_text(key_or_null == NULL ? "" : key_or_null);
    const struct bigquery_primary_key primary_key = {{&column, 1}};
    const struct bigquery_table_constraints constraints = {&primary_key};
    const struct bigquery_label kept = {BYTES_LITERAL(CONTRACT_LABEL), label};
    const void *labels[] = {&kept};
    const struct bigquery_table table = {
        .etag = bytes_of_text(etag),
        .labels = {labels, label.size == 0 ? 0u : 1u},
        .max_staleness = BYTES_LITERAL(ASKED), /* which says nothing */
        .table_constraints = key_or_null == NULL ? NULL : &constraints,
    };
    host_answer_ok(host, latest(host, &bigquery_get_table_method, 0), &table);
}

static void seen(struct host *host, struct bytes label, const char *etag)
{
    seen_with_key(host, "id", label, etag);
}

/* Answer the look at the staleness. */
static void told(struct host *host, const char *interval)
{
    const struct bytes row = bytes_of_text(interval);
    const struct bigquery_query_response response = {{&row, 1}};
    host_answer_ok(host, latest(host, &bigquery_query_method, 0), &response);
}

static void assert_statement(struct host *host, const char *start)
{
    struct generic_request decoded =
        generic_request_of(host, latest(host, &bigquery_query_method, 0));
    const struct bigquery_query_request *request = decoded.value;
    assert_true(request->query.size > strlen(start));
    assert_bytes_equal((struct bytes){request->query.data, strlen(start)}, bytes_of_text(start));
    generic_forget(host, &decoded);
}

/* The value that the latest patch sets, on condition of an etag. */
static struct bytes patched_label(struct host *host, const char *etag, const char *start)
{
    struct generic_request decoded =
        generic_request_of(host, latest(host, &bigquery_patch_table_method, 0));
    const struct bigquery_patch_table_request *request = decoded.value;
    assert_bytes_equal(request->if_match, bytes_of_text(etag));
    assert_int_equal(request->table->labels.count, 1);
    const struct bigquery_label *label = request->table->labels.items[0];
    assert_bytes_equal(label->key, BYTES_LITERAL(CONTRACT_LABEL));
    assert_bytes_equal((struct bytes){label->value.data, strlen(start)}, bytes_of_text(start));
    assert_int_equal(label->value.size, strlen(start) + 32);
    uint8_t *copy = label_text[start[0] == 'p' ? 0 : 1];
    memcpy(copy, label->value.data, label->value.size);
    const struct bytes value = {copy, label->value.size};
    generic_forget(host, &decoded);
    return value;
}

static void label_taken(struct host *host)
{
    host_answer_ok(host, latest(host, &bigquery_patch_table_method, 0), NULL);
}

/* The table that the latest insert makes. */
static struct bytes inserted_label(struct host *host, const char *start)
{
    struct generic_request decoded =
        generic_request_of(host, latest(host, &bigquery_insert_table_method, 0));
    const struct bigquery_insert_table_request *request = decoded.value;
    assert_bytes_equal(request->table->table_constraints->primary_key->columns.items[0],
                       BYTES_LITERAL("id"));
    assert_int_equal(request->table->schema->fields.count, 1); /* and no field of changes */
    assert_int_equal(request->table->max_staleness.size, 0);
    const struct bigquery_label *label = request->table->labels.items[0];
    assert_bytes_equal((struct bytes){label->value.data, strlen(start)}, bytes_of_text(start));
    uint8_t *copy = label_text[start[0] == 'p' ? 0 : 1];
    memcpy(copy, label->value.data, label->value.size);
    const struct bytes value = {copy, label->value.size};
    generic_forget(host, &decoded);
    return value;
}

static void missing(struct host *host)
{
    refuse_call(host, latest(host, &bigquery_get_table_method, 0), PORT_NOT_FOUND);
}

static void made(struct host *host)
{
    host_answer_ok(host, latest(host, &bigquery_insert_table_method, 0), NULL);
}

static void assert_rows_wait(const struct host *host)
{
    assert_int_equal(appends(host), 0);
    assert_false(host->failed);
}

static void assert_nothing_is_changed(const struct host *host)
{
    assert_int_equal(sends_of(host, &bigquery_patch_table_method), 0);
    assert_int_equal(sends_of(host, &bigquery_insert_table_method), 0);
}

/* --- tables that are made ---------------------------------------------------------------------- */

/* Goal: the whole way of a new table; no row leaves before its end. */
static void a_table_is_made_set_verified_and_labelled_before_its_first_row(void **state)
{
    (void)state;
    struct host host;
    begin_with(&host, BIGQUERY_CONTRACT_VERIFY_ONLY);
    missing(&host);
    const struct bytes pending = inserted_label(&host, "pending_");
    made(&host);
    seen(&host, pending, "e1");
    assert_statement(&host, "SELECT option_value FROM `p.d`.INFORMATION_SCHEMA.TABLE_OPTIONS");
    told(&host, ANOTHER);
    assert_statement(&host, "ALTER TABLE `p.d.t` SET OPTIONS (max_staleness = " ASKED);
    assert_rows_wait(&host);
    host_answer_ok(&host, latest(&host, &bigquery_query_method, 0), NULL);
    seen(&host, pending, "e2");
    told(&host, ASKED);
    (void)patched_label(&host, "e2", "complete_");
    assert_rows_wait(&host);
    label_taken(&host);
    assert_int_equal(appends(&host), 1);
    host_fini(&host);
}

static void a_table_whose_staleness_is_not_the_sinks_is_complete_when_made(void **state)
{
    (void)state;
    struct host host;
    prepare(BIGQUERY_CONTRACT_VERIFY_ONLY, 0);
    begin(&host);
    missing(&host);
    const struct bytes complete = inserted_label(&host, "complete_");
    made(&host);
    seen(&host, complete, "e1");
    assert_int_equal(sends_of(&host, &bigquery_query_method), 0);
    assert_int_equal(appends(&host), 1);
    host_fini(&host);
}

/* Goal: who comes second goes on with the table of the first; one that is not seen yet is looked for. */
static void a_lost_race_of_creations_goes_on(void **state)
{
    (void)state;
    struct host host;
    begin_with(&host, BIGQUERY_CONTRACT_VERIFY_ONLY);
    missing(&host);
    const struct bytes pending = inserted_label(&host, "pending_");
    refuse_call(&host, latest(&host, &bigquery_insert_table_method, 0), PORT_ALREADY_EXISTS);
    missing(&host);
    assert_rows_wait(&host);
    host_fire(&host);
    seen(&host, pending, "e1");
    told(&host, ASKED);
    label_taken(&host);
    assert_int_equal(appends(&host), 1);
    assert_int_equal(sends_of(&host, &bigquery_insert_table_method), 1);
    host_fini(&host);
}

static void what_is_not_to_be_created_fails(void **state)
{
    (void)state;
    struct host host;
    prepare(BIGQUERY_CONTRACT_RECONCILE, 0);
    user.options[BIGQUERY_OPTION_CREATE_DISPOSITION].number = BIGQUERY_CREATE_NEVER;
    begin(&host);
    missing(&host);
    host_assert_failed(&host, SINK_REASON_CONFIG, "not to be created");
    assert_nothing_is_changed(&host);
    host_fini(&host);
    prepare(BIGQUERY_CONTRACT_RECONCILE, 0);
    user.options[BIGQUERY_EAGER_OPTION_PRIMARY_KEY].text = BYTES_LITERAL("");
    begin(&host);
    missing(&host);
    host_assert_failed(&host, SINK_REASON_CONFIG, "primary_key names no column");
    assert_nothing_is_changed(&host);
    host_fini(&host);
}

/* --- tables that are there --------------------------------------------------------------------- */

/* Goal: a table is verified and left as it is, labelled or not. Method: another staleness, another label. */
static void what_is_only_verified_is_never_changed(void **state)
{
    (void)state;
    struct host host;
    begin_with(&host, BIGQUERY_CONTRACT_VERIFY_ONLY);
    seen(&host, (struct bytes){0}, "e1");
    told(&host, ASKED);
    assert_int_equal(appends(&host), 1);
    assert_nothing_is_changed(&host);
    host_fini(&host);
    begin_with(&host, BIGQUERY_CONTRACT_VERIFY_ONLY);
    seen(&host, (struct bytes){0}, "e1");
    told(&host, ANOTHER);
    host_assert_failed(&host, SINK_REASON_CONFIG, "max_staleness is another");
    assert_nothing_is_changed(&host);
    host_fini(&host);
    begin_with(&host, BIGQUERY_CONTRACT_VERIFY_ONLY);
    seen(&host, BYTES_LITERAL("complete_00"), "e1");
    host_assert_failed(&host, SINK_REASON_CONFIG, "another contract");
    assert_nothing_is_changed(&host);
    host_fini(&host);
}

static void a_table_is_claimed_before_it_is_set(void **state)
{
    static const struct bytes before[] = {{0}, {(const uint8_t *)"complete_00", 11}};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(before); i++) {
        struct host host;
        begin_with(&host, BIGQUERY_CONTRACT_RECONCILE);
        seen(&host, before[i], "e1");
        assert_int_equal(sends_of(&host, &bigquery_query_method), 0);
        const struct bytes pending = patched_label(&host, "e1", "pending_");
        label_taken(&host);
        seen(&host, pending, "e2");
        told(&host, ASKED);
        (void)patched_label(&host, "e2", "complete_");
        label_taken(&host);
        assert_int_equal(appends(&host), 1);
        host_fini(&host);
    }
}

/* Goal: a label that is complete is no proof. Method: the table that it was given to, set to something else. */
static void a_complete_table_that_has_changed_is_claimed_anew(void **state)
{
    (void)state;
    struct host host;
    begin_with(&host, BIGQUERY_CONTRACT_RECONCILE);
    seen(&host, (struct bytes){0}, "e1");
    const struct bytes pending = patched_label(&host, "e1", "pending_");
    label_taken(&host);
    seen(&host, pending, "e2");
    told(&host, ASKED);
    const struct bytes complete = patched_label(&host, "e2", "complete_");
    host_fini(&host);
    begin_with(&host, BIGQUERY_CONTRACT_RECONCILE);
    seen(&host, complete, "e3");
    told(&host, ANOTHER);
    (void)patched_label(&host, "e3", "pending_");
    assert_rows_wait(&host);
    host_fini(&host);
}

static void what_another_is_at_work_on_is_left_to_it(void **state)
{
    static const enum bigquery_contract contracts[] = {BIGQUERY_CONTRACT_VERIFY_ONLY,
                                                       BIGQUERY_CONTRACT_RECONCILE};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(contracts); i++) {
        struct host host;
        begin_with(&host, contracts[i]);
        seen(&host, BYTES_LITERAL(FOREIGN), "e1");
        host_assert_failed(&host, SINK_REASON_CONFIG, "another is at work");
        assert_nothing_is_changed(&host);
        host_fini(&host);
    }
}

static void a_table_with_another_key_fails(void **state)
{
    static const char *const keys[] = {"other", NULL};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        struct host host;
        begin_with(&host, BIGQUERY_CONTRACT_RECONCILE);
        seen_with_key(&host, keys[i], (struct bytes){0}, "e1");
        host_assert_failed(&host, SINK_REASON_CONFIG, "no primary key, or another");
        assert_nothing_is_changed(&host);
        host_fini(&host);
    }
}

/* --- trouble ----------------------------------------------------------------------------------- */

/* Goal: what others change behind a look is looked at again, five times at most. */
static void a_spoilt_label_is_verified_anew(void **state)
{
    (void)state;
    struct host host;
    begin_with(&host, BIGQUERY_CONTRACT_RECONCILE);
    seen(&host, (struct bytes){0}, "e1");
    const struct bytes pending = patched_label(&host, "e1", "pending_");
    label_taken(&host);
    for (uint32_t i = 0; i < 5; i++) {
        assert_rows_wait(&host);
        seen(&host, pending, "e2");
        told(&host, ASKED);
        (void)patched_label(&host, "e2", "complete_");
        refuse_call(
            &host, latest(&host, &bigquery_patch_table_method, 0), PORT_FAILED_PRECONDITION);
        if (i < 4) {
            host_fire(&host);
        }
    }
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "changed by others");
    host_fini(&host);
}

/* Goal: whether a label whose answer is lost was set, the table says. */
static void a_label_without_an_answer_is_looked_for(void **state)
{
    (void)state;
    struct host host;
    begin_with(&host, BIGQUERY_CONTRACT_RECONCILE);
    seen(&host, (struct bytes){0}, "e1");
    const struct bytes pending = patched_label(&host, "e1", "pending_");
    label_taken(&host);
    seen(&host, pending, "e2");
    told(&host, ASKED);
    const struct bytes complete = patched_label(&host, "e2", "complete_");
    host_answer_code(&host, latest(&host, &bigquery_patch_table_method, 0), PORT_DEADLINE_EXCEEDED);
    host_fire(&host);
    seen(&host, complete, "e3");
    told(&host, ASKED);
    assert_int_equal(appends(&host), 1);
    host_fini(&host);
}

/* Goal: every call is repeated within the budget. Method: each of a new table's way is refused once; then one
 * for ever. */
static void calls_are_repeated_within_a_budget(void **state)
{
    (void)state;
    struct host host;
    begin_with(&host, BIGQUERY_CONTRACT_VERIFY_ONLY);
    refuse_call(&host, latest(&host, &bigquery_get_table_method, 0), PORT_UNAVAILABLE);
    host_fire(&host);
    missing(&host);
    refuse_call(&host, latest(&host, &bigquery_insert_table_method, 0), PORT_UNAVAILABLE);
    host_fire(&host);
    const struct bytes pending = inserted_label(&host, "pending_");
    made(&host);
    seen(&host, pending, "e1");
    refuse_call(&host, latest(&host, &bigquery_query_method, 0), PORT_UNAVAILABLE);
    host_fire(&host);
    assert_int_equal(sends_of(&host, &bigquery_query_method), 2);
    told(&host, ANOTHER);
    for (uint32_t i = 0; i < 10; i++) {
        refuse_call(&host, latest(&host, &bigquery_query_method, 0), PORT_UNAVAILABLE);
        if (i < 9) {
            host_fire(&host);
        }
    }
    host_assert_failed(&host, SINK_REASON_EXHAUSTED, "are used up");
    host_fini(&host);
}

static void what_is_refused_for_good_fails(void **state)
{
    (void)state;
    struct host host;
    begin_with(&host, BIGQUERY_CONTRACT_VERIFY_ONLY);
    refuse_call(&host, latest(&host, &bigquery_get_table_method, 0), PORT_PERMISSION_DENIED);
    host_assert_failed(&host, SINK_REASON_SERVICE, "could not be looked at");
    host_fini(&host);
    begin_with(&host, BIGQUERY_CONTRACT_VERIFY_ONLY);
    missing(&host);
    refuse_call(&host, latest(&host, &bigquery_insert_table_method, 0), PORT_PERMISSION_DENIED);
    host_assert_failed(&host, SINK_REASON_SERVICE, "could not be created");
    host_fini(&host);
    begin_with(&host, BIGQUERY_CONTRACT_VERIFY_ONLY);
    seen(&host, (struct bytes){0}, "e1");
    refuse_call(&host, latest(&host, &bigquery_query_method, 0), PORT_PERMISSION_DENIED);
    host_assert_failed(&host, SINK_REASON_SERVICE, "options could not be looked at");
    host_fini(&host);
    begin_with(&host, BIGQUERY_CONTRACT_RECONCILE);
    seen(&host, (struct bytes){0}, "e1");
    refuse_call(&host, latest(&host, &bigquery_patch_table_method, 0), PORT_PERMISSION_DENIED);
    host_assert_failed(&host, SINK_REASON_SERVICE, "could not be labelled");
    host_fini(&host);
}

/* Goal: a table that goes missing is made by its contract, too. */
static void a_table_that_goes_missing_is_made_with_its_contract(void **state)
{
    (void)state;
    struct host host;
    prepare(BIGQUERY_CONTRACT_VERIFY_ONLY, 0);
    begin(&host);
    seen(&host, (struct bytes){0}, "e1");
    refused(&host, latest_append(&host, 0), PORT_PERMISSION_DENIED, BIGQUERY_STORAGE_ERROR_NONE);
    missing(&host);
    const struct bytes complete = inserted_label(&host, "complete_");
    made(&host);
    seen(&host, complete, "e1");
    assert_int_equal(appends(&host), 2);
    host_fini(&host);
}

static void a_close_cancels_the_call(void **state)
{
    (void)state;
    struct host host;
    begin_with(&host, BIGQUERY_CONTRACT_VERIFY_ONLY);
    host_simple(&host, SINK_EVENT_CLOSE);
    assert_true(host.closed);
    assert_int_equal(host.cancel_count, 1);
    host_fini(&host);
}

/* --- options ----------------------------------------------------------------------------------- */

static void assert_refused(const char *part)
{
    uint8_t text[256];
    struct byte_writer message;
    byte_writer_init(&message, text, sizeof(text) - 1);
    assert_int_equal(bigquery_at_least_once.validate(user.options, &user.job, &message),
                     ERR_INVALID);
    text[message.size] = 0;
    assert_non_null(strstr((const char *)text, part));
}

static void options_of_the_contract_go_together(void **state)
{
    (void)state;
    prepare(BIGQUERY_CONTRACT_RECONCILE, MINUTES(10));
    user.options[BIGQUERY_EAGER_OPTION_CHANGE_DATA_CAPTURE].number = 0;
    assert_refused("table_contract: it needs change_data_capture");
    prepare(BIGQUERY_CONTRACT_UNCHECKED, 0);
    assert_refused("they need table_contract");
    prepare(BIGQUERY_CONTRACT_RECONCILE, MS(1500));
    assert_refused("max_staleness: it is not in whole seconds");
    prepare(BIGQUERY_CONTRACT_RECONCILE, 0);
    user.options[BIGQUERY_EAGER_OPTION_PRIMARY_KEY].text =
        BYTES_LITERAL("a b c d e f g h i j k l m n o p q");
    assert_refused("more than 16 columns");
}

TEST_MAIN(bigquery_contract,
          TEST(a_table_is_made_set_verified_and_labelled_before_its_first_row),
          TEST(a_table_whose_staleness_is_not_the_sinks_is_complete_when_made),
          TEST(a_lost_race_of_creations_goes_on),
          TEST(what_is_not_to_be_created_fails),
          TEST(what_is_only_verified_is_never_changed),
          TEST(a_table_is_claimed_before_it_is_set),
          TEST(a_complete_table_that_has_changed_is_claimed_anew),
          TEST(what_another_is_at_work_on_is_left_to_it),
          TEST(a_table_with_another_key_fails),
          TEST(a_spoilt_label_is_verified_anew),
          TEST(a_label_without_an_answer_is_looked_for),
          TEST(calls_are_repeated_within_a_budget),
          TEST(what_is_refused_for_good_fails),
          TEST(a_table_that_goes_missing_is_made_with_its_contract),
          TEST(a_close_cancels_the_call),
          TEST(options_of_the_contract_go_together))
