/* A lane names who draws a choice: a node kind and its index, e.g. writer0 (DESIGN section 2). */
#ifndef SIM_LANE_H
#define SIM_LANE_H

#include "sinks/base/bytes.h"
#include "sinks/base/check.h"
#include "sinks/base/err.h"

#include <stdint.h>

enum lane_kind {
    LANE_NONE = 0,
    LANE_RUN,
    LANE_COORDINATOR,
    LANE_SOURCE,
    LANE_WRITER,
    LANE_COMMITTER,
    LANE_OPERATOR,
    LANE_POLICY,
    LANE_TASK,
    LANE_SERVICE,
    LANE_READER,
    LANE_ACTOR,
    LANE_KIND_COUNT,
};

/* High 5 bits kind, low 11 bits index. */
typedef uint16_t lane;

#define LANE_INDEX_BITS 11
#define LANE_INDEX_MAX  2047
#define LANE_NAME_SIZE  24

static inline lane lane_make(enum lane_kind kind, uint32_t index)
{
    CHECK(kind > LANE_NONE);
    CHECK(kind < LANE_KIND_COUNT);
    CHECK(index <= LANE_INDEX_MAX);
    return (lane)(((uint32_t)kind << LANE_INDEX_BITS) | index);
}

static inline enum lane_kind lane_kind_of(lane who)
{
    const uint32_t kind = (uint32_t)who >> LANE_INDEX_BITS;
    CHECK(kind < LANE_KIND_COUNT);
    return (enum lane_kind)kind;
}

static inline uint32_t lane_index_of(lane who)
{
    return (uint32_t)who & LANE_INDEX_MAX;
}

/* Write "writer0" and a NUL to name. */
void lane_name(lane who, char name[LANE_NAME_SIZE]);

/* Read "writer0". ERR_OK or ERR_INVALID. */
MUST_USE enum err lane_parse(struct bytes text, lane *who);

#endif
