/* The tables that a commit's loads need, each made ready once (load_table.h). */
#include "sinks/bigquery/file_loads/commit.h"

struct load_table *commit_find_table(const struct committer *committer, struct bytes name)
{
    for (struct list_link *link = list_first(&committer->tables); link != NULL;
         link = list_next(&committer->tables, link)) {
        struct load_table *table = LIST_ITEM(link, struct load_table, link);
        if (bytes_equal(table->name, name)) {
            return table;
        }
    }
    return NULL;
}

/* The commit's table, with what the serializer writes into it from now on; or a temporary one that is to be
 * like it. NULL: the commit has failed. */
static struct load_table *
add_table(const struct step *step, struct bytes name, const struct load_table *like_or_null)
{
    struct committer *committer = step->committer;
    const struct sink_user *user = committer->user;
    struct bytes wanted = {0};
    uint64_t version = 0;
    if (like_or_null == NULL &&
        (user->describe == NULL ||
         user->describe(user->context, NULL, name, &version, &wanted) != SINK_USER_OK)) {
        commit_fail_text(step, SINK_REASON_CONFIG, "the serializer gives no schema of the table");
        return NULL;
    }
    const struct load_table_rules rules = load_table_rules_of(&committer->config);
    struct load_table *table = allocator_take(committer->allocator, sizeof(*table));
    enum err err = ERR_LIMIT;
    if (table != NULL) {
        err = like_or_null != NULL
                  ? load_table_begin_like(table, committer->allocator, name, like_or_null)
                  : load_table_begin(table, committer->allocator, name, rules, wanted);
    }
    if (err == ERR_OK) {
        list_push_back(&committer->tables, &table->link);
        return table;
    }
    allocator_give(committer->allocator, table, sizeof(*table));
    commit_fail_text(step,
                     err == ERR_LIMIT ? SINK_REASON_MEMORY : SINK_REASON_CONFIG,
                     err == ERR_LIMIT ? "no memory for a table"
                                      : "the serializer's schema of a table is none");
    return NULL;
}

static void ask_table(const struct step *step, struct load_table *table)
{
    struct committer *committer = step->committer;
    commit_release_request(committer);
    committer->asked = table;
    load_table_request_make(&committer->request.table, table);
    committer->question = QUESTION_TABLE;
    commit_send(step, committer->request.table.method, committer->request.table.payload);
}

bool commit_ready_table(const struct step *step,
                        struct bytes name,
                        const struct load_table *like_or_null)
{
    struct load_table *table = commit_find_table(step->committer, name);
    table = table == NULL ? add_table(step, name, like_or_null) : table;
    if (table == NULL) {
        return false;
    }
    if (table->step != LOAD_TABLE_READY) {
        ask_table(step, table);
        return false;
    }
    return true;
}

static void tell_ready(const struct step *step, const struct load_table *table)
{
    if (!bytes_equal(table->name, commit_current_plan(step->committer)->table)) {
        effects_phase(step->effects, FILE_LOADS_PHASE_TEMPORARY_TABLE_READY);
        return;
    }
    if (table->is_created) {
        effects_phase(step->effects, FILE_LOADS_PHASE_TABLE_CREATED);
    }
    if (table->is_changed) {
        effects_phase(step->effects, FILE_LOADS_PHASE_TABLE_CHANGED);
    }
    if (table->drops_columns && !step->committer->warned) {
        step->committer->warned = true;
        effects_phase(step->effects, FILE_LOADS_PHASE_COLUMNS_DROPPED);
        effects_note(step->effects, BYTES_LITERAL("columns that the table lacks are not loaded"));
    }
}

void commit_settle_table(const struct step *step, const struct port_answer *answer)
{
    struct committer *committer = step->committer;
    struct load_table *table = committer->asked;
    const enum err err = load_table_answer(table, committer->allocator, answer);
    if (err != ERR_OK) {
        commit_fail_text(step, SINK_REASON_MEMORY, "no memory for a table's schema");
    } else if (table->step == LOAD_TABLE_FAILED) {
        commit_fail_answer(step, answer, "table", table->name, table->complaint);
    } else if (table->step == LOAD_TABLE_PAUSES) {
        commit_wait(step, &committer->config.reconcile, table->failures);
        load_table_resume(table);
    } else if (table->step == LOAD_TABLE_READY) {
        tell_ready(step, table);
    }
}

void commit_release_tables(struct committer *committer)
{
    const struct allocator *allocator = committer->allocator;
    while (!list_is_empty(&committer->tables)) {
        struct load_table *table =
            LIST_ITEM(list_pop_front(&committer->tables), struct load_table, link);
        load_table_release(table, allocator);
        allocator_give(allocator, table, sizeof(*table));
    }
    committer->asked = NULL;
}
