/* How the page of the matrix looks, and what its script does. Two themes by the reader's setting; every
 * text has a contrast of 4.5 or more on its ground. */
#include "reports/html.h"
#include "sinks/base/check.h"

static const char *const style[] = {
    ":root{color-scheme:light dark;--paper:#fbfaf7;--card:#fff;--ink:#21252c;--soft:#5a6170;",
    "--line:#e2dfd7;--strong:#b9b4a8;--accent:#28598c;--wash:#f3f1ec;",
    "--holds:#1c6b50;--holds-bg:#e6f2ec;--fails:#84560f;--fails-bg:#faf0dc;",
    "--broken:#a1242a;--broken-bg:#fbe8e7;--open:#535a68;--open-bg:#ecedf0;--pin:#5b3f8f}",
    "@media(prefers-color-scheme:dark){:root{--paper:#14161a;--card:#1b1e23;--ink:#e5e6e9;",
    "--soft:#a6adba;--line:#2f333b;--strong:#565d6a;--accent:#92bbe8;--wash:#21252b;",
    "--holds:#84d3b2;--holds-bg:#17302a;--fails:#e6bb70;--fails-bg:#33291a;",
    "--broken:#ff9d97;--broken-bg:#3b1f20;--open:#b3b9c4;--open-bg:#2a2e35;--pin:#c3aef0}}",
    "*,*::before,*::after{box-sizing:border-box}[hidden]{display:none!important}",
    "html{font-size:100%;-webkit-text-size-adjust:100%;scroll-behavior:smooth}",
    "@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}",
    "body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.6 system-ui,-apple-system,",
    "\"Segoe UI\",Roboto,\"Helvetica Neue\",\"DejaVu Sans\",sans-serif}",
    "header.top,main,footer{max-width:84rem;margin:0 auto;padding:0 1.25rem}",
    "h1,h2,h3,h4,h5{line-height:1.25;margin:0;font-weight:650;text-wrap:balance}",
    "p,ul,ol,dl,pre,figure{margin:0}a{color:var(--accent)}",
    "code,pre,.id,.num{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,",
    "\"DejaVu Sans Mono\",monospace;font-size:.875em;overflow-wrap:anywhere}",
    ":focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:4px}",
    ".unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);",
    "white-space:nowrap}",
    ".skip{position:absolute;left:-99rem;top:.5rem;background:var(--card);padding:.5rem 1rem}",
    ".skip:focus{left:.5rem}.aside{color:var(--soft);font-size:.875rem}",
    ".scroll{overflow-x:auto;max-width:100%;position:relative}",
    /* head */
    "header.top{padding-top:clamp(2rem,6vw,4.5rem);padding-bottom:1rem}",
    ".brand{color:var(--soft);font-weight:600;letter-spacing:.02em}",
    "h1{font-size:clamp(2rem,5vw,3rem);letter-spacing:-.02em;margin:.25rem 0 .75rem}",
    ".lead{font-size:1.125rem;color:var(--soft);max-width:40rem}",
    ".score{font-size:1.375rem;margin-top:2.25rem;padding-left:1rem;",
    "border-left:4px solid var(--holds)}",
    ".score strong{font-size:1.5em;font-weight:680;font-variant-numeric:tabular-nums}",
    ".score.broken{border-color:var(--broken)}.score.broken strong{color:var(--broken)}",
    ".figures{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 2rem;",
    "margin-top:1rem;color:var(--soft)}",
    ".figures strong{color:var(--ink);font-variant-numeric:tabular-nums}",
    ".facts{margin-top:1.75rem;display:grid;gap:.4rem 1.25rem}",
    "header .facts{grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));font-size:.9375rem;",
    "border-top:1px solid var(--line);padding-top:1rem}",
    "dt{color:var(--soft);font-size:.875rem}dd{margin:0;overflow-wrap:anywhere}",
    /* filter */
    ".filter{display:flex;flex-wrap:wrap;gap:.75rem 1.25rem;align-items:end;padding:.875rem 0;",
    "margin-top:1.5rem;border-block:1px solid var(--line)}",
    ".filter label{font-size:.875rem;color:var(--soft);display:grid;gap:.2rem;min-width:9rem}",
    "select,button{font:inherit;color:var(--ink);background:var(--card);border:1px solid ",
    "var(--strong);border-radius:6px;padding:.35rem .6rem;min-height:2.5rem;max-width:100%}",
    "button{cursor:pointer;padding-inline:.9rem}button:hover{background:var(--wash)}",
    ".filter output{color:var(--soft);font-size:.875rem;padding-bottom:.5rem}",
    /* services */
    ".service{margin-top:3.5rem}h2{font-size:1.75rem;letter-spacing:-.01em;margin-bottom:1rem}",
    ".sink{margin-top:2.75rem}h3{font-size:1.25rem}.sentence{color:var(--soft);max-width:44rem}",
    ".glance{border-collapse:collapse;width:100%;font-size:.9375rem}",
    ".glance th,.glance td{text-align:left;vertical-align:top;padding:.5rem .9rem .4rem 0;",
    "border-bottom:1px solid var(--line);font-weight:400}",
    ".glance thead th{color:var(--soft);font-size:.875rem;border-bottom-color:var(--strong);",
    "vertical-align:bottom}.glance tbody th{min-width:8.5rem}.glance td{min-width:8rem}",
    ".chip{display:inline-flex;align-items:center;gap:.35rem;text-decoration:none;",
    "font-size:.8125rem;",
    "padding:.1rem .5rem;margin:0 .1rem .3rem 0;border-radius:99px;white-space:nowrap;",
    "font-variant-numeric:tabular-nums}",
    ".chip:hover{text-decoration:underline}.chip.dim{opacity:.3}",
    ".holds.chip,.verdict.holds{color:var(--holds);background:var(--holds-bg)}",
    ".fails.chip,.verdict.fails{color:var(--fails);background:var(--fails-bg)}",
    ".broken.chip,.verdict.broken{color:var(--broken);background:var(--broken-bg);font-weight:650}",
    ".open.chip,.verdict.open{color:var(--open);background:var(--open-bg);font-weight:650}",
    ".sign::before{content:\"\\2713\";font-weight:700}.fails .sign::before{content:\"\\2715\"}",
    ".broken .sign::before{content:\"!\"}.open .sign::before{content:\"?\"}",
    /* claims */
    ".claim{background:var(--card);border:1px solid var(--line);border-radius:12px;",
    "padding:1.1rem 1.25rem;margin-top:1rem;display:grid;gap:.3rem 1.5rem;",
    "grid-template-columns:minmax(0,1fr) auto;scroll-margin-top:1rem}",
    ".claim>*{grid-column:1/-1;min-width:0}",
    ".claim>h4{grid-column:1;font-size:1.0625rem}",
    ".claim>.verdict{grid-column:2;grid-row:1;align-self:start}",
    ".claim.broken,.claim.open{border-color:var(--broken);border-width:2px}",
    ".claim:target{border-color:var(--accent)}",
    "h4 .id{display:block;color:var(--soft);font-weight:500;",
    "font-size:.875rem;margin-bottom:.15rem}",
    ".verdict{display:inline-flex;gap:.4rem;align-items:center;border-radius:99px;",
    "padding:.15rem .75rem;font-size:.9375rem;white-space:nowrap}",
    ".condition{max-width:60rem}.label{color:var(--soft)}",
    ".why{color:var(--broken);overflow-wrap:anywhere}",
    ".established{color:var(--soft);font-size:.9375rem;font-variant-numeric:tabular-nums}",
    ".profile{white-space:nowrap}.profile::before{content:\"\\00b7\\00a0\"}",
    "summary{cursor:pointer;color:var(--accent);padding:.35rem 0;width:fit-content}",
    "summary:hover{text-decoration:underline}",
    ".evidence>.body{border-top:1px solid var(--line);margin-top:.5rem;padding-top:1.25rem;",
    "display:grid;gap:1.75rem;grid-template-columns:minmax(0,1fr)}",
    "h5{font-size:.9375rem;margin-bottom:.5rem}",
    ".columns{display:grid;gap:1.5rem 3rem;grid-template-columns:repeat(auto-fit,",
    "minmax(min(100%,22rem),1fr))}",
    ".body ul{padding-left:1.1rem}.body li{margin-bottom:.35rem;overflow-wrap:anywhere}",
    ".plain{columns:18rem}.choices{padding-left:1.5rem}.choices li::marker{color:var(--pin);",
    "font-weight:700}.story p,.story dd{max-width:56rem}.story .facts{gap:.6rem 1.5rem;",
    "grid-template-columns:8.5rem minmax(0,1fr);margin-top:1rem}.story dt{padding-top:.15rem}",
    ".story>p{margin-bottom:.35rem}",
    ".counts{border-collapse:collapse;font-size:.875rem;width:100%}",
    ".counts caption{text-align:left;font-weight:650;padding-bottom:.4rem}",
    ".counts th,.counts td{text-align:left;font-weight:400;padding:.25rem .75rem .25rem 0;",
    "border-bottom:1px solid var(--line)}",
    ".counts td,.counts thead th+th{text-align:right;font-variant-numeric:tabular-nums}",
    ".counts thead th{color:var(--soft)}",
    "pre{background:var(--wash);padding:.9rem 1rem;border-radius:8px;overflow-x:auto}",
    /* lanes */
    ".pair{display:grid;gap:1.5rem;grid-template-columns:minmax(0,1fr)}",
    "@media(min-width:84rem){.pair{grid-template-columns:repeat(2,minmax(0,1fr))}}",
    ".lanes{min-width:0}figcaption{font-weight:600;margin-bottom:.5rem;padding-left:.6rem;",
    "border-left:4px solid var(--fails)}.passes figcaption{border-color:var(--holds)}",
    "figcaption .aside{display:block;font-weight:400}",
    ".lanes svg{display:block;max-width:none}",
    ".as-list{margin-top:.5rem}.as-list ol{padding-left:2rem;font-size:.9375rem}",
    "svg text{font:12px system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif;",
    "fill:var(--ink)}",
    "svg .ln{text-anchor:middle;font-size:10.5px;fill:var(--soft)}",
    "svg .tm{text-anchor:end;font-size:10.5px;fill:var(--soft);font-variant-numeric:tabular-nums}",
    "svg .wd{fill:var(--soft)}svg .su{fill:var(--ink);font-weight:500}",
    "svg .gt{font-size:11px;font-style:italic;fill:var(--soft)}",
    ".la{stroke:var(--line);fill:none}.li{stroke:var(--strong);stroke-width:5;fill:none;",
    "stroke-linecap:round}.zo{stroke-dasharray:1 8}",
    ".dt{fill:var(--ink)}.hd{stroke:var(--strong);fill:none}",
    ".rq{stroke:var(--accent);stroke-width:2;fill:none}.an{stroke:var(--accent);fill:none}",
    ".da{stroke-dasharray:4 3}.lo,.ki{stroke:var(--broken);stroke-width:2.5;fill:none}",
    ".ef{fill:var(--accent);stroke:var(--accent);stroke-width:1.5}.no{fill:var(--card)}",
    ".kn{fill:var(--card);stroke:var(--accent);stroke-width:1.5}",
    "svg .ks{text-anchor:middle;font-size:10px;font-weight:700;fill:var(--accent)}",
    ".cp{stroke:var(--strong);stroke-dasharray:2 3;fill:none}.cs{fill:var(--soft)}",
    ".fa{fill:var(--broken)}.st{fill:var(--holds)}",
    ".pn{fill:var(--pin)}svg .pt{text-anchor:middle;font-size:11px;font-weight:700;",
    "fill:var(--card)}.pl{stroke:var(--pin);stroke-dasharray:1 3;fill:none}",
    ".de{fill:var(--fails-bg)}.en{fill:var(--holds-bg)}.ba{fill:var(--broken-bg)}",
    ".ga{stroke:var(--line);stroke-dasharray:2 4}.pa{stroke:var(--pin);stroke-dasharray:6 4}",
    /* foot */
    "footer{padding-bottom:5rem;margin-top:4rem;border-top:1px solid var(--line)}",
    "footer section{margin-top:2.5rem}footer h2{font-size:1.375rem}",
    "footer ul{padding-left:1.1rem;max-width:56rem}footer li{margin-bottom:.5rem}",
    ".words{display:grid;gap:.9rem 2.5rem;grid-template-columns:repeat(auto-fit,",
    "minmax(min(100%,20rem),1fr))}.words dt,.gaps dt{color:var(--ink);font-weight:600;",
    "font-size:1rem}.gaps>div{margin-top:.75rem;max-width:60rem}",
    ".legend{list-style:none;padding:0;display:grid;gap:.35rem 1.5rem;max-width:none;",
    "margin-top:1.75rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,16rem),1fr))}",
    ".legend li{display:flex;gap:.6rem;align-items:center;margin:0;font-size:.9375rem}",
    ".legend svg{flex:none}",
    "@media(max-width:40rem){.claim{grid-template-columns:minmax(0,1fr);padding:1rem}",
    ".claim>h4,.claim>.verdict{grid-column:1;grid-row:auto}.claim>.verdict{justify-self:start}",
    ".filter label{flex:1 1 100%}.columns{gap:1.25rem}",
    ".story .facts{grid-template-columns:minmax(0,1fr);gap:.1rem}.story dd{margin-bottom:.6rem}}",
    "@media print{:root{--paper:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#ccc;--strong:#999;",
    "--wash:#f4f4f4;--accent:#28598c;--holds:#1c6b50;--holds-bg:#e6f2ec;--fails:#84560f;",
    "--fails-bg:#faf0dc;--broken:#a1242a;--broken-bg:#fbe8e7;--pin:#5b3f8f}",
    "body{font-size:10.5pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}",
    "header.top,main,footer{max-width:none;padding:0}.filter,.skip,.as-list{display:none}",
    ".claim{break-inside:avoid-page}.claim:has(details[open]){break-inside:auto}",
    "h2,h3,h4,h5,.sentence{break-after:avoid}.pair{grid-template-columns:minmax(0,1fr)}",
    ".scroll{overflow:visible}.lanes{break-inside:avoid-page}",
    ".lanes svg{max-width:100%;height:auto}",
    "details:not([open])>summary{display:none}.glance{font-size:8.5pt}.chip{padding:0 .35rem}",
    ".glance td,.glance tbody th{min-width:0}}",
};

/* Plain script of long ago, so that no reader is left out. */
static const char *const script[] = {
    "(function(){\"use strict\";",
    "var form=document.getElementById(\"filter\"),shown=document.getElementById(\"shown\"),",
    "unfold=document.getElementById(\"unfold\"),",
    "cells=[].slice.call(document.querySelectorAll(\"article.claim\")),",
    "groups=[].slice.call(document.querySelectorAll(\"section.sink,section.service\")),",
    "chips=[].slice.call(document.querySelectorAll(\"a.chip\"));",
    "function value(name){return form.elements[name].value;}",
    "function fits(cell){var verdict=value(\"verdict\");",
    "return(!value(\"service\")||cell.dataset.service===value(\"service\"))&&",
    "(!value(\"sink\")||cell.dataset.sink===value(\"sink\"))&&",
    "(!verdict||verdict.split(\" \").indexOf(cell.dataset.verdict)>=0);}",
    "function filter(){var count=0;cells.forEach(function(cell){cell.hidden=!fits(cell);",
    "count+=cell.hidden?0:1;});",
    "groups.forEach(function(group){",
    "group.hidden=!group.querySelector(\"article.claim:not([hidden])\");});",
    "chips.forEach(function(chip){var cell=document.getElementById(chip.hash.slice(1));",
    "chip.classList.toggle(\"dim\",!cell||cell.hidden);});",
    "shown.textContent=count+\" of \"+cells.length+\" claims shown\";}",
    "function all(open){cells.forEach(function(cell){if(!cell.hidden||!open){",
    "cell.querySelector(\"details.evidence\").open=open;}});",
    "unfold.textContent=open?\"Close all evidence\":\"Open all evidence\";}",
    "function visit(){var cell=document.getElementById(location.hash.slice(1));",
    "if(cell&&cell.classList.contains(\"claim\")){",
    "if(cell.hidden){form.reset();filter();}",
    "cell.querySelector(\"details.evidence\").open=true;cell.scrollIntoView();",
    "cell.focus({preventScroll:true});}}",
    "form.hidden=false;form.addEventListener(\"change\",filter);",
    "form.addEventListener(\"submit\",function(event){event.preventDefault();});",
    "unfold.addEventListener(\"click\",function(){all(unfold.textContent.charAt(0)===\"O\");});",
    /* On a phone the words of the lanes are beside the screen: the list says them. */
    "if(window.matchMedia(\"(max-width:40rem)\").matches){",
    "[].forEach.call(document.querySelectorAll(\"details.as-list\"),function(list){",
    "list.open=true;});}",
    "window.addEventListener(\"hashchange\",visit);filter();visit();})();",
};

struct sign {
    const char *picture; /* in a box of 28 by 20 */
    const char *words;
};

static const struct sign signs[] = {
    {"<path class=\"li\" d=\"M14 2V18\"/>", "a subtask is alive"},
    {"<path class=\"li zo\" d=\"M14 2V18\"/>", "a replaced attempt still runs"},
    {"<circle class=\"dt\" cx=\"14\" cy=\"10\" r=\"4\"/>", "something happens here"},
    {"<path class=\"rq\" d=\"M2 8L26 12\"/>", "a request on its way to the service"},
    {"<path class=\"ef\" d=\"M14 4l6 6l-6 6l-6 -6z\"/>", "what the service really did"},
    {"<path class=\"ef no\" d=\"M14 4l6 6l-6 6l-6 -6z\"/>", "the service did nothing"},
    {"<path class=\"an\" d=\"M26 8L2 12\"/>", "the answer on its way back"},
    {"<path class=\"rq\" d=\"M2 10H17\"/><path class=\"lo\" d=\"M14 6l8 8m0 -8l-8 8\"/>",
     "lost on the way"},
    {"<circle class=\"kn\" cx=\"14\" cy=\"10\" r=\"7\"/><text class=\"ks\" x=\"14\" y=\"14\">"
     "&#10003;</text>",
     "the caller knows that it succeeded; ! that it failed; ? it does not know"},
    {"<path class=\"cp\" d=\"M2 10H20\"/><rect class=\"cs\" x=\"15\" y=\"5\" width=\"10\" "
     "height=\"10\" rx=\"2\"/>",
     "a checkpoint"},
    {"<path class=\"fa\" d=\"M15 2l-6 9h5l-2 7l7 -10h-5l3 -6z\"/>", "a fault is injected"},
    {"<path class=\"ki\" d=\"M9 5l10 10m0 -10l-10 10\"/>", "a part of the job dies or stops"},
    {"<path class=\"st\" d=\"M10 4l11 6l-11 6z\"/>", "an attempt starts, with what was kept"},
    {"<circle class=\"pn\" cx=\"14\" cy=\"10\" r=\"9\"/><text class=\"pt\" x=\"14\" "
     "y=\"14\">1</text>",
     "a choice of the tape, by its number"},
    {"<rect class=\"de\" x=\"2\" y=\"3\" width=\"24\" height=\"14\" rx=\"4\"/>",
     "the event that decides"},
};

static void write_lines(FILE *file, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)fputs(lines[i], file);
        (void)fputc('\n', file);
    }
}

void html_style(FILE *file)
{
    (void)fputs("<style>\n", file);
    write_lines(file, style, ARRAY_COUNT(style));
    (void)fputs("</style>\n", file);
}

void html_script(FILE *file)
{
    (void)fputs("<script>\n", file);
    write_lines(file, script, ARRAY_COUNT(script));
    (void)fputs("</script>\n", file);
}

void html_legend(FILE *file)
{
    (void)fputs("<ul class=\"legend\" aria-label=\"Signs in the swim lanes\">\n", file);
    for (size_t i = 0; i < ARRAY_COUNT(signs); i++) {
        (void)fprintf(file,
                      "<li><svg width=\"28\" height=\"20\" viewBox=\"0 0 28 20\" "
                      "aria-hidden=\"true\">%s</svg>%s</li>\n",
                      signs[i].picture,
                      signs[i].words);
    }
    (void)fputs(
        "</ul>\n<p class=\"aside\">In the lanes time runs downwards, row by row in the order of "
        "the run; the distance between rows is not the time that passes. Times are virtual, in "
        "seconds.</p>\n",
        file);
}
