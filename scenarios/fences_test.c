/* The include rule: who may include whom, and which library stands behind which fence.
 *
 * Dependencies run one way, and a sink never sees the simulator or a model: that is what makes it
 * the real sink. The rule is a pure function over (path, line), so that the tests plant violations
 * in strings; the last test walks the tree, which is the current directory.
 *
 * Guards of headers are checked on the way, for they share the walk.
 */
#include "sinks/base/test.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES  512
#define LINE_BYTES  1024
#define FOLDERS_MAX 128

/* A folder, and a file or folder (with its slash) of the project that its files may include. */
struct permission {
    const char *from;
    const char *to;
};

static const struct permission project_permissions[] = {
    {"sinks/", "sinks/"},
    {"sim/", "sim/"},
    {"sim/", "sinks/base/"},
    {"sim/", "sinks/sink.h"},
    {"sim/", "sinks/port/port.h"},
    {"models/", "models/"},
    {"models/", "sim/"},
    {"models/", "sinks/base/"},
    {"models/", "sinks/port/"},
    {"reports/", "reports/"},
    {"reports/", "sinks/base/"},
    {"reports/", "sim/result.h"},
    {"reports/", "sim/trace.h"},
    {"scenarios/", "sinks/"},
    {"scenarios/", "sim/"},
    {"scenarios/", "models/"},
    {"scenarios/", "reports/"},
    {"scenarios/", "scenarios/"},
};

/* A library, as a prefix of its header names, and where it may be included. libavro is absent: it
 * is allowed by the kind of file, not by folder. */
static const struct permission library_permissions[] = {
    {"sinks/base/", "xxhash.h"},
    {"sinks/base/", "xxh3.h"},
    {"sinks/base/", "sodium.h"},
    {"sinks/base/", "sodium/"},
    {"scenarios/", "jansson.h"},
    {"reports/", "jansson.h"},
    {"sinks/base/test.", "cmocka.h"},
};

/* The headers of ISO C11; what is neither here nor a library is POSIX or the compiler's. */
static const char *const iso_headers[] = {
    "assert.h",   "complex.h",  "ctype.h",  "errno.h",       "fenv.h",    "float.h",
    "inttypes.h", "iso646.h",   "limits.h", "locale.h",      "math.h",    "setjmp.h",
    "signal.h",   "stdalign.h", "stdarg.h", "stdatomic.h",   "stdbool.h", "stddef.h",
    "stdint.h",   "stdio.h",    "stdlib.h", "stdnoreturn.h", "string.h",  "tgmath.h",
    "threads.h",  "time.h",     "uchar.h",  "wchar.h",       "wctype.h",
};

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool ends_with(const char *text, const char *suffix)
{
    const size_t text_bytes = strlen(text);
    const size_t suffix_bytes = strlen(suffix);

    return text_bytes >= suffix_bytes && strcmp(text + text_bytes - suffix_bytes, suffix) == 0;
}

static bool is_permitted(const struct permission *permissions,
                         size_t count,
                         const char *path,
                         const char *included)
{
    for (size_t i = 0; i < count; i++) {
        const bool is_folder_or_prefix = ends_with(permissions[i].to, "/");
        const bool matches = is_folder_or_prefix ? starts_with(included, permissions[i].to)
                                                 : strcmp(included, permissions[i].to) == 0;
        if (matches && starts_with(path, permissions[i].from)) {
            return true;
        }
    }
    return false;
}

static bool is_iso_header(const char *included)
{
    for (size_t i = 0; i < ARRAY_COUNT(iso_headers); i++) {
        if (strcmp(included, iso_headers[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_library_header(const char *included)
{
    for (size_t i = 0; i < ARRAY_COUNT(library_permissions); i++) {
        if (starts_with(included, library_permissions[i].to)) {
            return true;
        }
    }
    return false;
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

/* What forbids <included> in the file at path, or NULL. */
static const char *system_include_violation(const char *path, const char *included)
{
    if (starts_with(included, "avro")) {
        return ends_with(path, "_test.c") ? NULL : "libavro is for tests only";
    }
    if (is_library_header(included)) {
        return is_permitted(library_permissions, ARRAY_COUNT(library_permissions), path, included)
                   ? NULL
                   : "a library outside its fence";
    }
    if (is_iso_header(included) || starts_with(path, "scenarios/")) {
        return NULL;
    }
    return "neither ISO C nor a known library: POSIX is for scenarios/ only";
}

/* Whether the file at path is a test or help for tests: no product links it. */
static bool is_for_tests(const char *path)
{
    return ends_with(path, "_test.c") || ends_with(path, "_testkit.c") ||
           ends_with(path, "_testkit.h");
}

/* What forbids "included" in the file at path, or NULL. The simulator's tests bring services of their
 * own, and tables like those of the real ones. The engine's bring sinks as well, and a test sink is a
 * sink: it may use the helper that builds effects. */
static const char *project_include_violation(const char *path, const char *included)
{
    if (strchr(included, '/') == NULL || strstr(included, "./") != NULL) {
        return "write the path from the root of the project";
    }
    if (starts_with(path, "sim/engine/") && is_for_tests(path) &&
        strcmp(included, "sinks/effects.h") == 0) {
        return NULL;
    }
    if (starts_with(path, "sim/") && is_for_tests(path) &&
        starts_with(included, "sinks/port/as_")) {
        return NULL;
    }
    return is_permitted(project_permissions, ARRAY_COUNT(project_permissions), path, included)
               ? NULL
               : "this folder may not depend on that one";
}

/* What is wrong with one line of the file at path (from the root, without "./"), or NULL. */
static const char *include_violation(const char *path, const char *line)
{
    const char *text = skip_blanks(line);
    char included[PATH_BYTES] = {0};

    if (*text != '#') {
        return NULL;
    }
    text = skip_blanks(text + 1);
    if (!starts_with(text, "include")) {
        return NULL;
    }
    text = skip_blanks(text + strlen("include"));
    if (*text != '<' && *text != '"') {
        return "an include must name its file, or no fence can see it";
    }

    const size_t included_bytes = strcspn(text + 1, ">\"\n");
    if (included_bytes == 0 || included_bytes >= sizeof(included)) {
        return "an include must name its file, or no fence can see it";
    }
    memcpy(included, text + 1, included_bytes);
    return *text == '<' ? system_include_violation(path, included)
                        : project_include_violation(path, included);
}

/* The guard that a header must have: its path in capitals, so that no two can be the same. */
static void guard_of(const char *path, char *guard)
{
    size_t i = 0;

    for (; path[i] != '\0'; i++) {
        guard[i] = (char)(isalnum((unsigned char)path[i]) ? toupper((unsigned char)path[i]) : '_');
    }
    guard[i] = '\0';
}

/* Whether a line opens the guard of the header at path. */
static bool opens_guard(const char *path, const char *line)
{
    char guard[PATH_BYTES] = {0};

    assert_true(strlen(path) < sizeof(guard));
    guard_of(path, guard);
    if (!starts_with(line, "#ifndef ")) {
        return false;
    }
    const char *name = line + strlen("#ifndef ");
    return starts_with(name, guard) && strcspn(name, "\r\n") == strlen(guard);
}

/* Print every violation of one file and return their number. */
static unsigned file_violations(const char *path)
{
    char line[LINE_BYTES] = {0};
    unsigned violations = 0;
    bool is_guarded = !ends_with(path, ".h");
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    for (unsigned number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
        const char *violation = include_violation(path, line);
        if (violation != NULL) {
            print_error("%s:%u: %s: %s", path, number, violation, line);
            violations++;
        }
        is_guarded = is_guarded || opens_guard(path, line);
    }
    (void)fclose(file);
    if (!is_guarded) {
        char guard[PATH_BYTES] = {0};
        guard_of(path, guard);
        print_error("%s: no guard; want #ifndef %s\n", path, guard);
        violations++;
    }
    return violations;
}

static bool is_source(const char *path)
{
    return ends_with(path, ".c") || ends_with(path, ".h") || ends_with(path, ".def");
}

/* A walk over the tree: the folders still to be opened, and what was counted. */
struct walk {
    char pending[FOLDERS_MAX][PATH_BYTES];
    size_t pending_count;
    unsigned files;
    unsigned violations;
};

static void walk_push(struct walk *walk, const char *folder)
{
    assert_true(walk->pending_count < FOLDERS_MAX);
    (void)snprintf(walk->pending[walk->pending_count++], PATH_BYTES, "%s", folder);
}

static void walk_entry(struct walk *walk, const char *folder, const char *name)
{
    char path[PATH_BYTES] = {0};
    struct stat status;

    if (name[0] == '.' || strcmp(name, "build") == 0) {
        return;
    }
    const int bytes = snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_in_range(bytes, 1, sizeof(path) - 1);
    if (stat(path, &status) != 0) {
        return; /* an editor's file that has gone again */
    }
    if (S_ISDIR(status.st_mode)) {
        walk_push(walk, path);
    } else if (is_source(path)) {
        walk->files++;
        walk->violations += file_violations(path);
    }
}

/* Look at every source under the folder; one that does not exist has none. */
static void walk_folder(struct walk *walk, const char *folder)
{
    walk_push(walk, folder);
    while (walk->pending_count > 0) {
        char current[PATH_BYTES] = {0};

        memcpy(current, walk->pending[--walk->pending_count], sizeof(current));
        DIR *directory = opendir(current);
        if (directory == NULL) {
            continue;
        }
        for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
            walk_entry(walk, current, entry->d_name);
        }
        (void)closedir(directory);
    }
}

/* Goal: what the rule forbids is caught. Method: plant one violation of each kind in a string. */
static void a_planted_violation_is_caught(void **state)
{
    static const struct {
        const char *path;
        const char *line;
    } planted[] = {
        {"sinks/cloudtasks/writer.c", "#include \"sim/world.h\""},
        {"sinks/cloudtasks/writer.c", "#include \"models/cloudtasks/model.h\""},
        {"sinks/cloudtasks/writer_test.c", "#  include \"sim/arena.h\"\n"},
        {"sim/world.c", "\t# include \"models/model.h\""},
        {"sim/world.c", "#include \"sinks/port/cloudtasks.h\""},
        {"sim/world.c", "#include \"sinks/cloudtasks/writer.h\""},
        {"sim/engine/task.c", "#include \"sinks/effects.h\""},
        {"sim/link.c", "#include \"sinks/port/as_structs.def\""},
        {"sim/link_testkit.c", "#include \"sinks/port/code.h\""},
        {"sim/run_test.c", "#include \"sinks/effects.h\""},
        {"sim/engine/task_test.c", "#include \"sinks/cloudtasks/writer.h\""},
        {"sim/run.c", "#include \"scenarios/cli/options.h\""},
        {"models/cloudtasks/queue.c", "#include \"sinks/cloudtasks/writer.h\""},
        {"models/cloudtasks/queue.c", "#include \"sinks/sink.h\""},
        {"models/cloudtasks/queue.c", "#include \"reports/text.h\""},
        {"reports/text.c", "#include \"sim/world.h\""},
        {"reports/text.c", "#include \"sinks/sink.h\""},
        {"reports/text.c", "#include \"scenarios/cli/options.h\""},
        {"sim/trace.c", "#include <xxhash.h>"},
        {"scenarios/cli/main.c", "#include <xxhash.h>"},
        {"sinks/bigquery/state.c", "#include <sodium/crypto_hash_sha256.h>"},
        {"sim/result.c", "#include <jansson.h>"},
        {"sinks/base/bytes_test.c", "#include <cmocka.h>"},
        {"sinks/base/bytes.c", "#include <avro.h>"},
        {"scenarios/cli/main.c", "#include <avro/io.h>"},
        {"sinks/base/check.c", "#include <unistd.h>"},
        {"sim/clock.c", "#include <sys/time.h>"},
        {"reports/html.c", "#include <fcntl.h>"},
        {"sim/clock.c", "#include \"clock.h\""},
        {"sim/clock.c", "#include \"sim/../models/model.h\""},
        {"sim/clock.c", "#include CLOCK_HEADER"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(planted); i++) {
        if (include_violation(planted[i].path, planted[i].line) == NULL) {
            fail_msg("not caught: %s: %s", planted[i].path, planted[i].line);
        }
    }
}

/* Goal: what the rule allows is let through. Method: the other side of each boundary. */
static void an_allowed_include_passes(void **state)
{
    static const struct {
        const char *path;
        const char *line;
    } allowed[] = {
        {"sinks/cloudtasks/writer.c", "#include \"sinks/sink.h\""},
        {"sinks/cloudtasks/writer.c", "#include \"sinks/base/bytes.h\""},
        {"sim/world.c", "#include \"sinks/sink.h\""},
        {"sim/world.c", "#include \"sinks/port/port.h\""},
        {"sim/world.c", "#include \"sinks/base/map.h\""},
        {"sim/engine/toy_testkit.c", "#include \"sinks/effects.h\""},
        {"sim/engine/task_test.c", "#include \"sinks/effects.h\""},
        {"sim/link_testkit.h", "#include \"sinks/port/as_structs.def\""},
        {"models/cloudtasks/queue.c", "#include \"sinks/port/cloudtasks.h\""},
        {"models/cloudtasks/queue.c", "#include \"sim/world.h\""},
        {"reports/text.c", "#include \"sim/result.h\""},
        {"reports/text.c", "#include <jansson.h>"},
        {"scenarios/wiring/cloudtasks.c", "#include \"models/cloudtasks/queue.h\""},
        {"scenarios/cli/main.c", "#include <unistd.h>"},
        {"sinks/base/digest.c", "#include <xxhash.h>"},
        {"sinks/base/sha256.c", "#include <sodium/crypto_hash_sha256.h>"},
        {"sinks/base/test.h", "#include <cmocka.h>"},
        {"sinks/bigquery/file_loads/avro_test.c", "#include <avro.h>"},
        {"sim/world.c", "#include <string.h>"},
        {"sim/world.c", "#ifdef CLOCK_HEADER"},
        {"sim/world.c", "/* Nothing here may include \"models/model.h\". */"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(allowed); i++) {
        const char *violation = include_violation(allowed[i].path, allowed[i].line);
        if (violation != NULL) {
            fail_msg("%s: %s: %s", allowed[i].path, allowed[i].line, violation);
        }
    }
}

/* Goal: two headers never share a guard. Method: both sides of the rule that derives it. */
static void a_guard_is_the_path_in_capitals(void **state)
{
    (void)state;
    assert_true(opens_guard("sim/engine/task.h", "#ifndef SIM_ENGINE_TASK_H\n"));
    assert_true(opens_guard("sinks/sink.h", "#ifndef SINKS_SINK_H\r\n"));
    assert_false(opens_guard("sim/engine/task.h", "#ifndef SIM_TASK_H\n"));
    assert_false(opens_guard("sim/engine/task.h", "#ifndef SIM_ENGINE_TASK_HEADER\n"));
    assert_false(opens_guard("sim/engine/task.h", "#define SIM_ENGINE_TASK_H\n"));
}

/* Goal: the tree keeps the rules. Method: every line of every source file. */
static void the_tree_keeps_the_rules(void **state)
{
    static const char *const folders[] = {"sinks", "sim", "models", "reports", "scenarios"};
    struct walk *walk = calloc(1, sizeof(*walk));

    (void)state;
    assert_non_null(walk);
    for (size_t i = 0; i < ARRAY_COUNT(folders); i++) {
        walk_folder(walk, folders[i]);
    }
    const unsigned files = walk->files;
    const unsigned violations = walk->violations;
    free(walk);
    assert_int_not_equal(files, 0);
    assert_int_equal(violations, 0);
}

TEST_MAIN(fences,
          TEST(a_planted_violation_is_caught),
          TEST(an_allowed_include_passes),
          TEST(a_guard_is_the_path_in_capitals),
          TEST(the_tree_keeps_the_rules))
