/* Records and waits across the edge of a captured graph. With the engine lock. */
#ifndef MOCK_EXTERNAL_H_
#define MOCK_EXTERNAL_H_

#include "engine/core.h"

/* A place inside one replay that others wait for. */
typedef struct mock_point {
    uint32_t refs;
    bool reached;
    mock_stream *stream; /* of the launch */
    uint64_t seq;
    mock_link waiters;
} mock_point;

mock_point *mock_point_ref(mock_point *p);
void mock_point_unref(mock_point *p);
mock_outcome mock_point_step(mock_stream *s, mock_task *t);
aclError mock_point_synchronize(mock_point *p, int64_t timeout_ns);

/* The node on a capturing stream: a record, or a wait. */
aclError mock_external_capture(mock_stream *s, mock_event *e, bool record);

#endif
