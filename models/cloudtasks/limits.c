/* What a well-formed request is: names (CT-02), times (CT-08, CT-14), sizes and bodies (CT-09).
 * Pure functions. Kilobytes are of 1000 bytes where the documents leave it open: the smaller
 * reading is the one that a sink can rely on. */
#include "models/cloudtasks/state.h"

#include <string.h>

#define TASK_ID_MAX             500u
#define QUEUE_ID_MAX            100u
#define URL_MAX                 2083u
#define HEADERS_LIMIT           80000u /* must be below */
#define SCHEDULE_AHEAD_MAX      DAYS(30)
#define DEADLINE_DEFAULT        MINUTES(10)
#define DEADLINE_MIN            SECONDS(15)
#define DEADLINE_MAX            MINUTES(30)
#define DEADLINE_MAX_APP_ENGINE (HOURS(24) + SECONDS(15))
/* Of one field on the wire: tag and size, or tag and number. */
#define FIELD_OVERHEAD     16u
#define METHOD_BIT(method) (UINT32_C(1) << (method))

#define METHODS_ALL                                                                                \
    (METHOD_BIT(CLOUDTASKS_POST) | METHOD_BIT(CLOUDTASKS_GET) | METHOD_BIT(CLOUDTASKS_HEAD) |      \
     METHOD_BIT(CLOUDTASKS_PUT) | METHOD_BIT(CLOUDTASKS_DELETE) | METHOD_BIT(CLOUDTASKS_PATCH) |   \
     METHOD_BIT(CLOUDTASKS_OPTIONS))

/* A set of ASCII characters: bit c of the 128. */
struct letters {
    uint64_t low;
    uint64_t high;
};

#define DIGITS     UINT64_C(0x03ff000000000000)
#define HYPHEN     (UINT64_C(1) << '-')
#define PERIOD     (UINT64_C(1) << '.')
#define COLON      (UINT64_C(1) << ':')
#define LETTERS    UINT64_C(0x07fffffe07fffffe)
#define UNDERSCORE (UINT64_C(1) << ('_' - 64))

static const struct letters project_letters = {DIGITS | HYPHEN | PERIOD | COLON,
                                               LETTERS | UNDERSCORE};
static const struct letters plain_letters = {DIGITS | HYPHEN, LETTERS};
static const struct letters task_letters = {DIGITS | HYPHEN, LETTERS | UNDERSCORE};

/* Eight of the characters that every set here has: digits, letters and the hyphen. */
static bool is_plain_word(const uint8_t *data)
{
    const uint64_t word = bytes_word(data);
    const uint64_t lower = word | BYTES_WORD_ONES * 0x20; /* makes no letter of what is none */
    const uint64_t good = bytes_word_between(word, '0', '9') | bytes_word_between(word, '-', '-') |
                          bytes_word_between(lower, 'a', 'z');
    return (good & ~word) == BYTES_WORD_HIGH;
}

/* One segment of a name: 1 to size_max characters of a set. Most are plain, and long ones should not
 * take long. */
static bool segment_is_valid(struct bytes segment, size_t size_max, struct letters letters)
{
    uint64_t all = 1;
    if (segment.size == 0 || segment.size > size_max) {
        return false;
    }
    size_t plain = 0;
    while (segment.size - plain >= BYTES_WORD_SIZE && is_plain_word(segment.data + plain)) {
        plain += BYTES_WORD_SIZE;
    }
    for (size_t i = plain; i < segment.size; i++) {
        const uint8_t letter = segment.data[i];
        const uint64_t half = letter < 64 ? letters.low : letters.high;
        all &= letter < 128 ? half >> (letter & 63) : 0;
    }
    return all != 0;
}

/* Take a literal off the front; false if it is not there. */
static bool take_literal(struct bytes *name, struct bytes literal)
{
    if (name->size < literal.size || memcmp(name->data, literal.data, literal.size) != 0) {
        return false;
    }
    name->data += literal.size;
    name->size -= literal.size;
    return true;
}

/* Take what comes before the next slash or the end. */
static struct bytes take_segment(struct bytes *name)
{
    struct bytes segment = {name->data, 0};
    while (segment.size < name->size && name->data[segment.size] != '/') {
        segment.size++;
    }
    if (segment.size > 0) {
        name->data += segment.size;
        name->size -= segment.size;
    }
    return segment;
}

static bool take_location(struct bytes *name)
{
    return take_literal(name, BYTES_LITERAL("projects/")) &&
           segment_is_valid(take_segment(name), 100, project_letters) &&
           take_literal(name, BYTES_LITERAL("/locations/")) &&
           segment_is_valid(take_segment(name), 100, plain_letters);
}

bool cloudtasks_location_is_valid(struct bytes name)
{
    return take_location(&name) && name.size == 0;
}

bool cloudtasks_queue_name_is_valid(struct bytes name)
{
    return take_location(&name) && take_literal(&name, BYTES_LITERAL("/queues/")) &&
           segment_is_valid(take_segment(&name), QUEUE_ID_MAX, plain_letters) && name.size == 0;
}

bool cloudtasks_task_name_is_valid(struct bytes name, struct bytes queue)
{
    return take_literal(&name, queue) && take_literal(&name, BYTES_LITERAL("/tasks/")) &&
           segment_is_valid(name, TASK_ID_MAX, task_letters);
}

static bool method_is_valid(uint32_t method)
{
    return method == CLOUDTASKS_HTTP_METHOD_NONE || (method < 32 && METHODS_ALL >> method & 1);
}

/* No method means POST. */
static bool method_takes_body(uint32_t method, uint32_t methods_with_body)
{
    return method == CLOUDTASKS_HTTP_METHOD_NONE || (methods_with_body >> method & 1) != 0;
}

static bool headers_are_valid(struct port_list headers)
{
    size_t size = 0;
    for (uint32_t i = 0; i < headers.count; i++) {
        const struct cloudtasks_header *header = headers.items[i];
        size += header->key.size + header->value.size;
    }
    return size < HEADERS_LIMIT;
}

static bool http_is_valid(const struct cloudtasks_http_request *http)
{
    struct bytes url = http->url;
    if (url.size > URL_MAX || !method_is_valid(http->http_method)) {
        return false;
    }
    if (!take_literal(&url, BYTES_LITERAL("https://")) &&
        !take_literal(&url, BYTES_LITERAL("http://"))) {
        return false;
    }
    const uint32_t with_body =
        METHOD_BIT(CLOUDTASKS_POST) | METHOD_BIT(CLOUDTASKS_PUT) | METHOD_BIT(CLOUDTASKS_PATCH);
    return url.size > 0 && headers_are_valid(http->headers) &&
           (http->body.size == 0 || method_takes_body(http->http_method, with_body));
}

static bool app_engine_is_valid(const struct cloudtasks_app_engine_http_request *http)
{
    const struct bytes uri = http->relative_uri;
    if (uri.size > URL_MAX || !method_is_valid(http->http_method)) {
        return false;
    }
    const uint32_t with_body = METHOD_BIT(CLOUDTASKS_POST) | METHOD_BIT(CLOUDTASKS_PUT);
    return (uri.size == 0 || uri.data[0] == '/') && headers_are_valid(http->headers) &&
           (http->body.size == 0 || method_takes_body(http->http_method, with_body));
}

/* Saturating; what is negative counts as 0. */
static nanos nanos_of(int64_t seconds, uint32_t rest)
{
    return seconds < 0 ? 0 : nanos_add(nanos_mul(NANOS_PER_S, (uint64_t)seconds), rest);
}

static bool deadline_is_valid(const struct cloudtasks_task *task)
{
    const struct cloudtasks_duration *deadline = task->dispatch_deadline;
    if (deadline == NULL) {
        return true;
    }
    const nanos length = nanos_of(deadline->seconds, deadline->nanos);
    const nanos max = task->http_request != NULL ? DEADLINE_MAX : DEADLINE_MAX_APP_ENGINE;
    return deadline->nanos < NANOS_PER_S && length >= DEADLINE_MIN && length <= max;
}

static bool schedule_is_valid(const struct cloudtasks_task *task, nanos wall)
{
    const struct cloudtasks_timestamp *when = task->schedule_time;
    if (when == NULL) {
        return true;
    }
    return when->nanos < NANOS_PER_S &&
           nanos_of(when->seconds, when->nanos) <= nanos_add(wall, SCHEDULE_AHEAD_MAX);
}

static size_t headers_size_bound(struct port_list headers)
{
    size_t size = 0;
    for (uint32_t i = 0; i < headers.count; i++) {
        const struct cloudtasks_header *header = headers.items[i];
        size += header->key.size + header->value.size + (size_t)3 * FIELD_OVERHEAD;
    }
    return size;
}

/* At least the size of the wire form, and cheap: most tasks are far from the limit. */
static size_t size_bound(const struct cloudtasks_task *task)
{
    size_t size = task->name.size + (size_t)16 * FIELD_OVERHEAD;
    if (task->http_request != NULL) {
        const struct cloudtasks_http_request *http = task->http_request;
        size += http->url.size + http->body.size + headers_size_bound(http->headers);
    }
    if (task->app_engine_http_request != NULL) {
        const struct cloudtasks_app_engine_http_request *http = task->app_engine_http_request;
        size += http->relative_uri.size + http->body.size + headers_size_bound(http->headers);
    }
    return size;
}

bool cloudtasks_task_fits(const struct cloudtasks_task *task, size_t size_max)
{
    return size_bound(task) <= size_max ||
           port_encoded_size(&cloudtasks_task_message, task) <= size_max;
}

bool cloudtasks_task_is_valid(const struct cloudtasks_task *task, nanos wall)
{
    if ((task->http_request == NULL) == (task->app_engine_http_request == NULL)) {
        return false;
    }
    if (!deadline_is_valid(task) || !schedule_is_valid(task, wall)) {
        return false;
    }
    return task->http_request != NULL ? http_is_valid(task->http_request)
                                      : app_engine_is_valid(task->app_engine_http_request);
}

nanos cloudtasks_due_wall(const struct cloudtasks_task *task, nanos wall)
{
    const struct cloudtasks_timestamp *when = task->schedule_time;
    const nanos asked = when == NULL ? 0 : nanos_of(when->seconds, when->nanos);
    const nanos due = asked > wall ? asked : wall;
    return due - due % NANOS_PER_US;
}

nanos cloudtasks_dispatch_deadline(const struct cloudtasks_task *task)
{
    const struct cloudtasks_duration *deadline = task->dispatch_deadline;
    return deadline == NULL ? DEADLINE_DEFAULT : nanos_of(deadline->seconds, deadline->nanos);
}

struct bytes cloudtasks_content(const struct cloudtasks_task *task)
{
    if (task->http_request != NULL) {
        const struct cloudtasks_http_request *http = task->http_request;
        return http->body.size > 0 ? http->body : http->url;
    }
    const struct cloudtasks_app_engine_http_request *http = task->app_engine_http_request;
    return http->body.size > 0 ? http->body : http->relative_uri;
}
