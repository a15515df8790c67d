#include "sinks/base/test.h"

#include <stdlib.h>

void check_failed(const char *file, int line, const char *what)
{
    /* Leaves by longjmp, either to the expectation or by failing the test. */
    mock_assert(0, what, file, line);
    abort();
}

static void print_hex(const char *name, struct bytes source)
{
    print_error("%s (%zu bytes):", name, source.size);
    for (size_t i = 0; i < source.size; i++) {
        print_error(" %02x", (unsigned)source.data[i]);
    }
    print_error("\n");
}

/* The comparison stands here again so that this object links alone. */
void assert_bytes_equal_at(const char *file, int line, struct bytes actual, struct bytes expected)
{
    bool equal = actual.size == expected.size;
    for (size_t i = 0; equal && i < actual.size; i++) {
        equal = actual.data[i] == expected.data[i];
    }
    if (!equal) {
        print_hex("actual  ", actual);
        print_hex("expected", expected);
        _fail(file, line);
    }
}

/* Stands before each block, so that a wrong size given back is seen. */
union block_header {
    size_t size;
    max_align_t alignment;
};

static void *test_allocate(void *context, size_t size)
{
    struct test_memory *memory = context;
    memory->calls++;
    if (memory->calls == memory->fail_at) {
        return NULL;
    }
    union block_header *header = malloc(sizeof(*header) + size);
    CHECK(header != NULL);
    header->size = size;
    memory->live += size;
    return header + 1;
}

static void test_release(void *context, void *block, size_t size)
{
    struct test_memory *memory = context;
    union block_header *header = (union block_header *)block - 1;
    CHECK(header->size == size);
    CHECK(memory->live >= size);
    memory->live -= size;
    free(header);
}

struct allocator test_allocator(struct test_memory *memory)
{
    return (struct allocator){memory, test_allocate, test_release};
}
