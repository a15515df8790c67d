/* The model of a generic table with staged units: what a transactional sink writes to. */
#ifndef MODELS_GENERIC_TABLE_H
#define MODELS_GENERIC_TABLE_H

#include "sim/model.h"

/* Reader classes of the model. */
enum table_reader {
    TABLE_READER = 0, /* whoever reads the table */
};

extern const struct model_type table_model;

#endif
