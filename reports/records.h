/* What the commands found, as plain records: result in, bytes out. All texts are borrowed. The
 * JSON form of each is fixed (DESIGN section 7); what is beyond it goes to "evidence" there. */
#ifndef REPORTS_RECORDS_H
#define REPORTS_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ways in which a sweep, a claim or its parts come out. */
enum report_verdict {
    REPORT_UNTESTED = 0,
    REPORT_HOLDS,
    REPORT_FAILS,
    REPORT_REFUSED,
    REPORT_INCONCLUSIVE,
    REPORT_VERDICT_COUNT,
};

/* "holds" and so on. */
const char *report_verdict_name(enum report_verdict verdict);

/* Whether an earlier run had it. */
enum report_novelty {
    REPORT_NOVELTY_NONE = 0, /* nobody asked */
    REPORT_NOVELTY_NEW,
    REPORT_NOVELTY_KNOWN,
    REPORT_NOVELTY_COUNT,
};

/* "new", "known". */
const char *report_novelty_name(enum report_novelty novelty);

/* A first violation: of one oracle on one kind of subject, at its lowest seed. */
struct report_violation {
    const char *const *oracles; /* the one it stands for, then others that the same run broke */
    size_t oracle_count;
    const char *subject; /* "record 17" */
    uint64_t seed;
    const char *tape; /* text; empty when there is none */
    uint32_t deviations;
    const char *message;
    /* evidence */
    const char *decisive;       /* the event that decided, in words; may be empty */
    const char *command;        /* replays it; may be empty */
    const char *const *choices; /* the tape in words */
    size_t choice_count;
    uint32_t deviations_found; /* on the tape as found, before shrinking */
    const char *run_or_null;   /* what to call the run where its seed does not name it */
    enum report_novelty novelty;
    const char *const *story; /* lines of the journal on its subject, and what befell the job */
    size_t story_count;
    size_t story_decisive; /* of these, the one that decided, from 1; 0: none */
};

/* How often something was seen, and how often it had to be. */
struct report_count {
    const char *name;
    uint64_t count;
    uint64_t wanted; /* 0: not asked for */
};

/* A behaviour mark that was reached: in so many runs, first at this seed. */
struct report_mark {
    const char *name;
    uint64_t count;
    uint64_t first_seed;
    bool is_pair; /* of a fault and a phase */
};

/* How the runs of a sweep drew order, and what that is worth. */
struct report_policy {
    const char *name; /* NULL or "seeds": nothing to tell */
    uint64_t by_seeds;
    uint64_t by_pct;
    uint32_t depth;
    uint32_t steps;
    uint32_t chains;
    uint64_t bound;    /* one run hits a bug of that depth with a probability of 1 / bound at least;
                          0: no order was drawn; UINT64_MAX: it is no less */
    uint32_t permille; /* and one of all, in so many of a thousand sweeps at least */
};

/* One scenario swept over seeds. */
struct report_run {
    const char *scenario;
    const char *profile;
    const char *seeds; /* "1-2000" */
    uint64_t runs;
    uint64_t counted;
    uint64_t events;
    enum report_verdict expected;
    enum report_verdict verdict;
    const struct report_violation *violations;
    size_t violation_count;
    uint64_t digest;
    uint64_t elapsed_ms;
    uint64_t runs_per_s;
    uint64_t events_per_s;
    /* evidence */
    struct report_policy policy;
    const char *expected_oracle; /* of an expected failure; empty: any */
    uint32_t shard_index;        /* from 1 */
    uint32_t shard_count;        /* 1: not split */
    uint64_t budget;             /* counted runs that are asked for */
    uint64_t violating;          /* runs with a violation */
    uint64_t vacuous;
    uint64_t refused;
    uint64_t limited; /* runs that memory, events or tape ended */
    uint64_t excused; /* runs in which some oracle could not judge */
    const char *refusal;
    const char *limit;
    bool as_expected;
    const struct report_count
        *kinds; /* fault kinds of the menu: counted runs in which they fired */
    size_t kind_count;
    const struct report_count *marks; /* "oracle: mark", and of must_reach "scenario: mark" */
    size_t mark_count;
    uint64_t must_after; /* runs from which on the marks of must_reach are asked for */
    const struct report_mark *reached; /* of the scenario's behaviour marks, pairs behind others */
    size_t reached_count;
    const char *const *never; /* reached, but for pairs */
    size_t never_count;
    uint64_t pair_count;         /* pairs of the catalogue */
    const char *file;            /* of the scenario; may be empty */
    enum report_novelty novelty; /* of a verdict that is not as expected */
    const char *const *oracles;  /* that judged */
    size_t oracle_count;
    struct report_count crashes;   /* counted runs with a crash and a restore */
    const char *const *shortfalls; /* why it is inconclusive */
    size_t shortfall_count;
};

/* What a sweep found of what an earlier one had found. */
struct report_old_failure {
    const char *scenario;
    const char *profile;
    const char *oracle; /* empty: the verdict was not as expected, and no violation says why */
    const char *subject;
    const char *message;
    bool is_there;   /* still */
    const char *why; /* it is thought so */
};

struct report_baseline {
    const char *file;
    uint64_t new_count; /* failures and verdicts that the earlier run did not have */
    struct report_old_failure *old;
    size_t old_count;
    uint64_t not_run; /* its scenarios that were not run now */
};

#define REPORT_LEVEL_MAX 9

/* One scenario explored: all runs with few deviations. */
struct report_explored {
    struct report_run run;             /* counts and violations; its seeds are none */
    uint32_t deviations;               /* the bound */
    bool crash_points;                 /* only crashes count */
    bool is_complete;                  /* all runs within the bound were made */
    uint64_t levels[REPORT_LEVEL_MAX]; /* runs by their number of deviations */
    uint64_t distinct;                 /* traces */
    uint64_t crash_points_hit;
    uint64_t crash_points_seen;
    const char *traces_or_null; /* of a shard: the file of its distinct traces */
    /* Of the states of a system: runs are transitions, distinct are states, and there are no
     * deviations, levels or crash points. */
    bool is_states;
    uint64_t states_known; /* 0: not known */
    uint64_t transitions_known;
};

/* How a claim is put to the test. */
enum report_way {
    REPORT_WAY_NONE = 0,
    REPORT_WAY_SEEDS,    /* nothing may break it in many runs */
    REPORT_WAY_WITNESS,  /* a run must break it, and none where its condition is away */
    REPORT_WAY_REFUSAL,  /* configurations must be refused, those just inside the rule must run */
    REPORT_WAY_WORDS,    /* one run must keep one word and break another */
    REPORT_WAY_FIGURES,  /* cases must come out as they were published or follow from a rule */
    REPORT_WAY_MEASURED, /* one run of each configuration is measured */
    REPORT_WAY_COUNT,
};

const char *report_way_name(enum report_way way);

/* One claim of the guarantee matrix. */
struct report_claim {
    const char *id;
    const char *sink;
    const char *condition;
    const char *property;
    const char *profile;
    enum report_verdict expected;
    enum report_verdict verdict;
    const char *adversary; /* what the adversary profile shows beyond; empty: nothing tried */
    uint64_t seeds;        /* counted runs */
    uint32_t explored_deviations;
    uint64_t explored_runs;
    uint64_t crash_points_hit;
    uint64_t crash_points_seen;
    uint32_t mutants_killed;
    bool has_witness;
    const char *witness_tape;
    uint32_t witness_deviations;
    bool calm_breaks;
    enum report_verdict twin;
    const char *witness_message;
    uint64_t digest;
    /* for the table */
    bool as_expected;
    const char *why;  /* what is missing when it is not; may be empty */
    uint64_t crashes; /* in the counted runs */
    uint64_t elapsed_ms;
    /* evidence */
    enum report_way way;           /* NONE: nothing of what follows is known */
    const char *service;           /* "cloudtasks" */
    const char *const *properties; /* those of property, one by one */
    size_t property_count;
    const char *scenario; /* names; may be empty, the last two */
    const char *small;
    const char *twin_scenario;
    const char *const *breaks; /* oracles: a witness breaks one of them */
    size_t break_count;
    uint64_t adversary_seeds;         /* runs under the profile adversary */
    struct report_count crash_runs;   /* counted runs with a crash and a restore */
    const struct report_count *kinds; /* fault kinds of the menu: counted runs with each */
    size_t kind_count;
    const char *kinds_absent;         /* those that the scenario does not offer; may be empty */
    const struct report_count *marks; /* that its oracles ask for */
    size_t mark_count;
    const char *const *figures; /* of a claim about figures: one line per measurement */
    size_t figure_count;
    bool mutants_known; /* planted bugs were tried; of these were killed: */
    const char *const *mutants;
    /* of a claim about figures: what came out of its cases, in words; else NULL */
    const char *figures_or_null;
};

struct report_mutant {
    const char *name;
    const char *target;
    const char *scenario; /* empty: a unit test judges it */
    const char *mechanism;
    const char *oracle; /* or "test:<path>" */
    bool killed;
    const char *const *killed_by;
    size_t killed_by_count;
    uint64_t runs_to_kill;
    uint32_t deviations;
    /* for the table */
    const char *why; /* it was not killed; empty if it was */
};

/* What became of a kept tape. */
enum report_entry_state {
    REPORT_ENTRY_SAME = 0, /* the same run */
    REPORT_ENTRY_CHANGED,  /* in step and with the same verdict, and another run */
    REPORT_ENTRY_MOVED,    /* the same verdict by a tape near it */
    REPORT_ENTRY_DIFFERS,  /* another verdict */
    REPORT_ENTRY_STALE,    /* nothing that it stands for was found at or near it */
    REPORT_ENTRY_STATE_COUNT,
};

/* "same" and so on. */
const char *report_entry_state_name(enum report_entry_state state);

/* A kept tape, judged again. */
struct report_entry {
    const char *file;
    const char *scenario;
    const char *profile;
    const char *oracle;
    const char *subject;
    enum report_verdict was;
    enum report_verdict is;
    enum report_entry_state state;
    uint32_t entries; /* on its tape; of these were met: */
    uint32_t aligned;
    uint32_t drifted;
    uint64_t digest_was;
    uint64_t digest;
    bool searched; /* near it */
    bool near_found;
    uint32_t near_runs;  /* that the search made */
    uint32_t near_steps; /* from the tape to the one that was found */
    bool near_all_tried;
    const char *finding;     /* what its run breaks now, "oracle: subject: message"; may be empty */
    const char *tape;        /* whole text to keep from now on; empty when it stays, or is stale */
    const char *const *gone; /* lines of the old tape that are not on the new one */
    size_t gone_count;
    const char *const *come; /* and the other way round */
    size_t come_count;
    const char *command; /* that keeps the new text; empty like it */
};

/* A behaviour mark over many scenarios. */
struct report_surveyed {
    const char *name;
    const char *sentence;
    uint64_t runs;                 /* that reached it */
    const char *unit_test_or_null; /* that reaches it, where no scenario can */
    bool wanted;                   /* some scenario has to reach it */
    bool is_pair;
};

struct report_survey {
    uint64_t scenarios;
    uint64_t runs;
    struct report_surveyed *records;
    size_t count;
};

/* A choice of a tape, and what stands in its place as well. */
struct report_choice {
    const char *line;  /* as on a tape: "link.latency/writer0#3 = twice" */
    const char *when;  /* "3.000000000 s, while checkpoint 2 is under way" */
    const char *words; /* what happens, to whom */
    const char *need;  /* "required", "one of several", "free", "unknown" */
    uint32_t tried;    /* others in its place; of these fail alike: */
    uint32_t same_draw;
    uint32_t same_site;
    uint32_t other_site;
    bool all_tried;
    const char *const *as_well; /* the nearest of them, as lines of a tape */
    size_t as_well_count;
    uint32_t position; /* of the line of the journal that comes next when it is made */
};

/* Why a run fails. */
struct report_explanation {
    const char *scenario;
    const char *profile;
    const char *oracle;
    const char *subject;
    const char *message;
    uint32_t
        decided_position; /* of the line of the journal at which it is seen; UINT32_MAX: the end */
    const char *tape;     /* text */
    const char *minimal;  /* how small it is known to be */
    uint32_t found;       /* choices of the run that was given */
    const struct report_choice *choices;
    size_t choice_count;
    const char *const *story; /* of the subject: lines of the journal */
    size_t story_count;
    /* the decision */
    bool decided;
    uint64_t decisive_event;    /* the last at which another choice saves the run */
    const char *decisive;       /* line of the journal; may be empty */
    uint32_t decisive_position; /* its position; UINT32_MAX: none */
    const char *last_chance;    /* the choice that would have saved it; may be empty */
    uint32_t behind_tried;      /* single choices behind it, none of which saves the run */
    uint32_t behind_unclear;    /* of these, ended by a limit */
    bool behind_all_tried;
    /* the nearest run that passes; may be empty */
    const char *twin;         /* how it differs: "without choice 1" */
    uint32_t twin_changes;    /* choices changed */
    const char *twin_tape;    /* text */
    const char *const *fails; /* lines of the two journals from where they first differ */
    size_t fails_count;
    const char *const *passes;
    size_t passes_count;
    uint64_t runs; /* made for all this */
    uint64_t elapsed_ms;
    const char *command; /* that replays the tape */
};

struct report_metric {
    const char *name;
    uint64_t value;
    const char *unit;
    uint64_t reference;        /* value of the loop it is measured against; 0 none */
    uint64_t ratio_thousandth; /* value to reference, in thousandths; 0 none */
};

#endif
