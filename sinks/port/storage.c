#include "sinks/port/storage.h"

#include "sinks/base/check.h"

#include <stddef.h>

/* The order matters. */
/* clang-format off */
#include "sinks/port/as_flat.def"
#include "sinks/port/storage.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_check.def"
#include "sinks/port/storage.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_build.def"
#include "sinks/port/storage.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_size.def"
#include "sinks/port/storage.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_clone.def"
#include "sinks/port/storage.def"
#include "sinks/port/as_end.def"

#include "sinks/port/as_tables.def"
#include "sinks/port/storage.def"
#include "sinks/port/as_end.def"

static const struct port_method *const methods[] = {
#include "sinks/port/as_methods.def"
#include "sinks/port/storage.def"
#include "sinks/port/as_end.def"
};
/* clang-format on */

const struct port_service storage_service = {"storage", methods, (uint16_t)ARRAY_COUNT(methods)};
