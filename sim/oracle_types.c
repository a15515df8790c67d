/* All oracles of the product; the index is stable and goes into results. */
#include "sim/oracle_set.h"

const struct oracle_type *const oracle_types[] = {
    &oracle_checkpoint_durable,
    &oracle_at_least_once,
    &oracle_effectively_once,
    &oracle_exactly_once_write,
    &oracle_no_early_visibility,
    &oracle_staged_silence,
    &oracle_ownership,
    &oracle_value_intact,
    &oracle_accounting,
    &oracle_identity_stable,
    &oracle_deadline_respected,
    &oracle_dead_letter_complete,
    &oracle_quiescent_at_barrier,
    &oracle_bounded_concurrency,
    &oracle_liveness,
    &oracle_progress,
    &oracle_no_silent_loss,
    &oracle_contract,
    &oracle_atomic_visibility,
    &oracle_idempotent_commit,
    &oracle_attempt_fenced,
    &oracle_retry_budget,
    &oracle_refused,
    &oracle_no_leak,
    &oracle_order_per_key,
    &oracle_end_to_end,
    &oracle_one_cut,
    &oracle_channel_state,
    &oracle_handle_safe,
    &oracle_scope,
    &oracle_latest_per_key,
};

const size_t oracle_type_count = ARRAY_COUNT(oracle_types);

_Static_assert(ARRAY_COUNT(oracle_types) <= ORACLE_MAX, "a judge has room for all oracles");

const struct oracle_type *oracle_by_name(struct bytes name)
{
    for (size_t index = 0; index < oracle_type_count; index++) {
        if (bytes_equal(name, bytes_of_text(oracle_types[index]->name))) {
            return oracle_types[index];
        }
    }
    return NULL;
}
