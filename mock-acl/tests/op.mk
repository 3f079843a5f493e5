# Tests of objects and operators, without the runtime. Included by the Makefile of mock-acl, or used alone: make -f tests/op.mk op-test

comma := ,
OP_CC ?= $(CC)
OP_BUILD ?= build/op
OP_CFLAGS := -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -Iinclude -Isrc -Itests
OP_SOURCES := $(filter-out src/operators/own/%,$(wildcard src/objects/*.c src/operators/*.c src/operators/*/*.c))
OP_SUPPORT := tests/operators/support.c
OP_TESTS := $(patsubst tests/%.c,%,$(filter-out $(OP_SUPPORT) tests/operators/bench.c,$(wildcard tests/operators/*.c)))
OP_HEADERS := $(wildcard src/*/*.h src/*/*/*.h tests/operators/*.h include/*/*.h) src/exports.def

.PHONY: op-test op-portable op-asan op-tsan op-bench bench-ops

# $(1): variant, $(2): extra flags
define op_variant
$(OP_BUILD)/$(1)/%.o: %.c $(OP_HEADERS)
	@mkdir -p $$(@D)
	$(OP_CC) $(OP_CFLAGS) $(2) -c $$< -o $$@
$(OP_BUILD)/$(1)/%: $(OP_BUILD)/$(1)/tests/%.o $(OP_SOURCES:%.c=$(OP_BUILD)/$(1)/%.o) \
		$(OP_SUPPORT:%.c=$(OP_BUILD)/$(1)/%.o)
	@mkdir -p $$(@D)
	$(OP_CC) $(2) $$^ -o $$@ -lm -lpthread -ldl
op-$(1): $(OP_TESTS:%=$(OP_BUILD)/$(1)/%)
	@set -e; for t in $(OP_TESTS); do $(IN_PLACE) $(OP_BUILD)/$(1)/$$$$t; done
endef

$(eval $(call op_variant,test,))
$(eval $(call op_variant,portable,-DMOCK_PORTABLE))
$(eval $(call op_variant,asan,-g -fsanitize=address$(comma)undefined -fno-sanitize-recover=all))
$(eval $(call op_variant,tsan,-g -fsanitize=thread))

op-bench: $(OP_BUILD)/test/operators/bench
	$(OP_BUILD)/test/operators/bench

# The C tests on another processor: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
ARM_CC ?= aarch64-linux-gnu-gcc
ARM_RUN ?= qemu-aarch64 -L /usr/aarch64-linux-gnu
.PHONY: op-arm
op-arm:
	@$(MAKE) -s -f tests/op.mk op-test OP_CC='$(ARM_CC)' OP_BUILD=$(OP_BUILD)/arm IN_PLACE='$(ARM_RUN)'

# Ratios to OpenBLAS and memcpy in lines for .ci/full. For the first: apt-get install libopenblas0-pthread
bench-ops: $(OP_BUILD)/test/bench/operators
	@$<

# Against NumPy, which is put into the cache once when the machine has none. NUMPY_FLAGS="--cases 1000 --seed 7"
.PHONY: op-numpy
op-numpy: all
	@python3 tests/numpy/run.py $(BUILD)/lib64/libascendcl.so $(NUMPY_FLAGS)
	@python3 tests/numpy/refusals.py $(BUILD)/lib64/libascendcl.so
	@python3 tests/numpy/named_refusals.py $(BUILD)/lib64/libascendcl.so
	@python3 tests/numpy/isas.py $(BUILD)/lib64/libascendcl.so

.SECONDARY:
