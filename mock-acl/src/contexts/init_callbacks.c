/* Callbacks around initialisation: aclInit calls the types for models, operators, media and others,
 * aclFinalize those of the compiler, for models, media and others. Types that neither names are kept and
 * only called when they are registered after aclInit.
 *
 * (guide: initialisation, aclInitCallbackRegister; implementation of the open runtime) */
#define _GNU_SOURCE
#include "base/base.h"
#include "contexts/init.h"
#include <string.h>

#define CALLBACKS 64 /* own choice; more give 300000 */

typedef struct callback {
    aclRegisterCallbackType type;
    aclInitCallbackFunc init;
    aclFinalizeCallbackFunc finalize;
    void *user;
} callback;

static callback callbacks[CALLBACKS];
static size_t count;

void mock_init_callbacks_clear(void) { count = 0; }

/* A callback may register and unregister: the list is read from a copy. */
aclError mock_init_notify(aclRegisterCallbackType type, const char *text, size_t length) {
    callback copy[CALLBACKS];
    const size_t n = count;
    memcpy(copy, callbacks, n * sizeof copy[0]);
    aclError code = 0;
    for (size_t i = 0; i < n && code == 0; i++)
        if (copy[i].type == type && copy[i].init != NULL) code = copy[i].init(text, length, copy[i].user);
    return code;
}

aclError mock_finalize_notify(aclRegisterCallbackType type) {
    callback copy[CALLBACKS];
    const size_t n = count;
    memcpy(copy, callbacks, n * sizeof copy[0]);
    aclError code = 0;
    for (size_t i = 0; i < n && code == 0; i++)
        if (copy[i].type == type && copy[i].finalize != NULL) code = copy[i].finalize(copy[i].user);
    return code;
}

static bool same_list(const callback *a, const callback *b) {
    return a->type == b->type && (a->init != NULL) == (b->init != NULL);
}

/* A type that the header does not name: 100000 (own choice: its callback would never be called). */
static aclError check_type(aclRegisterCallbackType type) {
    if (((int)type >= ACL_REG_TYPE_ACL_MODEL && type <= ACL_REG_TYPE_ACL_RETR) || type == ACL_REG_TYPE_OTHER)
        return 0;
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "type %d of a callback", (int)type);
}

/* One of a type, any number of ACL_REG_TYPE_OTHER; a second one is 500000 (implementation of the open
 * runtime). */
static aclError add(const callback *c) {
    const aclError code = check_type(c->type);
    if (code != 0) return code;
    for (size_t i = 0; i < count && c->type != ACL_REG_TYPE_OTHER; i++)
        if (same_list(&callbacks[i], c))
            return mock_fail(ACL_ERROR_INTERNAL_ERROR, "EH9999", "type %d has a callback", (int)c->type);
    if (count == CALLBACKS)
        return mock_fail(ACL_ERROR_STORAGE_OVER_LIMIT, "EH0008", "more than %d callbacks", CALLBACKS);
    callbacks[count++] = *c;
    return 0;
}

/* Not registered: 500000 (implementation of the open runtime). */
static aclError remove_one(const callback *c) {
    const aclError code = check_type(c->type);
    if (code != 0) return code;
    for (size_t i = 0; i < count; i++) {
        if (!same_list(&callbacks[i], c) || callbacks[i].init != c->init ||
            callbacks[i].finalize != c->finalize)
            continue;
        memmove(&callbacks[i], &callbacks[i + 1], (--count - i) * sizeof callbacks[0]);
        return 0;
    }
    return mock_fail(ACL_ERROR_INTERNAL_ERROR, "EH9999", "the callback is not registered");
}

/* After aclInit it is called at once, with the text of the configuration; what it returns is lost
 * (implementation of the open runtime). */
MOCK_EXPORT aclError aclInitCallbackRegister(
    aclRegisterCallbackType type, aclInitCallbackFunc cbFunc, void *userData) {
    MOCK_ENTER(aclInitCallbackRegister);
    if (cbFunc == NULL) return mock_null("cbFunc");
    mock_init_lock();
    const aclError code = add(&(callback){type, cbFunc, NULL, userData});
    size_t length = 0;
    const char *text = mock_init_text(&length);
    if (code == 0 && text != NULL) (void)cbFunc(text, length, userData);
    mock_init_unlock();
    return code;
}

MOCK_EXPORT aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc) {
    MOCK_ENTER(aclInitCallbackUnRegister);
    if (cbFunc == NULL) return mock_null("cbFunc");
    mock_init_lock();
    const aclError code = remove_one(&(callback){type, cbFunc, NULL, NULL});
    mock_init_unlock();
    return code;
}

MOCK_EXPORT aclError aclFinalizeCallbackRegister(
    aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc, void *userData) {
    MOCK_ENTER(aclFinalizeCallbackRegister);
    if (cbFunc == NULL) return mock_null("cbFunc");
    mock_init_lock();
    const aclError code = add(&(callback){type, NULL, cbFunc, userData});
    mock_init_unlock();
    return code;
}

MOCK_EXPORT aclError aclFinalizeCallbackUnRegister(
    aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc) {
    MOCK_ENTER(aclFinalizeCallbackUnRegister);
    if (cbFunc == NULL) return mock_null("cbFunc");
    mock_init_lock();
    const aclError code = remove_one(&(callback){type, NULL, cbFunc, NULL});
    mock_init_unlock();
    return code;
}
