/* Attributes of queues and lists of routes between them. */
#ifndef MOCK_CHANNELS_QUEUE_ATTR_H_
#define MOCK_CHANNELS_QUEUE_ATTR_H_

#include "acl/acl_tdt_queue.h"
#include "base/base.h"

#define MOCK_QUEUE_NAME 128 /* implementation of the open runtime */

typedef struct mock_queue_attr {
    mock_thing thing;
    char name[MOCK_QUEUE_NAME];
    uint32_t depth;
} mock_queue_attr;

typedef struct mock_route {
    uint32_t from, to;
    int32_t status;
} mock_route;

typedef struct mock_routes {
    mock_thing thing;
    mock_route *routes;
    size_t count, room;
} mock_routes;

typedef struct mock_route_query {
    mock_thing thing;
    int32_t mode;
    uint32_t from, to;
    bool has_mode, has_from, has_to;
} mock_route_query;

aclError mock_queue_attr_find(const acltdtQueueAttr *handle, mock_queue_attr **out);
aclError mock_routes_find(const acltdtQueueRouteList *handle, mock_routes **out);
aclError mock_routes_add(mock_routes *r, mock_route route);
/* 100000 when its mode, or what the mode needs, was not set. */
aclError mock_route_query_find(const acltdtQueueRouteQueryInfo *handle, mock_route_query **out);

#endif
