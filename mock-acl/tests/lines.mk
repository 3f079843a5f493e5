# make lines          which lines and branches of src/ the tests of the mock run. Included by the Makefile of mock-acl.
# make lines-figures  the same in two lines for .ci/full
# Fails also when tests/not-covered.tsv has no reason for a function with lines that nothing ran.
# LINES_REPORT=--list prints each line that no test runs, --branches each branch.
LINES := $(BUILD)/lines
LINES_FLAGS := -O0 -g --coverage -DMOCK_COVERAGE
.PHONY: lines lines-run lines-figures
OBJECTS_lines := $(SOURCES:src/%.c=$(LINES)/obj/%.o)
$(eval $(call test_rules,lines,$(LINES_FLAGS)))
$(eval $(call conformance_variant,lines,$(LINES_FLAGS)))
# A test or a worker thread that ends without exit() would lose its counts; each counts for itself.
$(LINES)/probes: tests/observed/probes.cpp tests/observed/hold.c $(OBJECTS_lines)
	@echo LD $@
	@$(CC) $(TEST_FLAGS) -c tests/observed/hold.c -o $(LINES)/hold.o
	@$(CXX) -std=c++17 -O0 -Iinclude $< $(LINES)/hold.o $(filter %.o,$^) --coverage -pthread -lm -ldl -o $@
LINES_DRIVER := $(wildcard tests/bad/*.c) $(BAD)/calls.c
$(LINES)/driver: $(LINES_DRIVER) $(wildcard tests/bad/*.h) $(OBJECTS_lines)
	@echo LD $@
	@$(CC) $(TEST_FLAGS) -O0 -DMOCK_COVERAGE -Itests/bad $(LINES_DRIVER) $(filter %.o,$^) \
	  --coverage -lm -ldl -o $@
LINES_OP := $(OP_TESTS)
LINES_OP_SOURCES := $(OP_SOURCES)
$(LINES_OP:%=$(LINES)/%): $(LINES)/%: tests/%.c tests/operators/support.c $(LINES_OP_SOURCES:src/%.c=$(LINES)/obj/%.o)
	@mkdir -p $(@D)
	@echo LD $@
	@$(CC) $(TEST_FLAGS) -U_GNU_SOURCE -O0 $< tests/operators/support.c $(filter %.o,$^) --coverage -lm -ldl -o $@

# For Python, which loads it.
$(LINES)/lib64/libascendcl.so: $(OBJECTS_lines)
	@echo LD $@
	@mkdir -p $(@D) && $(CC) -shared --coverage -pthread $^ -lm -ldl -o $@

# $(1): name of the log, $(2): the command. A pipe would hide that it failed.
define last_line
@$(2) > $(LINES)/$(1).log 2>&1 || { tail -20 $(LINES)/$(1).log; exit 1; }; tail -1 $(LINES)/$(1).log
endef

LINES_DRIVERS := $(TESTS:%=$(LINES)/%) $(LINES_OP:%=$(LINES)/%) $(LINES)/probes $(LINES)/driver \
                 $(LINES)/lib64/libascendcl.so $(BUILD)/conformance/with-lines
lines-run: all $(KERNELS) $(LINES_DRIVERS)
	@find $(LINES) -name '*.gcda' -delete
	$(call run_tests,,lines)
	@for t in $(LINES_OP); do $(LINES)/$$t > $(LINES)/$$t.log 2>&1 || { tail -5 $(LINES)/$$t.log; exit 1; }; done
	$(call last_line,probes,MOCK_ACL_DEVICES=2 python3 tests/observed/compare.py $(LINES)/probes \
	  tests/observed/observed.tsv --strict-text)
	$(call conform,with-lines,MOCK_ACL_DEVICES=2)
	@cd $(LINES) && ./driver > /dev/null 2>&1 # some functions write files
	$(call last_line,numpy,python3 tests/numpy/run.py $(LINES)/lib64/libascendcl.so --cases $(LINES_CASES))
	$(call last_line,refusals,python3 tests/numpy/named_refusals.py $(LINES)/lib64/libascendcl.so)
	python3 tests/models/tool.py $(LINES)/lib64/libascendcl.so
	python3 tests/models/kinds.py $(LINES)/lib64/libascendcl.so

LINES_CASES := 20
lines: lines-run
	@python3 tools/lines.py $(LINES)/obj $(LINES_REPORT)
lines-figures:
	@$(MAKE) -s lines-run >&2
	@python3 tools/lines.py $(LINES)/obj --figures
