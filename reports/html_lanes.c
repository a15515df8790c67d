/* Swim lanes as SVG: time runs downwards, a column per lane, a row per line of the journal that matters
 * to the story. Rows stand in order; the distance between them is not the time that passes. */
#include "reports/html.h"
#include "sinks/base/check.h"

#include <inttypes.h>
#include <string.h>

#define TIME_WIDTH   82
#define LANE_WIDTH   54
#define LANE_NARROW  45 /* so that two pictures of many lanes stand side by side */
#define LANES_WIDE   5
#define WORDS_WIDTH  252
#define WORDS_COLUMN 34 /* characters of a line of words */
#define WORDS_LINES  3
#define HEAD_HEIGHT  44
#define LINE_HEIGHT  15
#define ROW_PADDING  11
#define GAP_HEIGHT   20
#define GAP_NS       UINT64_C(1000000000) /* a silence that is told */
#define MARGIN       10
#define ROWS_MAX     80
#define NOTE_SIZE    64

struct picture {
    FILE *file;
    const struct report_timeline *timeline;
    size_t rows;
    int top[ROWS_MAX + 1]; /* of each row */
    int width;
    int words_x;
};

/* --- layout -------------------------------------------------------------------------------------- */

/* How much of the text fits into a line: up to a space if there is one. */
static size_t line_end(const char *text)
{
    const size_t size = strlen(text);
    size_t end = WORDS_COLUMN;
    if (size <= WORDS_COLUMN) {
        return size;
    }
    while (end > WORDS_COLUMN / 2 && text[end] != ' ') {
        end--;
    }
    return text[end] == ' ' ? end : WORDS_COLUMN;
}

static int words_lines(const char *text)
{
    int lines = 1;
    const char *rest = text + line_end(text);
    while (*rest != '\0' && lines < WORDS_LINES) {
        rest += *rest == ' ' ? 1 : 0;
        rest += line_end(rest);
        lines++;
    }
    return lines;
}

static uint64_t silence_before(const struct report_timeline *timeline, size_t row)
{
    const uint64_t before = row == 0 ? 0 : timeline->rows[row - 1].time_ns;
    const uint64_t now = timeline->rows[row].time_ns;
    return now > before ? now - before : 0;
}

static bool has_gap(const struct report_timeline *timeline, size_t row)
{
    return row > 0 && silence_before(timeline, row) >= GAP_NS;
}

static void lay_out(struct picture *picture)
{
    int y = HEAD_HEIGHT;
    for (size_t i = 0; i < picture->rows; i++) {
        y += has_gap(picture->timeline, i) ? GAP_HEIGHT : 0;
        y += i == picture->timeline->parting ? GAP_HEIGHT : 0;
        picture->top[i] = y;
        y += ROW_PADDING + LINE_HEIGHT * words_lines(picture->timeline->rows[i].words);
    }
    picture->top[picture->rows] = y;
}

static int lane_width(const struct report_timeline *timeline)
{
    return timeline->lane_count > LANES_WIDE ? LANE_NARROW : LANE_WIDTH;
}

static int lane_x(const struct picture *picture, uint32_t lane)
{
    const int width = lane_width(picture->timeline);
    return TIME_WIDTH + width / 2 + width * (int)lane;
}

/* The middle of the first line of a row. */
static int row_y(const struct picture *picture, size_t row)
{
    CHECK(row < picture->rows);
    return picture->top[row] + (ROW_PADDING + LINE_HEIGHT) / 2;
}

/* --- lanes --------------------------------------------------------------------------------------- */

static void draw_name_line(const struct picture *picture, int x, int y, const char *text, int size)
{
    char line[NOTE_SIZE];
    (void)snprintf(line, sizeof line, "%.*s", size, text);
    (void)fprintf(picture->file, "<text class=\"ln\" x=\"%d\" y=\"%d\">", x, y);
    html_text(picture->file, line);
    (void)fputs("</text>", picture->file);
}

/* Of neighbours with names of one word each second one stands a line higher: they are longer than a lane is
 * wide. */
static bool is_raised(const struct report_timeline *timeline, uint32_t lane)
{
    uint32_t neighbours = 0;
    while (neighbours < lane && strchr(timeline->lanes[lane - neighbours - 1], ' ') == NULL) {
        neighbours++;
    }
    return neighbours % 2 == 1;
}

/* A name of two words stands in two lines. */
static void draw_name(const struct picture *picture, uint32_t lane)
{
    const char *name = picture->timeline->lanes[lane];
    const char *space = strchr(name, ' ');
    const int size = space == NULL ? (int)strlen(name) : (int)(space - name);
    const bool is_upper = space != NULL || is_raised(picture->timeline, lane);
    draw_name_line(picture, lane_x(picture, lane), is_upper ? 17 : 30, name, size);
    if (space != NULL) {
        draw_name_line(picture, lane_x(picture, lane), 30, space + 1, (int)strlen(space + 1));
    }
}

static void draw_lanes(const struct picture *picture)
{
    const struct report_timeline *timeline = picture->timeline;
    for (uint32_t i = 0; i < timeline->lane_count; i++) {
        draw_name(picture, i);
        (void)fprintf(picture->file,
                      "<path class=\"la\" d=\"M%d %dV%d\"/>",
                      lane_x(picture, i),
                      HEAD_HEIGHT - 6,
                      picture->top[picture->rows]);
    }
    for (size_t i = 0; i < timeline->life_count; i++) {
        const struct report_life *life = &timeline->lives[i];
        const int from = row_y(picture, life->from);
        const int to = row_y(picture, life->to);
        (void)fprintf(picture->file,
                      "<path class=\"%s\" d=\"M%d %dV%d\"/>",
                      life->is_zombie ? "li zo" : "li",
                      lane_x(picture, life->lane),
                      from,
                      to > from ? to : from + 1);
    }
    for (size_t i = 0; i < timeline->life_count; i++) {
        const struct report_life *life = &timeline->lives[i];
        if (life->is_killed) {
            const int x = lane_x(picture, life->lane);
            const int y = row_y(picture, life->to);
            (void)fprintf(picture->file,
                          "<path class=\"ki\" d=\"M%d %dl10 10m0 -10l-10 10\"/>",
                          x - 5,
                          y - 5);
        }
    }
}

/* --- requests ------------------------------------------------------------------------------------ */

static void draw_line(
    const struct picture *picture, const char *class, uint32_t lane, size_t row, int to_x, int to_y)
{
    (void)fprintf(picture->file,
                  "<path class=\"%s\" d=\"M%d %dL%d %d\"/>",
                  class,
                  lane_x(picture, lane),
                  row_y(picture, row),
                  to_x,
                  to_y);
}

static void draw_cross(const struct picture *picture, int x, int y)
{
    (void)fprintf(picture->file, "<path class=\"lo\" d=\"M%d %dl8 8m0 -8l-8 8\"/>", x - 4, y - 4);
}

/* The answer's way back: as far as it came. */
static void
draw_answer(const struct picture *picture, const struct report_request *request, int there)
{
    const int from = lane_x(picture, request->from);
    const int to = lane_x(picture, request->to);
    const int heard_y = row_y(picture, request->heard);
    const bool is_cut =
        request->learnt == REPORT_LEARNT_UNKNOWN || request->learnt == REPORT_LEARNT_NOTHING;
    const int x = is_cut ? (2 * to + from) / 3 : from;
    const int y = is_cut ? there + (heard_y - there) / 3 : heard_y;
    (void)fprintf(picture->file,
                  "<path class=\"%s\" d=\"M%d %dL%d %d\"/>",
                  is_cut ? "an da" : "an",
                  to,
                  there,
                  x,
                  y);
    if (is_cut) {
        draw_cross(picture, x, y);
    }
}

/* The way to the service, as far as the request came. One of which nothing more is known is on its way
 * when the story ends. */
static void draw_request(const struct picture *picture, const struct report_request *request)
{
    const int from = lane_x(picture, request->from);
    const int to = lane_x(picture, request->to);
    const int sent_y = row_y(picture, request->sent);
    const bool is_heard = request->heard != REPORT_NO_ROW;
    if (request->effect != REPORT_NO_ROW) {
        const int there = row_y(picture, request->effect);
        draw_line(picture, "rq", request->from, request->sent, to, there);
        if (is_heard && request->heard > request->effect) {
            draw_answer(picture, request, there);
        }
    } else if (request->is_lost) {
        const int x = (from + 2 * to) / 3;
        draw_line(picture, "rq", request->from, request->sent, x, sent_y + 6);
        draw_cross(picture, x, sent_y + 6);
    } else if (is_heard) {
        draw_line(picture, "rq", request->from, request->sent, to, sent_y + 8);
        draw_answer(picture, request, sent_y + 8);
    } else {
        draw_line(picture, "rq da", request->from, request->sent, (from + to) / 2, sent_y + 6);
    }
}

/* --- rows ---------------------------------------------------------------------------------------- */

static const char *learnt_sign(const struct picture *picture, size_t row)
{
    for (size_t i = 0; i < picture->timeline->request_count; i++) {
        const struct report_request *request = &picture->timeline->requests[i];
        if (request->heard == row) {
            return request->learnt == REPORT_LEARNT_OK        ? "\xe2\x9c\x93"
                   : request->learnt == REPORT_LEARNT_ERROR   ? "!"
                   : request->learnt == REPORT_LEARNT_UNKNOWN ? "?"
                                                              : "\xe2\x80\x93";
        }
    }
    return "";
}

static void draw_sign(const struct picture *picture, size_t row)
{
    const struct report_row *what = &picture->timeline->rows[row];
    const int x = lane_x(picture, what->lane);
    const int y = row_y(picture, row);
    FILE *file = picture->file;
    switch (what->kind) {
    case REPORT_ROW_READ:
        draw_line(picture, "hd", 0, row, x - 5, y);
        (void)fprintf(file, "<circle class=\"dt\" cx=\"%d\" cy=\"%d\" r=\"4\"/>", x, y);
        return;
    case REPORT_ROW_EVENT:
    case REPORT_ROW_SENT:
        (void)fprintf(file, "<circle class=\"dt\" cx=\"%d\" cy=\"%d\" r=\"4\"/>", x, y);
        return;
    case REPORT_ROW_EFFECT:
    case REPORT_ROW_REFUSED:
        (void)fprintf(file,
                      "<path class=\"%s\" d=\"M%d %dl6 6l-6 6l-6 -6z\"/>",
                      what->kind == REPORT_ROW_EFFECT ? "ef" : "ef no",
                      x,
                      y - 6);
        return;
    case REPORT_ROW_LEARNT:
        (void)fprintf(file,
                      "<circle class=\"kn\" cx=\"%d\" cy=\"%d\" r=\"7\"/>"
                      "<text class=\"ks\" x=\"%d\" y=\"%d\">%s</text>",
                      x,
                      y,
                      x,
                      y + 4,
                      learnt_sign(picture, row));
        return;
    case REPORT_ROW_CHECKPOINT:
        (void)fprintf(file,
                      "<path class=\"cp\" d=\"M%d %dH%d\"/>"
                      "<rect class=\"cs\" x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" rx=\"2\"/>",
                      lane_x(picture, 0),
                      y,
                      x,
                      x - 5,
                      y - 5);
        return;
    case REPORT_ROW_FAULT:
        (void)fprintf(
            file, "<path class=\"fa\" d=\"M%d %dl-6 9h5l-2 7l7 -10h-5l3 -6z\"/>", x, y - 8);
        return;
    case REPORT_ROW_DEATH:
        (void)fprintf(file, "<path class=\"ki\" d=\"M%d %dl10 10m0 -10l-10 10\"/>", x - 5, y - 5);
        return;
    case REPORT_ROW_START:
        (void)fprintf(file, "<path class=\"st\" d=\"M%d %dl11 6l-11 6z\"/>", x - 4, y - 6);
        return;
    case REPORT_ROW_LEFT_OUT:
    case REPORT_ROW_END:
        return;
    }
    UNREACHABLE();
}

static void draw_words(const struct picture *picture, size_t row)
{
    const struct report_row *what = &picture->timeline->rows[row];
    const char *rest = what->words;
    int y = row_y(picture, row) + 4;
    for (int line = 0; line < WORDS_LINES && *rest != '\0'; line++) {
        const size_t end = line_end(rest);
        char text[WORDS_COLUMN + 4];
        const bool is_cut = line == WORDS_LINES - 1 && rest[end] != '\0';
        (void)snprintf(text, sizeof text, "%.*s%s", (int)end, rest, is_cut ? ".." : "");
        (void)fprintf(picture->file,
                      "<text class=\"%s\" x=\"%d\" y=\"%d\">",
                      what->is_subject || what->kind == REPORT_ROW_END ? "wd su" : "wd",
                      picture->words_x,
                      y);
        html_text(picture->file, text);
        (void)fputs("</text>", picture->file);
        rest += end;
        rest += *rest == ' ' ? 1 : 0;
        y += LINE_HEIGHT;
    }
}

/* A point of virtual time: all of it to the millisecond below an hour. */
static void draw_time(const struct picture *picture, size_t row)
{
    char text[REPORT_DURATION_SIZE];
    const uint64_t time = picture->timeline->rows[row].time_ns;
    if (row > 0 && silence_before(picture->timeline, row) < UINT64_C(1000000)) {
        return;
    }
    (void)snprintf(text,
                   sizeof text,
                   "%" PRIu64 ".%03" PRIu64,
                   time / UINT64_C(1000000000),
                   time / UINT64_C(1000000) % 1000);
    (void)fprintf(picture->file,
                  "<text class=\"tm\" x=\"%d\" y=\"%d\">%s</text>",
                  TIME_WIDTH - 22,
                  row_y(picture, row) + 4,
                  text);
}

static void draw_pin(const struct picture *picture, size_t row)
{
    const struct report_row *what = &picture->timeline->rows[row];
    const int y = row_y(picture, row);
    if (what->choice == 0) {
        return;
    }
    (void)fprintf(picture->file,
                  "<path class=\"pl\" d=\"M%d %dH%d\"/>"
                  "<circle class=\"pn\" cx=\"%d\" cy=\"%d\" r=\"9\"/>"
                  "<text class=\"pt\" x=\"%d\" y=\"%d\">%" PRIu32 "%s</text>",
                  TIME_WIDTH - 2,
                  y,
                  picture->words_x - 6,
                  TIME_WIDTH - 8,
                  y,
                  TIME_WIDTH - 8,
                  y + 4,
                  what->choice,
                  what->choices > 1 ? "+" : "");
}

/* A band behind a row that matters. */
static void draw_band(const struct picture *picture, size_t row, const char *class)
{
    (void)fprintf(
        picture->file,
        "<rect class=\"%s\" x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>",
        class,
        picture->top[row],
        picture->width,
        picture->top[row + 1] - picture->top[row] -
            (row + 1 < picture->rows && has_gap(picture->timeline, row + 1) ? GAP_HEIGHT : 0) -
            (row + 1 == picture->timeline->parting ? GAP_HEIGHT : 0));
}

/* A line between rows, at a height above the next one. */
static void draw_note(const struct picture *picture, int y, const char *class, const char *text)
{
    (void)fprintf(
        picture->file,
        "<path class=\"%s\" d=\"M0 %dH%d\"/><text class=\"gt\" x=\"%d\" y=\"%d\">%s</text>",
        class,
        y,
        picture->words_x - 8,
        picture->words_x,
        y + 4,
        text);
}

static void draw_gaps(const struct picture *picture, size_t row)
{
    char duration[REPORT_DURATION_SIZE];
    char note[NOTE_SIZE];
    int y = picture->top[row] - GAP_HEIGHT / 2;
    if (has_gap(picture->timeline, row)) {
        report_duration(silence_before(picture->timeline, row), duration);
        (void)snprintf(note, sizeof note, "%s later", duration);
        draw_note(picture, y, "ga", note);
        y -= GAP_HEIGHT;
    }
    if (row == picture->timeline->parting) {
        draw_note(picture, y, "pa", "here the two runs part");
    }
}

static void draw(const struct picture *picture, const char *mark)
{
    const struct report_timeline *timeline = picture->timeline;
    for (size_t i = 0; i < picture->rows; i++) {
        if (timeline->rows[i].is_decisive) {
            draw_band(picture, i, "de");
        } else if (timeline->rows[i].kind == REPORT_ROW_END) {
            draw_band(picture, i, strcmp(mark, "fails") == 0 ? "en ba" : "en");
        }
    }
    draw_lanes(picture);
    for (size_t i = 0; i < picture->rows; i++) {
        draw_gaps(picture, i);
        draw_time(picture, i);
        draw_pin(picture, i);
    }
    for (size_t i = 0; i < timeline->request_count; i++) {
        draw_request(picture, &timeline->requests[i]);
    }
    for (size_t i = 0; i < picture->rows; i++) {
        draw_sign(picture, i);
        draw_words(picture, i);
    }
}

/* --- the same as a list -------------------------------------------------------------------------- */

static void list_rows(FILE *file, const struct report_timeline *timeline)
{
    (void)fputs("<details class=\"as-list\"><summary>The same as a list</summary><ol>", file);
    for (size_t i = 0; i < timeline->row_count; i++) {
        const struct report_row *row = &timeline->rows[i];
        const uint64_t time = row->time_ns;
        (void)fprintf(file,
                      "<li><span class=\"num\">%" PRIu64 ".%03" PRIu64 " s</span> ",
                      time / UINT64_C(1000000000),
                      time / UINT64_C(1000000) % 1000);
        if (row->kind != REPORT_ROW_END && row->kind != REPORT_ROW_LEFT_OUT) {
            html_text(file, timeline->lanes[row->lane]);
            (void)fputs(": ", file);
        }
        html_text(file, row->words);
        for (uint32_t k = 0; k < row->choices; k++) {
            (void)fprintf(file, " <strong>(choice %" PRIu32 ")</strong>", row->choice + k);
        }
        (void)fputs("</li>", file);
    }
    (void)fputs("</ol></details>", file);
}

void html_timeline(FILE *file,
                   const struct report_timeline *timeline,
                   const char *id,
                   const char *mark)
{
    struct picture picture = {.file = file, .timeline = timeline, .rows = timeline->row_count};
    CHECK(picture.rows <= ROWS_MAX);
    picture.words_x = TIME_WIDTH + lane_width(timeline) * (int)timeline->lane_count + MARGIN;
    picture.width = picture.words_x + WORDS_WIDTH;
    lay_out(&picture);
    const int height = picture.top[picture.rows] + MARGIN;
    (void)fprintf(file, "<figure class=\"lanes %s\"><figcaption>", mark);
    html_text(file, timeline->title);
    if (timeline->requests_left_out > 0) {
        (void)fprintf(file,
                      " <span class=\"aside\">%zu request%s not about it %s left out</span>",
                      timeline->requests_left_out,
                      timeline->requests_left_out == 1 ? "" : "s",
                      timeline->requests_left_out == 1 ? "is" : "are");
    }
    (void)fputs("</figcaption><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"",
                file);
    html_text(file, timeline->title);
    (void)fprintf(file,
                  "\"><svg role=\"img\" aria-labelledby=\"%s\" width=\"%d\" height=\"%d\" "
                  "viewBox=\"0 0 %d %d\"><title id=\"%s\">",
                  id,
                  picture.width,
                  height,
                  picture.width,
                  height,
                  id);
    html_text(file, timeline->title);
    (void)fputs("; the same follows as a list</title>", file);
    draw(&picture, mark);
    (void)fputs("</svg></div>", file);
    list_rows(file, timeline);
    (void)fputs("</figure>", file);
}
