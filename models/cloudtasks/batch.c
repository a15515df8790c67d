/* BatchCreateTasks (CT-25): up to 100 tasks of one queue, each made or refused by itself. The real
 * answer is a long-running operation; here it is what the operation ends with: the tasks, and a code
 * per request that failed. A batch with a request id is done once: its repetition gets the first
 * answer. Observed only: one known name made the whole answer ALREADY_EXISTS, and the rest of the
 * tasks were there all the same (T16). */
#include "models/cloudtasks/state.h"
#include "sinks/base/digest.h"

#define REQUEST_ID_SIZE 36u /* of a UUID */
#define ANSWER_KEPT_FOR HOURS(24)
#define FAILS_EVERY_NTH 2u

/* What a batch with a request id was answered. */
struct batch {
    struct list_link link;
    uint64_t id; /* digest of the request id */
    nanos answered_at;
    enum port_code code;
    const struct cloudtasks_batch_create_tasks_response *answer;
};

struct round {
    const struct model_request *request;
    struct queue *queue;
    bool in_part;
    uint32_t known; /* names that exist already */
    uint32_t failed;
};

static bool batch_is_valid(const struct cloudtasks_batch_create_tasks_request *asked)
{
    if (asked->requests.count == 0 || asked->requests.count > CLOUDTASKS_BATCH_MAX ||
        (asked->request_id.size != 0 && asked->request_id.size != REQUEST_ID_SIZE)) {
        return false;
    }
    for (uint32_t i = 0; i < asked->requests.count; i++) {
        const struct cloudtasks_create_task_request *one = asked->requests.items[i];
        if (one->parent.size > 0 && !bytes_equal(one->parent, asked->parent)) {
            return false;
        }
    }
    return true;
}

static const struct batch *batch_find(const struct cloudtasks *state, struct bytes request_id)
{
    const uint64_t id = digest_bytes(request_id);
    for (struct list_link *link = list_first(&state->batches); link != NULL;
         link = list_next(&state->batches, link)) {
        const struct batch *batch = LIST_ITEM(link, struct batch, link);
        if (batch->id == id && cloudtasks_now(state) - batch->answered_at < ANSWER_KEPT_FOR) {
            return batch;
        }
    }
    return NULL;
}

static void batch_keep(struct cloudtasks *state, struct bytes request_id, enum port_code code)
{
    const struct port_message *message = &cloudtasks_batch_create_tasks_response_message;
    struct arena *arena = state->env.world->arena;
    struct batch *batch = arena_take_zeroed(arena, sizeof(*batch));
    const size_t size = port_clone_size(message, &state->batch_answer);
    batch->id = digest_bytes(request_id);
    batch->answered_at = cloudtasks_now(state);
    batch->code = code;
    batch->answer =
        port_clone_into(message, &state->batch_answer, arena_take(arena, size), size, NULL);
    list_push_front(&state->batches, &batch->link);
}

static void fail_one(struct cloudtasks *state, struct round *round, uint32_t index, uint32_t code)
{
    struct cloudtasks_batch_room *room = state->batch_room;
    room->failures[round->failed] = (struct cloudtasks_batch_failure){index, code};
    room->failure_items[round->failed] = &room->failures[round->failed];
    round->failed++;
    round->known += code == PORT_ALREADY_EXISTS;
}

static void do_one(struct cloudtasks *state,
                   struct round *round,
                   uint32_t index,
                   const struct cloudtasks_create_task_request *asked)
{
    struct task *task = NULL;
    if (round->in_part && index % FAILS_EVERY_NTH != 0) {
        fail_one(state, round, index, PORT_UNAVAILABLE);
        return;
    }
    const enum port_code code =
        cloudtasks_create_one(state, round->queue, asked->task, round->request, &task);
    if (code != PORT_OK) {
        fail_one(state, round, index, code);
        return;
    }
    struct cloudtasks_page *page = &state->page;
    cloudtasks_describe(state, task, false, &page->tasks[page->count]);
    page->items[page->count] = &page->tasks[page->count].task;
    page->count++;
    cloudtasks_admin_created(state, round->queue);
}

static void make_room(struct cloudtasks *state)
{
    cloudtasks_page_init(state);
    state->page.count = 0;
    if (state->batch_room == NULL) {
        state->batch_room = arena_take_zeroed(state->env.world->arena, sizeof(*state->batch_room));
    }
}

/* The tasks of a batch may outlive the queue that they are made in, for what was planned from
 * outside may come in between; then the rest finds none. */
static enum port_code
do_all(struct cloudtasks *state, struct queue *queue, const struct model_request *request)
{
    const struct cloudtasks_batch_create_tasks_request *asked = request->payload;
    const bool can_part = asked->requests.count > 1;
    struct round round = {.request = request, .queue = queue};
    make_room(state);
    round.in_part = can_part && cloudtasks_draw(state, SITE_BATCH, CHOICE_ALL) == BATCH_IN_PART;
    for (uint32_t i = 0; i < asked->requests.count; i++) {
        if (queue->exists) {
            do_one(state, &round, i, asked->requests.items[i]);
        } else {
            fail_one(state, &round, i, PORT_NOT_FOUND);
        }
    }
    state->batch_answer = (struct cloudtasks_batch_create_tasks_response){
        .tasks = {state->page.items, state->page.count},
        .failures = {state->batch_room->failure_items, round.failed},
    };
    if (round.known > 0 &&
        cloudtasks_draw(state, SITE_BATCH_ANSWER, CHOICE_ALL) == BATCH_ANSWER_REFUSES_ALL) {
        return PORT_ALREADY_EXISTS;
    }
    return PORT_OK;
}

enum port_code cloudtasks_batch(struct cloudtasks *state,
                                struct queue *queue,
                                const struct model_request *request,
                                const void **answer)
{
    const struct cloudtasks_batch_create_tasks_request *asked = request->payload;
    const bool has_id = asked->request_id.size > 0;
    if (!batch_is_valid(asked)) {
        return PORT_INVALID_ARGUMENT;
    }
    const struct batch *known = has_id ? batch_find(state, asked->request_id) : NULL;
    if (known != NULL) {
        COVER(state->env.world, CLOUDTASKS_BATCH_REPEATED);
        *answer = known->answer;
        return known->code;
    }
    const enum port_code code = do_all(state, queue, request);
    if (has_id) {
        batch_keep(state, asked->request_id, code);
    }
    *answer = &state->batch_answer;
    return code;
}
