/* The model of a generic durable target: an append-only store that dead letters go to. */
#ifndef MODELS_GENERIC_GENERIC_H
#define MODELS_GENERIC_GENERIC_H

#include "sim/model.h"

/* Reader classes of the model. */
enum generic_reader {
    GENERIC_READER = 0, /* whoever reads the store */
};

extern const struct model_type generic_model;

#endif
