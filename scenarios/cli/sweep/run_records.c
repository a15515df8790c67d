#include "scenarios/cli/sweep/run_records.h"

#include "scenarios/cli/sweep/failures.h"
#include "scenarios/cli/sweep/summary.h"

#include <string.h>

enum report_verdict run_record_verdict(struct json_input *input, json_t *object, const char *key)
{
    const char *name = json_input_text(input, object, key);
    for (int i = 0; i < REPORT_VERDICT_COUNT; i++) {
        if (strcmp(name, report_verdict_name((enum report_verdict)i)) == 0) {
            return (enum report_verdict)i;
        }
    }
    json_input_complain(input, key, "holds, fails, refused, inconclusive or untested");
    return REPORT_UNTESTED;
}

uint8_t run_record_subject_kind(const char *subject)
{
    static const struct {
        const char *start;
        enum subject_kind kind;
    } kinds[] = {
        {"record ", SUBJECT_RECORD},
        {"identity ", SUBJECT_IDENTITY},
        {"checkpoint ", SUBJECT_CHECKPOINT},
        {"effect ", SUBJECT_EFFECT},
        {"lane ", SUBJECT_LANE},
        {"the job", SUBJECT_JOB},
    };
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        if (strncmp(subject, kinds[i].start, strlen(kinds[i].start)) == 0) {
            return (uint8_t)kinds[i].kind;
        }
    }
    return SUBJECT_NONE;
}

void run_record_violation(struct json_input *input,
                          json_t *object,
                          json_t *detail,
                          struct report_violation *violation)
{
    violation->oracles = json_input_texts(input, object, "oracles", &violation->oracle_count);
    violation->subject = json_input_text(input, object, "subject");
    violation->seed = json_input_number(input, object, "seed");
    violation->tape = json_input_text(input, object, "tape");
    violation->deviations = (uint32_t)json_input_number(input, object, "deviations");
    violation->message = json_input_text(input, object, "message");
    violation->decisive = json_input_text(input, detail, "decisive");
    violation->command = json_input_text(input, detail, "command");
    violation->deviations_found = (uint32_t)json_input_number(input, detail, "deviations_found");
    if (json_object_get(detail, "run") != NULL) {
        violation->run_or_null = json_input_text(input, detail, "run");
    }
    violation->choice_count = failures_choices(input->texts, violation->tape, &violation->choices);
    uint8_t oracle = 0;
    if (violation->oracle_count == 0 ||
        summary_oracle_parse(violation->oracles[0], &oracle) != ERR_OK) {
        json_input_complain(input, "oracles", "names of oracles of this version");
    }
}

uint32_t run_record_kinds(struct json_input *input, json_t *list, struct summary *summary)
{
    uint32_t kinds = 0;
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach(list, i, item)
    {
        enum fault_kind kind = FAULT_NONE;
        const char *name = json_input_text(input, item, "name");
        if (fault_kind_parse(bytes_of_text(name), &kind) != ERR_OK) {
            json_input_complain(input, "kinds", "names of fault kinds of this version");
            break;
        }
        kinds |= UINT32_C(1) << kind;
        summary->kind_runs[kind] += json_input_number(input, item, "count");
    }
    return kinds;
}
