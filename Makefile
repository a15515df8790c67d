# sinkproof's build: one Makefile, no recursion into folders. `make help` lists the targets.
#
# Each variant (a compiler with a set of flags) keeps its own tree build/<variant>/, so variants
# never overwrite each other and one invocation may build several of them in parallel. Sources are
# found, not listed: a .c file under one of the FOLDERS is product code, but for
#   x_test.c              a unit test of its own; ` * link:` lines in it name the objects it links
#   x_testkit.c           help for tests; linked by the tests that name it
#   sinks/base/test.c     the test wrapper, linked into every unit test
#   scenarios/fuzz/fuzz_x.c   a fuzz target; replay.c runs one without libFuzzer, the rest is theirs

MAKEFLAGS += -rR --warn-undefined-variables
.DEFAULT_GOAL := release
.DELETE_ON_ERROR:
.SECONDEXPANSION:
.SECONDARY:
.PHONY: FORCE

# --- What a user may set -----------------------------------------------------------------------

GCC ?= gcc
CLANG ?= clang
CLANG_FORMAT ?= clang-format
CLANG_TIDY ?= clang-tidy
CFLAGS ?=
LDFLAGS ?=
# Where jansson, sodium and the like live outside /usr/include: -isystem DIR
THIRD_PARTY ?=
PREFIX ?= /usr/local
DESTDIR ?=
# What install puts into PREFIX/bin.
BINARY ?= build/sinkproof
# WERROR=0 lets a build go on over warnings; V=1 prints whole commands.
WERROR ?= 1
V ?= 0
# Unit test to run alone (unit-one), seeds per scenario (determinism; foreign), seconds per fuzz
# target beyond its corpus (fuzz, fuzz-smoke), seconds after which a unit test counts as hung, and
# the same under valgrind.
T ?=
N ?= 2000
N_FOREIGN ?= 200
TIME ?= 0
M ?= build/mutants.json
TEST_SECONDS ?= 300
MEMCHECK_SECONDS ?= 3000

# Sanitizers stop at the first finding; the defaults above that are too mild are raised here.
export ASAN_OPTIONS ?= detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS ?= print_stacktrace=1

# --- Sources -----------------------------------------------------------------------------------

FOLDERS := sinks sim models reports scenarios
SOURCES := $(sort $(shell find $(FOLDERS) -name build -prune -o -name '*.[ch]' -print 2>/dev/null))
HEADERS := $(filter %.h,$(SOURCES))

# From here on a module is its path without .c: sinks/base/bytes.
MODULES := $(patsubst %.c,%,$(filter %.c,$(SOURCES)))
TESTS := $(filter %_test,$(MODULES))
FUZZERS := $(filter scenarios/fuzz/fuzz_%,$(MODULES))
PRODUCT := $(filter-out $(TESTS) scenarios/fuzz/% %_testkit sinks/base/test,$(MODULES))
MAIN := scenarios/cli/main

# --- Flags -------------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wstrict-prototypes \
    -Wmissing-prototypes -Wold-style-definition -Wcast-qual -Wcast-align -Wundef -Wvla \
    -Wswitch-enum -Wformat=2 -Wwrite-strings -Wpointer-arith -Wdouble-promotion -Wfloat-equal \
    -Wimplicit-fallthrough -Wnull-dereference -Wdate-time -Wframe-larger-than=16384
WARNINGS_GCC := -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init \
    -Wstack-usage=16384
WARNINGS_CLANG := -Wcomma -Wunreachable-code -Wconditional-uninitialized -Wassign-enum \
    -Wextra-semi-stmt -Wmissing-variable-declarations

# Red zones make frames larger than the code asked for.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
    -Wframe-larger-than=65536

# Strict C11 is itself a fence: without POSIX macros, clocks and files are undeclared. Only
# scenarios/ may have them. Tests that expect a failing CHECK leave by longjmp, and gcc's warning
# about clobbered variables fires inside cmocka's macros for it.
LANGUAGE := -std=c11 -pedantic -fno-common -ffp-contract=off -I. $(THIRD_PARTY)
file_flags = $(if $(filter scenarios/%,$2),-D_POSIX_C_SOURCE=200809L) \
    $(if $(filter tape tape-asan,$1),$(if $(filter-out sinks/base/%,$(filter sinks/%,$2)),\
    -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp)) \
    $(if $(filter GCC,$(call family,$1)),$(if $(filter %_test.c,$2),-Wno-clobbered))

# The variants: compiler, CHECK_SLOW_ON, flags. The foreign processors bring their libc with their
# compilers; jansson and sodium lie where `tools/setup cross` unpacks them, what is only a header is
# the host's, which must come after their own. The linker warns of dlopen in a static program: its
# --no-warnings would hide undefined symbols, too.
foreign_options = -static -Lbuild/cross/$1/usr/lib/$2 -idirafter build/cross/$1/usr/include \
    -idirafter build/cross/$1/usr/include/$2 -idirafter /usr/include

VARIANT_release := GCC 0 -O2 -g
VARIANT_debug := GCC 1 -O0 -g
VARIANT_clang := CLANG 0 -O2 -g
VARIANT_asan := CLANG 1 -O1 -g $(SANITIZE)
VARIANT_coverage := GCC 1 -O0 -g --coverage
VARIANT_fuzz := CLANG 1 -O1 -g $(SANITIZE) -fsanitize=fuzzer-no-link
# The tape fuzzer: what it is to reach is the sink's code, so only that is instrumented. What the rest
# does is told by marks (scenarios/fuzz/fuzz_tape.c). No byte of a tape is ever compared by a sink, so
# that its comparisons tell nothing.
VARIANT_tape := CLANG 0 -O2 -g
VARIANT_tape-asan := CLANG 1 -O1 -g $(SANITIZE)
VARIANT_pattern := GCC 0 -O2 -g -ftrivial-auto-var-init=pattern
VARIANT_aarch64 := GCC 0 -O2 -g $(call foreign_options,aarch64,aarch64-linux-gnu)
VARIANT_i686 := GCC 0 -O2 -g -Wno-psabi $(call foreign_options,i686,i386-linux-gnu)
VARIANT_s390x := GCC 0 -O2 -g $(call foreign_options,s390x,s390x-linux-gnu)
TRIPLET_aarch64 := aarch64-linux-gnu-
TRIPLET_i686 := i686-linux-gnu-
TRIPLET_s390x := s390x-linux-gnu-

VARIANTS := release debug clang asan coverage fuzz tape tape-asan pattern
CROSS_VARIANTS := aarch64 i686 s390x
DETERMINISM_VARIANTS := release debug clang asan pattern
# Beside release: 32 bits, and big-endian under qemu.
FOREIGN_VARIANTS := i686 s390x

family = $(firstword $(VARIANT_$1))
options = $(wordlist 3,99,$(VARIANT_$1))
compiler = $(if $(filter $(CROSS_VARIANTS),$1),$(TRIPLET_$1))$($(call family,$1))
cflags = $(LANGUAGE) $(WARNINGS) $(WARNINGS_$(call family,$1)) \
    $(if $(filter 0,$(WERROR)),,-Werror) -DCHECK_SLOW_ON=$(word 2,$(VARIANT_$1)) \
    $(call options,$1) $(CFLAGS)
ldflags = $(call options,$1) -Wl,--as-needed $(LDFLAGS)
LIBRARIES := -ljansson -lsodium -ldl
TEST_LIBRARIES := -lcmocka -lavro $(LIBRARIES)

# --- Helpers -----------------------------------------------------------------------------------

# "debug/sinks/base/bytes" is the variant debug and the module sinks/base/bytes.
variant_of = $(firstword $(subst /, ,$1))
module_of = $(patsubst $(call variant_of,$1)/%,%,$1)
objects = $(patsubst %,build/$1/%.o,$2)
# The command that compiles file $2 in variant $1.
compile = $(call compiler,$1) $(call cflags,$1) $(call file_flags,$1,$2)
# FORCE unless the file $1 holds the text $2.
kept_text = $(strip $(file <$1))
force_unless = $(if $(subst x$(strip $2)x,,x$(kept_text)x)$(subst x$(kept_text)x,,x$(strip $2)x),FORCE)

ifeq ($(V),1)
quiet =
say = @:
else
quiet = @
say = @printf '  %-6s %s\n'
endif

%/.:
	$(quiet)mkdir -p $(@D)

# --- Compile and link --------------------------------------------------------------------------

# What a variant is built with, as text: when it changes, everything of the variant is rebuilt.
flags_text = $(strip $(call compiler,$1) $(call cflags,$1) $(call ldflags,$1))
build/%/flags: $$(call force_unless,build/$$*/flags,$$(call flags_text,$$*)) | $$(@D)/.
	@printf '%s\n' '$(call flags_text,$*)' >$@

# Which objects the binary is made of: when a source goes away, the binary is linked again. It is
# a response file for the linker as well.
build/%/product: $$(call force_unless,build/$$*/product,$$(call objects,$$*,$$(PRODUCT))) | $$(@D)/.
	@printf '%s\n' '$(call objects,$*,$(PRODUCT))' >$@

build/%.o: $$(call module_of,$$*).c build/$$(call variant_of,$$*)/flags | $$(@D)/.
	$(say) CC $@
	$(quiet)$(call compile,$(call variant_of,$*),$<) -MMD -MP -c $< -o $@

build/%/sinkproof: build/%/product $$(call objects,$$*,$$(PRODUCT))
	$(say) LINK $@
	$(quiet)$(call compiler,$*) $(call ldflags,$*) @$< $(LIBRARIES) -o $@

build/sinkproof: build/release/sinkproof
	$(quiet)ln -f $< $@

# The trees of mutants under build/mutants/ are projects of their own.
-include $(shell find build -path build/mutants -prune -o -name '*.d' -print 2>/dev/null)

.PHONY: release debug clang asan fuzz pattern
release: build/sinkproof ## build/sinkproof: gcc -O2 (the default target)
debug: build/debug/sinkproof ## build/debug/sinkproof: gcc -O0
clang: build/clang/sinkproof ## build/clang/sinkproof: clang -O2
asan: build/asan/sinkproof ## build/asan/sinkproof: clang with ASan and UBSan
pattern: build/pattern/sinkproof ## build/pattern/sinkproof: gcc -O2, stack filled with a pattern
TAPE_FUZZER := scenarios/fuzz/fuzz_tape
TAPE_TARGETS := build/tape/$(TAPE_FUZZER) build/tape-asan/$(TAPE_FUZZER)
READER_TARGETS := $(patsubst %,build/fuzz/%,$(filter-out $(TAPE_FUZZER),$(FUZZERS)))
FUZZ_TARGETS := $(READER_TARGETS) $(TAPE_TARGETS)
fuzz: build/fuzz/sinkproof $(FUZZ_TARGETS) ## the libFuzzer targets; TIME=600: each for ten minutes
	$(if $(filter-out 0,$(TIME)),tools/fuzz-smoke $(TIME) $(FUZZ_TARGETS))

# --- Unit tests --------------------------------------------------------------------------------

# "test:word" for each word on the ` * link:` lines of each test (and of the wrapper, which brings
# its own needs into every test). A word is a module, or
#   product   all product objects but main and the real check_failed
#   binary    the test runs the binary in $SINKPROOF (implied where it asks getenv for it)
TEST_LINKS := $(shell awk '{ test = FILENAME; sub(/\.c$$/, "", test) } \
    /^[ \/]*\*+ link:/ { sub(/.*link:/, ""); sub(/\*\/.*/, ""); \
        for (i = 1; i <= NF; i++) print test ":" $$i } \
    /getenv\("SINKPROOF"\)/ { print test ":binary" }' \
    $(TESTS:%=%.c) $(wildcard sinks/base/test.c) /dev/null)
links = $(patsubst $1:%,%,$(filter $1:%,$(TEST_LINKS)))
linked_by_product := $(filter-out $(MAIN) sinks/base/check,$(PRODUCT))
link_word = $(or $(if $(filter product,$2),$(linked_by_product)),$(if $(findstring /,$2),$2),\
    $(error $1.c: link line: "$2" is neither a path without .c nor "product" nor "binary"))
test_modules = $(sort $1 sinks/base/test $(foreach word,\
    $(filter-out binary,$(call links,$1) $(call links,sinks/base/test)),\
    $(call link_word,$1,$(word))))
# Both from "debug/sinks/base/bytes_test".
test_objects = $(call objects,$(call variant_of,$1),$(call test_modules,$(call module_of,$1)))
test_binary = $(if $(filter binary,$(call links,$(call module_of,$1))),\
    build/$(call variant_of,$1)/sinkproof)

build/%_test: $$(call test_objects,$$*_test)
	$(say) LINK $@
	$(quiet)$(call compiler,$(call variant_of,$*)) $(call ldflags,$(call variant_of,$*)) \
	    $^ $(TEST_LIBRARIES) -o $@

# A run never fails here, so that one failure does not hide the next: tools/tally judges the logs.
build/%_test.log: build/%_test $$(call test_binary,$$*_test) FORCE
	@status=0; export SINKPROOF=build/$(call variant_of,$*)/sinkproof; \
	timeout $(TEST_SECONDS) $< >$@ 2>&1 || status=$$?; \
	printf '[   EXIT   ] %d %s\n' $$status $< >>$@; cat $@

UNIT_VARIANTS := debug asan
logs_of = $(foreach variant,$(UNIT_VARIANTS),$(patsubst %,build/$(variant)/%.log,$1))

.PHONY: unit unit-one fences
unit: $(call logs_of,$(TESTS)) ## all unit tests, with gcc -O0 and with clang's sanitizers
	@tools/tally build/unit.tally $^

unit-one: $(call logs_of,$(T:%=%_test)) ## one unit test: make unit-one T=sinks/base/bytes
	@$(if $(T),tools/tally build/unit-one.tally $^,echo "usage: make unit-one T=sim/clock"; exit 2)

fences: build/debug/scenarios/fences_test.log ## the include rule: who may include whom
	@tools/tally build/fences.tally $^

# --- Gates over the text of the tree -----------------------------------------------------------

FORMATTED := $(SOURCES)
require_14 = @$1 --version | grep -q 'version 14\.' || \
    { echo "$1 is not version 14: $$($1 --version 2>&1 | grep -m 1 version)"; exit 1; }

.PHONY: format format-check headers symbols tidy cppcheck
format: ## rewrite every source in the project's format (clang-format 14)
	$(call require_14,$(CLANG_FORMAT))
	$(if $(FORMATTED),$(quiet)$(CLANG_FORMAT) -i $(FORMATTED))

format-check: ## fail on a source that `make format` would change
	$(call require_14,$(CLANG_FORMAT))
	$(if $(FORMATTED),$(quiet)$(CLANG_FORMAT) --dry-run -Werror $(FORMATTED))

# A header must compile alone, and twice in a row.
build/headers/%.ok: $$(call module_of,$$*) build/$$(call variant_of,$$*)/flags | $$(@D)/.
	$(quiet)printf '#include "%s"\n' $< $< >$@.c; echo 'extern int translation_unit;' >>$@.c
	$(quiet)$(call compile,$(call variant_of,$*),$<) -MMD -MP -MF $@.d -MT $@ -fsyntax-only $@.c
	$(quiet)touch $@

headers: $(foreach v,debug clang,$(HEADERS:%=build/headers/$v/%.ok)) ## each header compiles alone

SYMBOL_MODULES := $(filter sinks/% sim/% models/%,$(PRODUCT))
symbols: $(call objects,release,$(SYMBOL_MODULES)) ## nothing below scenarios/ calls what it may not
	@tools/symbols tools/symbols.allow build/release $(SYMBOL_MODULES)

# The object brings the dependencies: a file is looked at again when it or its headers changed.
build/tidy/%.ok: %.c build/clang/%.o .clang-tidy | $$(@D)/.
	$(say) TIDY $<
	$(quiet)$(CLANG_TIDY) --quiet $< -- $(call cflags,clang) $(call file_flags,clang,$<) 2>$@.log || \
	    { cat $@.log; exit 1; }
	$(quiet)touch $@

tidy: $(PRODUCT:%=build/tidy/%.ok) ## clang-tidy 14 over product code
	$(call require_14,$(CLANG_TIDY))

# "information" is what reports a suppression that suppresses nothing.
CPPCHECK_FLAGS := -q --std=c11 --enable=warning,portability,performance,information \
    --suppress=missingIncludeSystem --inline-suppr --error-exitcode=1 -I. -DCHECK_SLOW_ON=0 \
    --cppcheck-build-dir=build/cppcheck
cppcheck: | build/cppcheck/. ## cppcheck over product code
	$(if $(PRODUCT),$(quiet)cppcheck $(CPPCHECK_FLAGS) $(PRODUCT:%=%.c))

# --- Gates that run what was built -------------------------------------------------------------

.PHONY: gate gate-full matrix matrix-full guarantees html-check quick reports regress marks mutants
.PHONY: searches determinism foreign fuzz-smoke fuzz-ablation
.PHONY: corpus
.PHONY: coverage cross memcheck bench
matrix: build/sinkproof ## every claim at the quick budget, and docs/guarantees.md is up to date
	tools/guarantees --check

guarantees: build/sinkproof ## write docs/guarantees.md again
	tools/guarantees

html-check: build/sinkproof ## the page of the matrix in headless Chromium; screenshots in build/html
	$(quiet)mkdir -p build/html
	build/sinkproof matrix --quick --html build/html --json build/html/matrix.json
	tools/page-check build/html/index.html build/html/matrix.json
	tools/schema-check docs/schema/matrix.json build/html/matrix.json
	tools/html-check build/html/index.html build/html

matrix-full: build/sinkproof ## every claim at the full budget: 20,000 counted seeds
	build/sinkproof matrix --json build/matrix.json

gate: build/sinkproof ## the performance decision rule over its small cells, 3 repetitions
	build/sinkproof gate --quick

gate-full: build/sinkproof ## the same over all 108 cells, 30 repetitions: prints how long it took
	build/sinkproof gate --json build/gate.json

DETERMINISM_BINARIES := $(DETERMINISM_VARIANTS:%=build/%/sinkproof)
quick: build/sinkproof $(DETERMINISM_BINARIES) ## the gates that run scenarios, at their fastest
	tools/quick $(DETERMINISM_VARIANTS)

reports: build/sinkproof ## JUnit XML and SARIF are what their public schemas say
	tools/report-schemas build/sinkproof

regress: build/sinkproof ## every kept tape of scenarios/regress still shows what it showed
	build/sinkproof rejudge --strict

marks: build/sinkproof ## every behaviour mark is reached by some scenario at the quick budget
	build/sinkproof marks

# An hour or more. It goes on where it was stopped; what is measured is written to docs/searches.md.
searches: build/sinkproof build/tape/$(TAPE_FUZZER) ## which search finds each planted bug, in how many runs
	tools/searches
	tools/fuzz-ablation $(M) >build/searches/ablation || { cat build/searches/ablation; exit 1; }
	tools/searches-page build/searches/table build/searches/ablation docs/searches.md

mutants: build/sinkproof ## every planted bug is caught by the oracle that must catch it
	build/sinkproof mutants

determinism: $(DETERMINISM_BINARIES) ## equal digests on all builds, N=2000 seeds
	tools/determinism $(N) $(DETERMINISM_VARIANTS)

FOREIGN_BINARIES := $(FOREIGN_VARIANTS:%=build/%/sinkproof)
foreign: build/sinkproof ## equal digests on 32 bits and big-endian
	tools/setup cross
	+$(MAKE) --no-print-directory $(FOREIGN_BINARIES)
	tools/determinism $(N_FOREIGN) release $(FOREIGN_VARIANTS)

# The mutator is no part of the others: libFuzzer takes it wherever it is linked.
MUTATOR := scenarios/fuzz/tape_mutator
FUZZ_PARTS := $(filter-out $(FUZZERS) $(TESTS) scenarios/fuzz/replay $(MUTATOR),\
    $(filter scenarios/fuzz/%,$(MODULES))) $(filter-out $(MAIN),$(PRODUCT))
fuzz_link = $(call compiler,$1) $(call ldflags,$1) -fsanitize=fuzzer $(filter %.o,$^) $(LIBRARIES) -o $@
$(READER_TARGETS): %: %.o build/fuzz/product $(call objects,fuzz,$(FUZZ_PARTS))
	$(say) LINK $@
	$(quiet)$(call fuzz_link,fuzz)

$(TAPE_TARGETS): build/%: build/%.o build/$$(call variant_of,$$*)/product \
    $$(call objects,$$(call variant_of,$$*),$(MUTATOR) $(FUZZ_PARTS))
	$(say) LINK $@
	$(quiet)$(call fuzz_link,$(call variant_of,$*))

# The same with libFuzzer's own mutators, to compare with.
build/tape/$(TAPE_FUZZER)_plain: build/tape/$(TAPE_FUZZER).o build/tape/product \
    $(call objects,tape,$(FUZZ_PARTS))
	$(say) LINK $@
	$(quiet)$(call fuzz_link,tape)

fuzz-smoke: $(FUZZ_TARGETS) ## every fuzz target over its corpus; one that is killed goes on
	tools/fuzz-smoke $(TIME) $^
	tools/fuzz-resume build/tape/$(TAPE_FUZZER)

# M=FILE: what `sinkproof mutants --json` wrote.
fuzz-ablation: build/sinkproof build/tape/$(TAPE_FUZZER) ## the tape mutator against libFuzzer's own
	tools/fuzz-ablation $(M)

# The same targets without libFuzzer, in the variants of the unit tests.
REPLAYERS := $(foreach variant,$(UNIT_VARIANTS),$(FUZZERS:%=build/$(variant)/%))
$(REPLAYERS): build/%: build/%.o build/$$(call variant_of,$$*)/product \
    $$(call objects,$$(call variant_of,$$*),scenarios/fuzz/replay $(FUZZ_PARTS))
	$(say) LINK $@
	$(quiet)$(call compiler,$(call variant_of,$*)) $(call ldflags,$(call variant_of,$*)) \
	    $(filter %.o,$^) $(LIBRARIES) -o $@

corpus: $(REPLAYERS) ## every fuzz target over its corpus, without libFuzzer
	$(quiet)tools/corpus $^

COVERAGE_TESTS := $(TESTS:%=build/coverage/%)
coverage: build/coverage/sinkproof $(COVERAGE_TESTS) ## lines of sinks, sim, models: at least 90 %
	$(quiet)TEST_SECONDS=$(TEST_SECONDS) tools/coverage build/coverage $(COVERAGE_TESTS)

CROSS_OBJECTS := $(foreach v,$(CROSS_VARIANTS),$(call objects,$v,$(SYMBOL_MODULES)))
cross: $(CROSS_OBJECTS) ## compile sinks, sim, models for aarch64, i686 and s390x (big-endian)

# One log per test, and a mark for the one that passed: what was killed goes on where it was. A finding
# hides no other; it is shown when its test ends.
MEMCHECKS := $(TESTS:%=build/memcheck/%.ok)
$(MEMCHECKS): build/memcheck/%.ok: build/debug/% $$(call test_binary,debug/$$*) | $$(@D)/.
	$(say) MEMCHK $*
	$(quiet)SINKPROOF=build/debug/sinkproof timeout $(MEMCHECK_SECONDS) \
	    valgrind -q --error-exitcode=9 --leak-check=full $< >$(@:.ok=.log) 2>&1 || \
	    { status=$$?; cat $(@:.ok=.log); echo "memcheck: $*: exit status $$status"; exit 1; }
	$(quiet)touch $@

memcheck: ## unit tests under valgrind
	+$(quiet)$(MAKE) --no-print-directory -k $(MEMCHECKS)
	@echo "memcheck: $(words $(TESTS)) unit tests without a finding"

# Every state of the reference workload: in a second it is part of the unit tests.
.PHONY: x1 x1-l explore
x1: build/sinkproof ## every state of the reference workload of exploration, in its middle size
	build/sinkproof explore x1-m

x1-l: build/sinkproof ## the same in its large size: 20 million states, about 1 GB of memory
	build/sinkproof explore x1-l

SMALL := $(sort $(shell find scenarios -name '*-small.json' 2>/dev/null))
# One that is to fail is done with its first failure: where a broken job restarts for ever, a run of it
# has thousands of places for a second deviation. It may take more than two: that it fails is for its claim
# to show.
explore: build/sinkproof ## all runs with at most two deviations of every small scenario
	@status=0; for scenario in $(SMALL); do \
	    build/sinkproof explore $$scenario --deviations 2 --stop-at any; was=$$?; \
	    [ $$was -eq 0 ] || { [ $$was -eq 1 ] && grep -q '"expect": "fails"' $$scenario; } || status=1; \
	    done; exit $$status

bench: build/sinkproof ## speed against the reference loops
	build/sinkproof bench

# --- Whole jobs --------------------------------------------------------------------------------

# tools/gates makes one step after the other, goes on after a failed one, and closes with a count.
TEST_STEPS := format-check headers unit corpus symbols quick
CHECK_STEPS := format-check headers fences symbols unit matrix html-check reports marks mutants regress \
    x1 determinism fuzz-smoke corpus tidy cppcheck coverage
FULL_STEPS := $(CHECK_STEPS:matrix=matrix-full) explore memcheck setup:cross cross foreign

.PHONY: run test check check-full install man clean help
run: ## install what is missing, build, show the guarantees and a planted bug found
	tools/setup run
	+$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc)) release
	build/sinkproof matrix --quick
	tools/demo

test: ## install what is missing, build, and run the fast part of the gates
	+@MAKE="$(MAKE)" tools/gates setup:test release $(TEST_STEPS)

check: ## install what is missing and run all gates
	+@MAKE="$(MAKE)" tools/gates setup:full release $(CHECK_STEPS)

check-full: ## the same with 20,000 seeds per claim, fuzzing, cross builds, valgrind: an hour on two cores
	+@MAKE="$(MAKE)" tools/gates TIME=60 setup:full release $(FULL_STEPS)

# A sink's headers include tables (.def); claims and scenarios are found beside the binary.
# What a user's own sink is built from is all of sinks/ but what is for its tests.
INSTALLED_SINKS = $(filter-out %_test.c %_test.def %_testkit.c %_testkit.h sinks/base/test.%,\
    $(shell find sinks -name '*.[ch]' -o -name '*.def'))
INSTALLED_SCENARIOS = $(shell find scenarios -name corpus -prune -o -name '*.json' -print \
    -o -name '*.jsonl' -print -o -name '*.tape' -print) $(wildcard scenarios/new_sink/*.in)
INSTALLED_PAGES = docs/bring-your-own-sink.md docs/gate.md
# Install files below a folder of the prefix, by their paths in the tree.
install_tree = set -e; for file in $1; do install -D -m 644 $$file $(DESTDIR)$(PREFIX)/$2/$$file; done

install: $(BINARY) ## under PREFIX=/usr/local: binary, manual, scenarios, what your sinks need
	install -D -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/sinkproof
	install -D -m 644 docs/sinkproof.1 $(DESTDIR)$(PREFIX)/share/man/man1/sinkproof.1
	$(quiet)$(call install_tree,$(INSTALLED_SINKS),include/sinkproof)
	$(quiet)$(call install_tree,$(INSTALLED_SCENARIOS) $(INSTALLED_PAGES),share/sinkproof)

man: build/sinkproof ## write into docs/sinkproof.1 what the help says
	tools/man $<

clean: ## remove build/
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' Makefile
