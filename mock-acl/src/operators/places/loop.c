/* The loop of operators/places/loop.h. Added and multiplied numbers are collected in f64 or s64 and rounded once
 * for each place; places that no turn names keep their bits (own choice). Workspace: none, or that collection. */
#include "objects/objects.h"
#include "operators/moves/moves.h"
#include "operators/operators.h"
#include "operators/places/loop.h"
#include "operators/places/places.h"

#include <string.h>


typedef struct turn {
    const mock_plan *plan;
    const mock_places *p;
    const void *index[MOCK_MAX_RANK];
    int32_t index_type[MOCK_MAX_RANK];
    const mock_view *data;
    char *data_first;
    const char *other_first;
    size_t size, other_size;
    int32_t type; /* of the other tensor */
    uint8_t *touched;
    bool real;
} turn;

static int64_t index_at(int32_t type, const void *first, int64_t at) {
    switch (type) {
        case ACL_INT8: return ((const int8_t *)first)[at];
        case ACL_UINT8: return ((const uint8_t *)first)[at];
        case ACL_INT16: return ((const int16_t *)first)[at];
        case ACL_INT32: return ((const int32_t *)first)[at];
        default: return ((const int64_t *)first)[at];
    }
}

static int64_t linear_place(const mock_view *v, bool dense, int64_t index) {
    int64_t at = 0;
    if (dense) return index;
    for (int d = v->rank; d-- > 0; index /= v->dims[d]) at += index % v->dims[d] * v->strides[d];
    return at;
}

typedef enum outcome { BAD, FOUND, SKIPPED } outcome;

/* Bad when an index is out of range. */
static outcome find_place(const turn *t, const int64_t *i, int64_t *place) {
    const mock_places *p = t->p;
    int64_t at = 0;
    for (int d = 0; d < p->rank; d++) at += i[d] * p->data_strides[d];
    for (int k = 0; k < p->lookups; k++) {
        const mock_lookup *l = &p->lookup[k];
        int64_t from = l->first;
        for (int d = 0; d < p->rank; d++) from += i[d] * l->strides[d];
        int64_t index = index_at(t->index_type[k], t->index[k], from);
        if (l->skips && index == l->skipped) return SKIPPED;
        if (index < 0 && l->wraps) index += l->size;
        if (index < 0 || index >= l->size - l->reserved) return BAD;
        at += l->linear ? linear_place(t->data, t->touched != NULL, index) : index * l->step;
    }
    *place = at;
    return FOUND;
}

static void move_elements(char *to, int64_t to_step, const char *from, int64_t from_step, size_t size,
    int64_t n) {
    if (to_step == 1 && from_step == 1) {
        memmove(to, from, (size_t)n * size);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * to_step * (int64_t)size, from + i * from_step * (int64_t)size, size);
}

static void collect_real(const turn *t, int64_t place, const char *from) {
    double *to = (double *)(void *)t->data_first + place, value = 0;
    const void *x = mock_load(MOCK_F64, t->type, from, 0, 1, &value);
    if (x != &value) memcpy(&value, x, sizeof value);
    *to = t->p->effect == MOCK_ADD ? *to + t->p->factor * value : *to * value;
}

static void collect_whole(const turn *t, int64_t place, const char *from) {
    uint64_t *to = (uint64_t *)(void *)t->data_first + place;
    int64_t value = 0;
    const void *x = mock_load(MOCK_I64, t->type, from, 0, 1, &value);
    if (x != &value) memcpy(&value, x, sizeof value);
    const uint64_t factor = (uint64_t)t->p->whole_factor;
    *to = t->p->effect == MOCK_ADD ? *to + factor * (uint64_t)value : *to * (uint64_t)value;
}

/* `n` turns that only differ in the last dimension, whose places follow each other. */
static void run_row(const turn *t, int64_t place, int64_t step, const char *other, int64_t other_step,
    int64_t n) {
    char *data = t->data_first + place * (int64_t)t->size;
    if (t->p->effect == MOCK_READ) {
        move_elements((char *)(uintptr_t)other, other_step, data, step, t->size, n);
    } else if (t->p->effect == MOCK_WRITE) {
        move_elements(data, step, other, other_step, t->size, n);
    } else {
        for (int64_t k = 0; k < n; k++) {
            const char *from = other + k * other_step * (int64_t)t->other_size;
            if (t->real) collect_real(t, place + k * step, from);
            else collect_whole(t, place + k * step, from);
            t->touched[place + k * step] = 1;
        }
    }
}

static bool next(const mock_places *p, int rank, int64_t *i) {
    for (int d = rank; d-- > 0;) {
        if (++i[d] < p->dims[d]) return true;
        i[d] = 0;
    }
    return false;
}

/* Whether all indices stay the same along the last dimension. */
static bool row_is_plain(const mock_places *p) {
    if (p->rank == 0) return false;
    for (int k = 0; k < p->lookups; k++)
        if (p->lookup[k].strides[p->rank - 1] != 0) return false;
    return true;
}

static aclError run_turns(const turn *t) {
    const mock_places *p = t->p;
    const bool rows = row_is_plain(p);
    const int rank = rows ? p->rank - 1 : p->rank;
    int64_t i[MOCK_MAX_RANK] = {0}, place;
    for (int d = 0; d < p->rank; d++)
        if (p->dims[d] == 0) return 0;
    do {
        int64_t other = 0;
        for (int d = 0; d < p->rank; d++) other += i[d] * p->other_strides[d];
        const outcome found = find_place(t, i, &place);
        if (found == BAD) return MOCK_DEVICE_FAULT;
        if (found == SKIPPED) continue;
        const char *at = t->other_first + other * (int64_t)t->other_size;
        if (rows) run_row(t, place, p->data_strides[rank], at, p->other_strides[rank], p->dims[rank]);
        else run_row(t, place, 1, at, 1, 1);
    } while (next(p, rank, i));
    return 0;
}

/* ---- the collection of numbers ---- */

static mock_view dense_view(const mock_view *v, bool real) {
    mock_view dense = *v;
    int64_t stride = 1;
    dense.dtype = real ? ACL_DOUBLE : ACL_INT64;
    for (int d = v->rank; d-- > 0; stride *= v->dims[d]) dense.strides[d] = stride;
    return dense;
}

static void store_touched(const turn *t, char *first) {
    const mock_view *v = t->data;
    const int64_t count = mock_element_count(v);
    for (int64_t k = 0; k < count; k++) {
        if (t->touched[k] == 0) continue;
        char *to = first + linear_place(v, false, k) * (int64_t)mock_dtype_size(v->dtype);
        mock_store(t->real ? MOCK_F64 : MOCK_I64, v->dtype, to, 0, 1, t->data_first + k * 8);
    }
}

static aclError run_collected(turn *t) {
    char *first = t->data_first;
    const int64_t count = mock_element_count(t->data);
    const mock_view dense = dense_view(t->data, t->real);
    char *work = mock_plan_workspace(t->plan);
    if (work == NULL) return MOCK_DEVICE_FAULT;
    if (count == 0) return 0;
    mock_copy_view(&dense, work, t->data, first);
    t->data_first = work;
    t->touched = (uint8_t *)work + count * 8;
    memset(t->touched, 0, (size_t)count);
    const aclError result = run_turns(t);
    store_touched(t, first);
    return result;
}

static void fill_zero(const mock_view *v, char *first) {
    int64_t zero = 0;
    const mock_view one = {.dtype = v->dtype};
    mock_copy_view(v, first, &one, &zero);
}

static bool open_indices(turn *t) {
    const mock_places *p = t->p;
    for (int k = 0; k < p->lookups; k++) {
        const mock_lookup *l = &p->lookup[k];
        t->index_type[k] = ACL_INT64;
        t->index[k] = &p->lookup[p->lookups];
        if (l->operand < 0) continue;
        const mock_view *v = &t->plan->views[l->operand];
        if (l->member >= 0) v = mock_members(t->plan, v) + l->member;
        t->index_type[k] = v->dtype;
        t->index[k] = mock_view_pointer(v);
        if (t->index[k] == NULL) return false;
    }
    return true;
}

aclError mock_places_run(void *arg) {
    const mock_plan *plan = arg;
    const mock_places *p = plan->extra;
    const mock_view *data = &plan->views[p->data];
    turn t = {.plan = plan, .p = p, .data = data, .size = mock_dtype_size(data->dtype), .type = data->dtype};
    t.real = mock_dtype_is_floating(data->dtype);
    t.data_first = mock_plan_pointer(plan, (unsigned)p->data);
    t.other_first = p->other < 0 ? (const char *)p->value : mock_plan_pointer(plan, (unsigned)p->other);
    if (p->other >= 0) t.type = plan->views[p->other].dtype;
    t.other_size = mock_dtype_size(t.type);
    void *self = p->self < 0 ? t.data_first : mock_plan_pointer(plan, (unsigned)p->self);
    if (t.data_first == NULL || t.other_first == NULL || self == NULL || !open_indices(&t))
        return MOCK_DEVICE_FAULT;
    if (p->self >= 0) mock_copy_view(data, t.data_first, &plan->views[p->self], self);
    if (p->clear) fill_zero(data, t.data_first);
    if (p->effect < MOCK_ADD) return run_turns(&t);
    t.size = 8;
    return run_collected(&t);
}

/* ---- first phases ---- */

mock_places *mock_places_new(
    mock_build *b, mock_effect effect, int data, int rank, const int64_t *dims, int lookups, size_t numbers) {
    const size_t bytes = sizeof(mock_places) + (size_t)lookups * sizeof(mock_lookup);
    if (rank > MOCK_MAX_RANK) mock_build_fail(b, "%d dimensions, at most %d are supported", rank,
        MOCK_MAX_RANK);
    mock_places *p = mock_build_extra(b, bytes + numbers * sizeof(int64_t));
    if (p == NULL) return NULL;
    p->rank = rank;
    p->lookups = lookups;
    p->effect = (int8_t)effect;
    p->self = -1;
    p->data = (int8_t)data;
    p->other = -1;
    p->factor = 1;
    p->whole_factor = 1;
    for (int d = 0; d < rank; d++) p->dims[d] = dims[d];
    return p;
}

void mock_places_strides(const mock_build *b, const mock_places *p, int64_t *strides) {
    const mock_view *v = &b->plan->views[p->data];
    const mock_view dense = p->effect < MOCK_ADD ? *v : dense_view(v, true);
    for (int d = 0; d < v->rank; d++) strides[d] = dense.strides[d];
}

mock_lookup *mock_places_lookup(mock_places *p, int k, int operand, int64_t step, int64_t size) {
    mock_lookup *l = &p->lookup[k];
    l->operand = (int16_t)operand;
    l->member = -1;
    l->step = step;
    l->size = size;
    return l;
}

void mock_places_finish(mock_build *b, mock_places *p, const mock_scalar *value) {
    if (b->status != 0) return;
    const mock_view *v = &b->plan->views[p->data];
    if (value != NULL && mock_dtype_is_floating(value->dtype)) {
        const double d = mock_scalar_double(value);
        mock_store(MOCK_F64, v->dtype, p->value, 1, 1, &d);
    } else if (value != NULL) {
        const int64_t i = mock_scalar_int(value);
        mock_store(MOCK_I64, v->dtype, p->value, 1, 1, &i);
    }
    if (p->effect >= MOCK_ADD) b->plan->need = mock_workspace_bytes((uint64_t)mock_element_count(v), 9);
}

void mock_require_index(mock_build *b, const mock_view *index, const char *param) {
    if (b->status == 0 && index->dtype != ACL_INT32 && index->dtype != ACL_INT64)
        mock_build_fail(b, "%s has data type %s, expected INT32 or INT64", param,
        mock_dtype_name(index->dtype));
}

void mock_require_type(mock_build *b, const mock_view *v, const char *param, const mock_view *self) {
    if (b->status == 0 && v->dtype != self->dtype)
        mock_build_fail(b, "%s has data type %s, expected %s", param, mock_dtype_name(v->dtype),
            mock_dtype_name(self->dtype));
}
