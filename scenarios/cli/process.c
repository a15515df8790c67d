#include "scenarios/cli/process.h"

#include "scenarios/cli/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_STARTED 127

NORETURN static void become(const char *program, char **words, const char *log)
{
    const int output = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int input = open("/dev/null", O_RDONLY);
    if (output >= 0 && input >= 0 && dup2(input, STDIN_FILENO) >= 0 &&
        dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0) {
        (void)execvp(program, words);
    }
    _exit(NOT_STARTED);
}

int process_run(const char *const *words, const char *log)
{
    char *copies[32] = {0};
    struct text_pool texts = {0};
    size_t count = 0;
    int status = 0;
    CHECK(words[0] != NULL);
    /* execvp does not promise to leave the words alone. */
    for (; words[count] != NULL; count++) {
        CHECK(count + 1 < ARRAY_COUNT(copies));
        copies[count] = text_copy(&texts, bytes_of_text(words[count]));
    }
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        become(words[0], copies, log);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    text_pool_fini(&texts);
    if (pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED)) {
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
