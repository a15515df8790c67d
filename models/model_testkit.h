/* A world with one model in it, for the unit tests of models: calls take effect at once, draws are
 * calm but for what a test pins, and virtual time moves by request. */
#ifndef MODELS_MODEL_TESTKIT_H
#define MODELS_MODEL_TESTKIT_H

#include "sim/model.h"

#define TESTKIT_OPTION_MAX 64
#define TESTKIT_PIN_MAX    8
#define TESTKIT_SITE_MAX   64

/* Every draw of a site gives an outcome where it is offered. */
struct testkit_pin {
    const struct choice_site *site;
    uint32_t value;
    uint32_t offered; /* read: times that the outcome was on offer */
    uint32_t draws;   /* read */
    uint32_t mask;    /* read: of the last draw */
};

struct testkit {
    struct world *world;                                  /* read */
    struct sink_option_value options[TESTKIT_OPTION_MAX]; /* set before testkit_init */
    void *state;                                          /* read: of the model */
    const void *payload;       /* read: of the last answer; borrowed until the next call */
    struct port_status status; /* read: of the last answer */
    bool ended;                /* read: the last message ended its stream */
    uint64_t
        seed; /* set before testkit_init: draws without a pin are by chance; 0: they are calm */
    /* private */
    const struct model_type *type;
    struct model_env env;
    struct service service;
    void *memory;
    struct arena arena;
    struct choice choice;
    struct sched sched;
    struct journal journal;
    struct trace trace;
    struct fault_menu menu;
    struct fault fault;
    struct testkit_pin pins[TESTKIT_PIN_MAX];
    uint32_t pin_count;
    uint32_t requests;
    uint64_t draws;
    uint32_t fired[TESTKIT_SITE_MAX]; /* read: by the type's sites, bit per outcome that came up */
};

/* A world whose fault menu allows everything; options have their defaults. */
struct testkit *testkit_open(const struct model_type *type, enum profile profile);
void testkit_close(struct testkit *kit);

/* Pin a site to an outcome, both by name. */
struct testkit_pin *testkit_pin(struct testkit *kit, const char *site, const char *outcome);

void testkit_option(struct testkit *kit, const char *key, uint64_t number);

/* Start the model: after options and pins of its init. */
void testkit_init(struct testkit *kit);

/* Let a request take effect now, issued then or now; gives the code of the one answer. */
enum port_code
testkit_call(struct testkit *kit, const struct port_method *method, const void *payload);
enum port_code testkit_call_issued(struct testkit *kit,
                                   const struct port_method *method,
                                   const void *payload,
                                   nanos issued);

/* Let a message of a stream take effect now: the first opens the connection. Gives the code of its
 * answer, PORT_OK for one that has none. */
enum port_code testkit_stream(struct testkit *kit,
                              uint64_t stream,
                              enum port_envelope_kind kind,
                              const struct port_method *method,
                              const void *payload);

/* Run the model's events up to an instant, and stand there. */
void testkit_run_until(struct testkit *kit, nanos until);
void testkit_run_for(struct testkit *kit, nanos length);

/* Let the next run end at an instant already, before events of that instant that are scheduled from
 * now on. */
void testkit_stop_at(struct testkit *kit, nanos instant);

/* End the safety phase. */
void testkit_heal(struct testkit *kit);

uint32_t testkit_pending(const struct testkit *kit);

/* Entries of a kind and code so far. */
#define TESTKIT_ANY_CODE UINT32_MAX
uint32_t testkit_count(const struct testkit *kit, enum journal_kind kind, uint32_t code);

/* The latest entry of a kind; fails the test if there is none. */
const struct journal_entry *testkit_last(const struct testkit *kit, enum journal_kind kind);

/* What must hold for the tables of every model: outcomes cite clauses that exist, outcome 0 is
 * calm, calm draws are the rule, menus fit their methods, keys lie in the range, options are
 * consistent. */
void testkit_check_tables(const struct model_type *type, uint16_t key_first, uint16_t key_last);

/* The narrowest profile that offers an outcome. */
enum profile testkit_profile_of(const struct choice_outcome *outcome);

/* Each outcome of a site is offered by its profile and by wider ones, and by no narrower one. */
void testkit_check_profiles(const struct model_type *type);

/* The clauses that a test is about, ids separated by spaces. */
struct testkit_clause_test {
    const char *ids;
    const char *test; /* its name */
};

/* Every clause is tested or says why it is not modelled, and every id exists. */
void testkit_check_clause_tests(const struct model_type *type,
                                const struct testkit_clause_test *tests,
                                size_t count);

#endif
