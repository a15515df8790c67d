/* The pool: all items once, in order, whatever the workers do to themselves.
 * link: scenarios/workers sinks/base/units
 */
#include "scenarios/workers.h"

#include "sinks/base/test.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ITEMS_MAX 1000u

/* What a chunk left. */
struct slot {
    uint64_t sum;
    uint64_t first;
    uint32_t count;
    uint32_t crashes;
    uint32_t hangs;
};

struct work {
    uint64_t crash_at; /* item that aborts its process; UINT64_MAX none */
    uint64_t crash_every;
    uint64_t hang_at;
    int hung; /* where an item that hangs writes a byte first; 0: nowhere */
    uint64_t stop_at;
    uint64_t go_on_for; /* chunks handed out; 0: all */
    bool no_start;
    /* results */
    uint64_t sum;
    uint64_t count;
    uint64_t crashes;
    uint64_t hangs;
    uint64_t last_first;
    bool out_of_order;
};

static void *start(void *context)
{
    struct work *work = context;
    return work->no_start ? NULL : work;
}

static bool do_item(void *context, void *state, void *memory, uint64_t item)
{
    const struct work *work = context;
    struct slot *slot = memory;
    (void)state;
    if (slot->count == 0 && slot->crashes == 0) {
        slot->first = item;
    }
    if (item == work->crash_at || (work->crash_every > 0 && item % work->crash_every == 3)) {
        (void)signal(SIGABRT, SIG_DFL);
        abort();
    }
    if (item == work->hang_at) {
        if (work->hung > 0) {
            (void)!write(work->hung, "h", 1);
        }
        for (;;) {
            (void)pause();
        }
    }
    slot->sum += item;
    slot->count++;
    return item != work->stop_at;
}

static bool lose(void *context, void *memory, uint64_t item, enum workers_loss loss, int detail)
{
    const struct work *work = context;
    struct slot *slot = memory;
    if (loss == WORKERS_LOSS_CRASH) {
        assert_int_equal(detail, SIGABRT);
        slot->crashes++;
    } else {
        slot->hangs++;
    }
    return item != work->stop_at;
}

static void take(void *context, const void *memory)
{
    struct work *work = context;
    const struct slot *slot = memory;
    work->sum += slot->sum;
    work->count += slot->count;
    work->crashes += slot->crashes;
    work->hangs += slot->hangs;
    work->out_of_order = work->out_of_order || slot->first < work->last_first;
    work->last_first = slot->first;
}

static bool go_on(void *context)
{
    struct work *work = context;
    if (work->go_on_for == 0) {
        return true;
    }
    work->go_on_for--;
    return work->go_on_for > 0;
}

static uint64_t run(struct work *work, uint32_t jobs, uint64_t count)
{
    const struct workers_options options = {
        .jobs = jobs,
        .slot_size = sizeof(struct slot),
        .hang_after = SECONDS(2),
        .count = count,
        .chunk = 7,
        .context = work,
        .start = start,
        .work = do_item,
        .lost = lose,
        .take = take,
        .go_on = go_on,
    };
    uint64_t done = 0;
    assert_int_equal(workers_run(&options, &done), ERR_OK);
    assert_false(work->out_of_order);
    return done;
}

static struct work plain(void)
{
    return (struct work){
        .crash_at = UINT64_MAX,
        .hang_at = UINT64_MAX,
        .stop_at = UINT64_MAX,
    };
}

static void every_item_is_done_once_by_any_number_of_workers(void **state)
{
    (void)state;
    for (uint32_t jobs = 1; jobs <= 5; jobs++) {
        struct work work = plain();
        assert_int_equal(run(&work, jobs, 100), 100);
        assert_int_equal(work.count, 100);
        assert_int_equal(work.sum, 4950);
    }
}

static void no_items_need_no_workers(void **state)
{
    (void)state;
    struct work work = plain();
    assert_int_equal(run(&work, 3, 0), 0);
    assert_int_equal(work.count, 0);
}

static void a_crash_costs_its_own_item(void **state)
{
    (void)state;
    for (uint32_t jobs = 1; jobs <= 3; jobs++) {
        struct work work = plain();
        work.crash_at = 6; /* the last of its chunk */
        assert_int_equal(run(&work, jobs, 50), 50);
        assert_int_equal(work.count, 49);
        assert_int_equal(work.sum, 1225 - 6);
        assert_int_equal(work.crashes, 1);
    }
}

static void many_crashes_are_all_told(void **state)
{
    (void)state;
    struct work work = plain();
    work.crash_every = 10;
    assert_int_equal(run(&work, 2, 60), 60);
    assert_int_equal(work.count, 54);
    assert_int_equal(work.crashes, 6);
}

static void a_hang_is_ended_and_told(void **state)
{
    (void)state;
    struct work work = plain();
    work.hang_at = 11;
    assert_int_equal(run(&work, 2, 30), 30);
    assert_int_equal(work.count, 29);
    assert_int_equal(work.hangs, 1);
}

/* Goal: no worker outlives a sweep that is killed, even one whose run hangs. Method: a pipe that only
 * the sweep and its workers can write to is at its end when all of them are gone. */
static void workers_end_with_the_process_that_made_them(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t sweep = fork();
    if (sweep == 0) {
        struct work work = plain();
        work.hang_at = 0;
        work.hung = ends[1];
        (void)close(ends[0]);
        (void)run(&work, 1, 1);
        _exit(0);
    }
    (void)close(ends[1]);
    char byte = 0;
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(kill(sweep, SIGKILL), 0);
    assert_int_equal(waitpid(sweep, NULL, 0), sweep);
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&end, 1, 1500), 1);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    (void)close(ends[0]);
}

/* Goal: what a stop leaves does not depend on the number of workers. Method: stop in the middle of a
 * chunk and compare. */
static void a_stop_takes_nothing_behind_it(void **state)
{
    (void)state;
    for (uint32_t jobs = 1; jobs <= 4; jobs++) {
        struct work work = plain();
        work.stop_at = 38;
        (void)run(&work, jobs, ITEMS_MAX);
        assert_int_equal(work.count, 39);
        assert_int_equal(work.sum, 741);
    }
}

static void a_sweep_may_end_before_its_items(void **state)
{
    (void)state;
    struct work work = plain();
    work.go_on_for = 4;
    assert_int_equal(run(&work, 2, ITEMS_MAX), 21);
    assert_int_equal(work.count, 21);
}

static void a_worker_that_cannot_start_is_an_error(void **state)
{
    (void)state;
    struct work work = plain();
    work.no_start = true;
    const struct workers_options options = {
        .jobs = 2,
        .slot_size = sizeof(struct slot),
        .count = 10,
        .chunk = 1,
        .context = &work,
        .start = start,
        .work = do_item,
        .lost = lose,
        .take = take,
    };
    uint64_t done = 0;
    assert_int_equal(workers_run(&options, &done), ERR_LIMIT);
    assert_int_equal(done, 0);
}

TEST_MAIN(workers,
          TEST(every_item_is_done_once_by_any_number_of_workers),
          TEST(no_items_need_no_workers),
          TEST(a_crash_costs_its_own_item),
          TEST(many_crashes_are_all_told),
          TEST(a_hang_is_ended_and_told),
          TEST(workers_end_with_the_process_that_made_them),
          TEST(a_stop_takes_nothing_behind_it),
          TEST(a_sweep_may_end_before_its_items),
          TEST(a_worker_that_cannot_start_is_an_error))
