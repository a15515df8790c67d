/* Runs a fuzz target without libFuzzer, over the inputs that are named, in that order: so its corpus
 * is part of the tests wherever there is a compiler. Usage: TARGET INPUT... */
#include "scenarios/fuzz/target.h"

#include <stdio.h>
#include <stdlib.h>

#define INPUT_SIZE_MAX ((size_t)1 << 20)

/* The bytes of a file, in a block that ends with them, so that an access past their end shows; NULL
 * when it cannot be read or holds more than an input may. */
static uint8_t *read_input(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(INPUT_SIZE_MAX + 1);
    *size = file == NULL || data == NULL ? SIZE_MAX : fread(data, 1, INPUT_SIZE_MAX + 1, file);
    if (file != NULL) {
        (void)fclose(file);
    }
    if (*size > INPUT_SIZE_MAX) {
        free(data);
        return NULL;
    }
    uint8_t *input = realloc(data, *size > 0 ? *size : 1);
    return input == NULL ? data : input;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        size_t size = 0;
        uint8_t *input = read_input(argv[i], &size);
        if (input == NULL) {
            (void)fprintf(stderr, "%s: cannot be read, or is larger than an input\n", argv[i]);
            failed = 1;
            continue;
        }
        /* Before it is run: the last line names the input that ended the process. */
        (void)printf("%s\n", argv[i]);
        (void)fflush(stdout);
        failed |= LLVMFuzzerTestOneInput(input, size);
        free(input);
    }
    return failed;
}
