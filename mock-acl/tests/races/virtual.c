/* Memory that is mapped: accesses count by address, and unmapping counts as giving back. */
#include "races/racy.h"

#define PAGE ((size_t)2 << 20)

static aclrtStream a, b;
static char *va;
static aclrtDrvMemHandle page[2];

static void reserve(void) {
    start();
    a = new_stream(), b = new_stream();
    const aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM_HUGE, .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    OK(aclrtReserveMemAddress((void **)&va, 2 * PAGE, 0, NULL, 0));
    for (int i = 0; i < 2; i++) {
        OK(aclrtMallocPhysical(&page[i], PAGE, &prop, 0));
        OK(aclrtMapMem(va + (size_t)i * PAGE, PAGE, 0, page[i], 0));
    }
}

/* Across both pages. */
static void accesses(void) {
    reserve();
    fill(va, PAGE, a);
    fill(va + PAGE, PAGE, b);
    races(0);
    fill(va + PAGE - 8, 16, a);
    fill(va + PAGE, 4, b);
    races(1);
    CHECK(race_at(0).address == va + PAGE && race_at(0).bytes == 4);
    CHECK(has(0, "aclrtMemsetAsync"));
}

static void unmapped_too_early(void) {
    reserve();
    fill(va, PAGE, a);
    wait_for(a);
    OK(aclrtUnmapMem(va)); /* the host knows that it is done */
    races(0);
    fill(va + PAGE, PAGE, b);
    mock_acl_run_until_idle(); /* and here it does not */
    OK(aclrtUnmapMem(va + PAGE));
    races(1);
    CHECK(has(0, "aclrtUnmapMem of the host") && has(0, "gives back"));
}

/* Other pages at the same addresses, and addresses that are reserved again, begin anew. */
static void mapped_again(void) {
    reserve();
    fill(va, 2 * PAGE, a);
    wait_for(a);
    OK(aclrtUnmapMem(va));
    OK(aclrtUnmapMem(va + PAGE));
    OK(aclrtMapMem(va, PAGE, 0, page[1], 0));
    fill(va, PAGE, b);
    races(0);
    OK(aclrtUnmapMem(va));
    OK(aclrtReleaseMemAddress(va));
    void *again = NULL;
    OK(aclrtReserveMemAddress(&again, 2 * PAGE, 0, NULL, 0));
    OK(aclrtMapMem(again, PAGE, 0, page[0], 0));
    fill(again, PAGE, a);
    races(0);
    fill(again, 8, b);
    fill(again, 8, a);
    races(1);
}

/* The same page at two addresses is two memories: races.md says so. */
static void two_addresses(void) {
    reserve();
    OK(aclrtUnmapMem(va + PAGE));
    OK(aclrtMapMem(va + PAGE, PAGE, 0, page[0], 0));
    fill(va, PAGE, a);
    fill(va + PAGE, PAGE, b);
    races(0);
}

int main(void) {
    accesses();
    unmapped_too_early();
    mapped_again();
    two_addresses();
    return 0;
}
