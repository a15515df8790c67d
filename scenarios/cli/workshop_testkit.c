#include "scenarios/cli/workshop_testkit.h"

#include "scenarios/cli/process.h"
#include "sinks/base/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 20)

int workshop_open(void **state)
{
    struct workshop *workshop = calloc(1, sizeof *workshop);
    assert_non_null(workshop);
    (void)snprintf(workshop->folder, sizeof workshop->folder, "/tmp/sinkproof-workshop-XXXXXX");
    assert_non_null(mkdtemp(workshop->folder));
    *state = workshop;
    return 0;
}

int workshop_close(void **state)
{
    struct workshop *workshop = *state;
    const char *const remove_all[] = {"rm", "-rf", workshop->folder, NULL};
    (void)process_run(remove_all, "/dev/null");
    text_pool_fini(&workshop->texts);
    free(workshop);
    return 0;
}

static const char *read_file(struct workshop *workshop, const char *path)
{
    char *text = text_memory(&workshop->texts, FILE_MAX, 1);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    (void)fread(text, 1, FILE_MAX - 1, file);
    (void)fclose(file);
    return text;
}

int workshop_run(struct workshop *workshop, const char *command)
{
    const char *log = text_format(&workshop->texts, "%s/output.txt", workshop->folder);
    const char *script =
        text_format(&workshop->texts,
                    "ROOT=$(pwd); export ROOT SINKPROOF=$(realpath \"$SINKPROOF\");"
                    " cd %s && { %s\n}",
                    workshop->folder,
                    command);
    const char *const words[] = {"sh", "-c", script, NULL};
    assert_non_null(getenv("SINKPROOF"));
    const int status = process_run(words, log);
    workshop->output = read_file(workshop, log);
    return status;
}

void workshop_must(struct workshop *workshop, const char *command, int status)
{
    const int ended = workshop_run(workshop, command);
    if (ended != status) {
        fail_msg("status %d, wanted %d: %s\n%s", ended, status, command, workshop->output);
    }
}

void workshop_says(const struct workshop *workshop, const char *text)
{
    if (strstr(workshop->output, text) == NULL) {
        fail_msg("\"%s\" is not in: %s", text, workshop->output);
    }
}

void workshop_write(struct workshop *workshop, const char *name, const char *text)
{
    const char *path = text_format(&workshop->texts, "%s/%s", workshop->folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

const char *workshop_read(struct workshop *workshop, const char *name)
{
    return read_file(workshop, text_format(&workshop->texts, "%s/%s", workshop->folder, name));
}

const char *
workshop_edit(struct workshop *workshop, const char *text, const char *old, const char *new)
{
    const char *place = strstr(text, old);
    assert_non_null(place);
    assert_null(strstr(place + 1, old));
    return text_format(
        &workshop->texts, "%.*s%s%s", (int)(place - text), text, new, place + strlen(old));
}

void workshop_make_kit(struct workshop *workshop)
{
    workshop_must(workshop,
                  "\"$SINKPROOF\" new-sink my-sink && cp my-sink/*.json my-sink/sink.c . &&"
                  " for part in base/allocator base/bytes base/check port/decode port/generic; do"
                  "  cc -std=c11 -O1 -I\"$ROOT\" -fPIC -fvisibility=hidden"
                  "   -c \"$ROOT/sinks/$part.c\" -o $(basename $part).o || exit 1; done &&"
                  " ar rc kit.a *.o",
                  0);
}

void workshop_build(struct workshop *workshop, const char *name, const char *source)
{
    workshop_write(workshop, text_format(&workshop->texts, "%s.c", name), source);
    workshop_must(workshop,
                  text_format(&workshop->texts,
                              "cc -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -I\"$ROOT\" -fPIC"
                              " -fvisibility=hidden -shared %s.c kit.a -o %s.so",
                              name,
                              name),
                  0);
}
