/* madvise is no part of POSIX; the name is the C library's own switch for it. */
#define _DEFAULT_SOURCE /* NOLINT(bugprone-reserved-identifier,readability-identifier-naming) */
#include "scenarios/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_MS          100
#define EXIT_NOT_STARTED 4

/* In shared memory, before the results. */
struct slot_header {
    _Atomic uint64_t beat; /* grows with each item begun or done */
    _Atomic uint64_t item; /* being worked on */
    bool stopped;          /* work or lost said false */
    max_align_t results[];
};

/* A run of items; for a replacement of a lost worker, the rest of one. */
struct chunk {
    uint64_t first;
    uint64_t last;
};

struct worker {
    pid_t pid;
    int socket; /* to the worker; -1: none */
    bool busy;
    bool quiet; /* a replacement: its predecessor has said what there is to say on stderr */
    uint64_t chunk_number;
    struct chunk chunk;
    uint64_t beat;
    uint64_t beat_at_ms;
    struct slot_header *slot;
};

/* A chunk that is done, waiting for those before it. */
struct parcel {
    struct parcel *next;
    uint64_t chunk_number;
    bool stopped;
    max_align_t results[];
};

struct pool {
    pid_t parent;
    const struct workers_options *options;
    struct worker *workers;
    uint32_t worker_count;
    uint8_t *slots;
    size_t slot_stride;
    uint64_t next_item;
    uint64_t next_chunk;  /* number of the next one to hand out */
    uint64_t taken;       /* chunks taken */
    uint64_t taken_items; /* items of these */
    struct parcel *parcels;
    bool stopped;
    enum err error;
};

static uint64_t wall_ms(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* --- in the worker ----------------------------------------------------------------------------- */

static bool read_all(int socket, void *memory, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t got = read(socket, (uint8_t *)memory + done, size - done);
        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

static void work_chunk(const struct workers_options *options,
                       void *state,
                       struct slot_header *slot,
                       const struct chunk *chunk)
{
    for (uint64_t item = chunk->first; item <= chunk->last; item++) {
        atomic_store(&slot->item, item);
        atomic_fetch_add(&slot->beat, 1);
        if (!options->work(options->context, state, slot->results, item)) {
            slot->stopped = true;
            break;
        }
    }
    atomic_fetch_add(&slot->beat, 1);
}

/* Leaves through exit, so that coverage and leak reports are written. */
NORETURN static void
work_until_end(const struct workers_options *options, int socket, struct slot_header *slot)
{
    struct chunk chunk;
    void *state = options->start(options->context);
    if (state == NULL) {
        exit(EXIT_NOT_STARTED);
    }
    while (read_all(socket, &chunk, sizeof chunk)) {
        const uint8_t done = 1;
        work_chunk(options, state, slot, &chunk);
        if (write(socket, &done, 1) != 1) {
            break;
        }
    }
    exit(0);
}

static void become_worker(const struct pool *pool, const struct worker *self, int socket)
{
    /* Between chunks the closed connection ends it; in a run that hangs nobody else would. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != pool->parent) {
        exit(0);
    }
    const struct rlimit no_core = {0, 0};
    const rlim_t memory_max = (rlim_t)pool->options->memory_max;
    const struct rlimit memory = {memory_max, memory_max};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    /* More than fits is more than there are addresses. */
    if (memory_max > 0 && memory_max == pool->options->memory_max) {
        (void)setrlimit(RLIMIT_AS, &memory);
    }
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        if (pool->workers[i].socket >= 0) {
            (void)close(pool->workers[i].socket);
        }
    }
    if (self->quiet) {
        const int null = open("/dev/null", O_WRONLY);
        if (null >= 0) {
            (void)dup2(null, STDERR_FILENO);
            (void)close(null);
        }
    }
    work_until_end(pool->options, socket, self->slot);
}

/* --- in the parent ----------------------------------------------------------------------------- */

static bool worker_spawn(struct pool *pool, struct worker *worker)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        return false;
    }
    /* What is still buffered would be written twice. */
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)close(pair[0]);
        become_worker(pool, worker, pair[1]);
    }
    (void)close(pair[1]);
    if (pid < 0) {
        (void)close(pair[0]);
        return false;
    }
    worker->pid = pid;
    worker->socket = pair[0];
    return true;
}

/* Close the connection and wait for the process; its wait status. */
static int worker_reap(struct worker *worker)
{
    int status = 0;
    if (worker->socket >= 0) {
        (void)close(worker->socket);
        worker->socket = -1;
    }
    while (worker->pid > 0 && waitpid(worker->pid, &status, 0) < 0 && errno == EINTR) {
    }
    worker->pid = 0;
    return status;
}

static bool worker_send(struct worker *worker)
{
    worker->busy = true;
    worker->beat = atomic_load(&worker->slot->beat);
    worker->beat_at_ms = wall_ms();
    return send(worker->socket, &worker->chunk, sizeof worker->chunk, MSG_NOSIGNAL) ==
           (ssize_t)sizeof worker->chunk;
}

/* Take a chunk's results, and those of waiting ones that follow it. */
static void pool_take(struct pool *pool, uint64_t items, bool stopped, const void *results)
{
    if (pool->stopped) {
        return;
    }
    pool->options->take(pool->options->context, results);
    pool->taken++;
    pool->taken_items += items;
    pool->stopped = stopped;
}

static uint64_t chunk_items(const struct pool *pool, uint64_t chunk_number)
{
    const uint64_t first = chunk_number * pool->options->chunk;
    const uint64_t left = pool->options->count - first;
    return left < pool->options->chunk ? left : pool->options->chunk;
}

static void pool_drain(struct pool *pool)
{
    struct parcel **place = &pool->parcels;
    while (*place != NULL && (*place)->chunk_number == pool->taken) {
        struct parcel *parcel = *place;
        pool_take(pool, chunk_items(pool, parcel->chunk_number), parcel->stopped, parcel->results);
        *place = parcel->next;
        free(parcel);
        if (pool->stopped) {
            return;
        }
    }
}

/* Keep a chunk that came before its turn, sorted by number. */
static void pool_park(struct pool *pool, const struct worker *worker)
{
    struct parcel *parcel = malloc(sizeof *parcel + pool->options->slot_size);
    if (parcel == NULL) {
        pool->error = ERR_LIMIT;
        return;
    }
    parcel->chunk_number = worker->chunk_number;
    parcel->stopped = worker->slot->stopped;
    memcpy(parcel->results, worker->slot->results, pool->options->slot_size);
    struct parcel **place = &pool->parcels;
    while (*place != NULL && (*place)->chunk_number < parcel->chunk_number) {
        place = &(*place)->next;
    }
    parcel->next = *place;
    *place = parcel;
}

static void worker_finish_chunk(struct pool *pool, struct worker *worker)
{
    worker->busy = false;
    if (worker->chunk_number == pool->taken) {
        pool_take(pool,
                  chunk_items(pool, worker->chunk_number),
                  worker->slot->stopped,
                  worker->slot->results);
        pool_drain(pool);
    } else {
        pool_park(pool, worker);
    }
}

/* A worker is gone in the middle of an item: note it, and let a new one go on behind it. */
static void worker_lose(struct pool *pool, struct worker *worker, enum workers_loss loss)
{
    const struct workers_options *options = pool->options;
    const int status = worker_reap(worker);
    if (loss == WORKERS_LOSS_CRASH && WIFEXITED(status) &&
        WEXITSTATUS(status) == EXIT_NOT_STARTED) {
        pool->error = ERR_LIMIT;
        return;
    }
    const int detail = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const uint64_t item = atomic_load(&worker->slot->item);
    const bool goes_on = options->lost(options->context, worker->slot->results, item, loss, detail);
    worker->slot->stopped = !goes_on;
    worker->quiet = true;
    if (!worker_spawn(pool, worker)) {
        pool->error = ERR_SYSTEM;
        return;
    }
    if (!goes_on || item == worker->chunk.last) {
        worker_finish_chunk(pool, worker);
        return;
    }
    worker->chunk.first = item + 1;
    if (!worker_send(worker)) {
        pool->error = ERR_SYSTEM;
    }
}

/* Hand the next chunk to an idle worker, if there is one to hand out. */
static void worker_feed(struct pool *pool, struct worker *worker)
{
    const struct workers_options *options = pool->options;
    if (pool->stopped || pool->next_item >= options->count) {
        return;
    }
    if (options->go_on != NULL && !options->go_on(options->context)) {
        pool->next_item = options->count;
        return;
    }
    worker->chunk_number = pool->next_chunk++;
    worker->chunk.first = pool->next_item;
    pool->next_item += chunk_items(pool, worker->chunk_number);
    worker->chunk.last = pool->next_item - 1;
    worker->slot->stopped = false;
    memset(worker->slot->results, 0, options->slot_size);
    atomic_store(&worker->slot->item, worker->chunk.first);
    if (!worker_send(worker)) {
        worker_lose(pool, worker, WORKERS_LOSS_CRASH);
    }
}

static void worker_watch(struct pool *pool, struct worker *worker)
{
    const uint64_t now = wall_ms();
    const uint64_t beat = atomic_load(&worker->slot->beat);
    if (beat != worker->beat) {
        worker->beat = beat;
        worker->beat_at_ms = now;
    } else if (pool->options->hang_after > 0 &&
               now - worker->beat_at_ms > pool->options->hang_after / NANOS_PER_MS) {
        (void)kill(worker->pid, SIGKILL);
        worker_lose(pool, worker, WORKERS_LOSS_HANG);
    }
}

static void worker_hear(struct pool *pool, struct worker *worker)
{
    uint8_t done = 0;
    const ssize_t got = read(worker->socket, &done, 1);
    if (got == 1) {
        worker_finish_chunk(pool, worker);
    } else if (got == 0 || errno != EINTR) {
        worker_lose(pool, worker, WORKERS_LOSS_CRASH);
    }
}

/* Wait for the busy workers; false when none is. */
static bool pool_wait(struct pool *pool)
{
    struct pollfd polls[WORKERS_MAX];
    struct worker *busy[WORKERS_MAX];
    nfds_t count = 0;
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        if (pool->workers[i].busy) {
            busy[count] = &pool->workers[i];
            polls[count] = (struct pollfd){.fd = pool->workers[i].socket, .events = POLLIN};
            count++;
        }
    }
    if (count == 0) {
        return false;
    }
    const int ready = poll(polls, count, POLL_MS);
    for (nfds_t i = 0; i < count && pool->error == ERR_OK; i++) {
        if (ready > 0 && polls[i].revents != 0) {
            worker_hear(pool, busy[i]);
        } else {
            worker_watch(pool, busy[i]);
        }
    }
    return true;
}

static bool pool_start(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        struct worker *worker = &pool->workers[i];
        worker->slot = (struct slot_header *)(void *)(pool->slots + i * pool->slot_stride);
        worker->socket = -1;
    }
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        if (!worker_spawn(pool, &pool->workers[i])) {
            return false;
        }
    }
    return true;
}

static void pool_loop(struct pool *pool)
{
    for (;;) {
        for (uint32_t i = 0; i < pool->worker_count && pool->error == ERR_OK; i++) {
            if (!pool->workers[i].busy) {
                worker_feed(pool, &pool->workers[i]);
            }
        }
        if (pool->error != ERR_OK || pool->stopped || !pool_wait(pool)) {
            return;
        }
        if (pool->options->tick != NULL) {
            pool->options->tick(pool->options->context, pool->taken_items);
        }
    }
}

/* Idle workers leave by themselves as their connection closes; busy ones are not needed any more. */
static void pool_end(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        struct worker *worker = &pool->workers[i];
        if (worker->pid > 0 && worker->busy) {
            (void)kill(worker->pid, SIGKILL);
        }
        if (worker->pid > 0) {
            (void)worker_reap(worker);
        }
    }
    while (pool->parcels != NULL) {
        struct parcel *next = pool->parcels->next;
        free(pool->parcels);
        pool->parcels = next;
    }
}

/* /dev/zero is POSIX's way to memory without a file. */
static void *map_zeros(size_t size, int how)
{
    const int zero = open("/dev/zero", O_RDWR);
    if (zero < 0) {
        return NULL;
    }
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, how, zero, 0);
    (void)close(zero);
    return memory == MAP_FAILED ? NULL : memory;
}

void *workers_memory(size_t size)
{
    return map_zeros(size, MAP_SHARED);
}

void *workers_memory_alone(size_t size)
{
    void *memory = map_zeros(size, MAP_PRIVATE);
#ifdef MADV_HUGEPAGE
    if (memory != NULL) {
        (void)madvise(memory, size, MADV_HUGEPAGE); /* a wish: all goes well without */
    }
#endif
    return memory;
}

void workers_memory_free(void *memory, size_t size)
{
    (void)munmap(memory, size);
}

void workers_keep_freed(void)
{
#ifdef M_MMAP_MAX
    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
    (void)mallopt(M_TOP_PAD, 64 << 20);
#endif
}

static uint32_t useful_workers(const struct workers_options *options)
{
    const uint64_t chunks = (options->count - 1) / options->chunk + 1;
    return chunks < options->jobs ? (uint32_t)chunks : options->jobs;
}

enum err workers_run(const struct workers_options *options, uint64_t *handed_out)
{
    CHECK(options->jobs >= 1);
    CHECK(options->jobs <= WORKERS_MAX);
    CHECK(options->chunk >= 1);
    *handed_out = 0;
    if (options->count == 0) {
        return ERR_OK;
    }
    struct pool pool = {
        .parent = getpid(),
        .options = options,
        .worker_count = useful_workers(options),
    };
    const size_t unit = 4096;
    pool.slot_stride = (sizeof(struct slot_header) + options->slot_size + unit - 1) / unit * unit;
    const size_t shared = pool.slot_stride * pool.worker_count;
    pool.workers = calloc(pool.worker_count, sizeof *pool.workers);
    void *memory = workers_memory(shared);
    if (pool.workers == NULL || memory == NULL) {
        free(pool.workers);
        return ERR_SYSTEM;
    }
    pool.slots = memory;
    if (pool_start(&pool)) {
        pool_loop(&pool);
    } else {
        pool.error = ERR_SYSTEM;
    }
    pool_end(&pool);
    *handed_out = pool.taken_items;
    workers_memory_free(memory, shared);
    free(pool.workers);
    return pool.error;
}
