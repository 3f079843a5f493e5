/* Attributes of operators by name. */
#ifndef MOCK_MODELS_ATTRIBUTES_H_
#define MOCK_MODELS_ATTRIBUTES_H_

#include "base/base.h"

typedef enum mock_op_attr_kind {
    MOCK_OP_ATTR_BOOL, MOCK_OP_ATTR_INT, MOCK_OP_ATTR_FLOAT, MOCK_OP_ATTR_TYPE, MOCK_OP_ATTR_TEXT, MOCK_OP_ATTR_BOOLS, MOCK_OP_ATTR_INTS,
    MOCK_OP_ATTR_FLOATS, MOCK_OP_ATTR_TYPES, MOCK_OP_ATTR_TEXTS, MOCK_OP_ATTR_LISTS
} mock_op_attr_kind;

/* `count` values of the kind, one unless it is a list; of texts and inner lists only the pointers are kept. */
typedef struct mock_op_attr {
    struct mock_op_attr *next;
    char *name;
    mock_op_attr_kind kind;
    size_t count, bytes;
    void *value;
} mock_op_attr;

#endif
