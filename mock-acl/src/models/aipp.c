/* Preprocessing parameters of models: they are kept and checked; no container of the mock has
 * preprocessing, so they cannot be set on an input (guide: models, AIPP; codes: implementation of the
 * open graph engine). */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "models/dataset.h"
#include "models/model.h"

typedef struct batch_part {
    int8_t crop, scf, padding;
} batch_part;

typedef struct aipp {
    mock_thing thing;
    uint64_t batches;
    batch_part *parts;
    aclAippInputFormat format;
    int32_t width, height;
    int8_t csc, rbuv, ax;
} aipp;

static void drop(void *thing) { free(((aipp *)thing)->parts); }

static const mock_thing_type aipp_type = {"aclmdlAIPP", drop};

#define BATCH_LIMIT 127 /* guide: aclmdlCreateAIPP */
/* (own choice: the size of the card's structures is not public) */
#define HEAD_BYTES 64
#define PART_BYTES 96

static aclError find(const aclmdlAIPP *handle, aipp **out) {
    void *found = NULL;
    const aclError code = mock_thing_find(&aipp_type, handle, "aippParmsSet", &found);
    if (code == 0) *out = found;
    return code;
}

static aclError find_part(const aclmdlAIPP *handle, uint64_t index, aipp **out) {
    const aclError code = find(handle, out);
    if (code != 0 || index < (*out)->batches) return code;
    return mock_invalid("batch %llu of %llu", (unsigned long long)index, (unsigned long long)(*out)->batches);
}

static aclError switched(int8_t value) {
    return value == 0 || value == 1 ? 0 : mock_invalid("a switch is 0 or 1, not %d", value);
}

MOCK_EXPORT aclmdlAIPP *aclmdlCreateAIPP(uint64_t batchSize) {
    MOCK_ENTER_PTR(aclmdlCreateAIPP);
    if (batchSize == 0 || batchSize > BATCH_LIMIT) {
        mock_invalid("%llu batches, 1 to %d", (unsigned long long)batchSize, BATCH_LIMIT);
        return NULL;
    }
    aipp *a = mock_thing_new(&aipp_type, sizeof *a);
    if (a == NULL) return NULL;
    a->batches = batchSize;
    a->parts = calloc(batchSize, sizeof *a->parts);
    if (a->parts != NULL) return a->thing.handle;
    mock_thing_destroy(&aipp_type, a->thing.handle, "aipp");
    return NULL;
}

MOCK_EXPORT aclError aclmdlDestroyAIPP(const aclmdlAIPP *aippParmsSet) {
    MOCK_ENTER(aclmdlDestroyAIPP);
    return mock_thing_destroy(&aipp_type, aippParmsSet, "aippParmsSet");
}

MOCK_EXPORT aclError aclmdlGetAippDataSize(uint64_t batchSize, size_t *size) {
    MOCK_ENTER(aclmdlGetAippDataSize);
    if (size == NULL || batchSize == 0) return mock_null("size and batchSize");
    if (batchSize > BATCH_LIMIT) return mock_invalid("%llu batches", (unsigned long long)batchSize);
    *size = HEAD_BYTES + PART_BYTES * (size_t)batchSize;
    return 0;
}

/* The four formats of this chip. */
MOCK_EXPORT aclError aclmdlSetAIPPInputFormat(aclmdlAIPP *aippParmsSet, aclAippInputFormat inputFormat) {
    MOCK_ENTER(aclmdlSetAIPPInputFormat);
    aipp *a = NULL;
    const aclError code = find(aippParmsSet, &a);
    if (code != 0) return code;
    if (inputFormat < ACL_YUV420SP_U8 || inputFormat > ACL_YUV400_U8)
        return mock_invalid("format %d", (int)inputFormat);
    a->format = inputFormat;
    return 0;
}

MOCK_EXPORT aclError aclmdlSetAIPPSrcImageSize(
    aclmdlAIPP *aippParmsSet, int32_t srcImageSizeW, int32_t srcImageSizeH) {
    MOCK_ENTER(aclmdlSetAIPPSrcImageSize);
    aipp *a = NULL;
    const aclError code = find(aippParmsSet, &a);
    if (code != 0) return code;
    if (srcImageSizeW < 2 || srcImageSizeW > 4096 || srcImageSizeH < 1 || srcImageSizeH > 4096)
        return mock_invalid("%d x %d", srcImageSizeW, srcImageSizeH);
    a->width = srcImageSizeW;
    a->height = srcImageSizeH;
    return 0;
}

MOCK_EXPORT aclError aclmdlSetAIPPRbuvSwapSwitch(aclmdlAIPP *aippParmsSet, int8_t rbuvSwapSwitch) {
    MOCK_ENTER(aclmdlSetAIPPRbuvSwapSwitch);
    aipp *a = NULL;
    aclError code = find(aippParmsSet, &a);
    if (code == 0) code = switched(rbuvSwapSwitch);
    if (code == 0) a->rbuv = rbuvSwapSwitch;
    return code;
}

MOCK_EXPORT aclError aclmdlSetAIPPAxSwapSwitch(aclmdlAIPP *aippParmsSet, int8_t axSwapSwitch) {
    MOCK_ENTER(aclmdlSetAIPPAxSwapSwitch);
    aipp *a = NULL;
    aclError code = find(aippParmsSet, &a);
    if (code == 0) code = switched(axSwapSwitch);
    if (code == 0) a->ax = axSwapSwitch;
    return code;
}

/* The matrix and the biases are of no use here and not kept. */
MOCK_EXPORT aclError aclmdlSetAIPPCscParams(aclmdlAIPP *aippParmsSet, int8_t cscSwitch, int16_t cscMatrixR0C0,
    int16_t cscMatrixR0C1, int16_t cscMatrixR0C2, int16_t cscMatrixR1C0, int16_t cscMatrixR1C1,
    int16_t cscMatrixR1C2, int16_t cscMatrixR2C0, int16_t cscMatrixR2C1, int16_t cscMatrixR2C2,
    uint8_t cscOutputBiasR0, uint8_t cscOutputBiasR1, uint8_t cscOutputBiasR2, uint8_t cscInputBiasR0,
    uint8_t cscInputBiasR1, uint8_t cscInputBiasR2) {
    MOCK_ENTER(aclmdlSetAIPPCscParams);
    (void)cscMatrixR0C0, (void)cscMatrixR0C1, (void)cscMatrixR0C2, (void)cscMatrixR1C0, (void)cscMatrixR1C1;
    (void)cscMatrixR1C2, (void)cscMatrixR2C0, (void)cscMatrixR2C1, (void)cscMatrixR2C2, (void)cscOutputBiasR0;
    (void)cscOutputBiasR1, (void)cscOutputBiasR2, (void)cscInputBiasR0, (void)cscInputBiasR1;
    (void)cscInputBiasR2;
    aipp *a = NULL;
    aclError code = find(aippParmsSet, &a);
    if (code == 0) code = switched(cscSwitch);
    if (code == 0) a->csc = cscSwitch;
    return code;
}

MOCK_EXPORT aclError aclmdlSetAIPPCropParams(aclmdlAIPP *aippParmsSet, int8_t cropSwitch,
    int32_t cropStartPosW,
    int32_t cropStartPosH, int32_t cropSizeW, int32_t cropSizeH, uint64_t batchIndex) {
    MOCK_ENTER(aclmdlSetAIPPCropParams);
    aipp *a = NULL;
    aclError code = find_part(aippParmsSet, batchIndex, &a);
    if (code == 0) code = switched(cropSwitch);
    if (code == 0 && cropSwitch == 1 &&
        (cropStartPosW < 0 || cropStartPosH < 0 || cropSizeW < 1 || cropSizeH < 1 || cropSizeW > 4096 ||
            cropSizeH > 4096))
        code = mock_invalid("a crop of %d x %d at %d, %d", cropSizeW, cropSizeH, cropStartPosW,
            cropStartPosH);
    if (code == 0) a->parts[batchIndex].crop = cropSwitch;
    return code;
}

MOCK_EXPORT aclError aclmdlSetAIPPScfParams(aclmdlAIPP *aippParmsSet, int8_t scfSwitch, int32_t scfInputSizeW,
    int32_t scfInputSizeH, int32_t scfOutputSizeW, int32_t scfOutputSizeH, uint64_t batchIndex) {
    MOCK_ENTER(aclmdlSetAIPPScfParams);
    (void)scfInputSizeW, (void)scfInputSizeH, (void)scfOutputSizeW, (void)scfOutputSizeH;
    aipp *a = NULL;
    aclError code = find_part(aippParmsSet, batchIndex, &a);
    if (code == 0) code = switched(scfSwitch);
    if (code == 0) a->parts[batchIndex].scf = scfSwitch;
    return code;
}

MOCK_EXPORT aclError aclmdlSetAIPPPaddingParams(aclmdlAIPP *aippParmsSet, int8_t paddingSwitch,
    int32_t paddingSizeTop, int32_t paddingSizeBottom, int32_t paddingSizeLeft, int32_t paddingSizeRight,
    uint64_t batchIndex) {
    MOCK_ENTER(aclmdlSetAIPPPaddingParams);
    const int32_t sizes[] = {paddingSizeTop, paddingSizeBottom, paddingSizeLeft, paddingSizeRight};
    aipp *a = NULL;
    aclError code = find_part(aippParmsSet, batchIndex, &a);
    if (code == 0) code = switched(paddingSwitch);
    for (int i = 0; i < 4 && code == 0; i++)
        if (sizes[i] < 0 || sizes[i] > 32) code = mock_invalid("padding %d, 0 to 32", sizes[i]);
    if (code == 0) a->parts[batchIndex].padding = paddingSwitch;
    return code;
}

/* Means, minima and factors of channels: not kept. */
MOCK_EXPORT aclError aclmdlSetAIPPDtcPixelMean(aclmdlAIPP *aippParmsSet, int16_t dtcPixelMeanChn0,
    int16_t dtcPixelMeanChn1, int16_t dtcPixelMeanChn2, int16_t dtcPixelMeanChn3, uint64_t batchIndex) {
    MOCK_ENTER(aclmdlSetAIPPDtcPixelMean);
    (void)dtcPixelMeanChn0, (void)dtcPixelMeanChn1, (void)dtcPixelMeanChn2, (void)dtcPixelMeanChn3;
    aipp *a = NULL;
    return find_part(aippParmsSet, batchIndex, &a);
}

MOCK_EXPORT aclError aclmdlSetAIPPDtcPixelMin(aclmdlAIPP *aippParmsSet, float dtcPixelMinChn0,
    float dtcPixelMinChn1, float dtcPixelMinChn2, float dtcPixelMinChn3, uint64_t batchIndex) {
    MOCK_ENTER(aclmdlSetAIPPDtcPixelMin);
    (void)dtcPixelMinChn0, (void)dtcPixelMinChn1, (void)dtcPixelMinChn2, (void)dtcPixelMinChn3;
    aipp *a = NULL;
    return find_part(aippParmsSet, batchIndex, &a);
}

MOCK_EXPORT aclError aclmdlSetAIPPPixelVarReci(aclmdlAIPP *aippParmsSet, float dtcPixelVarReciChn0,
    float dtcPixelVarReciChn1, float dtcPixelVarReciChn2, float dtcPixelVarReciChn3, uint64_t batchIndex) {
    MOCK_ENTER(aclmdlSetAIPPPixelVarReci);
    (void)dtcPixelVarReciChn0, (void)dtcPixelVarReciChn1, (void)dtcPixelVarReciChn2,
        (void)dtcPixelVarReciChn3;
    aipp *a = NULL;
    return find_part(aippParmsSet, batchIndex, &a);
}

/* ---- on a model ---- */

static aclError input_of(uint32_t id, size_t index) {
    mock_model *m = NULL;
    const aclError code = mock_model_find(id, &m);
    if (code != 0) return code;
    const uint32_t n = m->file->input_count;
    mock_model_unref(m);
    return index < n ? 0 : mock_invalid("input %zu of %u", index, n);
}

MOCK_EXPORT aclError aclmdlGetAippType(
    uint32_t modelId, size_t index, aclmdlInputAippType *type, size_t *dynamicAttachedDataIndex) {
    MOCK_ENTER(aclmdlGetAippType);
    if (type == NULL || dynamicAttachedDataIndex == NULL)
        return mock_null("type and dynamicAttachedDataIndex");
    const aclError code = input_of(modelId, index);
    if (code != 0) return code;
    *type = ACL_DATA_WITHOUT_AIPP;
    *dynamicAttachedDataIndex = ACL_INVALID_NODE_INDEX;
    return 0;
}

/* No preprocessing: 145015. */
MOCK_EXPORT aclError aclmdlGetFirstAippInfo(uint32_t modelId, size_t index, aclAippInfo *aippInfo) {
    MOCK_ENTER(aclmdlGetFirstAippInfo);
    if (aippInfo == NULL) return mock_null("aippInfo");
    const aclError code = input_of(modelId, index);
    if (code != 0) return code;
    return mock_fail((aclError)ACL_ERROR_GE_AIPP_NOT_EXIST, "EE4001", "input %zu has no preprocessing",
        index);
}

/* No input takes parameters: 100000. */
MOCK_EXPORT aclError aclmdlSetInputAIPP(
    uint32_t modelId, aclmdlDataset *dataset, size_t index, const aclmdlAIPP *aippParmsSet) {
    MOCK_ENTER(aclmdlSetInputAIPP);
    aipp *a = NULL;
    mock_dataset *set = NULL;
    aclError code = mock_dataset_find(dataset, "dataset", &set);
    if (code == 0) code = find(aippParmsSet, &a);
    if (code == 0) code = input_of(modelId, index);
    return code != 0 ? code : mock_invalid("model %u has no input %s", modelId, ACL_DYNAMIC_AIPP_NAME);
}

/* No input has parameters attached: 500001. */
MOCK_EXPORT aclError aclmdlSetAIPPByInputIndex(
    uint32_t modelId, aclmdlDataset *dataset, size_t index, const aclmdlAIPP *aippParmsSet) {
    MOCK_ENTER(aclmdlSetAIPPByInputIndex);
    aipp *a = NULL;
    mock_dataset *set = NULL;
    aclError code = find(aippParmsSet, &a);
    if (code == 0) code = mock_dataset_find(dataset, "dataset", &set);
    if (code == 0 && index >= set->count) code = mock_invalid("buffer %zu of %zu", index, set->count);
    if (code == 0) code = input_of(modelId, index);
    return code != 0 ? code : mock_fail(ACL_ERROR_FAILURE, "EE4001", "input %zu has no preprocessing", index);
}
