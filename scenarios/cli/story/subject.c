#include "scenarios/cli/story/subject.h"

#include "scenarios/cli/seeds.h"

#include <string.h>

/* Read 1 to 16 hex digits. */
static bool hex_parse(const char *text, uint64_t *value)
{
    const size_t size = strlen(text);
    uint64_t number = 0;
    if (size == 0 || size > 16) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = strchr(digits, text[i]);
        if (digit == NULL) {
            return false;
        }
        number = number << 4 | (uint64_t)(digit - digits) % 16;
    }
    *value = number;
    return true;
}

static bool value_parse(const char *text, uint64_t *value)
{
    return text[0] == '0' && text[1] == 'x' ? hex_parse(text + 2, value)
                                            : number_parse(text, value) == ERR_OK;
}

enum err subject_filter_parse(const char *text, struct subject_filter *filter)
{
    static const struct {
        const char *name;
        enum subject_filter_kind kind;
    } kinds[] = {
        {"record", SUBJECT_FILTER_RECORD},
        {"identity", SUBJECT_FILTER_IDENTITY},
        {"request", SUBJECT_FILTER_REQUEST},
        {"resource", SUBJECT_FILTER_RESOURCE},
        {"checkpoint", SUBJECT_FILTER_CHECKPOINT},
    };
    struct subject_filter read = {.kind = SUBJECT_FILTER_RECORD};
    lane who = 0;
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        const size_t size = strlen(kinds[i].name);
        if (strncmp(text, kinds[i].name, size) == 0) {
            const char *rest = text + size;
            read.kind = kinds[i].kind;
            rest += *rest == ' ' || *rest == '=' || *rest == ':' ? 1 : 0;
            if (!value_parse(rest, &read.value)) {
                return ERR_INVALID;
            }
            *filter = read;
            return ERR_OK;
        }
    }
    text += strncmp(text, "lane ", 5) == 0 ? 5 : 0;
    if (lane_parse(bytes_of_text(text), &who) == ERR_OK) {
        *filter = (struct subject_filter){.kind = SUBJECT_FILTER_LANE, .value = who};
        return ERR_OK;
    }
    if (!value_parse(text, &read.value)) {
        return ERR_INVALID;
    }
    if (text[0] == '0' && text[1] == 'x') {
        read.kind = SUBJECT_FILTER_IDENTITY;
    }
    *filter = read;
    return ERR_OK;
}

bool subject_filter_takes(const struct subject_filter *filter, const struct journal_entry *entry)
{
    switch (filter->kind) {
    case SUBJECT_FILTER_NONE:
        return true;
    case SUBJECT_FILTER_RECORD:
        return entry->record == filter->value;
    case SUBJECT_FILTER_IDENTITY:
        return entry->identity == filter->value;
    case SUBJECT_FILTER_REQUEST:
        return entry->request == filter->value;
    case SUBJECT_FILTER_RESOURCE:
        return entry->resource == filter->value;
    case SUBJECT_FILTER_CHECKPOINT:
        return entry->checkpoint == filter->value;
    case SUBJECT_FILTER_LANE:
        return entry->lane == filter->value;
    }
    UNREACHABLE();
}
