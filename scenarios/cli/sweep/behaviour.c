#include "scenarios/cli/sweep/behaviour.h"

#include <stdlib.h>
#include <string.h>

void behaviour_add(struct behaviour *behaviour, uint64_t seed, const struct marks *marks)
{
    struct marks_set reached;
    marks_of_run(marks, &reached);
    for (uint32_t word = 0; word < MARKS_COUNT / 64; word++) {
        for (uint64_t left = reached.words[word]; left != 0; left &= left - 1) {
            const uint32_t place = word * 64 + highest_bit(left & (~left + 1));
            if (behaviour->runs[place] == 0 || seed < behaviour->first_seed[place]) {
                behaviour->first_seed[place] = seed;
            }
            behaviour->runs[place]++;
        }
    }
}

void behaviour_join(struct behaviour *behaviour, const struct behaviour *later)
{
    for (uint32_t place = 0; place < MARKS_COUNT; place++) {
        if (later->runs[place] == 0) {
            continue;
        }
        if (behaviour->runs[place] == 0 ||
            later->first_seed[place] < behaviour->first_seed[place]) {
            behaviour->first_seed[place] = later->first_seed[place];
        }
        behaviour->runs[place] += later->runs[place];
    }
}

const struct report_count *behaviour_must(const struct behaviour *behaviour,
                                          const struct scenario *scenario,
                                          struct text_pool *texts,
                                          size_t *count)
{
    struct report_count *must = text_memory(texts, SCENARIO_MUST_MAX, sizeof *must);
    for (uint32_t i = 0; i < scenario->must_count; i++) {
        char name[MARKS_NAME_SIZE];
        marks_name(&scenario->config, scenario->must_reach[i], name);
        must[i] = (struct report_count){
            .name = text_format(texts, "scenario: %s", name),
            .count = behaviour->runs[scenario->must_reach[i]],
            .wanted = 1,
        };
    }
    *count = scenario->must_count;
    return must;
}

static int compare_marks(const void *a, const void *b)
{
    const struct report_mark *left = a;
    const struct report_mark *right = b;
    if (left->is_pair != right->is_pair) {
        return left->is_pair ? 1 : -1;
    }
    return strcmp(left->name, right->name);
}

void behaviour_sort(struct report_mark *marks, size_t count)
{
    qsort(marks, count, sizeof *marks, compare_marks);
}

static int compare_names(const void *a, const void *b)
{
    const char *const *left = a;
    const char *const *right = b;
    return strcmp(*left, *right);
}

void behaviour_report(const struct behaviour *behaviour,
                      const struct scenario *scenario,
                      uint32_t kinds,
                      struct text_pool *texts,
                      struct report_run *run)
{
    struct marks_set catalogue;
    marks_of_scenario(&scenario->config, kinds, &catalogue);
    struct report_mark *reached = text_memory(texts, MARKS_COUNT, sizeof *reached);
    const char **never = text_memory(texts, MARKS_COUNT, sizeof *never);
    run->reached_count = 0;
    run->never_count = 0;
    run->pair_count = 0;
    for (uint32_t place = 0; place < MARKS_COUNT; place++) {
        char name[MARKS_NAME_SIZE];
        if (!marks_set_has(&catalogue, place)) {
            continue;
        }
        marks_name(&scenario->config, place, name);
        const bool is_pair = marks_is_pair(place);
        run->pair_count += is_pair ? 1 : 0;
        if (behaviour->runs[place] > 0) {
            reached[run->reached_count++] = (struct report_mark){
                .name = text_copy(texts, bytes_of_text(name)),
                .count = behaviour->runs[place],
                .first_seed = behaviour->first_seed[place],
                .is_pair = is_pair,
            };
        } else if (!is_pair) {
            never[run->never_count++] = text_copy(texts, bytes_of_text(name));
        }
    }
    behaviour_sort(reached, run->reached_count);
    qsort(never, run->never_count, sizeof *never, compare_names);
    run->reached = reached;
    run->never = never;
}
