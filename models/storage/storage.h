/* The model of object storage: buckets, the objects in them, and uploads that are not finished. */
#ifndef MODELS_STORAGE_STORAGE_H
#define MODELS_STORAGE_STORAGE_H

#include "sim/model.h"

enum storage_mark {
    MARK_STORAGE_FIRST = MARK_SIM_ROOM + 4 * MARK_MODEL_ROOM,
    MARK_STORAGE_BEFORE = MARK_STORAGE_FIRST - 1,
#define MARK(id, name, sentence, unit_test) MARK_##id,
#include "models/storage/marks.def"
#undef MARK
    MARK_STORAGE_END,
};

/* Reader classes of the model. */
enum storage_reader {
    STORAGE_READER_OBJECTS = 0, /* whoever reads objects */
};

extern const struct model_type storage_model;

/* For another model that reads objects: what lies under "gs://bucket/object" now; state is that of a
 * service of this type. False when nothing does. Borrowed until the model's next call. */
bool storage_read(void *state, struct bytes uri, struct bytes *content);

/* The same for objects that match a pattern of one '*': the next one from a cursor on, which starts at 0.
 * False when there is no further one. */
bool storage_match(void *state, struct bytes pattern, uint32_t *cursor, struct bytes *content);

#endif
