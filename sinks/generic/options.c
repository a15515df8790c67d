#include "sinks/generic/options.h"

#include "sinks/base/check.h"

static void write_number(struct byte_writer *message, uint64_t number, uint8_t type)
{
    byte_writer_decimal(message, number);
    byte_writer_text(message, type == SINK_OPTION_DURATION ? " ns" : "");
}

static enum err reject(const struct sink_option *option, uint64_t seen, struct byte_writer *message)
{
    const bool is_text = option->type == SINK_OPTION_TEXT;
    byte_writer_text(message, option->key);
    byte_writer_text(message, is_text ? ": a text of " : ": ");
    write_number(message, seen, option->type);
    byte_writer_text(message, is_text ? " bytes is not of " : " is not within ");
    write_number(message, option->min, option->type);
    byte_writer_text(message, " to ");
    write_number(message, option->max, option->type);
    byte_writer_text(message, is_text ? " bytes of UTF-8" : "");
    return ERR_INVALID;
}

enum err generic_options_check(const struct generic_options *options, struct byte_writer *message)
{
    for (uint32_t i = 0; i < options->count; i++) {
        const struct sink_option *option = &options->table[i];
        const struct sink_option_value *value = &options->values[i];
        const bool is_text = option->type == SINK_OPTION_TEXT;
        const uint64_t seen = is_text ? value->text.size : value->number;
        if (seen < option->min || seen > option->max || (is_text && !bytes_is_utf8(value->text))) {
            return reject(option, seen, message);
        }
    }
    return ERR_OK;
}

enum err generic_schedule_check(const struct generic_options *options,
                                uint32_t first,
                                struct byte_writer *message)
{
    CHECK(first + 2 < options->count);
    const uint64_t initial = options->values[first].number;
    const uint64_t max = options->values[first + 1].number;
    if (initial <= max) {
        return ERR_OK;
    }
    byte_writer_text(message, options->table[first + 1].key);
    byte_writer_text(message, ": ");
    write_number(message, max, SINK_OPTION_DURATION);
    byte_writer_text(message, " is less than ");
    byte_writer_text(message, options->table[first].key);
    byte_writer_text(message, " (");
    write_number(message, initial, SINK_OPTION_DURATION);
    byte_writer_text(message, "); it must be at least that");
    return ERR_INVALID;
}

struct retry_schedule generic_schedule_at(const struct generic_options *options, uint32_t first)
{
    CHECK(first + 2 < options->count);
    return (struct retry_schedule){.initial = options->values[first].number,
                                   .max = options->values[first + 1].number,
                                   .attempts_max = narrow_u32(options->values[first + 2].number)};
}
