/* The model of object storage (clauses.def).
 *
 * Guarantees modelled. An object appears whole, when its write or upload is finished (GCS-03), and is seen
 * by everybody from then on (GCS-01); a write replaces what lay there, unless its condition forbids it
 * (GCS-04, GCS-05); what was deleted is gone (GCS-09). Freedoms taken. Per call: whether a change that
 * follows another one of the same object too soon is refused (GCS-11). Faults offered. Per call: lost,
 * answer lost, applied later, refused, applied and answered UNAVAILABLE, an outage. Not modelled.
 * Listing by call, moves, older generations, checksums; uploads that are given up after a week; a lifecycle that is
 * late: what is too old is gone at once.
 *
 * Entries. An object that appears is WORLD_CREATED, or WORLD_REPLACED where one lay: resource
 * "gs://bucket/object", value the digest of its bytes. WORLD_REMOVED when it is deleted, WORLD_EXPIRED when
 * it is first missed after the lifecycle took it. */
#include "models/storage/storage.h"

#include "sinks/base/digest.h"
#include "sinks/port/storage.h"

#define OUTCOME(constant, name, weight, kind, clause) constant
#define FATE_SITE(constant, id, key, name, sentence, ...)
#define SITE(constant, id, key, name, sentence, ...) enum id##_outcome{__VA_ARGS__};
#include "models/storage/sites.def"
#undef SITE
#undef FATE_SITE
#undef OUTCOME

enum storage_site {
#define SITE(constant, id, key, name, sentence, ...) constant,
#define FATE_SITE                                    SITE
#include "models/storage/sites.def"
#undef SITE
#undef FATE_SITE
    SITE_COUNT,
};

enum storage_option {
#define OPTION(constant, key, type, fallback, text, min, max, names, sentence) constant,
#include "models/storage/options.def"
#undef OPTION
    OPTION_COUNT,
};

extern const struct choice_site storage_model_sites[];

/* The order matters. */
/* clang-format off */
#include "models/as_outcomes.def"
#include "models/storage/sites.def"
#include "models/as_fates.def"
#include "models/storage/sites.def"
const struct choice_site storage_model_sites[] = {
#include "models/as_sites.def"
#include "models/storage/sites.def"
#include "models/as_end.def"
};
/* clang-format on */

#define URI_SIZE_MAX      1100u /* a bucket's name and an object's, of 1,024 bytes at most */
#define UPLOAD_NAME_SIZE  24u
#define CAUSE_DELETED     0u /* of WORLD_REMOVED */
#define CAUSE_LIFECYCLE   1u /* of WORLD_EXPIRED */
#define UPLOAD_NAME       "upload-"
#define UPLOAD_NUMBER_MAX (UINT32_C(1) << 24)

/* Bytes in a recycled block. */
struct content {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

struct object {
    bool is_there;
    bool was_changed;
    int64_t generation; /* of what is there */
    nanos created;
    nanos changed;
    struct content content;
};

struct upload {
    uint32_t resource; /* that it becomes; 0: no such upload */
    bool is_finished;
    bool has_condition;
    int64_t condition;  /* a generation */
    int64_t generation; /* what it became */
    struct content content;
};

struct storage {
    struct model_env env;
    lane lane;
    struct arena_array objects; /* struct object by resource */
    struct arena_array uploads; /* struct upload by number, from 1 */
    uint32_t upload_count;
    int64_t generations; /* given so far */
    uint64_t digest;
    /* answers, borrowed until the link has cloned them */
    struct storage_object object_answer;
    struct storage_write_object_response write_answer;
    struct storage_start_resumable_write_response start_answer;
    uint8_t upload_name[UPLOAD_NAME_SIZE];
};

static uint64_t option(const struct storage *state, enum storage_option option)
{
    return state->env.options[option].number;
}

static void refuse(struct storage *state,
                   const struct model_request *request,
                   enum port_code code,
                   struct model_replies *replies)
{
    const struct model_effect effect = {
        .kind = WORLD_REFUSED, .code = (uint8_t)code, .request_or_null = request};
    model_note(&state->env, &effect);
    model_reply(replies, code, NULL);
}

/* --- content ------------------------------------------------------------------------------------- */

static struct bytes content_view(const struct content *content)
{
    return (struct bytes){content->data, content->size};
}

static void content_release(struct storage *state, struct content *content)
{
    if (content->capacity > 0) {
        arena_give_recycled(state->env.world->arena, content->data, content->capacity);
    }
    *content = (struct content){0};
}

/* Add to the end. Doubles, so that all of an upload is copied a few times at most. */
static void content_add(struct storage *state, struct content *content, struct bytes more)
{
    const size_t needed = content->size + more.size;
    if (needed > content->capacity) {
        struct content grown = {.size = content->size, .capacity = 2 * content->capacity};
        grown.capacity = grown.capacity < needed ? needed : grown.capacity;
        grown.data = arena_take_recycled(state->env.world->arena, grown.capacity);
        if (content->size > 0) {
            memcpy(grown.data, content->data, content->size);
        }
        content_release(state, content);
        *content = grown;
    }
    if (more.size > 0) {
        memcpy(content->data + content->size, more.data, more.size);
    }
    content->size = needed;
}

/* --- objects ------------------------------------------------------------------------------------- */

static bool bucket_is_there(const struct storage *state, struct bytes bucket)
{
    struct bytes rest = state->env.options[OPTION_BUCKET].text;
    for (struct bytes name = bytes_next_word(&rest); name.size > 0; name = bytes_next_word(&rest)) {
        if (bytes_equal(name, bucket)) {
            return true;
        }
    }
    return false;
}

/* The resource of an object; 0: it can have no such name, or its bucket is not there (GCS-13). */
static uint32_t resource_of(struct storage *state, struct bytes bucket, struct bytes object)
{
    uint8_t text[URI_SIZE_MAX];
    struct byte_writer writer;
    if (object.size == 0 || !bucket_is_there(state, bucket)) {
        return 0;
    }
    byte_writer_init(&writer, text, sizeof(text));
    byte_writer_text(&writer, "gs://");
    byte_writer_bytes(&writer, bucket);
    byte_writer_text(&writer, "/");
    byte_writer_bytes(&writer, object);
    return writer.overflowed ? 0 : world_resource(state->env.world, byte_writer_view(&writer));
}

static struct object *object_at(struct storage *state, uint32_t resource)
{
    return arena_array_at(
        &state->objects, state->env.world->arena, resource, sizeof(struct object));
}

static void remove_object(struct storage *state,
                          struct object *object,
                          uint32_t resource,
                          enum journal_kind kind,
                          const struct model_request *request_or_null)
{
    const struct model_effect effect = {
        .kind = (uint8_t)kind,
        .code = kind == WORLD_EXPIRED ? CAUSE_LIFECYCLE : CAUSE_DELETED,
        .resource = resource,
        .generation = (uint32_t)object->generation,
        .request_or_null = request_or_null,
    };
    model_note(&state->env, &effect);
    object->is_there = false;
    content_release(state, &object->content);
    state->digest = digest_fold(state->digest, (uint64_t)resource << 8 | kind);
}

/* The object, or NULL when there is none (any more, GCS-12). */
static struct object *find(struct storage *state, uint32_t resource)
{
    struct object *object = resource == 0 ? NULL : object_at(state, resource);
    const nanos lifetime = option(state, OPTION_LIFECYCLE);
    if (object == NULL || !object->is_there) {
        return NULL;
    }
    if (lifetime > 0 && world_now(state->env.world) >= nanos_add(object->created, lifetime)) {
        COVER(state->env.world, STORAGE_EXPIRED);
        remove_object(state, object, resource, WORLD_EXPIRED, NULL);
        return NULL;
    }
    return object;
}

bool storage_read(void *memory, struct bytes uri, struct bytes *content)
{
    struct storage *state = memory;
    const struct object *object = find(state, world_resource(state->env.world, uri));
    if (object == NULL) {
        return false;
    }
    *content = content_view(&object->content);
    return true;
}

/* A '*' stands for any text. */
static bool matches(struct bytes uri, struct bytes pattern)
{
    size_t star = 0;
    while (star < pattern.size && pattern.data[star] != '*') {
        star++;
    }
    const size_t tail = star == pattern.size ? 0 : pattern.size - star - 1;
    return uri.size >= star + tail &&
           bytes_equal((struct bytes){uri.data, star}, (struct bytes){pattern.data, star}) &&
           bytes_equal((struct bytes){uri.data + (uri.size - tail), tail},
                       (struct bytes){pattern.data + (pattern.size - tail), tail});
}

bool storage_match(void *memory, struct bytes pattern, uint32_t *cursor, struct bytes *content)
{
    struct storage *state = memory;
    const uint32_t count = world_resource_count(state->env.world);
    while (*cursor < count) {
        const uint32_t resource = ++*cursor;
        if (!matches(world_resource_name(state->env.world, resource), pattern) ||
            arena_array_find(&state->objects, resource, sizeof(struct object)) == NULL) {
            continue;
        }
        const struct object *object = find(state, resource);
        if (object != NULL) {
            *content = content_view(&object->content);
            return true;
        }
    }
    return false;
}

/* Whether an object that was changed just now may not be changed again (GCS-11): the call was refused. */
static bool is_too_often(struct storage *state,
                         const struct object *object,
                         const struct model_request *request,
                         struct model_replies *replies)
{
    const nanos age = nanos_sub(world_now(state->env.world), object->changed);
    if (!object->was_changed || age >= option(state, OPTION_MUTATION_PAUSE) ||
        fault_pick(
            state->env.world->fault, &storage_model_sites[SITE_RATE], state->lane, CHOICE_ALL) ==
            RATE_TAKEN) {
        return false;
    }
    COVER(state->env.world, STORAGE_TOO_OFTEN);
    refuse(state, request, PORT_RESOURCE_EXHAUSTED, replies);
    return true;
}

static void reply_object(struct storage *state, uint32_t resource, const struct object *object)
{
    const struct bytes uri = world_resource_name(state->env.world, resource);
    const size_t bucket = BYTES_LITERAL("gs://").size;
    size_t slash = bucket;
    while (uri.data[slash] != '/') {
        slash++;
    }
    state->object_answer = (struct storage_object){
        .name = {uri.data + slash + 1, uri.size - slash - 1},
        .bucket = {uri.data + bucket, slash - bucket},
        .generation = object->generation,
        .size = (int64_t)object->content.size,
    };
}

/* --- writing ------------------------------------------------------------------------------------- */

/* Put what was written in its place (GCS-04). Its content is taken over. */
static void publish(struct storage *state,
                    uint32_t resource,
                    struct content *content,
                    const struct model_request *request)
{
    struct object *object = object_at(state, resource);
    const struct object *before = find(state, resource);
    state->generations++;
    const struct model_effect effect = {
        .kind = before == NULL ? WORLD_CREATED : WORLD_REPLACED,
        .resource = resource,
        .generation = (uint32_t)state->generations,
        .value = content_view(content),
        .request_or_null = request,
    };
    SOMETIMES(state->env.world, STORAGE_REPLACED, before != NULL);
    model_note(&state->env, &effect);
    content_release(state, &object->content);
    object->is_there = true;
    object->was_changed = true;
    object->generation = state->generations;
    object->created = world_now(state->env.world);
    object->changed = object->created;
    object->content = *content;
    *content = (struct content){0};
    state->digest = digest_fold(state->digest, (uint64_t)resource << 8 | effect.kind);
    state->digest = digest_fold(state->digest, digest_bytes(effect.value));
}

/* Whether a write may be finished (GCS-05, GCS-11); if not, the call was refused. */
static bool may_finish(struct storage *state,
                       uint32_t resource,
                       const int64_t *condition_or_null,
                       const struct model_request *request,
                       struct model_replies *replies)
{
    const struct object *object = find(state, resource);
    const int64_t live = object == NULL ? 0 : object->generation;
    if (condition_or_null != NULL && *condition_or_null != live) {
        COVER(state->env.world, STORAGE_CONDITION);
        refuse(state, request, PORT_FAILED_PRECONDITION, replies);
        return false;
    }
    return !is_too_often(state, object_at(state, resource), request, replies);
}

static void reply_written(struct storage *state, uint32_t resource, struct model_replies *replies)
{
    reply_object(state, resource, object_at(state, resource));
    state->write_answer = (struct storage_write_object_response){.resource = &state->object_answer};
    model_reply(replies, PORT_OK, &state->write_answer);
}

static struct bytes data_of(const struct storage_write_object_request *write)
{
    const struct bytes none = {0};
    return write->checksummed_data == NULL ? none : write->checksummed_data->content;
}

/* The resource that a spec names; 0: the call was refused. */
static uint32_t target_of(struct storage *state,
                          const struct storage_write_object_spec *spec_or_null,
                          const struct model_request *request,
                          struct model_replies *replies)
{
    const struct storage_object *named = spec_or_null == NULL ? NULL : spec_or_null->resource;
    if (named == NULL || named->name.size == 0) {
        refuse(state, request, PORT_INVALID_ARGUMENT, replies);
        return 0;
    }
    const uint32_t resource = resource_of(state, named->bucket, named->name);
    if (resource == 0) {
        refuse(state, request, PORT_NOT_FOUND, replies);
    }
    return resource;
}

/* A whole object in one message. */
static void write_whole(struct storage *state,
                        const struct storage_write_object_request *write,
                        const struct model_request *request,
                        struct model_replies *replies)
{
    if (!write->finish_write || write->write_offset != 0) {
        refuse(state, request, PORT_INVALID_ARGUMENT, replies);
        return;
    }
    const uint32_t resource = target_of(state, write->write_object_spec, request, replies);
    if (resource == 0) {
        return;
    }
    const struct storage_int64 *condition = write->write_object_spec->if_generation_match;
    if (!may_finish(
            state, resource, condition == NULL ? NULL : &condition->value, request, replies)) {
        return;
    }
    struct content content = {0};
    content_add(state, &content, data_of(write));
    publish(state, resource, &content, request);
    reply_written(state, resource, replies);
}

/* --- uploads ------------------------------------------------------------------------------------- */

static void start_resumable_write(struct storage *state,
                                  const struct model_request *request,
                                  struct model_replies *replies)
{
    const struct storage_start_resumable_write_request *start = request->payload;
    const uint32_t resource = target_of(state, start->write_object_spec, request, replies);
    if (resource == 0) {
        return;
    }
    state->upload_count++;
    CHECK(state->upload_count < UPLOAD_NUMBER_MAX);
    struct upload *upload = arena_array_at(
        &state->uploads, state->env.world->arena, state->upload_count, sizeof(*upload));
    const struct storage_int64 *condition = start->write_object_spec->if_generation_match;
    *upload = (struct upload){
        .resource = resource,
        .has_condition = condition != NULL,
        .condition = condition == NULL ? 0 : condition->value,
    };
    struct byte_writer writer;
    byte_writer_init(&writer, state->upload_name, sizeof(state->upload_name));
    byte_writer_text(&writer, UPLOAD_NAME);
    byte_writer_decimal(&writer, state->upload_count);
    CHECK(!writer.overflowed);
    state->digest = digest_fold(state->digest, (uint64_t)resource << 8);
    state->start_answer =
        (struct storage_start_resumable_write_response){.upload_id = byte_writer_view(&writer)};
    model_reply(replies, PORT_OK, &state->start_answer);
}

/* By its id, or NULL. */
static struct upload *upload_of(struct storage *state, struct bytes id)
{
    const struct bytes prefix = BYTES_LITERAL(UPLOAD_NAME);
    uint32_t number = 0;
    if (id.size <= prefix.size || id.size > UPLOAD_NAME_SIZE ||
        !bytes_equal((struct bytes){id.data, prefix.size}, prefix)) {
        return NULL;
    }
    for (size_t i = prefix.size; i < id.size; i++) {
        if (id.data[i] < '0' || id.data[i] > '9' || number >= UPLOAD_NUMBER_MAX) {
            return NULL;
        }
        number = number * 10 + (id.data[i] - '0');
    }
    return number >= 1 && number <= state->upload_count
               ? arena_array_find(&state->uploads, number, sizeof(struct upload))
               : NULL;
}

static void
reply_persisted(struct storage *state, const struct upload *upload, struct model_replies *replies)
{
    state->write_answer =
        (struct storage_write_object_response){.persisted_size = (int64_t)upload->content.size};
    model_reply(replies, PORT_OK, &state->write_answer);
}

/* Take a chunk in, but for what is stored already; of one that is not the last, whole chunks only. */
static void add_chunk(struct storage *state,
                      struct upload *upload,
                      const struct storage_write_object_request *write)
{
    struct bytes data = data_of(write);
    const size_t stored = upload->content.size - (size_t)write->write_offset;
    const size_t skipped = stored < data.size ? stored : data.size;
    data.data += skipped;
    data.size -= skipped;
    if (!write->finish_write) {
        const size_t end = upload->content.size + data.size;
        const size_t rest = end % (size_t)option(state, OPTION_CHUNK);
        data.size -= rest < data.size ? rest : data.size;
    }
    content_add(state, &upload->content, data);
    state->digest = digest_fold(state->digest, digest_bytes(data));
}

/* What a finished upload became may have been replaced or deleted since: it is told what it was. */
static void
reply_finished(struct storage *state, const struct upload *upload, struct model_replies *replies)
{
    reply_object(state, upload->resource, object_at(state, upload->resource));
    state->object_answer.generation = upload->generation;
    state->write_answer = (struct storage_write_object_response){.resource = &state->object_answer};
    model_reply(replies, PORT_OK, &state->write_answer);
}

static void go_on_writing(struct storage *state,
                          const struct storage_write_object_request *write,
                          const struct model_request *request,
                          struct model_replies *replies)
{
    struct upload *upload = upload_of(state, write->upload_id);
    if (upload == NULL) {
        refuse(state, request, PORT_NOT_FOUND, replies);
        return;
    }
    if (upload->is_finished) {
        reply_finished(state, upload, replies);
        return;
    }
    if (write->write_offset < 0 || (uint64_t)write->write_offset > upload->content.size) {
        refuse(state, request, PORT_OUT_OF_RANGE, replies);
        return;
    }
    add_chunk(state, upload, write);
    if (!write->finish_write) {
        COVER(state->env.world, STORAGE_UNFINISHED);
        reply_persisted(state, upload, replies);
        return;
    }
    if (!may_finish(state,
                    upload->resource,
                    upload->has_condition ? &upload->condition : NULL,
                    request,
                    replies)) {
        return;
    }
    publish(state, upload->resource, &upload->content, request);
    upload->is_finished = true;
    upload->generation = state->generations;
    reply_written(state, upload->resource, replies);
}

static void write_object(struct storage *state,
                         const struct model_request *request,
                         struct model_replies *replies)
{
    const struct storage_write_object_request *write = request->payload;
    if (write->upload_id.size > 0) {
        go_on_writing(state, write, request, replies);
    } else {
        write_whole(state, write, request, replies);
    }
}

/* --- looking and deleting ------------------------------------------------------------------------ */

static void get_object(struct storage *state,
                       const struct model_request *request,
                       struct model_replies *replies)
{
    const struct storage_get_object_request *get = request->payload;
    const uint32_t resource = resource_of(state, get->bucket, get->object);
    const struct object *object = find(state, resource);
    if (object == NULL) {
        COVER(state->env.world, STORAGE_MISSING);
        refuse(state, request, PORT_NOT_FOUND, replies);
        return;
    }
    reply_object(state, resource, object);
    model_reply(replies, PORT_OK, &state->object_answer);
}

static void delete_object(struct storage *state,
                          const struct model_request *request,
                          struct model_replies *replies)
{
    const struct storage_delete_object_request *delete = request->payload;
    const uint32_t resource = resource_of(state, delete->bucket, delete->object);
    struct object *object = find(state, resource);
    if (object == NULL) {
        COVER(state->env.world, STORAGE_MISSING);
        refuse(state, request, PORT_NOT_FOUND, replies);
        return;
    }
    if (is_too_often(state, object, request, replies)) {
        return;
    }
    object->changed = world_now(state->env.world);
    remove_object(state, object, resource, WORLD_REMOVED, request);
    model_reply(replies, PORT_OK, NULL);
}

/* --- the model ----------------------------------------------------------------------------------- */

static void model_init(void *memory, const struct model_env *env)
{
    struct storage *state = memory;
    state->env = *env;
    state->lane = env->world->nodes[env->node].lane;
}

static void
model_handle(void *memory, const struct model_request *request, struct model_replies *replies)
{
    struct storage *state = memory;
    if (request->method == &storage_write_object_method) {
        write_object(state, request, replies);
    } else if (request->method == &storage_start_resumable_write_method) {
        start_resumable_write(state, request, replies);
    } else if (request->method == &storage_get_object_method) {
        get_object(state, request, replies);
    } else {
        CHECK(request->method == &storage_delete_object_method);
        delete_object(state, request, replies);
    }
}

/* Nothing is scheduled: an object is found to be too old when it is asked for. */
static void model_event(void *memory, uint8_t what, uint64_t a, uint64_t b)
{
    (void)memory;
    (void)what;
    (void)a;
    (void)b;
    UNREACHABLE();
}

static void model_heal(void *memory)
{
    (void)memory; /* nothing is injected beyond single calls */
}

/* What lies where is in the digest as it changes; times are those of the changes. */
static uint64_t model_digest(const void *memory)
{
    const struct storage *state = memory;
    uint64_t digest = digest_fold(state->digest, state->upload_count);
    return digest_fold(digest, (uint64_t)state->generations);
}

static const struct fate_menu fates[] = {
    {&storage_write_object_method, &storage_model_sites[SITE_WRITE], write_fates},
    {&storage_start_resumable_write_method, &storage_model_sites[SITE_START], start_fates},
    {&storage_get_object_method, &storage_model_sites[SITE_GET], get_fates},
    {&storage_delete_object_method, &storage_model_sites[SITE_DELETE], delete_fates},
};

static const struct sink_option options[] = {
#define OPTION(constant, key, type, fallback, text, min, max, names, sentence)                     \
    [constant] = {key, type, false, fallback, text, min, max, names, sentence},
#include "models/storage/options.def"
#undef OPTION
};

static const struct clause clauses[] = {
#define CLAUSE(id, class, sentence, source, not_modelled)                                          \
    {id, class, sentence, source, not_modelled},
#include "models/rpc_clauses.def"
#include "models/storage/clauses.def"
#undef CLAUSE
};

static const struct mark marks[] = {
#define MARK(id, name, sentence, unit_test) {MARK_##id, name, sentence, unit_test},
#include "models/storage/marks.def"
#undef MARK
};

_Static_assert(MARK_STORAGE_END <= MARK_STORAGE_FIRST + MARK_MODEL_ROOM, "marks have room");

static const char *const reader_names[] = {"objects", NULL};
static const char *const cause_names[] = {"deleted", "lifecycle", NULL};

const struct model_type storage_model = {
    .name = "storage",
    .sentence = "objects in buckets, which appear whole, and uploads that are not finished",
    .service = &storage_service,
    .sites = storage_model_sites,
    .site_count = SITE_COUNT,
    .fates = fates,
    .fate_count = ARRAY_COUNT(fates),
    .clauses = clauses,
    .clause_count = ARRAY_COUNT(clauses),
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .marks = marks,
    .mark_count = ARRAY_COUNT(marks),
    .readers = reader_names,
    .causes = cause_names,
    .state_size = sizeof(struct storage),
    .init = model_init,
    .handle = model_handle,
    .event = model_event,
    .heal = model_heal,
    .digest = model_digest,
};
