/* Files of an exploration: the frontier that --resume keeps, and the distinct traces of a shard, from
 * which merge counts those of all shards.
 *
 *   sinkproof-frontier 1 \n   size of the rest (8 bytes), what it is of, elapsed, counts, frontier,
 *   sinkproof-traces 1 \n     size of the rest (8 bytes), what it is of, the set,
 *                             XXH3 of all before (8 bytes); integers are little-endian
 *
 * A file is replaced whole or not at all, so a process that is killed leaves the last one. */
#ifndef SCENARIOS_CLI_SEARCH_EXPLORE_FILE_H
#define SCENARIOS_CLI_SEARCH_EXPLORE_FILE_H

#include "scenarios/cli/search/explore.h"

#define EXPLORE_FILE_MESSAGE 400

/* Write what was explored. what: a text that names all that the results depend on. ERR_OK or
 * ERR_SYSTEM. */
MUST_USE enum err
explore_file_write(const char *path, const char *what, const struct explored *explored);

/* Read it into what explore_init prepared. ERR_OK; ERR_NOT_FOUND: there is no such file; else
 * *message is one line. ERR_SYSTEM, ERR_TRUNCATED, ERR_CORRUPT, ERR_VERSION, ERR_CONFLICT (it is of
 * something else), ERR_LIMIT. */
MUST_USE enum err explore_file_read(const char *path,
                                    const char *what,
                                    struct explored *explored,
                                    char message[EXPLORE_FILE_MESSAGE]);

/* What the traces of a shard are of. */
char *traces_what(struct text_pool *texts, const struct report_explored *record);

/* The same for the set of traces of a shard, which is added to what the set holds already. */
MUST_USE enum err
traces_file_write(const char *path, const char *what, const struct digest_set *traces);
MUST_USE enum err traces_file_read(const char *path,
                                   const char *what,
                                   struct digest_set *traces,
                                   char message[EXPLORE_FILE_MESSAGE]);

#endif
