/* Attention: softmax(scale * Q K^T + shift, over what a row may see) V, for several heads of several
 * sequences. The first phases of the operators fill mock_attention; the rest is shared. */
#ifndef MOCK_OPERATORS_ATTENTION_COMPUTE_H_
#define MOCK_OPERATORS_ATTENTION_COMPUTE_H_

#include "objects/objects.h"

/* The operands: query, key and value in this order, then the optional ones. */
enum { MOCK_QUERY, MOCK_KEY, MOCK_VALUE };

/* A tensor seen as [batch, head, position, element of the head], whatever its layout. */
typedef struct mock_heads {
    int64_t dims[4], strides[4];
} mock_heads;

/* What a row sees: positions up to `before` behind and `after` ahead of it, counted from the first token or,
 * `from_end`, from the last; all of them without `band`. */
typedef struct mock_attention {
    float scale;
    int8_t layout, out_layout;
    int8_t shift, mask, out, lse, most, sum; /* operands, -1 for none */
    bool shift_first;                        /* scale * (shift + Q K^T) */
    bool listed;                             /* key and value are lists */
    bool band, from_end;
    int64_t heads, kv_heads;
    int64_t before, after;
    int64_t positions; /* of the longest key */
} mock_attention;

/* The arguments that the operators share. Key and value are lists when `listed`. The number of heads of the
 * key is that of the query when it is 0, and that of its shape when it is MOCK_HEADS_OF_SHAPE. */
#define MOCK_HEADS_OF_SHAPE (-1)
typedef struct mock_attention_call {
    const aclTensor *query, *key, *value;
    const aclTensorList *keys, *values;
    const aclTensor *shift, *mask;
    const char *shift_name, *mask_name;
    const aclIntArray *lengths, *kv_lengths;
    const char *lengths_name, *kv_lengths_name;
    int64_t heads, kv_heads, before, after, sparse;
    double scale;
    const char *layout;
    const aclTensor *out;
    const char *out_name, *heads_name;
    bool listed, shift_first, training, one_row;
} mock_attention_call;

/* A layout by name: -1 when it is not one of the supported ones. */
int mock_layout_named(const char *name);
const char *mock_layout_name(int layout);
/* The layout of the result, which only BNSD_BSND has of its own. */
int mock_layout_result(int layout);
/* False when the tensor has another number of dimensions, or its heads do not divide it. */
bool mock_heads_of(int layout, const mock_view *v, int64_t heads, mock_heads *out);
/* How many heads of `dim` elements a tensor has, 0 when its shape does not tell. */
int64_t mock_layout_heads(int layout, const mock_view *v, int64_t dim);
/* Workspace for `kv` positions of heads with `dim` elements in the key and `v_dim` in the value. */
uint64_t mock_attention_workspace(int64_t kv, int64_t dim, int64_t v_dim);
aclError mock_attention_run(void *arg);

/* Adds the operands up to `out`, checks all and fills the parameters; NULL after a failure. */
mock_attention *mock_attention_plan(mock_build *b, const mock_attention_call *call);
/* Adds an operand of f32 with shape [batch, heads, rows, `last`]; gives its index. */
int8_t mock_attention_extra(mock_build *b, const aclTensor *tensor, const char *param, int64_t last);
/* Fails when a parameter of a function that the mock does not have is not null. */
void mock_attention_refuse(mock_build *b, const void *parameter, const char *param);

/* In a first phase with the builder `b`: parameters under the names that the interface gives them, END the end that
 * some versions put to each, SCALE how they call the scales. */
#define MOCK_REFUSE(param) mock_attention_refuse(&b, param, #param)
#define MOCK_REFUSE_SCALES(SCALE, END) \
    MOCK_REFUSE(SCALE##1##END);        \
    MOCK_REFUSE(quantScale1##END);     \
    MOCK_REFUSE(SCALE##2##END);        \
    MOCK_REFUSE(quantScale2##END);     \
    MOCK_REFUSE(quantOffset2##END)
/* Members of mock_attention_call. */
#define MOCK_NAMED(member, param) .member = param, .member##_name = #param
#define MOCK_SHIFT_AND_MASK(END) MOCK_NAMED(shift, pseShift##END), MOCK_NAMED(mask, attenMask##END)
#define MOCK_HEADS_AND_OUT                                                                             \
    MOCK_NAMED(heads, numHeads), .kv_heads = numKeyValueHeads, .scale = scaleValue, .layout = inputLayout, \
        MOCK_NAMED(out, attentionOut)

#endif
