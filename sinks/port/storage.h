/* The vocabulary of object storage. sinks/port/storage.def says which fields each struct has and which
 * methods there are: struct storage_write_object_request with storage_write_object_request_message,
 * method storage_write_object_method, and so on. */
#ifndef SINKS_PORT_STORAGE_H
#define SINKS_PORT_STORAGE_H

#include "sinks/port/port.h"

#include <stdbool.h>
#include <stdint.h>

/* The order matters. */
/* clang-format off */
#include "sinks/port/as_structs.def"
#include "sinks/port/storage.def"
#include "sinks/port/as_end.def"
/* clang-format on */

extern const struct port_service storage_service;

#endif
