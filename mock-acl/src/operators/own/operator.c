/* Operators that the program computes (include/mock_acl_operator.h). Nothing here follows the real library,
 * which has no such thing: codes are those of other operators, 161001 for a null tensor that is not optional,
 * 161002 for an object that is not live. */
#define _GNU_SOURCE
#include "base/base.h"
#include "memory/memory.h"
#include "objects/objects.h"
#include "operators/own/operator.h"
#include "operators/own/own.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mock_acl.h"
#include "mock_acl_operator.h"

/* What one call was told, in one block with everything that it points to. */
typedef struct own_call {
    mock_acl_operator functions;
    mock_acl_operator_call call;
    mock_acl_operand *operands;
    mock_acl_operand_tensor *tensors;
    mock_view *views;
    int64_t *integers;
    double *numbers;
    char *text;
    uint64_t tensors_used, numbers_used, text_used;
} own_call;

/* A parameter with its value. */
typedef struct argument {
    const mock_own_parameter *of;
    const void *pointer;
    int64_t integer;
    double number;
} argument;

typedef struct totals {
    uint64_t tensors, numbers, text;
} totals;

#define OWN(NAME, PARAMETERS, ...) [MOCK_API_##NAME] = true,
#define PLAIN(NAME)
static const bool can_register[MOCK_API_COUNT] = {
#include "operators/own/operators.def"
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mock_acl_operator registered[MOCK_API_COUNT];
/* Of the functions above; keeps calls of plain stubs from the lock. */
static atomic_uint registrations;

static bool own_functions(mock_api api, mock_acl_operator *functions) {
    if (atomic_load(&registrations) == 0) return false;
    pthread_mutex_lock(&lock);
    *functions = registered[api];
    pthread_mutex_unlock(&lock);
    return functions->compute != NULL;
}

MOCK_EXPORT int mock_acl_register_operator(const char *name, const mock_acl_operator *functions) {
    const int api = name == NULL ? -1 : mock_lookup_index(name);
    mock_acl_operator mine = {0};
    if (api < 0 || !can_register[api]) return MOCK_ACL_BAD_ARGUMENT;
    if (functions != NULL) {
        if (functions->struct_size < sizeof mine || functions->compute == NULL) return MOCK_ACL_BAD_ARGUMENT;
        mine = *functions;
    }
    pthread_mutex_lock(&lock);
    if (mine.compute != NULL && registered[api].compute == NULL) atomic_fetch_add(&registrations, 1);
    if (mine.compute == NULL && registered[api].compute != NULL) atomic_fetch_sub(&registrations, 1);
    registered[api] = mine;
    pthread_mutex_unlock(&lock);
    return 0;
}

void mock_own_reset(void) {
    pthread_mutex_lock(&lock);
    memset(registered, 0, sizeof registered);
    atomic_store(&registrations, 0);
    pthread_mutex_unlock(&lock);
}

/* ---- the first phase ---- */

static aclnnStatus not_live(const mock_own_operator *own, const argument *a, const char *what) {
    return mock_bad_parameter(own->task.name, "%s is not a live %s", a->of->name, what);
}

static bool is_array(const argument *a, aclDataType dtype, const mock_array **array) {
    *array = mock_object_get(MOCK_OBJECT_ARRAY, a->pointer);
    return *array != NULL && (*array)->dtype == dtype;
}

static bool is_list(const argument *a, mock_object_kind members, const mock_list **list) {
    *list = mock_object_get(MOCK_OBJECT_LIST, a->pointer);
    if (*list == NULL || (*list)->members != members) return false;
    for (uint64_t i = 0; i < (*list)->size; i++)
        if (mock_object_get(members, (*list)->handles[i]) == NULL) return false;
    return true;
}

/* Adds what the argument needs to the totals; nothing for a null. */
static aclnnStatus measure(const mock_own_operator *own, const argument *a, totals *t) {
    const mock_list *list;
    const mock_array *array;
    if (a->of->kind >= MOCK_OWN_INTEGER) {
        t->numbers++;
        return 0;
    }
    if (a->pointer == NULL) return 0;
    switch (a->of->kind) {
        case MOCK_OWN_TENSOR:
            if (mock_object_get(MOCK_OBJECT_TENSOR, a->pointer) == NULL) return not_live(own, a, "aclTensor");
            t->tensors++;
            return 0;
        case MOCK_OWN_TENSORS:
            if (!is_list(a, MOCK_OBJECT_TENSOR, &list)) return not_live(own, a, "aclTensorList");
            t->tensors += list->size;
            return 0;
        case MOCK_OWN_SCALAR:
            if (mock_object_get(MOCK_OBJECT_SCALAR, a->pointer) == NULL) return not_live(own, a, "aclScalar");
            t->numbers++;
            return 0;
        case MOCK_OWN_SCALARS:
            if (!is_list(a, MOCK_OBJECT_SCALAR, &list)) return not_live(own, a, "aclScalarList");
            t->numbers += list->size;
            return 0;
        case MOCK_OWN_INTS:
            if (!is_array(a, ACL_INT64, &array)) return not_live(own, a, "aclIntArray");
            break;
        case MOCK_OWN_FLOATS:
            if (!is_array(a, ACL_FLOAT, &array)) return not_live(own, a, "aclFloatArray");
            break;
        case MOCK_OWN_BOOLS:
            if (!is_array(a, ACL_BOOL, &array)) return not_live(own, a, "aclBoolArray");
            break;
        default:
            t->text += strlen(a->pointer) + 1;
            return 0;
    }
    t->numbers += array->size;
    return 0;
}

static own_call *new_call(size_t operands, const totals *t) {
    const size_t numbers = t->numbers * (sizeof(int64_t) + sizeof(double));
    const size_t tensors = t->tensors * (sizeof(mock_view) + sizeof(mock_acl_operand_tensor));
    const size_t bytes = sizeof(own_call) + operands * sizeof(mock_acl_operand) + tensors + numbers + t->text;
    own_call *c = calloc(1, bytes);
    if (c == NULL) return NULL;
    c->operands = (mock_acl_operand *)(void *)(c + 1);
    c->views = (mock_view *)(void *)(c->operands + operands);
    c->tensors = (mock_acl_operand_tensor *)(void *)(c->views + t->tensors);
    c->integers = (int64_t *)(void *)(c->tensors + t->tensors);
    c->numbers = (double *)(void *)(c->integers + t->numbers);
    c->text = (char *)(void *)(c->numbers + t->numbers);
    c->call.struct_size = sizeof c->call;
    c->call.operands = c->operands;
    c->call.count = operands;
    return c;
}

static void add_tensor(own_call *c, const void *handle, uint8_t role) {
    const mock_tensor *from = mock_object_get(MOCK_OBJECT_TENSOR, handle);
    mock_view *v = &c->views[c->tensors_used];
    mock_acl_operand_tensor *t = &c->tensors[c->tensors_used++];
    *v = from->view;
    v->role = role;
    t->dtype = (aclDataType)v->dtype;
    t->format = from->format;
    t->rank = v->rank;
    t->dims = v->dims;
    t->strides = v->strides;
}

static void add_number(own_call *c, int64_t integer, double number) {
    c->integers[c->numbers_used] = integer;
    c->numbers[c->numbers_used++] = number;
}

static void add_scalar(own_call *c, const void *handle) {
    const mock_scalar *s = mock_object_get(MOCK_OBJECT_SCALAR, handle);
    const bool known = mock_dtype_class(s->dtype) != MOCK_CLASS_NONE;
    add_number(c, known ? mock_scalar_int(s) : 0, known ? mock_scalar_double(s) : 0);
}

static void add_array(own_call *c, const void *handle) {
    const mock_array *a = mock_object_get(MOCK_OBJECT_ARRAY, handle);
    for (uint64_t i = 0; i < a->size; i++) {
        if (a->dtype == ACL_INT64) add_number(c, ((const int64_t *)a->values)[i], 0);
        else if (a->dtype == ACL_BOOL) add_number(c, ((const bool *)a->values)[i], 0);
        else add_number(c, 0, ((const float *)a->values)[i]);
    }
}

static void add_members(own_call *c, const argument *a) {
    const mock_list *list = mock_object_get(MOCK_OBJECT_LIST, a->pointer);
    for (uint64_t i = 0; i < list->size; i++) {
        if (a->of->kind == MOCK_OWN_TENSORS) add_tensor(c, list->handles[i], a->of->role);
        else add_scalar(c, list->handles[i]);
    }
}

static void add_value(own_call *c, const argument *a) {
    if (a->of->kind >= MOCK_OWN_INTEGER) add_number(c, a->integer, a->number);
    if (a->of->kind >= MOCK_OWN_INTEGER || a->pointer == NULL) return;
    switch (a->of->kind) {
        case MOCK_OWN_TENSOR: add_tensor(c, a->pointer, a->of->role); break;
        case MOCK_OWN_SCALAR: add_scalar(c, a->pointer); break;
        case MOCK_OWN_TENSORS: case MOCK_OWN_SCALARS: add_members(c, a); break;
        case MOCK_OWN_TEXT:
            strcpy(c->text + c->text_used, a->pointer);
            c->text_used += strlen(a->pointer) + 1;
            break;
        default: add_array(c, a->pointer); break;
    }
}

static void add_operand(own_call *c, mock_acl_operand *o, const argument *a) {
    static const mock_acl_operand_kind kinds[] = {
        [MOCK_OWN_TENSOR] = MOCK_ACL_OPERAND_TENSOR, [MOCK_OWN_TENSORS] = MOCK_ACL_OPERAND_TENSOR_LIST,
        [MOCK_OWN_SCALAR] = MOCK_ACL_OPERAND_SCALAR, [MOCK_OWN_SCALARS] = MOCK_ACL_OPERAND_SCALAR,
        [MOCK_OWN_INTS] = MOCK_ACL_OPERAND_INTEGERS, [MOCK_OWN_FLOATS] = MOCK_ACL_OPERAND_NUMBERS,
        [MOCK_OWN_BOOLS] = MOCK_ACL_OPERAND_BOOLEANS, [MOCK_OWN_TEXT] = MOCK_ACL_OPERAND_TEXT,
        [MOCK_OWN_INTEGER] = MOCK_ACL_OPERAND_INTEGERS, [MOCK_OWN_BOOLEAN] = MOCK_ACL_OPERAND_BOOLEANS,
        [MOCK_OWN_NUMBER] = MOCK_ACL_OPERAND_NUMBERS};
    const uint64_t tensors = c->tensors_used, numbers = c->numbers_used;
    o->name = a->of->name;
    o->kind = kinds[a->of->kind];
    o->is_null = a->of->kind < MOCK_OWN_INTEGER && a->pointer == NULL;
    o->is_read = (a->of->role & MOCK_IN) != 0;
    o->is_written = (a->of->role & MOCK_OUT) != 0;
    o->tensors = c->tensors + tensors;
    o->integers = c->integers + numbers;
    o->numbers = c->numbers + numbers;
    o->text = a->of->kind == MOCK_OWN_TEXT && !o->is_null ? c->text + c->text_used : NULL;
    add_value(c, a);
    o->count = c->tensors_used - tensors + c->numbers_used - numbers;
    if (o->text != NULL) o->count = strlen(o->text);
}

static argument argument_at(const mock_own_operator *own, const mock_own_value *values, size_t i) {
    argument a = {&own->parameters[i], NULL, 0, 0};
    if (a.of->kind < MOCK_OWN_INTEGER) a.pointer = values[i].pointer;
    else if (a.of->kind == MOCK_OWN_NUMBER) a.number = values[i].number;
    else a.integer = values[i].integer;
    return a;
}

/* Without a function that looks, what is not optional is there. */
static aclnnStatus check_nulls(const mock_own_operator *own, const mock_own_value *values) {
    for (size_t i = 0; i < own->count; i++) {
        const mock_own_parameter *p = &own->parameters[i];
        const bool tensor = p->kind == MOCK_OWN_TENSOR || p->kind == MOCK_OWN_TENSORS;
        if (tensor && values[i].pointer == NULL && !p->optional)
            return mock_null_parameter(own->task.name, p->name);
    }
    return 0;
}

static aclnnStatus fill_call(
    const mock_own_operator *own, const mock_own_value *values, const mock_acl_operator *functions,
    own_call **call) {
    totals t = {0};
    aclnnStatus status = functions->check == NULL ? check_nulls(own, values) : 0;
    for (size_t i = 0; i < own->count && status == 0; i++) {
        const argument a = argument_at(own, values, i);
        status = measure(own, &a, &t);
    }
    if (status != 0) return status;
    own_call *c = new_call(own->count, &t);
    if (c == NULL) return ACLNN_ERR_INNER;
    c->functions = *functions;
    c->call.name = own->task.name;
    for (size_t i = 0; i < own->count; i++) {
        const argument a = argument_at(own, values, i);
        add_operand(c, &c->operands[i], &a);
    }
    if (functions->check != NULL)
        status = functions->check(&c->call, &c->call.workspace_size, functions->user);
    if (status != 0) {
        mock_error_text("EZ1001", "%s: refused with %d by the program's own check", own->task.name, status);
        free(c);
        return status;
    }
    *call = c;
    return 0;
}

aclnnStatus mock_own_first(
    const mock_own_operator *own, const mock_own_value *values, uint64_t *size, aclOpExecutor **executor) {
    mock_acl_operator functions;
    if (!own_functions(own->second, &functions)) return mock_unsupported(own->first, own->first_name);
    const int injected = mock_enter(own->first);
    if (injected != 0) return injected;
    own_call *call = NULL;
    const aclnnStatus status = fill_call(own, values, &functions, &call);
    if (status != 0) return status;
    mock_build b = mock_build_begin(&own->task, size, executor);
    if (b.status != 0) {
        free(call);
        return b.status;
    }
    b.plan->need = call->call.workspace_size;
    b.plan->extra = call;
    b.plan->once = true;
    return mock_build_finish(&b);
}

/* ---- the second phase ---- */

aclnnStatus mock_own_second(
    const mock_own_operator *own, void *workspace, uint64_t size, aclOpExecutor *executor,
    aclrtStream stream) {
    const mock_plan *plan = mock_object_get(MOCK_OBJECT_EXECUTOR, executor);
    mock_acl_operator functions;
    if ((plan == NULL || plan->task != &own->task) && !own_functions(own->second, &functions))
        return mock_unsupported(own->second, own->task.name);
    const int injected = mock_enter(own->second);
    if (injected != 0) return injected;
    return mock_plan_launch(&own->task, workspace, size, executor, stream);
}

/* Elements of half a byte count as one. */
static bool point(const mock_view *v, void **data) {
    const size_t size = mock_dtype_size(v->dtype);
    const uintptr_t first = (uintptr_t)v->address + (uintptr_t)v->offset * size;
    *data = NULL;
    if (v->span == 0) return true;
    if (mock_races() && !mock_view_touch(v)) return false;
    *data = mock_device_view((const void *)first, (size_t)v->span * size);
    return *data != NULL;
}

aclError mock_own_run(void *arg) {
    const mock_plan *plan = arg;
    own_call *c = plan->extra;
    for (uint64_t i = 0; i < c->tensors_used; i++)
        if (!point(&c->views[i], &c->tensors[i].data)) return MOCK_DEVICE_FAULT;
    c->call.workspace = mock_plan_workspace(plan);
    if (plan->need != 0 && c->call.workspace == NULL) return MOCK_DEVICE_FAULT;
    return c->functions.compute(&c->call, c->functions.user);
}
