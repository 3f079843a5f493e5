/* The treap of ranges. */
#include "races/ranges.h"
#include <stdlib.h>

mock_range *mock_range_tree;
uint64_t mock_range_count;

void mock_access_unref(mock_access *a) {
    if (a != NULL && --a->refs == 0) free(a);
}

void mock_readers_unref(mock_readers *r) {
    if (r == NULL || --r->refs != 0) return;
    for (uint32_t i = 0; i < r->count; i++) mock_access_unref(r->at[i]);
    free(r);
}

static uint32_t next_weight(void) {
    static uint32_t state = 2463534242u;
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

mock_range *mock_range_new(uint64_t from, uint64_t to, mock_access *write, mock_readers *reads) {
    mock_range *n = malloc(sizeof *n);
    if (n == NULL) {
        mock_access_unref(write);
        mock_readers_unref(reads);
        return NULL;
    }
    *n = (mock_range){.from = from, .to = to, .write = write, .reads = reads, .weight = next_weight()};
    mock_range_count++;
    return n;
}

static void free_one(mock_range *n) {
    mock_access_unref(n->write);
    mock_readers_unref(n->reads);
    mock_range_count--;
    free(n);
}

void mock_range_free(mock_range *tree) {
    if (tree == NULL) return;
    mock_range_free(tree->left);
    mock_range_free(tree->right);
    free_one(tree);
}

mock_range *mock_range_at(uint64_t address) {
    mock_range *n = mock_range_tree;
    while (n != NULL && (address < n->from || address >= n->to)) n = address < n->from ? n->left : n->right;
    return n;
}

/* The part of a range from an address on. Without memory its end is forgotten. */
static mock_range *cut_off(mock_range *n, uint64_t at) {
    if (n->write != NULL) n->write->refs++;
    if (n->reads != NULL) n->reads->refs++;
    mock_range *tail = mock_range_new(at, n->to, n->write, n->reads);
    mock_range *right = n->right;
    n->to = at;
    n->right = NULL;
    if (tail == NULL) return right;
    tail->weight = n->weight;
    tail->right = right;
    return tail;
}

static void split(mock_range *n, uint64_t at, mock_range **before, mock_range **after) {
    if (n == NULL) {
        *before = *after = NULL;
    } else if (n->from >= at) {
        split(n->left, at, before, &n->left);
        *after = n;
    } else {
        if (n->to > at) *after = cut_off(n, at);
        else split(n->right, at, &n->right, after);
        *before = n;
    }
}

mock_range *mock_ranges_cut(uint64_t from, uint64_t to, mock_range **before, mock_range **after) {
    mock_range *rest = NULL, *middle = NULL;
    split(mock_range_tree, from, before, &rest);
    split(rest, to, &middle, after);
    mock_range_tree = NULL;
    return middle;
}

mock_range *mock_ranges_join(mock_range *before, mock_range *after) {
    if (before == NULL) return after;
    if (after == NULL) return before;
    if (before->weight > after->weight) {
        before->right = mock_ranges_join(before->right, after);
        return before;
    }
    after->left = mock_ranges_join(before, after->left);
    return after;
}

mock_range *mock_ranges_append(mock_range *tree, mock_range *last) {
    if (last == NULL) return tree;
    mock_range *end = tree;
    while (end != NULL && end->right != NULL) end = end->right;
    if (end != NULL && end->to == last->from && end->write == last->write && end->reads == last->reads) {
        end->to = last->to;
        free_one(last);
        return tree;
    }
    return mock_ranges_join(tree, last);
}
