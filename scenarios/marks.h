/* Behaviour marks as people see them: one numbering for sim's own marks, those of a scenario's
 * models, the phases that its sinks tap, and the pairs of a fault and a phase in which it fired. */
#ifndef SCENARIOS_MARKS_H
#define SCENARIOS_MARKS_H

#include "sim/run.h"

/* Places: marks by id, then 64 phases of each sink, then the pairs: 16 of each kind of fault, eight
 * with phases of the sink, and eight with phases of the engine. */
#define MARKS_PHASES_AT MARK_MAX
#define MARKS_PAIRS_AT  (MARKS_PHASES_AT + 64u * MARK_SINKS)
#define MARKS_COUNT     1024u
#define MARKS_NAME_SIZE 96u

struct marks_set {
    uint64_t words[MARKS_COUNT / 64];
};

static inline bool marks_set_has(const struct marks_set *set, uint32_t place)
{
    return (set->words[place / 64] >> place % 64 & 1) != 0;
}

/* What a run reached. */
void marks_of_run(const struct marks *marks, struct marks_set *reached);

/* What runs of a scenario could reach: its catalogue. Marks that only a unit test reaches are not in
 * it. kinds: of the faults that it offers, a bit each. */
void marks_of_scenario(const struct run_config *config,
                       uint32_t kinds,
                       struct marks_set *catalogue);

static inline bool marks_is_pair(uint32_t place)
{
    return place >= MARKS_PAIRS_AT;
}

/* Whether the kind of fault of a pair can fire in its phase at all. */
bool marks_pair_is_possible(uint32_t place);

/* "link.paused", "cloudtasks-exactly-once.queue_read", "crash@sink.committing",
 * "crash@engine.restoring". The place is one of the scenario's catalogue; a pair needs no
 * config. */
void marks_name(const struct run_config *config_or_null,
                uint32_t place,
                char name[MARKS_NAME_SIZE]);

/* Find the place of a name in a catalogue. ERR_OK or ERR_NOT_FOUND. */
MUST_USE enum err marks_find(const struct run_config *config,
                             const struct marks_set *catalogue,
                             const char *name,
                             uint32_t *place);

#endif
