/* The user's code and the job of the generic sinks' tests: a record's value is its payload, its key the
 * id; some of them mean trouble instead. */
#ifndef SINKS_GENERIC_USER_TESTKIT_H
#define SINKS_GENERIC_USER_TESTKIT_H

#include "sinks/host_testkit.h"
#include "sinks/sink.h"

#define VALUE_FAILS   "!fails"
#define VALUE_SKIPPED "!skipped"
#define VALUE_EMPTY   "!empty"
#define KEY_FAILS     "!fails"

#define TEST_OPTION_MAX 32

struct generic_user {
    struct sink_user user;
    struct sink_job job;
    struct sink_option_value options[TEST_OPTION_MAX];
    struct sink_env env;
};

/* Options have their defaults. */
void generic_user_init(struct generic_user *user, const struct sink_type *type);

/* A half, opened with nothing to restore. */
void generic_open(struct host *host, struct generic_user *user, const struct sink_half *half);

/* The request of a send, decoded; give it back with generic_forget. */
struct generic_request {
    void *value;
    size_t size;
};
struct generic_request generic_request_of(struct host *host, uint32_t send);
void generic_forget(struct host *host, struct generic_request *request);

#endif
