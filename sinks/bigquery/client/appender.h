/* The client below a sink: one write stream, the connection to it, and the appends on their way.
 *
 * It does what the vendor's client libraries do (section 3.3 of the sink's specification). Appends are
 * pipelined and answered in their order. One that fails with a code that asks for it is sent again within
 * the connection; on a stream with explicit offsets all that were sent behind it are pulled back and follow
 * it in their order, and what the service still says of their earlier requests is ignored. A connection
 * that is lost is opened again, and all that has no answer is sent again. After retry_duration_max without
 * progress, after an error of the connection that asks for no retry, or when an answer is awaited for
 * response_timeout, the connection is final: the oldest append gets the error, the others a client's
 * "writer closed", and nothing more is sent until the appender is reset.
 *
 * A default stream has no offsets, and its order is nobody's: there only the append that failed is sent
 * again, in front of those that have not been sent, and so behind some that followed it.
 *
 *   State \ event   submit    room     answer ok   answer error    stream end        slot due   watchdog
 *   OPEN            queue     send     settle      settle, resend  WAITING, FINAL    -          FINAL
 *   WAITING         queue     -        -           -               -                 OPEN       FINAL
 *   FINAL           settle    -        -           -               -                 -          -
 */
#ifndef SINKS_BIGQUERY_CLIENT_APPENDER_H
#define SINKS_BIGQUERY_CLIENT_APPENDER_H

#include "sinks/bigquery/client/append.h"
#include "sinks/bigquery/options.h"
#include "sinks/parking.h"
#include "sinks/sink.h"

/* Numbers of requests and streams, of one half. */
struct appender_numbers {
    uint64_t request;
    uint64_t stream;
};

struct appender {
    const struct allocator *allocator;
    const struct bigquery_config *config;
    struct appender_numbers *numbers;
    struct parking *parking;
    bool is_default;     /* the stream has no offsets; set after init */
    struct bytes stream; /* name; borrowed */
    const struct bigquery_proto_schema
        *schema; /* of rows; borrowed; set before the first is sent */
    struct list
        appends; /* struct append: settled ones first, then those on their way, then others */
    uint64_t connection; /* stream id; 0 none */
    uint64_t opened_by;  /* number of the request that opened it */
    bool has_schema;     /* the service has it, for the connection */
    struct bigquery_append_rows_request opening;
    uint8_t state;             /* enum appender_state */
    uint32_t lost;             /* connections in a row without progress */
    nanos failing_since;       /* TIME_NEVER: it makes progress */
    struct parking_slot pause; /* before the connection opens again */
    struct parking_slot watch; /* for the oldest answer */
    uint64_t watched;          /* number of its request; 0 none */
};

/* parking is the half's: a slot that is due is told by appender_due. */
void appender_init(struct appender *appender,
                   const struct allocator *allocator,
                   const struct bigquery_config *config,
                   struct appender_numbers *numbers,
                   struct parking *parking);

/* Begin with a stream; its name is borrowed. Nothing is on its way. */
void appender_reset(struct appender *appender, struct bytes stream);

void appender_submit(struct appender *appender, struct append *append);

/* The next append that is settled, in order; NULL when the oldest is not, or there is none. */
struct append *appender_take_settled(struct appender *appender);

/* Submitted ones that are not taken yet. */
uint32_t appender_count(const struct appender *appender);
bool appender_is_final(const struct appender *appender);

/* Send what may be sent, as far as there is room. ERR_OK, ERR_LIMIT. */
MUST_USE enum err appender_advance(struct appender *appender,
                                   const struct sink_now *now,
                                   struct sink_effects *effects);

/* An answer on the appender's connection, or its end. */
bool appender_has(const struct appender *appender, const struct port_answer *answer);
void appender_answer(struct appender *appender,
                     const struct sink_now *now,
                     const struct port_answer *answer);

/* A slot of the appender's is due: false when it is none of its own. */
bool appender_due(struct appender *appender,
                  const struct parking_slot *slot,
                  const struct sink_now *now,
                  struct sink_effects *effects);

/* Close the connection; what has no answer is left as it is. */
void appender_close(struct appender *appender, struct sink_effects *effects);

void appender_fini(struct appender *appender);

uint64_t appender_digest(uint64_t digest, const struct appender *appender);

#endif
