#include "sinks/base/sha256.h"
#include "sinks/bigquery/file_loads/planning.h"

#define BLOCK_SIZE      ((size_t)4096)
#define JOB_HASH_SIZE   16u /* hex digits */
#define TABLE_HASH_SIZE 12u
#define NAME_MAX        512u

/* --- memory --------------------------------------------------------------------------------- */

/* Memory of a plan, given back together. */
struct plan_block {
    struct plan_block *next;
    size_t size; /* of all of it */
    size_t used;
};

void *planning_take(struct plan *plan, size_t size)
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
    uint8_t *data = planning_take(plan, name->size + 1);
    if (data == NULL) {
        return ERR_LIMIT;
    }
    memcpy(data, name->data, name->size);
    *kept = (struct bytes){data, name->size};
    return ERR_OK;
}

/* --- names ---------------------------------------------------------------------------------- */

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

const struct staged_file *planning_first_file(const struct planning *planning)
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

enum err planning_name_job(struct planning *planning, struct plan_job *job, struct bytes suffix)
{
    uint8_t text[NAME_MAX];
    struct byte_writer name;
    const struct staged_file *file = planning_first_file(planning);
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
    struct plan_table *table = planning_take(planning->plan, sizeof(*table));
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

enum err planning_name_table(struct planning *planning,
                             const struct bytes *parts,
                             uint32_t part_count,
                             struct bytes suffix,
                             struct bytes *kept)
{
    uint8_t text[2 * NAME_MAX + NAME_MAX];
    struct byte_writer name;
    const struct staged_file *file = planning_first_file(planning);
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

struct bytes suffix_write(struct suffix *suffix, const char *letter, uint32_t number)
{
    byte_writer_text(&suffix->writer, letter);
    byte_writer_decimal(&suffix->writer, number);
    CHECK(!suffix->writer.overflowed);
    return byte_writer_view(&suffix->writer);
}

struct bytes suffix_begin(struct suffix *suffix, const char *letter, uint32_t number)
{
    byte_writer_init(&suffix->writer, suffix->text, sizeof(suffix->text));
    return suffix_write(suffix, letter, number);
}
