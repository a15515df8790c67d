/* list: what there is, one item per line, its name first. */
#include "scenarios/cli/command.h"
#include "scenarios/cli/matrix/claims.h"
#include "scenarios/cli/mutants/mutants.h"
#include "scenarios/cli/scenario_names.h"
#include "scenarios/cli/session.h"
#include "scenarios/scenario_fields.h"
#include "scenarios/wiring/catalogue.h"
#include "sim/mark.h"
#include "sim/oracle.h"

#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS 36

typedef enum status list_function(const struct options *options);

static void print_item(const char *name, const char *sentence)
{
    (void)printf("%-*s %s\n", NAME_COLUMNS, name, sentence);
}

static enum status list_sinks(const struct options *options)
{
    (void)options;
    for (size_t i = 0; i < catalogue_sink_count; i++) {
        print_item(catalogue_sinks[i]->name, catalogue_sinks[i]->sentence);
    }
    return STATUS_OK;
}

static enum status list_models(const struct options *options)
{
    (void)options;
    for (size_t i = 0; i < catalogue_model_count; i++) {
        print_item(catalogue_models[i]->name, catalogue_models[i]->sentence);
    }
    return STATUS_OK;
}

static enum status list_oracles(const struct options *options)
{
    (void)options;
    for (size_t i = 0; i < oracle_type_count; i++) {
        print_item(oracle_types[i]->name, oracle_types[i]->sentence);
    }
    print_item("crash", "no run takes its process with it");
    print_item("hang", "every run ends within a bound of wall time");
    return STATUS_OK;
}

static const char *class_name(uint8_t class)
{
    switch ((enum clause_class) class) {
    case CLAUSE_MUST:
        return "must";
    case CLAUSE_MAY:
        return "may";
    case CLAUSE_OPEN:
        return "open";
    case CLAUSE_OBSERVED:
        return "observed";
    case CLAUSE_CONFLICT:
        return "conflict";
    case CLAUSE_NONE:
        break;
    }
    return "none";
}

/* Models share the clauses of the transport: each id is told once. */
static bool is_told_before(size_t model, const char *id)
{
    for (size_t i = 0; i < model; i++) {
        for (size_t k = 0; k < catalogue_models[i]->clause_count; k++) {
            if (strcmp(catalogue_models[i]->clauses[k].id, id) == 0) {
                return true;
            }
        }
    }
    return false;
}

static enum status list_clauses(const struct options *options)
{
    (void)options;
    for (size_t i = 0; i < catalogue_model_count; i++) {
        for (size_t k = 0; k < catalogue_models[i]->clause_count; k++) {
            const struct clause *clause = &catalogue_models[i]->clauses[k];
            if (!is_told_before(i, clause->id)) {
                (void)printf("%-10s %-9s %s (%s)%s%s\n",
                             clause->id,
                             class_name(clause->class),
                             clause->sentence,
                             clause->source,
                             clause->not_modelled_or_null != NULL ? " not modelled: " : "",
                             clause->not_modelled_or_null != NULL ? clause->not_modelled_or_null
                                                                  : "");
            }
        }
    }
    return STATUS_OK;
}

static enum status list_sites(const struct options *options)
{
    const struct choice_registry *registry = catalogue_registry();
    (void)options;
    for (size_t i = 0; i < registry->site_count; i++) {
        const struct choice_site *site = registry->sites[i];
        (void)printf("%-*s %s:", NAME_COLUMNS, site->name, site->sentence);
        for (uint16_t k = 0; k < site->outcome_count; k++) {
            (void)printf(" %s", site->outcomes[k].name);
        }
        (void)printf("\n");
    }
    return STATUS_OK;
}

static enum status list_scenarios(const struct options *options)
{
    struct text_pool texts = {0};
    const char *const *names = NULL;
    size_t count = 0;
    const enum status status = scenario_names(&texts, &names, &count);
    (void)options;
    for (size_t i = 0; i < count; i++) {
        (void)printf("%s\n", names[i]);
    }
    text_pool_fini(&texts);
    return status;
}

static enum status list_claims(const struct options *options)
{
    (void)options;
    return claims_list();
}

static void print_marks(const struct mark *marks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)printf("%-*s %s%s%s\n",
                     NAME_COLUMNS,
                     marks[i].name,
                     marks[i].sentence,
                     marks[i].unit_test_or_null == NULL ? "" : "; only in ",
                     marks[i].unit_test_or_null == NULL ? "" : marks[i].unit_test_or_null);
    }
}

static void print_phases(const struct sink_type *sink)
{
    for (uint32_t i = 0; i < sink->phase_count; i++) {
        (void)printf("%s.%s\n", sink->name, sink->phases[i]);
    }
}

/* The pairs, as what stands for each kind of fault. */
static void print_pairs(void)
{
    static const struct {
        const char *name;
        const char *sentence;
    } phases[] = {
#define SINK_PHASE(id, name, sentence)   {"KIND@sink." name, "of the half that it meets: " sentence},
#define ENGINE_PHASE(id, name, sentence) {"KIND@engine." name, "of the engine: " sentence},
#include "sim/moments.def"
#undef SINK_PHASE
#undef ENGINE_PHASE
    };
    (void)printf("A fault of a kind fires in a phase:\n");
    for (size_t i = 0; i < ARRAY_COUNT(phases); i++) {
        print_item(phases[i].name, phases[i].sentence);
    }
    (void)printf("Kinds:");
    for (uint32_t kind = 1; kind < FAULT_KIND_COUNT; kind++) {
        (void)printf(" %s", fault_kind_name((enum fault_kind)kind));
    }
    (void)printf("\n");
}

static enum status list_marks(const struct options *options)
{
    (void)options;
    print_marks(sim_marks, sim_mark_count);
    for (size_t i = 0; i < catalogue_model_count; i++) {
        print_marks(catalogue_models[i]->marks, catalogue_models[i]->mark_count);
    }
    for (size_t i = 0; i < catalogue_sink_count; i++) {
        print_phases(catalogue_sinks[i]);
    }
    print_pairs();
    return STATUS_OK;
}

static enum status list_fields(const struct options *options)
{
    struct byte_writer writer;
    (void)options;
    byte_writer_init(&writer, NULL, 0);
    scenario_fields_document(&writer);
    const size_t size = writer.size;
    uint8_t *text = memory_take(size);
    byte_writer_init(&writer, text, size);
    scenario_fields_document(&writer);
    CHECK(!writer.overflowed);
    (void)fwrite(text, 1, size, stdout);
    free(text);
    return STATUS_OK;
}

static enum status list_mutants(const struct options *options)
{
    return mutants_list(options);
}

static const struct {
    const char *name;
    const char *sentence;
    list_function *run;
} lists[] = {
    {"scenarios", "what run, replay, shrink take", list_scenarios},
    {"sinks", "the sink modes", list_sinks},
    {"models", "the services that are modelled", list_models},
    {"oracles", "the properties that are judged", list_oracles},
    {"claims", "what the matrix certifies or refutes", list_claims},
    {"clauses", "what the documents say, as the models take it", list_clauses},
    {"mutants", "the planted bugs", list_mutants},
    {"sites", "the draws of a tape, with their outcomes; the first is calm", list_sites},
    {"marks", "what runs can be seen to reach: branches, phases, faults in phases", list_marks},
    {"fields", "the fields of a scenario file, as a table in Markdown", list_fields},
};

enum status command_list(const struct options *options)
{
    if (options->argument_count == 0) {
        for (size_t i = 0; i < ARRAY_COUNT(lists); i++) {
            print_item(lists[i].name, lists[i].sentence);
        }
        return STATUS_OK;
    }
    for (size_t i = 0; i < ARRAY_COUNT(lists); i++) {
        if (strcmp(options->arguments[0], lists[i].name) == 0) {
            return lists[i].run(options);
        }
    }
    complain("list \"%s\": no such list; allowed: scenarios, sinks, models, oracles, claims, "
             "clauses, mutants, sites, marks, fields",
             options->arguments[0]);
    return STATUS_USAGE;
}
