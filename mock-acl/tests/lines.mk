# make lines   which lines and branches of src/ the C tests run. Included by the Makefile of mock-acl.
LINES := $(BUILD)/lines
LINES_FLAGS := -O0 -g --coverage -DMOCK_COVERAGE
.PHONY: lines
$(eval $(call test_rules,lines,$(LINES_FLAGS)))
$(eval $(call conformance_variant,lines,$(LINES_FLAGS)))
# A test or a worker thread that ends without exit() would lose its counts; each counts for itself.
$(LINES)/probes: tests/observed/probes.cpp tests/observed/hold.c $(SOURCES:src/%.c=$(LINES)/obj/%.o)
	@echo LD $@
	@$(CC) $(TEST_FLAGS) -c tests/observed/hold.c -o $(LINES)/hold.o
	@$(CXX) -std=c++17 -O0 -Iinclude $< $(LINES)/hold.o $(filter %.o,$^) --coverage -pthread -lm -ldl -o $@
$(LINES)/driver: tests/bad/driver.c tests/bad/bad.h $(BAD)/calls.c $(SOURCES:src/%.c=$(LINES)/obj/%.o)
	@echo LD $@
	@$(CC) $(TEST_FLAGS) -O0 -DMOCK_COVERAGE -Itests/bad tests/bad/driver.c $(BAD)/calls.c $(filter %.o,$^) \
	  --coverage -lm -ldl -o $@
LINES_OP := $(patsubst tests/%.c,%,$(filter-out tests/op_support.c tests/op_bench.c,$(wildcard tests/op_*.c)))
LINES_OP_SOURCES := $(wildcard src/nn_*.c src/op_*.c)
$(LINES_OP:%=$(LINES)/%): $(LINES)/%: tests/%.c tests/op_support.c $(LINES_OP_SOURCES:src/%.c=$(LINES)/obj/%.o)
	@echo LD $@
	@$(CC) $(TEST_FLAGS) -O0 $< tests/op_support.c $(filter %.o,$^) --coverage -lm -ldl -o $@

lines: $(TESTS:%=$(LINES)/%) $(LINES_OP:%=$(LINES)/%) $(LINES)/probes $(LINES)/driver $(BUILD)/conformance/with-lines
	@find $(LINES) -name '*.gcda' -delete
	$(call run_tests,,lines)
	@for t in $(LINES_OP); do $(LINES)/$$t > $(LINES)/$$t.log 2>&1 || { tail -5 $(LINES)/$$t.log; exit 1; }; done
	python3 tests/observed/compare.py $(LINES)/probes --strict-text | tail -1
	$(call conform,with-lines,MOCK_ACL_DEVICES=2)
	@$(LINES)/driver > /dev/null 2>&1
	python3 tools/lines.py $(LINES)/obj
