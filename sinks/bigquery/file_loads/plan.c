#include "sinks/bigquery/file_loads/plan.h"

#include "sinks/base/sha256.h"

#define BLOCK_SIZE      ((size_t)4096)
#define JOB_HASH_SIZE   16u /* hex digits */
#define TABLE_HASH_SIZE 12u
#define NAME_MAX        512u
#define LAST_STAGE      UINT32_MAX /* of the queries, until all levels are known */
#define TABLE_STAGE     (UINT32_MAX - 1u)

/* Memory of a plan, given back together. */
struct plan_block {
    struct plan_block *next;
    size_t size; /* of all of it */
    size_t used;
};

/* A temporary table's name, in the order of filling. */
struct plan_table {
    struct plan_table *next;
    struct bytes name;
};

/* What is planned at the moment: the files of one table. */
struct planning {
    struct plan *plan;
    const struct plan_config *config;
    struct byte_writer *message;
    struct plan_table *last_table;
    struct bytes table;
    struct bytes dataset; /* of its temporary tables */
    uint32_t first;       /* of the sorted files */
    uint32_t end;
    uint32_t formats;
    uint32_t loads; /* of the commit so far */
    uint32_t copies;
};

const char *staging_format_name(enum bigquery_source_format format)
{
    switch (format) {
    case BIGQUERY_AVRO:
        return "AVRO";
    case BIGQUERY_PARQUET:
        return "PARQUET";
    case BIGQUERY_FORMAT_NONE:
    case BIGQUERY_SOURCE_FORMAT_END:
        break;
    }
    UNREACHABLE();
}

/* --- memory ------------------------------------------------------------------------------------ */

static void *take(struct plan *plan, size_t size)
{
    const size_t rounded = (size + 15u) & ~(size_t)15u;
    const size_t head = (sizeof(struct plan_block) + 15u) & ~(size_t)15u;
    struct plan_block *block = plan->blocks;
    if (block == NULL || rounded > block->size - block->used) {
        const size_t wanted = head + rounded > BLOCK_SIZE ? head + rounded : BLOCK_SIZE;
        block = allocator_take(plan->allocator, wanted);
        if (block == NULL) {
            return NULL;
        }
        *block = (struct plan_block){.next = plan->blocks, .size = wanted, .used = head};
        plan->blocks = block;
    }
    uint8_t *memory = (uint8_t *)block + block->used;
    block->used += rounded;
    return memory;
}

void plan_release(struct plan *plan)
{
    struct plan_block *block = plan->blocks;
    while (block != NULL) {
        struct plan_block *next = block->next;
        allocator_give(plan->allocator, block, block->size);
        block = next;
    }
    *plan = (struct plan){.allocator = plan->allocator};
}

static enum err keep(struct plan *plan, const struct byte_writer *name, struct bytes *kept)
{
    CHECK(!name->overflowed);
    uint8_t *data = take(plan, name->size + 1);
    if (data == NULL) {
        return ERR_LIMIT;
    }
    memcpy(data, name->data, name->size);
    *kept = (struct bytes){data, name->size};
    return ERR_OK;
}

/* --- names ------------------------------------------------------------------------------------- */

/* The first digits of the hash of a table and of what goes into it, line by line. */
static enum err write_hash(struct plan *plan,
                           struct bytes table,
                           const struct bytes *sources,
                           uint32_t source_count,
                           size_t digits,
                           struct byte_writer *name)
{
    size_t size = table.size;
    for (uint32_t i = 0; i < source_count; i++) {
        size += 1 + sources[i].size;
    }
    uint8_t *text = allocator_take(plan->allocator, size);
    if (text == NULL) {
        return ERR_LIMIT;
    }
    struct byte_writer writer;
    byte_writer_init(&writer, text, size);
    byte_writer_bytes(&writer, table);
    for (uint32_t i = 0; i < source_count; i++) {
        byte_writer_text(&writer, "\n");
        byte_writer_bytes(&writer, sources[i]);
    }
    uint8_t digest[SHA256_SIZE];
    char hex[2 * SHA256_SIZE];
    sha256(byte_writer_view(&writer), digest);
    bytes_to_hex((struct bytes){digest, sizeof(digest)}, hex);
    byte_writer_bytes(name, (struct bytes){(const uint8_t *)hex, digits});
    allocator_give(plan->allocator, text, size);
    return ERR_OK;
}

static const struct staged_file *first_file(const struct planning *planning)
{
    return planning->plan->files[planning->first];
}

static const char *prefix_of(enum plan_kind kind)
{
    switch (kind) {
    case PLAN_LOAD:
        return "flink-bq-load-";
    case PLAN_COPY:
        return "flink-bq-copy-";
    case PLAN_QUERY:
        return "flink-bq-query-";
    case PLAN_NONE:
        break;
    }
    UNREACHABLE();
}

/* The job's identity: of the job that staged its files, never of the one that runs now (ADR-0018). */
static enum err name_job(struct planning *planning, struct plan_job *job, struct bytes suffix)
{
    uint8_t text[NAME_MAX];
    struct byte_writer name;
    const struct staged_file *file = first_file(planning);
    byte_writer_init(&name, text, sizeof(text));
    byte_writer_text(&name, prefix_of((enum plan_kind)job->kind));
    byte_writer_bytes(&name, file->job);
    if (file->checkpoint != 0) {
        byte_writer_text(&name, "-c");
        byte_writer_decimal(&name, file->checkpoint);
    }
    byte_writer_text(&name, "-");
    const enum err err = write_hash(
        planning->plan, job->table, job->sources, job->source_count, JOB_HASH_SIZE, &name);
    if (err != ERR_OK) {
        return err;
    }
    if (suffix.size > 0) {
        byte_writer_text(&name, "-");
        byte_writer_bytes(&name, suffix);
    }
    return keep(planning->plan, &name, &job->id);
}

static enum err note_table(struct planning *planning, struct bytes name)
{
    struct plan_table *table = take(planning->plan, sizeof(*table));
    if (table == NULL) {
        return ERR_LIMIT;
    }
    *table = (struct plan_table){.name = name};
    if (planning->last_table == NULL) {
        planning->plan->tables = table;
    } else {
        planning->last_table->next = table;
    }
    planning->last_table = table;
    planning->plan->temporary_table_count++;
    return ERR_OK;
}

/* A temporary table of the commit: parts tell it from the others of its table. */
static enum err name_table(struct planning *planning,
                           const struct bytes *parts,
                           uint32_t part_count,
                           struct bytes suffix,
                           struct bytes *kept)
{
    uint8_t text[2 * NAME_MAX + NAME_MAX];
    struct byte_writer name;
    const struct staged_file *file = first_file(planning);
    byte_writer_init(&name, text, sizeof(text));
    byte_writer_bytes(&name, planning->dataset);
    byte_writer_text(&name, "/tables/tmp_");
    byte_writer_bytes(&name, file->job);
    byte_writer_text(&name, "_");
    enum err err =
        write_hash(planning->plan, planning->table, parts, part_count, TABLE_HASH_SIZE, &name);
    if (err != ERR_OK) {
        return err;
    }
    if (file->checkpoint != 0) {
        byte_writer_text(&name, "_c");
        byte_writer_decimal(&name, file->checkpoint);
    }
    byte_writer_text(&name, "_");
    byte_writer_bytes(&name, suffix);
    err = keep(planning->plan, &name, kept);
    return err == ERR_OK ? note_table(planning, *kept) : err;
}

/* A letter and a number, and perhaps another pair: "p3", "l1g0". */
struct suffix {
    uint8_t text[48];
    struct byte_writer writer;
};

static struct bytes write_suffix(struct suffix *suffix, const char *letter, uint32_t number)
{
    byte_writer_text(&suffix->writer, letter);
    byte_writer_decimal(&suffix->writer, number);
    CHECK(!suffix->writer.overflowed);
    return byte_writer_view(&suffix->writer);
}

static struct bytes begin_suffix(struct suffix *suffix, const char *letter, uint32_t number)
{
    byte_writer_init(&suffix->writer, suffix->text, sizeof(suffix->text));
    return write_suffix(suffix, letter, number);
}

/* --- jobs -------------------------------------------------------------------------------------- */

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
    struct plan_job *job = err == ERR_OK ? take(plan, sizeof(*job)) : NULL;
    if (job == NULL) {
        return err == ERR_OK ? ERR_LIMIT : err;
    }
    *job = made;
    job->table = planning->table;
    err = name_job(planning, job, suffix);
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

/* --- loads ------------------------------------------------------------------------------------- */

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

static uint32_t count_loads(const struct planning *planning)
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
    struct bytes *sources = take(planning->plan, (end - begin) * sizeof(*sources));
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

/* One load for each format, into the table itself. */
static enum err plan_direct(struct planning *planning)
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
    const bool tells = planning->formats > 1 || first_file(planning)->checkpoint != 0;
    struct suffix suffix;
    return name_table(planning, &part, tells ? 1 : 0, begin_suffix(&suffix, "p", index), name);
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
        err = err == ERR_OK ? add_job(planning, job, begin_suffix(&suffix, "p", index)) : err;
        leaves[count] = job.target;
        count++;
        index++;
        at = end;
    }
    return err;
}

/* --- copies ------------------------------------------------------------------------------------ */

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
    (void)begin_suffix(&suffix, "l", level);
    struct bytes text = write_suffix(&suffix, "_g", group);
    const enum err err = name_table(planning, sources, count, text, &job.target);
    (void)begin_suffix(&suffix, "l", level);
    text = write_suffix(&suffix, "g", group);
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
        struct bytes *targets = take(planning->plan, groups * sizeof(*targets));
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
                            .stage = TABLE_STAGE,
                            .target = planning->table,
                            .sources = tables,
                            .source_count = count};
    if (!by_query) {
        return add_job(planning, copy, (struct bytes){0});
    }
    struct bytes *gathered = take(planning->plan, sizeof(*gathered));
    enum err err =
        gathered == NULL
            ? ERR_LIMIT
            : name_table(planning, tables, count, BYTES_LITERAL("aggregate"), &copy.target);
    err = err == ERR_OK ? add_job(planning, copy, (struct bytes){0}) : err;
    if (err != ERR_OK) {
        return err;
    }
    *gathered = copy.target;
    const struct plan_job query = {.kind = PLAN_QUERY,
                                   .write = BIGQUERY_WRITE_TRUNCATE_DATA,
                                   .into_table = true,
                                   .stage = LAST_STAGE,
                                   .target = planning->table,
                                   .sources = gathered,
                                   .source_count = 1};
    return add_job(planning, query, (struct bytes){0});
}

static enum err plan_through_tables(struct planning *planning, uint32_t leaves)
{
    struct bytes *tables = take(planning->plan, leaves * sizeof(*tables));
    uint32_t count = 0;
    enum err err = tables == NULL ? ERR_LIMIT : plan_leaves(planning, tables);
    err = err == ERR_OK ? plan_levels(planning, &tables, &count, leaves) : err;
    return err == ERR_OK ? plan_last(planning, tables, count) : err;
}

/* --- the whole --------------------------------------------------------------------------------- */

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
    const uint32_t loads = count_loads(planning);
    const bool is_alone = planning->config->write != BIGQUERY_WRITE_APPEND;
    if (loads > planning->formats || (is_alone && planning->formats > 1)) {
        return plan_through_tables(planning, loads);
    }
    return plan_direct(planning);
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
    const struct staged_file **from = take(plan, count * sizeof(const struct staged_file *));
    const struct staged_file **to = take(plan, count * sizeof(const struct staged_file *));
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
    plan->jobs = take(plan, plan->job_count * sizeof(const struct plan_job *));
    if (plan->jobs == NULL) {
        return ERR_LIMIT;
    }
    uint32_t count = 0;
    for (uint32_t stage = 0; stage < plan->level_count + 3; stage++) {
        for (struct plan_job *job = plan->first; job != NULL; job = job->next) {
            if (job->stage == TABLE_STAGE) {
                job->stage = plan->level_count + 1;
            } else if (job->stage == LAST_STAGE) {
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
    struct bytes *names = take(plan, (plan->temporary_table_count + 1) * sizeof(*names));
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
