#include "scenarios/wiring/catalogue.h"

#include "models/bigquery/bigquery.h"
#include "models/cloudtasks/cloudtasks.h"
#include "models/generic/generic.h"
#include "models/generic/keyed.h"
#include "models/generic/table.h"
#include "models/storage/storage.h"
#include "sim/engine/job.h"
#include "sim/link.h"
#include "sim/sched.h"
#include "sinks/bigquery/at_least_once/at_least_once.h"
#include "sinks/bigquery/exactly_once/exactly_once.h"
#include "sinks/bigquery/file_loads/file_loads.h"
#include "sinks/cloudtasks/cloudtasks_sinks.h"
#include "sinks/generic/generic_sinks.h"
#include "sinks/generic/idempotent.h"
#include "sinks/generic/transactional.h"

#include <string.h>

const struct sink_type *const catalogue_sinks[] = {
    &cloudtasks_at_least_once_unnamed,
    &cloudtasks_at_least_once_named,
    &cloudtasks_exactly_once,
    &bigquery_exactly_once,
    &bigquery_file_loads,
    &bigquery_at_least_once,
    &bigquery_committed,
    &generic_idempotent,
    &generic_staged,
    &generic_transactional,
};
const size_t catalogue_sink_count = ARRAY_COUNT(catalogue_sinks);

const struct model_type *const catalogue_models[] = {
    &cloudtasks_model,
    &bigquery_model,
    &generic_model,
    &table_model,
    &keyed_model,
    &storage_model,
};
const size_t catalogue_model_count = ARRAY_COUNT(catalogue_models);

/* --- sinks and models by name -------------------------------------------------------------------- */

/* An abbreviation is a beginning that only one name has. */
static bool is_prefix(struct bytes text, const char *name)
{
    return text.size > 0 && text.size <= strlen(name) && memcmp(text.data, name, text.size) == 0;
}

const struct sink_type *catalogue_sink(struct bytes name_or_abbreviation)
{
    const struct sink_type *found = NULL;
    uint32_t matches = 0;
    for (size_t i = 0; i < catalogue_sink_count; i++) {
        if (bytes_equal(name_or_abbreviation, bytes_of_text(catalogue_sinks[i]->name))) {
            return catalogue_sinks[i];
        }
        if (is_prefix(name_or_abbreviation, catalogue_sinks[i]->name)) {
            found = catalogue_sinks[i];
            matches++;
        }
    }
    return matches == 1 ? found : NULL;
}

const struct model_type *catalogue_model(struct bytes name)
{
    for (size_t i = 0; i < catalogue_model_count; i++) {
        if (bytes_equal(name, bytes_of_text(catalogue_models[i]->name))) {
            return catalogue_models[i];
        }
    }
    return NULL;
}

/* --- sites --------------------------------------------------------------------------------------- */

/* Each module's table is in the order of its .def, so its members are listed by including that file
 * twice: for their indexes, and for pointers to them. The tables' symbols are in the modules'
 * headers but for those of the models. */
extern const struct choice_site cloudtasks_model_sites[];
extern const struct choice_site generic_model_sites[];
extern const struct choice_site table_model_sites[];
extern const struct choice_site keyed_model_sites[];
extern const struct choice_site bigquery_model_sites[];
extern const struct choice_site storage_model_sites[];

#define FATE_SITE SITE

/* clang-format off */
#define SITE(id, ...) SCHED_INDEX_##id,
enum {
#include "sim/sched_sites.def"
};
#undef SITE
#define SITE(id, ...) LINK_INDEX_##id,
enum {
#include "sim/link_sites.def"
};
#undef SITE
#define SITE(constant, ...) INDEX_##constant,
enum {
#include "sim/engine/sites.def"
};
#undef SITE
#define SITE(constant, ...) CLOUDTASKS_INDEX_##constant,
enum {
#include "models/cloudtasks/sites.def"
};
#undef SITE
#define SITE(constant, ...) GENERIC_INDEX_##constant,
enum {
#include "models/generic/sites.def"
};
#undef SITE
#define SITE(constant, ...) TABLE_INDEX_##constant,
enum {
#include "models/generic/table_sites.def"
};
#undef SITE
#define SITE(constant, ...) KEYED_INDEX_##constant,
enum {
#include "models/generic/keyed_sites.def"
};
#undef SITE
#define SITE(constant, ...) BIGQUERY_INDEX_##constant,
enum {
#include "models/bigquery/sites.def"
};
#undef SITE
#define SITE(constant, ...) STORAGE_INDEX_##constant,
enum {
#include "models/storage/sites.def"
};
#undef SITE

static const struct choice_site *const all_sites[] = {
#define SITE(id, ...) &sched_sites[SCHED_INDEX_##id],
#include "sim/sched_sites.def"
#undef SITE
#define SITE(id, ...) &link_sites[LINK_INDEX_##id],
#include "sim/link_sites.def"
#undef SITE
#define SITE(constant, ...) &engine_sites[INDEX_##constant],
#include "sim/engine/sites.def"
#undef SITE
#define SITE(constant, ...) &cloudtasks_model_sites[CLOUDTASKS_INDEX_##constant],
#include "models/cloudtasks/sites.def"
#undef SITE
#define SITE(constant, ...) &generic_model_sites[GENERIC_INDEX_##constant],
#include "models/generic/sites.def"
#undef SITE
#define SITE(constant, ...) &table_model_sites[TABLE_INDEX_##constant],
#include "models/generic/table_sites.def"
#undef SITE
#define SITE(constant, ...) &keyed_model_sites[KEYED_INDEX_##constant],
#include "models/generic/keyed_sites.def"
#undef SITE
#define SITE(constant, ...) &bigquery_model_sites[BIGQUERY_INDEX_##constant],
#include "models/bigquery/sites.def"
#undef SITE
#define SITE(constant, ...) &storage_model_sites[STORAGE_INDEX_##constant],
#include "models/storage/sites.def"
#undef SITE
};
/* clang-format on */

static const struct choice_registry registry = {all_sites, ARRAY_COUNT(all_sites)};

const struct choice_registry *catalogue_registry(void)
{
    return &registry;
}

const char *catalogue_outcome_words(const struct choice_site *site, uint32_t value)
{
    static const char *const sentences[FAULT_KIND_COUNT] = {
#define X(constant, name, is_fault, sentence) [constant] = (sentence),
#include "sim/fault_kinds.def"
#include "sinks/base/digest.h"
#undef X
    };
    CHECK(value < site->outcome_count);
    for (size_t i = 0; i < engine_site_count; i++) {
        if (site == &engine_sites[i]) {
            return engine_site_words[i][value];
        }
    }
    for (size_t i = 0; i < link_site_count; i++) {
        if (site == &link_sites[i]) {
            return link_site_words[i][value];
        }
    }
    const uint8_t kind = site->outcomes[value].kind;
    return kind == FAULT_NONE ? site->sentence : sentences[kind];
}

uint64_t catalogue_clause_digest(void)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < catalogue_model_count; i++) {
        const struct model_type *model = catalogue_models[i];
        for (size_t k = 0; k < model->clause_count; k++) {
            const struct clause *clause = &model->clauses[k];
            digest = digest_fold(digest, digest_bytes(bytes_of_text(clause->id)));
            digest = digest_fold(digest, clause->class);
            digest = digest_fold(digest, digest_bytes(bytes_of_text(clause->sentence)));
        }
    }
    return digest;
}
