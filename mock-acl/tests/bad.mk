# Bad input to every exported function. Included by the Makefile of mock-acl.
BAD := $(BUILD)/bad
.PHONY: bad-inputs bad-inputs-asan
$(BAD)/calls.c: tools/bad_inputs.py $(HEADERS)
	@mkdir -p $(@D)
	@python3 tools/bad_inputs.py generate $@
BAD_SOURCES := tests/bad/driver.c tests/bad/handles.c $(BAD)/calls.c
BAD_NEEDS := $(BAD_SOURCES) tests/bad/bad.h tests/check.h tests/models/writer.h tests/kernels/binaries/kernels.h $(KERNELS)
$(BAD)/driver: $(BAD_NEEDS) $(MOCK_LIB)
	@echo CC $@
	@$(CC) $(TEST_FLAGS) -O0 -g -Itests/bad $(BAD_SOURCES) \
	  -L$(BUILD)/lib64 -lascendcl -Wl,-rpath,'$$ORIGIN/../lib64' -o $@
bad-inputs: $(BAD)/driver
	python3 tools/bad_inputs.py check $(BAD)/driver

$(BAD)/driver-asan: $(BAD_NEEDS) $(OBJECTS_asan)
	@echo CC $@
	@$(CC) $(TEST_FLAGS) -O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Itests/bad \
	  $(BAD_SOURCES) $(filter %.o,$^) -lm -ldl -o $@
bad-inputs-asan: $(BAD)/driver-asan
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 python3 tools/bad_inputs.py check $(BAD)/driver-asan
