/* What is known before anything is judged: that keys are spread, and that each arm shows what follows from
 * costs that are known. */
#include "scenarios/gate/verdict.h"
#include "sinks/base/digest.h"

#include <inttypes.h>

#define KEY_COUNT        100000u
#define KEY_PAYLOAD      16u
#define KEY_BUCKETS      16u
#define KNOWN_PARTS      100u /* of the offered rate: what both services must carry ... */
#define KNOWN_LEAST      95u  /* ... at least (13.6) */
#define CALIBRATION_RUNS 1u

/* --- keys -------------------------------------------------------------------------------------- */

static void count_keys(const struct source_log *log, struct verdict_keys_count *keys)
{
    uint64_t spread[KEY_BUCKETS] = {0};
    uint64_t ordered[KEY_BUCKETS] = {0};
    for (uint32_t i = 0; i < log->record_count; i++) {
        const struct bytes key = log->records[i].record.key;
        const uint8_t digit = key.data[1]; /* behind its letter */
        spread[digest_bytes(key) >> 60]++;
        ordered[digit >= 'a' ? digit - 'a' + 10 : digit - '0']++;
    }
    *keys = (struct verdict_keys_count){.least = UINT64_MAX, .ordered_least = UINT64_MAX};
    for (uint32_t i = 0; i < KEY_BUCKETS; i++) {
        keys->most = spread[i] > keys->most ? spread[i] : keys->most;
        keys->least = spread[i] < keys->least ? spread[i] : keys->least;
        keys->ordered_least = ordered[i] < keys->ordered_least ? ordered[i] : keys->ordered_least;
    }
}

enum err verdict_keys(struct verdicts *verdicts)
{
    struct book *book = verdicts->book;
    struct scenario *scenario = NULL;
    struct scenario_fault fault = {{0}};
    const struct cell cell = {
        .purpose = CELL_PRIMITIVE,
        .shape = {.payload_bytes = KEY_PAYLOAD, .parallelism = 1, .concurrency = 1},
        .records = KEY_COUNT,
        .record_interval = 1,
    };
    struct cell timed = cell;
    timed.shape.interval = SECONDS(1);
    const char *json = cell_json(book->texts, book->plan, book->costs, &timed, &fault);
    const struct scenario_options options = {.name = "keys"};
    if (json == NULL ||
        scenario_create(bytes_of_text(json), &options, &scenario, &fault) != ERR_OK) {
        verdicts->keys.words = text_format(book->texts, "%s", fault.message);
        return ERR_INVALID;
    }
    count_keys(scenario->config.job.log, &verdicts->keys);
    scenario_destroy(scenario);
    const struct decision_ratio spread = {verdicts->keys.most, verdicts->keys.least};
    const uint64_t hundredths = decision_round(spread, 2);
    verdicts->keys.words = text_format(
        book->texts,
        "%u generated keys in %u buckets of what routes them: most / least = %" PRIu64 " / %" PRIu64
        " = %" PRIu64 ".%02" PRIu64 " (at most 1.2); by their text, which increases, %s",
        KEY_COUNT,
        KEY_BUCKETS,
        verdicts->keys.most,
        verdicts->keys.least,
        hundredths / 100,
        hundredths % 100,
        verdicts->keys.ordered_least == 0 ? "some bucket is empty, as it must be"
                                          : "no bucket is empty: the check sees nothing");
    return ERR_OK;
}

/* --- calibration ------------------------------------------------------------------------------- */

static struct cell calibration_cell(const struct plan *plan, uint32_t arm, uint8_t purpose)
{
    return (struct cell){
        .arm = arm,
        .purpose = purpose,
        .shape = {.payload_bytes = plan->primitive_payload_bytes,
                  .keys = PLAN_KEYS_EVEN,
                  .parallelism = 1,
                  .concurrency = plan->calibration_concurrency,
                  .interval = plan->calibration_interval},
    };
}

void verdict_want_calibration(struct verdicts *verdicts, uint32_t arm)
{
    const struct plan *plan = verdicts->book->plan;
    book_want(verdicts->book, calibration_cell(plan, arm, CELL_FREE), CALIBRATION_RUNS);
    book_want(verdicts->book, calibration_cell(plan, arm, CELL_SLOWER), CALIBRATION_RUNS);
}

static const struct observation *only_run(const struct book *book, const struct cell *cell)
{
    const struct book_series *series = book_find(book, cell);
    CHECK(series != NULL);
    return &book->observations[series->first];
}

static bool carries(uint64_t throughput, uint64_t offered)
{
    return throughput >= offered * KNOWN_LEAST / KNOWN_PARTS;
}

/* The most that a service which is so much slower may add: a request behind those before it, and of a
 * staged arm the drain of an interval. */
static nanos known_most(const struct plan *plan, const struct plan_arm *arm, uint64_t offered)
{
    const uint64_t staged =
        nanos_mul(offered, plan->calibration_interval) / (1000 * NANOS_PER_S) + 1;
    const uint64_t waves = arm->is_staged ? staged / plan->calibration_concurrency + 2 : 3;
    return nanos_mul(plan->calibration_slower, waves);
}

struct report_gate_calibration verdict_calibration(struct verdicts *verdicts, uint32_t arm)
{
    const struct book *book = verdicts->book;
    const struct plan *plan = book->plan;
    const struct cell cell = calibration_cell(plan, arm, CELL_FREE);
    const struct cell slow_cell = calibration_cell(plan, arm, CELL_SLOWER);
    const struct observation *quick = only_run(book, &cell);
    const struct observation *slow = only_run(book, &slow_cell);
    const uint64_t offered = cell_offered(&book_find(book, &cell)->cell);
    const nanos most = known_most(plan, &plan->arms[arm], offered);
    const bool is_known =
        quick->standing == DECISION_OBSERVED && slow->standing == DECISION_OBSERVED &&
        carries(quick->throughput, offered) && carries(slow->throughput, offered) &&
        slow->least >= plan->calibration_slower &&
        slow->p95 >= quick->p95 + plan->calibration_slower && slow->p95 <= quick->p95 + most;
    verdicts->miscalibrated[arm] = !is_known;
    return (struct report_gate_calibration){
        .name = plan->arms[arm].name,
        .offered = offered,
        .free_throughput = quick->throughput,
        .free_p95 = quick->p95,
        .slower_throughput = slow->throughput,
        .slower_p95 = slow->p95,
        .slower = plan->calibration_slower,
        .is_known = is_known,
        .wanted = text_format(book->texts,
                              "both carry 95 %% of the load, nothing is faster than %" PRIu64
                              " ms, and p95 grows by %" PRIu64 " to %" PRIu64 " ms",
                              plan->calibration_slower / NANOS_PER_MS,
                              plan->calibration_slower / NANOS_PER_MS,
                              most / NANOS_PER_MS),
    };
}
