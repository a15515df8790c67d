#include "sinks/bigquery/file_loads/plan.h"

#include "sinks/base/check.h"
#include "sinks/bigquery/file_loads/planning.h"

/* "projects/P/datasets/D" of a table's name. */
static struct bytes dataset_of(struct bytes table)
{
    const struct bytes infix = BYTES_LITERAL("/tables/");
    size_t size = table.size;
    while (size > 0 && !(table.size - size >= infix.size &&
                         bytes_equal((struct bytes){table.data + size, infix.size}, infix))) {
        size--;
    }
    CHECK(size > 0);
    return (struct bytes){table.data, size};
}

/* Where a table's rows are replaced, a second load of another format would erase the first one's; where none
 * may be there, it would be refused for them (BQJ-10). */
static enum err plan_table(struct planning *planning)
{
    const uint32_t loads = planning_count_loads(planning);
    const bool is_alone = planning->config->write != BIGQUERY_WRITE_APPEND;
    if (loads > planning->formats || (is_alone && planning->formats > 1)) {
        return planning_through_tables(planning, loads);
    }
    return planning_direct(planning);
}

static enum err plan_tables(struct planning *planning)
{
    const struct plan *plan = planning->plan;
    enum err err = ERR_OK;
    while (planning->first < plan->file_count && err == ERR_OK) {
        uint32_t end = planning->first + 1;
        planning->table = plan->files[planning->first]->table;
        planning->formats = 1;
        while (end < plan->file_count && bytes_equal(plan->files[end]->table, planning->table)) {
            planning->formats += plan->files[end]->format != plan->files[end - 1]->format ? 1 : 0;
            end++;
        }
        planning->end = end;
        planning->dataset = planning->config->temp_dataset.size > 0 ? planning->config->temp_dataset
                                                                    : dataset_of(planning->table);
        err = plan_table(planning);
        planning->first = end;
    }
    return err;
}

static int compare_files(const struct staged_file *a, const struct staged_file *b)
{
    const int tables = bytes_compare(a->table, b->table);
    if (tables != 0) {
        return tables;
    }
    return a->format != b->format ? (int)a->format - (int)b->format : bytes_compare(a->uri, b->uri);
}

/* Merge two sorted runs that lie side by side. */
static void merge(const struct staged_file **from,
                  const struct staged_file **to,
                  uint32_t first,
                  uint32_t middle,
                  uint32_t end)
{
    uint32_t left = first;
    uint32_t right = middle;
    for (uint32_t at = first; at < end; at++) {
        const bool takes_left =
            right == end || (left < middle && compare_files(from[left], from[right]) <= 0);
        to[at] = takes_left ? from[left] : from[right];
        left += takes_left ? 1 : 0;
        right += takes_left ? 0 : 1;
    }
}

static enum err sort_files(struct plan *plan, const struct staged_file *files, uint32_t count)
{
    const struct staged_file **from =
        planning_take(plan, count * sizeof(const struct staged_file *));
    const struct staged_file **to = planning_take(plan, count * sizeof(const struct staged_file *));
    if (from == NULL || to == NULL) {
        return ERR_LIMIT;
    }
    for (uint32_t i = 0; i < count; i++) {
        from[i] = &files[i];
    }
    for (uint32_t size = 1; size < count; size *= 2) {
        for (uint32_t first = 0; first < count; first += 2 * size) {
            const uint32_t middle = count - first < size ? count : first + size;
            const uint32_t end = count - middle < size ? count : middle + size;
            merge(from, to, first, middle, end);
        }
        const struct staged_file **sorted = to;
        to = from;
        from = sorted;
    }
    plan->files = from;
    plan->file_count = count;
    return ERR_OK;
}

/* Ids are made of the checkpoint and the job: a commit that mixes them would run under another's. */
static enum err check_files(const struct plan *plan, struct byte_writer *message)
{
    const struct staged_file *first = plan->files[0];
    for (uint32_t i = 1; i < plan->file_count; i++) {
        const struct staged_file *file = plan->files[i];
        const char *wrong = NULL;
        if (file->checkpoint != first->checkpoint) {
            wrong = "a commit has files of more than one checkpoint: ";
        } else if (!bytes_equal(file->job, first->job)) {
            wrong = "a commit has files of more than one job: ";
        } else if (compare_files(plan->files[i - 1], file) == 0) {
            wrong = "a commit has one file twice: ";
        }
        if (wrong != NULL) {
            byte_writer_text(message, wrong);
            byte_writer_bytes(message, file->uri);
            return ERR_INVALID;
        }
    }
    return ERR_OK;
}

/* Stages become numbers without gaps, and jobs an array that is ordered by them. */
static enum err order_jobs(struct plan *plan)
{
    plan->jobs = planning_take(plan, plan->job_count * sizeof(const struct plan_job *));
    if (plan->jobs == NULL) {
        return ERR_LIMIT;
    }
    uint32_t count = 0;
    for (uint32_t stage = 0; stage < plan->level_count + 3; stage++) {
        for (struct plan_job *job = plan->first; job != NULL; job = job->next) {
            if (job->stage == PLANNING_TABLE_STAGE) {
                job->stage = plan->level_count + 1;
            } else if (job->stage == PLANNING_LAST_STAGE) {
                job->stage = plan->level_count + 2;
            }
            if (job->stage == stage) {
                plan->jobs[count] = job;
                count++;
            }
        }
    }
    CHECK(count == plan->job_count);
    return ERR_OK;
}

static enum err order_tables(struct plan *plan)
{
    struct bytes *names = planning_take(plan, (plan->temporary_table_count + 1) * sizeof(*names));
    if (names == NULL) {
        return ERR_LIMIT;
    }
    uint32_t count = 0;
    for (const struct plan_table *at = plan->tables; at != NULL; at = at->next) {
        names[count] = at->name;
        count++;
    }
    plan->temporary_tables = names;
    return ERR_OK;
}

enum err plan_make(struct plan *plan,
                   const struct allocator *allocator,
                   const struct plan_config *config,
                   const struct staged_file *files,
                   uint32_t file_count,
                   struct byte_writer *message)
{
    CHECK(file_count > 0);
    *plan = (struct plan){.allocator = allocator};
    struct planning planning = {.plan = plan, .config = config, .message = message};
    enum err err = sort_files(plan, files, file_count);
    err = err == ERR_OK ? check_files(plan, message) : err;
    err = err == ERR_OK ? plan_tables(&planning) : err;
    err = err == ERR_OK ? order_jobs(plan) : err;
    err = err == ERR_OK ? order_tables(plan) : err;
    if (err != ERR_OK) {
        plan_release(plan);
    }
    return err;
}
