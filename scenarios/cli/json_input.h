/* Reading of JSON files that this program wrote: every value by key, and one line that says what is
 * wrong with the first that is not as it should be. */
#ifndef SCENARIOS_CLI_JSON_INPUT_H
#define SCENARIOS_CLI_JSON_INPUT_H

#include "scenarios/cli/status.h"
#include "scenarios/cli/text.h"

#include <jansson.h>

#include <stdbool.h>
#include <stdint.h>

struct json_input {
    struct text_pool *texts;
    const char *path; /* of the file */
    json_t *root;
    bool failed; /* a value was not good, and has been told */
};

/* STATUS_OK, or STATUS_USAGE with a line on standard error. Close it in any case. */
MUST_USE enum status
json_input_open(struct json_input *input, struct text_pool *texts, const char *path);
void json_input_close(struct json_input *input);

/* The values of a key; "", 0, false, or an empty list after a complaint. Texts go to the pool. */
const char *json_input_text(struct json_input *input, json_t *object, const char *key);
/* An integer that is not negative, or such a number in a string, "0x" allowed. */
uint64_t json_input_number(struct json_input *input, json_t *object, const char *key);
bool json_input_bool(struct json_input *input, json_t *object, const char *key);
json_t *json_input_list(struct json_input *input, json_t *object, const char *key);
json_t *json_input_object(struct json_input *input, json_t *object, const char *key);
const char *const *
json_input_texts(struct json_input *input, json_t *object, const char *key, size_t *count);

/* Say what is wrong, once per file. */
void json_input_complain(struct json_input *input, const char *key, const char *allowed);

#endif
