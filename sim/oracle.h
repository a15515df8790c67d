/* Oracles: one property per file, judged by the journal, the source's log and the checkpoint store,
 * never by a sink's state (DESIGN section 5). */
#ifndef SIM_ORACLE_H
#define SIM_ORACLE_H

#include "sim/engine/store.h"
#include "sim/journal.h"
#include "sim/world.h"

enum verdict {
    VERDICT_OK = 0,
    VERDICT_VIOLATION,
    VERDICT_INCONCLUSIVE, /* out of scope or excused: says why */
};

#define ORACLE_MESSAGE_SIZE 160

/* The first violation that an oracle recorded. */
struct finding {
    uint8_t verdict;      /* enum verdict */
    uint32_t position;    /* journal position that decided */
    uint64_t subject;     /* record id, identity digest, checkpoint number or lane: stable name of
                              what it is about, kept by shrinking */
    uint8_t subject_kind; /* enum subject_kind */
    char message[ORACLE_MESSAGE_SIZE];
};

enum subject_kind {
    SUBJECT_NONE = 0,
    SUBJECT_RECORD,
    SUBJECT_IDENTITY,
    SUBJECT_CHECKPOINT,
    SUBJECT_LANE,
    SUBJECT_JOB,
    SUBJECT_EFFECT,
};

/* How a sink repeats a failed request: the n-th pause is min(initial * 2^(n-1), max), times 0.75 to
 * 1.25. */
struct judge_retry {
    nanos initial;
    nanos max;
    uint32_t attempts_max; /* the first included; 0: not known, not judged */
};

/* What the scenario fixes and oracles may rely on: never a number that sink or model reports about
 * itself. All from scenario and option tables, before the run. */
struct judge_facts {
    bool staged;                  /* the sink has a committer */
    bool next_staged;             /* and so has the second one that a restart may bring */
    uint8_t policy;               /* enum sink_policy_kind */
    bool keyed;                   /* identities derive from the record */
    uint8_t reader_class;         /* whose visibility the write oracles judge */
    uint8_t consumer_class;       /* whose visibility end-to-end judges */
    uint32_t target_service;      /* index of the service that holds the data effects */
    uint32_t sink_services;       /* bit per service that the sink calls, the target among them */
    uint32_t dead_letter_service; /* index, UINT32_MAX none */
    uint32_t concurrency_max;     /* unanswered requests of one half at once; 0 unbounded */
    nanos request_timeout;
    nanos protection_window; /* guaranteed by documents from removal on; 0 none */
    nanos recovery_window;   /* the sink's declared window from staging to last send; 0 none */
    nanos clock_allowance;   /* declared clock error; ns */
    nanos late_effect_max;
    nanos liveness_bound;   /* from the last injected fault's end to the end of all work; ns */
    nanos fault_free_bound; /* from staging to commit in a fault-free run: no excuse within it */
    uint32_t restarts_after_heal; /* allowed */
    uint64_t stop_reasons;        /* bits of enum sink_reason that may end the job for good */
    bool expiry_fails;            /* an expired envelope must stop the job (policy FAIL) */
    bool identity_changes_allowed;
    bool equal_is_one;           /* records of one payload are one input: one effect is enough, and
                                     all that may be */
    bool at_destination;         /* a checkpoint's records must be at the destination itself, also
                                     of a staged sink */
    bool shares_thread;          /* processor time delays what a half does */
    bool fencing_token;          /* the sink declares one */
    bool own_identities;         /* a staged sink's requests have identities of their own, for each
                                     commits many envelopes: which may leave is not told by them */
    uint32_t resources_live_max; /* that the sink may leave alive beside its data */
    /* Of a service that never removes any: that an attempt of a half may make beside its data; 0: judged by
     * what is alive. */
    uint32_t resources_made_max;
    uint64_t control_methods;    /* bit per method of the target service that only reads what the
                                     configuration is about */
    struct judge_retry retry[2]; /* after a transient failure; after NOT_FOUND */
    uint32_t forbidden; /* bits 1 << enum configured: what the configuration forbids the sink to do
                           to what holds its data */
    uint64_t declared;  /* digest of what it may declare such a thing to be set to; 0: anything */
    uint32_t excuses;   /* bits of enum excuse: what is out of the scenario's scope; 0 nothing */
};

/* Excuses that a scenario may grant; each is judged by its cause in the journal
 * (sim/oracle_excuse.h). */
enum excuse {
    EXCUSE_NONE = 0,
    EXCUSE_WINDOW_LAPSED = 1, /* a name was released while injected faults kept the job down */
    EXCUSE_DECLARED_STOP = 2, /* the job stands in a declared error for an injected cause */
    EXCUSE_LATE_EFFECT = 4,   /* a request took effect later than late_effect_max */
};

struct judge;
struct judge_hearer;
struct ledger;

struct oracle_type {
    const char *name;           /* "exactly-once-write" */
    const char *sentence;       /* what must hold */
    const char *const *mutants; /* that must trip it; NULL-terminated */
    const uint16_t *marks;      /* that its ok needs; ended by MARK_NONE */
    uint64_t kinds;             /* bit per journal_kind it wants */
    uint64_t kinds_unusual;     /* of these, the kinds of which it wants only what is not plain: it
                                   finds nothing in an entry that the ledger calls so */
    bool wants_nothing; /* a run in which nothing happens is what it asks for, not vacuous */
    size_t state_size;
    void (*init)(void *state, struct judge *judge); /* may be NULL: state is zeroed */
    void (*on_entry)(void *state,
                     struct judge *judge,
                     const struct journal_entry *entry,
                     uint32_t position);
    void (*at_heal)(void *state, struct judge *judge); /* may be NULL */
    void (*at_end)(void *state, struct judge *judge);  /* may be NULL */
    uint64_t (*digest)(const void *state);             /* may be NULL */
};

#define ORACLE_MAX 32

/* How a run came to its end, for the end checks. */
enum run_end {
    RUN_END_NONE = 0,
    RUN_END_COMPLETE, /* all work done */
    RUN_END_FAILED,   /* the job stands in a terminal error */
    RUN_END_STUCK,    /* nothing left to happen, or bound passed, with unfinished work */
    RUN_END_LIMIT,    /* memory, events or tape used up: no verdict */
};

/* Who wants entries of a kind. */
struct judge_hearers {
    const struct judge_hearer *all;     /* those of all its entries */
    const struct judge_hearer *unusual; /* behind them those of the ones that are not plain */
    const struct judge_hearer *end;
};

struct judge {
    struct world *world;
    struct arena *arena;
    const struct source_log *log;
    const struct store *store;
    const struct judge_facts *facts;
    struct ledger *ledger; /* what the journal says so far; up to date when an oracle is called */
    uint8_t end;           /* enum run_end; set before at_end */
    bool healed;
    nanos healed_at;
    nanos ended_at;
    uint32_t oracle_count;
    const struct oracle_type *types[ORACLE_MAX];
    void *states[ORACLE_MAX];
    struct judge_hearers hearers[JOURNAL_KIND_COUNT]; /* private: who wants what */
    uint8_t current;                                  /* oracle being called */
    struct finding findings[ORACLE_MAX];              /* of the first oracle_count */
};

/* Prepare the oracles in the world's arena and listen to its journal. The store must already hold
 * what HOST_CHECKPOINT_COMPLETED and HOST_JOB_STARTED name when they are appended. */
void judge_init(struct judge *judge,
                struct world *world,
                const struct source_log *log,
                const struct store *store,
                const struct judge_facts *facts,
                const struct oracle_type *const *types,
                uint32_t type_count);
/* The safety phase is over; call it beside HOST_HEAL. */
void judge_heal(struct judge *judge);
/* The run is over: make the end checks. At RUN_END_LIMIT there are none, and what is not already
 * violated is inconclusive. Entries that follow are still heard (a leak shows at disposal). */
void judge_end(struct judge *judge, enum run_end end);

/* Digest over findings and oracles' states. */
uint64_t judge_digest(const struct judge *judge);

/* Position of a finding at the end: that of the last entry. */
#define POSITION_END UINT32_MAX

/* Called by the current oracle: record its first violation. Later ones are ignored. */
void judge_violation(struct judge *judge,
                     uint32_t position,
                     enum subject_kind subject_kind,
                     uint64_t subject,
                     const char *format,
                     ...) PRINTF_LIKE(5, 6);
/* Record that the run cannot be judged by this oracle. A violation outranks it. */
void judge_inconclusive(struct judge *judge, uint32_t position, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* All oracles of the product, and one by name (NULL if there is none). In sim/oracle_types.c. */
extern const struct oracle_type *const oracle_types[];
extern const size_t oracle_type_count;
const struct oracle_type *oracle_by_name(struct bytes name);

#endif
