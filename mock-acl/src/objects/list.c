/* The part of a plan on the heap: members of tensor lists, and an operator's longer numbers.
 *
 * A list has 1 to 1,024 members, each a live tensor under the rules of a single one; a member counts by its
 * place, the list as one operand (own choice of the limit and the codes: 161001 for null, else 161002). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "objects/object.h"
#include "objects/objects.h"
#include "objects/public.h"

static bool grow_members(mock_build *b, size_t count) {
    mock_plan *plan = b->plan;
    mock_view *grown = realloc(plan->members, (plan->member_count + count) * sizeof *grown);
    if (grown == NULL) {
        mock_error_text("EZ9999", "%s: out of host memory", b->name);
        b->status = ACLNN_ERR_INNER;
        return false;
    }
    plan->members = grown;
    return true;
}

static const mock_list *find_list(mock_build *b, const aclTensorList *list, const char *param) {
    const mock_list *l = mock_object_get(MOCK_OBJECT_LIST, list);
    if (list == NULL) b->status = mock_null_parameter(b->name, param);
    else if (l == NULL || l->members != MOCK_OBJECT_TENSOR)
        mock_build_fail(b, "%s is not a live aclTensorList", param);
    else if (l->size == 0) mock_build_fail(b, "%s is an empty list", param);
    else if (l->size > MOCK_MAX_LIST)
        mock_build_fail(b, "%s has %llu tensors, at most %d are supported", param,
            (unsigned long long)l->size, MOCK_MAX_LIST);
    return l;
}

const mock_view *mock_build_list(
    mock_build *b, const aclTensorList *list, const char *param, mock_role role) {
    if (b->status != 0) return NULL;
    const mock_list *l = find_list(b, list, param);
    if (b->status != 0 || !grow_members(b, l->size)) return NULL;
    mock_plan *plan = b->plan;
    const size_t first = plan->member_count;
    for (uint64_t i = 0; i < l->size; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s[%u]", param, (unsigned)i);
        if (!mock_build_view(b, &plan->members[first + i], l->handles[i], name, role)) return NULL;
    }
    plan->member_count += l->size;
    mock_view *v = &plan->views[plan->count++];
    *v = (mock_view){.offset = (int64_t)first, .span = (int64_t)l->size, .role = (uint8_t)role, .list = true};
    return v;
}

mock_view *mock_members(const mock_plan *plan, const mock_view *operand) {
    return plan->members + operand->offset;
}

void *mock_build_extra(mock_build *b, size_t bytes) {
    if (b->status != 0) return NULL;
    b->plan->extra = calloc(1, bytes + 1);
    b->plan->extra_bytes = bytes;
    if (b->plan->extra != NULL) return b->plan->extra;
    mock_error_text("EZ9999", "%s: out of host memory", b->name);
    b->status = ACLNN_ERR_INNER;
    return NULL;
}

bool mock_plan_copy_heap(mock_plan *to, const mock_plan *from) {
    to->members = NULL;
    to->member_count = from->member_count;
    to->extra = NULL;
    to->extra_bytes = from->extra_bytes;
    if (from->members != NULL) {
        to->members = malloc(from->member_count * sizeof *to->members);
        if (to->members == NULL) return false;
        memcpy(to->members, from->members, from->member_count * sizeof *to->members);
    }
    if (from->extra != NULL) {
        to->extra = malloc(from->extra_bytes + 1);
        if (to->extra == NULL) return false;
        memcpy(to->extra, from->extra, from->extra_bytes);
    }
    return true;
}
