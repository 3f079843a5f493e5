/* Part of racl (mock-acl). Kernel binaries that were cut or changed: whatever the loader of the system would
 * follow into nothing is refused before it gets the file. */
#include <elf.h>
#include <stddef.h>
#include "check.h"
#include "kernels/binaries/kernels.h"
#include "mock_acl_kernel.h"

#define FAR (UINT64_C(1) << 40)

static unsigned char *good, *copy;
static uint64_t size;

static aclError load(const void *data, uint64_t length) {
    aclrtBinHandle b = NULL;
    const aclError code = aclrtBinaryLoadFromData(data, length, NULL, &b);
    if (code == 0) OK(aclrtBinaryUnLoad(b));
    return code;
}

static void read_good(void) {
    FILE *f = fopen(beside(KERNELS), "rb");
    CHECK(f != NULL && fseek(f, 0, SEEK_END) == 0);
    size = (uint64_t)ftell(f);
    rewind(f);
    good = malloc(size);
    copy = malloc(size);
    CHECK(good != NULL && copy != NULL && fread(good, 1, size, f) == size);
    fclose(f);
    OK(load(good, size));
}

/* ---- places in the file ---- */

static Elf64_Ehdr header(void) {
    Elf64_Ehdr h;
    memcpy(&h, good, sizeof h);
    return h;
}

static uint64_t segment_at(uint32_t i) { return header().e_phoff + i * sizeof(Elf64_Phdr); }

static Elf64_Phdr segment(uint32_t i) {
    Elf64_Phdr p;
    memcpy(&p, good + segment_at(i), sizeof p);
    return p;
}

static uint64_t in_file(uint64_t address) {
    for (uint32_t i = 0; i < header().e_phnum; i++) {
        const Elf64_Phdr p = segment(i);
        const uint64_t offset = address - p.p_vaddr;
        if (p.p_type == PT_LOAD && offset < p.p_filesz) return p.p_offset + offset;
    }
    CHECK(!"in the file");
    return 0;
}

/* The place of an entry of the dynamic table, 0 when it has none. */
static uint64_t dynamic_at(int64_t tag) {
    for (uint32_t i = 0; i < header().e_phnum; i++) {
        const Elf64_Phdr p = segment(i);
        for (uint64_t at = p.p_offset; p.p_type == PT_DYNAMIC && at < p.p_offset + p.p_filesz; at += 16) {
            Elf64_Dyn d;
            memcpy(&d, good + at, sizeof d);
            if (d.d_tag == tag) return at;
        }
    }
    return 0;
}

static uint64_t number(uint64_t at) {
    uint64_t n;
    memcpy(&n, good + at, sizeof n);
    return n;
}

static uint64_t dynamic(int64_t tag) { return number(dynamic_at(tag) + 8); }

/* ---- what is refused ---- */

static aclError with(uint64_t at, const void *bytes, uint64_t count) {
    memcpy(copy, good, size);
    memcpy(copy + at, bytes, count);
    return load(copy, size);
}

static aclError with_number(uint64_t at, uint64_t n) { return with(at, &n, sizeof n); }
static aclError with_word(uint64_t at, uint32_t n) { return with(at, &n, sizeof n); }

/* What lies behind the segments is not needed. */
static void cut(void) {
    uint64_t end = 0;
    for (uint32_t i = 0; i < header().e_phnum; i++) {
        const Elf64_Phdr p = segment(i);
        if (p.p_type == PT_LOAD && p.p_offset + p.p_filesz > end) end = p.p_offset + p.p_filesz;
    }
    for (uint64_t length = 1; length < end; length += 61) CODE(load(good, length), 107000);
    CODE(load(good, end - 1), 107000);
    OK(load(good, end));
}

static void segments(void) {
    static const size_t fields[] = {offsetof(Elf64_Phdr, p_offset), offsetof(Elf64_Phdr, p_vaddr),
        offsetof(Elf64_Phdr, p_filesz), offsetof(Elf64_Phdr, p_memsz), offsetof(Elf64_Phdr, p_align)};
    uint32_t loads = 0;
    for (uint32_t i = 0; i < header().e_phnum; i++) {
        const Elf64_Phdr p = segment(i);
        const uint64_t at = segment_at(i);
        if (p.p_type != PT_LOAD && p.p_type != PT_DYNAMIC) continue;
        for (size_t k = 0; k < (p.p_type == PT_LOAD ? 5 : 4); k++)
            CODE(with_number(at + fields[k], UINT64_MAX - 15), 107000);
        CODE(with_number(at + offsetof(Elf64_Phdr, p_vaddr), p.p_vaddr + 8), 107000);
        if (p.p_type == PT_DYNAMIC) continue;
        loads++;
        CODE(with_number(at + offsetof(Elf64_Phdr, p_memsz), p.p_filesz - 1), 107000);
        CODE(with_number(at + offsetof(Elf64_Phdr, p_align), 0x1800), 107000);
        CODE(with_word(at + offsetof(Elf64_Phdr, p_flags), 0), 107000);
        if (loads > 1) CODE(with_number(at + offsetof(Elf64_Phdr, p_vaddr), p.p_vaddr % 0x1000), 107000);
    }
    CHECK(loads > 1);
    CODE(with(offsetof(Elf64_Ehdr, e_phnum), "\xff\xff", 2), 107000);
    CODE(with(offsetof(Elf64_Ehdr, e_phnum), "\0", 2), 107000);
    CODE(with(offsetof(Elf64_Ehdr, e_phentsize), "\x39", 2), 107000);
    CODE(with_number(offsetof(Elf64_Ehdr, e_phoff), size), 107000);
    CODE(with_number(offsetof(Elf64_Ehdr, e_phoff), FAR), 107000);
}

static void dynamic_table(void) {
    static const int64_t needed[] = {DT_STRTAB, DT_STRSZ, DT_SYMTAB, DT_SYMENT, DT_GNU_HASH, DT_RELA,
        DT_RELASZ, DT_RELAENT, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, DT_FINI_ARRAY, DT_FINI_ARRAYSZ};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const uint64_t at = dynamic_at(needed[i]);
        CHECK(at != 0);
        CODE(with_number(at + 8, FAR), 107000);
        CODE(with_number(at + 8, UINT64_MAX), 107000);
        /* an entry that nobody knows, and this one is missing; the older hash table can stand in */
        CODE(with_number(at, 0x6ffffef0), needed[i] == DT_GNU_HASH ? 0 : 107000);
    }
    static const int64_t others[] = {DT_INIT, DT_FINI, DT_SONAME, DT_NEEDED, DT_RELACOUNT};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (dynamic_at(others[i]) != 0) CODE(with_number(dynamic_at(others[i]) + 8, FAR), 107000);
    CODE(with_number(dynamic_at(DT_STRSZ) + 8, dynamic(DT_STRSZ) - 3), 107000);
    CODE(with_number(dynamic_at(DT_RELASZ) + 8, dynamic(DT_RELASZ) - 1), 107000);
    CODE(with_number(dynamic_at(DT_INIT_ARRAYSZ) + 8, dynamic(DT_INIT_ARRAYSZ) + 64), 107000);
    CODE(with_number(dynamic_at(DT_INIT_ARRAYSZ) + 8, 7), 107000);
    CODE(with_number(dynamic_at(DT_FINI_ARRAYSZ), DT_REL), 107000);
}

static void symbols_and_hash(void) {
    const uint64_t hash = in_file(dynamic(DT_GNU_HASH));
    const uint64_t first = in_file(dynamic(DT_SYMTAB)) + sizeof(Elf64_Sym);
    CODE(with_word(hash, 0), 107000);
    CODE(with_word(hash, 0x7fffffff), 107000);
    CODE(with_word(hash + 8, 3), 107000);
    CODE(with_word(hash + 8, 1u << 30), 107000);
    CODE(with_number(dynamic_at(DT_GNU_HASH) + 8, dynamic(DT_GNU_HASH) + 1), 107000);
    uint32_t bloom = 0;
    memcpy(&bloom, good + hash + 8, sizeof bloom);
    CODE(with_word(hash + 16 + bloom * 8, 0x7fffffff), 107000); /* the first bucket */
    CODE(with_word(first + offsetof(Elf64_Sym, st_name), UINT32_MAX), 107000);
}

/* The older table: numbers of buckets and chains, then both. */
static void older_hash(void) {
    const uint64_t hash = in_file(dynamic(DT_HASH));
    uint32_t buckets = 0, chains = 0, first = 0;
    memcpy(&buckets, good + hash, sizeof buckets);
    memcpy(&chains, good + hash + 4, sizeof chains);
    CODE(with_word(hash, 0), 107000);
    CODE(with_word(hash + 4, 1u << 30), 107000);
    CODE(with_number(dynamic_at(DT_HASH) + 8, FAR), 107000);
    uint64_t used = 0;
    for (uint32_t i = 0; i < buckets && first == 0; i++) {
        used = hash + 8 + i * 4;
        memcpy(&first, good + used, sizeof first);
    }
    CHECK(first != 0);
    CODE(with_word(used, chains), 107000);
    CODE(with_word(hash + 8 + (buckets + first) * 4, first), 107000); /* a chain that never ends */
    /* alone */
    memcpy(copy, good, size);
    const int64_t unknown = 0x6ffffef0;
    memcpy(copy + dynamic_at(DT_GNU_HASH), &unknown, sizeof unknown);
    OK(load(copy, size));
}

/* What it needs of other libraries: a list of files, each with a list of versions. */
static void versions(void) {
    const uint64_t at = in_file(dynamic(DT_VERNEED));
    Elf64_Verneed n;
    memcpy(&n, good + at, sizeof n);
    const uint64_t part = at + n.vn_aux;
    CODE(with(at, "\2", 2), 107000);
    CODE(with(at + offsetof(Elf64_Verneed, vn_cnt), "\0", 2), 107000);
    CODE(with(at + offsetof(Elf64_Verneed, vn_cnt), "\x40", 2), 107000);
    CODE(with_word(at + offsetof(Elf64_Verneed, vn_file), UINT32_MAX), 107000);
    CODE(with_word(at + offsetof(Elf64_Verneed, vn_aux), UINT32_MAX), 107000);
    CODE(with_word(at + offsetof(Elf64_Verneed, vn_next), 1u << 20), 107000);
    CODE(with_word(part + offsetof(Elf64_Vernaux, vna_name), UINT32_MAX), 107000);
    CODE(with_word(part + offsetof(Elf64_Vernaux, vna_next), 1u << 20), 107000);
    CODE(with_number(dynamic_at(DT_VERNEEDNUM) + 8, 2), 107000);
    CODE(with_number(dynamic_at(DT_VERNEED) + 8, FAR), 107000);
    CODE(with_number(dynamic_at(DT_VERNEED), 0x6ffffef0), 107000);
    CODE(with_number(dynamic_at(DT_VERSYM) + 8, FAR), 107000);
}

static void relocations(void) {
    const uint64_t at = in_file(dynamic(DT_RELA));
    CODE(with_number(at, FAR), 107000);
    CODE(with_number(at, 0), 107000); /* in memory that cannot be written */
    CODE(with_number(at + 8, UINT64_C(0xff)), 107000);
    CODE(with_number(at + 8, number(at + 8) | UINT64_C(0xffffff) << 32), 107000);
    CODE(with_number(at + 16, FAR), 107000);
    uint64_t called = 0; /* the place of what runs at the load */
    for (uint64_t i = 0; i < dynamic(DT_RELASZ); i += sizeof(Elf64_Rela))
        if (number(at + i) == dynamic(DT_INIT_ARRAY)) called = at + i + 16;
    CHECK(called != 0);
    CODE(with_number(called, dynamic(DT_STRTAB)), 107000); /* a text is no function */
}

static uint64_t table_at(void) {
    const uint64_t symbols = in_file(dynamic(DT_SYMTAB)), names = in_file(dynamic(DT_STRTAB));
    for (uint64_t at = symbols;; at += sizeof(Elf64_Sym)) {
        Elf64_Sym s;
        memcpy(&s, good + at, sizeof s);
        if (strcmp((const char *)good + names + s.st_name, "mock_acl_kernels") == 0) return at;
    }
}

static void table(void) {
    const uint64_t symbol = table_at() + offsetof(Elf64_Sym, st_value), at = in_file(number(symbol));
    CODE(with_number(at + offsetof(mock_acl_kernel_table, kernel_count), 65536), 107000);
    CODE(with_number(at + offsetof(mock_acl_kernel_table, kernel_count), 65537), 107000);
    CODE(with_number(at + offsetof(mock_acl_kernel_table, variable_count), 65536), 107000);
    CODE(with_number(symbol, FAR), 107000);
    CODE(with_number(symbol, 0), 107000);
}

/* The place in the file of a word that the loader writes: its relocation. */
static uint64_t relocation_of(uint64_t address) {
    const uint64_t at = in_file(dynamic(DT_RELA));
    for (uint64_t i = 0; i < dynamic(DT_RELASZ); i += sizeof(Elf64_Rela))
        if (number(at + i) == address) return at + i;
    CHECK(!"relocated");
    return 0;
}

static void kernels(void) {
    const uint64_t kernel_table = number(table_at() + offsetof(Elf64_Sym, st_value));
    const uint64_t all = relocation_of(kernel_table + offsetof(mock_acl_kernel_table, kernels));
    const uint64_t first = number(all + 16), file = in_file(first);
    CODE(with_number(all + 8, 0), 107000); /* type 0: the array stays null */
    CODE(with_number(relocation_of(first + offsetof(mock_acl_kernel, name)) + 8, 0), 107000);
    CODE(with_number(relocation_of(first + offsetof(mock_acl_kernel, run)) + 8, 0), 107000);
    CODE(with_word(file + offsetof(mock_acl_kernel, kind), 77), 107000);
    CODE(with_number(file + offsetof(mock_acl_kernel, param_count), 1u << 20), 107000);
}

int main(void) {
    up();
    read_good();
    cut();
    segments();
    dynamic_table();
    symbols_and_hash();
    older_hash();
    versions();
    relocations();
    table();
    kernels();
    OK(load(good, size));
    CHECK(live().binaries == 0);
    CHECK(mock_acl_reset() == 0);
    free(good);
    free(copy);
    return 0;
}
