/* What ties a sink to the service it writes to: the user's code (resolver, serializer, id extractor)
 * and how the world's effects are recognised. One file per service; this is what they share.
 *
 * Everything here is made once per scenario and read-only afterwards, so that all runs share it: the
 * serializer's results are computed ahead, record by record. */
#ifndef SCENARIOS_WIRING_WIRING_H
#define SCENARIOS_WIRING_WIRING_H

#include "scenarios/record_index.h"
#include "sim/engine/source_log.h"
#include "sim/model.h"
#include "sim/oracle.h"
#include "sim/world.h"
#include "sinks/sink.h"

struct reader;

/* The model of a service that the sink calls on its way to the one it writes to. */
struct wiring_model {
    const struct model_type *type;
    const struct sink_option_value *options;
};

/* What the field is that later records have more. */
enum wiring_growth {
    WIRING_GROWTH_TEXT = 0,
    WIRING_GROWTH_JSON,
};

/* What the wiring is made from. Borrowed for the scenario's life. */
struct wiring_input {
    const struct sink_type *sink;
    const struct sink_option_value *sink_options;
    const struct model_type *model; /* of the service that the sink writes to */
    const struct sink_option_value *model_options;
    struct wiring_model further[SINK_FURTHER_SERVICES_MAX]; /* in the order of the sink's */
    enum profile profile;
    const struct source_log *log;
    bool extractor;               /* the user gives an id extractor: the record's key */
    bool by_split;                /* destinations by split, not one for all */
    uint64_t grows_at;            /* position from which on a record has one more field; 0 none */
    uint8_t grows_by;             /* enum wiring_growth */
    uint32_t target_service;      /* index of the model */
    uint32_t dead_letter_service; /* UINT32_MAX none */
};

/* Times that the sink's and the model's options imply; 0 where there is none. */
struct wiring_windows {
    nanos request_timeout;
    nanos residence;         /* worst case of one request with all its retries */
    nanos last_attempt;      /* of that, where retry says nothing: from the last sending on */
    nanos protection_window; /* guaranteed by documents from removal on */
    nanos recovery_window;   /* from staging to the last send */
    nanos clock_allowance;
    nanos release_max;        /* from removal to the latest release of a name or stream */
    uint32_t concurrency_max; /* unanswered requests of one half */
    uint32_t
        resources_made_max; /* that an attempt of a half makes beside its data; 0: not limited so */
    bool expiry_fails;      /* an envelope past its deadline stops the job */
    struct judge_retry retry[2]; /* after a transient failure; after NOT_FOUND */
    uint32_t forbidden;          /* bits 1 << enum configured: what the sink's options forbid it */
    uint64_t declared; /* digest of what the sink may declare of what holds its data; 0: anything */
    uint64_t control_methods; /* bit per method that only reads what the configuration is about */
    /* for `timing` */
    uint32_t opening_calls;   /* one after another, before an attempt's first commit */
    nanos answer_delay;       /* that the service adds to each request with data */
    uint32_t commit_lookups;  /* one after another, of each commit before what it does */
    uint32_t commit_requests; /* of a commit, whatever it holds; 0: one per record */
    bool own_identities; /* a request that commits is of many envelopes, and has its own identity */
    bool writer_waits;   /* a staged sink whose barriers wait for requests of its writer */
    /* where retry says nothing and residence is no more than a bound: of a writer's request, and of a
     * call that it makes before, or its committer. All attempts; and until the last of them is sent. */
    nanos data_budget;
    nanos data_outage;
    nanos call_budget;
    nanos call_outage;
    uint32_t writer_calls; /* one after another, before a writer's first request */
    bool writer_connects;  /* that request opens a connection, which the service serves first */
};

#define WIRING_DESTINATION_MAX 16

/* Versions of what a serializer writes. */
enum wiring_version {
    WIRING_VERSION_NONE = 0,
    WIRING_VERSION_FIRST,
    WIRING_VERSION_GROWN, /* with one more field */
    WIRING_VERSION_END,
};

/* One service. */
struct wiring {
    const struct port_service *service;
    /* Write the request payload for a record, in canonical bytes. */
    void (*serialize)(const struct wiring_input *input,
                      const struct source_record *record,
                      struct byte_writer *writer);
    /* The destinations: at most WIRING_DESTINATION_MAX; the first is the fixed one. Their count. */
    uint32_t (*destinations)(const struct wiring_input *input,
                             struct bytes destinations[WIRING_DESTINATION_MAX]);
    void (*windows)(const struct wiring_input *input, struct wiring_windows *windows);
    /* Write what payloads of a version are written as, in canonical bytes; NULL where the service needs none. */
    void (*describe)(const struct wiring_input *input,
                     enum wiring_version version,
                     struct byte_writer *writer);
};

/* Which version a record's payload is of. */
enum wiring_version wiring_version_of(const struct wiring_input *input,
                                      const struct sink_record *record);

extern const struct wiring wiring_cloudtasks;
extern const struct wiring wiring_generic;
extern const struct wiring wiring_table;
extern const struct wiring wiring_keyed;
extern const struct wiring wiring_bigquery;

/* The wiring of a service, or NULL. */
const struct wiring *wiring_of(const struct port_service *service);

/* The user's code and the recogniser, made for one scenario. */
struct wiring_context {
    struct wiring_input input;
    struct bytes *payloads;                        /* by record - 1 */
    struct bytes descriptions[WIRING_VERSION_END]; /* of the service's that need one */
    struct record_index index;
    struct bytes destinations[WIRING_DESTINATION_MAX];
    uint32_t destination_count;
    struct sink_user user;       /* read: the callbacks */
    struct sink_user user_again; /* read: those of every attempt but the first */
};

/* Make it in the reader's memory. ERR_OK, ERR_LIMIT. */
MUST_USE enum err wiring_create(struct reader *reader,
                                const struct wiring *wiring,
                                const struct wiring_input *input,
                                struct wiring_context **context);

/* A world_identify over a struct wiring_context. O(1). */
record_id
wiring_identify(void *context, struct bytes value, uint64_t digest, struct world_guesses *guesses);

/* The value of an option by key, or fallback when the table has none. */
struct sink_option_table {
    const struct sink_option *options;
    size_t count;
    const struct sink_option_value *values;
};
uint64_t wiring_option(const struct sink_option_table *table, const char *key, uint64_t fallback);
struct bytes wiring_option_text(const struct sink_option_table *table, const char *key);

/* The words of a text that are separated by spaces, as many as there is room for; their count. */
uint32_t wiring_words(struct bytes text, struct bytes found[WIRING_DESTINATION_MAX]);

#endif
