/* The first phase that all operators of attention share.
 *
 * From the guide (aclnn, pages of the attention operators): layouts; heads that share keys; masks of
 * (Q_S, KV_S) or more with leading dimensions of 1 or as many as there are, and (B, KV_S) for one row; the
 * sparse modes; lengths of sequences, one for all or one for each; a list of keys with one tensor, or with
 * one for each sequence. Own choice: f32 too; head dimensions of any size; modes 0 to 3 only; the compressed
 * masks of modes 2 and 3 are not read, the rows see what these modes mean. */
#include "objects/objects.h"
#include "operators/attention/compute.h"
#include "operators/operators.h"

#define MOST_POSITIONS 20971520 /* guide: aclnn, aclnnPromptFlashAttentionV3 */
#define MOST_ELEMENTS (1 << 20)
#define COMPRESSED 2048
#define FAR ((int64_t)1 << 40)

void mock_attention_refuse(mock_build *b, const void *parameter, const char *param) {
    if (parameter != NULL) mock_build_fail(b, "%s is not supported, expected a null pointer", param);
}

static int layout_of(mock_build *b, const mock_attention_call *call) {
    const int found = call->layout == NULL ? -1 : mock_layout_named(call->layout);
    if (b->status != 0) return -1;
    if (call->layout == NULL) {
        b->status = mock_null_parameter(b->name, "inputLayout");
        return -1;
    }
    const bool sbh = found >= 0 && mock_layout_name(found)[0] == 'S';
    const bool two = found >= 0 && mock_layout_result(found) != found;
    if (found < 0 || (call->training ? two : sbh) || (call->one_row && two)) {
        mock_build_fail(b, "inputLayout %.20s is not supported; BSH, BSND and BNSD are%s", call->layout,
            call->training ? ", and SBH" : call->one_row ? "" : ", and BNSD_BSND");
    }
    return found;
}

static void check_float(mock_build *b, const mock_view *v, const char *param, const mock_view *query) {
    if (!mock_dtype_is_float(v->dtype)) {
        mock_build_fail(b, "%s has data type %s; FLOAT, FLOAT16 and BFLOAT16 are supported", param,
            mock_dtype_name(v->dtype));
    } else if (v->dtype != query->dtype) {
        mock_build_fail(b, "%s has data type %s, query has %s", param, mock_dtype_name(v->dtype),
            mock_dtype_name(query->dtype));
    }
}

static bool heads_of(
    mock_build *b, int layout, const mock_view *v, const char *param, int64_t heads, mock_heads *out) {
    mock_shape_text text;
    if (b->status != 0) return false;
    if (mock_heads_of(layout, v, heads, out)) return true;
    mock_build_fail(b, "%s has shape %s, which does not have %lld heads in layout %s", param,
        mock_shape(v, &text), (long long)heads, mock_layout_name(layout));
    return false;
}

static void check_query(
    mock_build *b, mock_attention *a, const mock_attention_call *call, mock_heads *query) {
    const mock_view *v = &b->plan->views[MOCK_QUERY];
    a->heads = call->heads;
    if (b->status == 0 && a->heads <= 0)
        mock_build_fail(b, "%s is %lld, expected a positive number", call->heads_name, (long long)a->heads);
    if (b->status == 0) check_float(b, v, "query", v);
    heads_of(b, a->layout, v, "query", a->heads, query);
    if (b->status == 0 && call->one_row && query->dims[2] != 1)
        mock_build_fail(b, "query has %lld rows, expected 1", (long long)query->dims[2]);
}

static void check_heads(mock_build *b, mock_attention *a, const mock_attention_call *call, int64_t dim) {
    if (b->status != 0) return;
    a->kv_heads = call->kv_heads == 0 ? call->heads : call->kv_heads;
    if (call->kv_heads == MOCK_HEADS_OF_SHAPE)
        a->kv_heads = mock_layout_heads(a->layout, &b->plan->views[MOCK_KEY], dim);
    if (a->kv_heads <= 0 || a->heads % a->kv_heads != 0 || a->heads / a->kv_heads > 64)
        mock_build_fail(b, "%s %lld is not a multiple of the %lld heads of key, 64 times at most",
            call->heads_name, (long long)a->heads, (long long)a->kv_heads);
}

/* ---- key and value ---- */

/* Heads of sequence `batch` in a tensor or a list; false after a failure. */
static bool part_heads(
    mock_build *b, const mock_attention *a, int operand, int64_t batch, mock_heads *out, const char *param) {
    const mock_view *v = &b->plan->views[operand];
    if (a->listed) v = mock_members(b->plan, v) + (v->span == 1 ? 0 : batch);
    return heads_of(b, a->layout, v, param, a->kv_heads, out);
}

static void check_part(mock_build *b, const mock_attention *a, const mock_heads *query, int64_t batch) {
    mock_heads key, value;
    const mock_view *list = &b->plan->views[MOCK_KEY];
    const int64_t batches = a->listed && list->span != 1 ? 1 : query->dims[0];
    if (!part_heads(b, a, MOCK_KEY, batch, &key, "key") ||
        !part_heads(b, a, MOCK_VALUE, batch, &value, "value")) return;
    if (key.dims[0] != batches || value.dims[0] != batches)
        mock_build_fail(b, "key and value have %lld and %lld sequences, expected %lld",
            (long long)key.dims[0], (long long)value.dims[0], (long long)batches);
    if (key.dims[2] != value.dims[2])
        mock_build_fail(b, "key has %lld positions, value has %lld", (long long)key.dims[2],
            (long long)value.dims[2]);
    if (key.dims[2] > MOST_POSITIONS)
        mock_build_fail(b, "key has %lld positions, at most %d are supported", (long long)key.dims[2],
            MOST_POSITIONS);
    if (key.dims[3] > MOST_ELEMENTS || value.dims[3] > MOST_ELEMENTS)
        mock_build_fail(b, "heads have more than %d elements", MOST_ELEMENTS);
    if (key.dims[3] != query->dims[3])
        mock_build_fail(b, "the heads of key have %lld elements, those of query %lld", (long long)key.dims[3],
            (long long)query->dims[3]);
}

static void check_types(mock_build *b, const mock_attention *a) {
    const mock_view *views = b->plan->views;
    for (int operand = MOCK_KEY; operand <= MOCK_VALUE; operand++) {
        const int64_t count = a->listed ? views[operand].span : 1;
        const mock_view *first = a->listed ? mock_members(b->plan, &views[operand]) : &views[operand];
        for (int64_t i = 0; i < count; i++)
            check_float(b, &first[i], operand == MOCK_KEY ? "key" : "value", &views[MOCK_QUERY]);
    }
}

static void check_lists(mock_build *b, const mock_heads *query) {
    const mock_view *key = &b->plan->views[MOCK_KEY], *value = &b->plan->views[MOCK_VALUE];
    if (key->span != value->span || (key->span != 1 && key->span != query->dims[0]))
        mock_build_fail(b, "key and value have %lld and %lld tensors, query has %lld sequences",
            (long long)key->span, (long long)value->span, (long long)query->dims[0]);
}

/* Gives the heads of the longest key and of its value. */
static void check_keys(
    mock_build *b, mock_attention *a, const mock_heads *query, mock_heads *key, mock_heads *value) {
    if (a->listed && b->status == 0) check_lists(b, query);
    if (b->status == 0) check_types(b, a);
    const int64_t parts = a->listed ? b->plan->views[MOCK_KEY].span : 1;
    for (int64_t i = 0; i < parts && b->status == 0; i++) {
        mock_heads one;
        check_part(b, a, query, i);
        if (b->status != 0 || !part_heads(b, a, MOCK_KEY, i, &one, "key")) return;
        if (i == 0 || one.dims[2] > key->dims[2]) *key = one;
        part_heads(b, a, MOCK_VALUE, i, &one, "value");
        if (i != 0 && one.dims[3] != value->dims[3])
            mock_build_fail(b, "value[%lld] has heads of %lld elements, value[0] of %lld", (long long)i,
                (long long)one.dims[3], (long long)value->dims[3]);
        *value = one;
    }
}

/* ---- masks, lengths and modes ---- */

/* The last dimensions are at least `rows` (or 1, which counts for all of them) and `positions`. */
static void check_spread(
    mock_build *b, const mock_view *v, const char *param, const mock_heads *query, int64_t positions,
    int least) {
    mock_shape_text text;
    bool fits = v->rank >= least && v->rank <= 4;
    const int64_t rows = query->dims[2];
    if (b->status != 0) return;
    if (fits) fits = v->dims[v->rank - 1] >= positions;
    if (fits && v->rank == 2 && rows == 1) fits = v->dims[0] == 1 || v->dims[0] == query->dims[0];
    else if (fits) fits = v->dims[v->rank - 2] == 1 || v->dims[v->rank - 2] >= rows;
    if (fits && v->rank == 3) fits = v->dims[0] == 1 || v->dims[0] == query->dims[0];
    if (fits && v->rank == 4)
        fits = (v->dims[0] == 1 || v->dims[0] == query->dims[0]) &&
               (v->dims[1] == 1 || v->dims[1] == query->dims[1]);
    if (!fits)
        mock_build_fail(b, "%s has shape %s, which does not cover %lld rows and %lld positions", param,
            mock_shape(v, &text), (long long)rows, (long long)positions);
}

static void check_mask_type(mock_build *b, const mock_view *v, const char *param) {
    if (v->dtype != ACL_BOOL && v->dtype != ACL_INT8 && v->dtype != ACL_UINT8)
        mock_build_fail(b, "%s has data type %s; BOOL, INT8 and UINT8 are supported", param,
            mock_dtype_name(v->dtype));
}

static bool compressed(const mock_view *v) {
    if (v->rank < 2 || v->rank > 4) return false;
    for (int d = 0; d < v->rank - 2; d++)
        if (v->dims[d] != 1) return false;
    return v->dims[v->rank - 1] == COMPRESSED && v->dims[v->rank - 2] == COMPRESSED;
}

static int64_t limited(int64_t tokens) {
    return tokens > FAR ? FAR : tokens < -FAR ? -FAR : tokens;
}

/* Modes 2 and 3 with the compressed mask, or in training without any mask: then all is seen. One row sees
 * all of them but in training (guide: aclnn, aclnnFusedInferAttentionScoreV2: the mode has no effect). */
static void plan_mode(
    mock_build *b, mock_attention *a, const mock_attention_call *call, int operand, const mock_heads *query,
    int64_t positions) {
    const mock_view *mask = &b->plan->views[operand];
    const bool causal = call->sparse == 2 || call->sparse == 3;
    const bool single = query->dims[2] == 1 && !call->training;
    if (call->sparse < 0 || call->sparse > 3)
        mock_build_fail(b, "sparseMode %lld is not supported; 0, 1, 2 and 3 are", (long long)call->sparse);
    if (mask->absent && call->sparse != 0 && !call->training && !single)
        mock_build_fail(b, "sparseMode %lld needs %s", (long long)call->sparse, call->mask_name);
    if (b->status != 0 || mask->absent) return;
    check_mask_type(b, mask, call->mask_name);
    if (causal && !single && !compressed(mask))
        mock_build_fail(b, "%s of sparseMode %lld has to be 2048 x 2048", call->mask_name,
            (long long)call->sparse);
    if (causal) {
        a->band = !single;
        a->from_end = call->sparse == 3;
        a->before = FAR;
        return;
    }
    check_spread(b, mask, call->mask_name, query, positions, 2);
    a->mask = (int8_t)operand;
    a->band = call->sparse == 0 && !single;
    a->before = limited(call->before);
    a->after = limited(call->after);
}

/* One length for all, or at least as many as there are sequences. `each` is NULL when it has none: an empty list is as
 * none (implementation of the open operators). */
static const int64_t *lengths_of(
    mock_build *b, const aclIntArray *array, const char *param, int64_t batches, int64_t *count) {
    if (array == NULL || b->status != 0) return NULL;
    const mock_array *a = mock_build_ints(b, array, param);
    if (a == NULL || a->size == 0) return NULL;
    if (a->size != 1 && a->size < (uint64_t)batches)
        mock_build_fail(b, "%s has %llu lengths, expected 1 or %lld", param, (unsigned long long)a->size,
            (long long)batches);
    *count = (int64_t)a->size;
    return a->values;
}

static int64_t length_at(
    mock_build *b, const int64_t *each, int64_t count, int64_t i, int64_t whole, const char *param) {
    const int64_t length = each == NULL ? whole : each[count == 1 ? 0 : i];
    if (length < 0 || length > whole)
        mock_build_fail(b, "%s[%lld] is %lld, the sequence has %lld positions", param, (long long)i,
            (long long)length, (long long)whole);
    return length;
}

/* One row has no length of its own (guide: aclnn, aclnnFusedInferAttentionScoreV2). */
static void plan_lengths(
    mock_build *b, const mock_attention *a, const mock_attention_call *call, const mock_heads *query) {
    const int64_t batches = query->dims[0];
    int64_t count = 0, kv_count = 0;
    const int64_t *rows = lengths_of(b, call->lengths, call->lengths_name, batches, &count);
    const int64_t *positions = lengths_of(b, call->kv_lengths, call->kv_lengths_name, batches, &kv_count);
    int64_t *lengths = mock_build_extra(b, (size_t)batches * 2 * sizeof *lengths);
    if (query->dims[2] == 1) rows = NULL;
    for (int64_t i = 0; i < batches && b->status == 0; i++) {
        mock_heads key;
        if (!part_heads(b, a, MOCK_KEY, i, &key, "key")) return;
        lengths[2 * i] = length_at(b, rows, count, i, query->dims[2], call->lengths_name);
        lengths[2 * i + 1] = length_at(b, positions, kv_count, i, key.dims[2], call->kv_lengths_name);
    }
}

static void check_out(
    mock_build *b, mock_attention *a, const mock_attention_call *call, const mock_heads *query,
    const mock_heads *value) {
    mock_heads out;
    mock_shape_text text;
    const mock_view *v = &b->plan->views[a->out];
    a->out_layout = (int8_t)mock_layout_result(a->layout);
    if (b->status == 0) check_float(b, v, call->out_name, &b->plan->views[MOCK_QUERY]);
    if (!heads_of(b, a->out_layout, v, call->out_name, a->heads, &out)) return;
    if (out.dims[0] != query->dims[0] || out.dims[2] != query->dims[2] || out.dims[3] != value->dims[3])
        mock_build_fail(b, "%s has shape %s, expected that of query with heads of %lld elements",
            call->out_name, mock_shape(v, &text), (long long)value->dims[3]);
}

static void add_operands(mock_build *b, mock_attention *a, const mock_attention_call *call) {
    mock_build_tensor(b, call->query, "query", MOCK_IN);
    if (a->listed) {
        mock_build_list(b, call->keys, "key", MOCK_IN);
        mock_build_list(b, call->values, "value", MOCK_IN);
    } else {
        mock_build_tensor(b, call->key, "key", MOCK_IN);
        mock_build_tensor(b, call->value, "value", MOCK_IN);
    }
    mock_build_optional(b, call->shift, call->shift_name, MOCK_IN);
    mock_build_optional(b, call->mask, call->mask_name, MOCK_IN);
}

enum { SHIFT = MOCK_VALUE + 1, MASK };

static void plan_shift(
    mock_build *b, mock_attention *a, const mock_attention_call *call, const mock_heads *query,
    int64_t positions) {
    const mock_view *v = &b->plan->views[SHIFT];
    if (b->status != 0 || v->absent) return;
    check_float(b, v, call->shift_name, &b->plan->views[MOCK_QUERY]);
    check_spread(b, v, call->shift_name, query, positions, 4);
    if (b->status == 0 && v->dims[1] != query->dims[1])
        mock_build_fail(b, "%s has %lld heads, query has %lld", call->shift_name, (long long)v->dims[1],
            (long long)query->dims[1]);
    a->shift = SHIFT;
}

mock_attention *mock_attention_plan(mock_build *b, const mock_attention_call *call) {
    mock_heads query = {{0}, {0}}, key = query, value = query;
    if (b->status != 0) return NULL;
    mock_attention *a = MOCK_PARAMS(b->plan, mock_attention);
    *a = (mock_attention){.scale = (float)call->scale, .shift = -1, .mask = -1, .lse = -1, .most = -1,
        .sum = -1, .shift_first = call->shift_first,
        .listed = call->listed};
    add_operands(b, a, call);
    if (call->out == NULL && b->status == 0) b->status = mock_null_parameter(b->name, call->out_name);
    a->layout = (int8_t)layout_of(b, call);
    check_query(b, a, call, &query);
    check_heads(b, a, call, query.dims[3]);
    check_keys(b, a, &query, &key, &value);
    if (b->status != 0) return NULL;
    a->positions = key.dims[2];
    plan_shift(b, a, call, &query, a->positions);
    plan_mode(b, a, call, MASK, &query, a->positions);
    plan_lengths(b, a, call, &query);
    a->out = (int8_t)b->plan->count;
    mock_build_tensor(b, call->out, call->out_name, MOCK_OUT);
    if (b->status == 0) check_out(b, a, call, &query, &value);
    b->plan->need = mock_attention_workspace(a->positions, query.dims[3], value.dims[3]);
    return b->status != 0 ? NULL : a;
}

int8_t mock_attention_extra(mock_build *b, const aclTensor *tensor, const char *param, int64_t last) {
    mock_heads query;
    if (b->status != 0) return -1;
    const mock_attention *a = MOCK_PARAMS(b->plan, mock_attention);
    const int8_t place = (int8_t)b->plan->count;
    const mock_view *v = mock_build_tensor(b, tensor, param, MOCK_OUT);
    if (v == NULL) return -1;
    mock_heads_of(a->layout, &b->plan->views[MOCK_QUERY], a->heads, &query);
    const mock_view expected = {.dims = {query.dims[0], query.dims[1], query.dims[2], last}, .rank = 4};
    if (v->dtype != ACL_FLOAT)
        mock_build_fail(b, "%s has data type %s, expected FLOAT", param, mock_dtype_name(v->dtype));
    mock_require_shape(b, v, param, &expected, "one number for each row");
    return place;
}
