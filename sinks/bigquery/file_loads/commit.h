/* The committer's parts, which nobody else includes: what they share, and what they do for each other. Its
 * states are those of file_loads_committer.c.
 *
 *   file_loads_committer.c   events, planning, cleaning up
 *   commit_waves.c           which jobs are submitted and waited for at the moment
 *   commit_jobs.c            one job: made ready, found, started or attached to
 *   commit_tables.c          tables that loads need
 *   commit_locations.c       where jobs run
 *   commit_requests.c        what is sent, and how a commit fails */
#ifndef SINKS_BIGQUERY_FILE_LOADS_COMMIT_H
#define SINKS_BIGQUERY_FILE_LOADS_COMMIT_H

#include "sinks/base/list.h"
#include "sinks/bigquery/file_loads/clean_up.h"
#include "sinks/bigquery/file_loads/file_loads_options.h"
#include "sinks/bigquery/file_loads/load_job.h"
#include "sinks/bigquery/file_loads/load_table.h"
#include "sinks/bigquery/file_loads/plan.h"
#include "sinks/effects.h"

#include <stdbool.h>
#include <stdint.h>

#define COMMIT_MESSAGE_SIZE 2048u

enum state {
    STATE_NEW = 0,
    STATE_IDLE,
    STATE_SUBMITTING,
    STATE_AWAITING,
    STATE_DROPPING,
    STATE_DELETING,
    STATE_FAILED,
    STATE_CLOSED,
};

/* What the open request is about. */
enum question {
    QUESTION_NONE = 0,
    QUESTION_TABLE,
    QUESTION_LOCATION,
    QUESTION_JOB,
};

/* Requests that are borrowed until the next step. */
union request {
    struct load_table_request table;
    struct bigquery_get_dataset_request dataset;
    struct bigquery_get_job_request get;
    struct load_request insert;
};

struct committer {
    const struct allocator *allocator;
    const struct sink_user *user;
    struct file_loads_config config;
    uint8_t state;         /* enum state */
    bool warned;           /* of columns that loads drop */
    struct list locations; /* struct location */
    uint64_t last;         /* number of the latest request */
    uint64_t open;         /* of SUBMITTING and AWAITING; 0 none */
    uint8_t question;      /* enum question: what open is about */
    bool waits;            /* for the timer */
    bool is_due;           /* AWAITING: the job is to be looked at */
    uint32_t polls;        /* of the job that is waited for */
    /* of the commit */
    const struct sink_commit_request *commit; /* the host's */
    uint32_t commit_count;
    struct staged_file *files; /* as many */
    struct plan plan;
    struct load_job *jobs; /* by plan */
    uint32_t job_count;
    uint32_t wave; /* first job of it */
    uint32_t wave_end;
    uint32_t next;            /* of the wave: submitted or waited for */
    struct list tables;       /* struct load_table: the commit's own, and temporary ones */
    struct load_table *asked; /* of QUESTION_TABLE */
    struct clean_up clean_up;
    union request request;
    uint8_t id[LOAD_JOB_ID_SIZE];
    uint8_t message[COMMIT_MESSAGE_SIZE];
};

/* One step's arguments. */
struct step {
    struct committer *committer;
    struct sink_effects *effects;
};

/* --- commit_waves.c ------------------------------------------------------------------------- */

/* The jobs that are submitted before any is waited for: of one stage, and no more than the service queues. */
void commit_begin_wave(struct committer *committer);

/* One step forward; false when there is none to make now. */
bool commit_submit_next(const struct step *step);
bool commit_await_next(const struct step *step);

/* --- commit_jobs.c: of the job that is next ------------------------------------------------- */

const struct plan_job *commit_current_plan(const struct committer *committer);
struct load_job *commit_current_job(const struct committer *committer);
struct bytes commit_current_id(struct committer *committer);

/* Ask for what is known least: its table, its location, the job itself; or start it. */
void commit_submit(const struct step *step);
bool commit_is_submitted(const struct committer *committer);
void commit_ask_job(const struct step *step);
void commit_settle_job(const struct step *step, const struct port_answer *answer);

/* --- commit_tables.c ------------------------------------------------------------------------ */

/* NULL: nothing was asked about it yet. */
struct load_table *commit_find_table(const struct committer *committer, struct bytes name);

/* Find or begin, and ask what is to be asked. A temporary table is to be like another one that is ready. False:
 * it is not ready yet, or the commit has failed. */
bool commit_ready_table(const struct step *step,
                        struct bytes name,
                        const struct load_table *like_or_null);
void commit_settle_table(const struct step *step, const struct port_answer *answer);
void commit_release_tables(struct committer *committer);

/* --- commit_locations.c --------------------------------------------------------------------- */

bool commit_knows_location(const struct committer *committer);
void commit_ask_location(const struct step *step);
void commit_settle_location(const struct step *step, const struct port_answer *answer);

/* Known by now. */
struct bytes commit_current_location(const struct committer *committer);
void commit_release_locations(struct committer *committer);

/* --- commit_requests.c ---------------------------------------------------------------------- */

/* What is sent is borrowed from the committer, and released before the next one is made. */
void commit_send(const struct step *step, const struct port_method *method, const void *payload);
void commit_release_request(struct committer *committer);
void commit_wait(const struct step *step, const struct retry_schedule *schedule, uint32_t nth);

/* A message that is to be written, for commit_fail. */
struct byte_writer commit_message(const struct step *step);
void commit_fail(const struct step *step,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 const struct byte_writer *message);
void commit_fail_text(const struct step *step, enum sink_reason reason, const char *text);

/* Of an answer about a thing of that name; a complaint stands for the answer's status. */
void commit_fail_answer(const struct step *step,
                        const struct port_answer *answer,
                        const char *what,
                        struct bytes name,
                        const char *complaint_or_null);

#endif
