/* The jobs of one table: loads into it, or loads into temporary tables and what gathers these. */
#include "sinks/base/check.h"
#include "sinks/bigquery/file_loads/planning.h"

static enum err say_too_many(struct planning *planning, uint32_t max, const char *what)
{
    byte_writer_text(planning->message, "a commit needs more than ");
    byte_writer_decimal(planning->message, max);
    byte_writer_text(planning->message, what);
    return ERR_INVALID;
}

static enum err count_job(struct planning *planning, enum plan_kind kind)
{
    if (kind == PLAN_LOAD && planning->loads++ == planning->config->loads_max) {
        return say_too_many(planning, planning->config->loads_max, " loads");
    }
    if (kind == PLAN_COPY && planning->copies++ == planning->config->copies_max) {
        return say_too_many(planning, planning->config->copies_max, " copies");
    }
    return ERR_OK;
}

static enum err add_job(struct planning *planning, struct plan_job made, struct bytes suffix)
{
    struct plan *plan = planning->plan;
    enum err err = count_job(planning, (enum plan_kind)made.kind);
    struct plan_job *job = err == ERR_OK ? planning_take(plan, sizeof(*job)) : NULL;
    if (job == NULL) {
        return err == ERR_OK ? ERR_LIMIT : err;
    }
    *job = made;
    job->table = planning->table;
    err = planning_name_job(planning, job, suffix);
    if (err != ERR_OK) {
        return err;
    }
    if (plan->last == NULL) {
        plan->first = job;
    } else {
        plan->last->next = job;
    }
    plan->last = job;
    plan->job_count++;
    return ERR_OK;
}

/* --- loads ---------------------------------------------------------------------------------- */

/* Behind the last file of the load that begins with a file: of its format, and within a load's limits. */
static uint32_t load_end(const struct planning *planning, uint32_t begin)
{
    const struct staged_file **files = planning->plan->files;
    uint64_t bytes = files[begin]->bytes;
    uint32_t at = begin + 1;
    while (at < planning->end && files[at]->format == files[begin]->format &&
           at - begin < planning->config->load_files_max &&
           bytes <= planning->config->load_bytes_max &&
           files[at]->bytes <= planning->config->load_bytes_max - bytes) {
        bytes += files[at]->bytes;
        at++;
    }
    return at;
}

uint32_t planning_count_loads(const struct planning *planning)
{
    uint32_t count = 0;
    for (uint32_t at = planning->first; at < planning->end; at = load_end(planning, at)) {
        count++;
    }
    return count;
}

static enum err
list_files(struct planning *planning, uint32_t begin, uint32_t end, struct plan_job *job)
{
    struct bytes *sources = planning_take(planning->plan, (end - begin) * sizeof(*sources));
    if (sources == NULL) {
        return ERR_LIMIT;
    }
    for (uint32_t i = begin; i < end; i++) {
        sources[i - begin] = planning->plan->files[i]->uri;
    }
    job->sources = sources;
    job->source_count = end - begin;
    return ERR_OK;
}

enum err planning_direct(struct planning *planning)
{
    enum err err = ERR_OK;
    uint32_t at = planning->first;
    while (at < planning->end && err == ERR_OK) {
        const uint32_t end = load_end(planning, at);
        struct plan_job job = {.kind = PLAN_LOAD,
                               .write = planning->config->write,
                               .format = planning->plan->files[at]->format,
                               .into_table = true,
                               .target = planning->table};
        err = list_files(planning, at, end, &job);
        err = err == ERR_OK ? add_job(planning, job, (struct bytes){0}) : err;
        at = end;
    }
    return err;
}

/* The table that a load fills. Its name tells formats apart where there may be more than one: in a commit,
 * or in those of a streaming job, which may change its format. */
static enum err
name_leaf(struct planning *planning, uint8_t format, uint32_t index, struct bytes *name)
{
    const struct bytes part =
        bytes_of_text(staging_format_name((enum bigquery_source_format)format));
    const bool tells = planning->formats > 1 || planning_first_file(planning)->checkpoint != 0;
    struct suffix suffix;
    return planning_name_table(
        planning, &part, tells ? 1 : 0, suffix_begin(&suffix, "p", index), name);
}

static enum err plan_leaves(struct planning *planning, struct bytes *leaves)
{
    enum err err = ERR_OK;
    uint32_t count = 0;
    uint32_t index = 0; /* within the format */
    uint32_t at = planning->first;
    while (at < planning->end && err == ERR_OK) {
        const uint32_t end = load_end(planning, at);
        const uint8_t format = planning->plan->files[at]->format;
        index = at > planning->first && planning->plan->files[at - 1]->format != format ? 0 : index;
        struct suffix suffix;
        struct plan_job job = {
            .kind = PLAN_LOAD, .write = BIGQUERY_WRITE_TRUNCATE, .format = format, .creates = true};
        err = list_files(planning, at, end, &job);
        err = err == ERR_OK ? name_leaf(planning, format, index, &job.target) : err;
        err = err == ERR_OK ? add_job(planning, job, suffix_begin(&suffix, "p", index)) : err;
        leaves[count] = job.target;
        count++;
        index++;
        at = end;
    }
    return err;
}

/* --- copies --------------------------------------------------------------------------------- */

static enum err plan_group(struct planning *planning,
                           const struct bytes *sources,
                           uint32_t count,
                           uint32_t level,
                           uint32_t group,
                           struct bytes *target)
{
    struct plan_job job = {.kind = PLAN_COPY,
                           .write = BIGQUERY_WRITE_TRUNCATE,
                           .creates = true,
                           .stage = level,
                           .sources = sources,
                           .source_count = count};
    struct suffix suffix;
    (void)suffix_begin(&suffix, "l", level);
    struct bytes text = suffix_write(&suffix, "_g", group);
    const enum err err = planning_name_table(planning, sources, count, text, &job.target);
    (void)suffix_begin(&suffix, "l", level);
    text = suffix_write(&suffix, "g", group);
    *target = job.target;
    return err == ERR_OK ? add_job(planning, job, text) : err;
}

/* One level: groups of tables become one table each. */
static enum err plan_level(struct planning *planning,
                           const struct bytes *sources,
                           uint32_t count,
                           uint32_t level,
                           struct bytes *targets)
{
    const uint32_t size = planning->config->copy_sources_max;
    enum err err = ERR_OK;
    for (uint32_t group = 0; group * size < count && err == ERR_OK; group++) {
        const uint32_t first = group * size;
        const uint32_t members = count - first < size ? count - first : size;
        if (members == 1) {
            targets[group] = sources[first];
        } else {
            err = plan_group(planning, &sources[first], members, level, group, &targets[group]);
        }
    }
    return err;
}

/* As many levels as leave no more tables than one copy takes. */
static enum err
plan_levels(struct planning *planning, struct bytes **tables, uint32_t *count, uint32_t leaves)
{
    const uint32_t size = planning->config->copy_sources_max;
    CHECK(size >= 2);
    *count = leaves;
    for (uint32_t level = 1; *count > size; level++) {
        const uint32_t groups = (*count - 1) / size + 1;
        struct bytes *targets = planning_take(planning->plan, groups * sizeof(*targets));
        const enum err err =
            targets == NULL ? ERR_LIMIT : plan_level(planning, *tables, *count, level, targets);
        if (err != ERR_OK) {
            return err;
        }
        *tables = targets;
        *count = groups;
        planning->plan->level_count =
            level > planning->plan->level_count ? level : planning->plan->level_count;
    }
    return ERR_OK;
}

/* All rows of the table at once. A copy cannot replace rows and keep the schema, so that a query does it
 * (BQJ-10). */
static enum err plan_last(struct planning *planning, const struct bytes *tables, uint32_t count)
{
    const bool by_query = planning->config->write == BIGQUERY_WRITE_TRUNCATE_DATA;
    struct plan_job copy = {.kind = PLAN_COPY,
                            .write = by_query ? (uint8_t)BIGQUERY_WRITE_TRUNCATE
                                              : planning->config->write,
                            .into_table = !by_query,
                            .creates = by_query,
                            .stage = PLANNING_TABLE_STAGE,
                            .target = planning->table,
                            .sources = tables,
                            .source_count = count};
    if (!by_query) {
        return add_job(planning, copy, (struct bytes){0});
    }
    struct bytes *gathered = planning_take(planning->plan, sizeof(*gathered));
    enum err err = gathered == NULL
                       ? ERR_LIMIT
                       : planning_name_table(
                             planning, tables, count, BYTES_LITERAL("aggregate"), &copy.target);
    err = err == ERR_OK ? add_job(planning, copy, (struct bytes){0}) : err;
    if (err != ERR_OK) {
        return err;
    }
    *gathered = copy.target;
    const struct plan_job query = {.kind = PLAN_QUERY,
                                   .write = BIGQUERY_WRITE_TRUNCATE_DATA,
                                   .into_table = true,
                                   .stage = PLANNING_LAST_STAGE,
                                   .target = planning->table,
                                   .sources = gathered,
                                   .source_count = 1};
    return add_job(planning, query, (struct bytes){0});
}

enum err planning_through_tables(struct planning *planning, uint32_t leaves)
{
    struct bytes *tables = planning_take(planning->plan, leaves * sizeof(*tables));
    uint32_t count = 0;
    enum err err = tables == NULL ? ERR_LIMIT : plan_leaves(planning, tables);
    err = err == ERR_OK ? plan_levels(planning, &tables, &count, leaves) : err;
    return err == ERR_OK ? plan_last(planning, tables, count) : err;
}
