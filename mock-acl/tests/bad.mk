# Bad input to every exported function. Included by the Makefile of mock-acl.
BAD := $(BUILD)/bad
.PHONY: bad-inputs bad-inputs-asan
$(BAD)/calls.c: tools/bad_inputs.py $(HEADERS)
	@mkdir -p $(@D)
	@python3 tools/bad_inputs.py generate $@
$(BAD)/driver: tests/bad/driver.c tests/bad/bad.h $(BAD)/calls.c $(MOCK_LIB)
	@echo CC $@
	@$(CC) $(TEST_FLAGS) -O0 -g -Itests/bad tests/bad/driver.c $(BAD)/calls.c \
	  -L$(BUILD)/lib64 -lascendcl -Wl,-rpath,'$$ORIGIN/../lib64' -o $@
bad-inputs: $(BAD)/driver
	python3 tools/bad_inputs.py check $(BAD)/driver

$(BAD)/driver-asan: tests/bad/driver.c tests/bad/bad.h $(BAD)/calls.c $(SOURCES:src/%.c=$(BUILD)/asan/obj/%.o)
	@echo CC $@
	@$(CC) $(TEST_FLAGS) -O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Itests/bad \
	  tests/bad/driver.c $(BAD)/calls.c $(filter %.o,$^) -lm -ldl -o $@
bad-inputs-asan: $(BAD)/driver-asan
	ASAN_OPTIONS=detect_leaks=0 python3 tools/bad_inputs.py check $(BAD)/driver-asan
