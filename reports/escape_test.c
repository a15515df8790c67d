/* Hostile text in every format: control characters, bytes that are no UTF-8, quotes, markup.
 *
 * link: reports/escape
 */
#include "reports/escape.h"

#include "sinks/base/test.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE 512

static const char hostile[] = "a\x01\x1b[31m\xff\xc0\xaf\"'<b>&]]>\n\t\r|`*_\x7f";

static void
written(char text[TEXT_SIZE], void write(FILE *file, const char *text), const char *source)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    write(file, source);
    rewind(file);
    text[fread(text, 1, TEXT_SIZE - 1, file)] = '\0';
    (void)fclose(file);
}

static void
assert_written(void write(FILE *file, const char *text), const char *source, const char *expected)
{
    char text[TEXT_SIZE];
    written(text, write, source);
    assert_string_equal(text, expected);
}

static void nothing_of_a_hostile_text_is_markup_of_xml(void **state)
{
    (void)state;
    assert_written(escape_xml_content,
                   hostile,
                   "a\\x01\\x1b[31m\\xff\\xc0\\xaf&quot;'&lt;b&gt;&amp;]]&gt;\n\t&#13;|`*_\\x7f");
    assert_written(escape_xml_attribute,
                   hostile,
                   "a\\x01\\x1b[31m\\xff\\xc0\\xaf&quot;'&lt;b&gt;&amp;]]&gt;&#10;&#9;&#13;|`*_"
                   "\\x7f");
}

/* Goal: a table stays a table and a line one line. */
static void nothing_of_a_hostile_text_is_markup_of_markdown(void **state)
{
    (void)state;
    assert_written(escape_markdown,
                   hostile,
                   "a\\\\x01\\\\x1b\\[31m\\\\xff\\\\xc0\\\\xaf&quot;'&lt;b&gt;&amp;\\]\\]&gt;   "
                   "\\|\\`\\*\\_\\\\x7f");
    assert_written(escape_markdown, "\xef\xbf\xbe", "\\\\xef\\\\xbf\\\\xbe");
}

/* Goal: what XML cannot hold even as a reference is not in it (XML 1.0, production 2). */
static void xml_holds_no_character_that_it_may_not(void **state)
{
    (void)state;
    assert_written(escape_xml_content, "\xef\xbf\xbe", "\\xef\\xbf\\xbe");      /* U+FFFE */
    assert_written(escape_xml_content, "\xef\xbf\xbd", "\xef\xbf\xbd");         /* U+FFFD */
    assert_written(escape_xml_content, "\xc2\x85", "\\xc2\\x85");               /* U+0085 */
    assert_written(escape_xml_content, "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"); /* U+1F600 */
}

static void utf8_is_read_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        uint32_t code;
    } cases[] = {
        {"a", 1, 'a'},
        {"\xc3\xa9", 2, 0xe9},
        {"\xe2\x82\xac", 3, 0x20ac},
        {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
        {"\xf4\x90\x80\x80", 0, 0},     /* above U+10FFFF */
        {"\xed\xa0\x80", 0, 0},         /* a surrogate */
        {"\xc1\x81", 0, 0},             /* overlong */
        {"\xe0\x80\xaf", 0, 0},         /* overlong */
        {"\xf0\x80\x80\xaf", 0, 0},     /* overlong */
        {"\xc3", 0, 0},                 /* cut short */
        {"\xe2\x82", 0, 0},             /* cut short */
        {"\x80", 0, 0},                 /* a continuation alone */
        {"\xf8\x88\x80\x80\x80", 0, 0}, /* five bytes */
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        uint32_t code = 0;
        const size_t size = escape_read_utf8(cases[i].text, &code);
        assert_int_equal(size, cases[i].size);
        if (size > 0) {
            assert_int_equal(code, cases[i].code);
        }
    }
}

static void a_copy_keeps_what_is_utf8_and_shows_the_rest(void **state)
{
    (void)state;
    char *copy = escape_utf8_copy("\xff\xc3\xa9\n\x01\xe2\x82");
    assert_non_null(copy);
    assert_string_equal(copy, "\\xff\xc3\xa9\n\x01\\xe2\\x82");
    free(copy);
}

static void a_path_is_the_path_of_a_uri(void **state)
{
    (void)state;
    char uri[32];
    escape_uri_path("a b/\xc3\xa9?#%.json", uri, sizeof uri);
    assert_string_equal(uri, "a%20b/%C3%A9%3F%23%25.json");
    escape_uri_path("0123456789", uri, 8);
    assert_string_equal(uri, "01234");
}

TEST_MAIN(escape,
          TEST(nothing_of_a_hostile_text_is_markup_of_xml),
          TEST(nothing_of_a_hostile_text_is_markup_of_markdown),
          TEST(xml_holds_no_character_that_it_may_not),
          TEST(utf8_is_read_and_nothing_else),
          TEST(a_copy_keeps_what_is_utf8_and_shows_the_rest),
          TEST(a_path_is_the_path_of_a_uri))
