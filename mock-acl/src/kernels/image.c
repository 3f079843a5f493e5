/* The files that own kernels come in: looked at before anything of them runs, then mapped.
 *
 * A file that is no kernel binary gives 107000 (implementation of the open runtime, which answers every file
 * that it cannot parse so). What counts as one is our own choice: a shared object for this machine that
 * exports mock_acl_kernels. Its constructors run when it is loaded; a file that does not even have the name
 * is refused before that. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/base.h"
#include "kernels/kernel.h"

#define TABLE "mock_acl_kernels"
#define MOST_ENTRIES 65536u

static aclError refuse(const char *what, const char *why) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017", "%s %s", what, why);
}

static uint16_t host_machine(void) {
#if defined(__x86_64__)
    return EM_X86_64;
#elif defined(__aarch64__)
    return EM_AARCH64;
#else
    return EM_NONE;
#endif
}

static aclError check_file(const unsigned char *data, uint64_t size, const char *what) {
    Elf64_Ehdr header;
    if (size < sizeof header || memcmp(data, ELFMAG, SELFMAG) != 0)
        return refuse(what, "is no kernel binary: it is no ELF file");
    memcpy(&header, data, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != host_machine())
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017",
            "%s is an ELF file for machine %u, such as the code of a card: mock-acl runs shared objects for "
            "the host that export " TABLE " (mock_acl_kernel.h)",
            what, header.e_machine);
    if (header.e_type != ET_DYN) return refuse(what, "is an ELF file, but no shared object");
    if (!mock_elf_whole(data, size))
        return refuse(what, "is an ELF file of which a part is missing or changed");
    if (memmem(data, size, "\0" TABLE, sizeof TABLE + 1) == NULL)
        return refuse(what, "is a shared object without the table " TABLE " (mock_acl_kernel.h)");
    return 0;
}

/* An anonymous file that stays open while the library is loaded: the loader takes two libraries of one name
 * for the same, and the name is the number of the file. */
static int memory_file(const void *data, uint64_t size) {
    const int file = memfd_create("mock-acl kernels", MFD_CLOEXEC);
    const char *next = data;
    while (file >= 0 && size != 0) {
        const ssize_t n = write(file, next, size < 1u << 30 ? size : 1u << 30);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            close(file);
            return -1;
        }
        next += n;
        size -= (uint64_t)n;
    }
    return file;
}

static aclError map_image(mock_binary *b, uint64_t size) {
    const void *image = mmap(NULL, size, PROT_READ, MAP_PRIVATE, b->file, 0);
    if (image == MAP_FAILED)
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no memory for the binary");
    b->image = image;
    b->image_size = size;
    return 0;
}

static bool known_kind(uint32_t kind) {
    return kind <= MOCK_ACL_KERNEL_MIX || kind == MOCK_ACL_KERNEL_AICPU;
}

/* Whether so many bytes are part of a loaded library: what its table says is only followed there. */
typedef struct inside {
    const void *any; /* an address of the library */
    uintptr_t base;
    ElfW(Phdr) segments[64];
    size_t count;
} inside;

static int find_library(struct dl_phdr_info *info, size_t size, void *user) {
    inside *in = user;
    const uintptr_t at = (uintptr_t)in->any;
    bool here = false;
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        here |= p->p_type == PT_LOAD && at - (info->dlpi_addr + p->p_vaddr) < p->p_memsz;
    }
    for (size_t i = 0; here && i < info->dlpi_phnum && in->count < 64; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) in->segments[in->count++] = info->dlpi_phdr[i];
    in->base = info->dlpi_addr;
    return here;
}

/* The bytes from an address to the end of its segment, 0 outside. */
static uint64_t room_at(const inside *in, const void *p) {
    for (size_t i = 0; i < in->count; i++) {
        const uintptr_t offset = (uintptr_t)p - (in->base + in->segments[i].p_vaddr);
        if (offset < in->segments[i].p_memsz) return in->segments[i].p_memsz - offset;
    }
    return 0;
}

static bool holds(const inside *in, const void *p, uint64_t count, uint64_t size) {
    return count == 0 || room_at(in, p) / size >= count;
}

static bool name_at(const inside *in, const char *name) {
    const uint64_t room = room_at(in, name);
    return room != 0 && name[0] != '\0' && strnlen(name, room) < room;
}

static const char *wrong_kernel(const inside *in, const mock_acl_kernel *k) {
    if (!name_at(in, k->name) || k->run == NULL) return "has a kernel without name or code";
    if (!known_kind(k->kind)) return "has a kernel of an unknown kind";
    const bool described = k->param_count != MOCK_ACL_KERNEL_NO_PARAMS;
    if (described && !holds(in, k->params, k->param_count, sizeof *k->params))
        return "has a kernel without the sizes of its parameters";
    return NULL;
}

static const char *wrong_table(const mock_acl_kernel_table *t) {
    inside in = {.any = t};
    dl_iterate_phdr(find_library, &in);
    const bool whole = holds(&in, t, 1, sizeof *t);
    if (!whole || t->abi != MOCK_ACL_KERNEL_ABI || t->kernel_size != sizeof(mock_acl_kernel))
        return "was built for another version of mock_acl_kernel.h";
    if (t->kernel_count > MOST_ENTRIES || t->variable_count > MOST_ENTRIES ||
        !holds(&in, t->kernels, t->kernel_count, sizeof *t->kernels) ||
        !holds(&in, t->variables, t->variable_count, sizeof *t->variables))
        return "has a table " TABLE " with wrong counts";
    const char *wrong = NULL;
    for (size_t i = 0; i < t->kernel_count && wrong == NULL; i++) wrong = wrong_kernel(&in, &t->kernels[i]);
    for (size_t i = 0; i < t->variable_count && wrong == NULL; i++) {
        const mock_acl_variable *v = &t->variables[i];
        if (!name_at(&in, v->name) || v->size == 0) wrong = "has a variable without name or size";
        else if (v->initial != NULL && room_at(&in, v->initial) < v->size)
            wrong = "has a variable whose initial value is not in the file";
    }
    return wrong;
}

static aclError no_memory(void) {
    return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
}

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

/* The places in device memory: the image, the code, the variables. */
static aclError read_table(mock_binary *b, const mock_acl_kernel_table *t) {
    b->functions = calloc(t->kernel_count + 1, sizeof *b->functions);
    b->variables = calloc(t->variable_count + 1, sizeof *b->variables);
    if (b->functions == NULL || b->variables == NULL) return no_memory();
    for (size_t i = 0; i < t->kernel_count; i++)
        b->functions[i] = (mock_function){
            .binary = b, .name = t->kernels[i].name, .kernel = t->kernels[i], .index = (uint32_t)i};
    uint64_t offset = round_up(b->image_size, 512) + t->kernel_count * MOCK_FUNCTION_BYTES;
    for (size_t i = 0; i < t->variable_count; i++) {
        offset = round_up(offset, 64);
        b->variables[i] = (mock_variable){t->variables[i].name, offset, t->variables[i].size};
        if (__builtin_add_overflow(offset, t->variables[i].size, &offset)) return no_memory();
    }
    b->function_count = t->kernel_count;
    b->variable_count = t->variable_count;
    b->device_size = offset;
    return 0;
}

static aclError load(mock_binary *b, const char *what) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", b->file);
    b->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (b->library == NULL) {
        const char *why = dlerror();
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017", "%s cannot be loaded: %s", what,
            why == NULL ? "no reason given" : why);
    }
    const mock_acl_kernel_table *t = dlsym(b->library, TABLE);
    if (t == NULL) return refuse(what, "is a shared object without the table " TABLE " (mock_acl_kernel.h)");
    b->table = t;
    const char *wrong = wrong_table(t);
    return wrong != NULL ? refuse(what, wrong) : read_table(b, t);
}

aclError mock_image_open(mock_binary *b, const void *data, uint64_t size, const char *what) {
    b->file = -1;
    aclError code = check_file(data, size, what);
    if (code != 0) return code;
    b->file = memory_file(data, size);
    if (b->file < 0) code = no_memory();
    if (code == 0) code = map_image(b, size);
    if (code == 0) code = load(b, what);
    if (code != 0) mock_image_close(b);
    return code;
}

void mock_image_close(mock_binary *b) {
    if (b->library != NULL) dlclose(b->library);
    if (b->image != NULL) munmap((void *)(uintptr_t)b->image, b->image_size);
    if (b->file >= 0) close(b->file);
    free(b->functions);
    free(b->variables);
    b->library = NULL;
    b->image = NULL;
    b->file = -1;
    b->functions = NULL;
    b->variables = NULL;
}
