/* Structures of the control interface, which grow with their first member. */
#include <string.h>
#include "base/base.h"

int mock_copy_out(void *out, const void *full, size_t size) {
    size_t room = 0;
    if (out == NULL) return MOCK_ACL_BAD_ARGUMENT;
    memcpy(&room, out, sizeof room);
    if (room < sizeof room) return MOCK_ACL_BAD_ARGUMENT;
    if (room < size) size = room;
    memcpy((char *)out + sizeof room, (const char *)full + sizeof room, size - sizeof room);
    return 0;
}
