#include "reports/records.h"

#include "sinks/base/check.h"

const char *report_verdict_name(enum report_verdict verdict)
{
    static const char *const names[REPORT_VERDICT_COUNT] = {
        [REPORT_UNTESTED] = "untested",
        [REPORT_HOLDS] = "holds",
        [REPORT_FAILS] = "fails",
        [REPORT_REFUSED] = "refused",
        [REPORT_INCONCLUSIVE] = "inconclusive",
    };
    CHECK((unsigned)verdict < REPORT_VERDICT_COUNT);
    return names[verdict];
}

const char *report_way_name(enum report_way way)
{
    static const char *const names[REPORT_WAY_COUNT] = {
        [REPORT_WAY_NONE] = "none",
        [REPORT_WAY_SEEDS] = "seeds",
        [REPORT_WAY_WITNESS] = "witness",
        [REPORT_WAY_REFUSAL] = "refusal",
        [REPORT_WAY_WORDS] = "words",
        [REPORT_WAY_FIGURES] = "figures",
        [REPORT_WAY_MEASURED] = "measured",
    };
    CHECK((unsigned)way < REPORT_WAY_COUNT);
    return names[way];
}

const char *report_entry_state_name(enum report_entry_state state)
{
    static const char *const names[REPORT_ENTRY_STATE_COUNT] = {
        [REPORT_ENTRY_SAME] = "same",
        [REPORT_ENTRY_CHANGED] = "changed",
        [REPORT_ENTRY_MOVED] = "moved",
        [REPORT_ENTRY_DIFFERS] = "differs",
        [REPORT_ENTRY_STALE] = "stale",
    };
    CHECK((unsigned)state < REPORT_ENTRY_STATE_COUNT);
    return names[state];
}

const char *report_novelty_name(enum report_novelty novelty)
{
    static const char *const names[REPORT_NOVELTY_COUNT] = {
        [REPORT_NOVELTY_NONE] = "none",
        [REPORT_NOVELTY_NEW] = "new",
        [REPORT_NOVELTY_KNOWN] = "known",
    };
    CHECK((unsigned)novelty < REPORT_NOVELTY_COUNT);
    return names[novelty];
}
