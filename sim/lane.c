#include "sim/lane.h"

#include "sinks/base/check.h"

#include <string.h>

#define LANE_DIGITS_MAX 4

static const char *const kind_names[] = {
    [LANE_NONE] = "none",
    [LANE_RUN] = "run",
    [LANE_COORDINATOR] = "coordinator",
    [LANE_SOURCE] = "source",
    [LANE_WRITER] = "writer",
    [LANE_COMMITTER] = "committer",
    [LANE_OPERATOR] = "operator",
    [LANE_POLICY] = "policy",
    [LANE_TASK] = "task",
    [LANE_SERVICE] = "service",
    [LANE_READER] = "reader",
    [LANE_ACTOR] = "actor",
};

_Static_assert(ARRAY_COUNT(kind_names) == LANE_KIND_COUNT, "every lane kind has a name");
_Static_assert(LANE_KIND_COUNT <= 1 << (16 - LANE_INDEX_BITS), "a lane kind fits 5 bits");
_Static_assert(LANE_INDEX_MAX == (1 << LANE_INDEX_BITS) - 1, "a lane index fits 11 bits");

void lane_name(lane who, char name[LANE_NAME_SIZE])
{
    const char *kind_name = kind_names[lane_kind_of(who)];
    const size_t kind_size = strlen(kind_name);
    char digits[LANE_DIGITS_MAX];
    size_t digit_count = 0;
    uint32_t left = lane_index_of(who);

    do {
        digits[digit_count] = (char)('0' + left % 10);
        digit_count++;
        left /= 10;
    } while (left != 0);

    CHECK(kind_size + digit_count < LANE_NAME_SIZE);
    memcpy(name, kind_name, kind_size);
    for (size_t i = 0; i < digit_count; i++) {
        name[kind_size + i] = digits[digit_count - 1 - i];
    }
    name[kind_size + digit_count] = '\0';
}

/* Read 1 to 4 decimal digits without a leading zero, so that each lane has one spelling. */
static bool parse_index(struct bytes text, uint32_t *index)
{
    uint32_t value = 0;

    if (text.size == 0 || text.size > LANE_DIGITS_MAX) {
        return false;
    }
    if (text.data[0] == '0' && text.size > 1) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
        value = value * 10 + (uint32_t)(text.data[i] - '0');
    }
    *index = value;
    return value <= LANE_INDEX_MAX;
}

enum err lane_parse(struct bytes text, lane *who)
{
    for (uint32_t kind = LANE_NONE + 1; kind < LANE_KIND_COUNT; kind++) {
        const size_t size = strlen(kind_names[kind]);
        uint32_t index = 0;

        if (text.size <= size || memcmp(text.data, kind_names[kind], size) != 0) {
            continue;
        }
        if (parse_index((struct bytes){text.data + size, text.size - size}, &index)) {
            *who = lane_make((enum lane_kind)kind, index);
            return ERR_OK;
        }
    }
    return ERR_INVALID;
}
