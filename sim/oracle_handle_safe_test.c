/* handle-safe: what is named, by whom, and who may end it all the same.
 * link: sim/oracle sim/oracle_ledger sim/oracle_ledger_envelopes sim/oracle_ledger_faults
 * link: sim/oracle_testkit sim/journal sim/engine/store sim/arena sim/lane sinks/base/units
 * link: sim/oracle_table sim/oracle_handle_safe sim/world sim/clock sim/trace sim/sched sim/choice
 * link: sim/fault sim/tape sinks/base/bytes sinks/base/digest sinks/base/pool sinks/base/list
 * link: sinks/base/allocator
 */
#include "sim/oracle_testkit.h"
#include "sinks/base/test.h"

#define NAME   "tables/t/streams/s1"
#define LONGER "tables/t/streams/s10"
#define FRAME  "\x00\x00\x00\x13" NAME "\x00\x07"

enum {
    ENVELOPE = 5,
};

static struct world names;

static void prepare(struct kit *kit)
{
    kit_init(kit, &oracle_handle_safe);
    kit_start(kit);
    world_init(&names, &kit->arena, NULL, NULL, NULL, NULL, NULL);
    kit->world.resources = names.resources;
}

static void stage(struct kit *kit, struct bytes data)
{
    kit_stage(kit, 1, ENVELOPE);
    kit->staged[ENVELOPE].request.data = data;
}

/* A half ends what has a name. */
static void end(struct kit *kit, lane who, struct bytes name)
{
    const uint32_t request = who == 0 ? 0 : kit_send(kit, who, 0);
    kit_effect(kit, WORLD_REMOVED, 0, world_resource(&kit->world, name), request);
}

static uint32_t complete(struct kit *kit)
{
    const uint32_t held[] = {ENVELOPE, 0};
    kit_accept(kit, 1, 1);
    return kit_checkpoint(kit, 1, held);
}

static void what_a_retained_checkpoint_names_must_stay(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    stage(&kit, BYTES_LITERAL(FRAME));
    (void)complete(&kit);
    end(&kit, kit_writer, BYTES_LITERAL(LONGER));
    end(&kit, kit_writer, BYTES_LITERAL("streams/s"));
    end(&kit, 0, BYTES_LITERAL(NAME));
    assert_int_equal(kit_verdict(&kit), VERDICT_OK);
    end(&kit, kit_writer, BYTES_LITERAL(NAME));
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: so must what it names in a piece of writer state. */
static void what_writer_state_names_must_stay(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    stage(&kit, BYTES_LITERAL("nothing"));
    const uint32_t number = complete(&kit);
    struct stored_piece piece = {.data = BYTES_LITERAL(FRAME)};
    store_get(&kit.store, number)->pieces = &piece;
    store_get(&kit.store, number)->piece_count = 1;
    end(&kit, kit_committer, BYTES_LITERAL(NAME));
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: an envelope of a checkpoint that never completed waits for the next (C3). Method: it is in the
 * collection of one that was aborted. */
static void what_a_pending_envelope_names_must_stay(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    stage(&kit, BYTES_LITERAL(FRAME));
    struct stored_checkpoint *aborted = store_begin(&kit.store, 1);
    const struct stored_request *requests[] = {&kit.staged[ENVELOPE]};
    struct stored_collection collection = {.requests = requests, .request_count = 1};
    aborted->collections = &collection;
    aborted->collection_count = 1;
    store_abort(&kit.store, aborted);
    end(&kit, kit_writer, BYTES_LITERAL(NAME));
    assert_int_equal(kit_verdict(&kit), VERDICT_VIOLATION);
}

/* Goal: a name that nobody holds any more is nobody's. Method: its envelope is finalised, and two later
 * checkpoints take the places of the one that held it. */
static void what_nobody_holds_may_be_ended(void **state)
{
    (void)state;
    struct kit kit;
    prepare(&kit);
    stage(&kit, BYTES_LITERAL(FRAME));
    (void)complete(&kit);
    kit_envelope(&kit, HOST_COMMIT_REQUEST, ENVELOPE);
    kit_envelope(&kit, HOST_FINALISED, ENVELOPE);
    (void)kit_checkpoint(&kit, 1, NULL);
    (void)kit_checkpoint(&kit, 1, NULL);
    end(&kit, kit_writer, BYTES_LITERAL(NAME));
    assert_int_equal(kit_end(&kit, RUN_END_COMPLETE), VERDICT_OK);
}

/* Goal: to end it may be part of the commit. Method: a committer ends what it was asked to commit, and a
 * writer does the same. */
static void a_committer_may_end_what_it_commits(void **state)
{
    (void)state;
    const lane lanes[] = {kit_committer, kit_writer};
    for (size_t i = 0; i < ARRAY_COUNT(lanes); i++) {
        struct kit kit;
        prepare(&kit);
        stage(&kit, BYTES_LITERAL(FRAME));
        (void)complete(&kit);
        kit_envelope(&kit, HOST_COMMIT_REQUEST, ENVELOPE);
        end(&kit, lanes[i], BYTES_LITERAL(NAME));
        assert_int_equal(kit_verdict(&kit), i == 0 ? VERDICT_OK : VERDICT_VIOLATION);
    }
}

TEST_MAIN(oracle_handle_safe,
          TEST(what_a_retained_checkpoint_names_must_stay),
          TEST(what_writer_state_names_must_stay),
          TEST(what_a_pending_envelope_names_must_stay),
          TEST(what_nobody_holds_may_be_ended),
          TEST(a_committer_may_end_what_it_commits))
