#include "scenarios/cli/plugin/plugin_tables.h"

#include <string.h>

/* Messages of one service, far above what any has. */
#define PAIRS_MAX 512u

struct pair {
    const struct port_message *plugin;
    const struct port_message *host;
};

/* Messages are compared in a list that grows by those they hold, so that tables that go in circles
 * need no recursion. */
struct comparison {
    struct byte_writer *message;
    struct pair pairs[PAIRS_MAX];
    uint32_t pair_count;
};

static enum err missing(const struct comparison *comparison, const char *what)
{
    byte_writer_text(comparison->message, what);
    byte_writer_text(comparison->message, " is missing in its tables");
    return ERR_INVALID;
}

/* Say "owner.part: what is 5; allowed: 6". */
static enum err differ(const struct comparison *comparison,
                       const char *owner,
                       const char *part,
                       const char *what,
                       const uint64_t values[2])
{
    struct byte_writer *message = comparison->message;
    byte_writer_text(message, owner);
    byte_writer_text(message, ".");
    byte_writer_text(message, part);
    byte_writer_text(message, ": ");
    byte_writer_text(message, what);
    byte_writer_text(message, " is ");
    byte_writer_decimal(message, values[0]);
    byte_writer_text(message, "; allowed: ");
    byte_writer_decimal(message, values[1]);
    return ERR_VERSION;
}

static enum err add(struct comparison *comparison,
                    const struct port_message *plugin_or_null,
                    const struct port_message *host_or_null,
                    const char *owner)
{
    if (host_or_null == NULL && plugin_or_null == NULL) {
        return ERR_OK;
    }
    if (plugin_or_null == NULL || plugin_or_null->name == NULL ||
        (plugin_or_null->field_count > 0 && plugin_or_null->fields == NULL)) {
        return missing(comparison, owner);
    }
    if (host_or_null == NULL || strcmp(plugin_or_null->name, host_or_null->name) != 0) {
        byte_writer_text(comparison->message, owner);
        byte_writer_text(comparison->message, ": its message is ");
        byte_writer_text(comparison->message, plugin_or_null->name);
        byte_writer_text(comparison->message, "; allowed: ");
        byte_writer_text(comparison->message, host_or_null == NULL ? "none" : host_or_null->name);
        return ERR_VERSION;
    }
    for (uint32_t i = 0; i < comparison->pair_count; i++) {
        if (comparison->pairs[i].plugin == plugin_or_null) {
            return ERR_OK;
        }
    }
    CHECK(comparison->pair_count < PAIRS_MAX);
    comparison->pairs[comparison->pair_count++] = (struct pair){plugin_or_null, host_or_null};
    return ERR_OK;
}

static enum err
compare_field(struct comparison *comparison, const struct pair *pair, uint32_t index)
{
    const struct port_field *plugin = &pair->plugin->fields[index];
    const struct port_field *host = &pair->host->fields[index];
    const struct {
        const char *what;
        uint64_t values[2];
    } numbers[] = {
        {"number", {plugin->number, host->number}},
        {"type", {plugin->type, host->type}},
        {"offset", {plugin->offset, host->offset}},
    };
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        if (numbers[i].values[0] != numbers[i].values[1]) {
            return differ(
                comparison, pair->host->name, host->name, numbers[i].what, numbers[i].values);
        }
    }
    return host->message == NULL ? ERR_OK
                                 : add(comparison, plugin->message, host->message, host->name);
}

static enum err compare_message(struct comparison *comparison, const struct pair *pair)
{
    const uint64_t sizes[] = {pair->plugin->size, pair->host->size};
    const uint64_t counts[] = {pair->plugin->field_count, pair->host->field_count};
    if (sizes[0] != sizes[1]) {
        return differ(comparison, pair->host->name, "size", "it", sizes);
    }
    if (counts[0] != counts[1]) {
        return differ(comparison, pair->host->name, "fields", "their number", counts);
    }
    for (uint32_t i = 0; i < pair->host->field_count; i++) {
        const enum err err = compare_field(comparison, pair, i);
        if (err != ERR_OK) {
            return err;
        }
    }
    return ERR_OK;
}

static const struct port_method *method_by_name(const struct port_service *service,
                                                const char *name)
{
    for (uint32_t i = 0; i < service->method_count; i++) {
        if (strcmp(service->methods[i]->name, name) == 0) {
            return service->methods[i];
        }
    }
    return NULL;
}

static enum err compare_method(struct comparison *comparison,
                               const struct port_method *plugin,
                               const struct port_service *service)
{
    if (plugin == NULL || plugin->name == NULL) {
        return missing(comparison, "a method");
    }
    const struct port_method *host = method_by_name(service, plugin->name);
    if (host == NULL) {
        byte_writer_text(comparison->message, service->name);
        byte_writer_text(comparison->message, ".");
        byte_writer_text(comparison->message, plugin->name);
        byte_writer_text(comparison->message, ": the service has no such method");
        return ERR_VERSION;
    }
    const uint64_t ids[] = {plugin->id, host->id};
    const uint64_t kinds[] = {plugin->kind, host->kind};
    if (ids[0] != ids[1]) {
        return differ(comparison, service->name, host->name, "its id", ids);
    }
    if (kinds[0] != kinds[1]) {
        return differ(comparison, service->name, host->name, "its kind", kinds);
    }
    const enum err err = add(comparison, plugin->request, host->request, host->name);
    return err != ERR_OK ? err : add(comparison, plugin->response, host->response, host->name);
}

enum err plugin_tables_check(const struct port_service *plugin,
                             const struct port_service *host,
                             struct byte_writer *message)
{
    struct comparison comparison = {.message = message};
    if (plugin->method_count > 0 && plugin->methods == NULL) {
        return missing(&comparison, "the list of methods");
    }
    for (uint32_t i = 0; i < plugin->method_count; i++) {
        const enum err err = compare_method(&comparison, plugin->methods[i], host);
        if (err != ERR_OK) {
            return err;
        }
    }
    for (uint32_t i = 0; i < comparison.pair_count; i++) {
        const struct pair pair = comparison.pairs[i];
        const enum err err = compare_message(&comparison, &pair);
        if (err != ERR_OK) {
            return err;
        }
    }
    return ERR_OK;
}
