/* Part of racl (mock-acl). Synchronous copies that let queued work end first, for programs that forget to wait. */
#include "check.h"

int main(void) {
    setenv("MOCK_ACL_COPIES_WAIT", "1", 1);
    up();
    unsigned char *d = device(4);
    aclrtStream s = new_stream(), held = new_stream();
    for (unsigned char i = 1; i < 20; i++) {
        OK(aclrtMemsetAsync(d, 4, i, 4, s));
        CHECK(byte_at(d) == i);
    }
    /* What cannot run is not waited for. */
    OK(mock_acl_hold_stream(held));
    OK(aclrtMemsetAsync(d, 4, 77, 4, held));
    CHECK(byte_at(d) == 19);
    OK(mock_acl_release_stream(held));
    OK(aclrtMemset(d + 1, 3, 5, 3)); /* a fill as well */
    unsigned char all[4];
    OK(aclrtMemcpy(all, 4, d, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(all[0] == 77 && all[1] == 5);
    return 0;
}
