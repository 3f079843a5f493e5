/* Parameters of image preprocessing: they are checked and kept as the kernel reads them (guide: models, AIPP; codes,
 * limits and their order: implementation of the open graph engine). */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "models/aipp.h"

typedef mock_aipp aipp;

static void drop(void *thing) { free(((aipp *)thing)->parts); }

static const mock_thing_type aipp_type = {"aclmdlAIPP", drop};

#define DOCUMENTED_BATCHES 127 /* guide: aclmdlCreateAIPP; the implementation takes more */

aclError mock_aipp_find(const aclmdlAIPP *handle, aipp **out) {
    void *found = NULL;
    const aclError code = mock_thing_find(&aipp_type, handle, "aippParmsSet", &found);
    if (code == 0) *out = found;
    return code;
}

static aclError find_part(const aclmdlAIPP *handle, uint64_t index, mock_aipp_part **out) {
    aipp *a = NULL;
    const aclError code = mock_aipp_find(handle, &a);
    if (code != 0) return code;
    if (index >= a->batches)
        return mock_invalid("batch %llu of %llu", (unsigned long long)index, (unsigned long long)a->batches);
    *out = &a->parts[index];
    return 0;
}

static aclError within(const char *what, int64_t value, int64_t least, int64_t most) {
    if (value >= least && value <= most) return 0;
    return mock_invalid("%s is %lld, %lld to %lld", what, (long long)value, (long long)least, (long long)most);
}

static aclError all_within(const char *what, const int32_t *values, size_t n, int32_t least, int32_t most) {
    aclError code = 0;
    for (size_t i = 0; i < n && code == 0; i++) code = within(what, values[i], least, most);
    return code;
}

static aclError switched(int8_t value) { return within("a switch", value, 0, 1); }

size_t mock_aipp_bytes(uint64_t batches) {
    return sizeof(mock_aipp_head) + sizeof(mock_aipp_part) * (size_t)batches;
}

size_t mock_aipp_image_bytes(const mock_aipp_head *head) {
    const size_t pixels = (size_t)head->width * (size_t)head->height;
    switch (head->format) {
    case MOCK_AIPP_YUV420SP:
        return 3 * pixels / 2;
    case MOCK_AIPP_XRGB8888:
        return 4 * pixels;
    case MOCK_AIPP_RGB888:
        return 3 * pixels;
    default:
        return head->format == MOCK_AIPP_YUV400 ? pixels : 0;
    }
}

void mock_aipp_result(const mock_aipp_head *head, const mock_aipp_part *part, int64_t *width, int64_t *height) {
    *width = part->crop ? part->crop_width : head->width;
    *height = part->crop ? part->crop_height : head->height;
    if (!part->padding) return;
    *width += (int64_t)part->left + part->right;
    *height += (int64_t)part->top + part->bottom;
}

static bool countable(uint64_t batches) {
    const uint64_t most = mock_strict_doc() ? DOCUMENTED_BATCHES : SIZE_MAX / sizeof(mock_aipp_part) - 1;
    return batches != 0 && batches <= most;
}

/* The factor of each channel is 1, all else 0. */
MOCK_EXPORT aclmdlAIPP *aclmdlCreateAIPP(uint64_t batchSize) {
    MOCK_ENTER_PTR(aclmdlCreateAIPP);
    if (!countable(batchSize)) {
        mock_invalid("%llu batches", (unsigned long long)batchSize);
        return NULL;
    }
    aipp *a = mock_thing_new(&aipp_type, sizeof *a);
    if (a == NULL) return NULL;
    a->batches = batchSize;
    a->head.batches = (int8_t)batchSize;
    a->parts = calloc(batchSize, sizeof *a->parts);
    for (uint64_t i = 0; a->parts != NULL && i < batchSize; i++)
        for (int k = 0; k < 4; k++) a->parts[i].factor[k] = mock_float_to_half(1);
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
    if (!countable(batchSize)) return mock_invalid("%llu batches", (unsigned long long)batchSize);
    *size = mock_aipp_bytes(batchSize);
    return 0;
}

/* The kernel's number of each aclAippInputFormat. All are kept; aclmdlSetInputAIPP refuses those that the chip does not
 * take. */
static const uint8_t formats[] = {0, 1, 2, 5, 10, 3, 4, 6, 7, 8, 9, 11, 12, 13, 16};

MOCK_EXPORT aclError aclmdlSetAIPPInputFormat(aclmdlAIPP *aippParmsSet, aclAippInputFormat inputFormat) {
    MOCK_ENTER(aclmdlSetAIPPInputFormat);
    aipp *a = NULL;
    const aclError code = mock_aipp_find(aippParmsSet, &a);
    if (code != 0) return code;
    if (inputFormat < ACL_YUV420SP_U8 || inputFormat > ACL_RAW24) return mock_invalid("format %d", (int)inputFormat);
    a->head.format = formats[inputFormat];
    return 0;
}

MOCK_EXPORT aclError aclmdlSetAIPPSrcImageSize(
    aclmdlAIPP *aippParmsSet, int32_t srcImageSizeW, int32_t srcImageSizeH) {
    MOCK_ENTER(aclmdlSetAIPPSrcImageSize);
    aipp *a = NULL;
    aclError code = mock_aipp_find(aippParmsSet, &a);
    if (code == 0) code = within("the width", srcImageSizeW, 2, 4096);
    if (code == 0) code = within("the height", srcImageSizeH, 1, 4096);
    if (code != 0) return code;
    a->head.width = srcImageSizeW;
    a->head.height = srcImageSizeH;
    return 0;
}

MOCK_EXPORT aclError aclmdlSetAIPPRbuvSwapSwitch(aclmdlAIPP *aippParmsSet, int8_t rbuvSwapSwitch) {
    MOCK_ENTER(aclmdlSetAIPPRbuvSwapSwitch);
    aipp *a = NULL;
    aclError code = mock_aipp_find(aippParmsSet, &a);
    if (code == 0) code = switched(rbuvSwapSwitch);
    if (code == 0) a->head.rbuv = rbuvSwapSwitch;
    return code;
}

MOCK_EXPORT aclError aclmdlSetAIPPAxSwapSwitch(aclmdlAIPP *aippParmsSet, int8_t axSwapSwitch) {
    MOCK_ENTER(aclmdlSetAIPPAxSwapSwitch);
    aipp *a = NULL;
    aclError code = mock_aipp_find(aippParmsSet, &a);
    if (code == 0) code = switched(axSwapSwitch);
    if (code == 0) a->head.ax = axSwapSwitch;
    return code;
}

/* Here and below nothing else is looked at where the switch is off. */
MOCK_EXPORT aclError aclmdlSetAIPPCscParams(aclmdlAIPP *aippParmsSet, int8_t cscSwitch, int16_t cscMatrixR0C0,
    int16_t cscMatrixR0C1, int16_t cscMatrixR0C2, int16_t cscMatrixR1C0, int16_t cscMatrixR1C1,
    int16_t cscMatrixR1C2, int16_t cscMatrixR2C0, int16_t cscMatrixR2C1, int16_t cscMatrixR2C2,
    uint8_t cscOutputBiasR0, uint8_t cscOutputBiasR1, uint8_t cscOutputBiasR2, uint8_t cscInputBiasR0,
    uint8_t cscInputBiasR1, uint8_t cscInputBiasR2) {
    MOCK_ENTER(aclmdlSetAIPPCscParams);
    const int16_t matrix[3][3] = {{cscMatrixR0C0, cscMatrixR0C1, cscMatrixR0C2},
        {cscMatrixR1C0, cscMatrixR1C1, cscMatrixR1C2}, {cscMatrixR2C0, cscMatrixR2C1, cscMatrixR2C2}};
    const uint8_t output_bias[] = {cscOutputBiasR0, cscOutputBiasR1, cscOutputBiasR2};
    const uint8_t input_bias[] = {cscInputBiasR0, cscInputBiasR1, cscInputBiasR2};
    aipp *a = NULL;
    aclError code = mock_aipp_find(aippParmsSet, &a);
    if (code == 0) code = switched(cscSwitch);
    if (code == 0) a->head.csc = cscSwitch;
    if (code != 0 || cscSwitch == 0) return code;
    for (int i = 0; i < 9 && code == 0; i++) code = within("the matrix", matrix[i / 3][i % 3], -32677, 32676);
    if (code != 0) return code;
    memcpy(a->head.matrix, matrix, sizeof matrix);
    memcpy(a->head.output_bias, output_bias, sizeof output_bias);
    memcpy(a->head.input_bias, input_bias, sizeof input_bias);
    return 0;
}

MOCK_EXPORT aclError aclmdlSetAIPPCropParams(aclmdlAIPP *aippParmsSet, int8_t cropSwitch,
    int32_t cropStartPosW,
    int32_t cropStartPosH, int32_t cropSizeW, int32_t cropSizeH, uint64_t batchIndex) {
    MOCK_ENTER(aclmdlSetAIPPCropParams);
    mock_aipp_part *part = NULL;
    aclError code = find_part(aippParmsSet, batchIndex, &part);
    if (code == 0) code = switched(cropSwitch);
    if (code == 0) part->crop = cropSwitch;
    if (code != 0 || cropSwitch == 0) return code;
    code = all_within("where the crop starts", (const int32_t[]){cropStartPosW, cropStartPosH}, 2, 0, 4095);
    if (code == 0) code = all_within("the size of the crop", (const int32_t[]){cropSizeW, cropSizeH}, 2, 1, 4096);
    if (code != 0) return code;
    part->crop_x = cropStartPosW;
    part->crop_y = cropStartPosH;
    part->crop_width = cropSizeW;
    part->crop_height = cropSizeH;
    return 0;
}

/* Kept; aclmdlSetInputAIPP refuses it. */
MOCK_EXPORT aclError aclmdlSetAIPPScfParams(aclmdlAIPP *aippParmsSet, int8_t scfSwitch, int32_t scfInputSizeW,
    int32_t scfInputSizeH, int32_t scfOutputSizeW, int32_t scfOutputSizeH, uint64_t batchIndex) {
    MOCK_ENTER(aclmdlSetAIPPScfParams);
    const int32_t sizes[] = {scfInputSizeW, scfInputSizeH, scfOutputSizeH};
    mock_aipp_part *part = NULL;
    aclError code = find_part(aippParmsSet, batchIndex, &part);
    if (code == 0) code = switched(scfSwitch);
    if (code == 0) part->scf = scfSwitch;
    if (code != 0 || scfSwitch == 0) return code;
    code = all_within("a size", sizes, 3, 16, 4096);
    if (code == 0) code = within("the width of the result", scfOutputSizeW, 16, 1920);
    if (code != 0) return code;
    part->scf_input_width = scfInputSizeW;
    part->scf_input_height = scfInputSizeH;
    part->scf_output_width = scfOutputSizeW;
    part->scf_output_height = scfOutputSizeH;
    return 0;
}

MOCK_EXPORT aclError aclmdlSetAIPPPaddingParams(aclmdlAIPP *aippParmsSet, int8_t paddingSwitch,
    int32_t paddingSizeTop, int32_t paddingSizeBottom, int32_t paddingSizeLeft, int32_t paddingSizeRight,
    uint64_t batchIndex) {
    MOCK_ENTER(aclmdlSetAIPPPaddingParams);
    const int32_t sizes[] = {paddingSizeTop, paddingSizeBottom, paddingSizeLeft, paddingSizeRight};
    mock_aipp_part *part = NULL;
    aclError code = find_part(aippParmsSet, batchIndex, &part);
    if (code == 0) code = switched(paddingSwitch);
    if (code == 0) part->padding = paddingSwitch;
    if (code != 0 || paddingSwitch == 0) return code;
    code = all_within("the padding", sizes, 4, 0, 32);
    if (code != 0) return code;
    part->top = paddingSizeTop;
    part->bottom = paddingSizeBottom;
    part->left = paddingSizeLeft;
    part->right = paddingSizeRight;
    return 0;
}

MOCK_EXPORT aclError aclmdlSetAIPPDtcPixelMean(aclmdlAIPP *aippParmsSet, int16_t dtcPixelMeanChn0,
    int16_t dtcPixelMeanChn1, int16_t dtcPixelMeanChn2, int16_t dtcPixelMeanChn3, uint64_t batchIndex) {
    MOCK_ENTER(aclmdlSetAIPPDtcPixelMean);
    const int16_t mean[] = {dtcPixelMeanChn0, dtcPixelMeanChn1, dtcPixelMeanChn2, dtcPixelMeanChn3};
    mock_aipp_part *part = NULL;
    aclError code = find_part(aippParmsSet, batchIndex, &part);
    for (int i = 0; i < 4 && code == 0; i++) code = within("the mean", mean[i], 0, 255);
    if (code == 0) memcpy(part->mean, mean, sizeof mean);
    return code;
}

/* Numbers of four channels as halves. NaN is in every range, and becomes the greatest half. */
static aclError set_halves(uint16_t *to, const float *values, float least, float most) {
    for (int i = 0; i < 4; i++)
        if (values[i] < least || values[i] > most)
            return mock_invalid("channel %d is %g, %g to %g", i, (double)values[i], (double)least, (double)most);
    for (int i = 0; i < 4; i++) to[i] = isnan(values[i]) ? 0x7BFF : mock_float_to_half(values[i]);
    return 0;
}

MOCK_EXPORT aclError aclmdlSetAIPPDtcPixelMin(aclmdlAIPP *aippParmsSet, float dtcPixelMinChn0,
    float dtcPixelMinChn1, float dtcPixelMinChn2, float dtcPixelMinChn3, uint64_t batchIndex) {
    MOCK_ENTER(aclmdlSetAIPPDtcPixelMin);
    const float least[] = {dtcPixelMinChn0, dtcPixelMinChn1, dtcPixelMinChn2, dtcPixelMinChn3};
    mock_aipp_part *part = NULL;
    const aclError code = find_part(aippParmsSet, batchIndex, &part);
    return code != 0 ? code : set_halves(part->least, least, 0, 255);
}

MOCK_EXPORT aclError aclmdlSetAIPPPixelVarReci(aclmdlAIPP *aippParmsSet, float dtcPixelVarReciChn0,
    float dtcPixelVarReciChn1, float dtcPixelVarReciChn2, float dtcPixelVarReciChn3, uint64_t batchIndex) {
    MOCK_ENTER(aclmdlSetAIPPPixelVarReci);
    const float factor[] = {dtcPixelVarReciChn0, dtcPixelVarReciChn1, dtcPixelVarReciChn2, dtcPixelVarReciChn3};
    mock_aipp_part *part = NULL;
    const aclError code = find_part(aippParmsSet, batchIndex, &part);
    return code != 0 ? code : set_halves(part->factor, factor, -65504, 65504);
}
