/* The user's code of the Cloud Tasks tests. A record's value becomes the body of an HTTP task; some
 * values and keys mean trouble instead. */
#ifndef SINKS_CLOUDTASKS_USER_TESTKIT_H
#define SINKS_CLOUDTASKS_USER_TESTKIT_H

#include "sinks/cloudtasks/options.h"
#include "sinks/sink.h"

#include <stdint.h>

#define TEST_QUEUE "projects/p/locations/l/queues/q"

/* Values with a meaning. */
#define VALUE_FAILS   "!fails"
#define VALUE_SKIPPED "!skipped"
#define VALUE_NAMED   "!named"
#define VALUE_JUNK    "!junk"
/* Keys with a meaning: to the extractor, and to the resolver. */
#define KEY_FAILS         "!fails"
#define KEY_NONE          "!none"
#define KEY_EMPTY         "!empty"
#define KEY_UNRESOLVED    "!unresolved"
#define KEY_BAD_RESOLVER  "!bad-resolver"
#define KEY_ELSEWHERE     "!elsewhere"
#define QUEUE_ELSEWHERE   "projects/p/locations/l/queues/other"
#define TEST_PAYLOAD_SIZE 120000

struct test_user {
    struct sink_user user;
    struct sink_job job;
    struct sink_option_value options[CLOUDTASKS_OPTION_COUNT];
    struct sink_env env;
    uint8_t payload[TEST_PAYLOAD_SIZE];
    size_t padding; /* of bodies, bytes */
};

/* Prepare in memory of static storage or the heap: it is large. With an extractor or without. */
void test_user_init(struct test_user *user, bool extracts);

/* The default of every option, and TEST_QUEUE. */
void test_options(struct sink_option_value options[CLOUDTASKS_OPTION_COUNT]);

#endif
