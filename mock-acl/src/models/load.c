/* The calls that load, measure and unload offline models (guide: models, loading; codes: implementation
 * of the open graph engine where it checks, models/file.c for what is in the file). */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "models/config.h"
#include "models/file.h"
#include "models/model.h"

static aclError from_memory(const void *model, size_t size, mock_model_file **out) {
    if (model == NULL || size == 0) return mock_null("model and modelSize");
    return mock_model_parse(model, size, "the model in memory", out);
}

static aclError from_file(const char *path, mock_model_file **out) {
    unsigned char *bytes = NULL;
    size_t size = 0;
    if (path == NULL) return mock_null("modelPath");
    aclError code = mock_model_read(path, &bytes, &size);
    if (code != 0) return code;
    code = mock_model_parse(bytes, size, path, out);
    free(bytes);
    return code;
}

static const void *as_given(uint32_t id) { return (const void *)(uintptr_t)id; }

static aclError load(mock_model_file *f, const mock_model_source *from, uint32_t *id) {
    mock_given(from->work);
    mock_given(from->weights);
    const uint64_t noted = mock_self()->noted;
    const aclError code = mock_model_load(f, from, id);
    /* It makes calls of its own. */
    mock_self()->noted = noted;
    if (code == 0) mock_gave(as_given(*id));
    return code;
}

static aclError load_file(const mock_model_source *from, uint32_t *id) {
    mock_model_file *f = NULL;
    if (id == NULL) return mock_null("modelId");
    const aclError code = from_file(from->path, &f);
    return code != 0 ? code : load(f, from, id);
}

static aclError load_memory(const void *model, size_t size, const mock_model_source *from, uint32_t *id) {
    mock_model_file *f = NULL;
    if (model == NULL || id == NULL) return mock_null("model and modelId");
    const aclError code = from_memory(model, size, &f);
    return code != 0 ? code : load(f, from, id);
}

MOCK_EXPORT aclError aclmdlLoadFromFile(const char *modelPath, uint32_t *modelId) {
    MOCK_ENTER(aclmdlLoadFromFile);
    return load_file(&(mock_model_source){.path = modelPath}, modelId);
}

MOCK_EXPORT aclError aclmdlLoadFromMem(const void *model, size_t modelSize, uint32_t *modelId) {
    MOCK_ENTER(aclmdlLoadFromMem);
    return load_memory(model, modelSize, &(mock_model_source){0}, modelId);
}

/* Null memory: the mock takes its own. */
MOCK_EXPORT aclError aclmdlLoadFromFileWithMem(const char *modelPath, uint32_t *modelId, void *workPtr,
    size_t workSize, void *weightPtr, size_t weightSize) {
    MOCK_ENTER(aclmdlLoadFromFileWithMem);
    const mock_model_source from = {modelPath, NULL, workPtr, weightPtr, workSize, weightSize, NULL, 0};
    return load_file(&from, modelId);
}

MOCK_EXPORT aclError aclmdlLoadFromMemWithMem(const void *model, size_t modelSize, uint32_t *modelId,
    void *workPtr,
    size_t workSize, void *weightPtr, size_t weightSize) {
    MOCK_ENTER(aclmdlLoadFromMemWithMem);
    const mock_model_source from = {NULL, NULL, workPtr, weightPtr, workSize, weightSize, NULL, 0};
    return load_memory(model, modelSize, &from, modelId);
}

/* Models that wait at queues: 207000. */
MOCK_EXPORT aclError aclmdlLoadWithConfig(const aclmdlConfigHandle *handle, uint32_t *modelId) {
    MOCK_ENTER(aclmdlLoadWithConfig);
    mock_model_config *c = NULL;
    aclError code = mock_model_config_find(handle, &c);
    if (code != 0) return code;
    if (modelId == NULL) return mock_null("modelId");
    code = mock_model_config_check(c);
    if (code != 0) return code;
    mock_model_source from = {.externals = c->externals, .external_count = c->external_count};
    const size_t type = c->load_type;
    if (type == ACL_MDL_LOAD_FROM_FILE_WITH_MEM || type == ACL_MDL_LOAD_FROM_MEM_WITH_MEM) {
        from.work = c->work;
        from.weights = c->weights;
        from.work_size = c->work_size;
        from.weight_size = c->weight_size;
    }
    if (type >= ACL_MDL_LOAD_FROM_FILE_WITH_Q)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017",
            "models with queues are not in mock-acl");
    from.folder = c->weight_path;
    if (type == ACL_MDL_LOAD_FROM_MEM || type == ACL_MDL_LOAD_FROM_MEM_WITH_MEM)
        return load_memory(c->model, c->model_size, &from, modelId);
    from.path = c->path;
    return load_file(&from, modelId);
}

MOCK_EXPORT aclError aclmdlUnload(uint32_t modelId) {
    MOCK_ENTER_OF(aclmdlUnload, as_given(modelId));
    return mock_model_unload(modelId);
}

/* ---- sizes ---- */

/* A model of no bounds needs no work memory of its own: each execution takes what it needs. */
static aclError measure(mock_model_file *f, size_t *work, size_t *weights) {
    uint64_t bytes = 0;
    bool bounded = false;
    const aclError code = mock_model_work_size(f, &bytes, &bounded);
    if (code == 0) {
        *work = bounded ? (size_t)bytes : 0;
        *weights = (size_t)mock_model_weight_bytes(f);
    }
    mock_model_file_unref(f);
    return code;
}

MOCK_EXPORT aclError aclmdlQuerySize(const char *fileName, size_t *workSize, size_t *weightSize) {
    MOCK_ENTER(aclmdlQuerySize);
    if (workSize == NULL || weightSize == NULL) return mock_null("workSize and weightSize");
    mock_model_file *f = NULL;
    const aclError code = from_file(fileName, &f);
    return code != 0 ? code : measure(f, workSize, weightSize);
}

MOCK_EXPORT aclError aclmdlQuerySizeFromMem(
    const void *model, size_t modelSize, size_t *workSize, size_t *weightSize) {
    MOCK_ENTER(aclmdlQuerySizeFromMem);
    if (workSize == NULL || weightSize == NULL) return mock_null("workSize and weightSize");
    mock_model_file *f = NULL;
    const aclError code = from_memory(model, modelSize, &f);
    return code != 0 ? code : measure(f, workSize, weightSize);
}
