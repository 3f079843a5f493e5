/* Elements of a tensor that index tensors choose: read into another tensor, or written from one.
 *
 * An operator describes a loop over some dimensions; for each turn there is a place in the data, which the
 * loop and the indices say, and one in the other tensor. Turns go in order of their indices, so the last of
 * several writes to a place stays (own choice). An index outside of its dimension fails the task with
 * 507015, and turns before it have had their effect (own choice, as for Embedding). */
#ifndef MOCK_OPERATORS_PLACES_LOOP_H_
#define MOCK_OPERATORS_PLACES_LOOP_H_

#include "objects/objects.h"

typedef enum mock_effect { MOCK_READ, MOCK_WRITE, MOCK_ADD, MOCK_MULTIPLY } mock_effect;

/* One index of each turn: the element that `strides` choose of an operand, of a member of a list, or of
 * numbers behind the lookups. It moves the place by `step` elements. */
typedef struct mock_lookup {
    int64_t strides[MOCK_MAX_RANK];
    int64_t first, step, size, reserved; /* at most size - reserved */
    int16_t operand, member;             /* -1 for none */
    bool wraps;                          /* negative ones count from the end */
    bool linear;                         /* counts all elements of the data */
    bool skips;                          /* turns whose index is `skipped` have no effect */
    int64_t skipped;
} mock_lookup;

/* In plan->extra. Strides are in elements; those of the data are of a dense tensor where it is added to. */
typedef struct mock_places {
    int32_t rank, lookups;
    int8_t effect, self, data, other; /* operands; `self` is copied to `data` before, other -1: `value` */
    bool clear;                       /* the data is 0 at first */
    double factor;                    /* of what is added */
    int64_t whole_factor;
    int64_t dims[MOCK_MAX_RANK], data_strides[MOCK_MAX_RANK], other_strides[MOCK_MAX_RANK];
    _Alignas(8) unsigned char value[8];
    mock_lookup lookup[];
} mock_places;

/* The strides that places of the data have: of the operand, or dense. Call it once the effect is known. */
void mock_places_strides(const mock_build *b, const mock_places *p, int64_t *strides);

#endif
