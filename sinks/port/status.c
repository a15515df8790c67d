/* Statuses: names, chains and classification. */
#include "sinks/base/check.h"
#include "sinks/port/port.h"

const char *port_code_name(uint32_t code)
{
    static const char *const names[PORT_CODE_COUNT] = {
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    };
    return code < PORT_CODE_COUNT ? names[code] : "?";
}

struct port_status port_status_grpc(enum port_code code)
{
    struct port_status status = {0};
    if (code != PORT_OK) {
        status.count = 1;
        status.causes[0].domain = PORT_DOMAIN_GRPC;
        status.causes[0].code = (uint16_t)code;
    }
    return status;
}

struct port_status
port_status_wrap(struct port_status inner, enum port_domain domain, uint16_t code)
{
    struct port_status status = {0};
    status.causes[0].domain = (uint8_t)domain;
    status.causes[0].code = code;
    status.count = 1;
    for (uint8_t i = 0; i < inner.count && status.count < PORT_CHAIN_MAX; i++) {
        status.causes[status.count] = inner.causes[i];
        status.count++;
    }
    return status;
}

/* X-02 read backwards. Where several codes share an HTTP status, the one that clients of Google's
 * REST APIs raise: 400 INVALID_ARGUMENT, 409 ALREADY_EXISTS, 500 INTERNAL. */
static uint16_t code_of_http(uint16_t status)
{
    static const struct {
        uint16_t status;
        uint16_t code;
    } map[] = {
        {400, PORT_INVALID_ARGUMENT},
        {401, PORT_UNAUTHENTICATED},
        {403, PORT_PERMISSION_DENIED},
        {404, PORT_NOT_FOUND},
        {409, PORT_ALREADY_EXISTS},
        {429, PORT_RESOURCE_EXHAUSTED},
        {499, PORT_CANCELLED},
        {500, PORT_INTERNAL},
        {501, PORT_UNIMPLEMENTED},
        {503, PORT_UNAVAILABLE},
        {504, PORT_DEADLINE_EXCEEDED},
    };
    for (size_t i = 0; i < ARRAY_COUNT(map); i++) {
        if (map[i].status == status) {
            return map[i].code;
        }
    }
    return PORT_CODE_NONE;
}

/* The error code that a cause carries; PORT_CODE_NONE for none, OK included. */
static uint16_t code_of(const struct port_cause *cause)
{
    const uint16_t code =
        cause->domain == PORT_DOMAIN_HTTP ? code_of_http(cause->code) : cause->code;
    return cause->domain != PORT_DOMAIN_NONE && code > PORT_OK && code < PORT_CODE_COUNT
               ? code
               : PORT_CODE_NONE;
}

uint16_t port_status_first(const struct port_status *status)
{
    CHECK(status->count <= PORT_CHAIN_MAX);
    for (uint8_t i = 0; i < status->count; i++) {
        const uint16_t code = code_of(&status->causes[i]);
        if (code != PORT_CODE_NONE) {
            return code;
        }
    }
    return PORT_CODE_NONE;
}

bool port_status_any(const struct port_status *status, uint32_t code_bits)
{
    CHECK(status->count <= PORT_CHAIN_MAX);
    for (uint8_t i = 0; i < status->count; i++) {
        const uint16_t code = code_of(&status->causes[i]);
        if (code != PORT_CODE_NONE && (code_bits & PORT_CODE_BIT(code)) != 0) {
            return true;
        }
    }
    return false;
}
