#include "sinks/base/err.h"

#include "sinks/base/check.h"

const char *err_name(enum err code)
{
    switch (code) {
    case ERR_OK:
        return "ok";
    case ERR_LIMIT:
        return "limit";
    case ERR_INVALID:
        return "invalid";
    case ERR_TRUNCATED:
        return "truncated";
    case ERR_CORRUPT:
        return "corrupt";
    case ERR_VERSION:
        return "version";
    case ERR_NOT_FOUND:
        return "not_found";
    case ERR_CONFLICT:
        return "conflict";
    case ERR_SYSTEM:
        return "system";
    }
    UNREACHABLE();
}
