#include "scenarios/gate/strict.h"

#include "sinks/base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(const char *words, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = strstr(words, word); at != NULL; at = strstr(at + 1, word)) {
        if ((at == words || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0')) {
            return size > 0;
        }
    }
    return false;
}

void strict_keys(struct json_input *input, json_t *object, const char *place, const char *words)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(object)) {
        json_input_complain(input, place, "an object");
        return;
    }
    json_object_foreach(object, key, value)
    {
        if (!is_word(words, key)) {
            json_input_complain(
                input,
                text_format(input->texts, "%s%s%.40s", place, place[0] == '\0' ? "" : ".", key),
                words);
        }
    }
}

static const char *range_text(struct json_input *input, uint64_t least, uint64_t most)
{
    return text_format(input->texts, "a whole number from %" PRIu64 " to %" PRIu64, least, most);
}

uint64_t strict_number(
    struct json_input *input, json_t *object, const char *key, uint64_t least, uint64_t most)
{
    const uint64_t number = json_input_number(input, object, key);
    if (!input->failed && (number < least || number > most)) {
        json_input_complain(input, key, range_text(input, least, most));
    }
    return number;
}

uint32_t strict_numbers(struct json_input *input,
                        json_t *object,
                        const char *key,
                        uint64_t least,
                        uint64_t most,
                        uint64_t *numbers,
                        uint32_t capacity)
{
    json_t *list = json_input_list(input, object, key);
    const size_t count = json_array_size(list);
    if (count == 0 || count > capacity) {
        json_input_complain(
            input, key, text_format(input->texts, "a list of 1 to %" PRIu32, capacity));
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        const json_int_t number = json_integer_value(item);
        if (!json_is_integer(item) || number < 0 || (uint64_t)number < least ||
            (uint64_t)number > most) {
            json_input_complain(input, key, range_text(input, least, most));
        }
        numbers[i] = (uint64_t)number;
    }
    return (uint32_t)count;
}

struct ratio strict_ratio(struct json_input *input, json_t *object, const char *key)
{
    const char *text = json_input_text(input, object, key);
    char *slash = NULL;
    char *end = NULL;
    const unsigned long numerator = strtoul(text, &slash, 10);
    const unsigned long denominator = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
    if (text[0] < '0' || text[0] > '9' || denominator == 0 || *end != '\0' || numerator > 1000000 ||
        denominator > 1000000) {
        json_input_complain(input, key, "\"n/d\", two whole numbers up to 1000000, d not 0");
        return (struct ratio){0, 1};
    }
    return (struct ratio){(uint32_t)numerator, (uint32_t)denominator};
}
