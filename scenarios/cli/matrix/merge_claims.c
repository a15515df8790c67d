#include "scenarios/cli/matrix/merge_claims.h"

#include "reports/text.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/matrix/evidence.h"
#include "scenarios/cli/matrix/matrix_pages.h"
#include "scenarios/cli/seeds.h"
#include "scenarios/cli/sweep/run_records.h"
#include "scenarios/wiring/catalogue.h"

#include <inttypes.h>
#include <string.h>

#define SHARD_OPTION " --shard "

/* --- one claim ----------------------------------------------------------------------------------- */

static struct report_count *
read_counts(struct json_input *input, json_t *object, const char *key, size_t *count)
{
    json_t *list = json_input_list(input, object, key);
    *count = json_array_size(list);
    struct report_count *counts = text_memory(input->texts, *count + 1, sizeof *counts);
    for (size_t i = 0; i < *count; i++) {
        json_t *item = json_array_get(list, i);
        counts[i] = (struct report_count){
            .name = json_input_text(input, item, "name"),
            .count = json_input_number(input, item, "count"),
            .wanted = json_input_number(input, item, "wanted"),
        };
    }
    return counts;
}

static void read_witness(struct json_input *input, json_t *object, struct report_claim *claim)
{
    claim->witness_tape = "";
    claim->witness_message = "";
    if (!json_is_object(object)) {
        return;
    }
    claim->has_witness = true;
    claim->witness_tape = json_input_text(input, object, "tape");
    claim->witness_deviations = (uint32_t)json_input_number(input, object, "deviations");
    claim->calm_breaks = strcmp(json_input_text(input, object, "calm"), "breaks") == 0;
    claim->witness_message = json_input_text(input, object, "message");
}

static void read_claim(struct json_input *input, json_t *object, struct report_claim *claim)
{
    json_t *established = json_input_object(input, object, "established");
    *claim = (struct report_claim){
        .id = json_input_text(input, object, "id"),
        .sink = json_input_text(input, object, "sink"),
        .condition = json_input_text(input, object, "condition"),
        .property = json_input_text(input, object, "property"),
        .profile = json_input_text(input, object, "profile"),
        .expected = run_record_verdict(input, object, "expected"),
        .verdict = run_record_verdict(input, object, "verdict"),
        .adversary = json_input_text(input, object, "adversary"),
        .seeds = json_input_number(input, established, "seeds"),
        .explored_deviations =
            (uint32_t)json_input_number(input, established, "explored_deviations"),
        .explored_runs = json_input_number(input, established, "explored_runs"),
        .crash_points_hit = json_input_number(input, established, "crash_points_hit"),
        .crash_points_seen = json_input_number(input, established, "crash_points_seen"),
        .mutants_killed = (uint32_t)json_input_number(input, established, "mutants_killed"),
        .digest = json_input_number(input, object, "digest"),
    };
    read_witness(input, json_object_get(object, "witness"), claim);
}

static enum report_way read_way(struct json_input *input, json_t *object)
{
    const char *name = json_input_text(input, object, "way");
    for (int i = REPORT_WAY_NONE + 1; i < REPORT_WAY_COUNT; i++) {
        if (strcmp(name, report_way_name((enum report_way)i)) == 0) {
            return (enum report_way)i;
        }
    }
    json_input_complain(input, "way", "a way of this version");
    return REPORT_WAY_NONE;
}

/* How it was established: what its fixed fields do not tell. */
static void read_evidence(struct json_input *input, json_t *object, struct report_claim *claim)
{
    size_t killed = 0;
    const char *figures = json_input_text(input, object, "figures");
    claim->way = read_way(input, object);
    claim->figures_or_null = figures[0] == '\0' ? NULL : figures;
    claim->service = json_input_text(input, object, "service");
    claim->as_expected = json_input_bool(input, object, "as_expected");
    claim->why = json_input_text(input, object, "why");
    claim->properties = json_input_texts(input, object, "properties", &claim->property_count);
    claim->scenario = json_input_text(input, object, "scenario");
    claim->small = json_input_text(input, object, "small");
    claim->twin_scenario = json_input_text(input, object, "twin");
    claim->twin = run_record_verdict(input, object, "twin_verdict");
    claim->breaks = json_input_texts(input, object, "breaks", &claim->break_count);
    claim->crashes = json_input_number(input, object, "crashes");
    claim->crash_runs.count = json_input_number(input, object, "crash_runs");
    claim->adversary_seeds = json_input_number(input, object, "adversary_seeds");
    claim->kinds = read_counts(input, object, "kinds", &claim->kind_count);
    claim->kinds_absent = json_input_text(input, object, "kinds_absent");
    claim->marks = read_counts(input, object, "marks", &claim->mark_count);
    if (json_object_get(object, "measured") != NULL) {
        claim->figures = json_input_texts(input, object, "measured", &claim->figure_count);
    }
    claim->mutants_known = json_input_bool(input, object, "mutants_known");
    claim->mutants = json_input_texts(input, object, "mutants", &killed);
    if (killed != claim->mutants_killed) {
        json_input_complain(input, "mutants", "as many as mutants_killed");
    }
}

/* --- shards -------------------------------------------------------------------------------------- */

/* One file: by what it was made, and which part of all it holds. */
struct part {
    struct json_input *input;
    json_t *claims;
    json_t *evidence;
    const char *budget;
    const char *command; /* without its shard */
    struct shard shard;
};

struct joining {
    struct session *session;
    struct part *parts; /* the i-th holds shard i + 1 */
    size_t count;
    struct report_claim *claims;
    struct report_evidence *evidence;
    size_t claim_count;
};

/* "sinkproof matrix --quick --shard 1/3": what stands before the shard, and the shard. */
static void split_command(struct json_input *input, const char *text, struct part *part)
{
    part->command = text;
    part->shard = (struct shard){1, 1};
    const char *found = NULL;
    for (const char *at = strstr(text, SHARD_OPTION); at != NULL;
         at = strstr(at + 1, SHARD_OPTION)) {
        found = at;
    }
    if (found == NULL) {
        return;
    }
    part->command =
        text_copy(input->texts, (struct bytes){(const uint8_t *)text, (size_t)(found - text)});
    if (shard_parse(found + strlen(SHARD_OPTION), &part->shard) != ERR_OK) {
        json_input_complain(input, "command", "a command with --shard I/N at its end");
    }
}

static enum status read_part(struct json_input *input, struct part *part)
{
    json_t *made = json_input_object(input, input->root, "made");
    part->input = input;
    part->claims = json_input_list(input, input->root, "claims");
    part->evidence = json_input_list(input, input->root, "evidence");
    part->budget = json_input_text(input, made, "budget");
    split_command(input, json_input_text(input, made, "command"), part);
    if (strcmp(json_input_text(input, made, "version"), SINKPROOF_VERSION) != 0 ||
        json_input_number(input, made, "clauses") != catalogue_clause_digest()) {
        json_input_complain(input, "made", "a matrix of this version and its clauses");
    }
    if (json_array_size(part->claims) != json_array_size(part->evidence)) {
        json_input_complain(input, "evidence", "one record per claim");
    }
    return input->failed ? STATUS_USAGE : STATUS_OK;
}

/* Put a part into its place among those of the same matrix. */
static enum status place(struct joining *joining, const struct part *part)
{
    struct part *mine = &joining->parts[part->shard.index - 1];
    const struct part *first = NULL;
    for (size_t i = 0; i < joining->count && first == NULL; i++) {
        first = joining->parts[i].input != NULL ? &joining->parts[i] : NULL;
    }
    if (first != NULL &&
        (strcmp(first->command, part->command) != 0 || strcmp(first->budget, part->budget) != 0)) {
        json_input_complain(part->input, "command", first->command);
    } else if (mine->input != NULL) {
        json_input_complain(part->input, "shard", "each shard once");
    } else {
        *mine = *part;
    }
    return part->input->failed ? STATUS_USAGE : STATUS_OK;
}

static enum status read_parts(struct joining *joining, struct json_input *inputs)
{
    joining->parts =
        text_memory(&joining->session->texts, joining->count + 1, sizeof *joining->parts);
    for (size_t i = 0; i < joining->count; i++) {
        struct part part = {0};
        enum status status = read_part(&inputs[i], &part);
        if (status == STATUS_OK && part.shard.count != joining->count) {
            complain("merge: %s is shard %" PRIu32 "/%" PRIu32 " of %s, and there are %zu files",
                     inputs[i].path,
                     part.shard.index,
                     part.shard.count,
                     part.command,
                     joining->count);
            status = STATUS_USAGE;
        }
        status = status == STATUS_OK ? place(joining, &part) : status;
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

/* Claims were dealt out in turn: what one file has none of, all behind it lack as well. */
static enum status read_claims(struct joining *joining)
{
    struct text_pool *texts = &joining->session->texts;
    size_t total = 0;
    for (size_t i = 0; i < joining->count; i++) {
        total += json_array_size(joining->parts[i].claims);
    }
    joining->claims = text_memory(texts, total + 1, sizeof *joining->claims);
    joining->evidence = text_memory(texts, total + 1, sizeof *joining->evidence);
    for (size_t k = 0; k < total; k++) {
        struct part *part = &joining->parts[k % joining->count];
        json_t *claim = json_array_get(part->claims, k / joining->count);
        if (claim == NULL) {
            json_input_complain(part->input, "claims", "those that the other shards do not have");
            return STATUS_USAGE;
        }
        read_claim(part->input, claim, &joining->claims[k]);
        read_evidence(
            part->input, json_array_get(part->evidence, k / joining->count), &joining->claims[k]);
        if (part->input->failed) {
            return STATUS_USAGE;
        }
    }
    joining->claim_count = total;
    return STATUS_OK;
}

/* --- all ----------------------------------------------------------------------------------------- */

static enum status find_evidence(struct joining *joining)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < joining->claim_count; i++) {
        const struct report_claim *claim = &joining->claims[i];
        if (joining->session->options->html != NULL && claim->has_witness) {
            status =
                status_worse(status, evidence_find(joining->session, claim, &joining->evidence[i]));
        }
    }
    return status;
}

static enum status verdict_of(const struct joining *joining)
{
    for (size_t i = 0; i < joining->claim_count; i++) {
        if (!joining->claims[i].as_expected) {
            return STATUS_BROKEN;
        }
    }
    return STATUS_OK;
}

enum status merge_claims(struct session *session, struct json_input *inputs, size_t input_count)
{
    struct joining joining = {.session = session, .count = input_count};
    enum status status = matrix_pages_check(session);
    if (status == STATUS_OK) {
        status = read_parts(&joining, inputs);
    }
    if (status == STATUS_OK) {
        status = read_claims(&joining);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = status_worse(verdict_of(&joining), find_evidence(&joining));
    report_text_claims(stdout, joining.claims, joining.claim_count);
    const struct matrix_pages pages = {
        .session = session,
        .budget = joining.parts[0].budget,
        .command = joining.parts[0].command,
        .claims = joining.claims,
        .evidence = joining.evidence,
        .count = joining.claim_count,
    };
    return status_worse(status, matrix_pages_write(&pages));
}
