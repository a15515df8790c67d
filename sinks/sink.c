#include "sinks/sink.h"

const char *sink_reason_name(uint32_t reason)
{
    static const char *const names[SINK_REASON_COUNT] = {
        "none",
        "serializer",
        "extractor",
        "resolver",
        "rejected",
        "config",
        "capacity",
        "exhausted",
        "service",
        "expired",
        "state",
        "policy",
        "memory",
    };
    return reason < SINK_REASON_COUNT ? names[reason] : "?";
}
