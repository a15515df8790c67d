#include "scenarios/cli/sweep/exemplars.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/sweep/failures.h"
#include "scenarios/cli/sweep/reproducer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct keeper {
    struct session *session;
    const struct scenario *scenario;
    const struct summary *summary;
    struct reproducer *reproducer;
    struct text_pool texts;
    const char *folder;
    const char *stem; /* of the files: the scenario's name, slashes made dashes */
};

/* A rare mark. */
struct exemplar {
    uint64_t seed;
    uint32_t place;
};

static int compare(const void *a, const void *b)
{
    const struct exemplar *left = a;
    const struct exemplar *right = b;
    if (left->seed != right->seed) {
        return left->seed < right->seed ? -1 : 1;
    }
    return left->place < right->place ? -1 : 1;
}

static uint32_t find_rare(const struct keeper *keeper, struct exemplar *exemplars)
{
    const struct behaviour *behaviour = &keeper->summary->behaviour;
    struct marks_set catalogue;
    uint32_t count = 0;
    marks_of_scenario(
        &keeper->scenario->config, summary_kinds_offered(&keeper->scenario->config), &catalogue);
    for (uint32_t place = 0; place < MARKS_COUNT; place++) {
        if (marks_set_has(&catalogue, place) &&
            behaviour_is_rare(behaviour, place, keeper->summary->counted)) {
            exemplars[count++] = (struct exemplar){behaviour->first_seed[place], place};
        }
    }
    qsort(exemplars, count, sizeof *exemplars, compare);
    return count;
}

static const char *tape_name(struct keeper *keeper, uint64_t seed)
{
    return text_format(&keeper->texts, "%s-seed%" PRIu64 ".tape", keeper->stem, seed);
}

/* Make the run again and keep its tape. */
static enum status
keep_run(struct keeper *keeper, const struct exemplar *exemplars, uint32_t from, uint32_t to)
{
    const uint64_t seed = exemplars[from].seed;
    const struct run_request request = reproducer_seed_request(keeper->scenario, seed);
    const nanos hang_after = keeper->session->options->hang_after;
    struct marks_set reached;
    int detail = 0;
    bool again = reproducer_run_guarded(keeper->reproducer, &request, hang_after, &detail) ==
                 REPRODUCER_DONE;
    marks_of_run(&reproducer_result(keeper->reproducer)->marks, &reached);
    for (uint32_t i = from; i < to; i++) {
        again = again && marks_set_has(&reached, exemplars[i].place);
    }
    if (!again) {
        complain("seed %" PRIu64
                 " of %s reached other marks in the sweep than when it was run again",
                 seed,
                 keeper->scenario->name);
        return STATUS_NONDETERMINISM;
    }
    const struct tape tape = reproducer_recorded(keeper->reproducer);
    const char *text = failures_tape_text(&keeper->texts, keeper->scenario, &tape);
    const char *path =
        text_format(&keeper->texts, "%s/%s", keeper->folder, tape_name(keeper, seed));
    return file_write(path, bytes_of_text(text)) == ERR_OK ? STATUS_OK : STATUS_USAGE;
}

static enum status
keep_list(struct keeper *keeper, const struct exemplar *exemplars, uint32_t count)
{
    struct file_writer writer;
    file_writer_start(&writer,
                      text_format(&keeper->texts, "%s/%s.txt", keeper->folder, keeper->stem));
    bool complete = writer.stream != NULL;
    for (uint32_t i = 0; i < count && complete; i++) {
        char name[MARKS_NAME_SIZE];
        marks_name(&keeper->scenario->config, exemplars[i].place, name);
        complete = fprintf(writer.stream,
                           "%s: in %" PRIu64 " of %" PRIu64 " runs, first %s\n",
                           name,
                           keeper->summary->behaviour.runs[exemplars[i].place],
                           keeper->summary->counted,
                           tape_name(keeper, exemplars[i].seed)) > 0;
    }
    return file_writer_finish(&writer, complete) == ERR_OK ? STATUS_OK : STATUS_USAGE;
}

static enum status keep_all(struct keeper *keeper)
{
    struct exemplar *exemplars = text_memory(&keeper->texts, MARKS_COUNT, sizeof *exemplars);
    const uint32_t count = find_rare(keeper, exemplars);
    enum status status = STATUS_OK;
    if (count == 0) {
        return STATUS_OK;
    }
    if (folder_make(keeper->session->options->out) != ERR_OK ||
        folder_make(keeper->folder) != ERR_OK) {
        status = STATUS_USAGE;
    }
    for (uint32_t i = 0; i < count && status == STATUS_OK;) {
        uint32_t end = i + 1;
        while (end < count && exemplars[end].seed == exemplars[i].seed) {
            end++;
        }
        status = keep_run(keeper, exemplars, i, end);
        i = end;
    }
    status = status == STATUS_OK ? keep_list(keeper, exemplars, count) : status;
    if (status == STATUS_USAGE) {
        complain("--out \"%s\": cannot write there; allowed: a folder that can be made or written",
                 keeper->session->options->out);
    }
    return status;
}

enum status exemplars_keep(struct session *session,
                           const struct scenario *scenario,
                           const struct summary *summary)
{
    struct keeper keeper = {
        .session = session,
        .scenario = scenario,
        .summary = summary,
        .reproducer = reproducer_create(scenario),
    };
    if (keeper.reproducer == NULL) {
        complain("%s: no memory for a run", scenario->name);
        return STATUS_INTERNAL;
    }
    char *stem = text_copy(&keeper.texts, bytes_of_text(scenario->name));
    for (char *at = stem; *at != '\0'; at++) {
        if (*at == '/') {
            *at = '-';
        }
    }
    keeper.stem = stem[0] == '.' ? stem + 1 : stem;
    keeper.folder = text_format(&keeper.texts, "%s/exemplars", session->options->out);
    const enum status status = keep_all(&keeper);
    text_pool_fini(&keeper.texts);
    reproducer_destroy(keeper.reproducer);
    return status;
}
