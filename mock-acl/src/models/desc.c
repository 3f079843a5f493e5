/* The description of an offline model (guide: models, aclmdlDesc; answers to null and to bad indices:
 * implementation of the open graph engine). Names belong to the description. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "models/desc.h"
#include "models/file.h"
#include "models/model.h"

static void drop(void *thing) {
    mock_model_desc *d = thing;
    mock_model_file_unref(d->file);
    mock_model_unref(d->model);
}

static const mock_thing_type desc_type = {"aclmdlDesc", drop};

MOCK_THING_FINDER(mock_model_desc_find, aclmdlDesc, mock_model_desc, desc_type, "modelDesc")

MOCK_EXPORT aclmdlDesc *aclmdlCreateDesc(void) {
    MOCK_ENTER_PTR(aclmdlCreateDesc);
    const mock_model_desc *d = mock_thing_new(&desc_type, sizeof *d);
    return d == NULL ? NULL : d->thing.handle;
}

MOCK_EXPORT aclError aclmdlDestroyDesc(aclmdlDesc *modelDesc) {
    MOCK_ENTER(aclmdlDestroyDesc);
    return mock_thing_destroy(&desc_type, modelDesc, "modelDesc");
}

/* Takes both over; empty after a failure, as the real one clears it first. */
static void become(mock_model_desc *d, mock_model_file *file, mock_model *model, uint32_t id) {
    mock_model_file_unref(d->file);
    mock_model_unref(d->model);
    d->file = file;
    d->model = model;
    d->id = id;
}

MOCK_EXPORT aclError aclmdlGetDesc(aclmdlDesc *modelDesc, uint32_t modelId) {
    MOCK_ENTER(aclmdlGetDesc);
    mock_model_desc *d = NULL;
    mock_model *m = NULL;
    aclError code = mock_model_desc_find(modelDesc, &d);
    if (code != 0) return code;
    become(d, NULL, NULL, 0);
    code = mock_model_find(modelId, &m);
    if (code != 0) return code;
    mock_model_file_ref(m->file);
    become(d, m->file, m, modelId);
    return 0;
}

MOCK_EXPORT aclError aclmdlGetDescFromFile(aclmdlDesc *modelDesc, const char *modelPath) {
    MOCK_ENTER(aclmdlGetDescFromFile);
    mock_model_desc *d = NULL;
    unsigned char *bytes = NULL;
    size_t size = 0;
    mock_model_file *f = NULL;
    aclError code = mock_model_desc_find(modelDesc, &d);
    if (code != 0) return code;
    if (modelPath == NULL) return mock_null("modelPath");
    code = mock_model_read(modelPath, &bytes, &size);
    if (code == 0) code = mock_model_parse(bytes, size, modelPath, &f);
    free(bytes);
    if (code == 0) become(d, f, NULL, 0);
    return code;
}

MOCK_EXPORT aclError aclmdlGetDescFromMem(aclmdlDesc *modelDesc, const void *model, size_t modelSize) {
    MOCK_ENTER(aclmdlGetDescFromMem);
    mock_model_desc *d = NULL;
    mock_model_file *f = NULL;
    aclError code = mock_model_desc_find(modelDesc, &d);
    if (code != 0) return code;
    if (model == NULL || modelSize == 0) return mock_null("model and modelSize");
    code = mock_model_parse(model, modelSize, "the model in memory", &f);
    if (code == 0) become(d, f, NULL, 0);
    return code;
}

/* ---- inputs and outputs ---- */

/* An empty description has none. */
static uint32_t ends(const mock_model_desc *d, bool output, const uint32_t **list) {
    if (d->file == NULL) return 0;
    *list = output ? d->file->outputs : d->file->inputs;
    return output ? d->file->output_count : d->file->input_count;
}

static aclError end_at(
    const aclmdlDesc *handle, bool output, size_t index, mock_model_desc **d, const mock_model_tensor **t) {
    const uint32_t *list = NULL;
    const aclError code = mock_model_desc_find(handle, d);
    if (code != 0) return code;
    const uint32_t n = ends(*d, output, &list);
    if (index >= n) return mock_invalid("%s %zu of %u", output ? "output" : "input", index, n);
    *t = &(*d)->file->tensors[list[index]];
    return 0;
}

static size_t count(mock_api api, const aclmdlDesc *handle, bool output) {
    mock_model_desc *d = NULL;
    const uint32_t *list = NULL;
    return mock_enter(api) != 0 || mock_model_desc_find(handle, &d) != 0 ? 0 : ends(d, output, &list);
}

MOCK_EXPORT size_t aclmdlGetNumInputs(aclmdlDesc *modelDesc) {
    return count(MOCK_API_aclmdlGetNumInputs, modelDesc, false);
}

MOCK_EXPORT size_t aclmdlGetNumOutputs(aclmdlDesc *modelDesc) {
    return count(MOCK_API_aclmdlGetNumOutputs, modelDesc, true);
}

/* The size of the greatest gear or range; 0 when nothing bounds it. */
static size_t size_at(mock_api api, const aclmdlDesc *handle, bool output, size_t index) {
    mock_model_desc *d = NULL;
    const mock_model_tensor *t = NULL;
    if (mock_enter(api) != 0 || end_at(handle, output, index, &d, &t) != 0) return 0;
    return mock_model_tensor_bytes(d->file, (uint32_t)(t - d->file->tensors));
}

MOCK_EXPORT size_t aclmdlGetInputSizeByIndex(aclmdlDesc *modelDesc, size_t index) {
    return size_at(MOCK_API_aclmdlGetInputSizeByIndex, modelDesc, false, index);
}

MOCK_EXPORT size_t aclmdlGetOutputSizeByIndex(aclmdlDesc *modelDesc, size_t index) {
    return size_at(MOCK_API_aclmdlGetOutputSizeByIndex, modelDesc, true, index);
}

static const mock_model_tensor *looked_up(mock_api api, const aclmdlDesc *handle, bool output, size_t index) {
    mock_model_desc *d = NULL;
    const mock_model_tensor *t = NULL;
    return mock_enter(api) != 0 || end_at(handle, output, index, &d, &t) != 0 ? NULL : t;
}

MOCK_EXPORT const char *aclmdlGetInputNameByIndex(const aclmdlDesc *modelDesc, size_t index) {
    const mock_model_tensor *t = looked_up(MOCK_API_aclmdlGetInputNameByIndex, modelDesc, false, index);
    return t == NULL ? "" : t->name;
}

MOCK_EXPORT const char *aclmdlGetOutputNameByIndex(const aclmdlDesc *modelDesc, size_t index) {
    const mock_model_tensor *t = looked_up(MOCK_API_aclmdlGetOutputNameByIndex, modelDesc, true, index);
    return t == NULL ? "" : t->name;
}

MOCK_EXPORT aclFormat aclmdlGetInputFormat(const aclmdlDesc *modelDesc, size_t index) {
    const mock_model_tensor *t = looked_up(MOCK_API_aclmdlGetInputFormat, modelDesc, false, index);
    return t == NULL ? ACL_FORMAT_UNDEFINED : t->format;
}

MOCK_EXPORT aclFormat aclmdlGetOutputFormat(const aclmdlDesc *modelDesc, size_t index) {
    const mock_model_tensor *t = looked_up(MOCK_API_aclmdlGetOutputFormat, modelDesc, true, index);
    return t == NULL ? ACL_FORMAT_UNDEFINED : t->format;
}

MOCK_EXPORT aclDataType aclmdlGetInputDataType(const aclmdlDesc *modelDesc, size_t index) {
    const mock_model_tensor *t = looked_up(MOCK_API_aclmdlGetInputDataType, modelDesc, false, index);
    return t == NULL ? ACL_DT_UNDEFINED : t->dtype;
}

MOCK_EXPORT aclDataType aclmdlGetOutputDataType(const aclmdlDesc *modelDesc, size_t index) {
    const mock_model_tensor *t = looked_up(MOCK_API_aclmdlGetOutputDataType, modelDesc, true, index);
    return t == NULL ? ACL_DT_UNDEFINED : t->dtype;
}

/* No such name: 100000. */
static aclError by_name(const aclmdlDesc *handle, bool output, const char *name, size_t *index) {
    mock_model_desc *d = NULL;
    const uint32_t *list = NULL;
    const aclError code = mock_model_desc_find(handle, &d);
    if (code != 0) return code;
    if (name == NULL || index == NULL) return mock_null("name and index");
    const uint32_t n = ends(d, output, &list);
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(d->file->tensors[list[i]].name, name) != 0) continue;
        *index = i;
        return 0;
    }
    return mock_invalid("no %s is called %s", output ? "output" : "input", name);
}

MOCK_EXPORT aclError aclmdlGetInputIndexByName(const aclmdlDesc *modelDesc, const char *name, size_t *index) {
    MOCK_ENTER(aclmdlGetInputIndexByName);
    return by_name(modelDesc, false, name, index);
}

MOCK_EXPORT aclError aclmdlGetOutputIndexByName(const aclmdlDesc *modelDesc, const char *name,
    size_t *index) {
    MOCK_ENTER(aclmdlGetOutputIndexByName);
    return by_name(modelDesc, true, name, index);
}

/* ---- shapes ---- */

/* A name that does not fit gets one that aclmdlGetTensorRealName takes back. */
static void fill_dims(const mock_model_desc *d, const mock_model_tensor *t, const mock_model_shape *shape,
    aclmdlIODims *dims) {
    const bool fits = strlen(t->name) < sizeof dims->name;
    if (fits) snprintf(dims->name, sizeof dims->name, "%s", t->name);
    else
        snprintf(dims->name, sizeof dims->name, "acl_modelId_%u_%s_%u", d->id,
            t->place == MOCK_PLACE_INPUT ? "input" : "output", t->position);
    dims->dimCount = shape->rank;
    for (unsigned i = 0; i < shape->rank; i++) dims->dims[i] = shape->dims[i];
}

static aclError dims_at(const aclmdlDesc *handle, bool output, size_t index, aclmdlIODims *dims) {
    mock_model_desc *d = NULL;
    const mock_model_tensor *t = NULL;
    if (dims == NULL) return mock_null("dims");
    const aclError code = end_at(handle, output, index, &d, &t);
    if (code == 0) fill_dims(d, t, &t->shape, dims);
    return code;
}

/* -1 for what is open. */
MOCK_EXPORT aclError aclmdlGetInputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims) {
    MOCK_ENTER(aclmdlGetInputDims);
    return dims_at(modelDesc, false, index, dims);
}

/* The same: no model here has preprocessing whose parameters are fixed. */
MOCK_EXPORT aclError aclmdlGetInputDimsV2(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims) {
    MOCK_ENTER(aclmdlGetInputDimsV2);
    return dims_at(modelDesc, false, index, dims);
}

MOCK_EXPORT aclError aclmdlGetOutputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims) {
    MOCK_ENTER(aclmdlGetOutputDims);
    return dims_at(modelDesc, true, index, dims);
}

/* Of the gear that was chosen last; before a choice as aclmdlGetOutputDims. */
MOCK_EXPORT aclError aclmdlGetCurOutputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims) {
    MOCK_ENTER(aclmdlGetCurOutputDims);
    mock_model_desc *d = NULL;
    const mock_model_tensor *t = NULL;
    if (dims == NULL) return mock_null("dims");
    aclError code = end_at(modelDesc, true, index, &d, &t);
    if (code != 0) return code;
    if (d->model == NULL || d->model->chosen == 0) {
        fill_dims(d, t, &t->shape, dims);
        return 0;
    }
    mock_model_plan plan;
    mock_model_shape *inputs = calloc((size_t)d->file->input_count + 1, sizeof *inputs);
    if (inputs == NULL) return mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory");
    mock_model_gear_shapes(d->file, d->model->chosen - 1, inputs);
    code = mock_model_plan_make(d->file, inputs, &plan);
    free(inputs);
    if (code != 0) return code;
    fill_dims(d, t, &plan.shapes[t - d->file->tensors], dims);
    mock_model_plan_free(&plan);
    return 0;
}

/* As many pairs as the model was built with, none for a fixed shape (own choice). */
MOCK_EXPORT aclError aclmdlGetInputDimsRange(
    const aclmdlDesc *modelDesc, size_t index, aclmdlIODimsRange *dimsRange) {
    MOCK_ENTER(aclmdlGetInputDimsRange);
    mock_model_desc *d = NULL;
    const mock_model_tensor *t = NULL;
    if (dimsRange == NULL) return mock_null("dimsRange");
    const aclError code = end_at(modelDesc, false, index, &d, &t);
    if (code != 0) return code;
    dimsRange->rangeCount = t->ranged ? t->shape.rank : 0;
    for (size_t i = 0; i < dimsRange->rangeCount; i++)
        memcpy(dimsRange->range[i], t->range[i], sizeof t->range[i]);
    return 0;
}

/* The name that stands behind a shortened one; null for a name that is neither. */
MOCK_EXPORT const char *aclmdlGetTensorRealName(const aclmdlDesc *modelDesc, const char *name) {
    MOCK_ENTER_PTR(aclmdlGetTensorRealName);
    mock_model_desc *d = NULL;
    if (mock_model_desc_find(modelDesc, &d) != 0) return NULL;
    if (name == NULL) {
        mock_null("name");
        return NULL;
    }
    for (int output = 0; output < 2; output++) {
        const uint32_t *list = NULL;
        const uint32_t n = ends(d, output != 0, &list);
        for (uint32_t i = 0; i < n; i++) {
            const mock_model_tensor *t = &d->file->tensors[list[i]];
            char shortened[128];
            snprintf(shortened, sizeof shortened, "acl_modelId_%u_%s_%u", d->id, output
                ? "output" : "input", i);
            if (strcmp(t->name, name) == 0 || strcmp(shortened, name) == 0) return t->name;
        }
    }
    mock_invalid("no tensor is called %s", name);
    return NULL;
}

/* One attribute only: the names of the operators that an operator was made of. Null when it has none. */
MOCK_EXPORT const char *aclmdlGetOpAttr(aclmdlDesc *modelDesc, const char *opName, const char *attr) {
    MOCK_ENTER_PTR(aclmdlGetOpAttr);
    mock_model_desc *d = NULL;
    if (mock_model_desc_find(modelDesc, &d) != 0) return NULL;
    if (opName == NULL || attr == NULL || strcmp(attr, ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES) != 0) {
        mock_invalid("attribute %s", attr == NULL ? "(null)" : attr);
        return NULL;
    }
    for (uint32_t i = 0; d->file != NULL && i < d->file->op_count; i++)
        if (strcmp(d->file->ops[i].name, opName) == 0) {
            const char *text = mock_attr_text(&d->file->ops[i], attr);
            return text == NULL ? "" : text; /* guide: empty where the operator has none */
        }
    mock_invalid("no operator is called %s", opName);
    return NULL;
}
