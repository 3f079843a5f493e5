/* A bounded reader of little-endian bytes: beyond the end everything is 0 and `bad` stays set. */
#ifndef MOCK_MODELS_READER_H_
#define MOCK_MODELS_READER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/base.h"

typedef struct mock_reader {
    const unsigned char *at;
    size_t left;
    bool bad;
} mock_reader;

static inline const unsigned char *mock_read_bytes(mock_reader *r, size_t n) {
    if (r->bad || n > r->left) {
        r->bad = true;
        return NULL;
    }
    const unsigned char *p = r->at;
    r->at += n;
    r->left -= n;
    return p;
}

static inline uint64_t mock_read_number(mock_reader *r, size_t bytes) {
    const unsigned char *p = mock_read_bytes(r, bytes);
    uint64_t value = 0;
    for (size_t i = 0; p != NULL && i < bytes; i++) value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static inline uint8_t mock_read_u8(mock_reader *r) { return (uint8_t)mock_read_number(r, 1); }
static inline uint16_t mock_read_u16(mock_reader *r) { return (uint16_t)mock_read_number(r, 2); }
static inline uint32_t mock_read_u32(mock_reader *r) { return (uint32_t)mock_read_number(r, 4); }
static inline uint64_t mock_read_u64(mock_reader *r) { return mock_read_number(r, 8); }
static inline int64_t mock_read_i64(mock_reader *r) { return (int64_t)mock_read_number(r, 8); }

static inline double mock_read_f64(mock_reader *r) {
    const uint64_t bits = mock_read_u64(r);
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A length, that many bytes without a zero, and a zero. */
static inline const char *mock_read_text(mock_reader *r) {
    const size_t n = mock_read_u16(r);
    const unsigned char *p = mock_read_bytes(r, n + 1);
    if (p != NULL && memchr(p, 0, n + 1) != p + n) r->bad = true;
    return p == NULL || r->bad ? "" : (const char *)p;
}

#endif
