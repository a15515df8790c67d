/* Strict reading of the gate's own JSON files: beside what json_input offers, no key that is not known. */
#ifndef SCENARIOS_GATE_STRICT_H
#define SCENARIOS_GATE_STRICT_H

#include "scenarios/cli/json_input.h"

/* Complain of a key that is not among these words, or when it is no object. place names the object; ""
 * is the whole file. */
void strict_keys(struct json_input *input, json_t *object, const char *place, const char *words);

/* A number within bounds, or a list of them: as many as capacity at the most. */
uint64_t strict_number(
    struct json_input *input, json_t *object, const char *key, uint64_t least, uint64_t most);
uint32_t strict_numbers(struct json_input *input,
                        json_t *object,
                        const char *key,
                        uint64_t least,
                        uint64_t most,
                        uint64_t *numbers,
                        uint32_t capacity);

/* "n/d" with d from 1. */
struct ratio strict_ratio(struct json_input *input, json_t *object, const char *key);

#endif
