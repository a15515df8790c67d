/* Where a job runs: as configured, or else where its table's dataset is, which is asked for once. */
#include "sinks/base/check.h"
#include "sinks/bigquery/file_loads/commit.h"
#include "sinks/bigquery/options.h"

#define LOCATION_SIZE_MAX 64u

/* Where a dataset is, which never changes (M35). */
struct location {
    struct list_link link;
    size_t size;          /* of all of it */
    struct bytes dataset; /* "projects/P/datasets/D", behind this */
    uint8_t text[LOCATION_SIZE_MAX];
    size_t text_size;
};

/* "projects/P/datasets/D". */
static struct bytes dataset_of(struct bytes table)
{
    struct bigquery_table_name parts;
    const bool is_name = bigquery_table_parse(table, &parts);
    CHECK(is_name);
    return (struct bytes){table.data,
                          (size_t)(parts.dataset.data - table.data) + parts.dataset.size};
}

static struct location *find_location(const struct committer *committer, struct bytes dataset)
{
    for (struct list_link *link = list_first(&committer->locations); link != NULL;
         link = list_next(&committer->locations, link)) {
        struct location *location = LIST_ITEM(link, struct location, link);
        if (bytes_equal(location->dataset, dataset)) {
            return location;
        }
    }
    return NULL;
}

bool commit_knows_location(const struct committer *committer)
{
    return committer->config.location.size > 0 ||
           find_location(committer, dataset_of(commit_current_plan(committer)->table)) != NULL;
}

void commit_ask_location(const struct step *step)
{
    struct committer *committer = step->committer;
    struct bigquery_table_name parts;
    const bool is_name = bigquery_table_parse(commit_current_plan(committer)->table, &parts);
    CHECK(is_name);
    commit_release_request(committer);
    committer->request.dataset = (struct bigquery_get_dataset_request){.project_id = parts.project,
                                                                       .dataset_id = parts.dataset};
    committer->question = QUESTION_LOCATION;
    commit_send(step, &bigquery_get_dataset_method, &committer->request.dataset);
}

void commit_settle_location(const struct step *step, const struct port_answer *answer)
{
    struct committer *committer = step->committer;
    const struct bytes dataset = dataset_of(commit_current_plan(committer)->table);
    if (answer->outcome != PORT_OUTCOME_OK || answer->payload == NULL) {
        commit_fail_answer(step, answer, "dataset", dataset, NULL);
        return;
    }
    const struct bigquery_dataset *found = answer->payload;
    const size_t size = sizeof(struct location) + dataset.size;
    struct location *location = found->location.size > LOCATION_SIZE_MAX
                                    ? NULL
                                    : allocator_take(committer->allocator, size);
    if (location == NULL) {
        commit_fail_text(step, SINK_REASON_MEMORY, "no memory for a location");
        return;
    }
    uint8_t *name = (uint8_t *)(location + 1);
    memcpy(name, dataset.data, dataset.size);
    *location = (struct location){
        .size = size, .dataset = {name, dataset.size}, .text_size = found->location.size};
    if (found->location.size > 0) {
        memcpy(location->text, found->location.data, found->location.size);
    }
    list_push_back(&committer->locations, &location->link);
}

struct bytes commit_current_location(const struct committer *committer)
{
    if (committer->config.location.size > 0) {
        return committer->config.location;
    }
    const struct location *location =
        find_location(committer, dataset_of(commit_current_plan(committer)->table));
    CHECK(location != NULL);
    return (struct bytes){location->text, location->text_size};
}

void commit_release_locations(struct committer *committer)
{
    while (!list_is_empty(&committer->locations)) {
        struct location *location =
            LIST_ITEM(list_pop_front(&committer->locations), struct location, link);
        allocator_give(committer->allocator, location, location->size);
    }
}
