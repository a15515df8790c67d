#include "reports/escape.h"

#include "sinks/base/check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPED_SIZE 5 /* "\xNN" and its NUL */

/* RFC 3629: neither overlong forms, nor surrogates, nor what lies above U+10FFFF. */
size_t escape_read_utf8(const char *text, uint32_t *code)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)text[0];
    const size_t size = first < 0x80           ? 1
                        : (first >> 5) == 0x06 ? 2
                        : (first >> 4) == 0x0e ? 3
                        : (first >> 3) == 0x1e ? 4
                                               : 0;
    *code = size == 1 ? first : first & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        const unsigned char next = (unsigned char)text[i];
        if ((next & 0xc0) != 0x80) {
            return 0;
        }
        *code = *code << 6 | (next & 0x3f);
    }
    const bool is_surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return size > 0 && *code >= least[size] && *code <= 0x10ffff && !is_surrogate ? size : 0;
}

static void write_byte_as_text(FILE *file, char byte)
{
    (void)fprintf(file, "\\x%02x", (unsigned)(unsigned char)byte);
}

/* XML 1.0, production 2; what is discouraged (0x7f to 0x9f) is left out as well. */
static bool is_xml_character(uint32_t code)
{
    if (code < 0x20) {
        return code == '\t' || code == '\n' || code == '\r';
    }
    return (code < 0x7f || code > 0x9f) && code != 0xfffe && code != 0xffff;
}

static const char *xml_reference(uint32_t code, bool is_attribute)
{
    switch (code) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>': /* also in "]]>", which content may not hold */
        return "&gt;";
    case '"':
        return "&quot;";
    case '\r': /* a bare one would be read as a newline */
        return "&#13;";
    case '\n':
        return is_attribute ? "&#10;" : NULL;
    case '\t':
        return is_attribute ? "&#9;" : NULL;
    default:
        return NULL;
    }
}

static void write_bytes_as_text(FILE *file, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        write_byte_as_text(file, bytes[i]);
    }
}

static void write_xml(FILE *file, const char *text, bool is_attribute)
{
    while (*text != '\0') {
        uint32_t code = 0;
        const size_t size = escape_read_utf8(text, &code);
        const char *reference = size == 1 ? xml_reference(code, is_attribute) : NULL;
        if (size == 0 || !is_xml_character(code)) {
            write_bytes_as_text(file, text, size == 0 ? 1 : size);
        } else if (reference != NULL) {
            (void)fputs(reference, file);
        } else {
            (void)fwrite(text, 1, size, file);
        }
        text += size == 0 ? 1 : size;
    }
}

void escape_xml_content(FILE *file, const char *text)
{
    write_xml(file, text, false);
}

void escape_xml_attribute(FILE *file, const char *text)
{
    write_xml(file, text, true);
}

/* A backslash before any ASCII punctuation makes it plain text (CommonMark 0.30, 2.4); entities keep
 * HTML out. */
void escape_markdown(FILE *file, const char *text)
{
    while (*text != '\0') {
        uint32_t code = 0;
        const size_t size = escape_read_utf8(text, &code);
        const char *reference = size == 1 ? xml_reference(code, true) : NULL;
        if (code == '\n' || code == '\r' || code == '\t') {
            (void)fputc(' ', file);
        } else if (size == 0 || !is_xml_character(code)) {
            for (size_t i = 0; i < (size == 0 ? 1 : size); i++) {
                (void)fputc('\\', file);
                write_byte_as_text(file, text[i]);
            }
        } else if (reference != NULL) {
            (void)fputs(reference, file);
        } else if (size == 1 && strchr("\\`*_[]{}|#~!@", (int)code) != NULL) {
            (void)fprintf(file, "\\%c", (char)code);
        } else {
            (void)fwrite(text, 1, size, file);
        }
        text += size == 0 ? 1 : size;
    }
}

void escape_uri_path(const char *path, char *uri, size_t capacity)
{
    static const char kept[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "-._~/";
    size_t used = 0;
    CHECK(capacity >= 4);
    for (; *path != '\0' && used + 4 <= capacity; path++) {
        if (strchr(kept, *path) != NULL) {
            uri[used] = *path;
            used++;
        } else {
            (void)snprintf(&uri[used], 4, "%%%02X", (unsigned)(unsigned char)*path);
            used += 3;
        }
    }
    uri[used] = '\0';
}

char *escape_utf8_copy(const char *text)
{
    const size_t capacity = strlen(text) * (ESCAPED_SIZE - 1) + 1;
    char *copy = malloc(capacity);
    size_t used = 0;
    while (copy != NULL && *text != '\0') {
        uint32_t code = 0;
        const size_t size = escape_read_utf8(text, &code);
        if (size == 0) {
            (void)snprintf(&copy[used], ESCAPED_SIZE, "\\x%02x", (unsigned)(unsigned char)*text);
            used += ESCAPED_SIZE - 1;
        } else {
            memcpy(&copy[used], text, size);
            used += size;
        }
        text += size == 0 ? 1 : size;
    }
    if (copy != NULL) {
        copy[used] = '\0';
    }
    return copy;
}
