/* contract: the rules of sinks/sink.h that a host can see broken.
 *
 * Judged at every entry in which the host says so: two answers to one barrier, an answer for an
 * unknown token, a send after closed, memory that is still out at the end, and the like. The host
 * detects them while it drives the sink; the rule's name is the message.
 *
 * Claims: every sink's (O24). Mutants that must trip it: a writer that leaks when its creation fails
 * half way or its close does (m-ct-15, m-ct-16), a send after close (m-cs-17).
 * Not to be flagged: cancels after close; answers that come for what a dead attempt had sent. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#include <inttypes.h>

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    (void)state;
    judge_violation(judge,
                    position,
                    SUBJECT_LANE,
                    entry->lane,
                    "rule %s broken (detail %" PRIu64 ")",
                    contract_rule_name(entry->code),
                    entry->a);
}

static const char *const mutants[] = {"m-cs-17", "m-ct-15", "m-ct-16", NULL};
static const uint16_t marks[] = {MARK_NONE};

const struct oracle_type oracle_contract = {
    .name = "contract",
    .sentence = "the sink keeps the rules of its contract with the host",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(HOST_CONTRACT),
    .on_entry = on_entry,
};
