/* The sequence of random words, and loops that fill a tensor from it.
 *
 * Own choice throughout; a card gives other numbers. The key of Philox4x32-10 is the seed. The upper 64 bits of its
 * counter are the offset, the lower ones the number of a block of four words. Element i in row-major order takes word
 * i % 4 of block i / 4, or where 64 bits are needed two words of block i / 2, the lower half first. So two offsets
 * never share a block, however many elements there are, and an element depends on its index only. */
#ifndef MOCK_OPERATORS_RANDOM_DRAW_H_
#define MOCK_OPERATORS_RANDOM_DRAW_H_

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

/* The same bits whether or not the processor has fused steps; GCC makes none in standard C. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define MOCK_CHUNK 256
#define MOCK_CHUNK_INPUTS 2

/* Seed and offset, with the operands whose value is the seed or is added to the offset, -1 for none. */
typedef struct mock_source {
    uint64_t seed, offset;
    int32_t seed_at, offset_at;
} mock_source;

/* Neighbouring elements: `n` from index `first` on, the inputs' values there, and what they become. */
typedef struct mock_chunk {
    uint64_t first;
    size_t n;
    double in[MOCK_CHUNK_INPUTS][MOCK_CHUNK];
    double real[MOCK_CHUNK];
    int64_t whole[MOCK_CHUNK];
} mock_chunk;

/* Fills real or whole; false for a value that the device cannot take. */
typedef bool mock_chunk_maker(const void *params, mock_chunk *chunk);

static inline void mock_draw_block(const mock_source *s, uint64_t block, uint32_t words[4]) {
    const uint32_t counter[4] = {
        (uint32_t)block, (uint32_t)(block >> 32), (uint32_t)s->offset, (uint32_t)(s->offset >> 32)};
    mock_philox(counter, (const uint32_t[2]){(uint32_t)s->seed, (uint32_t)(s->seed >> 32)}, words);
}

/* ---- operators/random/draw.c ---- */
mock_source mock_source_numbers(int64_t seed, int64_t offset);
/* Adds both tensors as operands. */
mock_source mock_source_tensors(
    mock_build *b, const aclTensor *seed, const aclTensor *offset, uint64_t more);
/* Reads the tensors of a source; false for a bad address. */
bool mock_source_read(const mock_plan *plan, mock_source *s);
/* The words of n elements from index `first` on. */
void mock_draw_32(const mock_source *s, uint64_t first, size_t n, uint32_t *words);
void mock_draw_64(const mock_source *s, uint64_t first, size_t n, uint64_t *words);
uint64_t mock_draw_one(const mock_source *s, uint64_t index);
/* The upper half of a product: maps 64 bits evenly to 0..count - 1. */
uint64_t mock_draw_below(uint64_t drawn, uint64_t count);
/* Goes over operand `out` in row-major order; `class` says which values of the chunk are stored. The inputs are
 * operands that broadcast to it. */
aclError mock_fill_chunks(const mock_plan *plan, int out, mock_class class, const int *inputs, int count,
    mock_chunk_maker *make, const void *params);
/* Values that become `end` or more in the type become `start` (own choice: the range is half open). */
void mock_keep_below(int32_t dtype, double *values, size_t n, double start, double end);

/* ---- operators/random/normal.c ---- */
/* The logarithm of 0 < x <= 1 by basic arithmetic: the same bits with every C library. */
double mock_log(double x);

#endif
