#include "profiling.h"
void mock_profiling_op(uint32_t model, const mock_model_op *op, aclrtStream stream) {(void)model;(void)op;(void)stream;}
