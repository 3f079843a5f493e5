/* Attributes and constant inputs as numbers, and what operators of aclnn take instead of them. */
#include <string.h>

#include "named/call.h"

/* ---- constant inputs ---- */

static const mock_named_operand *constant(mock_named_call *c, int index, size_t *count) {
    const mock_named_operand *o = &c->inputs[index];
    *count = 0;
    if (c->code != 0) return NULL;
    if (index >= c->input_count || o->absent) {
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "input %d is missing", index);
    } else if (o->host == NULL) {
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH,
            "input %d has to be a constant (aclSetTensorConst) or in host memory (aclSetTensorPlaceMent)",
            index);
    } else if (mock_dtype_size(o->desc->dtype) == 0) {
        mock_named_fail(
            c, ACL_ERROR_OP_INPUT_NOT_MATCH, "input %d has data type %d", index, (int)o->desc->dtype);
    } else {
        *count = 1;
        for (int i = 0; i < o->rank; i++) *count *= (size_t)o->dims[i];
        if (*count * mock_dtype_size(o->desc->dtype) <= o->host_bytes) return o;
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "input %d has %zu bytes, too few for its shape", index,
            o->host_bytes);
    }
    return NULL;
}

int mock_named_ints(mock_named_call *c, int index, int64_t *values, int most) {
    size_t count;
    const mock_named_operand *o = constant(c, index, &count);
    if (o == NULL) return -1;
    const aclDataType type = o->desc->dtype;
    if ((type != ACL_INT32 && type != ACL_INT64) || count > (size_t)most) {
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH,
            "input %d has %zu numbers of type %s, at most %d of INT32 or INT64", index, count,
            mock_dtype_name(type), most);
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        int32_t narrow;
        if (type == ACL_INT64)
            memcpy(&values[i], (const char *)o->host + 8 * i, 8);
        else {
            memcpy(&narrow, (const char *)o->host + 4 * i, 4);
            values[i] = narrow;
        }
    }
    return (int)count;
}

double mock_named_number(mock_named_call *c, int index) {
    size_t count;
    double value = 0;
    _Alignas(16) char element[16] = {0};
    const mock_named_operand *o = constant(c, index, &count);
    if (o == NULL) return 0;
    if (count != 1 || mock_dtype_class(o->desc->dtype) == MOCK_CLASS_NONE) {
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "input %d is not one number", index);
        return 0;
    }
    memcpy(element, o->host, mock_dtype_size(o->desc->dtype));
    const double *loaded = mock_load(MOCK_F64, o->desc->dtype, element, 0, 1, &value);
    return *loaded;
}

/* ---- attributes ---- */

static const mock_op_attr *attr_of(mock_named_call *c, const char *name, uint32_t kinds) {
    const mock_op_attr *found = NULL;
    if (c->code != 0) return NULL;
    c->code = mock_op_attr_find(c->attrs, name, &found);
    if (c->code != 0 || found == NULL) return NULL;
    if ((kinds >> found->kind & 1) != 0) return found;
    mock_named_fail(c, ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s is of another kind", name);
    return NULL;
}

#define KIND(NAME) (1u << MOCK_OP_ATTR_##NAME)

void mock_named_need_attr(mock_named_call *c, const char *name) {
    if (attr_of(c, name, UINT32_MAX) == NULL && c->code == 0)
        mock_named_fail(c, ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s is missing", name);
}

int64_t mock_named_int_attr(mock_named_call *c, const char *name, int64_t fallback) {
    const mock_op_attr *a = attr_of(c, name, KIND(INT) | KIND(TYPE));
    if (a == NULL) return fallback;
    return a->kind == MOCK_OP_ATTR_INT ? *(const int64_t *)a->value : *(const aclDataType *)a->value;
}

bool mock_named_bool_attr(mock_named_call *c, const char *name, bool fallback) {
    const mock_op_attr *a = attr_of(c, name, KIND(BOOL));
    return a == NULL ? fallback : *(const uint8_t *)a->value != 0;
}

double mock_named_float_attr(mock_named_call *c, const char *name, double fallback) {
    const mock_op_attr *a = attr_of(c, name, KIND(FLOAT));
    return a == NULL ? fallback : (double)*(const float *)a->value;
}

const char *mock_named_text_attr(mock_named_call *c, const char *name) {
    const mock_op_attr *a = attr_of(c, name, KIND(TEXT));
    return a == NULL ? NULL : a->value;
}

int mock_named_ints_attr(mock_named_call *c, const char *name, int64_t *values, int most) {
    const mock_op_attr *a = attr_of(c, name, KIND(INTS) | KIND(INT));
    if (a == NULL) return -1;
    if (a->count > (size_t)most) {
        mock_named_fail(
            c, ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s has %zu numbers, at most %d", name, a->count, most);
        return -1;
    }
    memcpy(values, a->value, a->count * sizeof *values);
    return (int)a->count;
}

/* ---- objects of aclnn ---- */

/* The call lets go of it; NULL when there is none. */
static void *keep(mock_named_call *c, void *object, aclnnStatus (*destroy)(const void *)) {
    if (object == NULL || c->object_count == MOCK_NAMED_HELD) {
        if (object != NULL) destroy(object);
        if (c->code == 0) mock_named_fail(c, ACL_ERROR_BAD_ALLOC, "no room for an operand");
        return NULL;
    }
    c->objects[c->object_count] = object;
    c->destroy[c->object_count++] = destroy;
    return object;
}

static aclnnStatus drop_array(const void *array) { return aclDestroyIntArray(array); }
static aclnnStatus drop_scalar(const void *scalar) { return aclDestroyScalar(scalar); }
static aclnnStatus drop_list(const void *list) { return aclDestroyTensorList(list); }

aclIntArray *mock_named_array(mock_named_call *c, const int64_t *values, int count) {
    return c->code != 0 ? NULL : keep(c, aclCreateIntArray(values, (uint64_t)count), drop_array);
}

aclScalar *mock_named_float(mock_named_call *c, double value) {
    return c->code != 0 ? NULL : keep(c, aclCreateScalar(&value, ACL_DOUBLE), drop_scalar);
}

aclScalar *mock_named_whole(mock_named_call *c, int64_t value) {
    return c->code != 0 ? NULL : keep(c, aclCreateScalar(&value, ACL_INT64), drop_scalar);
}

/* A list owns its tensors, so it gets copies. */
aclTensorList *mock_named_list(mock_named_call *c, aclTensor *const *tensors, int count) {
    aclTensor *copies[MOCK_NAMED_OPERANDS];
    for (int i = 0; i < count && c->code == 0; i++) {
        const mock_tensor *t = mock_object_get(MOCK_OBJECT_TENSOR, tensors[i]);
        copies[i] = t == NULL ? NULL
                              : aclCreateTensor(t->view.dims, t->view.rank, t->view.dtype, t->view.strides,
                                    t->view.offset, t->format, t->storage, t->storage_rank, t->view.address);
        if (copies[i] != NULL) continue;
        mock_named_fail(c, ACL_ERROR_OP_INPUT_NOT_MATCH, "operand %d cannot stand in a list", i);
        while (i-- > 0) aclDestroyTensor(copies[i]);
    }
    if (c->code != 0) return NULL;
    return keep(c, aclCreateTensorList((const aclTensor *const *)copies, (uint64_t)count), drop_list);
}

int mock_named_dim(mock_named_call *c, int64_t dim, int rank) {
    const int most = rank == 0 ? 1 : rank;
    if (c->code != 0) return -1;
    if (dim >= -most && dim < most) return (int)(dim < 0 ? dim + most : dim);
    mock_named_fail(c, ACL_ERROR_OP_ATTR_NOT_MATCH, "dimension %lld of %d", (long long)dim, rank);
    return -1;
}
