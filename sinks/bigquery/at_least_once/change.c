#include "sinks/bigquery/at_least_once/change.h"

#include "sinks/base/check.h"
#include "sinks/bigquery/schema.h"

#define WIRE_SIZED     2u
#define SECTION_DIGITS 16u

static void put_text(struct byte_writer *writer, uint32_t number, struct bytes text)
{
    byte_writer_varint(writer, number << 3 | WIRE_SIZED);
    byte_writer_varint(writer, text.size);
    byte_writer_bytes(writer, text);
}

/* A section in its canonical form: no digit more than needed, and capitals. */
static struct bytes section_of(uint64_t number, uint8_t text[SECTION_DIGITS])
{
    size_t at = SECTION_DIGITS;
    do {
        at--;
        text[at] = (uint8_t) "0123456789ABCDEF"[number & 15];
        number >>= 4;
    } while (number > 0);
    return (struct bytes){text + at, SECTION_DIGITS - at};
}

bool bigquery_change_write(const struct sink_record *record,
                           bool with_sequence,
                           struct byte_writer *writer)
{
    uint8_t text[SECTION_DIGITS];
    switch ((enum sink_change)record->change) {
    case SINK_INSERT:
    case SINK_UPDATE_AFTER:
        put_text(writer, BIGQUERY_FIELD_CHANGE_TYPE, BYTES_LITERAL("UPSERT"));
        break;
    case SINK_DELETE:
        put_text(writer, BIGQUERY_FIELD_CHANGE_TYPE, BYTES_LITERAL("DELETE"));
        break;
    case SINK_UPDATE_BEFORE: /* what a row was says nothing that its key does not */
        return false;
    }
    if (with_sequence) {
        put_text(writer, BIGQUERY_FIELD_CHANGE_SEQUENCE, section_of(record->position, text));
    }
    CHECK(!writer->overflowed);
    return true;
}
