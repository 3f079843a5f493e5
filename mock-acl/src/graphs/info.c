/* Graphs from outside: names, ids, dumps.
 *
 * (guide: model runtime instance; header: aclmdlRITaskType, aclmdlRITaskParams) */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graph.h"
#include "graphs/graphs.h"

#define NAME_LIMIT 512u /* longer names are cut (implementation of the open runtime) */

MOCK_EXPORT aclError aclmdlRISetName(aclmdlRI modelRI, const char *name) {
    MOCK_ENTER_OF(aclmdlRISetName, modelRI);
    if (name == NULL) return mock_null("name");
    aclError code = 0;
    mock_lock();
    mock_graph *g = mock_graph_get(modelRI, &code);
    if (code == 0) code = mock_graph_at_home(g);
    if (code == 0) {
        char *copy = strndup(name, NAME_LIMIT);
        if (copy == NULL) code = mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
        else free(g->name);
        if (copy != NULL) g->name = copy;
    }
    mock_unlock();
    return code;
}

/* Unset: "". maxLen 0: 107000; too short for the name and its end: 507000 and "" (observed: graph_name). */
static aclError get_name(const mock_graph *g, uint32_t length, char *name) {
    const char *have = g->name == NULL ? "" : g->name;
    if (length == 0) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "maxLen must not be 0");
    const aclError code = mock_graph_at_home(g);
    if (code != 0) return code;
    const bool fits = strlen(have) < length;
    snprintf(name, length, "%s", fits ? have : "");
    return fits ? 0 : mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "EE9999", "the name has %zu characters", strlen(have));
}

MOCK_EXPORT aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char *name) {
    MOCK_ENTER_OF(aclmdlRIGetName, modelRI);
    if (name == NULL) return mock_null("name");
    aclError code = 0;
    mock_lock();
    const mock_graph *g = mock_graph_get(modelRI, &code);
    if (code == 0) code = get_name(g, maxLen, name);
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t *modelRIId) {
    MOCK_ENTER_OF(aclmdlRIGetId, modelRI);
    if (modelRIId == NULL) return mock_null("modelRIId");
    aclError code = 0;
    mock_lock();
    const mock_graph *g = mock_graph_get(modelRI, &code);
    if (code == 0) *modelRIId = g->id;
    mock_unlock();
    return code;
}

/* ---- dumps ---- */

static const char *type_name(const mock_task *t) {
    static const char *const names[] = {
        "TASK", "KERNEL", "EVENT_RECORD", "EVENT_WAIT", "EVENT_RESET", "VALUE_WRITE", "VALUE_WAIT"};
    return t->type < sizeof names / sizeof names[0] ? names[t->type] : "TASK";
}

static void print_text(const mock_graph *g, void *unused) {
    fprintf(stderr, "model %u: %u streams, %u tasks\n", g->id, g->chain_count, g->node_count);
    for (uint32_t i = 0; i < g->node_count; i++)
        fprintf(stderr, "  stream %u task %u %s %s\n", g->nodes[i].chain, i, type_name(&g->nodes[i]),
            g->nodes[i].ops->name);
    mock_conds_each(g, print_text, unused);
}

/* The log (guide: model runtime instance, aclmdlRIDebugPrint); here standard error when MOCK_ACL_LOG is set
 * (own choice). */
MOCK_EXPORT aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
    MOCK_ENTER_OF(aclmdlRIDebugPrint, modelRI);
    aclError code = 0;
    mock_lock();
    const mock_graph *g = mock_graph_get(modelRI, &code);
    if (code == 0) code = mock_graph_at_home(g);
    if (code == 0 && getenv("MOCK_ACL_LOG") != NULL) print_text(g, NULL);
    mock_unlock();
    return code;
}

typedef struct json {
    FILE *file;
    bool verbose, more;
} json;

/* Events of a Chrome trace; times are positions (implementation of the open runtime). The verbose form
 * adds armed errors instead of kernel arguments, sub graphs follow as models of their own (own choice). */
static void print_tasks(const mock_graph *g, void *user) {
    json *j = user;
    for (uint32_t i = 0; i < g->node_count; i++) {
        const mock_task *t = &g->nodes[i];
        fprintf(j->file,
            "%s\n{\"name\": \"%s\", \"pid\": \"%d aclGraph\", \"tid\": \"stream%u\", \"ts\": %u, \"dur\": 1, "
            "\"ph\": \"X\", ",
            j->more ? "," : "", t->ops->name, (int)getpid(), t->chain, i);
        fprintf(j->file, "\"args\": {\"modelId\": %u, \"streamId\": %u, \"taskId\": %u, \"taskType\": \"%s\"",
            g->id, t->chain, i, type_name(t));
        if (t->kind == MOCK_TASK_RECORD || t->kind == MOCK_TASK_WAIT)
            fprintf(j->file, ", \"eventId\": %llu", (unsigned long long)t->u.wait.seq);
        if (j->verbose && t->fail != 0) fprintf(j->file, ", \"injectedError\": %d", t->fail);
        fprintf(j->file, "}}");
        j->more = true;
    }
    mock_conds_each(g, print_tasks, user);
}

static void print_json(FILE *f, const mock_graph *g, bool verbose) {
    json j = {f, verbose, false};
    fprintf(f, "[");
    print_tasks(g, &j);
    fprintf(f, "\n]\n");
}

/* A path that cannot be written: 107000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path, uint32_t flags) {
    MOCK_ENTER_OF(aclmdlRIDebugJsonPrint, modelRI);
    if (path == NULL) return mock_null("path");
    aclError code = 0;
    mock_lock();
    const mock_graph *g = mock_graph_get(modelRI, &code);
    FILE *f = code == 0 ? fopen(path, "w") : NULL;
    if (code == 0 && f == NULL)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "cannot write %s", path);
    if (f != NULL) {
        print_json(f, g, (flags & ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE) != 0);
        if (fclose(f) != 0) code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "cannot write %s", path);
    }
    mock_unlock();
    return code;
}
