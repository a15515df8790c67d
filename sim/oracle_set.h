/* The oracles, one per file; oracle_types lists them. */
#ifndef SIM_ORACLE_SET_H
#define SIM_ORACLE_SET_H

#include "sim/oracle.h"

/* Bit of a kind in oracle_type.kinds. */
#define KIND(kind) (UINT64_C(1) << (kind))

extern const struct oracle_type oracle_checkpoint_durable;
extern const struct oracle_type oracle_at_least_once;
extern const struct oracle_type oracle_effectively_once;
extern const struct oracle_type oracle_exactly_once_write;
extern const struct oracle_type oracle_no_early_visibility;
extern const struct oracle_type oracle_staged_silence;
extern const struct oracle_type oracle_ownership;
extern const struct oracle_type oracle_value_intact;
extern const struct oracle_type oracle_accounting;
extern const struct oracle_type oracle_identity_stable;
extern const struct oracle_type oracle_deadline_respected;
extern const struct oracle_type oracle_dead_letter_complete;
extern const struct oracle_type oracle_quiescent_at_barrier;
extern const struct oracle_type oracle_bounded_concurrency;
extern const struct oracle_type oracle_liveness;
extern const struct oracle_type oracle_progress;
extern const struct oracle_type oracle_no_silent_loss;
extern const struct oracle_type oracle_contract;
extern const struct oracle_type oracle_atomic_visibility;
extern const struct oracle_type oracle_idempotent_commit;
extern const struct oracle_type oracle_attempt_fenced;
extern const struct oracle_type oracle_retry_budget;
extern const struct oracle_type oracle_refused;
extern const struct oracle_type oracle_no_leak;
extern const struct oracle_type oracle_order_per_key;
extern const struct oracle_type oracle_end_to_end;
extern const struct oracle_type oracle_one_cut;
extern const struct oracle_type oracle_channel_state;
extern const struct oracle_type oracle_handle_safe;
extern const struct oracle_type oracle_scope;
extern const struct oracle_type oracle_latest_per_key;

#endif
