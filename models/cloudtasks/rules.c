/* Rules about how much and how fast, which are off unless an option asks for them: quotas (CT-26),
 * the ramp of a queue's creates (T15), the rate of its dispatches (CT-15), what names cost (CT-24).
 * They are rules of the service, so the heal leaves them alone. A quota counts the calls of a minute
 * by the clock of virtual time, refused ones, too. */
#include "models/cloudtasks/state.h"

#define RAMP_STEP  MINUTES(5)
#define RAMP_STEPS 64u
/* Names that differ by at most so much at their end are in sequence. */
#define SEQUENCE_DIGITS  8u
#define SEQUENCE_LATENCY SECONDS(2)

static const struct {
    enum cloudtasks_option option;
    enum cloudtasks_rule rule;
} causes[] = {
    {OPTION_QUOTA_CALLS, RULE_QUOTA},
    {OPTION_QUOTA_LISTS, RULE_QUOTA},
    {OPTION_QUOTA_RUNS, RULE_QUOTA},
    {OPTION_RAMP, RULE_RAMP},
    {OPTION_DISPATCH_RATE, RULE_RATE},
    {OPTION_NAME_LATENCY, RULE_NAMES},
    {OPTION_NAMES_IN_SEQUENCE, RULE_SEQUENCE},
    {OPTION_TASKS_READABLE, RULE_WHOLE},
};

void cloudtasks_rules_init(struct cloudtasks *state)
{
    for (size_t i = 0; i < ARRAY_COUNT(causes); i++) {
        if (cloudtasks_option(state, causes[i].option) != 0) {
            state->rules |= RULE_BIT(causes[i].rule);
        }
    }
}

static bool has_rule(const struct cloudtasks *state, enum cloudtasks_rule rule)
{
    return (state->rules & RULE_BIT(rule)) != 0;
}

static bool
quota_takes(struct cloudtasks *state, enum cloudtasks_quota kind, enum cloudtasks_option option)
{
    struct quota *quota = &state->quotas[kind];
    const uint64_t minute = cloudtasks_now(state) / MINUTES(1);
    const uint64_t calls_max = cloudtasks_option(state, option);
    if (quota->minute != minute) {
        *quota = (struct quota){.minute = minute};
    }
    quota->calls++;
    return calls_max == 0 || quota->calls <= calls_max;
}

bool cloudtasks_rules_refuse(struct cloudtasks *state, const struct port_method *method)
{
    if (!has_rule(state, RULE_QUOTA)) {
        return false;
    }
    bool takes = quota_takes(state, QUOTA_CALLS, OPTION_QUOTA_CALLS);
    if (method == &cloudtasks_list_tasks_method) {
        takes = quota_takes(state, QUOTA_LISTS, OPTION_QUOTA_LISTS) && takes;
    } else if (method == &cloudtasks_run_task_method) {
        takes = quota_takes(state, QUOTA_RUNS, OPTION_QUOTA_RUNS) && takes;
    }
    if (!takes) {
        COVER(state->env.world, CLOUDTASKS_QUOTA_SPENT);
    }
    return !takes;
}

/* A new queue takes so many creates per second, and half as many more every five minutes. */
static bool ramp_takes(struct cloudtasks *state, struct queue *queue)
{
    const nanos now = cloudtasks_now(state);
    const uint64_t steps = (now - queue->opened_at) / RAMP_STEP;
    uint64_t creates_max = cloudtasks_option(state, OPTION_RAMP);
    for (uint64_t i = 0; i < steps && i < RAMP_STEPS; i++) {
        creates_max += (creates_max + 1) / 2;
    }
    if (queue->second != now / NANOS_PER_S) {
        queue->second = now / NANOS_PER_S;
        queue->second_creates = 0;
    }
    queue->second_creates++;
    return queue->second_creates <= creates_max;
}

/* Whether a name comes right after another: as long, greater, and the same but for its end. */
static bool is_in_sequence(struct bytes last, struct bytes name)
{
    if (last.size != name.size || name.size < SEQUENCE_DIGITS) {
        return false;
    }
    const size_t same = name.size - SEQUENCE_DIGITS;
    return bytes_equal((struct bytes){last.data, same}, (struct bytes){name.data, same}) &&
           bytes_compare(last, name) < 0;
}

static enum port_code
take_sequence(struct cloudtasks *state, struct queue *queue, struct bytes name, nanos *after)
{
    const bool follows = is_in_sequence(queue->last_name, name);
    struct world *world = state->env.world;
    queue->last_name = world_resource_name(world, world_resource(world, name));
    if (!follows) {
        return PORT_OK;
    }
    switch ((enum cloudtasks_sequence)cloudtasks_draw(state, SITE_SEQUENCE, CHOICE_ALL)) {
    case SEQUENCE_AS_USUAL:
        return PORT_OK;
    case SEQUENCE_SLOW:
        *after = nanos_add(*after, SEQUENCE_LATENCY);
        return PORT_OK;
    case SEQUENCE_REFUSED:
        return PORT_UNAVAILABLE;
    }
    UNREACHABLE();
}

enum port_code cloudtasks_rules_create(struct cloudtasks *state,
                                       struct queue *queue,
                                       struct bytes name,
                                       nanos *after)
{
    *after = name.size > 0 ? cloudtasks_option(state, OPTION_NAME_LATENCY) : 0;
    if (has_rule(state, RULE_RAMP) && !ramp_takes(state, queue)) {
        COVER(state->env.world, CLOUDTASKS_RAMP_TOO_STEEP);
        return PORT_RESOURCE_EXHAUSTED;
    }
    return has_rule(state, RULE_SEQUENCE) && name.size > 0
               ? take_sequence(state, queue, name, after)
               : PORT_OK;
}

/* Evenly spaced, but for a burst that was saved up. */
nanos cloudtasks_rules_dispatch(struct cloudtasks *state, struct queue *queue, nanos now)
{
    if (!has_rule(state, RULE_RATE)) {
        return 0;
    }
    const nanos space = NANOS_PER_S / cloudtasks_option(state, OPTION_DISPATCH_RATE);
    const nanos burst = nanos_mul(space, cloudtasks_option(state, OPTION_DISPATCH_BURST) - 1);
    if (queue->dispatch_next > nanos_add(now, burst)) {
        COVER(state->env.world, CLOUDTASKS_RATE_REACHED);
        return queue->dispatch_next - burst - now;
    }
    queue->dispatch_next =
        nanos_add(queue->dispatch_next > now ? queue->dispatch_next : now, space);
    return 0;
}
