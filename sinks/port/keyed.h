/* The vocabulary of a generic keyed store. sinks/port/keyed.def says which fields and methods there are. */
#ifndef SINKS_PORT_KEYED_H
#define SINKS_PORT_KEYED_H

#include "sinks/port/port.h"

#include <stdbool.h>
#include <stdint.h>

/* The order matters. */
/* clang-format off */
#include "sinks/port/as_structs.def"
#include "sinks/port/keyed.def"
#include "sinks/port/as_end.def"
/* clang-format on */

extern const struct port_service keyed_service;

#endif
