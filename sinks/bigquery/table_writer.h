/* The frame of a writer that appends rows to tables, one mode's or another's: a record goes to its table,
 * which is made when it is first needed, and a barrier waits until all tables are drained.
 *
 * State \ event  OPEN   RECORD    answer,    flush of   POLICY_   BARRIER,       POLICY_        MORE   CLOSE
 *                                 TIMER      the mode   DROPPED   END_OF_INPUT   FLUSHED
 * NEW            OPEN,  !         !          !          !         !              !              -      CLOSED
 *                FAILED
 * OPEN           !      OPEN or   send,      DRAINING   forget    DRAINING       !              send   CLOSED
 *                       HOLDING   FAILED
 * HOLDING        !      !         OPEN,      DRAINING   forget    !              !              send   CLOSED
 *                                 FAILED
 * DRAINING       !      !         FLUSHING,  -          FLUSHING  !              !              send   CLOSED
 *                                 FAILED
 * FLUSHING       !      !         -          -          !         !              HANDING_OVER,  -      CLOSED
 *                                                                                OPEN
 * HANDING_OVER   !      !         -          -          !         !              !              OPEN   CLOSED
 * FAILED         -      -         -          -          -         -              -              -      CLOSED
 * CLOSED         -      -         -          -          -         -              -              -      -
 *
 * "!" is a host's broken contract and a CHECK. The failure policy is flushed behind the drain, for it is the
 * drain that finds rows which are none. Only a mode that keeps state hands tables over, as many in a step as
 * there is space for. A flush that a mode begins by itself ends with READY, one of a barrier with its answer.
 * POLICY_FAILED fails at any time. */
#ifndef SINKS_BIGQUERY_TABLE_WRITER_H
#define SINKS_BIGQUERY_TABLE_WRITER_H

#include "sinks/bigquery/destination_host.h"

enum table_writer_state {
    TABLE_WRITER_NEW = 0,
    TABLE_WRITER_OPEN,
    TABLE_WRITER_HOLDING,
    TABLE_WRITER_DRAINING,
    TABLE_WRITER_FLUSHING,
    TABLE_WRITER_HANDING_OVER,
    TABLE_WRITER_FAILED,
    TABLE_WRITER_CLOSED,
};

/* What the frame knows of a table; a mode's own struct begins with it. */
struct writer_table {
    struct list_link link;
    struct bytes name; /* owned by the mode's struct */
    nanos last_access;
    uint64_t handed_for; /* the frame's: snapshot that has it */
};

static inline struct writer_table *writer_table_of(struct list_link *link)
{
    return LIST_ITEM(link, struct writer_table, link);
}

/* What a mode does with a table. */
struct table_functions {
    /* NULL without memory. */
    struct writer_table *(*make)(struct destination_host *host, struct bytes name);
    void (*release)(struct destination_host *host, struct writer_table *table);
    /* Have the user say what the next row is written as. False: a failure is left in host->reason. */
    bool (*describe)(struct destination_host *host,
                     struct writer_table *table,
                     const struct sink_user *user,
                     const struct sink_record *record);
    /* Take a row, which moves in. ERR_OK, ERR_LIMIT. */
    enum err (*add)(struct destination_host *host,
                    struct writer_table *table,
                    struct append_row *row);
    /* Send what is waiting for company, too. */
    void (*send_all)(struct writer_table *table);
    /* Do what may be done now. A failure is left in host->reason. */
    void (*advance)(struct destination_host *host, struct writer_table *table);
    /* An answer, or a slot that is due: false when it is another's. */
    bool (*answer)(struct destination_host *host,
                   struct writer_table *table,
                   const struct port_answer *answer);
    bool (*due)(struct destination_host *host,
                struct writer_table *table,
                const struct parking_slot *slot);
    /* Every row has been stored or is with the failure policy. */
    bool (*is_drained)(const struct writer_table *table);
    /* So much is under way that no more rows should come. */
    bool (*is_full)(const struct destination_host *host, const struct writer_table *table);
    /* Nothing is lost with it, when nobody writes to it any more. */
    bool (*is_spare)(const struct writer_table *table);
    /* Cancel what is on its way. */
    void (*close)(struct destination_host *host, struct writer_table *table);
    uint64_t (*digest)(uint64_t digest, const struct writer_table *table);
};

/* Room for what a mode writes behind a row. */
#define TABLE_WRITER_TAIL_SIZE_MAX 64u

struct table_writer_phases {
    uint16_t opened;
    uint16_t holding;
    uint16_t policy_flushing;
    uint16_t row_routed;
    uint16_t evicted;
    uint16_t failed;
    uint16_t closed;
};

struct table_writer;

/* One step's arguments. */
struct table_writer_step {
    struct table_writer *writer;
    const struct sink_now *now;
    struct sink_effects *effects;
};

struct table_writer_mode {
    const struct table_functions *tables;
    struct table_writer_phases phases;
    /* Take restored state up. False: the writer has failed. */
    bool (*open)(const struct table_writer_step *step, const struct sink_event *event);
    /* Write what a row has behind what the serializer gave; NULL: nothing. False: the record is no row. */
    bool (*write_tail)(const struct table_writer_step *step,
                       const struct sink_record *record,
                       struct byte_writer *tail);
    /* Hand a table's state over, for which there is space; NULL: none is kept. False: the writer has
     * failed. */
    bool (*hand_over)(const struct table_writer_step *step, struct writer_table *table);
    /* A slot that may be the mode's own: false when it is not; NULL: it has none. */
    bool (*due)(const struct table_writer_step *step, const struct parking_slot *slot);
};

struct table_writer {
    const struct table_writer_mode *mode;
    const struct allocator *allocator;
    const struct sink_user *user;
    struct bigquery_config config; /* set behind init */
    uint32_t subtask;
    bool destination_fixed;
    uint8_t state;      /* enum table_writer_state */
    struct list tables; /* struct writer_table, in the order of their first use */
    struct destination_host host;
    bool at_barrier;    /* what is drained for */
    uint64_t barrier;   /* if so */
    uint64_t snapshots; /* begun so far, to tell one from another */
};

/* The configuration is read before. */
void table_writer_init(struct table_writer *writer,
                       const struct table_writer_mode *mode,
                       const struct sink_env *env);

/* The functions of a half whose state begins with the writer. */
void table_writer_step(void *state,
                       const struct sink_now *now,
                       const struct sink_event *event,
                       struct sink_effects *effects);
uint64_t table_writer_digest(const void *state);
void table_writer_fini(void *state);

/* End the writer's life. */
void table_writer_fail(const struct table_writer_step *step,
                       enum sink_reason reason,
                       const struct port_status *status_or_null,
                       struct bytes message);
void table_writer_fail_text(const struct table_writer_step *step,
                            enum sink_reason reason,
                            const char *message);

/* Find a table or make it; NULL without memory. */
struct writer_table *table_writer_obtain(const struct table_writer_step *step, struct bytes name);

/* Begin a flush that no barrier asks for, unless one is under way, which serves as well: false. */
bool table_writer_flush(const struct table_writer_step *step);

#endif
