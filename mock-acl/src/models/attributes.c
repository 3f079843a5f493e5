/* Attributes for operators by name, and the compiler's options: they are kept and checked (guide: operators by name;
 * codes: implementation of the open graph engine). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "acl/acl_op_compiler.h"
#include "base/base.h"
#include "models/models.h"

typedef mock_op_attr attr;

typedef struct attrs {
    mock_thing thing;
    attr *first;
} attrs;

static void drop(void *thing) {
    attrs *a = thing;
    while (a->first != NULL) {
        attr *gone = a->first;
        a->first = gone->next;
        free(gone->name);
        free(gone->value);
        free(gone);
    }
}

static const mock_thing_type attrs_type = {"aclopAttr", drop};

MOCK_EXPORT aclopAttr *aclopCreateAttr(void) {
    MOCK_ENTER_PTR(aclopCreateAttr);
    const attrs *a = mock_thing_new(&attrs_type, sizeof *a);
    return a == NULL ? NULL : a->thing.handle;
}

MOCK_EXPORT void aclopDestroyAttr(const aclopAttr *attr) {
    if (mock_enter(MOCK_API_aclopDestroyAttr) == 0) mock_op_attrs_free(attr);
}

/* A later value of a name takes the place of the former one. */
static aclError set(const aclopAttr *handle, const char *name, mock_op_attr_kind kind, size_t count, const void *value,
    size_t size) {
    void *found = NULL;
    const aclError code = mock_thing_find(&attrs_type, handle, "attr", &found);
    if (code != 0) return code;
    if (name == NULL) return mock_null("attrName");
    attrs *a = found;
    attr *at = a->first;
    while (at != NULL && strcmp(at->name, name) != 0) at = at->next;
    void *copy = malloc(size + 1);
    if (copy != NULL && size != 0) memcpy(copy, value, size);
    if (copy != NULL && at == NULL && (at = calloc(1, sizeof *at)) != NULL) {
        at->name = strdup(name);
        at->next = a->first;
        if (at->name != NULL) a->first = at;
    }
    if (copy == NULL || at == NULL || at->name == NULL) {
        free(copy);
        if (at != NULL && at->name == NULL) free(at);
        return mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory for an attribute");
    }
    free(at->value);
    at->value = copy;
    at->kind = kind;
    at->count = count;
    at->bytes = size;
    return 0;
}

aclError mock_op_attr_find(const aclopAttr *handle, const char *name, const mock_op_attr **out) {
    void *found = NULL;
    *out = NULL;
    if (handle == NULL) return 0;
    const aclError code = mock_thing_find(&attrs_type, handle, "attr", &found);
    if (code != 0) return code;
    for (const attr *at = ((attrs *)found)->first; at != NULL; at = at->next)
        if (strcmp(at->name, name) == 0) *out = at;
    return 0;
}

aclopAttr *mock_op_attrs_copy(const aclopAttr *handle) {
    void *found = NULL;
    if (mock_thing_find(&attrs_type, handle, "attr", &found) != 0) return NULL;
    const attrs *copy = mock_thing_new(&attrs_type, sizeof *copy);
    if (copy == NULL) return NULL;
    for (const attr *at = ((attrs *)found)->first; at != NULL; at = at->next) {
        if (set(copy->thing.handle, at->name, at->kind, at->count, at->value, at->bytes) == 0) continue;
        mock_op_attrs_free(copy->thing.handle);
        return NULL;
    }
    return copy->thing.handle;
}

void mock_op_attrs_free(const aclopAttr *handle) {
    if (handle != NULL) mock_thing_destroy(&attrs_type, handle, "attr");
}

#define MOST 65536 /* own choice: the real one reads as many as it is told to */

static aclError countable(int count) {
    return count < 0 || count > MOST ? mock_invalid("%d values, 0 to %d", count, MOST) : 0;
}

static aclError set_list(const aclopAttr *handle, const char *name, mock_op_attr_kind kind, int count, const void *values,
    size_t each) {
    const aclError code = countable(count);
    if (code != 0) return code;
    if (count != 0 && values == NULL) return mock_null("values");
    return set(handle, name, kind, (size_t)count, values, (size_t)count * each);
}

#define SET_ONE(NAME, TYPE, KIND)                                                                    \
    MOCK_EXPORT aclError NAME(aclopAttr *attr, const char *attrName, TYPE attrValue) {           \
        MOCK_ENTER(NAME);                                                                        \
        return set(attr, attrName, KIND, 1, &attrValue, sizeof attrValue);                       \
    }
SET_ONE(aclopSetAttrBool, uint8_t, MOCK_OP_ATTR_BOOL)
SET_ONE(aclopSetAttrInt, int64_t, MOCK_OP_ATTR_INT)
SET_ONE(aclopSetAttrFloat, float, MOCK_OP_ATTR_FLOAT)
/* Any value: the operator judges it (implementation of the open graph engine). */
SET_ONE(aclopSetAttrDataType, aclDataType, MOCK_OP_ATTR_TYPE)

MOCK_EXPORT aclError aclopSetAttrString(aclopAttr *attr, const char *attrName, const char *attrValue) {
    MOCK_ENTER(aclopSetAttrString);
    if (attrValue == NULL) return mock_null("attrValue");
    return set(attr, attrName, MOCK_OP_ATTR_TEXT, 1, attrValue, strlen(attrValue) + 1);
}

#define SET_LIST(NAME, TYPE, KIND)                                                                          \
    MOCK_EXPORT aclError NAME(aclopAttr *attr, const char *attrName, int numValues, const TYPE *values) {   \
        MOCK_ENTER(NAME);                                                                                   \
        return set_list(attr, attrName, KIND, numValues, values, sizeof *values);                           \
    }
SET_LIST(aclopSetAttrListBool, uint8_t, MOCK_OP_ATTR_BOOLS)
SET_LIST(aclopSetAttrListInt, int64_t, MOCK_OP_ATTR_INTS)
SET_LIST(aclopSetAttrListFloat, float, MOCK_OP_ATTR_FLOATS)
SET_LIST(aclopSetAttrListDataType, aclDataType, MOCK_OP_ATTR_TYPES)

/* Texts and inner lists are checked for null; only the pointers are kept. */
MOCK_EXPORT aclError aclopSetAttrListString(
    aclopAttr *attr, const char *attrName, int numValues, const char **values) {
    MOCK_ENTER(aclopSetAttrListString);
    const aclError code = countable(numValues);
    if (code != 0) return code;
    for (int i = 0; values != NULL && i < numValues; i++)
        if (values[i] == NULL) return mock_null("values");
    return set_list(attr, attrName, MOCK_OP_ATTR_TEXTS, numValues, values, sizeof *values);
}

MOCK_EXPORT aclError aclopSetAttrListListInt(aclopAttr *attr, const char *attrName, int numLists,
    const int *numValues, const int64_t *const values[]) {
    MOCK_ENTER(aclopSetAttrListListInt);
    const aclError code = countable(numLists);
    if (code != 0) return code;
    if (numLists > 0 && numValues == NULL) return mock_null("numValues");
    for (int i = 0; values != NULL && i < numLists; i++) {
        if (numValues[i] < 0) return mock_invalid("%d values", numValues[i]);
        if (numValues[i] != 0 && values[i] == NULL) return mock_null("values");
    }
    return set_list(attr, attrName, MOCK_OP_ATTR_LISTS, numLists, values, sizeof *values);
}

/* ---- options of the compiler ---- */

#define OPTIONS (ACL_OP_DEBUG_OPTION + 1)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *options[OPTIONS];
/* What counts until an option is set (guide: operator compilation, aclCompileOpt; own choice for those without a word
 * there, which are empty, and for ACL_OP_JIT_COMPILE: operators of the mock are compiled already). */
static const char *const defaults[OPTIONS] = {
    [ACL_PRECISION_MODE] = "allow_fp32_to_fp16",
    [ACL_OP_SELECT_IMPL_MODE] = "high_performance",
    [ACL_OP_DEBUG_LEVEL] = "0",
    [ACL_OP_COMPILER_CACHE_MODE] = "enable",
    [ACL_OP_PERFORMANCE_MODE] = "normal",
    [ACL_OP_JIT_COMPILE] = "disable",
    [ACL_OP_DETERMINISTIC] = "0",
};

void mock_options_reset(void) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < OPTIONS; i++) {
        free(options[i]);
        options[i] = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* Kept and given back; nothing is compiled. An unknown option: 100000. */
MOCK_EXPORT aclError aclSetCompileopt(aclCompileOpt opt, const char *value) {
    MOCK_ENTER(aclSetCompileopt);
    if (value == NULL) return mock_null("value");
    if ((unsigned)opt >= OPTIONS) return mock_invalid("option %d", (int)opt);
    char *copy = strdup(value);
    if (copy == NULL) return mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory for an option");
    pthread_mutex_lock(&lock);
    free(options[opt]);
    options[opt] = copy;
    pthread_mutex_unlock(&lock);
    return 0;
}

static const char *option_value(aclCompileOpt opt) {
    if (options[opt] != NULL) return options[opt];
    return defaults[opt] != NULL ? defaults[opt] : "";
}

static size_t option_size(aclCompileOpt opt) {
    return (unsigned)opt < OPTIONS ? strlen(option_value(opt)) + 1 : 0;
}

/* With the final zero; 0 for an unknown option. */
MOCK_EXPORT size_t aclGetCompileoptSize(aclCompileOpt opt) {
    if (mock_enter(MOCK_API_aclGetCompileoptSize) != 0) return 0;
    pthread_mutex_lock(&lock);
    const size_t size = option_size(opt);
    pthread_mutex_unlock(&lock);
    return size;
}

/* Unknown, or too little room: 100000 (own choice). */
MOCK_EXPORT aclError aclGetCompileopt(aclCompileOpt opt, char *value, size_t length) {
    MOCK_ENTER(aclGetCompileopt);
    if (value == NULL) return mock_null("value");
    pthread_mutex_lock(&lock);
    const size_t size = option_size(opt);
    const bool good = size != 0 && size <= length;
    if (good) memcpy(value, option_value(opt), size);
    pthread_mutex_unlock(&lock);
    return good ? 0 : mock_invalid("option %d takes %zu bytes", (int)opt, size);
}
