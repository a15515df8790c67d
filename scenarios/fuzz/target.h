/* What a fuzz target is: one function that takes any bytes, finds nothing to complain about and
 * returns 0, or ends the process. libFuzzer calls it, or scenarios/fuzz/replay.c. */
#ifndef SCENARIOS_FUZZ_TARGET_H
#define SCENARIOS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
