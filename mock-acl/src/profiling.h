/* Profiling: what other parts tell it. */
#ifndef MOCK_PROFILING_H_
#define MOCK_PROFILING_H_

#include "model_file.h"

/* An operator of a model was queued on a stream; for subscribers of that model. */
void mock_profiling_op(uint32_t model, const mock_model_op *op, aclrtStream stream);

#endif
