#include "scenarios/cli/mutants/mutant_records.h"

#include <string.h>

void mutant_record_read(struct json_input *input, json_t *object, struct report_mutant *record)
{
    *record = (struct report_mutant){
        .name = json_input_text(input, object, "name"),
        .target = json_input_text(input, object, "target"),
        .scenario = json_input_text(input, object, "scenario"),
        .mechanism = json_input_text(input, object, "mechanism"),
        .oracle = json_input_text(input, object, "oracle"),
        .killed = json_input_bool(input, object, "killed"),
        .runs_to_kill = json_input_number(input, object, "runs_to_kill"),
        .deviations = (uint32_t)json_input_number(input, object, "deviations"),
        .why = "see the shard's own output",
    };
    record->killed_by = json_input_texts(input, object, "killed_by", &record->killed_by_count);
}

enum status
mutant_records_read(struct text_pool *texts, const char *path, struct mutant_records *records)
{
    struct json_input input;
    *records = (struct mutant_records){0};
    enum status status = json_input_open(&input, texts, path);
    if (status == STATUS_OK) {
        json_t *list = json_input_list(&input, input.root, "mutants");
        const size_t count = json_array_size(list);
        struct report_mutant *items = text_memory(texts, count + 1, sizeof *items);
        for (size_t i = 0; i < count && !input.failed; i++) {
            mutant_record_read(&input, json_array_get(list, i), &items[i]);
        }
        *records = (struct mutant_records){.items = items, .count = count};
        status = input.failed ? STATUS_USAGE : STATUS_OK;
    }
    json_input_close(&input);
    return status;
}

static bool is_of_claim(const struct report_mutant *record, const struct claim *claim)
{
    const char *scenario = record->scenario;
    for (uint32_t i = 0; i < claim->configuration_count; i++) {
        if (strcmp(scenario, claim->configurations[i]) == 0) {
            return true;
        }
    }
    return scenario[0] != '\0' &&
           (strcmp(scenario, claim->scenario) == 0 || strcmp(scenario, claim->small) == 0 ||
            strcmp(scenario, claim->small_2x) == 0);
}

static bool is_killed_by_claim(const struct report_mutant *record, const struct claim *claim)
{
    for (size_t i = 0; i < record->killed_by_count; i++) {
        for (uint32_t k = 0; k < claim->oracle_count; k++) {
            if (strcmp(record->killed_by[i], claim->oracles[k]->name) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool counts(const struct report_mutant *record, const struct claim *claim)
{
    return record->killed && is_of_claim(record, claim) && is_killed_by_claim(record, claim);
}

/* A mutant that was tried in several scenarios of a claim is one. */
static bool
counted_before(const struct mutant_records *records, size_t at, const struct claim *claim)
{
    for (size_t i = 0; i < at; i++) {
        if (counts(&records->items[i], claim) &&
            strcmp(records->items[i].name, records->items[at].name) == 0) {
            return true;
        }
    }
    return false;
}

const char *const *mutant_records_killed(const struct mutant_records *records,
                                         const struct claim *claim,
                                         struct text_pool *texts,
                                         uint32_t *count)
{
    const char **killed = text_memory(texts, records->count + 1, sizeof *killed);
    *count = 0;
    for (size_t i = 0; i < records->count; i++) {
        if (counts(&records->items[i], claim) && !counted_before(records, i, claim)) {
            killed[(*count)++] = records->items[i].name;
        }
    }
    return killed;
}
