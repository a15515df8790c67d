#include "sinks/bigquery/file_loads/clean_up.h"

#include "sinks/base/check.h"
#include "sinks/bigquery/file_loads/file_loads_options.h"
#include "sinks/bigquery/options.h"
#include "sinks/effects.h"
#include "sinks/port/storage.h"

#define DELETIONS_MAX 100u /* at once */

struct deletion {
    uint64_t request; /* 0: answered */
    const struct port_method *method;
    struct bigquery_delete_table_request table;
    struct storage_delete_object_request object;
};

enum err clean_up_begin(struct clean_up *clean_up, const struct allocator *allocator)
{
    *clean_up = (struct clean_up){.allocator = allocator};
    clean_up->deletions = allocator_take_zeroed(allocator, DELETIONS_MAX * sizeof(struct deletion));
    return clean_up->deletions == NULL ? ERR_LIMIT : ERR_OK;
}

void clean_up_release(struct clean_up *clean_up)
{
    if (clean_up->deletions != NULL) {
        allocator_give(
            clean_up->allocator, clean_up->deletions, DELETIONS_MAX * sizeof(struct deletion));
    }
    *clean_up = (struct clean_up){0};
}

static void make_table(struct deletion *deletion, struct bytes name)
{
    struct bigquery_table_name parts;
    const bool is_name = bigquery_table_parse(name, &parts);
    CHECK(is_name);
    deletion->table = (struct bigquery_delete_table_request){
        .project_id = parts.project, .dataset_id = parts.dataset, .table_id = parts.table};
    deletion->method = &bigquery_delete_table_method;
}

/* False: its name is none that could be deleted; it stays. */
static bool make_file(struct deletion *deletion, struct bytes uri)
{
    struct bytes bucket;
    struct bytes name;
    if (!file_loads_uri_parse(uri, &bucket, &name)) {
        return false;
    }
    deletion->object = (struct storage_delete_object_request){.bucket = bucket, .object = name};
    deletion->method = &storage_delete_object_method;
    return true;
}

static void send(struct clean_up *clean_up,
                 struct deletion *deletion,
                 nanos request_timeout,
                 uint64_t request,
                 struct sink_effects *effects)
{
    const bool is_table = deletion->method == &bigquery_delete_table_method;
    clean_up->open++;
    deletion->request = request;
    const struct port_envelope envelope = {
        .request = request,
        .kind = PORT_CALL,
        .method = deletion->method,
        .deadline = request_timeout,
        .payload = is_table ? (const void *)&deletion->table : (const void *)&deletion->object,
    };
    effects_send(effects, &envelope);
}

/* A batch begins when the one before is answered. */
bool clean_up_advance(struct clean_up *clean_up,
                      enum clean_up_what what,
                      const struct plan *plan,
                      nanos request_timeout,
                      uint64_t *last,
                      struct sink_effects *effects)
{
    const bool is_table = what == CLEAN_UP_TABLES;
    const uint32_t count = is_table ? plan->temporary_table_count : plan->file_count;
    while (clean_up->sent < count) {
        const uint32_t slot = clean_up->sent % DELETIONS_MAX;
        if ((slot == 0 && clean_up->open > 0) || !effects_has_room(effects)) {
            return false;
        }
        struct deletion *deletion = &clean_up->deletions[slot];
        bool is_made = true;
        deletion->request = 0;
        if (is_table) {
            make_table(deletion, plan->temporary_tables[clean_up->sent]);
        } else {
            is_made = make_file(deletion, plan->files[clean_up->sent]->uri);
        }
        if (is_made) {
            (*last)++;
            send(clean_up, deletion, request_timeout, *last, effects);
        }
        clean_up->sent++;
    }
    if (clean_up->open > 0) {
        return false;
    }
    clean_up->sent = 0;
    return true;
}

bool clean_up_answer(struct clean_up *clean_up, const struct port_answer *answer)
{
    for (uint32_t i = 0; i < DELETIONS_MAX; i++) {
        struct deletion *deletion = &clean_up->deletions[i];
        if (deletion->request == answer->request) {
            deletion->request = 0;
            clean_up->open--;
            return answer->outcome != PORT_OUTCOME_OK;
        }
    }
    return false;
}

void clean_up_close(struct clean_up *clean_up, struct sink_effects *effects)
{
    for (uint32_t i = 0; i < DELETIONS_MAX && clean_up->deletions != NULL; i++) {
        const struct deletion *deletion = &clean_up->deletions[i];
        if (deletion->request != 0 && effects_has_space(effects)) {
            effects_cancel(effects, deletion->request, deletion->method);
        }
    }
}
