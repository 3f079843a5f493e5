/* Attributes of queues, routes and questions about them (header: acl_tdt_queue.h; codes: implementation
 * of the open runtime). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "channels/queue_attr.h"

#define DEPTH 8 /* implementation of the open runtime */

typedef struct route_thing {
    mock_thing thing;
    mock_route route;
} route_thing;

static void drop_routes(void *thing) { free(((mock_routes *)thing)->routes); }

static const mock_thing_type attr_type = {"acltdtQueueAttr", NULL};
static const mock_thing_type route_type = {"acltdtQueueRoute", NULL};
static const mock_thing_type routes_type = {"acltdtQueueRouteList", drop_routes};
static const mock_thing_type query_type = {"acltdtQueueRouteQueryInfo", NULL};

MOCK_THING_FINDER(mock_queue_attr_find, acltdtQueueAttr, mock_queue_attr, attr_type, "attr")

MOCK_THING_FINDER(mock_routes_find, acltdtQueueRouteList, mock_routes, routes_type, "routeList")

/* ---- attributes ---- */

MOCK_EXPORT acltdtQueueAttr *acltdtCreateQueueAttr(void) {
    MOCK_ENTER_PTR(acltdtCreateQueueAttr);
    mock_queue_attr *a = mock_thing_new(&attr_type, sizeof *a);
    if (a == NULL) return NULL;
    a->depth = DEPTH;
    return a->thing.handle;
}

MOCK_EXPORT aclError acltdtDestroyQueueAttr(const acltdtQueueAttr *attr) {
    MOCK_ENTER(acltdtDestroyQueueAttr);
    return mock_thing_destroy(&attr_type, attr, "attr");
}

static aclError set_name(mock_queue_attr *a, const void *param, size_t len) {
    const char *name = NULL;
    if (len != sizeof name) return mock_invalid("%zu bytes for a pointer", len);
    memcpy(&name, param, sizeof name);
    if (name == NULL) return mock_null("*param");
    const size_t n = strnlen(name, MOCK_QUEUE_NAME);
    if (n == MOCK_QUEUE_NAME) return mock_invalid("a name has at most %d bytes", MOCK_QUEUE_NAME - 1);
    memcpy(a->name, name, n + 1);
    return 0;
}

/* The depth takes 4 bytes (own choice: the real one also takes fewer). */
MOCK_EXPORT aclError acltdtSetQueueAttr(
    acltdtQueueAttr *attr, acltdtQueueAttrType type, size_t len, const void *param) {
    MOCK_ENTER(acltdtSetQueueAttr);
    mock_queue_attr *a = NULL;
    const aclError code = mock_queue_attr_find(attr, &a);
    if (code != 0) return code;
    if (param == NULL) return mock_null("param");
    if (type == ACL_TDT_QUEUE_NAME_PTR) return set_name(a, param, len);
    if (type != ACL_TDT_QUEUE_DEPTH_UINT32) return mock_invalid("attribute %d", (int)type);
    if (len != sizeof a->depth) return mock_invalid("%zu bytes for the depth", len);
    memcpy(&a->depth, param, sizeof a->depth);
    return 0;
}

static aclError copy_out(const void *from, size_t size, size_t len, size_t *copied, void *param) {
    if (len < size) return mock_invalid("room for %zu bytes, %zu needed", len, size);
    memcpy(param, from, size);
    *copied = size;
    return 0;
}

MOCK_EXPORT aclError acltdtGetQueueAttr(
    const acltdtQueueAttr *attr, acltdtQueueAttrType type, size_t len, size_t *paramRetSize, void *param) {
    MOCK_ENTER(acltdtGetQueueAttr);
    mock_queue_attr *a = NULL;
    const aclError code = mock_queue_attr_find(attr, &a);
    if (code != 0) return code;
    if (param == NULL || paramRetSize == NULL) return mock_null("param and paramRetSize");
    const char *name = a->name;
    if (type == ACL_TDT_QUEUE_NAME_PTR) return copy_out(&name, sizeof name, len, paramRetSize, param);
    if (type == ACL_TDT_QUEUE_DEPTH_UINT32) return copy_out(&a->depth, sizeof a->depth, len, paramRetSize,
        param);
    return mock_invalid("attribute %d", (int)type);
}

/* ---- routes ---- */

MOCK_EXPORT acltdtQueueRoute *acltdtCreateQueueRoute(uint32_t srcId, uint32_t dstId) {
    MOCK_ENTER_PTR(acltdtCreateQueueRoute);
    route_thing *r = mock_thing_new(&route_type, sizeof *r);
    if (r == NULL) return NULL;
    r->route = (mock_route){srcId, dstId, 0};
    return r->thing.handle;
}

MOCK_EXPORT aclError acltdtDestroyQueueRoute(const acltdtQueueRoute *route) {
    MOCK_ENTER(acltdtDestroyQueueRoute);
    return mock_thing_destroy(&route_type, route, "route");
}

MOCK_EXPORT aclError acltdtGetQueueRouteParam(const acltdtQueueRoute *route, acltdtQueueRouteParamType type,
    size_t len, size_t *paramRetSize, void *param) {
    MOCK_ENTER(acltdtGetQueueRouteParam);
    void *found = NULL;
    const aclError code = mock_thing_find(&route_type, route, "route", &found);
    if (code != 0) return code;
    if (param == NULL || paramRetSize == NULL) return mock_null("param and paramRetSize");
    const mock_route *r = &((route_thing *)found)->route;
    if (type > ACL_TDT_QUEUE_ROUTE_STATUS_INT32) return mock_invalid("parameter %d", (int)type);
    const void *from = type == ACL_TDT_QUEUE_ROUTE_SRC_UINT32   ? (const void *)&r->from
                       : type == ACL_TDT_QUEUE_ROUTE_DST_UINT32 ? (const void *)&r->to
                                                                : (const void *)&r->status;
    return copy_out(from, 4, len, paramRetSize, param);
}

MOCK_EXPORT acltdtQueueRouteList *acltdtCreateQueueRouteList(void) {
    MOCK_ENTER_PTR(acltdtCreateQueueRouteList);
    const mock_routes *r = mock_thing_new(&routes_type, sizeof *r);
    return r == NULL ? NULL : r->thing.handle;
}

MOCK_EXPORT aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList *routeList) {
    MOCK_ENTER(acltdtDestroyQueueRouteList);
    return mock_thing_destroy(&routes_type, routeList, "routeList");
}

aclError mock_routes_add(mock_routes *r, mock_route route) {
    if (r->count == r->room) {
        const size_t room = r->room == 0 ? 8 : 2 * r->room;
        mock_route *routes = realloc(r->routes, room * sizeof *routes);
        if (routes == NULL) return mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory for routes");
        r->routes = routes;
        r->room = room;
    }
    r->routes[r->count++] = route;
    return 0;
}

/* The list has a copy. */
MOCK_EXPORT aclError acltdtAddQueueRoute(acltdtQueueRouteList *routeList, const acltdtQueueRoute *route) {
    MOCK_ENTER(acltdtAddQueueRoute);
    mock_routes *r = NULL;
    void *found = NULL;
    aclError code = mock_routes_find(routeList, &r);
    if (code == 0) code = mock_thing_find(&route_type, route, "route", &found);
    return code != 0 ? code : mock_routes_add(r, ((route_thing *)found)->route);
}

MOCK_EXPORT aclError acltdtGetQueueRoute(
    const acltdtQueueRouteList *routeList, size_t index, acltdtQueueRoute *route) {
    MOCK_ENTER(acltdtGetQueueRoute);
    mock_routes *r = NULL;
    void *found = NULL;
    aclError code = mock_routes_find(routeList, &r);
    if (code == 0) code = mock_thing_find(&route_type, route, "route", &found);
    if (code != 0) return code;
    if (index >= r->count) return mock_invalid("route %zu of %zu", index, r->count);
    ((route_thing *)found)->route = r->routes[index];
    return 0;
}

MOCK_EXPORT size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList *routeList) {
    mock_routes *r = NULL;
    if (mock_enter(MOCK_API_acltdtGetQueueRouteNum) != 0) return 0;
    return mock_routes_find(routeList, &r) == 0 ? r->count : 0;
}

/* ---- questions ---- */

MOCK_EXPORT acltdtQueueRouteQueryInfo *acltdtCreateQueueRouteQueryInfo(void) {
    MOCK_ENTER_PTR(acltdtCreateQueueRouteQueryInfo);
    const mock_route_query *q = mock_thing_new(&query_type, sizeof *q);
    return q == NULL ? NULL : q->thing.handle;
}

MOCK_EXPORT aclError acltdtDestroyQueueRouteQueryInfo(const acltdtQueueRouteQueryInfo *info) {
    MOCK_ENTER(acltdtDestroyQueueRouteQueryInfo);
    return mock_thing_destroy(&query_type, info, "info");
}

MOCK_EXPORT aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo *param,
    acltdtQueueRouteQueryInfoParamType type, size_t len, const void *value) {
    MOCK_ENTER(acltdtSetQueueRouteQueryInfo);
    void *found = NULL;
    const aclError code = mock_thing_find(&query_type, param, "param", &found);
    if (code != 0) return code;
    if (value == NULL) return mock_null("value");
    mock_route_query *q = found;
    uint32_t number = 0;
    if (type > ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32) return mock_invalid("parameter %d", (int)type);
    if (len != sizeof number) return mock_invalid("%zu bytes for a number of 4", len);
    memcpy(&number, value, sizeof number);
    if (type == ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM) q->mode = (int32_t)number, q->has_mode = true;
    else if (type == ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32) q->from = number, q->has_from = true;
    else q->to = number, q->has_to = true;
    return 0;
}

aclError mock_route_query_find(const acltdtQueueRouteQueryInfo *handle, mock_route_query **out) {
    void *found = NULL;
    const aclError code = mock_thing_find(&query_type, handle, "queryInfo", &found);
    if (code != 0) return code;
    const mock_route_query *q = *out = found;
    const bool both = q->mode == ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST;
    const bool from = both || q->mode == ACL_TDT_QUEUE_ROUTE_QUERY_SRC;
    const bool to = both || q->mode == ACL_TDT_QUEUE_ROUTE_QUERY_DST;
    const bool known = from || to || q->mode == ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL;
    if (!q->has_mode || !known || (from && !q->has_from) || (to && !q->has_to))
        return mock_invalid("the question has no mode, or not the queues that its mode needs");
    return 0;
}
