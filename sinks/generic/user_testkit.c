#include "sinks/generic/user_testkit.h"

#include "sinks/base/test.h"

#include <string.h>

static bool is(struct bytes bytes, const char *text)
{
    return bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
}

static enum sink_user_result serialize(void *context,
                                       const struct sink_record *record,
                                       struct bytes destination,
                                       struct bytes *payload)
{
    (void)context;
    (void)destination;
    if (is(record->value, VALUE_FAILS)) {
        return SINK_USER_FAILED;
    }
    if (is(record->value, VALUE_SKIPPED)) {
        return SINK_USER_NONE;
    }
    *payload = is(record->value, VALUE_EMPTY) ? (struct bytes){0} : record->value;
    return SINK_USER_OK;
}

static enum sink_user_result
extract_id(void *context, const struct sink_record *record, struct bytes *id)
{
    (void)context;
    *id = record->key;
    return is(record->key, KEY_FAILS) ? SINK_USER_FAILED : SINK_USER_OK;
}

void generic_user_init(struct generic_user *user, const struct sink_type *type)
{
    *user = (struct generic_user){.user = {.serialize = serialize, .extract_id = extract_id},
                                  .job = {.checkpointing = true,
                                          .barriers_exactly_once = true,
                                          .checkpoints_after_finish = true,
                                          .destination_fixed = true}};
    assert_true(type->option_count <= TEST_OPTION_MAX);
    for (uint32_t i = 0; i < type->option_count; i++) {
        const struct sink_option *option = &type->options[i];
        user->options[i].number = option->fallback;
        if (option->type == SINK_OPTION_TEXT && option->fallback_text != NULL) {
            user->options[i].text = bytes_of_text(option->fallback_text);
        }
    }
    user->env = (struct sink_env){
        .options = user->options, .user = &user->user, .job = &user->job, .parallelism = 1};
}

void generic_open(struct host *host, struct generic_user *user, const struct sink_half *half)
{
    memset(host, 0, sizeof(*host));
    assert_int_equal(host_init(host, half, &user->env), ERR_OK);
    host_open(host);
    assert_int_equal(host_count(host, SINK_EFFECT_OPENED), 1);
}

struct generic_request generic_request_of(struct host *host, uint32_t send)
{
    struct generic_request request = {0};
    assert_true(send < host->send_count);
    const struct host_send *sent = &host->sends[send];
    assert_int_equal(port_decode(sent->method->request,
                                 (struct bytes){sent->bytes, sent->size},
                                 &host->allocator,
                                 &request.value,
                                 &request.size),
                     ERR_OK);
    return request;
}

void generic_forget(struct host *host, struct generic_request *request)
{
    allocator_give(&host->allocator, request->value, request->size);
    *request = (struct generic_request){0};
}
