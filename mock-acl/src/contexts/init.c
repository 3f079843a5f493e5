/* aclInit and aclFinalize: one count for the process, one configuration for its life.
 *
 * (guide: initialisation; observed: init_twice_finalize, finalize_before_init, finalizeref_before_init,
 * no_init, finalize_in_capture) */
#define _GNU_SOURCE
#include "base/base.h"
#include "contexts/config.h"
#include "contexts/contexts.h"
#include "contexts/init.h"
#include "engine/engine.h"
#include <string.h>

/* Recursive: a callback may call aclInit or aclFinalize (implementation of the open runtime). */
static pthread_mutex_t init_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static uint64_t references;
static bool finalized, changing; /* changing: inside the first aclInit or the last aclFinalize */
static mock_config current;      /* of the present initialisation */
static struct {
    bool set;
    uint64_t hash;
} first;

/* The child of a fork has no thread but its own, and nobody who would let go of the lock; one that may use a device
 * starts the workers again with it. */
static bool workers_gone;
static void workers_are_gone(void) {
    pthread_mutex_init(&mock_engine.lock, NULL);
    workers_gone = mock_engine.workers != 0;
    mock_engine.workers = mock_engine.workers_idle = mock_engine.executing_workers = 0;
}

void mock_workers_again(void) {
    if (workers_gone) mock_start_workers();
    workers_gone = false;
}

__attribute__((constructor)) static void watch_fork(void) { pthread_atfork(NULL, NULL, workers_are_gone); }

void mock_init_lock(void) { pthread_mutex_lock(&init_lock); }
void mock_init_unlock(void) { pthread_mutex_unlock(&init_lock); }

const char *mock_init_text(size_t *length) {
    if (references == 0) return NULL;
    *length = current.length;
    return current.text;
}

bool mock_initialized(void) {
    mock_init_lock();
    const bool yes = references > 0;
    mock_init_unlock();
    return yes;
}

void mock_init_reset(void) {
    mock_init_lock();
    references = 0;
    finalized = first.set = false;
    mock_config_free(&current);
    mock_init_callbacks_clear();
    mock_default_device(-1);
    mock_process_errors(false);
    mock_init_unlock();
}

static uint64_t hash_of(const char *text, size_t length) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return hash;
}

/* Another text than that of the first aclInit which succeeded: 100000, also after aclFinalize; no
 * configuration is as an empty one (implementation of the open runtime). */
static aclError check_same(const mock_config *c) {
    if (!first.set || hash_of(c->text, c->length) == first.hash) return 0;
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0004", "not the configuration of the first aclInit");
}

/* The order of checks and callbacks (implementation of the open runtime). */
static aclError configure(mock_config *c, const char *path) {
    aclError code = check_same(c);
    if (code == 0) code = mock_config_parse(c, path);
    if (code != 0) return code;
    mock_process_errors(mock_config_process_errors(c));
    code = mock_init_notify(ACL_REG_TYPE_ACL_MODEL, c->text, c->length);
    if (code == 0) code = mock_config_dump(c);
    if (code == 0 && c->given) code = mock_init_notify(ACL_REG_TYPE_ACL_OP_EXECUTOR, c->text, c->length);
    if (code == 0) code = mock_config_apply(c);
    if (code == 0) code = mock_init_notify(ACL_REG_TYPE_ACL_DVPP, c->text, c->length);
    return code != 0 ? code : mock_init_notify(ACL_REG_TYPE_OTHER, c->text, c->length);
}

static void start(mock_config *c) {
    mock_config_free(&current);
    current = *c;
    *c = (mock_config){NULL, 0, false, {NULL, 0}};
    first.set = true;
    first.hash = hash_of(current.text, current.length);
    references = 1;
    finalized = false;
    mock_racing_start();
    mock_lock();
    mock_start_workers();
    mock_unlock();
}

_Atomic(aclError (*)(const char *json)) mock_dump_told;

/* A dump that cannot be: 100009, and nothing is initialised (own choice). */
static aclError tell_dump(const char *json) {
    aclError (*told)(const char *) = atomic_load(&mock_dump_told);
    return told == NULL ? 0 : told(json);
}

static aclError init_first(const char *path) {
    mock_config c;
    changing = true;
    aclError code = mock_config_read(path, &c);
    if (code == 0) code = configure(&c, path);
    if (code == 0 && mock_json_member(c.root, "dump").at != NULL) code = tell_dump(c.text);
    if (code == 0) start(&c);
    mock_config_free(&c);
    changing = false;
    return code;
}

/* Again: 100002 without a text, and counted (observed: init_twice_finalize); the configuration is not
 * looked at (guide: initialisation, aclInit). Inside a callback of the first aclInit likewise, and not
 * counted (own choice: the real one calls itself without end). */
MOCK_EXPORT aclError aclInit(const char *configPath) {
    MOCK_ENTER(aclInit);
    mock_init_lock();
    aclError code = 0;
    if (references > 0 || changing) {
        references += references > 0;
        code = ACL_ERROR_REPEAT_INITIALIZE;
    } else {
        code = init_first(configPath);
    }
    mock_init_unlock();
    return code;
}

/* A callback that fails leaves the library initialised (implementation of the open runtime). */
static aclError finalize_now(void) {
    static const aclRegisterCallbackType types[] = {
        ACL_REG_TYPE_ACL_OP_COMPILER, ACL_REG_TYPE_ACL_MODEL, ACL_REG_TYPE_ACL_DVPP, ACL_REG_TYPE_OTHER};
    aclError code = 0;
    changing = true;
    for (size_t i = 0; i < 4 && code == 0; i++) code = mock_finalize_notify(types[i]);
    changing = false;
    mock_default_device(-1);
    if (code != 0) return code;
    (void)tell_dump(NULL);
    references = 0;
    finalized = true;
    return 0;
}

static aclError already_final(const char *call) {
    return mock_fail(ACL_ERROR_REPEAT_FINALIZE, "EH9999", "%s: nothing is initialised", call);
}

/* Finalizes at once whatever the count, the second time it is 100037 (observed: init_twice_finalize);
 * without a former aclInit too, the first time (observed: finalize_before_init). By the documentation it
 * takes as many calls as there were of aclInit (guide: initialisation, aclFinalize). */
MOCK_EXPORT aclError aclFinalize(void) {
    MOCK_ENTER(aclFinalize);
    mock_init_lock();
    aclError code = 0;
    if (finalized || changing) code = already_final("aclFinalize");
    else if (references > 1 && mock_strict_doc()) references--;
    else code = finalize_now();
    mock_init_unlock();
    return code;
}

/* Gives the count left; at 0: 100037 (observed: init_twice_finalize, finalizeref_before_init). */
MOCK_EXPORT aclError aclFinalizeReference(uint64_t *refCount) {
    MOCK_ENTER(aclFinalizeReference);
    mock_init_lock();
    aclError code = 0;
    if (references == 0 || changing) code = already_final("aclFinalizeReference");
    else if (references == 1) code = finalize_now();
    else references--;
    if (refCount != NULL) *refCount = references;
    mock_init_unlock();
    return code;
}
