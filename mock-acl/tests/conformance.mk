# The conformance suite. Included by the Makefile of mock-acl.
#
# make conformance            as C and as C++, against the mock
# make conformance LIB=path   the same programs against another libascendcl.so
# make conformance-asan, -tsan   with the mock's sources, under the sanitizers; -valgrind: tests/valgrind.mk
# make conformance-sets       compiled with real headers, run on the mock
# make conformance-rules      that each rule of rules-*.tsv has a check; RULES_FLAGS=--unnamed lists checks without a rule
# CONFORMANCE_FLAGS="--only event --all" chooses and prints more; results as JUnit XML in build/conformance/*.xml
CONFORMANCE := $(wildcard tests/conformance/*.c)
CONFORMANCE_HEADERS := $(HEADERS) tests/conformance/conform.h Makefile tests/conformance.mk
CONFORMANCE_WARNINGS := -Wall -Wextra -Wpedantic -Werror -pthread
# A function that a library lacks ends the check that calls it, not the program: hence lazy binding.
CONFORMANCE_LINK := -L$(BUILD)/lib64 -lascendcl -ldl -pthread -Wl,-z,lazy
TESTED := $(abspath $(or $(LIB),$(MOCK_LIB)))

.PHONY: conformance conformance-asan conformance-tsan
$(BUILD)/conformance/c/%.o: tests/conformance/%.c $(CONFORMANCE_HEADERS)
	@mkdir -p $(@D)
	@$(CC) -std=c11 -D_GNU_SOURCE $(CONFORMANCE_WARNINGS) -O1 -g -Iinclude -c $< -o $@
$(BUILD)/conformance/cxx/%.o: tests/conformance/%.c $(CONFORMANCE_HEADERS)
	@mkdir -p $(@D)
	@$(CXX) -x c++ -std=c++14 $(CONFORMANCE_WARNINGS) -O0 -g -Iinclude -c $< -o $@
$(BUILD)/conformance/as-c: $(CONFORMANCE:tests/conformance/%.c=$(BUILD)/conformance/c/%.o) $(MOCK_LIB)
	@echo LD $@
	@$(CC) $(filter %.o,$^) $(CONFORMANCE_LINK) -o $@
$(BUILD)/conformance/as-c++: $(CONFORMANCE:tests/conformance/%.c=$(BUILD)/conformance/cxx/%.o) $(MOCK_LIB)
	@echo LD $@
	@$(CXX) $(filter %.o,$^) $(CONFORMANCE_LINK) -o $@

# $(1): program, $(2): what goes before it
define conform
@echo "conformance, $(1):"
@$(2) $(BUILD)/conformance/$(1) --junit $(BUILD)/conformance/$(1).xml $(CONFORMANCE_FLAGS)
@case '$(CONFORMANCE_FLAGS)' in *--list*) ;; *) python3 tests/conformance/report.py $(BUILD)/conformance/$(1).xml;; esac
endef

# The library is found by its usual name, whatever the file is called.
conformance: $(BUILD)/conformance/as-c $(BUILD)/conformance/as-c++ $(KERNELS)
	@mkdir -p $(BUILD)/conformance/lib && ln -sfn '$(TESTED)' $(BUILD)/conformance/lib/libascendcl.so
	$(foreach p,as-c as-c++,$(call conform,$(p),MOCK_ACL_DEVICES=$${MOCK_ACL_DEVICES:-2} \
	  LD_LIBRARY_PATH='$(abspath $(BUILD))/conformance/lib:$(dir $(TESTED)):'"$$LD_LIBRARY_PATH")$(newline))

# $(1): variant with objects of the mock's sources from the tests, $(2): flags
define conformance_variant
$(BUILD)/conformance/$(1)/%.o: tests/conformance/%.c $(CONFORMANCE_HEADERS)
	@mkdir -p $$(@D)
	@$(CC) -std=c11 -D_GNU_SOURCE $(CONFORMANCE_WARNINGS) $(2) -Iinclude -c $$< -o $$@
$(BUILD)/conformance/with-$(1): $(CONFORMANCE:tests/conformance/%.c=$(BUILD)/conformance/$(1)/%.o) \
		$(OBJECTS_$(1))
	@echo LD $$@
	@$(CC) -rdynamic $(2) $$^ -lm -ldl -pthread -o $$@
conformance-$(1): $(BUILD)/conformance/with-$(1) $(KERNELS)
	$$(call conform,with-$(1),MOCK_ACL_DEVICES=2 TSAN_OPTIONS=halt_on_error=1:atexit_sleep_ms=50)
endef
$(eval $(call conformance_variant,asan,-O1 -g -fsanitize=address$(COMMA)undefined -fno-sanitize-recover=all))
$(eval $(call conformance_variant,tsan,-O1 -g -fsanitize=thread))
$(eval $(call conformance_variant,test,-O1 -g))

# A rule of the runtime that no check stands for is an error, and so is a check that is gone.
.PHONY: conformance-rules
conformance-rules: $(BUILD)/conformance/as-c
	@LD_LIBRARY_PATH='$(abspath $(BUILD))/lib64' $< --list | python3 tools/rules.py $(RULES_FLAGS)

# The same with the headers inside the wheels that `make headers` downloads, as C++.
.PHONY: conformance-sets
conformance-sets: $(MOCK_LIB) $(KERNELS)
	python3 tools/conformance_sets.py $(HEADERS_FLAGS) $(BUILD)
