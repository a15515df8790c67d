/* The model of object storage: buckets, the objects in them, and uploads that are not finished. */
#ifndef MODELS_STORAGE_STORAGE_H
#define MODELS_STORAGE_STORAGE_H

#include "sim/model.h"

/* Reader classes of the model. */
enum storage_reader {
    STORAGE_READER_OBJECTS = 0, /* whoever reads objects */
};

extern const struct model_type storage_model;

/* For another model that reads objects: what lies under "gs://bucket/object" now; state is that of a
 * service of this type. False when nothing does. Borrowed until the model's next call. */
bool storage_read(void *state, struct bytes uri, struct bytes *content);

#endif
