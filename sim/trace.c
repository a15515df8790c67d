#include "sim/trace.h"

#include "sinks/base/check.h"

#include <string.h>

#define RING_COUNT_DEFAULT       256u
#define CHECKPOINT_SHIFT_DEFAULT 10u
#define CHECKPOINT_SHIFT_MAX     40u

struct kind_text {
    const char *name;
    const char *field_a;
    const char *field_b;
};

static const struct kind_text kind_texts[TRACE_KIND_COUNT] = {
    [TRACE_NONE] = {"none", "a", "b"},
#define X(constant, name, field_a, field_b) [constant] = {name, field_a, field_b},
#include "sim/trace_events.def"
#undef X
};

static bool trace_is_valid(const struct trace *trace)
{
    return (trace->capacity & (trace->capacity - 1)) == 0 && trace->count <= trace->pause &&
           trace->recorded <= trace->count && trace->checkpoint_count < TRACE_CHECKPOINT_MAX &&
           trace->checkpoint_count <= trace->count >> trace->checkpoint_shift;
}

/* Set pause to the next count at which a digest is to be kept, or kept records need more room. */
static void set_pause(struct trace *trace)
{
    trace->pause = (uint64_t)(trace->checkpoint_count + 1) << trace->checkpoint_shift;
    const uint64_t room = trace->capacity - trace->recorded;
    if (trace->options.keep_all && trace->count + room < trace->pause) {
        trace->pause = trace->count + room;
    }
}

void trace_init(struct trace *trace, struct arena *arena, const struct trace_options *options)
{
    const uint32_t ring_count = options->ring_count > 0 ? options->ring_count : RING_COUNT_DEFAULT;
    CHECK((ring_count & (ring_count - 1)) == 0);
    CHECK(options->checkpoint_shift <= CHECKPOINT_SHIFT_MAX);
    *trace = (struct trace){
        .records = arena_take(arena, ring_count * sizeof(*trace->records)),
        .capacity = ring_count,
        .arena = arena,
        .options = *options,
        .checkpoint_shift =
            options->checkpoint_shift > 0 ? options->checkpoint_shift : CHECKPOINT_SHIFT_DEFAULT,
    };
    set_pause(trace);
    CHECK(trace_is_valid(trace));
}

/* Keep the digest; when there is no more room, keep every second one and from now on half as many. */
static void keep_checkpoint(struct trace *trace)
{
    trace->checkpoints[trace->checkpoint_count++] = trace->digest;
    if (trace->checkpoint_count < TRACE_CHECKPOINT_MAX) {
        return;
    }
    trace->checkpoint_count /= 2;
    trace->checkpoint_shift++;
    for (uint32_t i = 0; i < trace->checkpoint_count; i++) {
        trace->checkpoints[i] = trace->checkpoints[2 * i + 1];
    }
}

static void grow(struct trace *trace)
{
    const size_t size = (size_t)trace->capacity * sizeof(*trace->records);
    struct trace_record *records = arena_take(trace->arena, 2 * size);
    memcpy(records, trace->records, size);
    trace->records = records;
    trace->capacity *= 2;
}

void trace_catch_up(struct trace *trace)
{
    CHECK(trace->count == trace->pause);
    if (trace->count == (uint64_t)(trace->checkpoint_count + 1) << trace->checkpoint_shift) {
        keep_checkpoint(trace);
    }
    if (trace->options.keep_all && trace->recorded == trace->capacity) {
        grow(trace);
    }
    set_pause(trace);
    CHECK(trace->pause > trace->count);
    CHECK(trace_is_valid(trace));
}

uint64_t trace_first(const struct trace *trace)
{
    return trace->recorded > trace->capacity ? trace->recorded - trace->capacity : 0;
}

const struct trace_record *trace_record_at(const struct trace *trace, uint64_t number)
{
    CHECK(number >= trace_first(trace));
    CHECK(number < trace->recorded);
    return &trace->records[number & (trace->capacity - 1)];
}

static const struct kind_text *text_of(uint32_t kind)
{
    CHECK(kind < TRACE_KIND_COUNT);
    CHECK(kind_texts[kind].name != NULL);
    return &kind_texts[kind];
}

const char *trace_kind_name(enum trace_kind kind)
{
    return text_of((uint32_t)kind)->name;
}

static void write_seconds(struct byte_writer *writer, nanos time)
{
    byte_writer_decimal(writer, time / NANOS_PER_S);
    byte_writer_u8(writer, '.');
    for (nanos unit = NANOS_PER_S / 10; unit > 0; unit /= 10) {
        byte_writer_u8(writer, (uint8_t)('0' + time / unit % 10));
    }
}

static void write_field(struct byte_writer *writer, const char *name, uint64_t value)
{
    byte_writer_u8(writer, ' ');
    byte_writer_text(writer, name);
    byte_writer_u8(writer, '=');
    byte_writer_decimal(writer, value);
}

void trace_write(const struct trace_record *record, uint64_t number, struct byte_writer *writer)
{
    const struct kind_text *text = text_of(record->kind);
    byte_writer_u8(writer, '#');
    byte_writer_decimal(writer, number);
    byte_writer_u8(writer, ' ');
    write_seconds(writer, record->time);
    byte_writer_text(writer, " node ");
    byte_writer_decimal(writer, record->node);
    byte_writer_u8(writer, ' ');
    byte_writer_text(writer, text->name);
    write_field(writer, text->field_a, record->a);
    write_field(writer, text->field_b, record->b);
}
