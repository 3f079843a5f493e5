#include <stdlib.h>
#include "mock_acl.h"

void probe_hold(int stream_id);

void probe_hold(int stream_id) {
    if (stream_id == -1) mock_acl_release_stream_id(-1);
    else mock_acl_hold_stream_id(stream_id);
}

/* The recordings were made with a driver that has no events between processes. */
__attribute__((constructor)) static void driver_of_the_recordings(void) { setenv("MOCK_ACL_IPC_EVENTS", "0", 1); }
