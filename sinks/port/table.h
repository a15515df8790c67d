/* The vocabulary of a generic table with staged units. sinks/port/table.def says which fields and methods there are. */
#ifndef SINKS_PORT_TABLE_H
#define SINKS_PORT_TABLE_H

#include "sinks/port/port.h"

#include <stdbool.h>
#include <stdint.h>

/* The order matters. */
/* clang-format off */
#include "sinks/port/as_structs.def"
#include "sinks/port/table.def"
#include "sinks/port/as_end.def"
/* clang-format on */

extern const struct port_service table_service;

#endif
