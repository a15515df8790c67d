#include "sim/trace.h"

#include "sinks/base/check.h"

#include <string.h>

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

void trace_init(struct trace *trace, struct arena *arena, uint32_t ring_count)
{
    CHECK(ring_count > 0);
    CHECK((ring_count & (ring_count - 1)) == 0);
    *trace = (struct trace){
        .records = arena_take(arena, ring_count * sizeof(*trace->records)),
        .capacity = ring_count,
    };
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
