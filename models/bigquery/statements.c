/* Statements about a table: ALTER TABLE, which sets its staleness, and a look at it in INFORMATION_SCHEMA
 * (BQC-06). No other is understood. */
#include "models/bigquery/state.h"
#include "sinks/base/digest.h"

#define ALTER_START    "ALTER TABLE `"
#define ALTER_MIDDLE   "` SET OPTIONS (max_staleness = "
#define ALTER_END      ")"
#define INTERVAL_START "INTERVAL \"0-0 0 "
#define INTERVAL_END   "\" YEAR TO SECOND"
#define LOOK_START     "SELECT option_value FROM `"
#define LOOK_MIDDLE    "`.INFORMATION_SCHEMA.TABLE_OPTIONS WHERE table_name = '"
#define LOOK_END       "' AND option_name = 'max_staleness'"

/* What others set it to is no whole minute. */
#define OTHERS_MORE 61u

/* --- texts ------------------------------------------------------------------------------------- */

void bigquery_put_interval(uint64_t seconds, struct byte_writer *writer)
{
    byte_writer_text(writer, INTERVAL_START);
    byte_writer_decimal(writer, seconds / 3600);
    byte_writer_text(writer, ":");
    byte_writer_decimal(writer, seconds / 60 % 60);
    byte_writer_text(writer, ":");
    byte_writer_decimal(writer, seconds % 60);
    byte_writer_text(writer, INTERVAL_END);
}

void bigquery_put_setting(struct bytes key, uint64_t staleness, struct byte_writer *writer)
{
    byte_writer_text(writer, "key ");
    byte_writer_bytes(writer, key);
    byte_writer_text(writer, ", ");
    bigquery_put_interval(staleness, writer);
}

/* Take a text off the front; false when it is not there. */
static bool take_text(struct bytes *rest, const char *text)
{
    const struct bytes wanted = bytes_of_text(text);
    if (rest->size < wanted.size || !bytes_equal((struct bytes){rest->data, wanted.size}, wanted)) {
        return false;
    }
    *rest = (struct bytes){rest->data + wanted.size, rest->size - wanted.size};
    return true;
}

/* Take all up to one of two characters; it may be nothing. */
static struct bytes take_until(struct bytes *rest, char end, char other)
{
    size_t size = 0;
    while (size < rest->size && rest->data[size] != (uint8_t)end &&
           rest->data[size] != (uint8_t)other) {
        size++;
    }
    const struct bytes taken = {rest->data, size};
    *rest = (struct bytes){rest->data + size, rest->size - size};
    return taken;
}

static bool take_number(struct bytes *rest, uint64_t *number)
{
    const struct bytes digits = take_until(rest, ':', '"');
    *number = 0;
    for (size_t i = 0; i < digits.size && digits.size <= 9; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9') {
            return false;
        }
        *number = *number * 10 + (uint64_t)(digits.data[i] - '0');
    }
    return digits.size > 0 && digits.size <= 9;
}

/* An interval of hours, minutes and seconds. */
static bool take_interval(struct bytes *rest, uint64_t *seconds)
{
    uint64_t parts[3] = {0};
    const bool is_one = take_text(rest, INTERVAL_START) && take_number(rest, &parts[0]) &&
                        take_text(rest, ":") && take_number(rest, &parts[1]) &&
                        take_text(rest, ":") && take_number(rest, &parts[2]) &&
                        take_text(rest, INTERVAL_END) && parts[1] < 60 && parts[2] < 60;
    *seconds = parts[0] * 3600 + parts[1] * 60 + parts[2];
    return is_one;
}

static bool take_dataset(struct bytes *rest, struct bigquery_table_reference *reference)
{
    reference->project_id = take_until(rest, '.', '`');
    const bool goes_on = take_text(rest, ".");
    reference->dataset_id = take_until(rest, '.', '`');
    return goes_on && reference->project_id.size > 0 && reference->dataset_id.size > 0;
}

/* "ALTER TABLE `p.d.t` SET OPTIONS (max_staleness = INTERVAL "0-0 0 0:10:0" YEAR TO SECOND)", or NULL. */
static bool read_alter(struct bytes rest,
                       struct bigquery_table_reference *reference,
                       bool *clears,
                       uint64_t *seconds)
{
    if (!take_text(&rest, ALTER_START) || !take_dataset(&rest, reference) ||
        !take_text(&rest, ".")) {
        return false;
    }
    reference->table_id = take_until(&rest, '`', '`');
    if (!take_text(&rest, ALTER_MIDDLE)) {
        return false;
    }
    *seconds = 0;
    *clears = take_text(&rest, "NULL");
    return (*clears || take_interval(&rest, seconds)) && take_text(&rest, ALTER_END) &&
           rest.size == 0;
}

static bool read_look(struct bytes rest, struct bigquery_table_reference *reference)
{
    if (!take_text(&rest, LOOK_START) || !take_dataset(&rest, reference) ||
        !take_text(&rest, LOOK_MIDDLE)) {
        return false;
    }
    reference->table_id = take_until(&rest, '\'', '\'');
    return take_text(&rest, LOOK_END) && rest.size == 0;
}

/* --- effects ----------------------------------------------------------------------------------- */

static void set(struct bigquery *state,
                struct table *table,
                uint64_t seconds,
                const struct model_request *request_or_null)
{
    bigquery_count_change(state, table);
    table->has_staleness = true;
    table->staleness = seconds;
    state->digest = digest_fold(state->digest, seconds);
    bigquery_note_table(state, table, CONFIGURED_CHANGED, request_or_null);
}

static void alter(struct bigquery *state,
                  struct table *table,
                  uint64_t seconds,
                  const struct model_request *request,
                  struct model_replies *replies)
{
    if (bigquery_changes_too_often(state, table)) {
        COVER(state->env.world, BIGQUERY_PATCH_TOO_OFTEN);
        bigquery_refuse(
            state, request, PORT_PERMISSION_DENIED, BIGQUERY_REASON_RATE_LIMIT_EXCEEDED, replies);
        return;
    }
    COVER(state->env.world, BIGQUERY_STALENESS_SET);
    set(state, table, seconds, request);
    state->query_answer = (struct bigquery_query_response){{0}};
    model_reply(replies, PORT_OK, &state->query_answer);
}

/* What was told is so no longer. A table that was declared is left alone. */
static void let_others_change(struct bigquery *state, struct table *table)
{
    if (table->is_declared ||
        table->others_changes >= bigquery_option(state, OPTION_OTHERS_CHANGES)) {
        return;
    }
    const uint32_t how = bigquery_draw(state, SITE_OTHERS_CHANGE);
    if (how == OTHERS_CHANGE_NONE) {
        return;
    }
    COVER(state->env.world, BIGQUERY_OTHERS_CHANGED);
    table->others_changes++;
    set(state, table, how == OTHERS_CHANGE_RAISED ? table->staleness + OTHERS_MORE : 0, NULL);
}

static void look(struct bigquery *state, struct table *table, struct model_replies *replies)
{
    struct byte_writer writer;
    byte_writer_init(&writer, state->staleness_text, sizeof(state->staleness_text));
    bigquery_put_interval(table->staleness, &writer);
    CHECK(!writer.overflowed);
    state->query_row = byte_writer_view(&writer);
    state->query_answer = (struct bigquery_query_response){
        .rows = {&state->query_row, table->has_staleness ? 1u : 0u}};
    model_reply(replies, PORT_OK, &state->query_answer);
    let_others_change(state, table);
}

void bigquery_query(struct bigquery *state,
                    const struct model_request *request,
                    struct model_replies *replies)
{
    const struct bigquery_query_request *query = request->payload;
    struct bigquery_table_reference reference;
    bool clears = false;
    uint64_t seconds = 0;
    const bool alters = read_alter(query->query, &reference, &clears, &seconds);
    if (!alters && !read_look(query->query, &reference)) {
        bigquery_refuse(state, request, PORT_INVALID_ARGUMENT, BIGQUERY_REASON_INVALID, replies);
        return;
    }
    struct table *table = bigquery_table_named(state, &reference);
    if (table == NULL || !table->exists) {
        bigquery_refuse(state, request, PORT_NOT_FOUND, BIGQUERY_REASON_NOT_FOUND, replies);
    } else if (alters) {
        alter(state, table, seconds, request, replies);
    } else {
        look(state, table, replies);
    }
}
