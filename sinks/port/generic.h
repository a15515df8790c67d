/* The vocabulary of a generic durable target, that dead letters go to. sinks/port/generic.def says
 * which fields and methods there are. */
#ifndef SINKS_PORT_GENERIC_H
#define SINKS_PORT_GENERIC_H

#include "sinks/port/port.h"

#include <stdint.h>

/* The order matters. */
/* clang-format off */
#include "sinks/port/as_structs.def"
#include "sinks/port/generic.def"
#include "sinks/port/as_end.def"
/* clang-format on */

extern const struct port_service generic_service;

#endif
