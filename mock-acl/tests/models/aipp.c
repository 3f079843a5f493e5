/* Image preprocessing: its parameters, on which inputs they go, and what the device makes of images. The expected
 * numbers are worked out by hand from the formulas of the guide. */
#include "models/writer.h"

static model_writer w;

typedef struct layout {
    int64_t images, image_bytes;
    int64_t dims[4];
    aclDataType type;
    bool channels_last, batches;
} layout;

/* An image or several, their parameters, and what becomes of them. */
static uint32_t loaded(const layout *l) {
    const int64_t rows = l->batches ? -1 : l->images;
    const int64_t told = 64 + 96 * l->images;
    int64_t dims[4] = {rows, l->dims[1], l->dims[2], l->dims[3]};
    uint32_t id = 0;
    m_begin(&w);
    const uint32_t x = m_tensor(&w, "x", ACL_UINT8, M_INPUT, 2, (int64_t[]){rows, l->image_bytes}, NULL);
    const uint32_t p = m_tensor(&w, ACL_DYNAMIC_AIPP_NAME, ACL_UINT8, M_INPUT, 1, &told, NULL);
    const uint32_t y = m_tensor(&w, "y", l->type, M_OUTPUT, 4, dims, NULL);
    if (l->batches) {
        m_gear(&w, 1, 1, (uint64_t[]){1});
        m_gear(&w, 1, 1, (uint64_t[]){(uint64_t)l->images});
    }
    m_op(&w, "Aipp", 2, (uint32_t[]){x, p}, y, 1);
    m_int(&w, "channels_last", l->channels_last);
    m_finish(&w);
    OK(aclmdlLoadFromMem(w.bytes, w.size, &id));
    return id;
}

static void add(aclmdlDataset *set, void *p, size_t size) {
    OK(aclmdlAddDatasetBuffer(set, aclCreateDataBuffer(p, size)));
}

/* Inputs of a model: images, room for parameters, and for the choice of a batch where there is one. */
static aclmdlDataset *inputs(const layout *l, const void *images, size_t size) {
    const size_t told = 64 + 96 * (size_t)l->images;
    aclmdlDataset *set = aclmdlCreateDataset();
    add(set, uploaded(images, size), size);
    add(set, device(told), told);
    if (l->batches) add(set, device(8), 8);
    return set;
}

static void run(uint32_t id, aclmdlDataset *in, void *got, size_t size) {
    aclmdlDataset *out = aclmdlCreateDataset();
    add(out, device(size), size);
    OK(aclmdlExecute(id, in, out));
    read_back(got, aclGetDataBufferAddr(aclmdlGetDatasetBuffer(out, 0)), size);
    free_set(out);
}

static aclmdlAIPP *parameters(uint64_t batches, aclAippInputFormat format, int32_t width, int32_t height) {
    aclmdlAIPP *a = aclmdlCreateAIPP(batches);
    OK(aclmdlSetAIPPInputFormat(a, format));
    OK(aclmdlSetAIPPSrcImageSize(a, width, height));
    return a;
}

static void parameters_are_checked(void) {
    size_t size = 0;
    OK(aclmdlGetAippDataSize(2, &size));
    CHECK(size == 64 + 2 * 96);
    CODE(aclmdlGetAippDataSize(0, &size), 100000);
    CODE(aclmdlGetAippDataSize(1, NULL), 100000);
    CHECK(aclmdlCreateAIPP(0) == NULL && aclmdlCreateAIPP(UINT64_MAX) == NULL);
    aclmdlAIPP *many = aclmdlCreateAIPP(128); /* the guide has 127 at most */
    CHECK((many == NULL) == (getenv("MOCK_ACL_STRICT") != NULL));
    if (many != NULL) OK(aclmdlDestroyAIPP(many));
    aclmdlAIPP *a = aclmdlCreateAIPP(2);
    OK(aclmdlSetAIPPInputFormat(a, ACL_RAW24)); /* refused on a model */
    CODE(aclmdlSetAIPPInputFormat(a, (aclAippInputFormat)15), 100000);
    OK(aclmdlSetAIPPSrcImageSize(a, 2, 1));
    CODE(aclmdlSetAIPPSrcImageSize(a, 1, 1), 100000);
    CODE(aclmdlSetAIPPSrcImageSize(a, 2, 4097), 100000);
    OK(aclmdlSetAIPPCropParams(a, 1, 4095, 0, 4096, 1, 1));
    CODE(aclmdlSetAIPPCropParams(a, 1, 4096, 0, 1, 1, 1), 100000);
    CODE(aclmdlSetAIPPCropParams(a, 1, 0, 0, 0, 1, 1), 100000);
    CODE(aclmdlSetAIPPCropParams(a, 1, 0, 0, 1, 1, 2), 100000);
    OK(aclmdlSetAIPPCropParams(a, 0, -1, -1, -1, -1, 1)); /* nothing is looked at */
    OK(aclmdlSetAIPPScfParams(a, 1, 16, 16, 1920, 4096, 0));
    CODE(aclmdlSetAIPPScfParams(a, 1, 16, 16, 1921, 16, 0), 100000);
    CODE(aclmdlSetAIPPScfParams(a, 1, 15, 16, 16, 16, 0), 100000);
    OK(aclmdlSetAIPPScfParams(a, 0, 0, 0, 0, 0, 0));
    OK(aclmdlSetAIPPPaddingParams(a, 0, 99, 0, 0, 0, 0));
    OK(aclmdlSetAIPPPaddingParams(a, 1, 32, 0, 0, 0, 0));
    CODE(aclmdlSetAIPPPaddingParams(a, 1, 33, 0, 0, 0, 0), 100000);
    CODE(aclmdlSetAIPPPaddingParams(a, 2, 0, 0, 0, 0, 0), 100000);
    OK(aclmdlSetAIPPCscParams(a, 0, INT16_MIN, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    CODE(aclmdlSetAIPPCscParams(a, 1, INT16_MIN, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 100000);
    CODE(aclmdlSetAIPPCscParams(a, 1, 0, 0, 0, 0, 0, 0, 0, 0, 32677, 0, 0, 0, 0, 0, 0), 100000);
    OK(aclmdlSetAIPPDtcPixelMean(a, 255, 0, 0, 0, 0));
    CODE(aclmdlSetAIPPDtcPixelMean(a, 0, 0, 0, 256, 0), 100000);
    CODE(aclmdlSetAIPPDtcPixelMean(a, 0, 0, 0, 0, 2), 100000);
    OK(aclmdlSetAIPPDtcPixelMin(a, 255, 0, 0, 0, 0));
    CODE(aclmdlSetAIPPDtcPixelMin(a, -1, 0, 0, 0, 0), 100000);
    OK(aclmdlSetAIPPPixelVarReci(a, -65504, 65504, 0, 0, 0));
    CODE(aclmdlSetAIPPPixelVarReci(a, 65505, 0, 0, 0, 0), 100000);
    OK(aclmdlSetAIPPAxSwapSwitch(a, 1));
    CODE(aclmdlSetAIPPAxSwapSwitch(a, 2), 100000);
    CODE(aclmdlSetAIPPRbuvSwapSwitch(a, -1), 100000);
    CODE(aclmdlSetAIPPRbuvSwapSwitch(NULL, 1), 100000);
    OK(aclmdlDestroyAIPP(a));
    CODE(aclmdlDestroyAIPP(a), 100000);
}

static void inputs_tell_their_kind(void) {
    const layout l = {1, 48, {1, 3, 2, 2}, ACL_FLOAT16, false, false};
    const uint32_t id = loaded(&l);
    size_t attached = 0;
    aclmdlInputAippType type = ACL_DATA_WITHOUT_AIPP;
    static aclAippInfo info;
    OK(aclmdlGetAippType(id, 0, &type, &attached));
    CHECK(type == ACL_DATA_WITH_DYNAMIC_AIPP && attached == 1);
    OK(aclmdlGetAippType(id, 1, &type, &attached));
    CHECK(type == ACL_DYNAMIC_AIPP_NODE && attached == ACL_INVALID_NODE_INDEX);
    CODE(aclmdlGetAippType(id, 2, &type, &attached), 100000);
    CODE(aclmdlGetFirstAippInfo(id, 0, &info), 100038);
    CODE(aclmdlGetFirstAippInfo(id, 1, &info), 145015);
    OK(aclmdlUnload(id));
    CODE(aclmdlGetAippType(id, 0, &type, &attached), 145003);

    m_begin(&w);
    const uint32_t x = m_tensor(&w, "x", ACL_FLOAT, M_INPUT, 1, (int64_t[]){4}, NULL);
    const uint32_t y = m_tensor(&w, "y", ACL_FLOAT, M_OUTPUT, 1, (int64_t[]){4}, NULL);
    uint32_t plain = 0;
    m_op(&w, "Abs", 1, &x, y, 0);
    m_finish(&w);
    OK(aclmdlLoadFromMem(w.bytes, w.size, &plain));
    OK(aclmdlGetAippType(plain, 0, &type, &attached));
    CHECK(type == ACL_DATA_WITHOUT_AIPP && attached == ACL_INVALID_NODE_INDEX);
    aclmdlAIPP *a = aclmdlCreateAIPP(1);
    aclmdlDataset *set = aclmdlCreateDataset();
    add(set, device(160), 160);
    CODE(aclmdlSetInputAIPP(plain, set, 0, a), 100000);
    CODE(aclmdlSetAIPPByInputIndex(plain, set, 0, a), 500001);
    CODE(aclmdlSetAIPPByInputIndex(plain, set, 1, a), 100000);
    free_set(set);
    OK(aclmdlDestroyAIPP(a));
    OK(aclmdlUnload(plain));
}

/* A crop of 2 x 2 at 1, 1 of 4 x 4 pixels of RGB, whose bytes are their own numbers. */
static void a_crop_is_normalised(void) {
    const layout l = {1, 48, {1, 3, 2, 2}, ACL_FLOAT16, false, false};
    const uint32_t id = loaded(&l);
    unsigned char image[48];
    uint16_t got[12];
    for (int i = 0; i < 48; i++) image[i] = (unsigned char)i;
    aclmdlDataset *in = inputs(&l, image, sizeof image);
    aclmdlAIPP *a = parameters(1, ACL_RGB888_U8, 4, 4);
    OK(aclmdlSetAIPPCropParams(a, 1, 1, 1, 2, 2, 0));
    OK(aclmdlSetAIPPRbuvSwapSwitch(a, 1));
    OK(aclmdlSetAIPPDtcPixelMean(a, 1, 2, 3, 0, 0));
    OK(aclmdlSetAIPPDtcPixelMin(a, 0.5f, 0, 0, 0, 0));
    OK(aclmdlSetAIPPPixelVarReci(a, 2, 1, 0.5f, 0, 0));
    OK(aclmdlSetInputAIPP(id, in, 1, a));
    run(id, in, got, sizeof got);
    /* The pixels start at 15, 18, 27 and 30; blue comes first. */
    const float want[12] = {31, 37, 55, 61, 14, 17, 26, 29, 6, 7.5f, 12, 13.5f};
    for (int i = 0; i < 12; i++) CHECK(aclFloat16ToFloat(got[i]) == want[i]);
    free_set(in);
    OK(aclmdlDestroyAIPP(a));
    OK(aclmdlUnload(id));
}

/* Two by two pixels of one colour and four brightnesses, with a row and a column of zeros in front. */
static void yuv_becomes_rgb_with_padding(void) {
    const layout l = {1, 6, {1, 3, 3, 3}, ACL_UINT8, true, false};
    const uint32_t id = loaded(&l);
    const unsigned char image[6] = {100, 110, 120, 130, 140, 120};
    unsigned char got[27];
    aclmdlDataset *in = inputs(&l, image, sizeof image);
    aclmdlAIPP *a = parameters(1, ACL_YUV420SP_U8, 2, 2);
    OK(aclmdlSetAIPPCscParams(a, 1, 256, 0, 359, 256, -88, -183, 256, 454, 0, 9, 9, 9, 0, 128, 128));
    OK(aclmdlSetAIPPPaddingParams(a, 1, 1, 0, 1, 0, 0));
    OK(aclmdlSetAIPPByInputIndex(id, in, 0, a));
    run(id, in, got, sizeof got);
    /* R = Y - 359 * 8 / 256, G = Y - 88 * 12 / 256 + 183 * 8 / 256, B = Y + 454 * 12 / 256; the bias behind is for RGB. */
    const unsigned char want[27] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 89, 102, 121, 99, 112, 131, 0, 0, 0, 109, 122, 141,
        119, 132, 151};
    CHECK(memcmp(got, want, sizeof want) == 0);
    /* With U and V the other way: R = Y + 359 * 12 / 256, G = Y + 88 * 8 / 256 - 183 * 12 / 256, B = Y - 454 * 8 / 256. */
    OK(aclmdlSetAIPPRbuvSwapSwitch(a, 1));
    OK(aclmdlSetInputAIPP(id, in, 1, a));
    run(id, in, got, sizeof got);
    CHECK(got[12] == 117 && got[13] == 94 && got[14] == 86);
    /* Without a conversion the three are what they were. */
    OK(aclmdlSetAIPPCscParams(a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    OK(aclmdlSetInputAIPP(id, in, 1, a));
    run(id, in, got, sizeof got);
    CHECK(got[12] == 100 && got[13] == 120 && got[14] == 140);
    free_set(in);
    OK(aclmdlDestroyAIPP(a));
    OK(aclmdlUnload(id));
}

/* The first byte of a pixel is left out where it is told to be in front; a conversion clips. */
static void xrgb_and_grey(void) {
    const layout l = {1, 8, {1, 3, 1, 2}, ACL_UINT8, false, false};
    const uint32_t id = loaded(&l);
    const unsigned char image[8] = {1, 10, 20, 30, 2, 40, 50, 60};
    unsigned char got[6];
    aclmdlDataset *in = inputs(&l, image, sizeof image);
    aclmdlAIPP *a = parameters(1, ACL_XRGB8888_U8, 2, 1);
    OK(aclmdlSetInputAIPP(id, in, 1, a));
    run(id, in, got, sizeof got);
    CHECK(memcmp(got, (const unsigned char[]){1, 2, 10, 40, 20, 50}, 6) == 0);
    OK(aclmdlSetAIPPAxSwapSwitch(a, 1));
    OK(aclmdlSetInputAIPP(id, in, 1, a));
    run(id, in, got, sizeof got);
    CHECK(memcmp(got, (const unsigned char[]){10, 40, 20, 50, 30, 60}, 6) == 0);
    /* Rows: twice the first channel and 200, the second less 60, a quarter of the third. */
    OK(aclmdlSetAIPPCscParams(a, 1, 512, 0, 0, 0, 256, 0, 0, 0, 64, 200, 0, 7, 99, 99, 99));
    OK(aclmdlSetInputAIPP(id, in, 1, a));
    run(id, in, got, sizeof got);
    CHECK(memcmp(got, (const unsigned char[]){220, 255, 20, 50, 15, 22}, 6) == 0);
    OK(aclmdlSetAIPPInputFormat(a, ACL_YUV400_U8));
    CODE(aclmdlSetInputAIPP(id, in, 1, a), 100000); /* no colours to convert */
    OK(aclmdlSetAIPPCscParams(a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    OK(aclmdlSetInputAIPP(id, in, 1, a));
    run(id, in, got, sizeof got);
    CHECK(memcmp(got, (const unsigned char[]){1, 10, 0, 0, 0, 0}, 6) == 0);
    free_set(in);
    OK(aclmdlDestroyAIPP(a));
    OK(aclmdlUnload(id));
}

/* Parameters are for the greatest batch, images lie one behind the other. */
static void batches_have_parameters_of_their_own(void) {
    const layout l = {2, 8, {2, 1, 2, 2}, ACL_FLOAT16, false, true};
    const uint32_t id = loaded(&l);
    const unsigned char images[16] = {1, 2, 3, 4, 5, 6, 7, 8};
    uint16_t got[8];
    aclmdlDataset *in = inputs(&l, images, sizeof images);
    aclmdlAIPP *a = parameters(2, ACL_YUV400_U8, 2, 2), *one = parameters(1, ACL_YUV400_U8, 2, 2);
    CODE(aclmdlSetInputAIPP(id, in, 1, one), 100000);
    OK(aclmdlSetAIPPDtcPixelMean(a, 4, 0, 0, 0, 1));
    OK(aclmdlSetInputAIPP(id, in, 1, a));
    OK(aclmdlSetDynamicBatchSize(id, in, 2, 2));
    run(id, in, got, sizeof got);
    const float want[8] = {1, 2, 3, 4, 1, 2, 3, 4};
    for (int i = 0; i < 8; i++) CHECK(aclFloat16ToFloat(got[i]) == want[i]);
    OK(aclmdlSetDynamicBatchSize(id, in, 2, 1));
    run(id, in, got, 8);
    CHECK(aclFloat16ToFloat(got[3]) == 4);
    free_set(in);
    OK(aclmdlDestroyAIPP(a));
    OK(aclmdlDestroyAIPP(one));
    OK(aclmdlUnload(id));
}

static void wrong_on_a_model(aclmdlDataset *in, uint32_t id, aclmdlAIPP *a) {
    CODE(aclmdlSetInputAIPP(id, in, 1, a), 100000);
    OK(aclmdlDestroyAIPP(a));
}

static void what_does_not_fit_the_model(void) {
    const layout l = {1, 48, {1, 3, 2, 2}, ACL_FLOAT16, false, false};
    const uint32_t id = loaded(&l);
    unsigned char image[48] = {0};
    aclmdlDataset *in = inputs(&l, image, sizeof image);
    wrong_on_a_model(in, id, aclmdlCreateAIPP(1));
    wrong_on_a_model(in, id, parameters(1, ACL_RGB888_U8, 3, 2));
    wrong_on_a_model(in, id, parameters(2, ACL_RGB888_U8, 2, 2));
    wrong_on_a_model(in, id, parameters(1, ACL_RAW10, 2, 2));
    aclmdlAIPP *a = parameters(1, ACL_RGB888_U8, 5, 4); /* 60 bytes */
    OK(aclmdlSetAIPPCropParams(a, 1, 0, 0, 2, 2, 0));
    wrong_on_a_model(in, id, a);
    a = parameters(1, ACL_RGB888_U8, 4, 4);
    OK(aclmdlSetAIPPCropParams(a, 1, 3, 0, 2, 2, 0));
    wrong_on_a_model(in, id, a);
    a = parameters(1, ACL_YUV420SP_U8, 4, 4);
    OK(aclmdlSetAIPPCropParams(a, 1, 1, 0, 2, 2, 0));
    wrong_on_a_model(in, id, a);
    a = parameters(1, ACL_RGB888_U8, 2, 2);
    OK(aclmdlSetAIPPScfParams(a, 1, 16, 16, 16, 16, 0));
    wrong_on_a_model(in, id, a);
    a = parameters(1, ACL_RGB888_U8, 2, 2);
    CODE(aclmdlSetInputAIPP(id, in, 0, a), 100000);
    CODE(aclmdlSetInputAIPP(id, in, 2, a), 100000);
    CODE(aclmdlSetInputAIPP(id + 1, in, 1, a), 145003);
    CODE(aclmdlSetInputAIPP(id, NULL, 1, a), 100000);
    CODE(aclmdlSetInputAIPP(id, in, 1, NULL), 100000);
    aclDataBuffer *b = aclmdlGetDatasetBuffer(in, 1);
    void *room = aclGetDataBufferAddr(b);
    OK(aclUpdateDataBuffer(b, room, 159));
    CODE(aclmdlSetInputAIPP(id, in, 1, a), 145012);
    OK(aclUpdateDataBuffer(b, (void *)(uintptr_t)64, 160));
    CODE(aclmdlSetInputAIPP(id, in, 1, a), 145011);
    OK(aclUpdateDataBuffer(b, NULL, 160));
    CODE(aclmdlSetInputAIPP(id, in, 1, a), 100000);
    OK(aclUpdateDataBuffer(b, room, 160));
    /* What nobody set is found on the device. */
    aclmdlDataset *out = aclmdlCreateDataset();
    add(out, device(24), 24);
    OK(aclrtMemset(room, 160, 0, 160));
    CODE(aclmdlExecute(id, in, out), 507015);
    free_set(out);
    free_set(in);
    OK(aclmdlDestroyAIPP(a));
    OK(aclmdlUnload(id));
}

static void containers_are_checked(void) {
    uint32_t id = 0;
    m_begin(&w);
    uint32_t x = m_tensor(&w, "x", ACL_FLOAT, M_INPUT, 1, (int64_t[]){48}, NULL);
    uint32_t p = m_tensor(&w, ACL_DYNAMIC_AIPP_NAME, ACL_UINT8, M_INPUT, 1, (int64_t[]){160}, NULL);
    uint32_t y = m_tensor(&w, "y", ACL_FLOAT16, M_OUTPUT, 4, (int64_t[]){1, 3, 2, 2}, NULL);
    m_op(&w, "Aipp", 2, (uint32_t[]){x, p}, y, 0);
    m_finish(&w);
    CODE(aclmdlLoadFromMem(w.bytes, w.size, &id), 545000);
    m_begin(&w);
    x = m_tensor(&w, "x", ACL_UINT8, M_INPUT, 1, (int64_t[]){48}, NULL);
    p = m_tensor(&w, ACL_DYNAMIC_AIPP_NAME, ACL_UINT8, M_INPUT, 1, (int64_t[]){160}, NULL);
    y = m_tensor(&w, "y", ACL_FLOAT16, M_OUTPUT, 4, (int64_t[]){1, 2, 2, 2}, NULL);
    m_op(&w, "Aipp", 2, (uint32_t[]){x, p}, y, 0);
    m_finish(&w);
    CODE(aclmdlLoadFromMem(w.bytes, w.size, &id), 145021);
}

int main(void) {
    up();
    const uint64_t before = live().library_objects;
    parameters_are_checked();
    inputs_tell_their_kind();
    a_crop_is_normalised();
    yuv_becomes_rgb_with_padding();
    xrgb_and_grey();
    batches_have_parameters_of_their_own();
    what_does_not_fit_the_model();
    up();
    containers_are_checked();
    CHECK(live().library_objects <= before);
    return 0;
}
