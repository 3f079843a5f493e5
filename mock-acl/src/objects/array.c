/* aclScalar, aclIntArray, aclFloatArray, aclBoolArray, aclTensorList and aclScalarList.
 *
 * Values are copied (own choice: programs may drop theirs at once). A list takes its members over:
 * destroying it destroys them (guide: aclnn, aclDestroyTensorList). NULL for a bad argument, with a text
 * (header: acl_meta.h; own choice of what is bad). */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "objects/dtype.h"
#include "objects/object.h"
#include "objects/objects.h"
#include "objects/public.h"
#include "objects/slab.h"

aclScalar *aclCreateScalar(void *value, aclDataType dataType) {
    MOCK_ENTER_PTR(aclCreateScalar);
    const size_t size = mock_dtype_size(dataType);
    if (value == NULL) {
        mock_null_parameter("aclCreateScalar", "value");
        return NULL;
    }
    if (size == 0 || dataType == ACL_STRING) {
        mock_bad_parameter("aclCreateScalar", "dataType %d (%s) is not a number", (int)dataType,
            mock_dtype_name(dataType));
        return NULL;
    }
    mock_scalar *s = mock_slab_take(MOCK_SLAB_SCALAR);
    if (s == NULL) return NULL;
    s->dtype = dataType;
    memcpy(s->bytes, value, size);
    void *handle = mock_object_new(MOCK_OBJECT_SCALAR, s);
    if (handle != NULL) return handle;
    mock_slab_give(MOCK_SLAB_SCALAR, s);
    return NULL;
}

/* Text and code for a handle that take or get did not accept. */
static aclnnStatus bad_handle(const char *function, const char *param, const void *handle) {
    if (handle == NULL) return mock_null_parameter(function, param);
    return mock_bad_parameter(function, "%s is not a live object of its kind", param);
}

aclnnStatus aclDestroyScalar(const aclScalar *scalar) {
    MOCK_ENTER_OF(aclDestroyScalar, scalar);
    if (scalar == NULL) return 0;
    mock_scalar *s = mock_object_take(MOCK_OBJECT_SCALAR, scalar);
    if (s == NULL) return bad_handle("aclDestroyScalar", "scalar", scalar);
    mock_slab_give(MOCK_SLAB_SCALAR, s);
    return 0;
}

double mock_scalar_double(const mock_scalar *scalar) {
    double value = 0;
    const void *in_place = mock_load(MOCK_F64, scalar->dtype, scalar->bytes, 1, 1, &value);
    if (in_place != &value) memcpy(&value, in_place, sizeof value);
    return value;
}

int64_t mock_scalar_int(const mock_scalar *scalar) {
    int64_t value = 0;
    const void *in_place = mock_load(MOCK_I64, scalar->dtype, scalar->bytes, 1, 1, &value);
    if (in_place != &value) memcpy(&value, in_place, sizeof value);
    return value;
}

static void *new_array(const char *function, const void *values, uint64_t size, aclDataType dtype) {
    const size_t element = mock_dtype_size(dtype);
    if (values == NULL && size != 0) {
        mock_null_parameter(function, "value");
        return NULL;
    }
    if (size > (uint64_t)1 << 40) {
        mock_bad_parameter(function, "size %llu is too large", (unsigned long long)size);
        return NULL;
    }
    mock_array *a = mock_slab_take(MOCK_SLAB_ARRAY);
    if (a == NULL) return NULL;
    a->dtype = dtype;
    a->size = size;
    a->values = malloc(size != 0 ? size * element : 1);
    if (a->values != NULL) {
        if (size != 0) memcpy(a->values, values, size * element);
        void *handle = mock_object_new(MOCK_OBJECT_ARRAY, a);
        if (handle != NULL) return handle;
    }
    free(a->values);
    mock_slab_give(MOCK_SLAB_ARRAY, a);
    return NULL;
}

static mock_array *get_array(const void *handle, aclDataType dtype) {
    mock_array *a = mock_object_get(MOCK_OBJECT_ARRAY, handle);
    return a != NULL && a->dtype == dtype ? a : NULL;
}

static void free_array(void *object) {
    mock_array *a = object;
    free(a->values);
    mock_slab_give(MOCK_SLAB_ARRAY, a);
}

/* Null is nothing to destroy, here and for scalars, lists and tensors (implementation of the open library). */
static aclnnStatus destroy_array(const char *function, const void *handle, aclDataType dtype) {
    if (handle == NULL) return 0;
    mock_array *a = get_array(handle, dtype);
    if (a != NULL) a = mock_object_take(MOCK_OBJECT_ARRAY, handle);
    if (a == NULL) return bad_handle(function, "array", handle);
    free_array(a);
    return 0;
}

static aclnnStatus array_size(const char *function, const void *handle, aclDataType dtype, uint64_t *size) {
    const mock_array *a = get_array(handle, dtype);
    if (a == NULL) return bad_handle(function, "array", handle);
    if (size == NULL) return mock_null_parameter(function, "size");
    *size = a->size;
    return 0;
}

#define ARRAY(KIND, ELEMENT, DTYPE)                                                          \
    acl##KIND##Array *aclCreate##KIND##Array(const ELEMENT *value, uint64_t size) {          \
        MOCK_ENTER_PTR(aclCreate##KIND##Array);                                              \
        return new_array("aclCreate" #KIND "Array", value, size, DTYPE);                     \
    }                                                                                        \
    aclnnStatus aclDestroy##KIND##Array(const acl##KIND##Array *array) {                     \
        MOCK_ENTER_OF(aclDestroy##KIND##Array, array);                                       \
        return destroy_array("aclDestroy" #KIND "Array", array, DTYPE);                      \
    }                                                                                        \
    aclnnStatus aclGet##KIND##ArraySize(const acl##KIND##Array *array, uint64_t *size) {     \
        MOCK_ENTER(aclGet##KIND##ArraySize);                                                 \
        return array_size("aclGet" #KIND "ArraySize", array, DTYPE, size);                   \
    }

ARRAY(Int, int64_t, ACL_INT64)
ARRAY(Float, float, ACL_FLOAT)
ARRAY(Bool, bool, ACL_BOOL)

/* All members are checked before the list exists; from then on they belong to it. */
static void *new_list(
    const char *function, const void *const *values, uint64_t size, mock_object_kind members) {
    if (values == NULL && size != 0) {
        mock_null_parameter(function, "value");
        return NULL;
    }
    for (uint64_t i = 0; i < size; i++) {
        if (mock_object_get(members, values[i]) != NULL) continue;
        mock_bad_parameter(function, "value[%llu] is not a live object of its kind", (unsigned long long)i);
        return NULL;
    }
    mock_list *l = mock_slab_take(MOCK_SLAB_LIST);
    if (l == NULL) return NULL;
    l->members = members;
    l->size = size;
    l->handles = malloc((size + 1) * sizeof *l->handles);
    if (l->handles != NULL) {
        for (uint64_t i = 0; i < size; i++) memcpy(&l->handles[i], &values[i], sizeof l->handles[i]);
        void *handle = mock_object_new(MOCK_OBJECT_LIST, l);
        if (mock_logs_calls()) mock_note_given(values, size);
        if (handle != NULL) return handle;
    }
    free(l->handles);
    mock_slab_give(MOCK_SLAB_LIST, l);
    return NULL;
}

static mock_list *get_list(const void *handle, mock_object_kind members) {
    mock_list *l = mock_object_get(MOCK_OBJECT_LIST, handle);
    return l != NULL && l->members == members ? l : NULL;
}

static void free_list(void *object) {
    mock_list *l = object;
    free(l->handles);
    mock_slab_give(MOCK_SLAB_LIST, l);
}

/* A member that the program destroyed on its own is skipped, but reported. */
static aclnnStatus destroy_list(const char *function, const void *handle, mock_object_kind members) {
    mock_list *l = get_list(handle, members);
    aclnnStatus status = 0;
    if (handle == NULL) return 0;
    if (l != NULL) l = mock_object_take(MOCK_OBJECT_LIST, handle);
    if (l == NULL) return bad_handle(function, "list", handle);
    for (uint64_t i = 0; i < l->size; i++) {
        void *member = mock_object_take(members, l->handles[i]);
        if (member != NULL) {
            mock_slab_give(members == MOCK_OBJECT_TENSOR ? MOCK_SLAB_TENSOR : MOCK_SLAB_SCALAR, member);
        } else {
            status = mock_bad_parameter(function, "member %llu was destroyed before its list",
                (unsigned long long)i);
        }
    }
    free_list(l);
    return status;
}

static aclnnStatus list_size(
    const char *function, const void *handle, mock_object_kind members, uint64_t *size) {
    const mock_list *l = get_list(handle, members);
    if (l == NULL) return bad_handle(function, "list", handle);
    if (size == NULL) return mock_null_parameter(function, "size");
    *size = l->size;
    return 0;
}

#define LIST(KIND, MEMBERS)                                                                              \
    acl##KIND##List *aclCreate##KIND##List(const acl##KIND *const *value, uint64_t size) {               \
        MOCK_ENTER_PTR(aclCreate##KIND##List);                                                           \
        return new_list("aclCreate" #KIND "List", (const void *const *)value, size, MEMBERS);            \
    }                                                                                                    \
    aclnnStatus aclDestroy##KIND##List(const acl##KIND##List *array) {                                   \
        MOCK_ENTER_OF(aclDestroy##KIND##List, array);                                                    \
        return destroy_list("aclDestroy" #KIND "List", array, MEMBERS);                                  \
    }                                                                                                    \
    aclnnStatus aclGet##KIND##ListSize(const acl##KIND##List *list, uint64_t *size) {                    \
        MOCK_ENTER(aclGet##KIND##ListSize);                                                              \
        return list_size("aclGet" #KIND "ListSize", list, MEMBERS, size);                                \
    }

LIST(Tensor, MOCK_OBJECT_TENSOR)
LIST(Scalar, MOCK_OBJECT_SCALAR)

static void free_tensor(void *object) {
    mock_slab_give(MOCK_SLAB_TENSOR, object);
}

static void free_scalar(void *object) {
    mock_slab_give(MOCK_SLAB_SCALAR, object);
}

void mock_nn_reset(void) {
    mock_object_take_all(MOCK_OBJECT_TENSOR, free_tensor);
    mock_object_take_all(MOCK_OBJECT_SCALAR, free_scalar);
    mock_object_take_all(MOCK_OBJECT_ARRAY, free_array);
    mock_object_take_all(MOCK_OBJECT_LIST, free_list);
    mock_object_take_all(MOCK_OBJECT_EXECUTOR, mock_plan_drop);
}
