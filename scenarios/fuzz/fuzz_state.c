/* Any bytes may stand where a half expects its own: in restored committables, in pieces of writer state,
 * in what the user's code gives and in payloads of answers. A half takes them or fails with a reason; it
 * never sends what it did not understand, keeps no memory and closes when it is told to.
 *
 * The input picks a sink, a half and its options, then gives up to seven committables or pieces, and the
 * rest is a script of events. The host keeps the contract: an event that is not allowed now is left out. */
#include "scenarios/fuzz/half_host.h"
#include "scenarios/fuzz/state_sinks.h"
#include "scenarios/fuzz/target.h"
#include "sinks/base/digest.h"
#include "sinks/cloudtasks/cloudtasks_sinks.h"

#include <stdlib.h>
#include <string.h>

#define PIECES_MAX  7u
#define LARGE_FROM  0xff00u
#define LARGE_LEAST 0x10000u

/* The first two bytes; what else the first one holds is told in state_sinks.h. */
#define IS_COMMITTER(head)    (((head) >> 4 & 1) != 0)
#define EXTRACTS(head)        (((head) >> 7 & 1) != 0)
#define ALLOCATION_FAILS(two) ((two) >> 3) /* n-th; 0 none */
#define PIECE_COUNT(two)      ((two)&7)

enum operation {
    OPERATION_ANSWER_OK = 0,
    OPERATION_ANSWER_ERROR,
    OPERATION_ANSWER_UNKNOWN,
    OPERATION_TIMER,
    OPERATION_MORE,
    OPERATION_PASS_TIME,
    OPERATION_RECORD,
    OPERATION_BARRIER,
    OPERATION_COMMIT,
    OPERATION_NOTICE,
    OPERATION_POLICY_DROPPED,
    OPERATION_POLICY_FAILED,
    OPERATION_POLICY_FLUSHED,
    OPERATION_COUNT,
};

/* One half from OPEN to CLOSED under a script. */
struct life {
    struct half_host host;
    struct byte_reader script;
    const struct state_sink *sink;
    bool is_committer;
    struct sink_commit_request requests[PIECES_MAX];
    uint32_t request_count;
    uint8_t *blocks[PIECES_MAX]; /* that the requests' data lies in */
    uint8_t *lent[4];            /* what the user's callbacks gave last */
};

/* --- bytes of the script ---------------------------------------------------------------------- */

static void *take(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);
    CHECK(memory != NULL);
    return memory;
}

/* The next bytes of the script, as a copy of exactly their size. A size from LARGE_FROM on stands for a
 * few bytes of the script with a filling behind them: more than an input would hold. */
static struct bytes read_bytes(struct life *life, uint8_t **block)
{
    size_t size = byte_reader_u8(&life->script);
    size += (size_t)byte_reader_u8(&life->script) << 8;
    size_t whole = 0;
    if (size >= LARGE_FROM) {
        size -= LARGE_FROM;
        whole = LARGE_LEAST + byte_reader_u8(&life->script);
        whole += (size_t)byte_reader_u8(&life->script) << 8;
    }
    const size_t left = byte_reader_left(&life->script);
    size = size < left ? size : left;
    whole = whole > size ? whole : size;
    *block = take(whole);
    const struct bytes source = byte_reader_bytes(&life->script, size);
    memset(*block, 'x', whole);
    if (source.size > 0) {
        memcpy(*block, source.data, source.size);
    }
    return (struct bytes){*block, whole};
}

/* --- the user's code --------------------------------------------------------------------------- */

static enum sink_user_result lend(struct life *life, uint32_t slot, struct bytes *result)
{
    const uint8_t how = byte_reader_u8(&life->script) & 7;
    free(life->lent[slot]);
    life->lent[slot] = NULL;
    if (how == 1 || how == 2) {
        return how == 1 ? SINK_USER_NONE : SINK_USER_FAILED;
    }
    *result = read_bytes(life, &life->lent[slot]);
    return SINK_USER_OK;
}

static enum sink_user_result
resolve(void *context, const struct sink_record *record, struct bytes *destination)
{
    (void)record;
    return lend(context, 0, destination);
}

static enum sink_user_result serialize(void *context,
                                       const struct sink_record *record,
                                       struct bytes destination,
                                       struct bytes *payload)
{
    (void)digest_bytes(record->value);
    (void)digest_bytes(destination);
    return lend(context, 1, payload);
}

static enum sink_user_result
extract_id(void *context, const struct sink_record *record, struct bytes *id)
{
    (void)digest_bytes(record->key);
    return lend(context, 2, id);
}

/* Tables of one, two and three columns, each of which grows into the next; now and then the script's bytes. */
static enum sink_user_result describe(void *context,
                                      const struct sink_record *record,
                                      struct bytes destination,
                                      uint64_t *version,
                                      struct bytes *description)
{
    static const struct bytes tables[] = {
        {(const uint8_t *)"\x0a\x05\x0a\x01"
                          "a\x10\x01",
         7},
        {(const uint8_t *)"\x0a\x05\x0a\x01"
                          "a\x10\x01\x0a\x05\x0a\x01"
                          "b\x10\x01",
         14},
        {(const uint8_t *)"\x0a\x05\x0a\x01"
                          "a\x10\x01\x0a\x05\x0a\x01"
                          "b\x10\x01\x0a\x05\x0a\x01"
                          "c\x10\x02",
         21},
    };
    struct life *life = context;
    const uint8_t what = byte_reader_u8(&life->script);
    (void)digest_bytes(record->key);
    (void)digest_bytes(destination);
    if (what > 250) {
        *version = what;
        return lend(life, 3, description);
    }
    const uint64_t own = 1 + what % ARRAY_COUNT(tables);
    *version = *version > own && *version <= ARRAY_COUNT(tables) ? *version : own;
    *description = tables[*version - 1];
    return SINK_USER_OK;
}

/* --- events ------------------------------------------------------------------------------------ */

/* A cause chain from the script. */
static struct port_status read_status(struct life *life)
{
    struct port_status status = {0};
    const uint32_t count = byte_reader_u8(&life->script) % (PORT_CHAIN_MAX + 1);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t domain = 1 + byte_reader_u8(&life->script) % 3;
        const uint8_t code = byte_reader_u8(&life->script);
        const uint16_t number = domain == PORT_DOMAIN_HTTP ? (uint16_t)(100 + 2 * code)
                                : domain == PORT_DOMAIN_CLIENT && code >= PORT_CODE_COUNT
                                    ? PORT_CODE_NONE
                                    : (uint16_t)(1 + code % (PORT_CODE_COUNT - 1));
        status = port_status_wrap(status, (enum port_domain)domain, number);
    }
    return status;
}

/* A call that the script picks; of those of a stream the oldest. */
static struct call pick_call(struct life *life)
{
    const struct call picked =
        life->host.calls[byte_reader_u8(&life->script) % life->host.call_count];
    for (uint32_t i = 0; picked.stream != 0 && !picked.opens && i < life->host.call_count; i++) {
        if (life->host.calls[i].stream == picked.stream && !life->host.calls[i].opens) {
            return life->host.calls[i];
        }
    }
    return picked;
}

static void end_stream(struct life *life, struct call call, enum port_outcome outcome)
{
    struct sink_event event = {.kind = SINK_EVENT_STREAM_END,
                               .u.answer = {.stream = call.stream,
                                            .kind = PORT_STREAM_END,
                                            .outcome = (uint8_t)outcome,
                                            .method = call.method,
                                            .received = life->host.now.monotonic}};
    for (uint32_t i = 0; i < life->host.call_count; i++) {
        if (life->host.calls[i].opens && life->host.calls[i].stream == call.stream) {
            event.u.answer.request = life->host.calls[i].request;
        }
    }
    CHECK(half_host_forget(&life->host, event.u.answer.request));
    if (outcome != PORT_OUTCOME_OK) {
        event.u.answer.status = read_status(life);
    }
    half_host_step(&life->host, &event);
}

/* Answer a call that the script picks. A payload that is none makes an error of the answer. */
static void answer(struct life *life, enum port_outcome outcome)
{
    if (life->host.call_count == 0) {
        return;
    }
    const struct allocator allocator = allocator_of_malloc();
    const struct call call = pick_call(life);
    if (call.stream != 0 && (call.opens || outcome == PORT_OUTCOME_UNKNOWN)) {
        end_stream(life, call, outcome);
        return;
    }
    struct sink_event event = {
        .kind = call.stream == 0 ? SINK_EVENT_ANSWER : SINK_EVENT_STREAM_MESSAGE,
        .u.answer = {.request = call.request,
                     .stream = call.stream,
                     .kind = call.stream == 0 ? PORT_ANSWER : PORT_STREAM_MESSAGE,
                     .outcome = (uint8_t)outcome,
                     .method = call.method,
                     .received = life->host.now.monotonic}};
    struct port_answer *answer = &event.u.answer;
    uint8_t *source = NULL;
    void *payload = NULL;
    size_t payload_size = 0;
    CHECK(half_host_forget(&life->host, call.request));
    if (outcome == PORT_OUTCOME_OK && call.method->response != NULL) {
        const struct bytes bytes = read_bytes(life, &source);
        if (port_decode(call.method->response, bytes, &allocator, &payload, &payload_size) !=
            ERR_OK) {
            answer->outcome = PORT_OUTCOME_UNKNOWN;
            answer->status = port_status_grpc(PORT_INTERNAL);
        }
        answer->payload = payload;
    } else if (outcome != PORT_OUTCOME_OK) {
        answer->status = read_status(life);
    }
    half_host_step(&life->host, &event);
    allocator_give(&allocator, payload, payload_size);
    free(source);
}

static void record(struct life *life)
{
    uint8_t *key = NULL;
    uint8_t *value = NULL;
    life->host.token = ++life->host.last_token;
    struct sink_event event = {
        .kind = SINK_EVENT_RECORD,
        .u.record = {.token = life->host.token, .position = life->host.token}};
    event.u.record.key = read_bytes(life, &key);
    event.u.record.value = read_bytes(life, &value);
    half_host_step(&life->host, &event);
    free(key);
    free(value);
}

static void barrier(struct life *life)
{
    life->host.barrier = ++life->host.last_barrier;
    const struct sink_event event = {.kind = SINK_EVENT_BARRIER,
                                     .u.checkpoint = life->host.barrier};
    half_host_step(&life->host, &event);
}

static bool is_sound(const struct life *life, struct bytes committable)
{
    struct bytes identity;
    return life->sink->read(committable, &identity) &&
           (life->sink->is_at_home == NULL || life->sink->is_at_home(committable));
}

/* The half refuses what it was given; where memory may fail, it may have had none to read it. */
static void check_refused(const struct life *life)
{
    CHECK(life->host.failed);
    CHECK(life->host.reason == SINK_REASON_STATE ||
          (life->host.reason == SINK_REASON_MEMORY && life->host.allocation_fails_at != 0));
}

/* Nothing of a commit may leave unless all of it is sound. */
static void commit(struct life *life)
{
    const uint64_t last_request = life->host.last_request;
    bool sound = true;
    for (uint32_t i = 0; i < life->request_count; i++) {
        sound = is_sound(life, life->requests[i].data) && sound;
    }
    life->host.committing = true;
    life->host.commit_count = life->request_count;
    life->host.signalled = 0;
    const struct sink_event event = {.kind = SINK_EVENT_COMMIT,
                                     .u.commit = {life->requests, life->request_count}};
    half_host_step(&life->host, &event);
    if (!sound) {
        check_refused(life);
        CHECK(life->host.last_request == last_request);
    }
}

static void notice(struct life *life)
{
    const bool completed = byte_reader_u8(&life->script) % 2 == 0;
    const struct sink_event event = {.kind = completed ? SINK_EVENT_CHECKPOINT_COMPLETE
                                                       : SINK_EVENT_CHECKPOINT_ABORTED,
                                     .u.checkpoint = life->host.last_barrier};
    half_host_step(&life->host, &event);
}

static void judge_routed(struct life *life, enum sink_event_kind verdict)
{
    if (life->host.routed_count > 0) {
        const struct sink_event event = {
            .kind = (uint8_t)verdict,
            .u.policy = {life->host.routed[--life->host.routed_count], SINK_REASON_REJECTED}};
        half_host_step(&life->host, &event);
    }
}

static void operate(struct life *life)
{
    switch ((enum operation)(byte_reader_u8(&life->script) % OPERATION_COUNT)) {
    case OPERATION_ANSWER_OK:
        answer(life, PORT_OUTCOME_OK);
        return;
    case OPERATION_ANSWER_ERROR:
        answer(life, PORT_OUTCOME_ERROR);
        return;
    case OPERATION_ANSWER_UNKNOWN:
        answer(life, PORT_OUTCOME_UNKNOWN);
        return;
    case OPERATION_TIMER:
        half_host_fire(&life->host);
        return;
    case OPERATION_MORE:
        if (life->host.effects.more) {
            half_host_simple(&life->host, SINK_EVENT_MORE);
        }
        return;
    case OPERATION_PASS_TIME:
        half_host_pass(&life->host, MS(byte_reader_u32_le(&life->script)));
        return;
    case OPERATION_RECORD:
        if (!life->is_committer && half_host_is_idle(&life->host) &&
            life->host.routed_count < HALF_ROUTED_MAX / 2) {
            record(life);
        }
        return;
    case OPERATION_BARRIER:
        if (!life->is_committer && half_host_is_idle(&life->host)) {
            barrier(life);
        }
        return;
    case OPERATION_COMMIT:
        if (life->is_committer && life->request_count > 0 && half_host_is_idle(&life->host)) {
            commit(life);
        }
        return;
    case OPERATION_NOTICE:
        if (half_host_is_idle(&life->host)) {
            notice(life);
        }
        return;
    case OPERATION_POLICY_DROPPED:
        judge_routed(life, SINK_EVENT_POLICY_DROPPED);
        return;
    case OPERATION_POLICY_FAILED:
        judge_routed(life, SINK_EVENT_POLICY_FAILED);
        return;
    case OPERATION_POLICY_FLUSHED:
        if (life->host.flushing && life->host.routed_count == 0) {
            life->host.flushing = false;
            half_host_simple(&life->host, SINK_EVENT_POLICY_FLUSHED);
        }
        return;
    case OPERATION_COUNT:
        break;
    }
    UNREACHABLE();
}

/* --- a life ------------------------------------------------------------------------------------ */

static void read_pieces(struct life *life, uint32_t count)
{
    life->request_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const bool sealed = byte_reader_u8(&life->script) % 2 != 0;
        const struct bytes data = read_bytes(life, &life->blocks[i]);
        if (sealed) {
            life->sink->seal(life->blocks[i], data.size);
        }
        life->requests[i] = (struct sink_commit_request){
            .header = {.identity = {data.data, data.size < 8 ? data.size : 8},
                       .origin = digest_bytes(data),
                       .deadline = TIME_NEVER},
            .data = data};
    }
}

static void open_half(struct life *life)
{
    struct sink_piece pieces[PIECES_MAX];
    const uint32_t count = life->is_committer ? 0 : life->request_count;
    bool sound = true;
    for (uint32_t i = 0; i < count; i++) {
        pieces[i] = (struct sink_piece){life->requests[i].data};
        sound = life->sink->read_piece != NULL && life->sink->read_piece(pieces[i].data) && sound;
    }
    const struct sink_event event = {
        .kind = SINK_EVENT_OPEN,
        .u.open = {.pieces = count == 0 ? NULL : pieces, .piece_count = count, .restored = true}};
    half_host_step(&life->host, &event);
    if (!sound) {
        check_refused(life);
    } else if (life->host.allocation_fails_at == 0) {
        CHECK(!life->host.failed); /* it may ask its service before it is open */
    }
}

static void live(struct life *life, const struct sink_env *env)
{
    if (!half_host_init(&life->host, env)) {
        return;
    }
    open_half(life);
    while (!life->host.failed && byte_reader_left(&life->script) > 0) {
        operate(life);
    }
    half_host_close(&life->host);
    half_host_fini(&life->host);
}

static void set_options(const struct state_sink *sink,
                        uint8_t head,
                        struct sink_option_value values[STATE_OPTION_MAX])
{
    const struct sink_type *type = sink->type;
    CHECK(type->option_count <= STATE_OPTION_MAX);
    for (uint32_t i = 0; i < type->option_count; i++) {
        const struct sink_option *option = &type->options[i];
        values[i] = (struct sink_option_value){.number = option->fallback};
        if (option->type == SINK_OPTION_TEXT && option->fallback_text != NULL) {
            values[i].text = bytes_of_text(option->fallback_text);
        }
    }
    sink->set_options(head, values);
}

static void run(struct life *life, uint8_t head)
{
    const struct sink_type *type = life->sink->type;
    struct sink_option_value options[STATE_OPTION_MAX] = {{0}};
    set_options(life->sink, head, options);
    const bool named = type == &cloudtasks_at_least_once_named;
    const struct sink_user user = {.context = life,
                                   .resolve = STATE_RESOLVES(head) ? resolve : NULL,
                                   .serialize = serialize,
                                   .extract_id = named || EXTRACTS(head) ? extract_id : NULL,
                                   .describe = describe};
    const struct sink_job job = {.checkpointing = true,
                                 .barriers_exactly_once = true,
                                 .destination_fixed = !STATE_RESOLVES(head),
                                 .policy = SINK_POLICY_DROP,
                                 .parallelism = 1,
                                 .checkpoint_interval = SECONDS(1),
                                 .checkpoint_timeout = MINUTES(10)};
    const struct sink_env env = {.options = options, .user = &user, .job = &job, .parallelism = 1};
    life->is_committer = IS_COMMITTER(head) && type->committer_or_null != NULL;
    life->host.half = life->is_committer ? type->committer_or_null : type->writer;
    life->host.leaves_calls = life->sink->leaves_calls;
    life->host.read_committable = life->sink->read;
    life->host.read_piece = life->sink->read_piece;
    life->host.fits_identity = life->sink->fits_identity;
    live(life, &env);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct life *life = calloc(1, sizeof *life);
    CHECK(life != NULL);
    byte_reader_init(&life->script, (struct bytes){data, size});
    const uint8_t head = byte_reader_u8(&life->script);
    const uint8_t second = byte_reader_u8(&life->script);
    life->host.allocation_fails_at = ALLOCATION_FAILS(second);
    life->sink = state_sink_of(head);
    read_pieces(life, PIECE_COUNT(second));
    run(life, head);
    for (uint32_t i = 0; i < life->request_count; i++) {
        free(life->blocks[i]);
    }
    for (uint32_t i = 0; i < ARRAY_COUNT(life->lent); i++) {
        free(life->lent[i]);
    }
    free(life);
    return 0;
}
