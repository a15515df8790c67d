/* Hand-written journals for the tests of oracles: a log of records 1 to KIT_RECORDS in one split, a
 * store, a journal and a judge, without an engine, a scheduler or a model.
 *
 * Time moves only by kit_wait. Entries of the host and the wire belong to the running attempt. An
 * envelope is named by a small number, which is also its identity's digest. */
#ifndef SIM_ORACLE_TESTKIT_H
#define SIM_ORACLE_TESTKIT_H

#include "sim/oracle_ledger.h"
#include "sim/oracle_set.h"

#define KIT_RECORDS   8
#define KIT_ENVELOPES 40
#define KIT_TARGET    0u
#define KIT_LETTERS   1u
#define KIT_FURTHER   2u

struct kit {
    struct arena arena;
    struct world world;
    struct sched sched;
    struct journal journal;
    struct source_record records[KIT_RECORDS];
    uint32_t split_starts[3];
    struct source_log log;
    struct store store;
    struct judge_facts facts;
    struct judge *judge;                         /* in the arena */
    struct stored_request staged[KIT_ENVELOPES]; /* latest staging of each envelope */
    uint32_t staged_checkpoint;                  /* that stagings belong to: the next one */
    uint16_t attempt;
    uint16_t attempts[2]; /* of two regions, if there are any: kit_regions */
    uint32_t subtask;     /* whose half speaks, and of whose region the attempt is */
    uint32_t requests;
    const struct oracle_type *type;
};

extern const lane kit_writer;
extern const lane kit_committer;
extern const lane kit_policy;

/* Prepare everything but the judge: set facts and log afterwards. */
void kit_init(struct kit *kit, const struct oracle_type *type);
/* Prepare the judge and start the first attempt. */
void kit_start(struct kit *kit);

/* Before kit_start: two regions, of a split each with half of the records; a checkpoint covers the
 * first records of both. */
void kit_regions(struct kit *kit);
/* Let the halves of a region speak from here on. */
void kit_speak(struct kit *kit, uint32_t subtask);
/* Start the next attempt of a region from a checkpoint, or from none (0), and let it speak. */
void kit_restart_region(struct kit *kit, uint32_t subtask, uint32_t checkpoint);

/* Append an entry, with time and attempt filled in unless given. Returns its position. */
uint32_t kit_note(struct kit *kit, struct journal_entry entry);
/* Host entry about a record, or with nothing but a kind. */
void kit_host(struct kit *kit, enum journal_kind kind, record_id record);
void kit_wait(struct kit *kit, nanos duration);

/* Hand records first to last over and have them accepted. */
void kit_accept(struct kit *kit, record_id first, record_id last);
void kit_fail_record(struct kit *kit, record_id record, enum sink_reason reason);

/* Stage a record as an envelope and let the committer receive it. */
void kit_stage(struct kit *kit, record_id record, uint32_t envelope);
/* Host entry about an envelope: HOST_STAGED, HOST_RECEIVED, HOST_RESTORED, ... */
void kit_envelope(struct kit *kit, enum journal_kind kind, uint32_t envelope);

/* Complete the next checkpoint: it covers the first records and holds these envelopes (ended by 0).
 * Returns its number. */
uint32_t kit_checkpoint(struct kit *kit, uint32_t covered, const uint32_t *envelopes_or_null);

/* Inject a fault of a length; for FAULT_CRASH time moves to its end. */
void kit_inject(struct kit *kit, enum fault_kind kind, nanos length);
/* Start the next attempt from a checkpoint, or from none (0). */
void kit_restart(struct kit *kit, uint32_t checkpoint);

/* Send a request; envelope 0: it carries no identity. Returns its number. */
uint32_t kit_send(struct kit *kit, lane sender, uint32_t envelope);
void kit_answer(struct kit *kit, uint32_t request);
/* Send, take effect and be answered. */
void kit_deliver(struct kit *kit, record_id record, uint32_t envelope, uint32_t resource);

/* An effect at the target service, caused by a request or by none (0). */
void kit_effect(
    struct kit *kit, enum journal_kind kind, record_id record, uint32_t resource, uint32_t request);
void kit_letter(struct kit *kit, record_id record);

/* End the run and give the verdict of the oracle. */
enum verdict kit_end(struct kit *kit, enum run_end end);
enum verdict kit_verdict(const struct kit *kit);
const struct finding *kit_finding(const struct kit *kit);
/* Whether the judge left this mark at the end. */
bool kit_is_marked(const struct kit *kit, uint32_t mark);
/* The job stands in a terminal error. */
enum verdict kit_fail(struct kit *kit, enum sink_reason reason);

#endif
