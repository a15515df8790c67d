/* Any bytes are an envelope of Cloud Tasks or an error; one that was read is made of views into its
 * bytes and accounts for all of them. */
#include "scenarios/fuzz/seal.h"
#include "scenarios/fuzz/target.h"
#include "sinks/base/bytes.h"
#include "sinks/cloudtasks/envelope.h"

#include <stdlib.h>
#include <string.h>

static bool is_within(struct bytes part, struct bytes whole)
{
    return part.size == 0 ||
           (part.data >= whole.data && part.data + part.size <= whole.data + whole.size);
}

static void check_envelope(struct bytes source)
{
    struct envelope envelope = {0};
    if (envelope_decode(source, &envelope) == ERR_OK) {
        CHECK(envelope.deadline_ms > envelope.origin_ms);
        CHECK(envelope.queue.size > 0);
        CHECK(is_within(envelope.queue, source));
        CHECK(is_within(envelope.task, source));
        CHECK(is_within(envelope.name, envelope.task));
        CHECK(identity_name_is_valid(envelope.queue, envelope.name));
        CHECK(source.size == envelope_size(envelope.queue.size, envelope.task.size));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of exactly this size, so that a read past the end shows. */
    uint8_t *copy = malloc(size > 0 ? size : 1);
    CHECK(copy != NULL);
    if (size > 0) {
        memcpy(copy, data, size);
    }
    check_envelope((struct bytes){copy, size});
    seal_envelope(copy, size);
    check_envelope((struct bytes){copy, size});
    free(copy);
    return 0;
}
