/* The model of a generic keyed store: what an idempotent sink writes to. */
#ifndef MODELS_GENERIC_KEYED_H
#define MODELS_GENERIC_KEYED_H

#include "sim/model.h"

/* Reader classes of the model. */
enum keyed_reader {
    KEYED_READER = 0, /* whoever reads the store */
};

extern const struct model_type keyed_model;

#endif
