#include "sinks/bigquery/at_least_once/contract.h"

#include "sinks/base/check.h"
#include "sinks/base/digest.h"
#include "sinks/base/sha256.h"
#include "sinks/bigquery/client/classify.h"
#include "sinks/effects.h"

enum contract_state {
    STATE_READING = 0,
    STATE_INSERTING,
    STATE_CLAIMING,
    STATE_LOOKING,
    STATE_ALTERING,
    STATE_COMPLETING,
    STATE_KEPT,
};

#define PENDING     "pending_"
#define COMPLETE    "complete_"
#define HASH_SIZE   16u
#define HASH_DIGITS 32u /* two for each byte */

#define ALTERATIONS_MAX 5u

/* --- what is asked for ------------------------------------------------------------------------- */

/* As INFORMATION_SCHEMA tells it. */
static void write_interval(uint64_t seconds, struct byte_writer *writer)
{
    byte_writer_text(writer, "INTERVAL \"0-0 0 ");
    byte_writer_decimal(writer, seconds / 3600);
    byte_writer_text(writer, ":");
    byte_writer_decimal(writer, seconds / 60 % 60);
    byte_writer_text(writer, ":");
    byte_writer_decimal(writer, seconds % 60);
    byte_writer_text(writer, "\" YEAR TO SECOND");
    CHECK(!writer->overflowed);
}

static bool says_staleness(const struct contract *contract)
{
    return contract->config->max_staleness > 0;
}

static void write_interval_of(struct contract *contract)
{
    struct byte_writer writer;
    byte_writer_init(&writer, contract->interval, sizeof(contract->interval));
    write_interval(contract->config->max_staleness / SECONDS(1), &writer);
    contract->interval_value = byte_writer_view(&writer);
}

static struct bytes
write_value(const char *how_far, const char hash[HASH_DIGITS], uint8_t text[CONTRACT_VALUE_MAX])
{
    struct byte_writer writer;
    byte_writer_init(&writer, text, CONTRACT_VALUE_MAX);
    byte_writer_text(&writer, how_far);
    byte_writer_bytes(&writer, (struct bytes){(const uint8_t *)hash, HASH_DIGITS});
    CHECK(!writer.overflowed);
    return byte_writer_view(&writer);
}

/* 128 bits of the key's columns and the staleness. */
static void write_values(struct contract *contract)
{
    uint8_t digest[SHA256_SIZE];
    char hash[HASH_DIGITS];
    struct byte_writer writer;
    byte_writer_init(&writer, contract->statement, sizeof(contract->statement));
    for (uint32_t i = 0; i < contract->key_count; i++) {
        byte_writer_bytes(&writer, contract->key[i]);
        byte_writer_text(&writer, " ");
    }
    byte_writer_text(&writer, "; ");
    if (says_staleness(contract)) {
        byte_writer_bytes(&writer, contract->interval_value);
    }
    CHECK(!writer.overflowed);
    sha256(byte_writer_view(&writer), digest);
    bytes_to_hex((struct bytes){digest, HASH_SIZE}, hash);
    contract->pending_value = write_value(PENDING, hash, contract->pending);
    contract->complete_value = write_value(COMPLETE, hash, contract->complete);
}

void contract_init(struct contract *contract,
                   const struct bigquery_config *config,
                   const struct allocator *allocator,
                   struct appender_numbers *numbers,
                   struct parking *parking)
{
    *contract = (struct contract){
        .config = config,
        .options = {.schedule = &config->recovery, .request_timeout = config->request_timeout},
    };
    table_caller_init(&contract->caller, &contract->options, allocator, numbers, parking);
    struct bytes rest = config->primary_key;
    for (struct bytes word = bytes_next_word(&rest); word.size > 0; word = bytes_next_word(&rest)) {
        CHECK(contract->key_count < BIGQUERY_KEY_COLUMNS_MAX);
        contract->key[contract->key_count] = word;
        contract->key_count++;
    }
    write_interval_of(contract);
    write_values(contract);
}

void contract_fini(struct contract *contract)
{
    table_caller_fini(&contract->caller);
}

void contract_start(struct contract *contract,
                    struct bytes table,
                    const struct bigquery_table_schema *wanted)
{
    CHECK(!contract->runs);
    CHECK(bigquery_table_parse(table, &contract->parts));
    table_caller_reset(&contract->caller);
    contract->runs = true;
    contract->state = STATE_READING;
    contract->inserted = false;
    contract->alterations = 0;
    contract->table = table;
    contract->wanted = wanted;
}

/* --- answers: the table ------------------------------------------------------------------------ */

static void go_to(struct contract *contract, enum contract_state state)
{
    contract->state = (uint8_t)state;
    contract->caller.failures = 0;
}

static void fail(struct contract *contract, const char *message)
{
    table_caller_fail(&contract->caller, SINK_REASON_CONFIG, NULL, message);
}

static bool has_key(const struct contract *contract)
{
    const struct bigquery_table_constraints *constraints = contract->caller.seen->table_constraints;
    const struct bigquery_primary_key *key = constraints == NULL ? NULL : constraints->primary_key;
    if (key == NULL || key->columns.count == 0) {
        return false;
    }
    bool same = contract->key_count == 0 || contract->key_count == key->columns.count;
    for (uint32_t i = 0; i < contract->key_count && same; i++) {
        same = bytes_equal(contract->key[i], key->columns.items[i]);
    }
    return same;
}

/* The label's value; nothing when there is none. */
static struct bytes label_of(const struct bigquery_table *table)
{
    for (uint32_t i = 0; i < table->labels.count; i++) {
        const struct bigquery_label *label = table->labels.items[i];
        if (bytes_equal(label->key, BYTES_LITERAL(CONTRACT_LABEL))) {
            return label->value;
        }
    }
    return (struct bytes){0};
}

static bool is_pending(struct bytes value)
{
    const struct bytes pending = BYTES_LITERAL(PENDING);
    return value.size >= pending.size &&
           bytes_equal((struct bytes){value.data, pending.size}, pending);
}

static bool is_ours(const struct contract *contract, struct bytes expected)
{
    return bytes_equal(label_of(contract->caller.seen), expected);
}

/* What the table says of itself is known: what is next? */
static void judge_table(struct contract *contract)
{
    const struct bytes label = label_of(contract->caller.seen);
    const bool changes = contract->config->table_contract == BIGQUERY_CONTRACT_RECONCILE;
    if (!has_key(contract)) {
        fail(contract, "the table has no primary key, or another than the configured one");
    } else if (is_ours(contract, contract->pending_value)) {
        go_to(contract, says_staleness(contract) ? STATE_LOOKING : STATE_COMPLETING);
    } else if (is_pending(label)) {
        fail(contract, "another is at work on the table's contract: its label is pending");
    } else if (is_ours(contract, contract->complete_value) || (label.size == 0 && !changes)) {
        go_to(contract, says_staleness(contract) ? STATE_LOOKING : STATE_KEPT);
    } else if (changes) {
        go_to(contract, STATE_CLAIMING);
    } else {
        fail(contract, "the table is labelled for another contract, and is only to be verified");
    }
}

static void read_answered(struct contract *contract,
                          const struct sink_now *now,
                          const struct port_answer *answer)
{
    const bool is_missing = port_status_first(&answer->status) == PORT_NOT_FOUND;
    if (answer->outcome == PORT_OUTCOME_OK && answer->payload != NULL) {
        table_caller_keep(&contract->caller, answer->payload);
        if (contract->caller.reason == SINK_REASON_NONE) {
            judge_table(contract);
        }
    } else if (table_caller_is_transient(answer) || (is_missing && contract->inserted)) {
        table_caller_try_again(&contract->caller, now->monotonic, &answer->status);
    } else if (!is_missing) {
        table_caller_fail(&contract->caller,
                          SINK_REASON_SERVICE,
                          &answer->status,
                          "the table could not be looked at");
    } else if (!contract->config->creates) {
        fail(contract, "the table is not there, and is not to be created");
    } else if (contract->key_count == 0) {
        fail(contract, "the table is not there, and primary_key names no column to create it with");
    } else {
        go_to(contract, STATE_INSERTING);
    }
}

/* Who comes second finds the table of the first. */
static void insert_answered(struct contract *contract,
                            const struct sink_now *now,
                            struct sink_effects *effects,
                            const struct port_answer *answer)
{
    const bool exists = port_status_first(&answer->status) == PORT_ALREADY_EXISTS;
    if (answer->outcome == PORT_OUTCOME_OK || exists) {
        if (answer->outcome == PORT_OUTCOME_OK) {
            effects_phase(effects, BIGQUERY_EAGER_PHASE_TABLE_CREATED);
        }
        contract->inserted = true;
        go_to(contract, STATE_READING);
    } else {
        table_caller_again_or_fail(
            &contract->caller, now->monotonic, answer, "the table could not be created");
    }
}

/* --- answers: the staleness -------------------------------------------------------------------- */

static void look_answered(struct contract *contract,
                          const struct sink_now *now,
                          const struct port_answer *answer)
{
    if (answer->outcome != PORT_OUTCOME_OK || answer->payload == NULL) {
        table_caller_again_or_fail(&contract->caller,
                                   now->monotonic,
                                   answer,
                                   "the table's options could not be looked at");
        return;
    }
    const struct bigquery_query_response *response = answer->payload;
    const bool is_kept =
        response->rows.count == 1 && bytes_equal(response->rows.items[0], contract->interval_value);
    const bool is_pending_ours = is_ours(contract, contract->pending_value);
    if (is_kept) {
        go_to(contract, is_pending_ours ? STATE_COMPLETING : STATE_KEPT);
    } else if (is_pending_ours && contract->alterations < ALTERATIONS_MAX) {
        contract->alterations++;
        go_to(contract, STATE_ALTERING);
    } else if (is_pending_ours) {
        fail(contract, "others set the table's max_staleness each time that it was set");
    } else if (contract->config->table_contract == BIGQUERY_CONTRACT_RECONCILE) {
        go_to(contract, STATE_CLAIMING);
    } else {
        fail(contract, "the table's max_staleness is another, and is only to be verified");
    }
}

static void alter_answered(struct contract *contract,
                           const struct sink_now *now,
                           struct sink_effects *effects,
                           const struct port_answer *answer)
{
    if (answer->outcome == PORT_OUTCOME_OK) {
        effects_phase(effects, BIGQUERY_EAGER_PHASE_CONTRACT_ALTERED);
        go_to(contract, STATE_READING);
    } else {
        table_caller_again_or_fail(&contract->caller,
                                   now->monotonic,
                                   answer,
                                   "the table's max_staleness could not be set");
    }
}

/* --- answers: the label ------------------------------------------------------------------------ */

/* Whether a change whose answer is lost was made, the table says. */
static void label_answered(struct contract *contract,
                           const struct sink_now *now,
                           struct sink_effects *effects,
                           const struct port_answer *answer)
{
    const bool completes = contract->state == STATE_COMPLETING;
    if (answer->outcome == PORT_OUTCOME_OK) {
        effects_phase(effects,
                      completes ? BIGQUERY_EAGER_PHASE_CONTRACT_COMPLETED
                                : BIGQUERY_EAGER_PHASE_CONTRACT_CLAIMED);
        go_to(contract, completes ? STATE_KEPT : STATE_READING);
    } else if (answer->outcome == PORT_OUTCOME_UNKNOWN) {
        go_to(contract, STATE_READING);
        table_caller_look_again(&contract->caller, now->monotonic, &answer->status);
    } else if (table_caller_is_transient(answer)) {
        table_caller_try_again(&contract->caller, now->monotonic, &answer->status);
    } else if (bigquery_is_lost_race(&answer->status)) {
        effects_phase(effects, BIGQUERY_EAGER_PHASE_CONTRACT_SPOILT);
        go_to(contract, STATE_READING);
        table_caller_look_again(&contract->caller, now->monotonic, &answer->status);
    } else {
        table_caller_fail(&contract->caller,
                          SINK_REASON_SERVICE,
                          &answer->status,
                          "the table could not be labelled");
    }
}

bool contract_answer(struct contract *contract,
                     const struct sink_now *now,
                     struct sink_effects *effects,
                     const struct port_answer *answer)
{
    if (!table_caller_answer(&contract->caller, answer)) {
        return false;
    }
    switch ((enum contract_state)contract->state) {
    case STATE_READING:
        read_answered(contract, now, answer);
        return true;
    case STATE_INSERTING:
        insert_answered(contract, now, effects, answer);
        return true;
    case STATE_CLAIMING:
    case STATE_COMPLETING:
        label_answered(contract, now, effects, answer);
        return true;
    case STATE_LOOKING:
        look_answered(contract, now, answer);
        return true;
    case STATE_ALTERING:
        alter_answered(contract, now, effects, answer);
        return true;
    case STATE_KEPT:
        break;
    }
    UNREACHABLE();
}

/* --- calls ------------------------------------------------------------------------------------- */

static void read_table(struct contract *contract, struct sink_effects *effects)
{
    const struct bigquery_table_name *name = &contract->parts;
    contract->get = (struct bigquery_get_table_request){name->project, name->dataset, name->table};
    table_caller_send(&contract->caller, &bigquery_get_table_method, &contract->get, effects);
}

static void set_label(struct contract *contract, struct bytes value)
{
    contract->label = (struct bigquery_label){BYTES_LITERAL(CONTRACT_LABEL), value};
    contract->labels[0] = &contract->label;
    contract->body = (struct bigquery_table){.labels = {contract->labels, 1}};
}

/* Nothing is left to do for a table whose staleness is not the sink's to say. */
static void insert_table(struct contract *contract, struct sink_effects *effects)
{
    const struct bigquery_table_name *name = &contract->parts;
    set_label(contract,
              says_staleness(contract) ? contract->pending_value : contract->complete_value);
    contract->reference =
        (struct bigquery_table_reference){name->project, name->dataset, name->table};
    contract->primary_key =
        (struct bigquery_primary_key){.columns = {contract->key, contract->key_count}};
    contract->constraints =
        (struct bigquery_table_constraints){.primary_key = &contract->primary_key};
    contract->body.table_reference = &contract->reference;
    contract->body.schema = contract->wanted;
    contract->body.table_constraints = &contract->constraints;
    contract->insert = (struct bigquery_insert_table_request){
        .project_id = name->project, .dataset_id = name->dataset, .table = &contract->body};
    table_caller_send(&contract->caller, &bigquery_insert_table_method, &contract->insert, effects);
}

static void label_table(struct contract *contract, struct bytes value, struct sink_effects *effects)
{
    const struct bigquery_table_name *name = &contract->parts;
    set_label(contract, value);
    contract->patch = (struct bigquery_patch_table_request){
        name->project, name->dataset, name->table, &contract->body, contract->caller.seen->etag};
    table_caller_send(&contract->caller, &bigquery_patch_table_method, &contract->patch, effects);
}

static void
ask(struct contract *contract, const struct byte_writer *statement, struct sink_effects *effects)
{
    CHECK(!statement->overflowed);
    contract->query =
        (struct bigquery_query_request){contract->parts.project, byte_writer_view(statement)};
    table_caller_send(&contract->caller, &bigquery_query_method, &contract->query, effects);
}

static void write_dataset(const struct contract *contract, struct byte_writer *writer)
{
    byte_writer_bytes(writer, contract->parts.project);
    byte_writer_text(writer, ".");
    byte_writer_bytes(writer, contract->parts.dataset);
}

static void look(struct contract *contract, struct sink_effects *effects)
{
    struct byte_writer writer;
    byte_writer_init(&writer, contract->statement, sizeof(contract->statement));
    byte_writer_text(&writer, "SELECT option_value FROM `");
    write_dataset(contract, &writer);
    byte_writer_text(&writer, "`.INFORMATION_SCHEMA.TABLE_OPTIONS WHERE table_name = '");
    byte_writer_bytes(&writer, contract->parts.table);
    byte_writer_text(&writer, "' AND option_name = 'max_staleness'");
    ask(contract, &writer, effects);
}

static void alter(struct contract *contract, struct sink_effects *effects)
{
    struct byte_writer writer;
    byte_writer_init(&writer, contract->statement, sizeof(contract->statement));
    byte_writer_text(&writer, "ALTER TABLE `");
    write_dataset(contract, &writer);
    byte_writer_text(&writer, ".");
    byte_writer_bytes(&writer, contract->parts.table);
    byte_writer_text(&writer, "` SET OPTIONS (max_staleness = ");
    byte_writer_bytes(&writer, contract->interval_value);
    byte_writer_text(&writer, ")");
    ask(contract, &writer, effects);
}

static enum contract_outcome end(struct contract *contract, enum contract_outcome outcome)
{
    contract->runs = false;
    return outcome;
}

enum contract_outcome contract_advance(struct contract *contract, struct sink_effects *effects)
{
    CHECK(contract->runs);
    if (contract->caller.reason != SINK_REASON_NONE) {
        return end(contract, CONTRACT_FAILED);
    }
    if (contract->state == STATE_KEPT) {
        return end(contract, CONTRACT_KEPT);
    }
    if (!table_caller_may_send(&contract->caller, effects)) {
        return CONTRACT_OPEN;
    }
    switch ((enum contract_state)contract->state) {
    case STATE_READING:
        read_table(contract, effects);
        return CONTRACT_OPEN;
    case STATE_INSERTING:
        insert_table(contract, effects);
        return CONTRACT_OPEN;
    case STATE_CLAIMING:
        label_table(contract, contract->pending_value, effects);
        return CONTRACT_OPEN;
    case STATE_LOOKING:
        look(contract, effects);
        return CONTRACT_OPEN;
    case STATE_ALTERING:
        alter(contract, effects);
        return CONTRACT_OPEN;
    case STATE_COMPLETING:
        label_table(contract, contract->complete_value, effects);
        return CONTRACT_OPEN;
    case STATE_KEPT:
        break;
    }
    UNREACHABLE();
}

bool contract_due(struct contract *contract, const struct parking_slot *slot)
{
    return table_caller_due(&contract->caller, slot);
}

void contract_close(struct contract *contract, struct sink_effects *effects)
{
    table_caller_close(&contract->caller, effects);
    contract->runs = false;
}

uint64_t contract_digest(uint64_t digest, const struct contract *contract)
{
    digest = digest_fold(digest, contract->runs);
    digest = digest_fold(digest, contract->state);
    digest = digest_fold(digest, contract->inserted);
    digest = digest_fold(digest, contract->alterations);
    return table_caller_digest(digest, &contract->caller);
}
