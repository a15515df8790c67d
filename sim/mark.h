/* Behaviour marks: what a run came past. A mark is a bit, so reaching one costs one or; which marks
 * there are stands in a static catalogue, a marks.def beside each module. Marks change nothing: they
 * are part of no digest, and no draw depends on them. */
#ifndef SIM_MARK_H
#define SIM_MARK_H

#include "sim/choice.h"

#include <stdbool.h>
#include <stdint.h>

/* Bits of sim's own marks, then of one model after the other: a model's first is a multiple of
 * MARK_MODEL_ROOM, and its own to choose. */
#define MARK_SIM_ROOM   128u
#define MARK_MODEL_ROOM 64u
#define MARK_MAX        512u
#define MARK_SINKS      2u /* a job's first sink, and the next one */

enum mark_id {
    MARK_NONE = 0,
#define MARK(id, name, sentence, unit_test) MARK_##id,
#include "sim/engine/marks.def"
#include "sim/link_marks.def"
#include "sim/oracle_marks.def"
#undef MARK
    MARK_SIM_COUNT,
};

/* A line of the catalogue. */
struct mark {
    uint16_t id;
    const char *name;
    const char *sentence;
    const char *unit_test_or_null; /* that reaches it, where no scenario can */
};

extern const struct mark sim_marks[];
extern const uint32_t sim_mark_count;

/* The phases of sim/moments.def. */
enum sink_phase {
#define SINK_PHASE(id, name, sentence) SINK_PHASE_##id,
#include "sim/moments.def"
#undef SINK_PHASE
    SINK_PHASE_COUNT,
};

enum engine_phase {
#define ENGINE_PHASE(id, name, sentence) ENGINE_PHASE_##id,
#include "sim/moments.def"
#undef ENGINE_PHASE
    ENGINE_PHASE_COUNT,
};

/* The line of one of sim's own marks. */
const struct mark *sim_mark(uint32_t id);

const char *sink_phase_name(uint32_t phase);
const char *engine_phase_name(uint32_t phase);

/* The bit of a moment: both phases at once. */
#define MOMENT_PHASES 8u
static inline uint32_t moment_bit(enum sink_phase sink, enum engine_phase engine)
{
    return (uint32_t)sink * MOMENT_PHASES + (uint32_t)engine;
}

/* What one run reached. */
struct marks {
    uint64_t bits[MARK_MAX / 64];
    uint64_t phases[MARK_SINKS];        /* that each sink tapped, by its own index */
    uint64_t moments[FAULT_KIND_COUNT]; /* per kind: when it fired, by moment_bit */
};

static inline void marks_set_if(struct marks *marks, uint32_t id, bool reached)
{
    marks->bits[id / 64] |= (uint64_t)reached << id % 64;
}

static inline bool marks_has(const struct marks *marks, uint32_t id)
{
    return (marks->bits[id / 64] >> id % 64 & 1) != 0;
}

#endif
