/* The link, streams: order, cuts, late effects, successors, cancel, forget, push.
 * link: sim/link sim/link_call sim/link_unary sim/link_stream sim/link_reply sim/link_testkit
 * link: sim/world sim/model sim/fault sim/clock sim/journal sim/trace sim/sched sim/choice sim/lane
 * link: sim/arena sinks/port/port sinks/port/decode sinks/port/status
 * link: sinks/base/bytes sinks/base/digest sinks/base/list sinks/base/pool sinks/base/units
 * link: sinks/base/allocator
 */
#include "sim/link_internal.h"
#include "sim/link_testkit.h"
#include "sinks/base/test.h"

#define LEG    MS(1)
#define STREAM 9
#define OPENER 100 /* request that opens the first stream */

static void open_default(struct toy *toy)
{
    toy_open(toy, &(struct link_options){.latency_least = LEG}, NULL, NULL, 0xa5);
}

/* Open a stream and send so many messages with amounts 1, 2, ... as requests 1, 2, ... */
static void feed_some(struct toy *toy, uint32_t sender, uint64_t stream, uint64_t count)
{
    toy_open_stream(toy, sender, OPENER, stream);
    for (uint64_t i = 1; i <= count; i++) {
        (void)toy_feed(toy, sender, i, stream, i);
    }
}

static void close_clean(struct toy *toy)
{
    assert_int_equal(link_effects_pending(toy->link), 0);
    assert_int_equal(toy->link->calls.used, 0);
    assert_int_equal(toy->link->streams.used, 0);
    assert_int_equal(toy->sched.pending, 0);
    toy_close(toy);
}

static void expect_end(const struct toy_heard *heard, enum port_outcome outcome, uint16_t code)
{
    assert_int_equal(heard->kind, PORT_STREAM_END);
    assert_int_equal(heard->stream, STREAM);
    assert_int_equal(heard->outcome, outcome);
    assert_int_equal(heard->code, code);
}

static void pipelined_messages_take_effect_and_are_answered_in_order(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    feed_some(&toy, 1, STREAM, 4);
    toy_half_close(&toy, 1, OPENER + 1, STREAM);
    assert_int_equal(link_pending(toy.link, 1), 4);
    toy_run(&toy);
    assert_int_equal(toy.state->count, 6);
    assert_int_equal(toy.state->log[0].kind, PORT_OPEN);
    assert_int_equal(toy.state->log[5].kind, PORT_HALF_CLOSE);
    for (uint32_t i = 1; i <= 4; i++) {
        assert_int_equal(toy.state->log[i].kind, PORT_STREAM_SEND);
        assert_int_equal(toy.state->log[i].amount, i);
        assert_int_equal(toy.state->log[i].stream, toy.state->log[0].stream);
        assert_int_equal(toy.state->log[i].time, LEG);
        assert_int_equal(toy.heard[i - 1].kind, PORT_STREAM_MESSAGE);
        assert_int_equal(toy.heard[i - 1].request, i);
        assert_int_equal(toy.heard[i - 1].stream, STREAM);
        assert_int_equal(toy.heard[i - 1].total, i * (i + 1) / 2);
        assert_int_equal(toy.heard[i - 1].time, 2 * LEG);
        assert_true(toy.heard[i - 1].note_is_right);
    }
    assert_int_equal(toy.heard_count, 5);
    expect_end(&toy.heard[4], PORT_OUTCOME_OK, PORT_OK);
    assert_int_equal(toy_notes(&toy, WIRE_ISSUED), 4);
    assert_int_equal(toy_notes(&toy, WIRE_ANSWERED), 4);
    close_clean(&toy);
}

/* A seeded tape swaps ties of other events; it may never swap two messages. */
static void no_tie_and_no_latency_changes_the_order_of_a_stream(void **state)
{
    (void)state;
    const struct fault_menu menu = {.kinds = UINT32_C(1) << FAULT_LATENCY | UINT32_C(1)
                                                                                << FAULT_ORDER};
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct toy toy;
        toy_open(&toy,
                 &(struct link_options){.latency_least = LEG},
                 &(struct choice_options){.mode = CHOICE_SEEDED, .seed = seed},
                 &menu,
                 0);
        feed_some(&toy, 1, STREAM, 10);
        feed_some(&toy, 2, STREAM, 10);
        toy_half_close(&toy, 1, OPENER + 1, STREAM);
        toy_half_close(&toy, 2, OPENER + 1, STREAM);
        toy_run(&toy);
        uint64_t amounts[3] = {0};
        uint64_t answers[3] = {0};
        for (uint32_t i = 0; i < toy.state->count; i++) {
            const struct toy_seen *seen = &toy.state->log[i];
            assert_in_range(seen->stream, 1, 2);
            if (seen->kind == PORT_STREAM_SEND) {
                assert_int_equal(seen->amount, ++amounts[seen->stream]);
            }
        }
        for (uint32_t i = 0; i < toy.heard_count; i++) {
            if (toy.heard[i].kind == PORT_STREAM_MESSAGE) {
                assert_int_equal(toy.heard[i].request, ++answers[toy.heard[i].sender]);
            }
        }
        assert_int_equal(answers[1] + answers[2], 20);
        close_clean(&toy);
    }
}

struct cut_case {
    uint32_t nth; /* message from 0 */
    enum toy_fate fate;
    uint64_t applied; /* messages */
    uint16_t code;
    nanos end;
};

static void a_cut_leaves_a_prefix_applied_and_everything_unanswered_unknown(void **state)
{
    (void)state;
    static const struct cut_case cases[] = {
        {0, TOY_CUT_NOT_APPLIED, 0, PORT_UNAVAILABLE, 2 * LEG},
        {0, TOY_CUT_APPLIED, 1, PORT_ABORTED, 2 * LEG},
        {1, TOY_CUT_NOT_APPLIED, 1, PORT_UNAVAILABLE, 2 * LEG},
        {2, TOY_CUT_APPLIED, 3, PORT_ABORTED, 2 * LEG},
        {1, TOY_REQUEST_LOST, 1, PORT_UNAVAILABLE, SECONDS(60) + LEG},
        {1, TOY_ANSWER_LOST, 2, PORT_UNAVAILABLE, SECONDS(60) + LEG},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct toy toy;
        open_default(&toy);
        toy_pin(&toy, &toy_feed_site, cases[i].nth, cases[i].fate);
        feed_some(&toy, 1, STREAM, 3);
        toy_run(&toy);
        assert_int_equal(toy.state->total, cases[i].applied * (cases[i].applied + 1) / 2);
        assert_int_equal(toy.state->log[toy.state->count - 1].kind, PORT_CANCEL);
        assert_int_equal(toy.heard_count, 1);
        expect_end(&toy.heard[0], PORT_OUTCOME_UNKNOWN, cases[i].code);
        assert_int_equal(toy.heard[0].time, cases[i].end);
        assert_int_equal(toy.fault.last_at, cases[i].end);
        assert_int_equal(toy_notes(&toy, WIRE_ANSWERED), 3);
        assert_int_equal(toy_note(&toy, WIRE_ANSWERED, 0)->a, PORT_OUTCOME_UNKNOWN);
        assert_int_equal(link_pending(toy.link, 1), 0);
        assert_true(marks_has(&toy.world->marks, MARK_LINK_STREAM_CUT));
        close_clean(&toy);
    }
}

static void answers_that_arrived_before_a_cut_stand(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    toy_pin(&toy, &toy_feed_site, 1, TOY_CUT_APPLIED);
    feed_some(&toy, 1, STREAM, 1);
    toy_run_until(&toy, SECONDS(1));
    (void)toy_feed(&toy, 1, 2, STREAM, 2);
    toy_run(&toy);
    assert_int_equal(toy.heard_count, 2);
    assert_int_equal(toy.heard[0].request, 1);
    assert_int_equal(toy.heard[0].outcome, PORT_OUTCOME_OK);
    expect_end(&toy.heard[1], PORT_OUTCOME_UNKNOWN, PORT_ABORTED);
    close_clean(&toy);
}

static void what_is_sent_after_a_cut_waits_for_the_end_and_has_no_effect(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    toy_pin(&toy, &toy_feed_site, 0, TOY_REQUEST_LOST);
    feed_some(&toy, 1, STREAM, 1);
    toy_run_until(&toy, SECONDS(1));
    (void)toy_feed(&toy, 1, 2, STREAM, 2);
    toy_half_close(&toy, 1, 3, STREAM);
    assert_int_equal(link_pending(toy.link, 1), 2);
    toy_run(&toy);
    assert_int_equal(toy.state->total, 0);
    assert_int_equal(toy.heard_count, 1);
    expect_end(&toy.heard[0], PORT_OUTCOME_UNKNOWN, PORT_UNAVAILABLE);
    assert_int_equal(toy_notes(&toy, WIRE_ANSWERED), 2);
    close_clean(&toy);
}

static void a_message_on_a_stream_that_is_over_is_refused_for_certain(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    feed_some(&toy, 1, STREAM, 0);
    toy_half_close(&toy, 1, 1, STREAM);
    (void)toy_feed(&toy, 1, 2, STREAM, 2);
    toy_run(&toy);
    (void)toy_feed(&toy, 1, 3, STREAM, 3);
    toy_run(&toy);
    assert_int_equal(toy.state->total, 0);
    assert_int_equal(toy.heard_count, 3);
    for (uint32_t i = 0; i < 3; i += 2) {
        expect_end(&toy.heard[i], PORT_OUTCOME_ERROR, PORT_UNAVAILABLE);
        assert_int_equal(toy.heard[i].domain, PORT_DOMAIN_CLIENT);
        assert_int_equal(toy.heard[i].request, 2 + i / 2);
    }
    expect_end(&toy.heard[1], PORT_OUTCOME_OK, PORT_OK);
    close_clean(&toy);
}

static void an_error_in_a_message_is_definite_and_the_stream_goes_on(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    toy_pin(&toy, &toy_feed_site, 1, TOY_REFUSED_UNAVAILABLE);
    toy_pin(&toy, &toy_feed_site, 2, TOY_AMBIGUOUS);
    toy_open_stream(&toy, 1, OPENER, STREAM);
    (void)toy_feed(&toy, 1, 1, STREAM, TOY_AMOUNT_INTERNAL);
    (void)toy_feed(&toy, 1, 2, STREAM, 2);
    (void)toy_feed(&toy, 1, 3, STREAM, 3);
    (void)toy_feed(&toy, 1, 4, STREAM, 4);
    toy_half_close(&toy, 1, 5, STREAM);
    toy_run(&toy);
    static const uint8_t outcomes[] = {
        PORT_OUTCOME_ERROR, PORT_OUTCOME_ERROR, PORT_OUTCOME_UNKNOWN, PORT_OUTCOME_OK};
    static const uint16_t codes[] = {PORT_INTERNAL, PORT_UNAVAILABLE, PORT_INTERNAL, PORT_OK};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(toy.heard[i].kind, PORT_STREAM_MESSAGE);
        assert_int_equal(toy.heard[i].request, i + 1);
        assert_int_equal(toy.heard[i].outcome, outcomes[i]);
        assert_int_equal(toy.heard[i].code, codes[i]);
    }
    assert_int_equal(toy.state->total, 7);
    assert_int_equal(toy_notes(&toy, WORLD_REFUSED), 1);
    close_clean(&toy);
}

static void a_duplicated_message_takes_effect_twice_in_a_row(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    toy_pin(&toy, &toy_feed_site, 0, TOY_DUPLICATED);
    feed_some(&toy, 1, STREAM, 2);
    toy_half_close(&toy, 1, 5, STREAM);
    toy_run(&toy);
    assert_int_equal(toy.state->log[1].amount, 1);
    assert_int_equal(toy.state->log[2].amount, 1);
    assert_int_equal(toy.state->log[3].amount, 2);
    assert_int_equal(toy.heard_count, 3);
    close_clean(&toy);
}

static void a_service_may_answer_twice_late_or_not_at_all(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    toy_open_stream(&toy, 1, OPENER, STREAM);
    (void)toy_feed(&toy, 1, 1, STREAM, TOY_AMOUNT_SLOW);
    (void)toy_feed(&toy, 1, 2, STREAM, TOY_AMOUNT_TWO);
    (void)toy_feed(&toy, 1, 3, STREAM, TOY_AMOUNT_SILENT);
    toy_half_close(&toy, 1, 4, STREAM);
    toy_run(&toy);
    assert_int_equal(toy.heard_count, 4);
    /* The slow answer holds back the later ones. */
    assert_int_equal(toy.heard[0].request, 1);
    assert_int_equal(toy.heard[0].time, SECONDS(1) + 2 * LEG);
    assert_int_equal(toy.heard[1].request, 2);
    assert_int_equal(toy.heard[1].time, SECONDS(1) + 2 * LEG);
    assert_int_equal(toy.heard[2].kind, PORT_STREAM_MESSAGE);
    assert_int_equal(toy.heard[2].request, 0);
    /* The one without an answer hears of the clean end. */
    expect_end(&toy.heard[3], PORT_OUTCOME_OK, PORT_OK);
    assert_int_equal(toy_notes(&toy, WIRE_ANSWERED), 3);
    close_clean(&toy);
}

static void a_service_that_ends_a_stream_ignores_what_is_behind(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    toy_open_stream(&toy, 1, OPENER, STREAM);
    (void)toy_feed(&toy, 1, 1, STREAM, TOY_AMOUNT_END);
    (void)toy_feed(&toy, 1, 2, STREAM, 2);
    toy_run(&toy);
    assert_int_equal(toy.state->total, TOY_AMOUNT_END);
    assert_int_equal(toy.heard_count, 1);
    expect_end(&toy.heard[0], PORT_OUTCOME_UNKNOWN, PORT_OK);
    assert_int_equal(toy_note(&toy, WIRE_ANSWERED, 0)->a, PORT_OUTCOME_UNKNOWN);
    close_clean(&toy);
}

/* --- late effects and successors --------------------------------------------------------------- */

static void a_late_message_lands_before_the_successor_opens(void **state)
{
    (void)state;
    struct toy toy;
    toy_open(&toy,
             &(struct link_options){.latency_least = LEG, .late_effect_max = HOURS(1)},
             NULL,
             NULL,
             0);
    toy_pin(&toy, &toy_feed_site, 0, TOY_APPLIED_LATER);
    toy_pin(&toy, toy_link_site("link.late"), 0, 2);
    feed_some(&toy, 1, STREAM, 2);
    toy_run_until(&toy, SECONDS(1));
    expect_end(&toy.heard[0], PORT_OUTCOME_UNKNOWN, PORT_UNAVAILABLE);
    assert_int_equal(toy.state->count, 1);
    assert_int_equal(link_effects_pending(toy.link), 1);
    /* Another life of the same writer. */
    link_forget(toy.link, 1);
    toy_open_stream(&toy, 3, OPENER, STREAM);
    (void)toy_feed(&toy, 3, 1, STREAM, 50);
    toy_run(&toy);
    assert_int_equal(toy.state->log[1].kind, PORT_STREAM_SEND);
    assert_int_equal(toy.state->log[1].amount, 1);
    assert_int_equal(toy.state->log[1].stream, 1);
    assert_int_equal(toy.state->log[2].kind, PORT_CANCEL);
    assert_int_equal(toy.state->log[3].kind, PORT_OPEN);
    assert_int_equal(toy.state->log[4].amount, 50);
    toy_half_close(&toy, 3, 2, STREAM);
    toy_run(&toy);
    assert_true(marks_has(&toy.world->marks, MARK_LINK_LATE_ON_STREAM));
    assert_true(marks_has(&toy.world->marks, MARK_LINK_LATE_BEFORE_SUCCESSOR));
    close_clean(&toy);
}

static void a_late_message_without_a_successor_lands_at_its_drawn_instant(void **state)
{
    (void)state;
    static const nanos instants[] = {2 * LEG + 1, SECONDS(30) + 2 * LEG, HOURS(1)};
    for (uint32_t i = 0; i < ARRAY_COUNT(instants); i++) {
        struct toy toy;
        toy_open(&toy,
                 &(struct link_options){.latency_least = LEG, .late_effect_max = HOURS(1)},
                 NULL,
                 NULL,
                 0);
        toy_pin(&toy, &toy_feed_site, 0, TOY_APPLIED_LATER);
        toy_pin(&toy, toy_link_site("link.late"), 0, i);
        feed_some(&toy, 1, STREAM, 1);
        toy_run(&toy);
        assert_int_equal(toy.state->log[1].time, instants[i]);
        assert_int_equal(toy.state->log[1].amount, 1);
        close_clean(&toy);
    }
}

static void heal_lands_late_and_delayed_messages_now(void **state)
{
    (void)state;
    struct toy toy;
    toy_open(&toy,
             &(struct link_options){.latency_least = LEG, .late_effect_max = HOURS(1)},
             NULL,
             NULL,
             0);
    toy_pin(&toy, &toy_feed_site, 0, TOY_APPLIED_LATER);
    toy_pin(&toy, toy_link_site("link.late"), 0, 2);
    toy_pin(&toy, toy_link_site("link.latency"), 1, 2);
    feed_some(&toy, 1, STREAM, 1);
    feed_some(&toy, 2, STREAM, 2);
    toy_run_until(&toy, 2 * LEG);
    assert_int_equal(toy.state->total, 0);
    link_heal(toy.link);
    toy_run_until(&toy, 2 * LEG);
    assert_int_equal(toy.state->total, 4);
    toy_half_close(&toy, 2, 9, STREAM);
    toy_run(&toy);
    close_clean(&toy);
}

/* --- senders ----------------------------------------------------------------------------------- */

static void messages_of_a_dead_sender_land_in_order_before_its_successor(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    /* The first message of the old connection is slow, so all of them are. */
    toy_pin(&toy, toy_link_site("link.latency"), 0, 2);
    feed_some(&toy, 1, STREAM, 3);
    link_forget(toy.link, 1);
    assert_int_equal(toy_notes(&toy, WIRE_DROPPED), 3);
    toy_open_stream(&toy, 3, OPENER, STREAM);
    toy_half_close(&toy, 3, 2, STREAM);
    toy_run(&toy);
    static const uint8_t kinds[] = {PORT_OPEN,
                                    PORT_STREAM_SEND,
                                    PORT_STREAM_SEND,
                                    PORT_STREAM_SEND,
                                    PORT_CANCEL,
                                    PORT_OPEN,
                                    PORT_HALF_CLOSE};
    assert_int_equal(toy.state->count, ARRAY_COUNT(kinds));
    for (uint32_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        assert_int_equal(toy.state->log[i].kind, kinds[i]);
    }
    assert_int_equal(toy.heard_count, 1);
    assert_int_equal(toy.heard[0].sender, 3);
    assert_true(marks_has(&toy.world->marks, MARK_LINK_STREAM_ABANDONED));
    close_clean(&toy);
}

/* What dies with its connection is not waited for, and what would land later lands now. */
static void a_fate_of_a_dead_senders_message_is_its_fate_before_a_successor(void **state)
{
    (void)state;
    static const uint8_t fates[] = {TOY_CUT_NOT_APPLIED, TOY_APPLIED_LATER};
    static const uint64_t totals[] = {1, 1 + 2};
    for (uint32_t i = 0; i < ARRAY_COUNT(fates); i++) {
        struct toy toy;
        toy_open(&toy,
                 &(struct link_options){.latency_least = LEG, .late_effect_max = HOURS(1)},
                 NULL,
                 NULL,
                 0);
        toy_pin(&toy, toy_link_site("link.latency"), 0, 2);
        toy_pin(&toy, &toy_feed_site, 1, fates[i]);
        feed_some(&toy, 1, STREAM, 3);
        link_forget(toy.link, 1);
        toy_open_stream(&toy, 3, OPENER, STREAM);
        toy_half_close(&toy, 3, 2, STREAM);
        toy_run(&toy);
        assert_int_equal(toy.state->total, totals[i]);
        assert_int_equal(toy.state->log[toy.state->count - 3].kind, PORT_CANCEL);
        assert_int_equal(toy.state->log[toy.state->count - 2].kind, PORT_OPEN);
        assert_int_equal(toy.heard_count, 1);
        assert_int_equal(toy.heard[0].sender, 3);
        close_clean(&toy);
    }
}

static void a_living_stream_of_the_same_channel_is_not_hurried(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    toy_pin(&toy, toy_link_site("link.latency"), 0, 2);
    feed_some(&toy, 1, STREAM, 1);
    toy_open_stream(&toy, 1, OPENER + 1, STREAM + 1);
    (void)toy_feed(&toy, 1, 2, STREAM + 1, 2);
    toy_half_close(&toy, 1, 3, STREAM);
    toy_half_close(&toy, 1, 4, STREAM + 1);
    toy_run(&toy);
    assert_int_equal(toy.state->log[2].amount, 2);
    assert_int_equal(toy.state->log[2].stream, 2);
    close_clean(&toy);
}

static void cancelling_a_stream_by_its_opening_drops_all_answers(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    feed_some(&toy, 1, STREAM, 2);
    assert_true(link_cancel(toy.link, 1, OPENER));
    assert_false(link_cancel(toy.link, 1, OPENER));
    assert_int_equal(link_pending(toy.link, 1), 0);
    assert_int_equal(toy_notes(&toy, WIRE_CANCELLED), 2);
    toy_run(&toy);
    assert_int_equal(toy.heard_count, 0);
    assert_int_equal(toy.state->total, 3);
    assert_int_equal(toy.state->log[3].kind, PORT_CANCEL);
    close_clean(&toy);
}

static void cancelling_one_message_keeps_the_others(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    feed_some(&toy, 1, STREAM, 3);
    assert_true(link_cancel(toy.link, 1, 2));
    toy_run_until(&toy, LEG);
    assert_true(link_cancel(toy.link, 1, 3));
    toy_half_close(&toy, 1, 4, STREAM);
    toy_run(&toy);
    assert_int_equal(toy.state->total, 6);
    assert_int_equal(toy.heard_count, 2);
    assert_int_equal(toy.heard[0].request, 1);
    expect_end(&toy.heard[1], PORT_OUTCOME_OK, PORT_OK);
    close_clean(&toy);
}

static void a_paused_process_hears_no_stream_and_its_death_unsends(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    feed_some(&toy, 1, STREAM, 1);
    toy_pin(&toy, toy_link_site("link.pause"), 0, 1);
    (void)toy_add(&toy, 1, 50, 100, SECONDS(10));
    (void)toy_feed(&toy, 1, 2, STREAM, 2);
    toy_run_until(&toy, MS(500));
    assert_int_equal(toy.heard_count, 0);
    assert_int_equal(toy.state->total, 1);
    link_forget(toy.link, 1);
    toy_run(&toy);
    assert_int_equal(toy.state->total, 1);
    assert_int_equal(toy.heard_count, 0);
    close_clean(&toy);
}

static void heal_ends_a_pause_of_a_stream(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    feed_some(&toy, 1, STREAM, 1);
    toy_pin(&toy, toy_link_site("link.pause"), 0, 3);
    (void)toy_add(&toy, 1, 50, 100, SECONDS(10));
    (void)toy_feed(&toy, 1, 2, STREAM, 2);
    toy_half_close(&toy, 1, 3, STREAM);
    toy_run_until(&toy, SECONDS(5));
    assert_int_equal(toy.state->total, 1);
    assert_int_equal(toy.heard_count, 0);
    link_heal(toy.link);
    toy_run_until(&toy, SECONDS(5));
    assert_int_equal(toy.state->total, 103);
    assert_int_equal(toy.heard_count, 4);
    close_clean(&toy);
}

static void a_service_may_push_until_the_connection_is_gone(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    const struct model_reply message = {.kind = PORT_STREAM_MESSAGE};
    const struct model_reply end = {.kind = PORT_STREAM_END,
                                    .status = port_status_grpc(PORT_UNAVAILABLE)};
    feed_some(&toy, 1, STREAM, 0);
    toy_run(&toy);
    assert_false(link_push(toy.link, 2, &message));
    assert_true(link_push(toy.link, 1, &message));
    assert_true(link_push(toy.link, 1, &end));
    assert_false(link_push(toy.link, 1, &message));
    toy_run(&toy);
    assert_int_equal(toy.heard_count, 2);
    assert_int_equal(toy.heard[0].kind, PORT_STREAM_MESSAGE);
    assert_int_equal(toy.heard[0].request, 0);
    expect_end(&toy.heard[1], PORT_OUTCOME_UNKNOWN, PORT_UNAVAILABLE);
    assert_false(link_push(toy.link, 1, &message));
    close_clean(&toy);
}

static void a_message_behind_the_deadline_of_its_stream_ends_it(void **state)
{
    (void)state;
    struct toy toy;
    open_default(&toy);
    toy_open_stream_for(&toy, 1, OPENER, STREAM, 2 * LEG);
    (void)toy_feed(&toy, 1, 1, STREAM, 1);
    toy_run(&toy);
    assert_int_equal(toy.heard_count, 1);
    assert_false(marks_has(&toy.world->marks, MARK_LINK_STREAM_DEADLINE));
    (void)toy_feed(&toy, 1, 2, STREAM, 2);
    toy_run(&toy);
    assert_int_equal(toy.state->total, 1);
    expect_end(&toy.heard[1], PORT_OUTCOME_UNKNOWN, PORT_DEADLINE_EXCEEDED);
    assert_int_equal(toy.heard[1].time, 2 * LEG);
    assert_true(marks_has(&toy.world->marks, MARK_LINK_STREAM_DEADLINE));
    close_clean(&toy);
}

/* --- determinism ------------------------------------------------------------------------------- */

static void reopen(struct toy *toy, const struct link_answer *answer)
{
    if (answer->answer.kind == PORT_STREAM_END && answer->sender_request == 0 &&
        answer->answer.status.count > 0) {
        toy_open_stream(toy, answer->sender, OPENER, answer->answer.stream + 1);
        (void)toy_feed(toy, answer->sender, 77, answer->answer.stream + 1, 1);
    }
}

static uint64_t seeded_digest(uint64_t seed, uint8_t fill)
{
    struct toy toy;
    toy_open(&toy,
             &(struct link_options){.late_effect_max = MINUTES(5)},
             &(struct choice_options){.mode = CHOICE_SEEDED, .seed = seed},
             NULL,
             fill);
    toy.on_answer = reopen;
    feed_some(&toy, 1, STREAM, 6);
    feed_some(&toy, 2, STREAM, 6);
    toy_run_until(&toy, SECONDS(seed % 3));
    if (seed % 4 == 0) {
        link_forget(toy.link, 2);
    }
    toy_run_until(&toy, SECONDS(10));
    link_heal(toy.link);
    toy_run(&toy);
    assert_int_equal(link_effects_pending(toy.link), 0);
    link_forget(toy.link, 1);
    link_forget(toy.link, 2);
    toy_run(&toy);
    const uint64_t digest = toy.trace.digest;
    close_clean(&toy);
    return digest;
}

static void one_seed_gives_one_trace_and_leaves_nothing_behind(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        assert_int_equal(seeded_digest(seed, 0x00), seeded_digest(seed, 0xff));
    }
}

TEST_MAIN(link_stream,
          TEST(pipelined_messages_take_effect_and_are_answered_in_order),
          TEST(no_tie_and_no_latency_changes_the_order_of_a_stream),
          TEST(a_cut_leaves_a_prefix_applied_and_everything_unanswered_unknown),
          TEST(answers_that_arrived_before_a_cut_stand),
          TEST(what_is_sent_after_a_cut_waits_for_the_end_and_has_no_effect),
          TEST(a_message_on_a_stream_that_is_over_is_refused_for_certain),
          TEST(an_error_in_a_message_is_definite_and_the_stream_goes_on),
          TEST(a_duplicated_message_takes_effect_twice_in_a_row),
          TEST(a_service_may_answer_twice_late_or_not_at_all),
          TEST(a_service_that_ends_a_stream_ignores_what_is_behind),
          TEST(a_late_message_lands_before_the_successor_opens),
          TEST(a_late_message_without_a_successor_lands_at_its_drawn_instant),
          TEST(heal_lands_late_and_delayed_messages_now),
          TEST(messages_of_a_dead_sender_land_in_order_before_its_successor),
          TEST(a_fate_of_a_dead_senders_message_is_its_fate_before_a_successor),
          TEST(a_living_stream_of_the_same_channel_is_not_hurried),
          TEST(cancelling_a_stream_by_its_opening_drops_all_answers),
          TEST(cancelling_one_message_keeps_the_others),
          TEST(a_paused_process_hears_no_stream_and_its_death_unsends),
          TEST(heal_ends_a_pause_of_a_stream),
          TEST(a_service_may_push_until_the_connection_is_gone),
          TEST(a_message_behind_the_deadline_of_its_stream_ends_it),
          TEST(one_seed_gives_one_trace_and_leaves_nothing_behind))
