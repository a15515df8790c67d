/* Generated records. All is integer arithmetic on a counter-based generator: the same options give
 * the same records on every machine, and one record's content does not depend on another's.
 *
 * Shares (poison, skipped) are spread evenly and exactly: of n records, floor(n * share) have the
 * trait, at an offset from the seed. A record has at most one trait; the first class wins. */
#include "scenarios/workload.h"

#include "scenarios/scenario_reader.h"
#include "sinks/base/digest.h"

#include <string.h>

/* What a number is drawn for. */
enum stream {
    STREAM_FILLER = 1,
    STREAM_KEY,
    STREAM_CHANGE,
    STREAM_TRAIT, /* and the following four */
};

static uint64_t draw(uint64_t seed, enum stream stream, uint64_t index)
{
    return digest_mix(digest_fold(digest_fold(seed, (uint64_t)stream), index));
}

/* Classes of shares; those of traits that are older are numbered from 0 as they stand. */
#define CLASS_REPEATED 4u
#define CLASS_AGAIN    5u
#define CLASS_RESOLVER 6u

/* floor(count * share), exactly. */
static uint64_t share_of(uint64_t count, struct ratio share)
{
    return count * share.numerator / share.denominator;
}

/* Whether the index-th of evenly spread records has a trait with this share. */
static bool has_share(uint64_t seed, uint32_t class, uint32_t index, struct ratio share)
{
    if (share.numerator == 0) { /* as of options that do not speak of it */
        return false;
    }
    const uint64_t offset = draw(seed, STREAM_TRAIT, class) % share.denominator;
    return share_of(index + offset + 1, share) > share_of(index + offset, share);
}

static uint8_t traits_of(const struct workload_options *options, uint32_t index)
{
    const struct {
        uint32_t class;
        struct ratio share;
        uint8_t trait;
    } classes[] = {
        {0, options->poison_serializer, RECORD_POISON_SERIALIZER},
        {1, options->poison_service, RECORD_POISON_SERVICE},
        {2, options->poison_extractor, RECORD_POISON_EXTRACTOR},
        {3, options->skipped, RECORD_SKIPPED},
        {CLASS_AGAIN, options->poison_again, RECORD_POISON_AGAIN},
        {CLASS_RESOLVER, options->poison_resolver, RECORD_POISON_RESOLVER},
    };
    for (uint32_t i = 0; i < ARRAY_COUNT(classes); i++) {
        if (has_share(options->seed, classes[i].class, index, classes[i].share)) {
            return classes[i].trait;
        }
    }
    return 0;
}

/* --- values -------------------------------------------------------------------------------------- */

static void write_hex(uint8_t *text, uint32_t number)
{
    for (uint32_t i = 0; i < 8; i++) {
        text[i] = (uint8_t) "0123456789abcdef"[(number >> (28 - 4 * i)) & 15];
    }
}

#define LETTERS 8u /* of one number */

/* The letters a to z and 0 to 5 of eight five-bit numbers, one in each byte: all at once. */
static uint64_t letters_of(uint64_t bits)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t numbers = bits & (31 * ones);
    const uint64_t are_digits = (numbers + (128 - 26) * ones) >> 7 & ones;
    return numbers + 'a' * ones - are_digits * ('a' + 26 - '0');
}

static void fill_value(const struct workload_options *options, uint32_t index, uint8_t *value)
{
    const uint32_t id = options->equal_payloads ? 0 : index + 1;
    const uint64_t stream = digest_fold(options->seed, STREAM_FILLER);
    value[0] = 'r';
    write_hex(value + 1, id);
    value[9] = ' ';
    for (uint32_t i = WORKLOAD_ID_SIZE; i < options->payload_size; i += LETTERS) {
        uint64_t letters = letters_of(digest_mix(digest_fold(stream, ((uint64_t)id << 32) | i)));
        const uint32_t left = options->payload_size - i;
        for (uint32_t k = 0; k < (left < LETTERS ? left : LETTERS); k++) {
            value[i + k] = (uint8_t)letters;
            letters >>= 8;
        }
    }
}

/* --- keys and changes ---------------------------------------------------------------------------- */

#define KEY_SIZE 9 /* 'k' and 8 hex digits */

/* Which key a record has, from 0; the first one is the hot one. */
static uint32_t key_of(const struct workload_options *options, uint32_t index)
{
    if (options->keys == WORKLOAD_KEYS_UNIQUE) {
        return index;
    }
    const struct ratio skew = options->key_skew;
    const bool hot = draw(options->seed, STREAM_KEY, index) % skew.denominator < skew.numerator;
    return hot ? 0 : index % options->key_count;
}

static uint8_t change_of(const struct workload_options *options, uint32_t index, bool came_before)
{
    static const uint8_t retractions[] = {SINK_UPDATE_BEFORE, SINK_UPDATE_AFTER, SINK_DELETE};
    static const uint8_t upserts[] = {SINK_UPDATE_AFTER, SINK_DELETE};
    if (!came_before || options->changes == WORKLOAD_INSERTS) {
        return SINK_INSERT;
    }
    if (options->changes == WORKLOAD_UPDATES) {
        return SINK_UPDATE_AFTER;
    }
    const uint64_t drawn = draw(options->seed, STREAM_CHANGE, index);
    return options->changes == WORKLOAD_UPSERTS ? upserts[drawn % ARRAY_COUNT(upserts)]
                                                : retractions[drawn % ARRAY_COUNT(retractions)];
}

/* Give record index its key and kind of change. seen: bit per key. */
static void fill_key(const struct workload_options *options,
                     uint32_t index,
                     uint8_t *text,
                     uint8_t *seen,
                     struct sink_record *record)
{
    if (options->keys == WORKLOAD_KEYS_NONE) {
        return;
    }
    const uint32_t key = key_of(options, index);
    text[0] = 'k';
    write_hex(text + 1, key + 1);
    record->key = (struct bytes){text, KEY_SIZE};
    const uint8_t bit = (uint8_t)(1u << (key % 8));
    record->change = change_of(options, index, (seen[key / 8] & bit) != 0);
    seen[key / 8] |= bit;
}

/* --- repeats ------------------------------------------------------------------------------------- */

/* Whether a record is the one before it once more: what its source sent twice, within a split. */
static bool is_repeat(const struct workload_options *options, uint32_t index, uint32_t split_start)
{
    return index > split_start && has_share(options->seed, CLASS_REPEATED, index, options->repeats);
}

/* Its key and value, where they lie. */
static void repeat(const struct source_record *before, struct source_record *record)
{
    record->record.value = before->record.value;
    record->record.key = before->record.key;
    record->record.change = before->record.change;
    record->digest = before->digest;
    record->traits = before->traits;
}

/* --- splits -------------------------------------------------------------------------------------- */

static uint32_t split_start(const struct workload_options *options, uint32_t split)
{
    return (uint32_t)((uint64_t)options->record_count * split / options->split_count);
}

static enum err
make_splits(struct reader *reader, const struct workload_options *options, struct source_log *log)
{
    uint32_t *starts = scenario_take(reader->memory, (options->split_count + 1) * sizeof(uint32_t));
    if (starts == NULL) {
        return reader_out_of_memory(reader);
    }
    for (uint32_t i = 0; i <= options->split_count; i++) {
        starts[i] = split_start(options, i);
    }
    log->split_starts = starts;
    log->split_count = options->split_count;
    return ERR_OK;
}

static enum err check_size(struct reader *reader, const struct workload_options *options)
{
    const uint64_t size = (uint64_t)options->record_count * (options->payload_size + KEY_SIZE);
    if (size <= WORKLOAD_BYTES_MAX) {
        return ERR_OK;
    }
    return reader_reject(reader,
                         ERR_INVALID,
                         "workload.records",
                         "with workload.payload_bytes too many bytes",
                         "%zu MiB over all records",
                         WORKLOAD_BYTES_MAX >> 20);
}

enum err workload_generate(struct reader *reader,
                           const struct workload_options *options,
                           struct source_log *log)
{
    CHECK(options->record_count > 0);
    CHECK(options->split_count > 0 && options->split_count <= WORKLOAD_SPLIT_MAX);
    CHECK(options->payload_size >= WORKLOAD_PAYLOAD_MIN);
    enum err err = check_size(reader, options);
    if (err == ERR_OK) {
        err = make_splits(reader, options, log);
    }
    if (err != ERR_OK) {
        return err;
    }
    const uint32_t count = options->record_count;
    const uint32_t key_count = count > options->key_count ? count : options->key_count;
    struct source_record *records =
        scenario_take(reader->memory, count * sizeof(struct source_record));
    uint8_t *values = scenario_take(reader->memory, (size_t)count * options->payload_size);
    uint8_t *keys = scenario_take(reader->memory, (size_t)count * KEY_SIZE);
    uint8_t *seen = scenario_take(reader->memory, key_count / 8 + 1);
    if (records == NULL || values == NULL || keys == NULL || seen == NULL) {
        return reader_out_of_memory(reader);
    }
    uint32_t split = 0;
    for (uint32_t i = 0; i < count; i++) {
        while (i >= log->split_starts[split + 1]) {
            split++;
        }
        struct source_record *record = &records[i];
        uint8_t *value = values + (size_t)i * options->payload_size;
        record->record.split = split;
        record->record.position = i - log->split_starts[split];
        record->record.event_time = record->record.position * options->interval;
        if (is_repeat(options, i, log->split_starts[split])) {
            repeat(record - 1, record);
            continue;
        }
        fill_value(options, i, value);
        record->record.value = (struct bytes){value, options->payload_size};
        fill_key(options, i, keys + (size_t)i * KEY_SIZE, seen, &record->record);
        record->digest = digest_bytes(record->record.value);
        record->traits = traits_of(options, i);
    }
    log->records = records;
    log->record_count = count;
    log->equal_payloads = options->equal_payloads || options->repeats.numerator > 0;
    return ERR_OK;
}
