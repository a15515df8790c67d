/* effectively-once: a request may be repeated, but identity and operation make the observable result
 * that of one write.
 *
 * Judged at every effect of the reader class: by creations at the target service over all resources
 * and generations (class 0), else by what the class sees at one time. Never by answers: two OK for
 * one name are no two tasks. Equal payloads are a multiset: at most as many as records.
 *
 * Claims: CT-AL-2, CT-AL-3, CT-AL-4, CT-AL-6, CT-EO-20. Mutants that must trip it: a retry under a
 * new name (m-ct-02), a missing key that falls back to no name (m-ct-05), and all that break
 * exactly-once-write.
 * Not to be flagged: a replacement of a resource by the same record; a creation that was refused as
 * existing; two answers OK. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_once.h"
#include "sim/oracle_set.h"

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    once_judge_effect(judge, entry, position);
}

static const char *const mutants[] = {"m-cs-03", "m-cs-04", "m-ct-02", "m-ct-05", NULL};
static const uint16_t marks[] = {MARK_JUDGE_EFFECT, MARK_NONE};

const struct oracle_type oracle_effectively_once = {
    .name = "effectively-once",
    .sentence = "the observable result of each record is that of one write",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WORLD_CREATED) | KIND(WORLD_VISIBLE),
    .kinds_unusual = KIND(WORLD_CREATED) | KIND(WORLD_VISIBLE),
    .on_entry = on_entry,
};
