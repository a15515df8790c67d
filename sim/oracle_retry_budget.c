/* retry-budget: no request has more attempts than configured, and the pauses between them are those of
 * the schedule (O4).
 *
 * The same request is the same bytes from the same half in the same life. It is sent again after its
 * end, which counts against one of two budgets, each with a schedule of its own:
 *
 *   end of an attempt                    | budget    | pause before the next, n-th of that budget
 *   -------------------------------------+-----------+----------------------------------------------
 *   answered NOT_FOUND                   | not found | min(initial * 2^(n-1), max) * [0.75, 1.25],
 *   answered otherwise, cancelled,       | transient |   at least 1 ms, from its own schedule
 *     dropped, expired before it left    |           |
 *   answered OK or ALREADY_EXISTS        | none      | the next one is a new request
 *
 * All times are the journal's. The lower edge is judged always; the upper one unless something held
 * the half up in between: an injected fault on it, a cap on open requests, processor time.
 *
 * Claims: O4, CT-AL-1, EA-7. Mutants that must trip it: one budget for two kinds of failure (m-ct-14).
 * Not to be flagged: a restart's first attempt, which starts a new account; requests of the failure
 * policy; requests that are sent while an equal one is open (equal bytes of two records).
 * Not judged: whether a code should have been retried at all; accounting and liveness see that. */
#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"
#include "sim/oracle_table.h"
#include "sinks/base/digest.h"
#include "sinks/port/port.h"

#include <inttypes.h>

#define DOUBLINGS_MAX 63u

/* The bytes of a request in one life of one half. A success closes it; and what is sent for the first
 * time under an identity gets none before it fails, or is sent again while it is open. */
struct account {
    uint64_t key;
    nanos ended_at;
    uint32_t request;     /* the latest attempt */
    uint32_t failures[2]; /* by budget: transient, not found */
    uint8_t budget;       /* that the latest end counts against */
    bool open;
    bool unclear; /* equal bytes were open twice: not judged */
};

struct retry_budget {
    struct oracle_table accounts; /* by life and bytes */
    struct arena_array requests;  /* by number: struct account *, which may be another's by now */
};

static nanos pause_of(const struct judge_retry *schedule, uint32_t failures)
{
    const uint32_t doublings = failures - 1 < DOUBLINGS_MAX ? failures - 1 : DOUBLINGS_MAX;
    const nanos grown = nanos_mul(schedule->initial, UINT64_C(1) << doublings);
    return grown < schedule->max ? grown : schedule->max;
}

static nanos at_least_1_ms(nanos pause)
{
    return pause > MS(1) ? pause : MS(1);
}

/* Whether something else than the schedule may have held the half up. */
static bool was_held_up(const struct judge *judge, const struct journal_entry *entry, nanos from)
{
    const struct ledger_lane *sender = ledger_lane(judge->ledger, entry->lane);
    const uint32_t cap = judge->facts->concurrency_max;
    return judge->facts->shares_thread || (cap > 0 && sender->open >= cap) ||
           ledger_calm(judge->ledger, from, entry->time) < nanos_sub(entry->time, from);
}

static void judge_pause(const struct account *account,
                        struct judge *judge,
                        const struct journal_entry *entry,
                        uint32_t position)
{
    const struct judge_retry *schedule = &judge->facts->retry[account->budget];
    const uint32_t failures = account->failures[account->budget];
    const nanos pause = pause_of(schedule, failures);
    const nanos min = at_least_1_ms(nanos_scale(pause, (struct ratio){3, 4}));
    const nanos max = at_least_1_ms(nanos_scale(pause, (struct ratio){5, 4}));
    const nanos seen = nanos_sub(entry->time, account->ended_at);
    if (seen < min || (seen > max && !was_held_up(judge, entry, account->ended_at))) {
        judge_violation(judge,
                        position,
                        SUBJECT_LANE,
                        entry->lane,
                        "request %" PRIu32 " goes %" PRIu64 " ns after failure %" PRIu32
                        ", allowed are %" PRIu64 " to %" PRIu64 " ns",
                        entry->request,
                        seen,
                        failures,
                        min,
                        max);
    }
}

static struct account **account_place(struct retry_budget *budget, uint32_t request)
{
    return arena_array_find(&budget->requests, request, sizeof(struct account *));
}

/* The account for the bytes of a request, by which it is found from now on. */
static struct account *
account_of(struct retry_budget *budget, struct judge *judge, uint32_t request, uint64_t value)
{
    const struct ledger_request *sent = ledger_request(judge->ledger, request);
    CHECK(sent != NULL);
    const uint64_t life = (uint64_t)sent->attempt << 16 | sent->lane;
    const uint64_t key = digest_fold(digest_fold(1, life), value);
    struct account *account =
        oracle_table_at(&budget->accounts, judge->arena, key, sizeof(*account));
    struct account **place =
        arena_array_at(&budget->requests, judge->arena, request, sizeof(struct account *));
    account->key = key;
    *place = account;
    return account;
}

/* Open an account for the first request of an identity, which got none when it was sent. */
static struct account *
open_late(struct retry_budget *budget, struct judge *judge, uint32_t request, uint64_t value)
{
    struct account *account = account_of(budget, judge, request, value);
    account->request = request;
    account->open = true;
    return account;
}

/* Whether a request needs no account yet: no other one ever had its identity, and so its bytes. The
 * one before it, if it is still open, needs one now. */
static bool
is_first(struct retry_budget *budget, struct judge *judge, const struct journal_entry *entry)
{
    const struct ledger *ledger = judge->ledger;
    if (entry->identity == 0) {
        return false;
    }
    if (ledger->request_before == 0) {
        return true;
    }
    const struct ledger_request *before = ledger_request(ledger, ledger->request_before);
    struct account **place = account_place(budget, ledger->request_before);
    CHECK(before != NULL);
    if ((place == NULL || *place == NULL) && before->open) {
        (void)open_late(
            budget, judge, ledger->request_before, ledger->identity_or_null->sent_value);
    }
    return false;
}

static void on_issued(struct retry_budget *budget,
                      struct judge *judge,
                      const struct journal_entry *entry,
                      uint32_t position)
{
    if (!ledger_is_sink_lane(entry->lane) || is_first(budget, judge, entry)) {
        return;
    }
    struct account *account = account_of(budget, judge, entry->request, entry->value);
    account->unclear = account->unclear || account->open;
    if (account->unclear) {
        return;
    }
    const uint32_t failures = account->failures[account->budget];
    const uint32_t allowed = judge->facts->retry[account->budget].attempts_max;
    if (failures > 0 && failures >= allowed) {
        judge_violation(judge,
                        position,
                        SUBJECT_LANE,
                        entry->lane,
                        "request %" PRIu32 " follows %" PRIu32 " %s failures, allowed are %" PRIu32
                        " attempts",
                        entry->request,
                        failures,
                        account->budget == 0 ? "transient" : "not-found",
                        allowed);
    } else if (failures > 0) {
        judge_pause(account, judge, entry, position);
    }
    account->request = entry->request;
    account->open = true;
}

/* The account of a request that has ended; NULL if it needs none. */
static struct account *ended_account(struct retry_budget *budget,
                                     struct judge *judge,
                                     const struct journal_entry *entry,
                                     bool is_success)
{
    struct account **place = account_place(budget, entry->request);
    if (place != NULL && *place != NULL) {
        return (*place)->open && (*place)->request == entry->request ? *place : NULL;
    }
    const struct ledger_request *ended = ledger_request(judge->ledger, entry->request);
    if (is_success || ended == NULL || ended->identity == 0) {
        return NULL;
    }
    const struct ledger_identity *identity = &judge->ledger->identities[ended->identity - 1];
    return open_late(budget, judge, entry->request, identity->sent_value);
}

static void
on_ended(struct retry_budget *budget, struct judge *judge, const struct journal_entry *entry)
{
    const bool is_answer = entry->kind == WIRE_ANSWERED;
    const bool is_success = is_answer && ledger_is_success(entry);
    struct account *account = ended_account(budget, judge, entry, is_success);
    if (account == NULL) {
        return;
    }
    account->open = false;
    account->ended_at = entry->time;
    if (!is_success) {
        account->budget = is_answer && entry->code == PORT_NOT_FOUND ? 1 : 0;
        account->failures[account->budget]++;
    } else if (account->unclear) {
        *account = (struct account){.key = account->key, .unclear = true};
    } else {
        oracle_table_drop(&budget->accounts, account->key);
    }
}

static void
on_entry(void *state, struct judge *judge, const struct journal_entry *entry, uint32_t position)
{
    if (judge->facts->retry[0].attempts_max == 0) {
        return;
    }
    if (entry->kind == WIRE_ISSUED) {
        on_issued(state, judge, entry, position);
    } else {
        on_ended(state, judge, entry);
    }
}

static const char *const mutants[] = {"m-ct-14", NULL};
static const uint16_t marks[] = {MARK_NONE};

const struct oracle_type oracle_retry_budget = {
    .name = "retry-budget",
    .sentence = "no request has more attempts than configured, and pauses follow the schedule",
    .mutants = mutants,
    .marks = marks,
    .kinds = KIND(WIRE_ISSUED) | KIND(WIRE_ANSWERED) | KIND(WIRE_CANCELLED) | KIND(WIRE_DROPPED) |
             KIND(WIRE_EXPIRED),
    .kinds_unusual = KIND(WIRE_ISSUED) | KIND(WIRE_ANSWERED),
    .state_size = sizeof(struct retry_budget),
    .on_entry = on_entry,
};
