#include "sim/mark.h"

#include "sinks/base/check.h"

#define MARK(id, name, sentence, unit_test) {MARK_##id, name, sentence, unit_test},
const struct mark sim_marks[] = {
#include "sim/engine/marks.def"
#include "sim/link_marks.def"
#include "sim/oracle_marks.def"
};
#undef MARK

const uint32_t sim_mark_count = ARRAY_COUNT(sim_marks);

_Static_assert(MARK_SIM_COUNT <= MARK_SIM_ROOM, "sim's marks have room");
_Static_assert(SINK_PHASE_COUNT <= MOMENT_PHASES, "a moment is a bit of a word");
_Static_assert(ENGINE_PHASE_COUNT <= MOMENT_PHASES, "a moment is a bit of a word");

const struct mark *sim_mark(uint32_t id)
{
    CHECK(id != MARK_NONE);
    CHECK(id < MARK_SIM_COUNT);
    CHECK(sim_marks[id - 1].id == id);
    return &sim_marks[id - 1];
}

const char *sink_phase_name(uint32_t phase)
{
    static const char *const names[] = {
#define SINK_PHASE(id, name, sentence) [SINK_PHASE_##id] = (name),
#include "sim/moments.def"
#undef SINK_PHASE
    };
    CHECK(phase < SINK_PHASE_COUNT);
    return names[phase];
}

const char *engine_phase_name(uint32_t phase)
{
    static const char *const names[] = {
#define ENGINE_PHASE(id, name, sentence) [ENGINE_PHASE_##id] = (name),
#include "sim/moments.def"
#undef ENGINE_PHASE
    };
    CHECK(phase < ENGINE_PHASE_COUNT);
    return names[phase];
}
