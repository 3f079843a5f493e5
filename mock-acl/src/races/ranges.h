/* Who touched which bytes last: ranges that do not overlap, as a treap by address. With the lock of the room. */
#ifndef MOCK_RACES_RANGES_H_
#define MOCK_RACES_RANGES_H_

#include "races/races.h"

/* One access of one racer; whatever it touches refers to it. */
typedef struct mock_access {
    uint32_t refs, slot;
    uint64_t epoch;
    mock_touch kind;
    mock_doing who;
} mock_access;

/* Reads since the last write that do not know of each other. Never changed. */
typedef struct mock_readers {
    uint32_t refs, count;
    mock_access *at[];
} mock_readers;

/* Both hold a reference, or are NULL. */
typedef struct mock_range {
    struct mock_range *left, *right;
    uint64_t from, to;
    mock_access *write;
    mock_readers *reads;
    uint32_t weight;
} mock_range;

/* ---- races/ranges.c ---- */
extern mock_range *mock_range_tree;
extern uint64_t mock_range_count;
/* The range around an address, NULL for none. */
mock_range *mock_range_at(uint64_t address);
/* Takes over the references; NULL without memory, then they are given back. */
mock_range *mock_range_new(uint64_t from, uint64_t to, mock_access *write, mock_readers *reads);
void mock_range_free(mock_range *tree);
/* Takes out what lies in [from, to), cut at its ends; `before` and `after` are the rest. */
mock_range *mock_ranges_cut(uint64_t from, uint64_t to, mock_range **before, mock_range **after);
mock_range *mock_ranges_join(mock_range *before, mock_range *after);
/* Adds a range without children behind a tree, or to its last range when they touch and say the same. */
mock_range *mock_ranges_append(mock_range *tree, mock_range *last);
void mock_access_unref(mock_access *a);
void mock_readers_unref(mock_readers *r);

#endif
