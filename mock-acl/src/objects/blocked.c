/* Where the elements of a tensor lie in blocks (guide: data formats).
 *
 * FRACTAL_NZ: the last two dimensions (m, n) are stored as (n1, m1, m0, n0), m0 = 16 and n0 such that a row of
 * a block has 32 bytes; NC1HWC0: (n, c1, h, w, c0); FRACTAL_Z: (c1 * h * w, n1, n0, c0), n0 = 16. c0 is 32 for
 * elements of one byte, else 16. What fills the last blocks is zero. Storage that a program describes may have
 * another n0 or c0: it is the last of its dimensions. */
#include <string.h>

#include "objects/blocked.h"
#include "objects/objects.h"

#define ROWS 16

static int64_t blocks(int64_t n, int64_t block) { return n / block + (n % block != 0); }

static bool good_width(int64_t n) { return n == 4 || n == 8 || n == 16 || n == 32 || n == 64; }

/* Elements of all dimensions of the storage; false beyond 59 bits, also where a dimension is empty. */
static bool count_all(mock_blocked *l) {
    bool empty = false;
    l->count = 1;
    for (int i = 0; i < l->storage_rank; i++) {
        const int64_t n = l->storage[i];
        empty |= n == 0;
        if (n < 0 || __builtin_mul_overflow(l->count, n == 0 ? 1 : n, &l->count)) return false;
        if (l->count > INT64_MAX / 16) return false;
    }
    if (empty) l->count = 0;
    return true;
}

static void whole(mock_blocked *l, int dim, int64_t step) {
    l->block[dim] = 1;
    l->outer[dim] = step;
    l->inner[dim] = 0;
}

static bool lay_nz(mock_blocked *l, int64_t width) {
    const int m = l->rank - 2, n = l->rank - 1;
    if (m < 0 || l->rank > MOCK_BLOCKED_RANK - 2) return false;
    const int64_t m1 = blocks(l->dims[m], ROWS), n1 = blocks(l->dims[n], width);
    const int64_t tail[] = {n1, m1, ROWS, width};
    for (int i = 0; i < m; i++) l->storage[i] = l->dims[i];
    memcpy(l->storage + m, tail, sizeof tail);
    l->storage_rank = l->rank + 2;
    if (!count_all(l)) return false;
    l->block[m] = ROWS, l->outer[m] = ROWS * width, l->inner[m] = width;
    l->block[n] = width, l->outer[n] = m1 * ROWS * width, l->inner[n] = 1;
    int64_t step = n1 * l->outer[n];
    for (int i = m; i-- > 0;) {
        whole(l, i, step);
        step *= l->dims[i];
    }
    return true;
}

static bool lay_5hd(mock_blocked *l, int64_t width) {
    if (l->rank != 4) return false;
    const int64_t h = l->dims[2], w = l->dims[3], c1 = blocks(l->dims[1], width);
    const int64_t storage[] = {l->dims[0], c1, h, w, width};
    memcpy(l->storage, storage, sizeof storage);
    l->storage_rank = 5;
    if (!count_all(l)) return false;
    whole(l, 0, c1 * h * w * width);
    l->block[1] = width, l->outer[1] = h * w * width, l->inner[1] = 1;
    whole(l, 2, w * width);
    whole(l, 3, width);
    return true;
}

static bool lay_z(mock_blocked *l, int64_t width) {
    if (l->rank != 4) return false;
    const int64_t h = l->dims[2], w = l->dims[3], c1 = blocks(l->dims[1], width), n1 = blocks(l->dims[0], ROWS);
    int64_t first;
    if (__builtin_mul_overflow(c1, h, &first) || __builtin_mul_overflow(first, w, &first)) return false;
    const int64_t storage[] = {first, n1, ROWS, width};
    memcpy(l->storage, storage, sizeof storage);
    l->storage_rank = 4;
    if (!count_all(l)) return false;
    const int64_t place = n1 * ROWS * width;
    l->block[0] = ROWS, l->outer[0] = ROWS * width, l->inner[0] = width;
    l->block[1] = width, l->outer[1] = h * w * place, l->inner[1] = 1;
    whole(l, 2, w * place);
    whole(l, 3, place);
    return true;
}

bool mock_blocked_format(aclFormat format) {
    return format == ACL_FORMAT_FRACTAL_NZ || format == ACL_FORMAT_NC1HWC0 || format == ACL_FORMAT_FRACTAL_Z;
}

static int64_t usual_width(aclFormat format, size_t size) {
    if (format == ACL_FORMAT_FRACTAL_NZ) return size == 0 || size > 8 ? 16 : 32 / (int64_t)size;
    return size == 1 ? 32 : 16;
}

bool mock_blocked_lay(
    mock_blocked *l, aclFormat format, size_t size, const int64_t *dims, int rank, int64_t width) {
    if (rank < 0 || rank > MOCK_BLOCKED_RANK) return false;
    if (width == 0) width = usual_width(format, size);
    if (!good_width(width)) return false;
    l->rank = rank;
    for (int i = 0; i < rank; i++) l->dims[i] = dims[i];
    if (format == ACL_FORMAT_FRACTAL_NZ) return lay_nz(l, width);
    if (format == ACL_FORMAT_NC1HWC0) return lay_5hd(l, width);
    return format == ACL_FORMAT_FRACTAL_Z && lay_z(l, width);
}

bool mock_blocked_is(const mock_blocked *l, const int64_t *storage, size_t rank) {
    if (rank != (size_t)l->storage_rank) return false;
    return memcmp(storage, l->storage, rank * sizeof *storage) == 0;
}

/* Where row `index` of the last dimension starts, in the blocks. */
static int64_t row_at(const mock_blocked *l, const int64_t *index) {
    int64_t at = 0;
    for (int i = 0; i < l->rank - 1; i++) {
        at += index[i] / l->block[i] * l->outer[i] + index[i] % l->block[i] * l->inner[i];
    }
    return at;
}

static bool next_row(const mock_blocked *l, int64_t *index) {
    for (int i = l->rank - 1; i-- > 0;) {
        if (++index[i] < l->dims[i]) return true;
        index[i] = 0;
    }
    return false;
}

/* Between dense rows, one after the other, and blocks. */
static void move(const mock_blocked *l, size_t size, char *dense, char *stored, bool pack) {
    int64_t index[MOCK_BLOCKED_RANK] = {0};
    const int last = l->rank - 1;
    for (int i = 0; i < l->rank; i++) {
        if (l->dims[i] == 0) return;
    }
    do {
        const int64_t row = row_at(l, index);
        for (int64_t j = 0; j < l->dims[last]; j++, dense += size) {
            const int64_t at = row + j / l->block[last] * l->outer[last] + j % l->block[last] * l->inner[last];
            char *there = stored + (size_t)at * size;
            memcpy(pack ? there : dense, pack ? dense : there, size);
        }
    } while (next_row(l, index));
}

void mock_blocked_pack(const mock_blocked *l, size_t size, const void *dense, void *stored) {
    memset(stored, 0, (size_t)l->count * size);
    move(l, size, (char *)(uintptr_t)dense, stored, true);
}

void mock_blocked_unpack(const mock_blocked *l, size_t size, const void *stored, void *dense) {
    move(l, size, dense, (char *)(uintptr_t)stored, false);
}
