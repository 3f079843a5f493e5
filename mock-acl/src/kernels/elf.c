/* Whether the loader of the system may be given a shared object. It trusts what it maps: a number that was
 * changed or cut ends the process. What it follows while it loads is looked at here first: segments, the
 * dynamic table, symbols and their hash table, relocations (own choice: which checks). Code that was changed
 * cannot be told from code. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/kernel.h"

#define MOST_SEGMENTS 64u
#define MOST_BYTES (UINT64_C(1) << 40)
#define PAGE 4096u
#define PACKED 36 /* DT_RELR: relative relocations of newer linkers, not looked at */
#define TAGS 64u /* DT_GNU_HASH and DT_VERSYM have places of their own behind the others */

enum { GNU_HASH = TAGS, VERSYM, VERNEED, VERNEEDNUM, RELACOUNT, PLACES };

typedef struct object {
    const unsigned char *data;
    uint64_t size;
    Elf64_Phdr segments[MOST_SEGMENTS];
    uint32_t count;
    uint64_t tag[PLACES];
    bool has[PLACES];
    uint64_t symbols, calls;
} object;

/* ---- segments ---- */

static bool add_segment(object *o, const Elf64_Phdr *p) {
    const bool small = p->p_vaddr < MOST_BYTES && p->p_memsz < MOST_BYTES && p->p_align <= MOST_BYTES;
    const bool fits = p->p_offset <= o->size && p->p_filesz <= o->size - p->p_offset;
    if (!small || !fits || p->p_filesz > p->p_memsz || p->p_memsz == 0) return false;
    if (p->p_align < PAGE || (p->p_align & (p->p_align - 1)) != 0) return false;
    if ((p->p_vaddr - p->p_offset) % p->p_align != 0 || (p->p_flags & PF_R) == 0) return false;
    if (p->p_memsz > p->p_filesz && (p->p_flags & PF_W) == 0) return false;
    const Elf64_Phdr *last = o->count == 0 ? NULL : &o->segments[o->count - 1];
    if (last != NULL && p->p_vaddr / PAGE < (last->p_vaddr + last->p_memsz + PAGE - 1) / PAGE) return false;
    if (o->count == MOST_SEGMENTS) return false;
    o->segments[o->count++] = *p;
    return true;
}

/* The segment that has all of these addresses, of the file or of memory. */
static const Elf64_Phdr *segment_of(const object *o, uint64_t at, uint64_t size, bool file) {
    for (uint32_t i = 0; i < o->count; i++) {
        const Elf64_Phdr *p = &o->segments[i];
        const uint64_t room = file ? p->p_filesz : p->p_memsz;
        if (at >= p->p_vaddr && at - p->p_vaddr <= room && size <= room - (at - p->p_vaddr)) return p;
    }
    return NULL;
}

static const unsigned char *bytes_of(const object *o, uint64_t at, uint64_t size) {
    const Elf64_Phdr *p = segment_of(o, at, size, true);
    return p == NULL ? NULL : o->data + p->p_offset + (at - p->p_vaddr);
}

static uint32_t word(const unsigned char *p, uint64_t index) {
    uint32_t w;
    memcpy(&w, p + index * sizeof w, sizeof w);
    return w;
}

static bool executable(const object *o, uint64_t at) {
    const Elf64_Phdr *p = segment_of(o, at, 1, true);
    return p != NULL && (p->p_flags & PF_X) != 0;
}

/* ---- the dynamic table ---- */

static int place_of(int64_t tag) {
    if (tag >= 0 && tag < (int64_t)TAGS) return (int)tag;
    switch (tag) {
    case DT_GNU_HASH:
        return GNU_HASH;
    case DT_VERSYM:
        return VERSYM;
    case DT_VERNEED:
        return VERNEED;
    case DT_VERNEEDNUM:
        return VERNEEDNUM;
    case DT_RELACOUNT:
        return RELACOUNT;
    default:
        return -1;
    }
}

static bool name_fits(const object *o, uint64_t at) { return at < o->tag[DT_STRSZ]; }

static bool read_dynamic(object *o, const Elf64_Phdr *p) {
    const unsigned char *table = bytes_of(o, p->p_vaddr, p->p_filesz);
    const uint64_t count = p->p_filesz / sizeof(Elf64_Dyn);
    if (table == NULL || p->p_vaddr % 8 != 0 || p->p_filesz != p->p_memsz) return false;
    if (bytes_of(o, p->p_vaddr, 0) != o->data + p->p_offset) return false;
    Elf64_Dyn d = {.d_tag = 1};
    for (uint64_t i = 0; i < count && d.d_tag != DT_NULL; i++) {
        memcpy(&d, table + i * sizeof d, sizeof d);
        const int place = place_of(d.d_tag);
        if (place < 0 || d.d_tag == DT_NULL) continue;
        o->tag[place] = d.d_un.d_val;
        o->has[place] = true;
    }
    const unsigned char *names = bytes_of(o, o->tag[DT_STRTAB], o->tag[DT_STRSZ]);
    if (d.d_tag != DT_NULL || !o->has[DT_STRTAB] || names == NULL || o->tag[DT_STRSZ] == 0) return false;
    if (names[o->tag[DT_STRSZ] - 1] != '\0' || o->tag[DT_SYMENT] != sizeof(Elf64_Sym)) return false;
    for (uint64_t i = 0; i < count; i++) {
        memcpy(&d, table + i * sizeof d, sizeof d);
        const bool name = d.d_tag == DT_NEEDED || d.d_tag == DT_SONAME || d.d_tag == DT_RUNPATH ||
                          d.d_tag == DT_RPATH;
        if (d.d_tag == DT_NULL) break;
        if (name && !name_fits(o, d.d_un.d_val)) return false;
    }
    /* Of other machines, or no longer made by compilers. */
    return !o->has[DT_REL] && !o->has[DT_TEXTREL];
}

/* Some come together. */
static bool complete(const object *o) {
    static const int together[][2] = {{DT_RELA, DT_RELASZ}, {DT_RELA, DT_RELAENT}, {DT_JMPREL, DT_PLTRELSZ},
        {DT_JMPREL, DT_PLTREL}, {DT_INIT_ARRAY, DT_INIT_ARRAYSZ}, {DT_FINI_ARRAY, DT_FINI_ARRAYSZ},
        {VERNEED, VERNEEDNUM}};
    for (size_t i = 0; i < sizeof together / sizeof *together; i++)
        if (o->has[together[i][0]] != o->has[together[i][1]]) return false;
    if (o->has[DT_PLTREL] && o->tag[DT_PLTREL] != DT_RELA) return false;
    if (o->has[DT_RELAENT] && o->tag[DT_RELAENT] != sizeof(Elf64_Rela)) return false;
    if (o->has[DT_INIT] && !executable(o, o->tag[DT_INIT])) return false;
    if (o->has[DT_FINI] && !executable(o, o->tag[DT_FINI])) return false;
    return o->has[DT_SYMTAB] && (o->has[GNU_HASH] || o->has[DT_HASH]);
}

/* ---- symbols ---- */

/* Buckets hold the first symbol of a chain, whose last word is odd. */
static bool read_gnu_hash(object *o) {
    const uint64_t at = o->tag[GNU_HASH];
    const unsigned char *head = bytes_of(o, at, 16);
    if (head == NULL || at % 8 != 0) return false;
    const uint32_t buckets = word(head, 0), first = word(head, 1), bloom = word(head, 2);
    if (buckets == 0 || bloom == 0 || (bloom & (bloom - 1)) != 0) return false;
    const uint64_t bucket_at = at + 16 + (uint64_t)bloom * 8, chain_at = bucket_at + (uint64_t)buckets * 4;
    const unsigned char *bucket = bytes_of(o, bucket_at, (uint64_t)buckets * 4);
    if (bucket == NULL || bytes_of(o, at, chain_at - at) != head) return false;
    o->symbols = first;
    for (uint32_t i = 0; i < buckets; i++) {
        uint64_t s = word(bucket, i);
        if (s == 0) continue;
        if (s < first) return false;
        for (const unsigned char *c;; s++) {
            c = bytes_of(o, chain_at + (s - first) * 4, 4);
            if (c == NULL) return false;
            if ((word(c, 0) & 1) != 0) break;
        }
        if (s + 1 > o->symbols) o->symbols = s + 1;
    }
    return true;
}

static bool read_hash(object *o) {
    const unsigned char *head = bytes_of(o, o->tag[DT_HASH], 8);
    if (head == NULL) return false;
    const uint64_t buckets = word(head, 0), chains = word(head, 1);
    const unsigned char *all = bytes_of(o, o->tag[DT_HASH], (2 + buckets + chains) * 4);
    if (buckets == 0 || all == NULL) return false;
    for (uint64_t i = 0; i < buckets; i++) {
        uint64_t at = word(all, 2 + i), steps = 0;
        while (at != 0) {
            if (at >= chains || steps++ > chains) return false;
            at = word(all, 2 + buckets + at);
        }
    }
    o->symbols = chains;
    return true;
}

static bool good_symbol(const object *o, const Elf64_Sym *s) {
    if (!name_fits(o, s->st_name)) return false;
    if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS) return true;
    const int type = ELF64_ST_TYPE(s->st_info);
    if (type == STT_FUNC || type == STT_GNU_IFUNC) return executable(o, s->st_value);
    return type == STT_TLS || segment_of(o, s->st_value, s->st_size, false) != NULL;
}

static bool read_symbols(object *o) {
    if (o->has[GNU_HASH] && !read_gnu_hash(o)) return false;
    if (o->has[DT_HASH] && !read_hash(o)) return false;
    if (o->symbols > o->size / sizeof(Elf64_Sym)) return false;
    const unsigned char *table = bytes_of(o, o->tag[DT_SYMTAB], o->symbols * sizeof(Elf64_Sym));
    for (uint64_t i = 1; table != NULL && i < o->symbols; i++) {
        Elf64_Sym s;
        memcpy(&s, table + i * sizeof s, sizeof s);
        if (!good_symbol(o, &s)) return false;
    }
    return table != NULL && (!o->has[VERSYM] || bytes_of(o, o->tag[VERSYM], o->symbols * 2) != NULL);
}

/* The versions that are asked of other libraries, a list of lists. */
static bool read_versions(const object *o) {
    if (!o->has[VERNEED]) return true;
    uint64_t at = o->tag[VERNEED];
    for (uint64_t i = 0; i < o->tag[VERNEEDNUM]; i++) {
        Elf64_Verneed n;
        const unsigned char *p = bytes_of(o, at, sizeof n);
        if (p == NULL) return false;
        memcpy(&n, p, sizeof n);
        if (n.vn_version != 1 || n.vn_cnt == 0 || !name_fits(o, n.vn_file)) return false;
        uint64_t part = at + n.vn_aux;
        for (uint32_t k = 0; k < n.vn_cnt; k++) {
            Elf64_Vernaux a;
            p = bytes_of(o, part, sizeof a);
            if (p == NULL) return false;
            memcpy(&a, p, sizeof a);
            if (!name_fits(o, a.vna_name) || (a.vna_next == 0) != (k + 1 == n.vn_cnt)) return false;
            part += a.vna_next;
        }
        if ((n.vn_next == 0) != (i + 1 == o->tag[VERNEEDNUM])) return false;
        at += n.vn_next;
    }
    return true;
}

/* ---- relocations ---- */

static bool calls_at_load(const object *o, uint64_t at) {
    const bool first = o->has[DT_INIT_ARRAY] && at - o->tag[DT_INIT_ARRAY] < o->tag[DT_INIT_ARRAYSZ];
    return first || (o->has[DT_FINI_ARRAY] && at - o->tag[DT_FINI_ARRAY] < o->tag[DT_FINI_ARRAYSZ]);
}

#if defined(__aarch64__)
enum { RELATIVE = R_AARCH64_RELATIVE, INDIRECT = R_AARCH64_IRELATIVE };
static bool known_type(uint64_t t) {
    return t == R_AARCH64_ABS64 || t == R_AARCH64_GLOB_DAT || (t >= R_AARCH64_JUMP_SLOT && t <= INDIRECT);
}
#else
enum { RELATIVE = R_X86_64_RELATIVE, INDIRECT = R_X86_64_IRELATIVE };
static bool known_type(uint64_t t) {
    return t == R_X86_64_64 || (t >= R_X86_64_GLOB_DAT && t <= RELATIVE) ||
           (t >= R_X86_64_DTPMOD64 && t <= R_X86_64_TPOFF64) || t == R_X86_64_TLSDESC || t == INDIRECT;
}
#endif

static bool good_relocations(object *o, int table, int size) {
    if (!o->has[table]) return true;
    const unsigned char *p = bytes_of(o, o->tag[table], o->tag[size]);
    if (o->has[RELACOUNT] && o->tag[RELACOUNT] > o->tag[DT_RELASZ] / sizeof(Elf64_Rela)) return false;
    if (p == NULL || o->tag[size] % sizeof(Elf64_Rela) != 0) return false;
    for (uint64_t i = 0; i < o->tag[size]; i += sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        memcpy(&r, p + i, sizeof r);
        const Elf64_Phdr *s = segment_of(o, r.r_offset, 8, false);
        const uint64_t to = (uint64_t)r.r_addend, type = ELF64_R_TYPE(r.r_info);
        if (s == NULL || (s->p_flags & PF_W) == 0 || ELF64_R_SYM(r.r_info) >= o->symbols) return false;
        if (!known_type(type) || (type == INDIRECT && !executable(o, to))) return false;
        /* The loader takes the first ones for relative without a look. */
        const bool counted = table == DT_RELA && o->has[RELACOUNT] && i / sizeof r < o->tag[RELACOUNT];
        if (counted && type != RELATIVE) return false;
        if (type == RELATIVE && segment_of(o, to, 0, false) == NULL) return false;
        if (!calls_at_load(o, r.r_offset)) continue;
        o->calls++;
        if (type == RELATIVE && !executable(o, to)) return false;
    }
    return true;
}

/* Each place has a relocation. */
static bool good_arrays(const object *o) {
    static const int arrays[][2] = {{DT_INIT_ARRAY, DT_INIT_ARRAYSZ}, {DT_FINI_ARRAY, DT_FINI_ARRAYSZ}};
    uint64_t places = 0;
    for (int i = 0; i < 2; i++) {
        if (!o->has[arrays[i][0]]) continue;
        const uint64_t size = o->tag[arrays[i][1]];
        if (size % 8 != 0 || bytes_of(o, o->tag[arrays[i][0]], size) == NULL) return false;
        places += size / 8;
    }
    return places == o->calls || o->has[PACKED];
}

/* ---- all of it ---- */

/* What is read-only after the load; some linkers count the rest of its last page. */
static bool sealed_fits(const object *o, const Elf64_Phdr *p) {
    const Elf64_Phdr *s = segment_of(o, p->p_vaddr, 1, false);
    return s != NULL && p->p_memsz <= s->p_vaddr + s->p_memsz - p->p_vaddr + PAGE - 1;
}

static bool read_segments(object *o, const Elf64_Ehdr *header) {
    const uint64_t bytes = (uint64_t)header->e_phnum * sizeof(Elf64_Phdr);
    const Elf64_Phdr *dynamic = NULL;
    Elf64_Phdr p, found;
    if (header->e_phentsize != sizeof p || header->e_phoff > o->size || bytes > o->size - header->e_phoff)
        return false;
    for (uint32_t i = 0; i < header->e_phnum; i++) {
        memcpy(&p, o->data + header->e_phoff + i * sizeof p, sizeof p);
        if (p.p_type == PT_LOAD && !add_segment(o, &p)) return false;
        if (p.p_type != PT_DYNAMIC) continue;
        found = p;
        dynamic = &found;
    }
    for (uint32_t i = 0; i < header->e_phnum; i++) {
        memcpy(&p, o->data + header->e_phoff + i * sizeof p, sizeof p);
        const bool notes = p.p_type == PT_NOTE || p.p_type == PT_GNU_PROPERTY;
        if (notes && segment_of(o, p.p_vaddr, p.p_memsz, true) == NULL) return false;
        if (p.p_type == PT_GNU_RELRO && !sealed_fits(o, &p)) return false;
        if (p.p_type == PT_NOTE && bytes_of(o, p.p_vaddr, 0) != o->data + p.p_offset) return false;
        if (p.p_type == PT_TLS && segment_of(o, p.p_vaddr, p.p_filesz, true) == NULL) return false;
    }
    return o->count != 0 && dynamic != NULL && read_dynamic(o, dynamic);
}

bool mock_elf_whole(const void *data, uint64_t size) {
    Elf64_Ehdr header;
    object *o = calloc(1, sizeof *o);
    if (o == NULL) return false;
    o->data = data;
    o->size = size;
    memcpy(&header, data, sizeof header);
    bool good = read_segments(o, &header) && complete(o) && read_symbols(o) && read_versions(o);
    good = good && good_relocations(o, DT_RELA, DT_RELASZ) && good_relocations(o, DT_JMPREL, DT_PLTRELSZ) &&
           good_arrays(o);
    free(o);
    return good;
}
