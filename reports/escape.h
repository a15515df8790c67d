/* Text of any bytes, made fit for a format. Names and messages come from scenarios, plugins and
 * services, so they may hold anything: what a format cannot carry (control characters, bytes that are
 * no UTF-8) is shown as \xNN, and nothing that they hold is taken for markup. */
#ifndef REPORTS_ESCAPE_H
#define REPORTS_ESCAPE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Read one character of NUL-terminated text: how many bytes it takes, and its code; 0 bytes where there
 * is no well-formed UTF-8. */
size_t escape_read_utf8(const char *text, uint32_t *code);

/* Content of an XML 1.0 element, and of an attribute in double quotes. Newlines and tabs of content stay,
 * those of an attribute are references. */
void escape_xml_content(FILE *file, const char *text);
void escape_xml_attribute(FILE *file, const char *text);

/* Words in a line of Markdown, in a cell of a table as well: one line, no markup. */
void escape_markdown(FILE *file, const char *text);

/* A path as the path of a URI: RFC 3986, what is not unreserved or a slash as %NN. */
void escape_uri_path(const char *path, char *uri, size_t capacity);

/* A copy that is well-formed UTF-8, for a JSON string; NULL when memory is out. Free it. */
char *escape_utf8_copy(const char *text);

#endif
