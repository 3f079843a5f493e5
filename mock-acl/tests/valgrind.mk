# What takes Valgrind: 20 minutes and more. Included by the Makefile of mock-acl.
#
# make valgrind               the C tests and those of the operators
# make conformance-valgrind   the conformance suite, as C
# make valgrind-figures       both, as lines for .ci/full
# Without suppressions. A program is clean when Valgrind finds nothing and the program ends as it should.
#
# Valgrind keeps a shadow of all that is mapped: with a card's memory each program would take minutes. In a small
# address space the mock has less of it, which MOCK_TEST_SMALL tells the two tests that ask for its size.
VALGRIND := valgrind -q --trace-children=yes --error-exitcode=99 --fair-sched=yes
VALGRIND_SPACE := ulimit -v 6000000; export MOCK_TEST_SMALL=1
VALGRIND_PROGRAMS := $(TESTS:%=$(BUILD)/test/%) $(OP_TESTS:%=$(OP_BUILD)/test/%)
.PHONY: valgrind conformance-valgrind valgrind-figures
$(BUILD)/valgrind.count: $(KERNELS) $(VALGRIND_PROGRAMS)
	@$(VALGRIND_SPACE); clean=0; for p in $(VALGRIND_PROGRAMS); do t=$${p##*/}; printf '%-16s' $$t; \
	  if $(VALGRIND) $$p > $$p.valgrind.log 2>&1; then echo clean; clean=$$((clean + 1)); \
	  else echo FAILED; grep -m 20 . $$p.valgrind.log; fi; done; \
	echo $$clean > $@
valgrind:
	@rm -f $(BUILD)/valgrind.count
	@$(MAKE) --no-print-directory $(BUILD)/valgrind.count
	@test "$$(cat $(BUILD)/valgrind.count)" = $(words $(VALGRIND_PROGRAMS))

conformance-valgrind: $(BUILD)/conformance/with-test $(KERNELS)
	$(call conform,with-test,$(VALGRIND_SPACE); MOCK_ACL_DEVICES=2 $(VALGRIND))

# $(1): what was run, $(2): how many are clean, $(3): of how many
define valgrind_figure
@n=$(2); all=$(strip $(3)); met=missed; test "$$n" = "$$all" && met=met; \
  printf '%s clean under Valgrind\t%s\t\tof %s\t%s\n' '$(1)' "$$n" "$$all" "$$met"
endef
COUNT_CASES = sed -n 's/^<testcase.*/x/p' $(BUILD)/conformance/with-test.xml | wc -l
COUNT_FAILED = grep -c '<failure' $(BUILD)/conformance/with-test.xml
valgrind-figures:
	@$(MAKE) -s valgrind >&2 || true
	@$(MAKE) -s conformance-valgrind >&2 || true
	$(call valgrind_figure,C tests of mock-acl,$$(cat $(BUILD)/valgrind.count),$(words $(VALGRIND_PROGRAMS)))
	$(call valgrind_figure,conformance checks of mock-acl,$$(( $$($(COUNT_CASES)) - $$($(COUNT_FAILED)) )),\
	  $$($(COUNT_CASES)))
