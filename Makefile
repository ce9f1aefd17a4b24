# Memory Spine.
#
#   make run      install what is missing, build, start the server on 127.0.0.1:8788
#   make check    what to run before every commit: a minute of tests
#   make test     install what the tests need, build, run every test
#   make help     the rest
#
# Build variants live beside each other: build/ (what users run), build/asan, build/tsan, build/fuzz, build/coverage. fixture/ within each
# has what only the conformance suite of MCP wants (make fixture).

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build
PYTHON := /usr/bin/python3
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# --- Variant -------------------------------------------------------------------------------------

SAN ?=
ifeq ($(SAN),)
  OUT := build
  SAN_FLAGS :=
  OPT ?= -O2
else ifeq ($(SAN),address)
  OUT := build/asan
  SAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
  OPT ?= -O1
else ifeq ($(SAN),thread)
  OUT := build/tsan
  SAN_FLAGS := -fsanitize=thread -fno-omit-frame-pointer
  OPT ?= -O1
else ifeq ($(SAN),fuzz)
  OUT := build/fuzz
  CC := clang
  CXX := clang++
  # NULL + 0 is not defined in C11, is in C++ and C2y, and harmless; clang has no switch for it alone.
  SAN_FLAGS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=all \
               -fno-omit-frame-pointer
  OPT ?= -O1
else ifeq ($(SAN),coverage)
  OUT := build/coverage
  # Counters of threads that are counted one by one: lost ones would be lines that seem never to run.
  SAN_FLAGS := --coverage -fprofile-update=atomic
  OPT ?= -O0
else
  $(error SAN is empty, "address", "thread", "fuzz" or "coverage")
endif

CC ?= cc
CXX ?= c++
comma := ,
PKGS := libuv sqlite3 openssl libcurl simdjson libutf8proc
VERSION := $(shell cat VERSION)

WARN := -Wall -Wextra -Wshadow -Wpointer-arith -Wwrite-strings -Wvla -Wformat=2 -Wundef
WARN_C := $(WARN) -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
ifdef WERROR
  WARN_C += -Werror
  WARN += -Werror
endif

# llhttp is a library on Debian 13, Ubuntu 24.04 and with Homebrew; Debian 12 has its sources, in node-llhttp.
ifeq ($(shell pkg-config --exists libllhttp 2>/dev/null && echo yes),yes)
  PKGS += libllhttp
else
  LLHTTP_C := api http llhttp
  LLHTTP_SRC ?= /usr/share/llhttp
  LLHTTP_INC ?= -isystem /usr/share/include/llhttp
endif

# What makes a mistake in C harder to use, as far as compiler and linker know it; the sanitizers have their own ways.
# tests/hardening looks at the binary.
ifeq ($(SAN),)
  knows = $(shell printf 'int main(void) { return 0; }' | $(CC) -Werror $(1) -x c -o /dev/null - 2>/dev/null && echo '$(1)')
  HARDEN := $(call knows,-fstack-clash-protection) $(call knows,-fcf-protection)
  HARDEN_LINK := $(call knows,-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now) $(call knows,-Wl$(comma)-z$(comma)noexecstack)
  ifneq ($(OPT),-O0)
    HARDEN += $(or $(call knows,-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  endif
  HARDEN := $(filter-out -O2,$(HARDEN))
endif

# Reports at the end need files and programs that the server's fences refuse (src/serve/sandbox.h).
ifneq ($(SAN),)
  SAN_FLAGS += -DSPINE_NO_FENCES
endif

CODE_FLAGS = $(OPT) -g -pthread -fPIE -fstack-protector-strong $(HARDEN) $(SAN_FLAGS)
BASE_FLAGS = $(CODE_FLAGS) -Isrc -Isdk/c/include $(LLHTTP_INC) -D_GNU_SOURCE -DSPINE_VERSION='"$(VERSION)"' $(PKG_CFLAGS) -MMD -MP
ALL_CFLAGS = -std=gnu11 $(WARN_C) $(BASE_FLAGS) $(CFLAGS)
ALL_CXXFLAGS = -std=gnu++17 $(WARN) $(BASE_FLAGS) $(CXXFLAGS)
ALL_LIBS = $(PKG_LIBS) -lstemmer -lm -pthread
# Of libpq only the header is needed: the library is found when the server uses it.
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) libpq 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# A second make, so that what scripts/deps has just installed is seen.
SUBMAKE = $(MAKE) --no-print-directory -j$(JOBS)

# --- For people ----------------------------------------------------------------------------------

FOR_PEOPLE := build run check test crash sim power faults coverage static load soak cluster cluster-failover abuse bench recall api-cases typescript screenshots fuzz \
              clean help deps-build deps-test deps-bench tarball deb test-packages
.PHONY: $(FOR_PEOPLE)

# These have a second make do the work. Where they are asked for together with others (`make -j2 build build/describe`), both would
# compile the same files at the same time: one goal after the other, then. The second make still uses all cores.
ifneq ($(filter $(FOR_PEOPLE),$(or $(MAKECMDGOALS),build)),)
.NOTPARALLEL:
endif

build: deps-build	## build/spine
	@$(SUBMAKE) binary

run: build	## build, then serve on 127.0.0.1:8788
	@exec $(BIN) serve

check: deps-test	## what to run before every commit: less than a minute of tests after a build
	@scripts/check

test: deps-test	## every test: unit, store, wire, Python, sanitizers, crash, documentation
	@scripts/test

crash: build	## kill a loaded server again and again, CRASH_SECONDS long (or CRASH_ROUNDS times), and look whether it kept its word
	@$(PYTHON) tests/crash/crash.py $(if $(CRASH_ROUNDS),--rounds $(CRASH_ROUNDS),--seconds $(CRASH_SECONDS))
	@$(PYTHON) tests/crash/chaos.py --seconds $(CRASH_SECONDS)
	@$(PYTHON) tests/crash/steps.py --rounds 100
	@$(PYTHON) tests/crash/upkeep.py --rounds $(UPKEEP_ROUNDS)
CRASH_SECONDS ?= 600
CRASH_ROUNDS ?=
UPKEEP_ROUNDS ?= 200

sim: build	## play SIM_SEEDS seeded runs of delivery among faults and crashes, of one server and of several, on every core
	@$(SUBMAKE) $(OUT)/tests/sim
	@$(OUT)/tests/sim --seeds $(SIM_SEEDS) --jobs $(JOBS)
	@$(OUT)/tests/sim --cluster --seeds $(SIM_SEEDS) --jobs $(JOBS)
SIM_SEEDS ?= 1000000

power: build	## cut a store's power at POWER_SEEDS times 1,000 random places
	@$(SUBMAKE) $(OUT)/tests/power
	@$(OUT)/tests/power --seeds $(POWER_SEEDS)
POWER_SEEDS ?= 100

faults: build	## let FAULT_CALLS calls of each kind fail in the store and in a server (0: all of them, which takes hours)
	@$(SUBMAKE) $(OUT)/tests/faults
	@$(OUT)/tests/faults --calls $(FAULT_CALLS)
	@SPINE_BIN=$(BIN) $(PYTHON) tests/faults/server/server.py --calls $(FAULT_CALLS)
FAULT_CALLS ?= 300

coverage: deps-test	## which lines the tests reach: unit tests, simulation, wire tests; fails below 90 % of core, engine, store
	@scripts/coverage $(COVERAGE_WIRE)
# Of the command line's tests only those that move a space or open a store: the others start a process for each line, and reach cli/ alone
# (COVERAGE_WIRE=tests/wire runs them all). Nor those that load a server for minutes and reach nothing that others do not.
COVERAGE_WIRE ?= $(filter-out tests/wire/test_cli% $(COVERAGE_SLOW:%=tests/wire/test_%.py),$(wildcard tests/wire/test_*.py)) \
                 tests/wire/test_cli_whole.py tests/wire/test_cli_encrypted.py
COVERAGE_SLOW := large_requests

static: deps-test	## cppcheck and clang-tidy over all of the source; half an hour of a core the first time, then only what changed
	@scripts/check-static

load: build	## 10,000 receivers that wait on one server: memory and CPU for each, then all are served
	@$(PYTHON) tests/load/waiting.py

soak: build	## mixed load for SOAK_SECONDS (an hour): memory, descriptors and disk stay flat
	@$(PYTHON) tests/load/soak.py --seconds $(SOAK_SECONDS)
SOAK_SECONDS ?= 3600

cluster: build	## CLUSTER_NODES nodes over one PostgreSQL, killed, paused, cut off, restarted for CLUSTER_SECONDS (an hour); every second start is CLUSTER_OLD
	@SPINE_BIN=$(BIN) $(PYTHON) tests/cluster/run.py --seconds $(CLUSTER_SECONDS) --nodes $(CLUSTER_NODES) --seed $(CLUSTER_SEED) \
		--faults kill,pause,stop,cut,peers,restart,postgres,roll $(if $(CLUSTER_OLD),--old $(CLUSTER_OLD))
CLUSTER_SECONDS ?= 3600
CLUSTER_NODES ?= 3
CLUSTER_SEED ?= 1

cluster-failover: build	## three machines in network namespaces: PostgreSQL's primary dies, or is cut off; needs root
	@scripts/deps cluster
	@SPINE_BIN=$(BIN) $(PYTHON) tests/cluster/failover.py --seconds $(FAILOVER_SECONDS) --seed $(CLUSTER_SEED)
FAILOVER_SECONDS ?= 600

abuse: build	## clients that mean harm, up to 10,000 at a time: what they cost, and how long good ones wait; about six minutes
	@$(PYTHON) tests/load/abuse.py --markdown
	@$(PYTHON) tests/load/fair.py
	@$(PYTHON) tests/load/replies.py

bench: deps-bench	## measure what was promised; the figures go to bench/results/
	@$(SUBMAKE) binary bench-programs
	@bench/run
	@bench/postgres.py --write

recall: build	## what search finds and handoffs carry, of RECALL_DATA (a labelled file; the project's small set)
	@SPINE_BIN=$(BIN) $(PYTHON) bench/recall/recall.py --data "$(RECALL_DATA)" $(RECALL_OPTIONS)
RECALL_DATA ?= tests/recall/small.json
RECALL_OPTIONS ?=

api-cases: build	## every operation with 10,000 made-up requests (schemathesis, from PyPI); none may be answered 5xx
	@tests/openapi/cases.sh

typescript: build	## the TypeScript client, in sdk/typescript/dist
	@$(SUBMAKE) $(TYPESCRIPT)

screenshots: deps-test	## pictures of the dashboard for the documentation, in docs/screenshots/
	@$(SUBMAKE) binary dashboard-tests
	@SPINE_BIN=$(BIN) node tests/dashboard/screenshots.mjs docs/screenshots

clean:	## remove what was built
	rm -rf build $(PAGES) sdk/typescript/dist sdk/typescript/src/generated sdk/typescript/LICENSE

help:	## this list
	@grep -hE '^[a-z-]+:.*##' $(filter %Makefile %.mk,$(MAKEFILE_LIST)) | sed -E 's/:[^#]*##/\t/' | expand -t 14 | sed 's/^/  make /'

deps-build:
	@scripts/deps build
deps-test:
	@scripts/deps build test
deps-bench:
	@scripts/deps build bench

# Short lines; `make V=1` shows the commands.
ifdef V
  say =
else
  say = @printf '  %-4s %s\n' $(1) $(or $(2),$@);
endif

# --- What is built -------------------------------------------------------------------------------

SRC_C := $(filter-out src/main.c,$(wildcard src/*/*.c src/*/*/*.c))
SRC_CC := $(wildcard src/*/*.cc)
include sdk/c/c.mk
LIB_OBJ := $(SRC_C:%.c=$(OUT)/%.o) $(SRC_CC:%.cc=$(OUT)/%.o) $(LLHTTP_C:%=$(OUT)/llhttp/%.o) $(C_LIB_OBJ) \
           $(OUT)/token_tables.o $(OUT)/schemas.o $(OUT)/dashboard.o
LIB := $(OUT)/libspine.a
BIN := $(OUT)/spine

UNIT_SRC := $(wildcard tests/unit/*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(OUT)/tests/%)
# The parts of the suite that every engine of the store must pass, and what it shares with another test.
CONFORMANCE_OBJ := $(patsubst tests/unit/test_store_conformance/%.c,$(OUT)/conformance/%.o,$(wildcard tests/unit/test_store_conformance/*.c))

.PHONY: binary unit-tests token-count
binary: $(BIN)
	@:
unit-tests: $(UNIT_BIN)
	@:
token-count: $(OUT)/token_count

$(BIN): $(OUT)/src/main.o $(LIB)
	$(call say,LINK)$(CXX) $(SAN_FLAGS) $(HARDEN_LINK) $(LDFLAGS) -pie -o $@ $< $(LIB) $(ALL_LIBS)

$(LIB): $(LIB_OBJ)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^

$(OUT)/src/%.o: src/%.c VERSION
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(OUT)/src/%.o: src/%.cc
	@mkdir -p $(@D)
	$(call say,CXX)$(CXX) $(ALL_CXXFLAGS) -c -o $@ $<

# A number that loses something on its way is a mistake. (clang has other ideas about what that is.)
ifneq ($(SAN),fuzz)
$(OUT)/src/%.o: WARN_C += -Wconversion
endif

# What `spine version --json` says. Where git does not know the commit (an archive; root in a user's clone), what is
# there stays; a file that says the same as before is not written, so that nothing is compiled again.
$(OUT)/src/serve/build_info.o: $(OUT)/spine_build.h
$(OUT)/src/serve/build_info.o: BASE_FLAGS += -I$(OUT)
$(OUT)/spine_build.h: always
	@mkdir -p $(@D)
	@commit=$$(git describe --always --abbrev=12 --dirty=+ --exclude='*' 2>/dev/null) || [ ! -f $@ ] || exit 0; \
	printf '#define SPINE_%s "%s"\n' COMMIT "$$commit" COMPILER "$$($(CC) --version | head -n 1 | tr -d '"')" \
		FLAGS '$(subst ",\",$(strip -std=gnu11 $(CODE_FLAGS) $(CFLAGS)))' >$@.next; \
	if cmp -s $@.next $@; then rm $@.next; else mv $@.next $@; fi

.PHONY: always
always:

$(OUT)/llhttp/%.o: $(LLHTTP_SRC)/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu11 $(BASE_FLAGS) -DLLHTTP_STRICT_MODE=1 -c -o $@ $<

$(OUT)/tests/%: tests/unit/%.c $(LIB)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Itests -o $(OUT)/tests/$*.o -c $<
	@$(CXX) $(SAN_FLAGS) -pie -o $@ $(OUT)/tests/$*.o $(filter %.o,$^) $(LIB) $(ALL_LIBS) -lcmocka

$(OUT)/tests/test_store_conformance: $(CONFORMANCE_OBJ)
$(OUT)/tests/test_store_differential: $(addprefix $(OUT)/conformance/,changes.o pruning.o questions.o show.o)

$(OUT)/conformance/%.o: tests/unit/test_store_conformance/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Itests -c -o $@ $<

# What the program says about itself: pages that people and shells read at these places. The binary that users get
# writes them whenever it is built; one that says the same as before keeps its content.
PAGES := docs/cli.md man/spine.1 completions/spine.bash completions/_spine completions/spine.fish
docs/cli.md: PAGE_IS = help --markdown
man/spine.1: PAGE_IS = help --man
completions/spine.bash: PAGE_IS = completion bash
completions/_spine: PAGE_IS = completion zsh
completions/spine.fish: PAGE_IS = completion fish

.PHONY: pages
pages: $(PAGES) schemas/openapi.json
	@:
ifeq ($(SAN),)
binary: pages
endif
$(PAGES): $(BIN)
	@mkdir -p $(@D)
	@$(BIN) $(PAGE_IS) >$(OUT)/$(@F)
	@if cmp -s $(OUT)/$(@F) $@; then rm $(OUT)/$(@F); touch $@; else mv $(OUT)/$(@F) $@; printf '  %-4s %s\n' GEN $@; fi

# The one version is in VERSION; Python's package has a copy, which must be there without a build.
sdk/python/memory_spine/_version.py: VERSION
	@echo '__version__ = "$(VERSION)"' >$@
binary: sdk/python/memory_spine/_version.py

# The simulation of delivery, on the store in memory.
SIM_OBJ := $(patsubst tests/sim/%.c,$(OUT)/sim/%.o,$(wildcard tests/sim/*.c))

$(OUT)/tests/sim: $(SIM_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX) $(SAN_FLAGS) -pie -o $@ $(SIM_OBJ) $(LIB) $(ALL_LIBS)

$(OUT)/sim/%.o: tests/sim/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Power cuts: the store's files, recorded and cut off at every place.
POWER_OBJ := $(patsubst tests/power/%.c,$(OUT)/power/%.o,$(wildcard tests/power/*.c))

$(OUT)/tests/power: $(POWER_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX) $(SAN_FLAGS) -pie -o $@ $(POWER_OBJ) $(LIB) $(ALL_LIBS) -ldl

$(OUT)/power/%.o: tests/power/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Itests -c -o $@ $<

# Faults: the same day of a store, with each call of the C library failing in turn.
FAULTS_OBJ := $(patsubst tests/faults/%.c,$(OUT)/faults/%.o,$(wildcard tests/faults/*.c))

$(OUT)/tests/faults: $(FAULTS_OBJ) $(OUT)/power/workload.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX) $(SAN_FLAGS) -pie -o $@ $(filter %.o,$^) $(LIB) $(ALL_LIBS) -ldl

$(OUT)/faults/%.o: tests/faults/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Itests -c -o $@ $<

# Counts tokens for the comparison with the reference.
$(OUT)/token_count: tests/token_reference/count.c $(LIB)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -o $(OUT)/token_count.o -c $<
	@$(CXX) $(SAN_FLAGS) -pie -o $@ $(OUT)/token_count.o $(LIB) $(ALL_LIBS)

# --- Fuzzers: libFuzzer, with clang; the server's objects are those of build/fuzz (SAN=fuzz) ----------------

FUZZERS := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c)) fuzz_answer
FUZZ_BIN := $(FUZZERS:%=build/fuzz/tests/%)

.PHONY: fuzzers
fuzzers: $(FUZZ_BIN)
	@:

FUZZ_CC = $(call say,CC)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -Itests -c -o $@ $<
build/fuzz/tests/fuzz_answer.o: sdk/c/tests/fuzz_answer.c
	$(FUZZ_CC)
build/fuzz/tests/%.o: tests/fuzz/%.c
	$(FUZZ_CC)

$(FUZZ_BIN): %: %.o $(LIB)
	$(call say,LINK)$(CXX) -fsanitize=fuzzer,address,undefined -pie -o $@ $< $(LIB) $(ALL_LIBS)

fuzz: build	## every parser with bytes that nobody has thought of, FUZZ_SECONDS long each (FUZZ_ONLY: some of them)
	@scripts/deps test
	@$(SUBMAKE) SAN=fuzz fuzzers
	@$(PYTHON) tests/fuzz/run.py --seconds $(FUZZ_SECONDS) $(FUZZ_ONLY)

# --- The conformance suite of MCP, from npm, with a Node.js that is new enough for it ---------------------

# The same program with tools, resources and prompts that the suite calls, in place of no_fixture.o of the library.
.PHONY: fixture
fixture: $(OUT)/fixture/spine
	@:

$(OUT)/fixture/spine: $(OUT)/fixture/fixture.o $(OUT)/src/main.o $(LIB)
	$(call say,LINK)$(CXX) $(SAN_FLAGS) -pie -o $@ $(filter %.o,$^) $(LIB) $(ALL_LIBS)

$(OUT)/fixture/%.o: tests/mcp/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -c -o $@ $<

MCP_TEST_MODULES := tests/mcp/node_modules/.package-lock.json

.PHONY: mcp-tests
mcp-tests: $(MCP_TEST_MODULES)
	@:

MCP_CLIENT_MODULES := tests/mcp/clients/node_modules/.package-lock.json

.PHONY: mcp-clients
mcp-clients: $(MCP_TEST_MODULES) $(MCP_CLIENT_MODULES)
	@:

# --- What measures --------------------------------------------------------------------------------

BENCH_BIN := $(addprefix $(OUT)/bench/,load/load load/pairs load/dashboards load/baseline load/fill search/search \
               token/speed peers/peers)
BENCH_SCENARIOS := $(patsubst %.c,$(OUT)/%.o,$(wildcard bench/load/scenario*.c))
BENCH_LINK := $(OUT)/bench/load/link.o $(OUT)/bench/load/measure.o

.PHONY: bench-programs
bench-programs: $(BENCH_BIN)

$(OUT)/bench/load/baseline: $(BENCH_SCENARIOS)
$(addprefix $(OUT)/bench/load/,load pairs dashboards): $(BENCH_SCENARIOS) $(BENCH_LINK)
$(OUT)/bench/load/fill: $(OUT)/bench/search/corpus.o
$(OUT)/bench/search/search: $(OUT)/bench/search/corpus.o $(OUT)/bench/search/scan.o
$(OUT)/bench/peers/peers: $(patsubst %.c,$(OUT)/%.o,$(wildcard bench/peers/*.c)) $(BENCH_SCENARIOS) $(BENCH_LINK)
$(OUT)/bench/peers/peers: BENCH_LIBS = $(shell pkg-config --libs hiredis libpq librabbitmq)
$(OUT)/bench/peers/%.o: BENCH_CFLAGS = -Ibench/load $(shell pkg-config --cflags libpq)
$(BENCH_BIN): %: %.o $(LIB)
	$(call say,LINK)$(CXX) $(SAN_FLAGS) -pie -o $@ $(filter %.o,$^) $(LIB) $(ALL_LIBS) $(BENCH_LIBS)

$(OUT)/bench/%.o: bench/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -Ibench/search $(BENCH_CFLAGS) -c -o $@ $<

# --- Token tables: made once from pinned npm packages, part of the binary --------------------------

NODE_MODULES := tools/node_modules/.package-lock.json
TABLES := build/token_tables.bin

# What a folder's package.json names, as its lock file says.
%/node_modules/.package-lock.json: %/package.json %/package-lock.json
	$(call say,NPM,$*)cd $* && npm ci --no-progress --no-update-notifier --no-fund --no-audit --loglevel=error
	@touch $@

$(TABLES): $(NODE_MODULES) $(wildcard tools/*.mjs)
	@mkdir -p $(@D)
	$(call say,GEN)node tools/token-tables.mjs $@

$(OUT)/token_tables.o: src/token/tables.S $(TABLES)
	@mkdir -p $(@D)
	$(call say,AS)$(CC) $(BASE_FLAGS) -DTOKEN_TABLES='"$(TABLES)"' -c -o $@ $<

# --- What is made from the descriptions of the operations (src/api/describe) ---------------------------

DESCRIBE := $(OUT)/describe

$(DESCRIBE): $(OUT)/tools/describe.o $(LIB)
	$(call say,LINK)$(CXX) $(SAN_FLAGS) -pie -o $@ $< $(LIB) $(ALL_LIBS)

$(OUT)/tools/%.o: tools/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# What the server answers at /openapi.json, for tests and for people who read the source.
schemas/openapi.json: $(DESCRIBE)
	@$(DESCRIBE) openapi >$(OUT)/openapi.json
	@if cmp -s $(OUT)/openapi.json $@; then touch $@; else cp $(OUT)/openapi.json $@; printf '  %-4s %s\n' GEN $@; fi

.PHONY: docs-tables
docs-tables: $(DESCRIBE)	## the tables of fields in docs/protocol.md, made anew
	@$(DESCRIBE) tables docs/protocol.md >$(OUT)/protocol.md
	@cmp -s $(OUT)/protocol.md docs/protocol.md || cp $(OUT)/protocol.md docs/protocol.md

.PHONY: clients-table
clients-table: schemas/openapi.json	## docs/clients.md: every operation in every client, made anew
	@$(PYTHON) tests/operations/table.py

# --- Schemas of the envelopes: written by hand, part of the binary ---------------------------

$(OUT)/schemas.o: src/api/schemas.S schemas/envelope-1.json schemas/envelope-2.json
	@mkdir -p $(@D)
	$(call say,AS)$(CC) $(BASE_FLAGS) -c -o $@ $<

# --- Dashboard: made from source and pinned npm packages, part of the binary --------------------------

DASHBOARD_MODULES := dashboard/node_modules/.package-lock.json
DASHBOARD_TEST_MODULES := tests/dashboard/node_modules/.package-lock.json
DASHBOARD := build/dashboard/version

OPENAPI_TEST_MODULES := tests/openapi/node_modules/.package-lock.json

.PHONY: dashboard-tests openapi-tests
dashboard-tests: $(DASHBOARD_TEST_MODULES)
	@:
openapi-tests: $(OPENAPI_TEST_MODULES)
	@:

$(DASHBOARD): $(DASHBOARD_MODULES) dashboard/build.mjs dashboard/index.html $(wildcard dashboard/src/* dashboard/src/*/*)
	$(call say,GEN,build/dashboard)node dashboard/build.mjs build/dashboard

$(OUT)/dashboard.o: src/api/dashboard.S $(DASHBOARD)
	@mkdir -p $(@D)
	$(call say,AS)$(CC) $(BASE_FLAGS) -c -o $@ $<

# --- The TypeScript client: types from the descriptions, compiled by the pinned compiler ---------------

TYPESCRIPT_MODULES := sdk/typescript/node_modules/.package-lock.json
TYPESCRIPT := sdk/typescript/dist/index.js
TYPESCRIPT_SRC := $(filter-out sdk/typescript/src/generated/%,$(wildcard sdk/typescript/src/*.ts))

$(TYPESCRIPT): $(TYPESCRIPT_MODULES) $(TYPESCRIPT_SRC) sdk/typescript/build.mjs sdk/typescript/generate.mjs sdk/typescript/tsconfig.json \
               schemas/openapi.json schemas/envelope-1.json schemas/envelope-2.json VERSION LICENSE
	$(call say,TSC,sdk/typescript/dist)node sdk/typescript/build.mjs
	@touch $@

include deploy/install.mk

-include $(shell find $(OUT) -name '*.d' -type f 2>/dev/null)
