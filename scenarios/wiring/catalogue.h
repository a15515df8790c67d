/* The composition root's lists: every sink, model, site and user callback that a scenario can name. */
#ifndef SCENARIOS_WIRING_CATALOGUE_H
#define SCENARIOS_WIRING_CATALOGUE_H

#include "sim/run.h"

extern const struct sink_type *const catalogue_sinks[];
extern const size_t catalogue_sink_count;
extern const struct model_type *const catalogue_models[];
extern const size_t catalogue_model_count;

const struct sink_type *catalogue_sink(struct bytes name_or_abbreviation);
const struct model_type *catalogue_model(struct bytes name);

/* All sites of sim, engine and models, ascending by key. */
const struct choice_registry *catalogue_registry(void);

/* What an outcome means, for people: by its own sentence, or that of its kind of fault, or else what
 * the site decides. */
const char *catalogue_outcome_words(const struct choice_site *site, uint32_t value);

/* Over every clause of every model, in the order of the catalogue: what they follow. */
uint64_t catalogue_clause_digest(void);

#endif
