#include "scenarios/cli/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_STARTED 127
#define OUTPUT_MAX  ((size_t)64 << 20)

/* execvp does not promise to leave the words alone. */
struct words {
    struct text_pool texts;
    char **copies; /* NULL-terminated */
};

static void words_copy(struct words *copied, const char *const *words)
{
    size_t count = 0;
    *copied = (struct words){0};
    CHECK(words[0] != NULL);
    while (words[count] != NULL) {
        count++;
    }
    copied->copies = text_memory(&copied->texts, count + 1, sizeof *copied->copies);
    for (size_t i = 0; i < count; i++) {
        copied->copies[i] = text_copy(&copied->texts, bytes_of_text(words[i]));
    }
}

/* Become the program, with these for standard output and errors; negative: as they are. */
NORETURN static void become(struct words *words, int output, int errors)
{
    const int input = open("/dev/null", O_RDONLY);
    const char *program = words->copies[0];
    if (input >= 0 && dup2(input, STDIN_FILENO) >= 0 &&
        (output < 0 || dup2(output, STDOUT_FILENO) >= 0) &&
        (errors < 0 || dup2(errors, STDERR_FILENO) >= 0)) {
        (void)execvp(program, words->copies);
    }
    _exit(NOT_STARTED);
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED)) {
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int process_run(const char *const *words, const char *log)
{
    struct words copied;
    words_copy(&copied, words);
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        const int output = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (output < 0) {
            _exit(NOT_STARTED);
        }
        become(&copied, output, output);
    }
    const int status = wait_for(pid);
    text_pool_fini(&copied.texts);
    return status;
}

/* All that comes, up to OUTPUT_MAX; what is beyond is read and dropped. */
static struct bytes read_all(struct text_pool *texts, int from)
{
    size_t capacity = (size_t)64 << 10;
    size_t size = 0;
    uint8_t *data = memory_take(capacity);
    for (;;) {
        if (size == capacity && capacity < OUTPUT_MAX) {
            capacity *= 2;
            data = memory_resize(data, capacity);
        }
        uint8_t dropped[4096];
        const bool is_full = size == capacity;
        const ssize_t got =
            read(from, is_full ? dropped : data + size, is_full ? sizeof dropped : capacity - size);
        if (got > 0 && !is_full) {
            size += (size_t)got;
        } else if (got == 0 || (got < 0 && errno != EINTR)) {
            break;
        }
    }
    const char *copy = text_copy(texts, (struct bytes){data, size});
    free(data);
    return (struct bytes){(const uint8_t *)copy, size};
}

int process_read(const char *const *words, struct text_pool *texts, struct bytes *output)
{
    struct words copied;
    int ends[2];
    *output = (struct bytes){0};
    if (pipe(ends) != 0) {
        return -1;
    }
    words_copy(&copied, words);
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)close(ends[0]);
        become(&copied, ends[1], -1);
    }
    (void)close(ends[1]);
    if (pid > 0) {
        *output = read_all(texts, ends[0]);
    }
    (void)close(ends[0]);
    const int status = wait_for(pid);
    text_pool_fini(&copied.texts);
    return status;
}
