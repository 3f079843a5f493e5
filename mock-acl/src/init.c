/* aclInit and aclFinalize, versions, configuration, and the guard against use after fork.
 *
 * (guide: initialisation; observed: init_twice_finalize, finalize_before_init, finalizeref_before_init,
 * no_init, finalize_in_capture) */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "context.h"
#include "graph.h"
#include "watch.h"

#define CALLBACKS 64 /* own choice; more give 300000 */

typedef struct callback {
    aclRegisterCallbackType type;
    aclInitCallbackFunc init;
    aclFinalizeCallbackFunc finalize;
    void *user;
} callback;

/* Recursive: a callback may call aclInit or aclFinalize (implementation of the open runtime). */
static pthread_mutex_t init_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static uint64_t references;
static bool finalized;
static callback callbacks[CALLBACKS];
static size_t callback_count;

/* One line a variable, and the program goes on (own choice). */
static void warn_once(const char *name, const char *text, unsigned least, unsigned limit, unsigned used) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const char *warned[8];
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < 8 && warned[i] != NULL && strcmp(warned[i], name) != 0) i++;
    if (i < 8 && warned[i] == NULL) {
        warned[i] = name;
        fprintf(stderr, "mock-acl: %s=\"%.100s\" is not a number from %u to %u; %u is used\n", name, text,
            least, limit, used);
    }
    pthread_mutex_unlock(&lock);
}

unsigned mock_config_number(const char *name, unsigned fallback, unsigned least, unsigned limit) {
    const char *text = getenv(name);
    if (text == NULL) return fallback;
    char *end = NULL;
    errno = 0;
    const unsigned long n = strtoul(text, &end, 10);
    const bool number = isdigit((unsigned char)*text) && *end == '\0';
    if (number && errno == 0 && n >= least && n <= limit) return (unsigned)n;
    const unsigned used = !number ? fallback : n < least ? least : limit;
    warn_once(name, text, least, limit, used);
    return used;
}

void mock_init_reset(void) {
    pthread_mutex_lock(&init_lock);
    references = 0;
    finalized = false;
    callback_count = 0;
    pthread_mutex_unlock(&init_lock);
}

/* A configuration is JSON with at most 10 nested braces and brackets; only its form is looked at (guide:
 * initialisation, aclInit; own choice: 20 of both together, and values have no effect). */
static bool well_formed(const char *text) {
    char open[32];
    int depth = 0;
    bool in_string = false, any = false;
    for (const char *p = text; *p != '\0'; p++) {
        if (in_string) {
            if (*p == '\\' && p[1] != '\0') p++;
            else if (*p == '"') in_string = false;
            continue;
        }
        if (isspace((unsigned char)*p)) continue;
        if (!any && *p != '{') return false;
        if (any && depth == 0) return false;
        any = true;
        if (*p == '"') in_string = true;
        if (*p == '{' || *p == '[') {
            if (depth == 20) return false;
            open[depth++] = *p;
        }
        if ((*p == '}' || *p == ']') && (depth == 0 || open[--depth] != (*p == '}' ? '{' : '[')))
            return false;
    }
    return any && depth == 0 && !in_string;
}

/* Null or empty: defaults (guide: initialisation, aclInit). No such file: 100003, not JSON: 100006
 * (observed, not recorded; header: ACL_ERROR_INVALID_FILE, ACL_ERROR_PARSE_FILE). An empty file is fine
 * (own choice). */
aclError mock_read_config(const char *path, char **out) {
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return mock_fail(ACL_ERROR_INVALID_FILE, "EH0009", "cannot open the configuration %s", path);
    static const size_t limit = 1 << 20;
    char *text = malloc(limit + 1);
    const size_t n = text == NULL ? 0 : fread(text, 1, limit, f);
    fclose(f);
    if (text != NULL) text[n] = '\0';
    *out = text;
    if (text != NULL && (n == 0 || well_formed(text))) return 0;
    free(text);
    return mock_fail(ACL_ERROR_PARSE_FILE, "EH0009", "%s is not a JSON object", path);
}

static aclError check_config(const char *path) {
    char *text = NULL;
    if (path == NULL || *path == '\0') return 0;
    const aclError code = mock_read_config(path, &text);
    if (code == 0) free(text);
    return code;
}

bool mock_initialized(void) {
    pthread_mutex_lock(&init_lock);
    const bool yes = references > 0;
    pthread_mutex_unlock(&init_lock);
    return yes;
}

/* Again: 100002, and counted (observed: init_twice_finalize). */
MOCK_EXPORT aclError aclInit(const char *configPath) {
    MOCK_ENTER(aclInit);
    pthread_mutex_lock(&init_lock);
    aclError code = 0;
    if (references > 0) {
        references++;
        code = mock_fail(ACL_ERROR_REPEAT_INITIALIZE, "EE1018", "aclInit was called before");
    } else {
        code = check_config(configPath);
        if (code == 0) {
            references = 1;
            finalized = false;
            mock_lock();
            mock_start_workers();
            mock_unlock();
            const size_t length = configPath == NULL ? 0 : strlen(configPath);
            for (size_t i = 0; i < callback_count; i++)
                if (callbacks[i].init != NULL) callbacks[i].init(configPath, length, callbacks[i].user);
        }
    }
    pthread_mutex_unlock(&init_lock);
    return code;
}

static void finalize_now(void) {
    references = 0;
    finalized = true;
    for (size_t i = 0; i < callback_count; i++)
        if (callbacks[i].finalize != NULL) callbacks[i].finalize(callbacks[i].user);
}

/* Finalizes at once whatever the count, the second time it is 100037 (observed: init_twice_finalize);
 * without a former aclInit too, the first time (observed: finalize_before_init). */
MOCK_EXPORT aclError aclFinalize(void) {
    MOCK_ENTER(aclFinalize);
    pthread_mutex_lock(&init_lock);
    aclError code = 0;
    if (finalized) code = mock_fail(ACL_ERROR_REPEAT_FINALIZE, "EE1018", "aclFinalize was called before");
    else finalize_now();
    pthread_mutex_unlock(&init_lock);
    return code;
}

/* Gives the count left; at 0: 100037 (observed: init_twice_finalize, finalizeref_before_init). */
MOCK_EXPORT aclError aclFinalizeReference(uint64_t *refCount) {
    MOCK_ENTER(aclFinalizeReference);
    pthread_mutex_lock(&init_lock);
    aclError code = 0;
    if (references == 0)
        code = mock_fail(ACL_ERROR_REPEAT_FINALIZE, "EE1018", "aclFinalizeReference without aclInit");
    else if (references == 1) finalize_now();
    else references--;
    if (refCount != NULL) *refCount = references;
    pthread_mutex_unlock(&init_lock);
    return code;
}

/* ---- callbacks around both ---- */

static aclError add_callback(callback c) {
    aclError code = 0;
    pthread_mutex_lock(&init_lock);
    if (callback_count == CALLBACKS) {
        code = mock_fail(ACL_ERROR_STORAGE_OVER_LIMIT, "EH0008", "more than %d callbacks", CALLBACKS);
    } else {
        callbacks[callback_count++] = c;
        /* Registered after aclInit: it is called now (guide: initialisation, aclInitCallbackRegister). */
        if (c.init != NULL && references > 0) code = c.init(NULL, 0, c.user);
    }
    pthread_mutex_unlock(&init_lock);
    return code;
}

/* Not registered: 100000 (own choice). */
static aclError remove_callback(callback c) {
    aclError code = ACL_ERROR_INVALID_PARAM;
    pthread_mutex_lock(&init_lock);
    for (size_t i = 0; i < callback_count && code != 0; i++) {
        if (callbacks[i].type != c.type || callbacks[i].init != c.init || callbacks[i].finalize != c.finalize)
            continue;
        memmove(&callbacks[i], &callbacks[i + 1], (--callback_count - i) * sizeof callbacks[0]);
        code = 0;
    }
    pthread_mutex_unlock(&init_lock);
    return code == 0 ? 0 : mock_fail(code, "EH0008", "the callback is not registered");
}

MOCK_EXPORT aclError aclInitCallbackRegister(
    aclRegisterCallbackType type, aclInitCallbackFunc cbFunc, void *userData) {
    MOCK_ENTER(aclInitCallbackRegister);
    if (cbFunc == NULL) return mock_null("cbFunc");
    return add_callback((callback){type, cbFunc, NULL, userData});
}

MOCK_EXPORT aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc) {
    MOCK_ENTER(aclInitCallbackUnRegister);
    if (cbFunc == NULL) return mock_null("cbFunc");
    return remove_callback((callback){type, cbFunc, NULL, NULL});
}

MOCK_EXPORT aclError aclFinalizeCallbackRegister(
    aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc, void *userData) {
    MOCK_ENTER(aclFinalizeCallbackRegister);
    if (cbFunc == NULL) return mock_null("cbFunc");
    return add_callback((callback){type, NULL, cbFunc, userData});
}

MOCK_EXPORT aclError aclFinalizeCallbackUnRegister(
    aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc) {
    MOCK_ENTER(aclFinalizeCallbackUnRegister);
    if (cbFunc == NULL) return mock_null("cbFunc");
    return remove_callback((callback){type, NULL, cbFunc, NULL});
}

/* ---- versions ---- */

/* (header: ACL_MAJOR_VERSION, ACL_MINOR_VERSION, ACL_PATCH_VERSION) */
MOCK_EXPORT aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion) {
    MOCK_ENTER(aclrtGetVersion);
    if (majorVersion == NULL || minorVersion == NULL || patchVersion == NULL) return mock_null("version");
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return 0;
}
