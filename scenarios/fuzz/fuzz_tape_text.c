/* Any bytes are a tape or an error with a line; a tape that was read comes back from its own text. */
#include "scenarios/fuzz/target.h"
#include "scenarios/wiring/catalogue.h"
#include "sim/tape.h"

#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 256
#define TEXT_SIZE   65536

static void check_equal(const struct tape *a, const struct tape *b)
{
    CHECK(a->count == b->count);
    CHECK(a->identity == b->identity);
    for (uint32_t i = 0; i < a->count; i++) {
        CHECK(a->entries[i].key == b->entries[i].key);
        CHECK(a->entries[i].lane == b->entries[i].lane);
        CHECK(a->entries[i].ordinal == b->entries[i].ordinal);
        CHECK(a->entries[i].value == b->entries[i].value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tape_entry entries[ENTRIES_MAX];
    struct tape_entry again_entries[ENTRIES_MAX];
    struct tape tape = {.entries = entries, .capacity = ENTRIES_MAX};
    struct tape again = {.entries = again_entries, .capacity = ENTRIES_MAX};
    struct tape_header header = {0};
    struct tape_header again_header = {0};
    struct tape_fault fault = {0};
    const struct choice_registry *registry = catalogue_registry();
    if (tape_read_text((struct bytes){data, size}, registry, &tape, &header, &fault) != ERR_OK) {
        CHECK(fault.message[0] != '\0');
        CHECK(strchr(fault.message, '\n') == NULL);
        return 0;
    }
    uint8_t *text = malloc(TEXT_SIZE);
    CHECK(text != NULL);
    struct byte_writer writer;
    byte_writer_init(&writer, text, TEXT_SIZE);
    tape_write_text(&tape, &header, registry, &writer);
    CHECK(!writer.overflowed);
    CHECK(tape_read_text(byte_writer_view(&writer), registry, &again, &again_header, &fault) ==
          ERR_OK);
    check_equal(&tape, &again);
    CHECK(strcmp(header.profile, again_header.profile) == 0);
    free(text);
    return 0;
}
