# racetrace: `make help` lists the targets. Builds into $(BUILD); two trees with different SAN or CC do not mix if BUILD differs.
CC ?= gcc
BUILD ?= build
PREFIX ?= /usr/local
SAN ?=
VERSION := 0.1.0
# Where users read of this build; SARIF reports and packages name it.
HOMEPAGE ?=

WARN := -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 $(CFLAGS) $(WARN) -I. -D_GNU_SOURCE -DRT_VERSION='"$(VERSION)"' -DRT_HOMEPAGE='"$(HOMEPAGE)"' -MMD -MP
SAN_FLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
LIBS := -lzstd -ljansson -ldw -lelf -lxxhash -liberty -lcapstone -lpthread -lm

TRACEFMT_SRC := $(wildcard tracefmt/*.c tracefmt/*/*.c)
LIB_SRC := $(wildcard lib/*/*.c lib/*/*/*.c)
COLLECT_SRC := $(wildcard recorder/collector/*.c)
CMD_SRC := $(wildcard cmd/*.c cmd/*/*.c)
RECORDER_SRC := $(wildcard recorder/runtime/*.c recorder/hooks/*.c recorder/intercept/*.c)
RECORDER_ASM := $(wildcard recorder/runtime/*.S)
UNIT_SRC := $(wildcard tests/unit/*.c tests/oracle/*.c)
SUITES := $(patsubst tests/unit/test_%.c,%,$(filter tests/unit/test_%.c,$(UNIT_SRC)))

obj = $(patsubst %,$(BUILD)/obj/%.o,$(basename $(1)))
LIB_OBJ := $(call obj,$(TRACEFMT_SRC) $(LIB_SRC) $(COLLECT_SRC))
CMD_OBJ := $(call obj,$(CMD_SRC))
UNIT_OBJ := $(call obj,$(UNIT_SRC))
RECORDER_OBJ := $(patsubst %,$(BUILD)/pic/%.o,$(basename $(RECORDER_SRC) $(RECORDER_ASM)))
# The recorder under which threads take turns is compiled for itself, so that the free one has no trace of turns.
SCHED_OBJ := $(patsubst %,$(BUILD)/pic/%.o,$(basename $(wildcard recorder/sched/*.c)))
ASM_OBJ := $(patsubst %,$(BUILD)/pic/%.o,$(basename $(RECORDER_ASM)))
CONTROLLED_OBJ := $(RECORDER_SRC:%.c=$(BUILD)/pic/%.controlled.o) $(ASM_OBJ) $(SCHED_OBJ)

# The recorder answers to each soname that GCC's libtsan has had; libracetrace.so is what Clang's objects are linked with.
SONAMES := libtsan.so.0 libtsan.so.2 libracetrace.so.1
RECORDERS := $(SONAMES:%=$(BUILD)/lib/racetrace/%)
CONTROLLED := $(SONAMES:%=$(BUILD)/lib/racetrace/controlled/%)

# The Valgrind tool that records programs without instrumentation, where Debian's valgrind package is: a static program of
# its own, loaded at an address of its own.
VALGRIND_LIBS := /usr/lib/x86_64-linux-gnu/valgrind
VALGRIND_OWN := /usr/libexec/valgrind/vgpreload_core-amd64-linux.so /usr/libexec/valgrind/default.supp
TOOL_FOLDER := $(BUILD)/lib/racetrace/valgrind
TOOL := $(if $(wildcard $(VALGRIND_LIBS)/libcoregrind-amd64-linux.a),$(TOOL_FOLDER)/racetrace-amd64-linux)
TOOL_OBJ := $(patsubst %,$(BUILD)/tool/%.o,$(basename $(wildcard recorder/valgrind/*.c)))
TOOL_CFLAGS := -fno-pie -fno-stack-protector -fno-strict-aliasing -fno-builtin -fomit-frame-pointer -fno-sanitize=all

# $(call say,WHAT,ON) COMMAND: runs the command, which is printed in a few words; V=1 prints the whole.
V ?=
say = $(if $(V),,@printf '  %-4s %s\n' '$(1)' '$(2)' &&)

.PHONY: all clean
all: ## the program and the recorder
all: $(BUILD)/bin/racetrace $(RECORDERS) $(CONTROLLED) $(TOOL)
	$(if $(TOOL),,@echo "without Valgrind's files (apt-get install valgrind) programs have to be instrumented to be recorded")

$(BUILD)/bin/racetrace: $(CMD_OBJ) $(BUILD)/lib/libracetrace.a
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/lib/libracetrace.a: $(LIB_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR,$@) ar rcs $@ $^

# With libm, as libtsan is: a program may have been linked without it because libtsan has some of its functions.
$(RECORDERS): $(RECORDER_OBJ)
$(CONTROLLED): $(CONTROLLED_OBJ)
$(RECORDERS) $(CONTROLLED):
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) -shared -Wl,-soname,$(@F) -Wl,-z,now -Wl,-z,defs -Wl,-z,initfirst $(LDFLAGS) -o $@ $^ -lpthread -ldl -Wl,--no-as-needed -lm

$(TOOL): $(TOOL_OBJ)
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) -static -no-pie -nodefaultlibs -nostartfiles -u _start -o $@ $^ -L$(VALGRIND_LIBS) -Wl,--build-id=none \
		-Wl,--wrap=vgModuleLocal_read_debuginfo_dwarf3 \
		-Wl,--wrap=vgSysWrap_linux_sys_io_uring_enter_before \
		-Wl,-Ttext-segment=0x58000000 -lcoregrind-amd64-linux -lvex-amd64-linux -lgcc-sup-amd64-linux -lgcc
	@ln -sf $(VALGRIND_OWN) $(@D)
$(BUILD)/tool/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(ALL_CFLAGS) $(TOOL_CFLAGS) -c -o $@ $<

# One strategy of the recorder's scheduler is looked at by itself: its guarantee needs many runs; so are the runs of programs.
$(BUILD)/tests/unit: $(UNIT_OBJ) $(BUILD)/obj/recorder/sched/pct.o $(BUILD)/obj/recorder/valgrind/instruction.o $(BUILD)/obj/cmd/try/runner.o $(BUILD)/obj/cmd/try/descendants.o $(BUILD)/lib/libracetrace.a
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ -lcheck -lsubunit -lrt $(LIBS)

# The schema travels in the program.
$(BUILD)/obj/lib/report/report.o: docs/report.schema.json
# Its table is made of the list of files.
$(BUILD)/obj/tests/unit/runner.o: $(UNIT_SRC)
$(BUILD)/obj/tests/unit/runner.o: ALL_CFLAGS += -DSUITES='$(foreach s,$(SUITES),X($(s)))'
# Each has a rule for every operation: the compiler names those that one is missing for, default or not.
$(patsubst %,$(BUILD)/obj/%.o,tracefmt/native/start tracefmt/std/export lib/trace/threads lib/trace/window_state lib/relation/por lib/judge/scan lib/judge/verify lib/prove/state/space): \
	ALL_CFLAGS += -Wswitch-enum
$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(ALL_CFLAGS) $(SAN_FLAGS) -c -o $@ $<

# The recorder lives in other people's programs: no sanitizer, no errno games, thread-local data at fixed offsets.
RECORDER_CFLAGS := -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector -fno-builtin -fomit-frame-pointer $(if $(filter -O0,$(CFLAGS)),-O1)
# Exceptions and cancellation pass through these; string.c's plain loops must stay what they are.
UNWOUND := $(addprefix $(BUILD)/pic/recorder/,$(addprefix intercept/,block.o cxx.o cxx_calls.o cond.o once.o c11.o malloc.o dl.o sem.o barrier.o stdio.o cookie.o calls_files.o calls_names.o calls_system.o kernel.o) runtime/cancel.o runtime/thread.o runtime/blocking.o)
$(UNWOUND) $(UNWOUND:.o=.controlled.o): RECORDER_CFLAGS += -fexceptions
$(BUILD)/pic/recorder/intercept/string.o $(BUILD)/pic/recorder/intercept/string.controlled.o: RECORDER_CFLAGS += $(if $(findstring clang,$(CC)),,-fno-tree-loop-distribute-patterns)
$(BUILD)/pic/%.controlled.o: ALL_CFLAGS += -DRT_CONTROLLED=1
$(BUILD)/pic/%.controlled.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(ALL_CFLAGS) $(RECORDER_CFLAGS) -c -o $@ $<
$(BUILD)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(ALL_CFLAGS) $(RECORDER_CFLAGS) -c -o $@ $<
$(BUILD)/pic/%.o: %.S
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(ALL_CFLAGS) $(RECORDER_CFLAGS) -c -o $@ $<

# What Debian calls the things that each target needs.
BUILD_PACKAGES := gcc g++ make libc6-dev libzstd-dev libjansson-dev libdw-dev libelf-dev libxxhash-dev libiberty-dev libcapstone-dev uthash-dev
CHECK_PACKAGES := $(BUILD_PACKAGES) check libsubunit-dev zstd jq bash clang valgrind groff-base pkg-config patch
HOUSE_PACKAGES := $(CHECK_PACKAGES) git libclang-rt-14-dev clang-format clang-tidy

.PHONY: help deps-build deps-check deps-house demo check unit cli e2e check-runs faults differ build-san san build-fuzz fuzz check-real check-cluster bench bench-load bench-column bench-orders bench-growth bench-pecan bench-explore bench-findings bench-truth bench-binary bench-peers check-binary format tidy install uninstall deb check-dist
help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps-build:
	@sh tests/deps.sh $(BUILD_PACKAGES)
deps-check:
	@sh tests/deps.sh $(CHECK_PACKAGES)
deps-house:
	@sh tests/deps.sh $(HOUSE_PACKAGES)

demo: deps-build ## install what is missing, build, record a sample, analyze it, replay what it proved
	@$(MAKE) --no-print-directory all
	@sh tests/demo.sh $(BUILD)

check: deps-check ## the same, then every test
	@$(MAKE) --no-print-directory all $(BUILD)/tests/unit $(BUILD)/tests/differ
	@bash tests/check.sh $(BUILD)

unit: $(BUILD)/tests/unit ## unit tests, golden traces, oracles
	$(BUILD)/tests/unit
cli: all ## tests of the command line
	bash tests/cli/run.sh $(BUILD)
check-binary: all ## every sample without instrumentation, recorded by the Valgrind tool, compared with what is expected (SHARE=3: of a third)
	BINARY=only bash tests/e2e/run.sh $(BUILD)
e2e: all ## samples: build, record, analyze, compare with what is expected
	bash tests/e2e/run.sh $(BUILD)

check-runs: all ## the same, and each sample 100 times under one seed of record --serial: equal byte by byte
	RUNS=100 bash tests/e2e/run.sh $(BUILD)

faults: all ## every allocation of the program and every system call of `record` fails once; the command-line tests take one of five
	RT_FAULTS=1 bash tests/cli/run.sh $(BUILD) no_memory system_calls

DIFFER_SEED ?= 1
DIFFER_COUNT ?= 60
$(BUILD)/tests/differ: $(call obj,$(wildcard tests/differ/*.c))
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^
differ: all $(BUILD)/tests/differ ## random programs: what is reported of them against a model of threads
	bash tests/differ/run.sh $(BUILD) $(DIFFER_SEED) $(DIFFER_COUNT)

build-san: deps-house
	@$(MAKE) --no-print-directory BUILD=$(BUILD)-san SAN=address,undefined CFLAGS='-O1 -g' all $(BUILD)-san/tests/unit
san: build-san ## unit and command-line tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@bash tests/san.sh $(BUILD)-san

# A fuzz target is tests/fuzz/fuzz_NAME.c; corpus_NAME.c, a program that fills the folder that it is given, and the files
# of the folder seeds_NAME are what it starts from.
FUZZ_SECONDS ?= 60
# Another seed finds other things.
FUZZ_SEED ?= 1
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_FLAGS := -std=gnu11 -O1 -g -I. -D_GNU_SOURCE -DRT_VERSION='"$(VERSION)"' -DRT_HOMEPAGE='"$(HOMEPAGE)"' -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
FUZZ_SAN := address,undefined -fno-sanitize-recover=undefined
# fuzz_whole starts from the others' traces, and from those that have all kinds of anomalies.
FUZZ_SEEDS_whole := tests/fuzz/seeds_jsonl tests/fuzz/seeds_std tests/golden/hand tests/golden/values
build-fuzz: deps-house $(FUZZERS:%=$(BUILD)-fuzz/fuzz_%)
fuzz: deps-house $(FUZZERS:%=fuzz-%) fuzz-commands ## every fuzz target, FUZZ_SECONDS each (60)
fuzz-commands: all # mutants of every input through every command: about as long
	RT_MUTANTS=$$((1 + $(FUZZ_SECONDS) / 5)) RT_SEED=$$((1000 * $(FUZZ_SEED))) bash tests/cli/run.sh $(BUILD) mutants
.PRECIOUS: $(BUILD)-fuzz/fuzz_% $(BUILD)-fuzz/%.o
fuzz-%: $(BUILD)-fuzz/fuzz_%
	@mkdir -p $(BUILD)-fuzz/corpus_$* $(BUILD)-fuzz/seeds_$*
	@if [ -x $(BUILD)-fuzz/make_$* ]; then $(BUILD)-fuzz/make_$* $(BUILD)-fuzz/seeds_$*; fi
	$(BUILD)-fuzz/fuzz_$* -max_total_time=$(FUZZ_SECONDS) -seed=$(FUZZ_SEED) -timeout=10 -rss_limit_mb=4096 -verbosity=0 -print_final_stats=1 \
		-artifact_prefix=$(BUILD)-fuzz/ $(BUILD)-fuzz/corpus_$* $(BUILD)-fuzz/seeds_$* \
		$(wildcard tests/fuzz/seeds_$*) $(FUZZ_SEEDS_$*)
$(BUILD)-fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(BUILD)-fuzz/libracetrace.a $(wildcard tests/fuzz/*.h tests/fuzz/corpus_*.c)
	@mkdir -p $(@D)
	clang $(FUZZ_FLAGS) -fsanitize=fuzzer,$(FUZZ_SAN) -o $@ $< $(BUILD)-fuzz/libracetrace.a $(LIBS)
	@if [ -f tests/fuzz/corpus_$*.c ]; then \
		clang $(FUZZ_FLAGS) -fsanitize=$(FUZZ_SAN) -o $(BUILD)-fuzz/make_$* tests/fuzz/corpus_$*.c $(BUILD)-fuzz/libracetrace.a \
			$(LIBS); fi
$(BUILD)-fuzz/libracetrace.a: $(patsubst %.c,$(BUILD)-fuzz/%.o,$(TRACEFMT_SRC) $(LIB_SRC))
	@rm -f $@
	ar rcs $@ $^
# Of empty arrays lib computes NULL + 0, which every compiler takes for NULL.
$(BUILD)-fuzz/lib/%.o: FUZZ_SAN += -fno-sanitize=pointer-overflow
$(BUILD)-fuzz/lib/report/report.o: docs/report.schema.json
$(BUILD)-fuzz/%.o: %.c
	@mkdir -p $(@D)
	clang $(FUZZ_FLAGS) -MMD -MP -fsanitize=fuzzer-no-link,$(FUZZ_SAN) -c -o $@ $<

check-cluster: all ## divided analyses by GNU parallel, and by a Slurm of one node (as root; left out if they are missing)
	bash tests/cluster/run.sh $(BUILD)

check-real: deps-check all ## record and analyze SQLite and LevelDB (sources from the npm registry)
	@sh tests/deps.sh $$(command -v npm >/dev/null || echo npm) chromium
	bash tests/real/run.sh $(BUILD)

bench: deps-check all ## figures: recording against libtsan, analysis from the file
	@sh tests/deps.sh $$(command -v npm >/dev/null || echo npm)
	bash tests/bench/run.sh $(BUILD)

bench-load: all ## figures of heavy loads: many threads, processes, descriptors, random accesses, a long run
	@bash tests/bench/load.sh $(BUILD)

bench-column: $(BUILD)/tests/bench_column ## figures of the file format alone: coding, writing, reading
	$(BUILD)/tests/bench_column
$(BUILD)/tests/bench_column: $(BUILD)/obj/tests/bench/bench_column.o $(BUILD)/lib/libracetrace.a
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

bench-orders: $(BUILD)/tests/bench_orders $(BUILD)/bin/gen_trace ## figures of each order on made-up traces
	@bash tests/bench/orders.sh $(BUILD)
$(BUILD)/bin/gen_%: $(BUILD)/obj/tests/bench/gen_%.o $(BUILD)/lib/libracetrace.a
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
$(BUILD)/tests/bench_orders: $(BUILD)/obj/tests/bench/bench_orders.o $(BUILD)/lib/libracetrace.a
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

bench-growth: all $(BUILD)/bin/gen_trace $(BUILD)/bin/gen_shape ## how each stage of an analysis grows with events and threads
	@bash tests/bench/growth.sh $(BUILD)

bench-pecan: deps-check all ## PECAN's table for the programs of samples/pecan, run longer
	@bash tests/bench/pecan.sh $(BUILD)

SOURCES := $(shell git ls-files '*.c' '*.h' '*.cc' '*.cpp' 2>/dev/null)
format: deps-house ## is everything as clang-format wants it?
	@clang-format --dry-run --Werror $(filter-out tests/cases/%,$(SOURCES))
tidy: deps-house ## clang-tidy over the program, and clang's own warnings
	@bash tests/tidy.sh

bench-explore: deps-check all ## races after 1 to 10 runs by strategy, RaceFuzzer's table 1, systematic search's table
	@bash tests/bench/explore.sh $(BUILD)

bench-findings: deps-check all ## findings a person is shown, the anomalies they are made of, and ThreadSanitizer's pairs
	@bash tests/bench/findings.sh $(BUILD)

bench-truth: deps-check all ## public programs whose authors say whether they race (CORPORA=FOLDERS), and ThreadSanitizer
	@bash tests/bench/truth.sh $(BUILD) $(CORPORA)

bench-peers: all $(BUILD)/bin/gen_trace ## beside RAPID (RAPID=FOLDER), ThreadSanitizer and Helgrind, as far as they are there
	@bash tests/bench/peers.sh $(BUILD)

bench-binary: all ## programs without instrumentation: recorded by the Valgrind tool, and under Helgrind and DRD
	@bash tests/bench/binary.sh $(BUILD)

# The program finds the recorder beside itself, in ../lib/racetrace, wherever the tree is moved to.
DESTDIR ?=
ROOT = $(DESTDIR)$(PREFIX)
# The day that the sources are of: pages are the same whenever they are made.
DATE := $(or $(shell [ -z "$$SOURCE_DATE_EPOCH" ] || date -u -d "@$$SOURCE_DATE_EPOCH" +%Y-%m-%d),$(shell git log -1 --format=%cs 2>/dev/null),$(shell date -u +%Y-%m-%d))
FILL = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|'
PAGES := $(wildcard docs/*.[15])
PC := $(patsubst docs/%.in,%,$(wildcard docs/*.pc.in))
TEXTS := README.md $(filter-out docs/CONTRIBUTING.md docs/architecture.md,$(wildcard docs/*.md))
install: all ## to $(DESTDIR)$(PREFIX)
	install -d '$(ROOT)/bin' '$(ROOT)/include' '$(ROOT)/lib/racetrace/controlled' '$(ROOT)/lib/pkgconfig' '$(ROOT)/lib/cmake/racetrace' \
		'$(ROOT)/share/man/man1' '$(ROOT)/share/man/man5' '$(ROOT)/share/bash-completion/completions' \
		'$(ROOT)/share/zsh/vendor-completions' '$(ROOT)/share/fish/vendor_completions.d' '$(ROOT)/share/doc/racetrace' '$(ROOT)/share/racetrace'
	install $(BUILD)/bin/racetrace '$(ROOT)/bin/'
	install -m 644 $(RECORDERS) '$(ROOT)/lib/racetrace/'
	install -m 644 $(CONTROLLED) '$(ROOT)/lib/racetrace/controlled/'
	$(if $(TOOL),install -d '$(ROOT)/lib/racetrace/valgrind' && install $(TOOL) '$(ROOT)/lib/racetrace/valgrind/' && \
		ln -sf $(VALGRIND_OWN) '$(ROOT)/lib/racetrace/valgrind/')
	for page in $(PAGES); do \
		sed 's|^\(.TH [^ ]* [15]\) "" "racetrace"|\1 "$(DATE)" "racetrace $(VERSION)"|' $$page \
			>'$(ROOT)'/share/man/man$${page##*.}/$${page##*/} || exit 1; done
	for file in $(PC); do $(FILL) docs/$$file.in >'$(ROOT)'/lib/pkgconfig/$$file || exit 1; done
	for file in racetrace-config.cmake racetrace-config-version.cmake; do $(FILL) docs/$$file.in >'$(ROOT)'/lib/cmake/racetrace/$$file || exit 1; done
	install -m 644 recorder/racetrace.h '$(ROOT)/include/'
	install -m 644 docs/racetrace.bash '$(ROOT)/share/bash-completion/completions/racetrace'
	install -m 644 docs/racetrace.zsh '$(ROOT)/share/zsh/vendor-completions/_racetrace'
	install -m 644 docs/racetrace.fish '$(ROOT)/share/fish/vendor_completions.d/racetrace.fish'
	install -m 644 $(TEXTS) '$(ROOT)/share/doc/racetrace/'
	install -m 644 $(wildcard docs/*.schema.json) '$(ROOT)/share/racetrace/'
	install docs/memcheck '$(ROOT)/share/racetrace/'
uninstall: ## what install put there, from $(DESTDIR)$(PREFIX)
	rm -f '$(ROOT)/bin/racetrace' '$(ROOT)/include/racetrace.h' $(PC:%='$(ROOT)/lib/pkgconfig/%') \
		$(foreach page,$(PAGES),'$(ROOT)/share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page))') \
		'$(ROOT)/share/bash-completion/completions/racetrace' '$(ROOT)/share/zsh/vendor-completions/_racetrace' \
		'$(ROOT)/share/fish/vendor_completions.d/racetrace.fish'
	rm -rf '$(ROOT)/lib/racetrace' '$(ROOT)/lib/cmake/racetrace' '$(ROOT)/share/doc/racetrace' '$(ROOT)/share/racetrace'

# The packaging's files are in docs/debian; the package is built in a copy of the sources, into $(BUILD)/deb.
MAINTAINER ?= racetrace maintainers <$(or $(DEBEMAIL),maintainers@racetrace.invalid)>
DEB_PACKAGES := $(BUILD_PACKAGES) debhelper dpkg-dev fakeroot
deb: ## a Debian package, in $(BUILD)/deb
	@sh tests/deps.sh $(DEB_PACKAGES)
	rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb/racetrace-$(VERSION)
	tar -cf - --exclude='*.o' Makefile README.md LICENSE cmd lib tracefmt recorder docs | tar -C $(BUILD)/deb/racetrace-$(VERSION) -xf -
	mv $(BUILD)/deb/racetrace-$(VERSION)/docs/debian $(BUILD)/deb/racetrace-$(VERSION)/debian
	cd $(BUILD)/deb/racetrace-$(VERSION)/debian && sed -i -e 's|@MAINTAINER@|$(MAINTAINER)|' -e 's|@VERSION@|$(VERSION)|' \
		-e "s|@DATE@|$$(date -u -d '$(DATE)' -R)|" control changelog
	cd $(BUILD)/deb/racetrace-$(VERSION) && env -u MAKEFLAGS -u MAKELEVEL -u CC -u CFLAGS -u BUILD DEB_BUILD_OPTIONS="parallel=2 nocheck" \
		dpkg-buildpackage -b -us -uc -d >../build.log 2>&1 || { tail -n 30 ../build.log; exit 1; }
	@ls $(BUILD)/deb/*.deb

check-dist: all ## the package, CMake, Meson, completions, other languages: each recipe
	@sh tests/deps.sh $(DEB_PACKAGES) lintian cmake meson ninja-build pkg-config zsh fish clang gfortran gdc jq
	@bash tests/dist/run.sh $(BUILD)

clean: ## remove what was built
	rm -rf $(BUILD) $(BUILD)-san $(BUILD)-fuzz

-include $(shell find $(BUILD) $(BUILD)-fuzz -name '*.d' -type f -not -path '*/deb/*' 2>/dev/null)
