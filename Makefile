# racetrace: `make help` lists the targets. Builds into $(BUILD); two trees with different SAN or CC do not mix if BUILD differs.
CC ?= gcc
BUILD ?= build
PREFIX ?= /usr/local
SAN ?=
VERSION := 0.1.0

WARN := -Wall -Wextra -Wshadow -Wconversion
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 $(CFLAGS) $(WARN) -I. -D_GNU_SOURCE -DRT_VERSION='"$(VERSION)"' -MMD -MP
SAN_FLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
LIBS := -lzstd -ljansson -ldw -lelf -lxxhash -liberty -lpthread -lm

TRACEFMT_SRC := $(wildcard tracefmt/*.c)
LIB_SRC := $(wildcard lib/*/*.c)
COLLECT_SRC := $(wildcard recorder/collect/*.c)
CMD_SRC := $(wildcard cmd/*.c)
RECORDER_SRC := $(wildcard recorder/*.c recorder/sched/*.c)
RECORDER_ASM := $(wildcard recorder/*.S)
UNIT_SRC := $(wildcard tests/unit/*.c)
SUITES := $(patsubst tests/unit/test_%.c,%,$(filter tests/unit/test_%.c,$(UNIT_SRC)))

obj = $(patsubst %,$(BUILD)/obj/%.o,$(basename $(1)))
LIB_OBJ := $(call obj,$(TRACEFMT_SRC) $(LIB_SRC) $(COLLECT_SRC))
CMD_OBJ := $(call obj,$(CMD_SRC))
UNIT_OBJ := $(call obj,$(UNIT_SRC))
RECORDER_OBJ := $(patsubst %,$(BUILD)/pic/%.o,$(basename $(RECORDER_SRC) $(RECORDER_ASM)))

# The recorder answers to each soname that GCC's libtsan has had; libracetrace.so is what Clang's objects are linked with.
SONAMES := libtsan.so.0 libtsan.so.2 libracetrace.so.1
RECORDERS := $(SONAMES:%=$(BUILD)/lib/racetrace/%)

.PHONY: all clean
all: $(BUILD)/bin/racetrace $(RECORDERS)

$(BUILD)/bin/racetrace: $(CMD_OBJ) $(BUILD)/lib/libracetrace.a
	@mkdir -p $(@D)
	$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/lib/libracetrace.a: $(LIB_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	ar rcs $@ $^

$(RECORDERS): $(RECORDER_OBJ)
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-soname,$(@F) -Wl,-z,now -Wl,-z,initfirst $(LDFLAGS) -o $@ $^ -lpthread -ldl

$(BUILD)/tests/unit: $(UNIT_OBJ) $(BUILD)/lib/libracetrace.a
	@mkdir -p $(@D)
	$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ -lcheck -lsubunit -lrt $(LIBS)

$(BUILD)/obj/tests/unit/runner.o: ALL_CFLAGS += -DSUITES='$(foreach s,$(SUITES),X($(s)))'
$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(SAN_FLAGS) -c -o $@ $<

# The recorder lives in other people's programs: no sanitizer, no errno games, thread-local data at fixed offsets.
RECORDER_CFLAGS := -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector -fno-builtin -fomit-frame-pointer
$(BUILD)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(RECORDER_CFLAGS) -c -o $@ $<
$(BUILD)/pic/%.o: %.S
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(RECORDER_CFLAGS) -c -o $@ $<

.PHONY: unit
unit: $(BUILD)/tests/unit ## unit tests and golden traces
	$(BUILD)/tests/unit

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
