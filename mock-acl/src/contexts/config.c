/* The configuration file of aclInit: keys, the order of the checks, and their codes.
 *
 * (guide: initialisation, aclInit; the order, the codes and those of the texts: implementation of the open
 * runtime) */
#define _GNU_SOURCE
#include "base/base.h"
#include "contexts/config.h"
#include "contexts/contexts.h"
#include "devices/devices.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIMIT ((size_t)10 << 20) /* (implementation of the open runtime) */

static aclError bad_file(const char *path, const char *reason) {
    return mock_fail(ACL_ERROR_INVALID_FILE, "EH0004", "%s: %s", path, reason);
}

/* A size that only mock_config_parse refuses is cut to one byte more than allowed. */
static aclError read_all(const char *path, mock_config *c) {
    struct stat s;
    const bool there = stat(path, &s) == 0;
    if (there && !S_ISREG(s.st_mode)) return bad_file(path, "not a regular file");
    FILE *f = there ? fopen(path, "rb") : NULL;
    if (f == NULL) return mock_fail(ACL_ERROR_INVALID_FILE, "EH0003", "%s cannot be opened", path);
    const size_t room = (size_t)s.st_size > LIMIT ? LIMIT + 1 : (size_t)s.st_size;
    c->text = malloc(room + 1);
    if (c->text != NULL) c->length = room == 0 ? 0 : fread(c->text, 1, room, f);
    fclose(f);
    if (c->text == NULL) return mock_fail(ACL_ERROR_BAD_ALLOC, "EH0010", "no host memory");
    c->text[c->length] = '\0';
    return 0;
}

aclError mock_config_read(const char *path, mock_config *c) {
    *c = (mock_config){NULL, 0, path != NULL && *path != '\0', {NULL, 0}};
    if (c->given) return read_all(path, c);
    c->text = calloc(1, 1);
    return c->text != NULL ? 0 : mock_fail(ACL_ERROR_BAD_ALLOC, "EH0010", "no host memory");
}

void mock_config_free(mock_config *c) {
    free(c->text);
    c->text = NULL;
}

/* Braces and brackets are counted wherever they stand, in strings too (implementation of the open
 * runtime). */
static bool too_deep(const char *text) {
    int objects = 0, arrays = 0;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '{' && ++objects > MOCK_JSON_DEPTH) return true;
        if (*p == '[' && ++arrays > MOCK_JSON_DEPTH) return true;
        if (*p == '}' && objects > 0) objects--;
        if (*p == ']' && arrays > 0) arrays--;
    }
    return false;
}

/* An empty file is as none (implementation of the open runtime); what is no object is refused (own
 * choice). */
aclError mock_config_parse(mock_config *c, const char *path) {
    if (c->length > LIMIT) return bad_file(path, "larger than 10 MiB");
    if (c->length == 0) return 0;
    if (too_deep(c->text))
        return mock_fail(ACL_ERROR_PARSE_FILE, "EH0004", "%s: nested more than 10 times", path);
    c->root = mock_json_parse(c->text, strlen(c->text));
    if (mock_json_kind(c->root) != '{')
        return mock_fail(ACL_ERROR_PARSE_FILE, "EH0004", "%s is not a JSON object", path);
    const mock_json mode = mock_json_member(c->root, "err_msg_mode");
    if (mode.at == NULL || mock_json_is(mode, "0") || mock_json_is(mode, "1")) return 0;
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0009", "err_msg_mode is \"0\" or \"1\"");
}

aclError mock_read_config(const char *path, char **text) {
    mock_config c;
    aclError code = mock_config_read(path, &c);
    if (code == 0) code = mock_config_parse(&c, path);
    *text = code == 0 ? c.text : NULL;
    if (code != 0) mock_config_free(&c);
    return code;
}

bool mock_config_process_errors(const mock_config *c) {
    return mock_json_is(mock_json_member(c->root, "err_msg_mode"), "1");
}

/* ---- dump ---- */

static aclError bad_dump(const char *reason) {
    return mock_fail(ACL_ERROR_INVALID_DUMP_CONFIG, "EH9999", "dump: %s", reason);
}

/* A string among `words`, or absent. */
static bool one_of(mock_json object, const char *name, const char *const *words) {
    const mock_json value = mock_json_member(object, name);
    if (value.at == NULL) return true;
    for (; *words != NULL; words++)
        if (mock_json_is(value, *words)) return true;
    return false;
}

static bool has_path(mock_json dump) {
    const mock_json path = mock_json_member(dump, "dump_path");
    return mock_json_kind(path) == '"' && path.length > 2;
}

/* Which switches exclude each other, and which need a path (guide: initialisation, aclInit; own choice:
 * 100009 for all of it). */
static aclError check_switches(mock_json dump) {
    const bool overflow = mock_json_is(mock_json_member(dump, "dump_debug"), "on");
    const bool operators = mock_json_is(mock_json_member(dump, "dump_op_switch"), "on");
    const bool watch = mock_json_is(mock_json_member(dump, "dump_scene"), "watcher");
    const mock_json list = mock_json_member(dump, "dump_list");
    if (list.at != NULL && mock_json_kind(list) != '[') return bad_dump("dump_list is a list");
    const bool listed = mock_json_first(list).at != NULL;
    const bool faults = !watch && mock_json_member(dump, "dump_scene").at != NULL;
    if (overflow && (operators || listed)) return bad_dump("dump_debug excludes other dumps");
    if (watch && (overflow || operators)) return bad_dump("watcher excludes other dumps");
    if (faults && (operators || listed)) return bad_dump("a dump of faults excludes other dumps");
    const bool kernels = mock_json_member(dump, "dump_kernel_data").at != NULL;
    if ((overflow || operators || watch || listed || kernels) && !has_path(dump))
        return bad_dump("dump_path is missing");
    return 0;
}

aclError mock_config_dump(const mock_config *c) {
    static const char *const on_off[] = {"on", "off", NULL};
    static const char *const modes[] = {"input", "output", "all", NULL};
    static const char *const levels[] = {"op", "kernel", "all", NULL};
    static const char *const data[] = {"tensor", "stats", NULL};
    static const char *const scenes[] = {"aic_err_brief_dump", "aic_err_norm_dump", "aic_err_detail_dump",
        "lite_exception", "watcher", NULL};
    const mock_json dump = mock_json_member(c->root, "dump");
    if (dump.at == NULL) return 0;
    if (mock_json_kind(dump) != '{') return bad_dump("not an object");
    if (!one_of(dump, "dump_debug", on_off) || !one_of(dump, "dump_op_switch", on_off) ||
        !one_of(dump, "dump_mode", modes) || !one_of(dump, "dump_level", levels) ||
        !one_of(dump, "dump_data", data) || !one_of(dump, "dump_scene", scenes))
        return bad_dump("a switch has a value it does not know");
    return check_switches(dump);
}

/* ---- numbers ---- */

/* Decimal digits without a leading zero; more than 18 of them are none. */
static bool digits(mock_json characters, uint64_t *value) {
    if (characters.at == NULL || characters.length == 0 || characters.length > 18) return false;
    if (characters.length > 1 && characters.at[0] == '0') return false;
    *value = 0;
    for (size_t i = 0; i < characters.length; i++) {
        const char digit = characters.at[i];
        if (digit < '0' || digit > '9') return false;
        *value = *value * 10 + (uint64_t)(digit - '0');
    }
    return true;
}

static aclError bad_value(const char *name) {
    return mock_fail(ACL_ERROR_FAILURE, "EH0009", "%s has a bad value", name);
}

/* The cache of the operator library (header: ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG; own choice: that
 * any other than a positive number in quotes is bad). */
static aclError operator_cache(const mock_config *c) {
    const mock_json number = mock_json_member(c->root, "max_opqueue_num");
    uint64_t value = 0;
    if (number.at == NULL) return 0;
    if (mock_json_kind(number) == '"' && digits(mock_json_characters(number), &value) && value > 0) return 0;
    return mock_fail(ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG, "EH0009", "max_opqueue_num");
}

/* Numbers without quotes; anything else is 500001. The SIMT sizes are for other chips (guide: initialisation,
 * aclInit). */
static aclError stack_sizes(const mock_config *c) {
    const mock_json sizes = mock_json_member(c->root, "StackSize");
    static const char *const names[] = {
        "aicore_stack_size", "simt_stack_size", "simt_divergence_stack_size"};
    for (int i = 0; i < 3; i++) {
        const mock_json size = mock_json_member(sizes, names[i]);
        uint64_t value = 0;
        if (size.at == NULL) continue;
        if (mock_json_kind(size) != '0' || !digits(mock_json_characters(size), &value))
            return bad_value(names[i]);
        /* A size the device has not is found when it is set. */
        if (i == 0) mock_stack_size(value);
    }
    return 0;
}

/* A number in quotes, else 500001; one without a device is 107001 (own choice of the code). */
static aclError default_device(const mock_config *c) {
    const mock_json id = mock_json_member(mock_json_member(c->root, "defaultDevice"), "default_device");
    uint64_t value = 0;
    if (id.at == NULL) return 0;
    if (mock_json_kind(id) != '"' || !digits(mock_json_characters(id), &value))
        return bad_value("default_device");
    const aclError code = mock_device_check(value > INT32_MAX ? INT32_MAX : (int32_t)value);
    if (code == 0) mock_default_device((int32_t)value);
    return code;
}

/* Positive numbers without quotes, else 500001. */
static aclError print_buffers(const mock_config *c) {
    static const char *const names[] = {"simd_printf_fifo_size_per_core", "simt_printf_fifo_size"};
    for (int i = 0; i < 2; i++) {
        const mock_json size = mock_json_member(c->root, names[i]);
        uint64_t value = 0;
        if (size.at == NULL) continue;
        if (mock_json_kind(size) != '0' || !digits(mock_json_characters(size), &value) || value == 0)
            return bad_value(names[i]);
        const aclError code = i == 0 ? mock_print_buffer_size(value) : 0;
        if (code != 0) return code;
    }
    return 0;
}

/* "0" or "1", without effect. */
static aclError event_mode(const mock_config *c) {
    const mock_json mode = mock_json_member(mock_json_member(c->root, "acl_graph"), "event_mode");
    if (mode.at == NULL || mock_json_is(mode, "0") || mock_json_is(mode, "1")) return 0;
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0009", "event_mode is \"0\" or \"1\"");
}

/* Nothing is collected; a bad section is 100000 (implementation of the open runtime; own choice: only its
 * switch is looked at). */
static aclError profiler(const mock_config *c) {
    static const char *const on_off[] = {"on", "off", NULL};
    const mock_json section = mock_json_member(c->root, "profiler");
    if (section.at == NULL || (mock_json_kind(section) == '{' && one_of(section, "switch", on_off))) return 0;
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH9999", "the section profiler is bad");
}

aclError mock_config_apply(const mock_config *c) {
    aclError (*const steps[])(const mock_config *) = {
        operator_cache, stack_sizes, default_device, print_buffers, event_mode, profiler};
    aclError code = 0;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && code == 0; i++) code = steps[i](c);
    return code;
}
