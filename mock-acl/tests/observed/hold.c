#include "mock_acl.h"

void probe_hold(int stream_id);

void probe_hold(int stream_id) {
    if (stream_id == -1) mock_acl_release_stream_id(-1);
    else mock_acl_hold_stream_id(stream_id);
}
