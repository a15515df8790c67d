#include "sinks/cloudtasks/user_testkit.h"

#include "sinks/base/test.h"
#include "sinks/port/cloudtasks.h"

#include <string.h>

static bool is(struct bytes bytes, const char *text)
{
    return bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
}

static enum sink_user_result
resolve(void *context, const struct sink_record *record, struct bytes *destination)
{
    (void)context;
    if (is(record->key, KEY_UNRESOLVED)) {
        return SINK_USER_NONE;
    }
    if (is(record->key, KEY_BAD_RESOLVER)) {
        return SINK_USER_FAILED;
    }
    *destination = bytes_of_text(is(record->key, KEY_ELSEWHERE) ? QUEUE_ELSEWHERE : TEST_QUEUE);
    return SINK_USER_OK;
}

static enum sink_user_result serialize(void *context,
                                       const struct sink_record *record,
                                       struct bytes destination,
                                       struct bytes *payload)
{
    struct test_user *user = context;
    assert_true(destination.size > 0);
    if (is(record->value, VALUE_FAILS)) {
        return SINK_USER_FAILED;
    }
    if (is(record->value, VALUE_SKIPPED)) {
        return SINK_USER_NONE;
    }
    if (is(record->value, VALUE_JUNK)) {
        *payload = BYTES_LITERAL("\xff\xff\xff");
        return SINK_USER_OK;
    }
    static uint8_t body[TEST_PAYLOAD_SIZE];
    assert_true(record->value.size + user->padding < sizeof(body));
    memset(body, 'x', sizeof(body));
    memcpy(body, record->value.data, record->value.size);
    const struct cloudtasks_http_request http = {
        .url = BYTES_LITERAL("https://example.com/"),
        .http_method = CLOUDTASKS_POST,
        .body = {body, record->value.size + user->padding},
    };
    const struct cloudtasks_task task = {
        .name = is(record->value, VALUE_NAMED) ? BYTES_LITERAL("mine") : (struct bytes){0},
        .http_request = &http,
    };
    struct byte_writer writer;
    byte_writer_init(&writer, user->payload, sizeof(user->payload));
    port_encode(&cloudtasks_task_message, &task, &writer);
    assert_false(writer.overflowed);
    *payload = byte_writer_view(&writer);
    return SINK_USER_OK;
}

static enum sink_user_result
extract_id(void *context, const struct sink_record *record, struct bytes *id)
{
    (void)context;
    if (is(record->key, KEY_FAILS)) {
        return SINK_USER_FAILED;
    }
    if (is(record->key, KEY_NONE)) {
        return SINK_USER_NONE;
    }
    *id = is(record->key, KEY_EMPTY) ? (struct bytes){0} : record->key;
    return SINK_USER_OK;
}

void test_options(struct sink_option_value options[CLOUDTASKS_OPTION_COUNT])
{
    for (uint32_t i = 0; i < CLOUDTASKS_OPTION_COUNT; i++) {
        options[i] = (struct sink_option_value){.number = cloudtasks_options[i].fallback};
    }
    options[CLOUDTASKS_OPTION_QUEUE].text = bytes_of_text(TEST_QUEUE);
}

void test_user_init(struct test_user *user, bool extracts)
{
    memset(user, 0, sizeof(*user));
    user->user = (struct sink_user){.context = user,
                                    .resolve = resolve,
                                    .serialize = serialize,
                                    .extract_id = extracts ? extract_id : NULL};
    test_options(user->options);
    user->env = (struct sink_env){
        .options = user->options, .user = &user->user, .job = &user->job, .parallelism = 1};
}
