/* Part of racl (mock-acl). The configuration file of aclInit. */
#include <sys/stat.h>
#include "conform.h"

/* The path of a file with this text; one at a time. */
static const char *config(const char *text) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/conform-XXXXXX");
    const int file = mkstemp(path);
    NEED(file >= 0);
    NEED(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    return path;
}

static int init(const char *text) {
    const char *path = config(text);
    const int code = (int)aclInit(path);
    unlink(path);
    return code;
}

/* A list or an object `depth` times inside each other. */
static const char *nested(int depth, char open, char close) {
    static char text[256];
    size_t n = 0;
    n += (size_t)snprintf(text, sizeof text, "{\"x\":");
    for (int i = 0; i < depth; i++) {
        text[n++] = open;
        if (open == '{') n += (size_t)snprintf(text + n, sizeof text - n, "\"y\":");
    }
    text[n++] = '1';
    for (int i = 0; i < depth; i++) text[n++] = close;
    snprintf(text + n, sizeof text - n, "}");
    return text;
}

RULE(init, null_is_the_default_configuration, "guide: aclInit") { EXPECT(aclInit(NULL), 0); }

RULE(init, an_empty_path_is_the_default_configuration, "guide: aclInit") { EXPECT(aclInit(""), 0); }

RULE(init, an_empty_object_is_the_default_configuration, "guide: aclInit") { EXPECT(init("{}"), 0); }

RULE(init, an_empty_file_is_the_default_configuration, "implementation of the open runtime") {
    EXPECT(init(""), 0);
}

RULE(init, spaces_around_the_object_are_fine, "guide: aclInit") {
    EXPECT(init(" \n\t{ \"a\" : [ ] } \r\n"), 0);
}

RULE(init, unknown_keys_are_ignored, "guide: aclInit") {
    EXPECT(init("{\"of nobody\":{\"a\":[1,-2.5e3,true,false,null,\"\\u00e9\"]}}"), 0);
}

RULE(init, a_missing_file_is_an_invalid_file, "observed, not recorded") {
    EXPECT(aclInit("/nonexistent/acl.json"), 100003);
}

RULE(init, a_folder_is_an_invalid_file, "implementation of the open runtime") {
    EXPECT(aclInit("/tmp"), 100003);
}

RULE(init, a_pipe_is_an_invalid_file, "implementation of the open runtime") {
    char path[64];
    snprintf(path, sizeof path, "/tmp/conform-pipe-%d", (int)getpid());
    NEED(mkfifo(path, 0600) == 0);
    EXPECT(aclInit(path), 100003);
    unlink(path);
}

RULE(init, text_that_is_not_json_does_not_parse, "observed, not recorded") {
    EXPECT(init("{\"a\":"), 100006);
}

RULE(init, a_comma_before_the_end_does_not_parse, "implementation of the open runtime") {
    EXPECT(init("{\"a\":1,}"), 100006);
}

RULE(init, a_comment_does_not_parse, "implementation of the open runtime") {
    EXPECT(init("{\"a\":1} // b"), 100006);
}

RULE(init, two_values_do_not_parse, "implementation of the open runtime") { EXPECT(init("{}{}"), 100006); }

RULE(init, a_control_character_in_a_string_does_not_parse, "implementation of the open runtime") {
    EXPECT(init("{\"a\":\"\n\"}"), 100006);
}

RULE(init, bytes_that_are_not_utf8_do_not_parse, "implementation of the open runtime") {
    EXPECT(init("{\"a\":\"\xc3(\"}"), 100006);
}

RULE(init, a_number_with_a_leading_zero_does_not_parse, "implementation of the open runtime") {
    EXPECT(init("{\"a\":01}"), 100006);
}

RULE(init, ten_objects_inside_each_other_are_read, "guide: aclInit") { EXPECT(init(nested(9, '{', '}')), 0); }

RULE(init, eleven_objects_inside_each_other_are_not, "guide: aclInit") {
    EXPECT(init(nested(10, '{', '}')), 100006);
}

RULE(init, ten_lists_inside_each_other_are_read, "guide: aclInit") { EXPECT(init(nested(10, '[', ']')), 0); }

RULE(init, eleven_lists_inside_each_other_are_not, "guide: aclInit") {
    EXPECT(init(nested(11, '[', ']')), 100006);
}

RULE(init, braces_in_strings_count, "implementation of the open runtime") {
    EXPECT(init("{\"a\":\"{{{{{{{{{{\"}"), 100006);
}

RULE(init, more_than_10_mib_are_an_invalid_file, "implementation of the open runtime") {
    const char *path = config("{}");
    NEED(truncate(path, (off_t)10 * 1024 * 1024 + 1) == 0);
    EXPECT(aclInit(path), 100003);
    unlink(path);
}

RULE(init, after_a_failure_it_can_be_tried_again, "guide: aclInit") {
    EXPECT(init("{"), 100006);
    EXPECT(init("{}"), 0);
}

RULE(init, another_configuration_after_finalize_is_refused, "implementation of the open runtime") {
    EXPECT(init("{}"), 0);
    EXPECT(aclFinalize(), 0);
    EXPECT(init("{\"a\":1}"), 100000);
    EXPECT(aclInit(NULL), 100000);
    EXPECT(init("{}"), 0);
}

RULE(init, no_configuration_is_one_too, "implementation of the open runtime") {
    EXPECT(aclInit(NULL), 0);
    EXPECT(aclFinalize(), 0);
    EXPECT(init("{}"), 100000);
    EXPECT(init(""), 0);
}

RULE(init, a_failed_configuration_is_not_kept, "implementation of the open runtime") {
    EXPECT(init("{\"err_msg_mode\":\"7\"}"), 100000);
    EXPECT(init("{}"), 0);
}

RULE(init, while_initialised_the_configuration_is_ignored, "guide: aclInit") {
    EXPECT(aclInit(NULL), 0);
    EXPECT(aclInit("/nonexistent/acl.json"), 100002);
}

RULE(init, err_msg_mode_is_0_or_1_in_quotes, "guide: aclInit; implementation of the open runtime") {
    EXPECT(init("{\"err_msg_mode\":\"2\"}"), 100000);
    EXPECT(init("{\"err_msg_mode\":1}"), 100000);
    EXPECT(init("{\"err_msg_mode\":\"0\"}"), 0);
}

RULE(init, of_members_of_one_name_the_last_counts, "implementation of the open runtime") {
    EXPECT(init("{\"err_msg_mode\":\"9\",\"err_msg_mode\":\"0\"}"), 0);
}

RULE(init, the_default_device_is_a_number_in_quotes, "guide: aclInit; implementation of the open runtime") {
    EXPECT(init("{\"defaultDevice\":{\"default_device\":0}}"), 500001);
    EXPECT(init("{\"defaultDevice\":{\"default_device\":\"-1\"}}"), 500001);
    EXPECT(init("{\"defaultDevice\":{\"default_device\":\"00\"}}"), 500001);
    EXPECT(init("{\"defaultDevice\":{\"default_device\":\"a\"}}"), 500001);
    EXPECT(init("{\"defaultDevice\":{\"default_device\":\"0\"}}"), 0);
}

RULE_MOCK(init, the_default_device_exists, "own choice of the code") {
    EXPECT(init("{\"defaultDevice\":{\"default_device\":\"99\"}}"), 107001);
}

RULE(init, the_default_device_is_set_where_a_context_is_needed, "guide: aclInit") {
    EXPECT(init("{\"defaultDevice\":{\"default_device\":\"0\"}}"), 0);
    aclrtStream stream = NULL;
    int32_t id = -1;
    EXPECT(aclrtCreateStream(&stream), 0);
    EXPECT(aclrtGetDevice(&id), 0);
    TRUE(id == 0);
    finish(stream);
}

static void use_default(void *unused) {
    (void)unused;
    aclrtContext context = NULL;
    EXPECT(aclrtGetCurrentContext(&context), 0);
}

RULE(init, the_default_device_is_that_of_every_thread, "guide: aclInit") {
    EXPECT(init("{\"defaultDevice\":{\"default_device\":\"0\"}}"), 0);
    join_thread(start_thread(use_default, NULL));
}

RULE(init, a_device_that_is_set_goes_before_the_default, "guide: aclInit") {
    devices(2);
    EXPECT(init("{\"defaultDevice\":{\"default_device\":\"0\"}}"), 0);
    int32_t id = -1;
    OK(aclrtSetDevice(1));
    new_stream();
    OK(aclrtGetDevice(&id));
    TRUE(id == 1);
}

RULE(init, the_default_device_ends_with_finalize, "implementation of the open runtime") {
    EXPECT(init("{\"defaultDevice\":{\"default_device\":\"0\"}}"), 0);
    EXPECT(aclFinalize(), 0);
    aclrtStream stream = NULL;
    EXPECT(aclrtCreateStream(&stream), 107002);
}

RULE(init, the_stack_size_is_a_number, "guide: aclInit; implementation of the open runtime") {
    EXPECT(init("{\"StackSize\":{\"aicore_stack_size\":\"32768\"}}"), 500001);
    EXPECT(init("{\"StackSize\":{\"simt_stack_size\":true}}"), 500001);
    EXPECT(init("{\"StackSize\":{\"aicore_stack_size\":32768,\"simt_stack_size\":1152}}"), 0);
}

RULE(init, the_stack_size_is_rounded_up_to_16_kib, "guide: aclInit, aclrtDeviceGetLimit") {
    size_t size = 0;
    EXPECT(init("{\"StackSize\":{\"aicore_stack_size\":40000}}"), 0);
    EXPECT(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, &size), 0);
    TRUE(size == 49152);
}

RULE(init, a_small_stack_is_32_kib, "guide: aclInit, aclrtDeviceGetLimit") {
    size_t size = 0;
    EXPECT(init("{\"StackSize\":{\"aicore_stack_size\":1}}"), 0);
    EXPECT(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, &size), 0);
    TRUE(size == 32768);
}

RULE(init, a_stack_above_192_kib_fails_the_device, "guide: aclrtDeviceSetLimit") {
    EXPECT(init("{\"StackSize\":{\"aicore_stack_size\":196609}}"), 0);
    TRUE(aclrtSetDevice(0) != 0);
}

RULE(init, print_buffers_are_positive_numbers, "guide: aclInit; implementation of the open runtime") {
    EXPECT(init("{\"simd_printf_fifo_size_per_core\":\"2048\"}"), 500001);
    EXPECT(init("{\"simd_printf_fifo_size_per_core\":0}"), 500001);
    EXPECT(init("{\"simd_printf_fifo_size_per_core\":2041}"), 0);
    size_t size = 0;
    EXPECT(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE, &size), 0);
    TRUE(size == 2048);
}

RULE(init, print_buffers_have_1_kib_to_64_mib, "guide: aclInit; implementation of the open runtime") {
    EXPECT(init("{\"simd_printf_fifo_size_per_core\":1023}"), 107000);
    EXPECT(init("{\"simd_printf_fifo_size_per_core\":67108865}"), 107000);
    EXPECT(init("{\"simd_printf_fifo_size_per_core\":67108864}"), 0);
}

RULE(init, the_event_mode_is_0_or_1, "implementation of the open runtime") {
    EXPECT(init("{\"acl_graph\":{\"event_mode\":\"2\"}}"), 100000);
    EXPECT(init("{\"acl_graph\":{\"event_mode\":\"1\"}}"), 0);
}

RULE_MOCK(init, the_operator_cache_has_a_positive_number_in_quotes, "header: its code; own choice") {
    EXPECT(init("{\"max_opqueue_num\":\"0\"}"), 148048);
    EXPECT(init("{\"max_opqueue_num\":10000}"), 148048);
    EXPECT(init("{\"max_opqueue_num\":\"10000\"}"), 0);
}

RULE_MOCK(init, a_bad_profiler_section_is_refused,
    "implementation of the open runtime; own choice of what is bad") {
    EXPECT(init("{\"profiler\":{\"switch\":\"maybe\"}}"), 100000);
    EXPECT(init("{\"profiler\":{\"switch\":\"off\",\"output\":\"/tmp\"}}"), 0);
}

RULE_MOCK(init, dumps_that_exclude_each_other_are_refused, "guide: aclInit; own choice of the code") {
    EXPECT(init("{\"dump\":{\"dump_path\":\"/tmp\","
                "\"dump_debug\":\"on\",\"dump_op_switch\":\"on\"}}"), 100009);
    EXPECT(init("{\"dump\":{\"dump_path\":\"/tmp\",\"dump_debug\":\"on\",\"dump_list\":[{}]}}"), 100009);
    EXPECT(init("{\"dump\":{\"dump_path\":\"/tmp\","
                "\"dump_scene\":\"watcher\",\"dump_op_switch\":\"on\"}}"), 100009);
    EXPECT(init("{\"dump\":{\"dump_path\":\"/tmp\",\"dump_list\":[{}],\"dump_mode\":\"output\"}}"), 0);
}

RULE_MOCK(init, a_dump_needs_a_path, "guide: aclInit; own choice of the code") {
    EXPECT(init("{\"dump\":{\"dump_debug\":\"on\"}}"), 100009);
    EXPECT(init("{\"dump\":{\"dump_list\":[{\"model_name\":\"a\"}]}}"), 100009);
    EXPECT(init("{\"dump\":{\"dump_path\":\"\",\"dump_debug\":\"on\"}}"), 100009);
    EXPECT(init("{\"dump\":{\"dump_scene\":\"lite_exception\"}}"), 0);
}

RULE_MOCK(init, switches_of_a_dump_have_known_values, "guide: aclInit; own choice of the code") {
    EXPECT(init("{\"dump\":{\"dump_path\":\"/tmp\",\"dump_debug\":\"yes\"}}"), 100009);
    EXPECT(init("{\"dump\":{\"dump_path\":\"/tmp\",\"dump_scene\":\"all\"}}"), 100009);
    EXPECT(init("{\"dump\":[]}"), 100009);
}
