/* Records and waits across the edge of a captured graph. With the engine lock. */
#ifndef MOCK_GRAPHS_EXTERNAL_H_
#define MOCK_GRAPHS_EXTERNAL_H_

#include "base/base.h"
#include "engine/engine.h"

/* A place inside one replay that others wait for. */
typedef struct mock_point {
    uint32_t refs;
    bool reached;
    mock_stream *stream; /* of the launch */
    uint64_t seq;
    mock_mark *mark; /* of the place */
    mock_link waiters;
} mock_point;

#endif
