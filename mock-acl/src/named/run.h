/* The arguments of every call of an operator by name. */
#ifndef MOCK_NAMED_RUN_H_
#define MOCK_NAMED_RUN_H_

#include "base/base.h"

/* compiles: another name than those of the table is 207000; runs: with buffers, on a stream; tells: descriptors
 * of outputs get their shapes; infers: nothing but that. */
typedef struct mock_named_args {
    const char *api, *type;
    int inputs_count, outputs_count;
    const aclTensorDesc *const *input_descs, *const *output_descs;
    const aclDataBuffer *const *inputs, *const *outputs;
    const aclopAttr *attrs;
    aclrtStream stream;
    bool compiles, runs, tells, infers;
} mock_named_args;

/* ---- named/call.c ---- */
aclError mock_named_call_of(const mock_named_args *a);

#endif
