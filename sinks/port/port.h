/* The port: how requests and answers look at the edge of a sink (DESIGN section 10).
 *
 * A message is a C struct with a const field table (struct port_message) that carries the protobuf
 * field numbers of the real API. A service's messages and methods are generated from one .def per
 * service: the struct, the table, from which digest, equality and canonical bytes are read, and, for what
 * is done at every request, code that goes straight through the fields: decoding and cloning.
 *
 * An envelope is a request on its way, an answer is what came back. Neither holds a function pointer: a
 * simulated world and a real client both move envelopes from an outbox to a service.
 */
#ifndef SINKS_PORT_PORT_H
#define SINKS_PORT_PORT_H

#include "sinks/base/allocator.h"
#include "sinks/base/bytes.h"
#include "sinks/base/err.h"
#include "sinks/base/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- messages --------------------------------------------------------------------------------- */

enum port_type {
    PORT_TYPE_NONE = 0,
    PORT_BOOL,    /* bool */
    PORT_U32,     /* uint32_t */
    PORT_U64,     /* uint64_t */
    PORT_I64,     /* int64_t */
    PORT_ENUM,    /* uint32_t */
    PORT_BYTES,   /* struct bytes */
    PORT_TEXT,    /* struct bytes, well-formed UTF-8 */
    PORT_MESSAGE, /* const struct X *, NULL when absent */
    PORT_LIST,    /* struct port_list of pointers to messages */
    PORT_TEXTS,   /* struct port_texts */
};

struct port_list {
    const void *const *items;
    uint32_t count;
};

struct port_texts {
    const struct bytes *items;
    uint32_t count;
};

struct port_message;
struct port_message_code;

struct port_field {
    uint32_t number; /* protobuf field number of the real API */
    uint16_t offset;
    uint8_t type; /* enum port_type */
    const char *name;
    const struct port_message *message; /* of PORT_MESSAGE and PORT_LIST */
};

struct port_message {
    const char *name;
    size_t size;                     /* of the C struct */
    const struct port_field *fields; /* ascending by number */
    uint16_t field_count;
    const struct port_message_code
        *code; /* private to sinks/port; generated from the same fields */
};

/* Protobuf presence: scalars and bytes at their zero value are absent, as in proto3. */

/* Encode in canonical protobuf form: fields ascending, zero values absent, lists in order. */
void port_encode(const struct port_message *message, const void *value, struct byte_writer *writer);

/* Size of the canonical form, bytes. */
size_t port_encoded_size(const struct port_message *message, const void *value);

/* Decode hostile bytes into one block taken from the allocator: the struct first, all that it points
 * to behind it. Unknown fields are ERR_INVALID, as are wrong wire types, malformed UTF-8 in texts, and
 * fields that come again though they are no lists. *block_size is what to give back.
 * ERR_OK, ERR_INVALID, ERR_TRUNCATED, ERR_LIMIT. */
MUST_USE enum err port_decode(const struct port_message *message,
                              struct bytes source,
                              const struct allocator *allocator,
                              void **value,
                              size_t *block_size);

/* What a check of bytes found: the block that a view of them takes, and which fields they carry at
 * their top level. */
struct port_view {
    size_t block_size;
    uint64_t fields; /* private: bit per number */
};

/* Decode like port_decode, but let bytes and texts point into source, which must then outlive the
 * message: the block holds only structs and arrays. port_check and port_view_size validate all and
 * measure (ERR_OK, ERR_INVALID, ERR_TRUNCATED); port_view_into builds from a source that was
 * validated, in a block aligned for any type, and returns the struct, which is the block's first. */
MUST_USE enum err
port_check(const struct port_message *message, struct bytes source, struct port_view *view);
MUST_USE enum err
port_view_size(const struct port_message *message, struct bytes source, size_t *block_size);
void *port_view_into(const struct port_message *message,
                     struct bytes source,
                     void *block,
                     size_t block_size);

/* Whether the bytes carry the field with this number, which is no list, at their top level. */
bool port_view_has(const struct port_view *view, uint32_t number);

/* Deep copy into one block, and digest on the way. Measure first; the block must be aligned for any
 * type. Equal messages have equal digests, which are not those of port_digest. */
size_t port_clone_size(const struct port_message *message, const void *value);
void *port_clone_into(const struct port_message *message,
                      const void *value,
                      void *memory,
                      size_t memory_size,
                      uint64_t *digest_or_null);

bool port_equal(const struct port_message *message, const void *a, const void *b);

/* Digest field by field, never over padding or addresses. */
uint64_t port_digest(const struct port_message *message, const void *value);

/* --- status ----------------------------------------------------------------------------------- */

/* google.rpc.Code numbers; each HTTP status maps by google/rpc/code.proto. */
enum port_code {
    PORT_OK = 0,
    PORT_CANCELLED = 1,
    PORT_UNKNOWN = 2,
    PORT_INVALID_ARGUMENT = 3,
    PORT_DEADLINE_EXCEEDED = 4,
    PORT_NOT_FOUND = 5,
    PORT_ALREADY_EXISTS = 6,
    PORT_PERMISSION_DENIED = 7,
    PORT_RESOURCE_EXHAUSTED = 8,
    PORT_FAILED_PRECONDITION = 9,
    PORT_ABORTED = 10,
    PORT_OUT_OF_RANGE = 11,
    PORT_UNIMPLEMENTED = 12,
    PORT_INTERNAL = 13,
    PORT_UNAVAILABLE = 14,
    PORT_DATA_LOSS = 15,
    PORT_UNAUTHENTICATED = 16,
    PORT_CODE_COUNT = 17,
};

/* "UNAVAILABLE"; "?" for a number that is none. */
const char *port_code_name(uint32_t code);

enum port_domain {
    PORT_DOMAIN_NONE = 0,
    PORT_DOMAIN_GRPC,   /* code is enum port_code */
    PORT_DOMAIN_HTTP,   /* code is an HTTP status */
    PORT_DOMAIN_CLIENT, /* raised inside the client; code is enum port_code or PORT_CODE_NONE */
};

#define PORT_CODE_NONE UINT16_C(0xffff) /* an error that carries no status at all */
#define PORT_CHAIN_MAX 4

/* One error of a cause chain. */
struct port_cause {
    uint8_t domain; /* enum port_domain */
    uint16_t code;
    uint16_t reason; /* meaning by service; 0 none */
    const struct port_message *detail_message_or_null;
    const void *detail_or_null; /* owned by the answer */
};

/* A status is its cause chain, outermost first; an empty chain is OK. */
struct port_status {
    uint8_t count;
    struct port_cause causes[PORT_CHAIN_MAX];
};

/* A one-cause gRPC status; PORT_OK gives the empty chain. */
struct port_status port_status_grpc(enum port_code code);

/* Put a cause around a status (it becomes outermost); the innermost falls off a full chain. */
struct port_status
port_status_wrap(struct port_status inner, enum port_domain domain, uint16_t code);

/* The first cause from the outside in that carries a code of enum port_code (HTTP ones mapped);
 * PORT_CODE_NONE if none does. */
uint16_t port_status_first(const struct port_status *status);

/* Whether any cause carries one of the codes (bit per enum port_code, HTTP ones mapped). */
bool port_status_any(const struct port_status *status, uint32_t code_bits);
#define PORT_CODE_BIT(code) (UINT32_C(1) << (code))

/* --- methods, envelopes, answers --------------------------------------------------------------- */

enum port_method_kind {
    PORT_METHOD_NONE = 0,
    PORT_UNARY,
    PORT_BIDI,
};

/* Names, kind and field tables, nothing else: retry policy is the sink's, limits are the model's. */
struct port_method {
    uint16_t id;      /* within the service, from 1 */
    uint8_t kind;     /* enum port_method_kind */
    const char *name; /* "CreateTask" */
    const struct port_message *request;
    const struct port_message *response; /* NULL when the answer carries nothing */
    const struct port_service *service;
};

struct port_service {
    const char *name; /* "cloudtasks" */
    const struct port_method *const *methods;
    uint16_t method_count;
};

enum port_envelope_kind {
    PORT_ENVELOPE_NONE = 0,
    PORT_CALL,        /* a unary request */
    PORT_OPEN,        /* open a stream (stream id set) */
    PORT_STREAM_SEND, /* one message on a stream */
    PORT_HALF_CLOSE,  /* no more messages from here */
    PORT_CANCEL,      /* best effort */
};

/* A request on its way. The sender numbers requests and streams uniquely within its half and life;
 * the host stamps the attempt. Borrowed until the step returns: who keeps it clones it. */
struct port_envelope {
    uint64_t request;
    uint64_t stream; /* 0: none */
    uint8_t kind;    /* enum port_envelope_kind */
    const struct port_method *method;
    uint32_t channel;           /* connection to use; equal channels share one connection */
    struct port_texts metadata; /* "key: value" pairs */
    nanos deadline;             /* TIME_NEVER: none */
    bool deadline_is_absolute;  /* instant on the sender's monotonic clock; else from leaving */
    const void *payload;        /* of method->request; NULL for half-close and cancel */
};

enum port_answer_kind {
    PORT_ANSWER_NONE = 0,
    PORT_ANSWER,         /* of a unary request */
    PORT_STREAM_MESSAGE, /* one message on a stream */
    PORT_STREAM_END,     /* the stream is over */
};

/* What the caller knows. Unknown: the effect may or may not have happened (X-03..X-05). */
enum port_outcome {
    PORT_OUTCOME_NONE = 0,
    PORT_OUTCOME_OK,
    PORT_OUTCOME_ERROR, /* definite: no effect */
    PORT_OUTCOME_UNKNOWN,
};

struct port_answer {
    uint64_t request;
    uint64_t stream;
    uint8_t kind;    /* enum port_answer_kind */
    uint8_t outcome; /* enum port_outcome */
    const struct port_method *method;
    struct port_status status;
    const void *payload; /* of method->response, or NULL; borrowed until the step returns */
    nanos received;      /* on the receiver's monotonic clock */
};

#endif
