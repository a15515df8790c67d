/* Calls about queues: what they are answered. queues.c does what they ask for. */
#include "models/cloudtasks/state.h"

static enum cloudtasks_queue_state state_of(const struct queue *queue)
{
    if (queue->disabled) {
        return CLOUDTASKS_QUEUE_DISABLED;
    }
    return queue->paused ? CLOUDTASKS_QUEUE_PAUSED : CLOUDTASKS_QUEUE_RUNNING;
}

static void
reply_queue(struct cloudtasks *state, const struct queue *queue, struct model_replies *replies)
{
    state->durations[0] = cloudtasks_duration_of(queue->task_ttl);
    state->durations[1] = cloudtasks_duration_of(queue->tombstone_ttl);
    state->queue_answer = (struct cloudtasks_queue){
        .name = queue->name,
        .state = state_of(queue),
        .task_ttl = &state->durations[0],
        .tombstone_ttl = queue->tombstone_ttl == 0 ? NULL : &state->durations[1],
        .http_target = queue->has_target ? &state->target_answer : NULL,
    };
    model_reply(replies, PORT_OK, &state->queue_answer);
}

static struct queue *seen_queue(struct cloudtasks *state,
                                struct bytes name,
                                const struct model_request *request,
                                struct model_replies *replies)
{
    struct queue *queue = cloudtasks_queue_find(state, name);
    if (queue == NULL) {
        cloudtasks_refuse(state, request, 0, PORT_NOT_FOUND, replies);
    }
    return queue;
}

void cloudtasks_call_get_queue(struct cloudtasks *state,
                               const struct model_request *request,
                               struct model_replies *replies)
{
    const struct cloudtasks_get_queue_request *asked = request->payload;
    if (cloudtasks_option(state, OPTION_QUEUE_READABLE) == 0) {
        cloudtasks_refuse(state, request, 0, PORT_PERMISSION_DENIED, replies);
        return;
    }
    struct queue *queue = seen_queue(state, asked->name, request, replies);
    if (queue != NULL) {
        reply_queue(state, queue, replies);
        cloudtasks_admin_verified(state, queue);
    }
}

/* A queue that looks made may not be (CT-21). */
static void reply_made(struct cloudtasks *state,
                       const struct model_request *request,
                       enum port_code code,
                       const struct queue *queue_or_null,
                       const struct cloudtasks_queue *asked_or_null,
                       struct model_replies *replies)
{
    if (code != PORT_OK) {
        cloudtasks_refuse(state, request, 0, code, replies);
    } else if (queue_or_null != NULL) {
        reply_queue(state, queue_or_null, replies);
    } else {
        model_reply(replies, PORT_OK, asked_or_null);
    }
}

void cloudtasks_call_create_queue(struct cloudtasks *state,
                                  const struct model_request *request,
                                  struct model_replies *replies)
{
    const struct cloudtasks_create_queue_request *asked = request->payload;
    struct queue *queue = NULL;
    const enum port_code code = cloudtasks_queue_create(state, asked, &queue);
    reply_made(state, request, code, queue, asked->queue, replies);
}

void cloudtasks_call_update_queue(struct cloudtasks *state,
                                  const struct model_request *request,
                                  struct model_replies *replies)
{
    const struct cloudtasks_update_queue_request *asked = request->payload;
    struct queue *queue = NULL;
    const enum port_code code = cloudtasks_queue_update(state, request, &queue);
    reply_made(state, request, code, queue, asked->queue, replies);
}

void cloudtasks_call_delete_queue(struct cloudtasks *state,
                                  const struct model_request *request,
                                  struct model_replies *replies)
{
    const struct cloudtasks_delete_queue_request *asked = request->payload;
    struct queue *queue = seen_queue(state, asked->name, request, replies);
    if (queue != NULL) {
        cloudtasks_queue_delete(state, queue, request);
        model_reply(replies, PORT_OK, NULL);
    }
}

void cloudtasks_call_pause_queue(struct cloudtasks *state,
                                 const struct model_request *request,
                                 struct model_replies *replies)
{
    const struct cloudtasks_pause_queue_request *asked = request->payload;
    struct queue *queue = seen_queue(state, asked->name, request, replies);
    if (queue != NULL) {
        cloudtasks_queue_pause(state, queue, request);
        reply_queue(state, queue, replies);
    }
}

void cloudtasks_call_resume_queue(struct cloudtasks *state,
                                  const struct model_request *request,
                                  struct model_replies *replies)
{
    const struct cloudtasks_resume_queue_request *asked = request->payload;
    struct queue *queue = seen_queue(state, asked->name, request, replies);
    if (queue != NULL) {
        cloudtasks_queue_resume(state, queue, request);
        reply_queue(state, queue, replies);
    }
}

void cloudtasks_call_purge_queue(struct cloudtasks *state,
                                 const struct model_request *request,
                                 struct model_replies *replies)
{
    const struct cloudtasks_purge_queue_request *asked = request->payload;
    struct queue *queue = seen_queue(state, asked->name, request, replies);
    if (queue != NULL) {
        cloudtasks_queue_purge(state, queue, request);
        reply_queue(state, queue, replies);
    }
}
