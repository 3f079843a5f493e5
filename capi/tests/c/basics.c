/* Libraries, contexts, streams, events, and errors. */
#include "check.h"

static void versions_and_names(void) {
    CHECK(RACL_VERSION == 100); /* 0.1.0 */
    CHECK(racl_version() == RACL_VERSION);
    CHECK(strcmp(racl_status_name(RACL_OK), "RACL_OK") == 0);
    CHECK(strcmp(racl_status_name(RACL_BUSY), "RACL_BUSY") == 0);
    CHECK(strcmp(racl_status_name(RACL_OUT_OF_MEMORY), "RACL_OUT_OF_MEMORY") == 0);
    CHECK(strcmp(racl_status_name(-1), "") == 0);
    CHECK(RACL_OK == 0);
    CHECK(RACL_CAPTURE_GLOBAL == 0 && RACL_CAPTURE_THREAD_LOCAL == 1 && RACL_CAPTURE_RELAXED == 2);
}

/* A text that is cut ends before a character that has no room whole. */
static void whole_characters(void) {
    const char *all = racl_last_error_message();
    char text[32];
    for (size_t size = 1; size <= strlen(all) + 2; ++size) {
        memset(text, 'x', sizeof text);
        CHECK(racl_last_error_copy(text, size) == strlen(all) + 1);
        size_t length = strlen(text);
        CHECK(length < size && memcmp(text, all, length) == 0 && text[length + 1] == 'x');
        CHECK(((unsigned char)all[length] & 0xc0) != 0x80); /* not inside of one */
        CHECK(size - 1 - length < 4);
    }
}

static void errors(racl_library *library) {
    char text[16];
    racl_context *context = (racl_context *)text;
    CHECK(racl_context_primary(library, 4711, &context) == RACL_INVALID_DEVICE);
    CHECK(context == NULL);
    CHECK(racl_last_error_status() == RACL_INVALID_DEVICE);
    CHECK(racl_last_error_code() == 107001);
    CHECK(strncmp(racl_last_error_call(), "acl", 3) == 0);
    size_t all = strlen(racl_last_error_message()) + 1;
    CHECK(all > 1);
    /* What the library said stands in the details alone, behind the message. */
    CHECK(strncmp(racl_last_error_details(), racl_last_error_message(), all - 1) == 0);
    CHECK(strstr(racl_last_error_details(), "\n  the library says: ") && !strstr(racl_last_error_message(), "says"));
    CHECK(racl_last_error_copy(NULL, 0) == all);
    memset(text, 'x', sizeof text);
    CHECK(racl_last_error_copy(text, 8) == all);
    CHECK(strlen(text) == 7 && memcmp(text, racl_last_error_message(), 7) == 0 && text[8] == 'x');
    /* A call that succeeds leaves it. */
    uint32_t count;
    DO(racl_library_device_count(library, &count));
    CHECK(count >= 1);
    CHECK(racl_last_error_status() == RACL_INVALID_DEVICE);
    CHECK(racl_library_open("", &library) == RACL_INVALID_ARGUMENT);
    CHECK(racl_last_error_code() == 0 && strcmp(racl_last_error_call(), "") == 0);
    CHECK(strcmp(racl_last_error_details(), racl_last_error_message()) == 0);
    CHECK(library == NULL);
    CHECK(racl_library_open("/no/such/libascendcl.so", &library) == RACL_LIBRARY_NOT_FOUND);
    CHECK(strstr(racl_last_error_message(), "/no/such") != NULL);
    CHECK(racl_library_open("/no/such/\xff", &library) == RACL_LIBRARY_NOT_FOUND); /* a path need not be UTF-8 */
    CHECK(racl_last_error_set(77, "un caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80!") == 77);
    whole_characters();
}

static void libraries(racl_library *library) {
    int32_t is_mock;
    DO(racl_library_is_mock(library, &is_mock));
    CHECK(is_mock == 1);
    char name[256];
    size_t needed;
    DO(racl_library_name(library, name, sizeof name, &needed));
    CHECK(needed == strlen(name) + 1 && strstr(name, "mock") != NULL);
    DO(racl_library_name(library, NULL, 0, &needed));
    CHECK(needed == strlen(name) + 1);
    DO(racl_library_name(library, name, sizeof name, NULL));
    CHECK(racl_library_name(library, NULL, 4, &needed) == RACL_NULL_POINTER && needed == 0);
    CHECK(racl_library_name(NULL, name, sizeof name, &needed) == RACL_NULL_POINTER && name[0] == 0);
    racl_library *again;
    DO(racl_library_open(NULL, &again));
    DO(racl_library_is_mock(again, &is_mock));
    CHECK(is_mock == 1 && again != library);
    CHECK(racl_library_close(again) == RACL_INVALID_ARGUMENT);
    DO(racl_library_free(again));
    CHECK(racl_library_free(again) == RACL_STALE_HANDLE);
}

static void contexts(racl_library *library) {
    racl_context *primary, *again, *own;
    DO(racl_context_primary(library, 0, &primary));
    DO(racl_context_primary(library, 0, &again));
    void *one, *two, *three;
    DO(racl_context_raw(primary, &one));
    DO(racl_context_raw(again, &two));
    CHECK(one != NULL && one == two);
    DO(racl_context_new(primary, &own));
    DO(racl_context_raw(own, &three));
    CHECK(three != NULL && three != one);
    int32_t device;
    DO(racl_context_device(own, &device));
    CHECK(device == 0);
    size_t free, total;
    DO(racl_context_memory_info(own, &free, &total));
    CHECK(0 < free && free <= total);
    CHECK(racl_context_memory_info(own, &free, NULL) == RACL_NULL_POINTER && free == 0);
    DO(racl_context_bind(own));
    DO(racl_context_synchronize(own));

    racl_memory_stats stats = {.size = sizeof stats};
    racl_buffer *buffer;
    DO(racl_buffer_new(own, 1000, &buffer));
    DO(racl_context_memory_stats(own, &stats));
    CHECK(stats.size == sizeof stats && stats.allocated == 1000 && stats.reserved >= 1000 && stats.device_allocations == 1);
    CHECK(racl_context_close(own) == RACL_INVALID_ARGUMENT);
    DO(racl_buffer_close(buffer));
    DO(racl_context_memory_stats(own, &stats));
    CHECK(stats.allocated == 0 && stats.allocated_peak == 1000 && stats.out_of_memory == 0);
    DO(racl_context_reset_peaks(own));
    DO(racl_context_memory_stats(own, &stats));
    CHECK(stats.allocated_peak == 0);
    size_t freed;
    DO(racl_context_trim(own, 0, &freed));
    CHECK(freed >= 1000);
    DO(racl_context_trim(own, 0, NULL));
    DO(racl_context_memory_stats(own, &stats));
    CHECK(stats.reserved == 0 && stats.device_frees == 1);
    CHECK(racl_buffer_new(own, SIZE_MAX, &buffer) != RACL_OK && buffer == NULL);
    CHECK(racl_buffer_new(own, 0, &buffer) == RACL_INVALID_ARGUMENT);

    DO(racl_context_close(own));
    CHECK(racl_context_close(own) == RACL_STALE_HANDLE);
    DO(racl_context_free(again));
    DO(racl_context_free(primary));
}

static void streams(racl_context *context) {
    racl_stream *stream, *borrowed, *fallback;
    racl_stream_options options = {.size = sizeof options, .priority = 3, .flags = RACL_STREAM_FAST_LAUNCH};
    DO(racl_stream_new(context, &options, &stream));
    options.flags = 1u << 20;
    racl_stream *none;
    CHECK(racl_stream_new(context, &options, &none) == RACL_INVALID_ARGUMENT && none == NULL);
    struct {
        racl_stream_options first;
        size_t later;
    } longer = {{.size = sizeof longer, .priority = 1}, 0};
    DO(racl_stream_new(context, &longer.first, &none));
    DO(racl_stream_close(none));
    longer.later = 1;
    CHECK(racl_stream_new(context, &longer.first, &none) == RACL_STRUCT_SIZE);
    int32_t done;
    DO(racl_stream_is_complete(stream, &done));
    CHECK(done == 1);
    DO(racl_stream_synchronize(stream, 1000000000));
    CHECK(racl_stream_synchronize(stream, 0) == RACL_INVALID_ARGUMENT);
    CHECK(racl_stream_synchronize(stream, INT64_MAX) == RACL_INVALID_ARGUMENT);
    void *raw, *again;
    DO(racl_stream_raw(stream, &raw));
    DO(racl_stream_ref(context, raw, &borrowed));
    DO(racl_stream_raw(borrowed, &again));
    CHECK(raw == again && borrowed != stream);
    CHECK(racl_stream_close(borrowed) == RACL_INVALID_ARGUMENT);
    DO(racl_stream_free(borrowed));
    DO(racl_stream_synchronize(stream, -1));
    CHECK(racl_stream_ref(context, NULL, &borrowed) == RACL_NULL_POINTER);
    /* One that somebody else captures, here another handle. */
    racl_buffer *buffer;
    racl_capture *capture;
    racl_event *event;
    DO(racl_event_new(context, 0, &event));
    DO(racl_buffer_new(context, 64, &buffer));
    DO(racl_stream_ref(context, raw, &borrowed));
    DO(racl_stream_fill(borrowed, buffer, 1));
    DO(racl_capture_begin(stream, RACL_CAPTURE_RELAXED, &capture));
    CHECK(racl_stream_fill(borrowed, buffer, 2) == RACL_CAPTURE_FORBIDDEN);
    CHECK(racl_event_record(event, borrowed) == RACL_CAPTURE_FORBIDDEN);
    racl_stream *another;
    CHECK(racl_stream_ref(context, raw, &another) == RACL_CAPTURE_FORBIDDEN && another == NULL);
    DO(racl_capture_free(capture));
    DO(racl_stream_fill(borrowed, buffer, 3));
    DO(racl_capture_begin(borrowed, RACL_CAPTURE_RELAXED, &capture)); /* racl's own */
    DO(racl_stream_fill(borrowed, buffer, 4));
    DO(racl_capture_free(capture));
    DO(racl_stream_free(borrowed));
    DO(racl_buffer_close(buffer));
    DO(racl_event_free(event));
    DO(racl_stream_default(context, &fallback));
    DO(racl_stream_free(fallback));
    DO(racl_stream_close(stream));
    DO(racl_stream_free(NULL));
}

static void events(racl_context *context) {
    racl_stream *one, *two;
    racl_event *start, *stop, *plain;
    DO(racl_stream_new(context, NULL, &one));
    DO(racl_stream_new(context, NULL, &two));
    DO(racl_event_new(context, 1, &start));
    DO(racl_event_new(context, 1, &stop));
    DO(racl_event_new(context, 0, &plain));
    racl_event *none;
    CHECK(racl_event_new(context, 2, &none) == RACL_INVALID_ARGUMENT && none == NULL);
    int32_t done;
    DO(racl_event_is_complete(plain, &done));
    CHECK(done == 1);
    DO(racl_event_record(start, one));
    DO(racl_event_record(plain, one));
    DO(racl_stream_wait(two, plain));
    DO(racl_event_record(stop, two));
    DO(racl_event_synchronize(stop, -1));
    DO(racl_event_synchronize(stop, 1000));
    uint64_t elapsed;
    DO(racl_event_elapsed(start, stop, &elapsed));
    CHECK(elapsed < 10u * 1000000000u);
    CHECK(racl_event_elapsed(plain, stop, &elapsed) != RACL_OK && elapsed == 0);
    void *raw;
    DO(racl_event_raw(plain, &raw));
    CHECK(raw != NULL);
    DO(racl_event_free(plain));
    DO(racl_event_free(start));
    DO(racl_event_free(stop));
    DO(racl_stream_close(one));
    DO(racl_stream_close(two));
}

static int ended;
static void end(void *managed) { ++ended, (void)managed; }

/* What was compiled in, and a tensor of another framework that is refused. */
static void features(racl_context *context) {
    int32_t has;
    static const char *const names[] = {"cache", "dlopen", "dlpack", "mock"};
    for (int at = 0; at < 4; ++at) {
        DO(racl_has(names[at], &has));
        CHECK(has == 1);
    }
    DO(racl_has("link", &has));
    CHECK(has == 0);
    CHECK(racl_has("clock", &has) == RACL_INVALID_ARGUMENT && has == 0);
    /* The head of a DLManagedTensorVersioned is the same in every version. */
    struct {
        uint32_t version[2];
        void *owner;
        void (*deleter)(void *);
        uint64_t rest[16];
    } later = {.version = {2, 0}, .deleter = end};
    racl_tensor *tensor;
    CHECK(racl_tensor_from_dlpack(context, &later, 1, NULL) == RACL_NULL_POINTER && ended == 0);
    CHECK(racl_tensor_from_dlpack(NULL, &later, 1, &tensor) == RACL_NULL_POINTER && ended == 0);
    CHECK(racl_tensor_from_dlpack(context, &later, 2, &tensor) == RACL_INVALID_ARGUMENT && tensor == NULL && ended == 0);
    CHECK(strstr(racl_last_error_message(), "2 for whether a tensor of DLPack has its version"));
    CHECK(racl_tensor_from_dlpack(context, &later, 1, &tensor) == RACL_NOT_SUPPORTED && tensor == NULL && ended == 1);
    CHECK(racl_tensor_from_dlpack(context, (char *)&later + 4, 1, &tensor) == RACL_INVALID_ARGUMENT && tensor == NULL);
    CHECK(strstr(racl_last_error_message(), "aligned") && ended == 1);
    /* A DLManagedTensor of the NPU. What cannot be is refused before it is read. */
    int64_t shape[2] = {2, 3};
    struct {
        void *data;
        int32_t device[2], dimensions;
        uint8_t code, bits;
        uint16_t lanes;
        int64_t *shape, *strides;
        uint64_t offset;
        void *owner;
        void (*deleter)(void *);
    } of = {.device = {12, 0}, .code = 2, .bits = 32, .lanes = 1, .shape = shape, .deleter = end};
    racl_buffer *buffer;
    DO(racl_buffer_new(context, 64, &buffer));
    DO(racl_buffer_address(buffer, &of.data));
    const int32_t none[] = {INT32_MAX, 1 << 20, 65, INT32_MIN, -1};
    for (int at = 0; at < 5; ++at) {
        of.dimensions = none[at];
        CHECK(racl_tensor_from_dlpack(context, &of, 0, &tensor) == RACL_INVALID_ARGUMENT && ended == 2 + at);
        CHECK(strstr(racl_last_error_message(), "dimensions"));
    }
    of.dimensions = 2;
    DO(racl_tensor_from_dlpack(context, &of, 0, &tensor));
    DO(racl_tensor_free(tensor));
    CHECK(ended == 7);
    /* Nor does memory go beyond the last address. */
    of.data = (void *)(UINTPTR_MAX - 15);
    CHECK(racl_tensor_from_dlpack(context, &of, 0, &tensor) == RACL_INVALID_ARGUMENT && tensor == NULL && ended == 8);
    DO(racl_buffer_close(buffer));
}

int main(void) {
    versions_and_names();
    racl_library *library;
    racl_context *context;
    DO(racl_library_open("mock", &library));
    errors(library);
    libraries(library);
    contexts(library);
    DO(racl_context_primary(library, 0, &context));
    streams(context);
    events(context);
    features(context);
    DO(racl_context_close(context));
    DO(racl_library_close(library));
    printf("%d checks\n", checks);
    return 0;
}
