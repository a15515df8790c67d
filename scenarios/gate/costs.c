#include "scenarios/gate/costs.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/json_input.h"
#include "scenarios/cli/session.h"
#include "scenarios/gate/strict.h"
#include "sinks/base/digest.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t count_max;
    uint64_t least;
    uint64_t most;
    uint8_t kind; /* enum cost_kind */
    const char *sentence;
} cost_words[COST_COUNT] = {
#define X(constant, name, count, least, most, kind, sentence)                                      \
    {(name), (count), (least), (most), (kind), (sentence)},
    COSTS(X)
#undef X
};

const char *cost_name(enum cost_id id)
{
    CHECK(id < COST_COUNT);
    return cost_words[id].name;
}

const char *cost_sentence(enum cost_id id)
{
    CHECK(id < COST_COUNT);
    return cost_words[id].sentence;
}

const char *costs_variant_name(uint32_t variant)
{
    static const char *const names[COSTS_VARIANT_COUNT] = {
        "as given", "latencies halved", "latencies doubled", "CPU halved", "CPU doubled"};
    CHECK(variant < COSTS_VARIANT_COUNT);
    return names[variant];
}

/* --- reading ----------------------------------------------------------------------------------- */

static enum cost_id find_cost(struct json_input *input, const char *name)
{
    const char *allowed = "";
    for (uint32_t i = 0; i < COST_COUNT; i++) {
        if (strcmp(cost_words[i].name, name) == 0) {
            return (enum cost_id)i;
        }
        allowed =
            text_format(input->texts, "%s%s%s", allowed, i > 0 ? ", " : "", cost_words[i].name);
    }
    json_input_complain(input, text_format(input->texts, "costs.name: %s", name), allowed);
    return COST_COUNT;
}

static void read_values(struct json_input *input, json_t *item, enum cost_id id, struct cost *cost)
{
    json_t *list = json_input_list(input, item, "values");
    const size_t count = json_array_size(list);
    const char *allowed = text_format(input->texts,
                                      "1 to %" PRIu32 " whole numbers from %" PRIu64 " to %" PRIu64,
                                      cost_words[id].count_max,
                                      cost_words[id].least,
                                      cost_words[id].most);
    bool is_good = count >= 1 && count <= cost_words[id].count_max;
    for (uint32_t i = 0; is_good && i < count; i++) {
        const json_t *value = json_array_get(list, i);
        const json_int_t number = json_integer_value(value);
        is_good = json_is_integer(value) && number >= 0 &&
                  (uint64_t)number >= cost_words[id].least &&
                  (uint64_t)number <= cost_words[id].most;
        cost->values[i] = is_good ? (uint64_t)number : 0;
    }
    cost->count = is_good ? (uint32_t)count : 0;
    if (!is_good) {
        json_input_complain(
            input, text_format(input->texts, "%s.values", cost_words[id].name), allowed);
    }
}

static void read_cost(struct json_input *input, json_t *item, struct costs *costs)
{
    strict_keys(input, item, "costs", "name values kind source");
    const enum cost_id id = find_cost(input, json_input_text(input, item, "name"));
    if (input->failed) {
        return;
    }
    struct cost *cost = &costs->all[id];
    if (cost->count > 0) {
        json_input_complain(input, cost_words[id].name, "each cost once");
    }
    read_values(input, item, id, cost);
    const char *kind = json_input_text(input, item, "kind");
    cost->is_measured = strcmp(kind, "MEASURED") == 0;
    if (!cost->is_measured && strcmp(kind, "MODEL") != 0) {
        json_input_complain(input, "kind", "MODEL, MEASURED");
    }
    cost->source = json_input_text(input, item, "source");
    if (cost->source[0] == '\0') {
        json_input_complain(input, "source", "where the number comes from");
    }
}

static uint64_t digest_costs(const struct costs *costs)
{
    uint64_t digest = digest_bytes(bytes_of_text(costs->name));
    for (uint32_t i = 0; i < COST_COUNT; i++) {
        const struct cost *cost = &costs->all[i];
        digest = digest_fold(digest, cost->count);
        for (uint32_t k = 0; k < cost->count; k++) {
            digest = digest_fold(digest, cost->values[k]);
        }
        digest = digest_fold(digest, cost->is_measured ? 1 : 0);
        digest = digest_fold(digest, digest_bytes(bytes_of_text(cost->source)));
    }
    return digest;
}

static void read_all(struct json_input *input, struct costs *costs)
{
    strict_keys(input, input->root, "", "schema name title costs");
    costs->name = json_input_text(input, input->root, "name");
    costs->title = json_input_text(input, input->root, "title");
    json_t *list = json_input_list(input, input->root, "costs");
    for (size_t i = 0; !input->failed && i < json_array_size(list); i++) {
        read_cost(input, json_array_get(list, i), costs);
    }
    for (uint32_t i = 0; !input->failed && i < COST_COUNT; i++) {
        if (costs->all[i].count == 0) {
            json_input_complain(input, cost_words[i].name, "each cost once");
        }
    }
    costs->digest = input->failed ? 0 : digest_costs(costs);
}

enum status costs_read(struct text_pool *texts, const char *name_or_path, struct costs *costs)
{
    struct json_input input;
    const char *root = scenarios_folder(texts);
    const char *path = name_or_path;
    *costs = (struct costs){0};
    if (!file_exists(path) && root != NULL) {
        path = text_format(texts, "%s/gate/costs-%s.json", root, name_or_path);
    }
    if (!file_exists(path)) {
        complain("gate: --costs \"%s\": no such costs; allowed: region, remote, or a file",
                 name_or_path);
        return STATUS_USAGE;
    }
    enum status status = json_input_open(&input, texts, path);
    if (status == STATUS_OK) {
        read_all(&input, costs);
        status = input.failed ? STATUS_USAGE : STATUS_OK;
    }
    json_input_close(&input);
    return status;
}

/* --- use --------------------------------------------------------------------------------------- */

struct costs costs_varied(const struct costs *costs, enum costs_variant variant)
{
    struct costs varied = *costs;
    const bool doubles = variant == COSTS_LATENCY_DOUBLED || variant == COSTS_CPU_DOUBLED;
    const enum cost_kind kind =
        variant == COSTS_CPU_HALVED || variant == COSTS_CPU_DOUBLED ? COST_OF_CPU : COST_OF_LATENCY;
    for (uint32_t i = 0; variant != COSTS_AS_GIVEN && i < COST_COUNT; i++) {
        for (uint32_t k = 0; cost_words[i].kind == kind && k < varied.all[i].count; k++) {
            uint64_t *value = &varied.all[i].values[k];
            *value = doubles ? *value * 2 : (*value + 1) / 2;
        }
    }
    return varied;
}

static nanos per_kib(const struct costs *costs, enum cost_id id, uint32_t payload_bytes)
{
    return costs_value(costs, id) * payload_bytes / 1024;
}

nanos costs_service_extra(const struct costs *costs, uint32_t payload_bytes)
{
    return per_kib(costs, COST_SERVICE_PER_KIB, payload_bytes);
}

nanos costs_service_mean(const struct costs *costs, uint32_t payload_bytes)
{
    const struct cost *times = &costs->all[COST_SERVICE_TIMES];
    nanos sum = 0;
    for (uint32_t i = 0; i < times->count; i++) {
        sum += times->values[i];
    }
    CHECK(times->count > 0);
    return sum / times->count + costs_service_extra(costs, payload_bytes);
}

nanos costs_cpu_per_event(const struct costs *costs, uint32_t payload_bytes)
{
    return costs_value(costs, COST_CPU_PER_EVENT) + per_kib(costs, COST_CPU_PER_KIB, payload_bytes);
}
