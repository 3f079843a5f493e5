/* Several models in one container, docs/model-format.md (guide: models, bundles). An id that is not
 * loaded gives 148053, an index beyond the end 100000 (header: ACL_ERROR_INVALID_BUNDLE_MODEL_ID; own
 * choice which). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "models/config.h"
#include "models/file.h"
#include "models/model.h"
#include "models/models.h"

typedef struct bundle {
    mock_thing thing;
    unsigned char *bytes;
    mock_bundle_layout layout;
    uint32_t models[64]; /* ids, 0 for what is not loaded */
    bool whole;          /* loaded by aclmdlBundleLoadFrom..., all models at once */
} bundle;

typedef struct query {
    mock_thing thing;
    mock_bundle_layout layout;
    uint64_t work[64], weights[64];
} query;

static void drop_bundle(void *thing) { free(((bundle *)thing)->bytes); }

static const mock_thing_type bundle_type = {"bundle", drop_bundle};
static const mock_thing_type query_type = {"aclmdlBundleQueryInfo", NULL};
static mock_ids ids = MOCK_IDS(1);

void mock_bundles_reset(void) { mock_ids_reset(&ids); }

static aclError find(uint32_t id, bundle **out) {
    *out = mock_thing_get(&bundle_type, mock_ids_get(&ids, id));
    if (*out != NULL) return 0;
    return mock_fail(ACL_ERROR_INVALID_BUNDLE_MODEL_ID, "EE4001", "bundle %u is not loaded", id);
}

static void unload_all(bundle *b) {
    for (uint32_t i = 0; i < b->layout.count; i++)
        if (b->models[i] != 0) mock_model_unload(b->models[i]);
}

static aclError load_part(bundle *b, size_t index, mock_model_source *from, uint32_t *id) {
    mock_model_file *f = NULL;
    if (index >= b->layout.count) return mock_invalid("model %zu of %u", index, b->layout.count);
    if (b->models[index] != 0)
        return mock_fail((aclError)ACL_ERROR_GE_EXEC_LOAD_MODEL_REPEATED, "EE4001", "model %zu is loaded",
            index);
    const mock_bundle_part part = b->layout.parts[index];
    aclError code = mock_model_parse(b->bytes + part.offset, (size_t)part.size, "a model of a bundle", &f);
    if (code == 0) code = mock_model_load(f, from, id);
    if (code == 0) b->models[index] = *id;
    return code;
}

/* Takes `bytes` over. */
static aclError start(unsigned char *bytes, size_t size, bool whole, uint32_t *id) {
    bundle *b = mock_thing_new(&bundle_type, sizeof *b);
    if (b == NULL) {
        free(bytes);
        return ACL_ERROR_BAD_ALLOC;
    }
    b->bytes = bytes;
    b->whole = whole;
    aclError code = mock_bundle_parse(bytes, size, "the bundle", &b->layout);
    for (uint32_t i = 0; i < b->layout.count && whole && code == 0; i++) {
        mock_model_source from = {0};
        uint32_t model = 0;
        code = load_part(b, i, &from, &model);
    }
    if (code == 0 && !mock_ids_add(&ids, b->thing.handle, id)) code = ACL_ERROR_BAD_ALLOC;
    if (code == 0) return 0;
    unload_all(b);
    mock_thing_destroy(&bundle_type, b->thing.handle, "bundle");
    return code;
}

static aclError from_file(const char *path, bool whole, uint32_t *id) {
    unsigned char *bytes = NULL;
    size_t size = 0;
    if (path == NULL || id == NULL) return mock_null("modelPath and bundleId");
    const aclError code = mock_model_read(path, &bytes, &size);
    return code != 0 ? code : start(bytes, size, whole, id);
}

static aclError from_memory(const void *model, size_t size, bool whole, uint32_t *id) {
    if (model == NULL || size == 0 || id == NULL) return mock_null("model, modelSize and bundleId");
    unsigned char *bytes = malloc(size);
    if (bytes == NULL) return mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory for a bundle");
    memcpy(bytes, model, size);
    return start(bytes, size, whole, id);
}

/* ---- loading ---- */

MOCK_EXPORT aclError aclmdlBundleLoadFromFile(const char *modelPath, uint32_t *bundleId) {
    MOCK_ENTER(aclmdlBundleLoadFromFile);
    return from_file(modelPath, true, bundleId);
}

MOCK_EXPORT aclError aclmdlBundleLoadFromMem(const void *model, size_t modelSize, uint32_t *bundleId) {
    MOCK_ENTER(aclmdlBundleLoadFromMem);
    return from_memory(model, modelSize, true, bundleId);
}

/* Variable weights have no use here: their memory is not looked at (own choice). */
MOCK_EXPORT aclError aclmdlBundleInitFromFile(
    const char *modelPath, void *varWeightPtr, size_t varWeightSize, uint32_t *bundleId) {
    MOCK_ENTER(aclmdlBundleInitFromFile);
    (void)varWeightPtr;
    (void)varWeightSize;
    return from_file(modelPath, false, bundleId);
}

MOCK_EXPORT aclError aclmdlBundleInitFromMem(
    const void *model, size_t modelSize, void *varWeightPtr, size_t varWeightSize, uint32_t *bundleId) {
    MOCK_ENTER(aclmdlBundleInitFromMem);
    (void)varWeightPtr;
    (void)varWeightSize;
    return from_memory(model, modelSize, false, bundleId);
}

static aclError load(uint32_t bundleId, size_t index, mock_model_source *from, uint32_t *modelId) {
    bundle *b = NULL;
    if (modelId == NULL) return mock_null("modelId");
    const aclError code = find(bundleId, &b);
    return code != 0 ? code : load_part(b, index, from, modelId);
}

MOCK_EXPORT aclError aclmdlBundleLoadModel(uint32_t bundleId, size_t index, uint32_t *modelId) {
    MOCK_ENTER(aclmdlBundleLoadModel);
    return load(bundleId, index, &(mock_model_source){0}, modelId);
}

MOCK_EXPORT aclError aclmdlBundleLoadModelWithMem(uint32_t bundleId, size_t index, void *workPtr,
    size_t workSize,
    void *weightPtr, size_t weightSize, uint32_t *modelId) {
    MOCK_ENTER(aclmdlBundleLoadModelWithMem);
    mock_model_source from = {NULL, NULL, workPtr, weightPtr, workSize, weightSize, NULL, 0};
    return load(bundleId, index, &from, modelId);
}

MOCK_EXPORT aclError aclmdlBundleLoadModelWithConfig(
    uint32_t bundleId, size_t index, aclmdlConfigHandle *handle, uint32_t *modelId) {
    MOCK_ENTER(aclmdlBundleLoadModelWithConfig);
    mock_model_config *c = NULL;
    const aclError code = mock_model_config_find(handle, &c);
    if (code != 0) return code;
    mock_model_source from = {NULL, c->weight_path, c->work, c->weights, c->work_size, c->weight_size,
        c->externals,
        c->external_count};
    return load(bundleId, index, &from, modelId);
}

MOCK_EXPORT aclError aclmdlBundleUnloadModel(uint32_t bundleId, uint32_t modelId) {
    MOCK_ENTER(aclmdlBundleUnloadModel);
    bundle *b = NULL;
    const aclError code = find(bundleId, &b);
    if (code != 0) return code;
    for (uint32_t i = 0; modelId != 0 && i < b->layout.count; i++) {
        if (b->models[i] != modelId) continue;
        b->models[i] = 0;
        return mock_model_unload(modelId);
    }
    return mock_fail((aclError)ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, "EE4001", "model %u is not of bundle %u",
        modelId,
        bundleId);
}

MOCK_EXPORT aclError aclmdlBundleUnload(uint32_t bundleId) {
    MOCK_ENTER(aclmdlBundleUnload);
    bundle *b = NULL;
    const aclError code = find(bundleId, &b);
    if (code != 0) return code;
    mock_ids_take(&ids, bundleId);
    unload_all(b);
    return mock_thing_destroy(&bundle_type, b->thing.handle, "bundle");
}

/* ---- questions ---- */

MOCK_EXPORT aclError aclmdlBundleGetModelNum(uint32_t bundleId, size_t *modelNum) {
    MOCK_ENTER(aclmdlBundleGetModelNum);
    bundle *b = NULL;
    if (modelNum == NULL) return mock_null("modelNum");
    const aclError code = find(bundleId, &b);
    if (code == 0) *modelNum = b->layout.count;
    return code;
}

/* Of a bundle that was loaded as a whole, or a model that is loaded; else 100000 (own choice). */
MOCK_EXPORT aclError aclmdlBundleGetModelId(uint32_t bundleId, size_t index, uint32_t *modelId) {
    MOCK_ENTER(aclmdlBundleGetModelId);
    bundle *b = NULL;
    if (modelId == NULL) return mock_null("modelId");
    const aclError code = find(bundleId, &b);
    if (code != 0) return code;
    if (index >= b->layout.count || b->models[index] == 0) return mock_invalid("model %zu is not loaded",
        index);
    *modelId = b->models[index];
    return 0;
}

MOCK_EXPORT aclmdlBundleQueryInfo *aclmdlBundleCreateQueryInfo(void) {
    MOCK_ENTER_PTR(aclmdlBundleCreateQueryInfo);
    const query *q = mock_thing_new(&query_type, sizeof *q);
    return q == NULL ? NULL : q->thing.handle;
}

MOCK_EXPORT aclError aclmdlBundleDestroyQueryInfo(aclmdlBundleQueryInfo *queryInfo) {
    MOCK_ENTER(aclmdlBundleDestroyQueryInfo);
    return mock_thing_destroy(&query_type, queryInfo, "queryInfo");
}

static aclError measure(query *q, const unsigned char *bytes, size_t size) {
    aclError code = mock_bundle_parse(bytes, size, "the bundle", &q->layout);
    for (uint32_t i = 0; i < q->layout.count && code == 0; i++) {
        mock_model_file *f = NULL;
        bool bounded = false;
        const mock_bundle_part part = q->layout.parts[i];
        code = mock_model_parse(bytes + part.offset, (size_t)part.size, "a model of a bundle", &f);
        if (code != 0) break;
        code = mock_model_work_size(f, &q->work[i], &bounded);
        q->weights[i] = mock_model_weight_bytes(f);
        mock_model_file_unref(f);
    }
    if (code != 0) q->layout.count = 0;
    return code;
}

static aclError find_query(const aclmdlBundleQueryInfo *handle, query **out) {
    void *found = NULL;
    const aclError code = mock_thing_find(&query_type, handle, "queryInfo", &found);
    if (code == 0) *out = found;
    return code;
}

MOCK_EXPORT aclError aclmdlBundleQueryInfoFromFile(const char *fileName, aclmdlBundleQueryInfo *queryInfo) {
    MOCK_ENTER(aclmdlBundleQueryInfoFromFile);
    query *q = NULL;
    unsigned char *bytes = NULL;
    size_t size = 0;
    if (fileName == NULL) return mock_null("fileName");
    aclError code = find_query(queryInfo, &q);
    if (code == 0) code = mock_model_read(fileName, &bytes, &size);
    if (code == 0) code = measure(q, bytes, size);
    free(bytes);
    return code;
}

MOCK_EXPORT aclError aclmdlBundleQueryInfoFromMem(
    const void *model, size_t modelSize, aclmdlBundleQueryInfo *queryInfo) {
    MOCK_ENTER(aclmdlBundleQueryInfoFromMem);
    query *q = NULL;
    if (model == NULL || modelSize == 0) return mock_null("model and modelSize");
    const aclError code = find_query(queryInfo, &q);
    return code != 0 ? code : measure(q, model, modelSize);
}

MOCK_EXPORT aclError aclmdlBundleGetQueryModelNum(const aclmdlBundleQueryInfo *queryInfo, size_t *modelNum) {
    MOCK_ENTER(aclmdlBundleGetQueryModelNum);
    query *q = NULL;
    if (modelNum == NULL) return mock_null("modelNum");
    const aclError code = find_query(queryInfo, &q);
    if (code == 0) *modelNum = q->layout.count;
    return code;
}

MOCK_EXPORT aclError aclmdlBundleGetVarWeightSize(
    const aclmdlBundleQueryInfo *queryInfo, size_t *variableWeightSize) {
    MOCK_ENTER(aclmdlBundleGetVarWeightSize);
    query *q = NULL;
    if (variableWeightSize == NULL) return mock_null("variableWeightSize");
    const aclError code = find_query(queryInfo, &q);
    if (code == 0) *variableWeightSize = (size_t)q->layout.variable_bytes;
    return code;
}

MOCK_EXPORT aclError aclmdlBundleGetSize(
    const aclmdlBundleQueryInfo *queryInfo, size_t index, size_t *workSize, size_t *constWeightSize) {
    MOCK_ENTER(aclmdlBundleGetSize);
    query *q = NULL;
    if (workSize == NULL || constWeightSize == NULL) return mock_null("workSize and constWeightSize");
    const aclError code = find_query(queryInfo, &q);
    if (code != 0) return code;
    if (index >= q->layout.count) return mock_invalid("model %zu of %u", index, q->layout.count);
    *workSize = (size_t)q->work[index];
    *constWeightSize = (size_t)q->weights[index];
    return 0;
}
