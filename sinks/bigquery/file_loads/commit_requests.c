#include "sinks/base/check.h"
#include "sinks/bigquery/file_loads/commit.h"

/* --- what is sent --------------------------------------------------------------------------- */

void commit_release_request(struct committer *committer)
{
    if (committer->question == QUESTION_JOB) {
        load_request_release(&committer->request.insert, committer->allocator);
    }
    committer->request = (union request){0};
    committer->question = QUESTION_NONE;
}

void commit_send(const struct step *step, const struct port_method *method, const void *payload)
{
    struct committer *committer = step->committer;
    committer->last++;
    committer->open = committer->last;
    const struct port_envelope envelope = {
        .request = committer->open,
        .kind = PORT_CALL,
        .method = method,
        .deadline = committer->config.request_timeout,
        .payload = payload,
    };
    effects_send(step->effects, &envelope);
}

void commit_wait(const struct step *step, const struct retry_schedule *schedule, uint32_t nth)
{
    const struct retry_window pause = retry_backoff(schedule, nth);
    step->committer->waits = true;
    effects_timer(step->effects, pause.min, pause.max);
}

/* --- failing -------------------------------------------------------------------------------- */

void commit_fail(const struct step *step,
                 enum sink_reason reason,
                 const struct port_status *status_or_null,
                 const struct byte_writer *message)
{
    step->committer->state = STATE_FAILED;
    effects_phase(step->effects, FILE_LOADS_PHASE_COMMITTER_FAILED);
    effects_fail(step->effects, reason, status_or_null, byte_writer_view(message));
}

struct byte_writer commit_message(const struct step *step)
{
    struct byte_writer message;
    byte_writer_init(&message, step->committer->message, sizeof(step->committer->message));
    return message;
}

void commit_fail_text(const struct step *step, enum sink_reason reason, const char *text)
{
    struct byte_writer message = commit_message(step);
    byte_writer_text(&message, text);
    commit_fail(step, reason, NULL, &message);
}

/* An error that another attempt may mend ends this commit as well: the one after a restart is that attempt. */
static enum sink_reason reason_of(const struct port_answer *answer)
{
    return file_loads_may_mend(&answer->status) ? SINK_REASON_EXHAUSTED : SINK_REASON_SERVICE;
}

void commit_fail_answer(const struct step *step,
                        const struct port_answer *answer,
                        const char *what,
                        struct bytes name,
                        const char *complaint_or_null)
{
    struct byte_writer message = commit_message(step);
    const uint16_t code = port_status_first(&answer->status);
    byte_writer_text(&message, what);
    byte_writer_text(&message, " ");
    byte_writer_bytes(&message, name);
    byte_writer_text(&message, ": ");
    if (complaint_or_null != NULL) {
        byte_writer_text(&message, complaint_or_null);
    } else {
        byte_writer_text(&message, code == PORT_CODE_NONE ? "no status" : port_code_name(code));
    }
    commit_fail(step,
                complaint_or_null != NULL ? SINK_REASON_SERVICE : reason_of(answer),
                &answer->status,
                &message);
}
