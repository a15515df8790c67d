/* ListTasks (CT-18): any order, pages that may be short or empty, tokens that last for two hours.
 * A page is made from where the last one ended, not from a list that was kept: what came or went in
 * between shows or does not. That a list shows a task as soon as it was made is nowhere promised, so
 * for the adversary it lags.
 *
 * A token says in which order, after which creation, in which incarnation of the queue, and when. */
#include "models/cloudtasks/state.h"

#define TOKEN_VALID_FOR HOURS(2)
#define TOKEN_PARTS     4u
#define LIST_LAG        SECONDS(10)

#define LIST_BIT(outcome) (UINT32_C(1) << (outcome))

struct query {
    bool newest_first;
    bool lags;
    uint64_t after; /* the serial that the last page ended with */
    uint32_t count_max;
};

/* Numbers separated by periods; false for any other text. */
static bool read_numbers(struct bytes text, uint64_t numbers[TOKEN_PARTS])
{
    uint32_t part = 0;
    bool has_digit = false;
    numbers[0] = 0;
    for (size_t i = 0; i < text.size; i++) {
        const uint8_t letter = text.data[i];
        if (letter == '.' && has_digit && part + 1 < TOKEN_PARTS) {
            numbers[++part] = 0;
            has_digit = false;
        } else if (letter >= '0' && letter <= '9' && numbers[part] < UINT64_MAX / 10) {
            numbers[part] = numbers[part] * 10 + (uint64_t)(letter - '0');
            has_digit = true;
        } else {
            return false;
        }
    }
    return has_digit && part + 1 == TOKEN_PARTS;
}

static bool read_token(const struct cloudtasks *state,
                       const struct queue *queue,
                       struct bytes token,
                       struct query *query)
{
    uint64_t numbers[TOKEN_PARTS];
    if (token.size > TOKEN_SIZE_MAX || !read_numbers(token, numbers)) {
        return false;
    }
    query->newest_first = numbers[0] != 0;
    query->after = numbers[1];
    const nanos now = cloudtasks_now(state);
    return numbers[2] == queue->incarnation && numbers[3] <= now &&
           now - numbers[3] < TOKEN_VALID_FOR;
}

static struct bytes write_token(struct cloudtasks *state,
                                const struct queue *queue,
                                const struct query *query,
                                uint64_t last)
{
    struct byte_writer writer;
    byte_writer_init(&writer, state->page.token, sizeof(state->page.token));
    byte_writer_decimal(&writer, query->newest_first ? 1 : 0);
    byte_writer_text(&writer, ".");
    byte_writer_decimal(&writer, last);
    byte_writer_text(&writer, ".");
    byte_writer_decimal(&writer, queue->incarnation);
    byte_writer_text(&writer, ".");
    byte_writer_decimal(&writer, cloudtasks_now(state));
    CHECK(!writer.overflowed);
    return byte_writer_view(&writer);
}

static bool is_young(const struct cloudtasks *state, const struct task *task)
{
    return cloudtasks_now(state) - task->created_at < LIST_LAG;
}

bool cloudtasks_is_seen(struct cloudtasks *state, const struct task *task)
{
    return !is_young(state, task) || cloudtasks_draw(state, SITE_SEEN, CHOICE_ALL) == SEEN_AT_ONCE;
}

/* Draw only what an answer could show. */
static void
draw(struct cloudtasks *state, const struct queue *queue, bool is_first, struct query *query)
{
    uint32_t wanted = LIST_BIT(LIST_AS_MADE) | LIST_BIT(LIST_EMPTY);
    if (list_is_empty(&queue->tasks)) {
        return;
    }
    if (queue->tasks.count > 1) {
        wanted |= LIST_BIT(is_first ? LIST_NEWEST_FIRST : LIST_ORDER_CHANGES);
        wanted |= LIST_BIT(LIST_SHORT);
    }
    if (is_young(state, LIST_ITEM(list_last(&queue->tasks), struct task, link))) {
        wanted |= LIST_BIT(LIST_LAGS);
    }
    switch ((enum cloudtasks_list)cloudtasks_draw(state, SITE_LIST, wanted)) {
    case LIST_AS_MADE:
        return;
    case LIST_NEWEST_FIRST:
        query->newest_first = true;
        query->after = UINT64_MAX;
        return;
    case LIST_ORDER_CHANGES:
        query->newest_first = !query->newest_first;
        return;
    case LIST_SHORT:
        query->count_max = (query->count_max + 1) / 2;
        return;
    case LIST_EMPTY:
        query->count_max = 0;
        return;
    case LIST_LAGS:
        query->lags = true;
        return;
    }
    UNREACHABLE();
}

static bool
is_wanted(const struct cloudtasks *state, const struct query *query, const struct task *task)
{
    if (query->lags && is_young(state, task)) {
        return false;
    }
    return query->newest_first ? task->serial < query->after : task->serial > query->after;
}

static uint64_t
count_wanted(const struct cloudtasks *state, const struct queue *queue, const struct query *query)
{
    uint64_t count = 0;
    for (struct list_link *link = list_first(&queue->tasks); link != NULL;
         link = list_next(&queue->tasks, link)) {
        count += is_wanted(state, query, LIST_ITEM(link, struct task, link));
    }
    return count;
}

/* Fill the page with wanted tasks from the skip-th on, as they were made. Gives the serial that the
 * next page starts after. */
static uint64_t fill(struct cloudtasks *state,
                     const struct queue *queue,
                     const struct query *query,
                     uint64_t skip,
                     bool whole)
{
    struct cloudtasks_page *page = &state->page;
    uint64_t seen = 0;
    uint64_t first = query->after;
    uint64_t last = first;
    page->count = 0;
    for (struct list_link *link = list_first(&queue->tasks);
         link != NULL && page->count < query->count_max;
         link = list_next(&queue->tasks, link)) {
        const struct task *task = LIST_ITEM(link, struct task, link);
        if (!is_wanted(state, query, task) || seen++ < skip) {
            continue;
        }
        first = page->count == 0 ? task->serial : first;
        last = task->serial;
        cloudtasks_describe(state, task, whole, &page->tasks[page->count]);
        page->items[page->count] = &page->tasks[page->count].task;
        page->count++;
    }
    return query->newest_first ? first : last;
}

static void reverse(struct cloudtasks_page *page)
{
    for (uint32_t i = 0; i < page->count / 2; i++) {
        const void *swapped = page->items[i];
        page->items[i] = page->items[page->count - 1 - i];
        page->items[page->count - 1 - i] = swapped;
    }
}

void cloudtasks_page_init(struct cloudtasks *state)
{
    struct arena *arena = state->env.world->arena;
    struct cloudtasks_page *page = &state->page;
    if (page->tasks == NULL) {
        page->tasks = arena_take(arena, CLOUDTASKS_PAGE_MAX * sizeof(*page->tasks));
        page->items = arena_take(arena, CLOUDTASKS_PAGE_MAX * sizeof(*page->items));
    }
}

enum port_code cloudtasks_list(struct cloudtasks *state,
                               const struct queue *queue,
                               const struct cloudtasks_list_tasks_request *asked)
{
    const bool is_first = asked->page_token.size == 0;
    const bool whole = asked->response_view == CLOUDTASKS_VIEW_FULL;
    struct query query = {.count_max = asked->page_size};
    if (asked->page_size == 0 || asked->page_size > CLOUDTASKS_PAGE_MAX) {
        query.count_max = CLOUDTASKS_PAGE_MAX;
    }
    if (!is_first && !read_token(state, queue, asked->page_token, &query)) {
        return PORT_INVALID_ARGUMENT;
    }
    if (whole && cloudtasks_option(state, OPTION_TASKS_READABLE) == 0) {
        return PORT_PERMISSION_DENIED;
    }
    cloudtasks_page_init(state);
    draw(state, queue, is_first, &query);
    const uint64_t wanted = count_wanted(state, queue, &query);
    const bool is_rest = wanted <= query.count_max;
    const uint64_t skip = query.newest_first && !is_rest ? wanted - query.count_max : 0;
    const uint64_t next = fill(state, queue, &query, skip, whole);
    if (query.newest_first) {
        reverse(&state->page);
    }
    state->list_answer = (struct cloudtasks_list_tasks_response){
        .tasks = {state->page.items, state->page.count},
        .next_page_token =
            is_rest ? (struct bytes){NULL, 0} : write_token(state, queue, &query, next),
    };
    return PORT_OK;
}

void cloudtasks_describe(struct cloudtasks *state,
                         const struct task *task,
                         bool whole,
                         struct cloudtasks_listed *into)
{
    const struct cloudtasks_task *asked = task->whole_or_null;
    into->schedule_time = cloudtasks_timestamp_of(task->due_wall);
    into->create_time = cloudtasks_timestamp_of(task->created_wall / NANOS_PER_S * NANOS_PER_S);
    into->dispatch_deadline = cloudtasks_duration_of(task->dispatch_deadline);
    into->task = (struct cloudtasks_task){
        .name = world_resource_name(state->env.world, task->resource),
        .schedule_time = &into->schedule_time,
        .create_time = &into->create_time,
        .dispatch_deadline = &into->dispatch_deadline,
        .dispatch_count = task->attempts,
    };
    if (whole && asked != NULL) {
        into->task.http_request = asked->http_request;
        into->task.app_engine_http_request = asked->app_engine_http_request;
    }
}
