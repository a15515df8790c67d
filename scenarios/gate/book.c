#include "scenarios/gate/book.h"

#include "scenarios/cli/progress.h"
#include "scenarios/workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void book_init(struct book *book,
               struct text_pool *texts,
               const struct plan *plan,
               const struct costs *costs)
{
    *book = (struct book){
        .texts = texts,
        .plan = plan,
        .costs = costs,
        .seed_first = 1,
        .ceiling_per_s = plan->ceiling_per_s,
    };
    for (uint32_t i = 0; i < COSTS_VARIANT_COUNT; i++) {
        book->varied[i] = costs_varied(costs, (enum costs_variant)i);
    }
}

void book_fini(struct book *book)
{
    free(book->series);
    free(book->cells);
    free(book->observations);
}

/* --- what is wanted ---------------------------------------------------------------------------- */

static bool is_same(const struct cell *a, const struct cell *b)
{
    return a->arm == b->arm && a->purpose == b->purpose && a->variant == b->variant &&
           a->shape.payload_bytes == b->shape.payload_bytes && a->shape.keys == b->shape.keys &&
           a->shape.parallelism == b->shape.parallelism &&
           a->shape.concurrency == b->shape.concurrency && a->shape.interval == b->shape.interval;
}

const struct book_series *book_find(const struct book *book, const struct cell *cell)
{
    for (uint32_t i = 0; i < book->series_count; i++) {
        if (is_same(&book->series[i].cell, cell)) {
            return &book->series[i];
        }
    }
    return NULL;
}

static void make_room(struct book *book, uint32_t runs)
{
    if (book->series_count == book->series_capacity) {
        book->series_capacity = book->series_capacity * 2 + 64;
        book->series = memory_resize(book->series, book->series_capacity * sizeof *book->series);
    }
    if (book->run_count + runs > book->run_capacity) {
        book->run_capacity = book->run_capacity * 2 + runs + 256;
        book->cells = memory_resize(book->cells, book->run_capacity * sizeof *book->cells);
        book->observations =
            memory_resize(book->observations, book->run_capacity * sizeof *book->observations);
    }
}

void book_want(struct book *book, struct cell cell, uint32_t repetitions)
{
    CHECK(repetitions > 0);
    cell.seed = book->seed_first;
    cell_plan(book->plan, &book->varied[cell.variant], book->ceiling_per_s, &cell);
    if (book_find(book, &cell) != NULL) {
        return;
    }
    make_room(book, repetitions);
    book->series[book->series_count] =
        (struct book_series){.cell = cell, .first = book->run_count, .count = repetitions};
    book->series_count++;
    for (uint32_t i = 0; i < repetitions; i++) {
        book->cells[book->run_count] = cell;
        book->cells[book->run_count].seed = book->seed_first + i;
        book->observations[book->run_count] = (struct observation){0};
        book->run_count++;
    }
}

/* --- running ----------------------------------------------------------------------------------- */

struct pool {
    struct book *book;
    struct progress progress;
    uint32_t taken; /* runs whose results have come, in their order */
};

/* The worker's own: it goes with its process. */
static void *start(void *context)
{
    struct observe_memory *memory = memory_take(sizeof *memory);
    (void)context;
    workers_keep_freed();
    return memory;
}

static bool work(void *context, void *state, void *slot, uint64_t item)
{
    const struct pool *pool = context;
    const struct book *book = pool->book;
    const struct cell *cell = &book->cells[book->done + item];
    struct text_pool texts = {0};
    observe(&texts, state, book->plan, &book->varied[cell->variant], cell, slot);
    text_pool_fini(&texts);
    return true;
}

static bool lost(void *context, void *slot, uint64_t item, enum workers_loss loss, int detail)
{
    struct observation *observed = slot;
    (void)context;
    (void)item;
    *observed = (struct observation){
        .standing = (uint8_t)(loss == WORKERS_LOSS_HANG ? DECISION_CENSORED : DECISION_FAILED)};
    (void)snprintf(observed->cause,
                   sizeof(observed->cause),
                   loss == WORKERS_LOSS_HANG ? "took longer than --hang-after" : "crash, signal %d",
                   detail);
    return true;
}

static void take(void *context, const void *slot)
{
    struct pool *pool = context;
    pool->book->observations[pool->book->done + pool->taken] = *(const struct observation *)slot;
    pool->taken++;
}

static void tick(void *context, uint64_t done)
{
    struct pool *pool = context;
    progress_show(&pool->progress, done);
}

enum err book_run(struct book *book, uint32_t jobs, nanos hang_after)
{
    struct pool pool = {.book = book};
    uint64_t handed_out = 0;
    const struct workers_options options = {
        .jobs = jobs,
        .slot_size = sizeof(struct observation),
        .hang_after = hang_after,
        .count = book->run_count - book->done,
        .chunk = 1,
        .context = &pool,
        .start = start,
        .work = work,
        .lost = lost,
        .take = take,
        .tick = tick,
    };
    if (options.count == 0) {
        return ERR_OK;
    }
    progress_start(&pool.progress, "gate", options.count);
    const enum err err = workers_run(&options, &handed_out);
    progress_end(&pool.progress);
    book->done += err == ERR_OK ? pool.taken : 0;
    return err;
}
