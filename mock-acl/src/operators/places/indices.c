#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/places/indices.h"
#include "operators/places/loop.h"
#include "operators/places/places.h"


mock_places *mock_plan_nd(mock_build *b, mock_effect effect, int data, int operand, bool wraps) {
    int64_t dims[2 * MOCK_MAX_RANK], strides[MOCK_MAX_RANK];
    if (b->status != 0) return NULL;
    const mock_view *self = &b->plan->views[data], *indices = &b->plan->views[operand];
    mock_require_index(b, indices, "indices");
    if (indices->rank == 0) mock_build_fail(b, "indices has no dimension");
    if (b->status != 0) return NULL;
    const int lead = indices->rank - 1;
    const int64_t depth = indices->dims[lead];
    if (depth > self->rank)
        mock_build_fail(b, "indices has %lld indices each, the data has %d dimensions", (long long)depth,
        self->rank);
    if (b->status != 0) return NULL;
    const int count = (int)depth, rank = lead + self->rank - count;
    for (int d = 0; d < rank; d++) dims[d] = d < lead ? indices->dims[d] : self->dims[d - lead + count];
    mock_places *p = mock_places_new(b, effect, data, rank, dims, count, 0);
    if (p == NULL) return NULL;
    mock_places_strides(b, p, strides);
    for (int d = lead; d < rank; d++) p->data_strides[d] = strides[d - lead + count];
    for (int k = 0; k < count; k++) {
        mock_lookup *l = mock_places_lookup(p, k, operand, strides[k], self->dims[k]);
        l->first = k * indices->strides[lead];
        l->wraps = wraps;
        for (int d = 0; d < lead; d++) l->strides[d] = indices->strides[d];
    }
    return p;
}

mock_places *mock_plan_linear(mock_build *b, mock_effect effect) {
    if (b->status != 0) return NULL;
    const mock_view *self = &b->plan->views[0], *index = &b->plan->views[1];
    mock_require_index(b, index, "index");
    mock_places *p = mock_places_new(b, effect, 0, index->rank, index->dims, 1, 0);
    if (p == NULL) return NULL;
    mock_lookup *l = mock_places_lookup(p, 0, 1, 1, mock_element_count(self));
    l->linear = l->wraps = true;
    for (int d = 0; d < index->rank; d++) l->strides[d] = index->strides[d];
    return p;
}

/* ---- lists of indices ---- */

static bool whole_dimension(const mock_view *v) { return mock_element_count(v) == 0; }

bool mock_some_are_whole(const mock_plan *plan) {
    const mock_view *members = mock_members(plan, &plan->views[1]);
    for (int64_t k = 0; k < plan->views[1].span; k++)
        if (whole_dimension(&members[k])) return true;
    return false;
}

typedef struct chosen {
    mock_view common;
    int count, first, last;
} chosen;

static void check_indices(mock_build *b, const mock_view *members, int64_t count, chosen *c) {
    mock_shape_text one, all;
    *c = (chosen){.first = -1};
    for (int64_t k = 0; k < count && b->status == 0; k++) {
        mock_view joined;
        if (whole_dimension(&members[k])) continue;
        mock_require_index(b, &members[k], "indices");
        if (b->status == 0 && !mock_broadcast(&c->common, &members[k], &joined))
            mock_build_fail(b, "indices[%lld] has shape %s, which does not go with %s", (long long)k,
                mock_shape(&members[k], &one), mock_shape(&c->common, &all));
        if (b->status != 0) return;
        c->common.rank = joined.rank;
        for (int d = 0; d < joined.rank; d++) c->common.dims[d] = joined.dims[d];
        if (c->first < 0) c->first = (int)k;
        c->last = (int)k;
        c->count++;
    }
}

mock_places *mock_plan_nothing(mock_build *b, mock_effect effect) {
    return mock_places_new(b, effect, 0, 1, (int64_t[]){0}, 0, 0);
}

mock_places *mock_plan_indices(mock_build *b, mock_effect effect) {
    int64_t dims[2 * MOCK_MAX_RANK] = {0}, strides[MOCK_MAX_RANK];
    chosen c;
    if (b->status != 0) return NULL;
    const mock_view *self = &b->plan->views[0], *list = &b->plan->views[1];
    const mock_view *members = mock_members(b->plan, list);
    if (list->span > self->rank)
        mock_build_fail(b, "indices has %lld tensors, the data has %d dimensions", (long long)list->span,
        self->rank);
    check_indices(b, members, list->span, &c);
    if (b->status != 0) return NULL;
    if (c.count == 0 && effect != MOCK_READ) return mock_plan_nothing(b, effect);
    const bool together = c.count != 0 && c.last - c.first + 1 == c.count;
    const int at = together ? c.first : 0, rank = self->rank - c.count + c.common.rank;
    int whole[MOCK_MAX_RANK], found = 0;
    for (int d = 0; d < self->rank; d++)
        if (d >= list->span || whole_dimension(&members[d])) whole[found++] = d;
    for (int d = 0; d < rank; d++) {
        const bool inside = d >= at && d < at + c.common.rank;
        dims[d] = inside ? c.common.dims[d - at] : self->dims[whole[d < at ? d : d - c.common.rank]];
    }
    mock_places *p = mock_places_new(b, effect, 0, rank, dims, c.count, 0);
    if (p == NULL) return NULL;
    mock_places_strides(b, p, strides);
    for (int d = 0; d < rank; d++)
        if (d < at ||
        d >= at + c.common.rank) p->data_strides[d] = strides[whole[d < at ? d : d - c.common.rank]];
    for (int k = 0, n = 0; k < list->span; k++) {
        const mock_view *v = &members[k];
        if (whole_dimension(v)) continue;
        mock_lookup *l = mock_places_lookup(p, n++, 1, strides[k], self->dims[k]);
        l->member = (int16_t)k;
        l->wraps = true;
        for (int d = 0; d < v->rank; d++)
            if (v->dims[d] != 1) l->strides[at + c.common.rank - v->rank + d] = v->strides[d];
    }
    return p;
}
