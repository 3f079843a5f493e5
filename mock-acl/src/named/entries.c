/* The functions that run operators by name (guide: operators by name; the rules and their sources: call.c). */
#include "acl/acl_op_compiler.h"
#include "named/run.h"

#define DESCS(descs) ((const aclTensorDesc *const *)(descs))
#define BUFFERS(buffers) ((const aclDataBuffer *const *)(buffers))
#define OPERANDS                                                                                             \
    .type = opType, .inputs_count = numInputs, .outputs_count = numOutputs, .input_descs = DESCS(inputDesc), \
    .output_descs = DESCS(outputDesc)

/* There is one engine and no model of operators in files: engineType, compileFlag and opPath are judged, and
 * have no effect (own choice; 100000 for other values: implementation of the open graph engine). */
static aclError compiling(aclopEngineType engine, aclopCompileType flag, const char *path) {
    if ((unsigned)engine > ACL_ENGINE_VECTOR) return mock_invalid("engineType %d", (int)engine);
    if ((unsigned)flag > ACL_COMPILE_UNREGISTERED) return mock_invalid("compileFlag %d", (int)flag);
    return flag == ACL_COMPILE_UNREGISTERED && path == NULL ? mock_null("opPath") : 0;
}

MOCK_EXPORT aclError aclopCompile(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
    int numOutputs, const aclTensorDesc *const outputDesc[], const aclopAttr *attr, aclopEngineType engineType,
    aclopCompileType compileFlag, const char *opPath) {
    MOCK_ENTER(aclopCompile);
    const aclError code = compiling(engineType, compileFlag, opPath);
    if (code != 0) return code;
    return mock_named_call_of(
        &(mock_named_args){.api = "aclopCompile", OPERANDS, .attrs = attr, .compiles = true});
}

MOCK_EXPORT aclError aclopCompileAndExecute(const char *opType, int numInputs,
    const aclTensorDesc *const inputDesc[], const aclDataBuffer *const inputs[], int numOutputs,
    const aclTensorDesc *const outputDesc[], aclDataBuffer *const outputs[], const aclopAttr *attr,
    aclopEngineType engineType, aclopCompileType compileFlag, const char *opPath, aclrtStream stream) {
    MOCK_ENTER(aclopCompileAndExecute);
    const aclError code = compiling(engineType, compileFlag, opPath);
    if (code != 0) return code;
    return mock_named_call_of(&(mock_named_args){.api = "aclopCompileAndExecute",
        OPERANDS,
        .inputs = inputs,
        .outputs = BUFFERS(outputs),
        .attrs = attr,
        .stream = stream,
        .compiles = true,
        .runs = true});
}

MOCK_EXPORT aclError aclopCompileAndExecuteV2(const char *opType, int numInputs, aclTensorDesc *inputDesc[],
    aclDataBuffer *inputs[], int numOutputs, aclTensorDesc *outputDesc[], aclDataBuffer *outputs[],
    aclopAttr *attr, aclopEngineType engineType, aclopCompileType compileFlag, const char *opPath,
    aclrtStream stream) {
    MOCK_ENTER(aclopCompileAndExecuteV2);
    const aclError code = compiling(engineType, compileFlag, opPath);
    if (code != 0) return code;
    return mock_named_call_of(&(mock_named_args){.api = "aclopCompileAndExecuteV2",
        OPERANDS,
        .inputs = BUFFERS(inputs),
        .outputs = BUFFERS(outputs),
        .attrs = attr,
        .stream = stream,
        .compiles = true,
        .runs = true,
        .tells = true});
}

MOCK_EXPORT aclError aclopExecute(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
    const aclDataBuffer *const inputs[], int numOutputs, const aclTensorDesc *const outputDesc[],
    aclDataBuffer *const outputs[], const aclopAttr *attr, aclrtStream stream) {
    MOCK_ENTER(aclopExecute);
    return mock_named_call_of(&(mock_named_args){.api = "aclopExecute",
        OPERANDS,
        .inputs = inputs,
        .outputs = BUFFERS(outputs),
        .attrs = attr,
        .stream = stream,
        .runs = true});
}

MOCK_EXPORT aclError aclopExecuteV2(const char *opType, int numInputs, aclTensorDesc *inputDesc[],
    aclDataBuffer *inputs[], int numOutputs, aclTensorDesc *outputDesc[], aclDataBuffer *outputs[],
    aclopAttr *attr, aclrtStream stream) {
    MOCK_ENTER(aclopExecuteV2);
    return mock_named_call_of(&(mock_named_args){.api = "aclopExecuteV2",
        OPERANDS,
        .inputs = BUFFERS(inputs),
        .outputs = BUFFERS(outputs),
        .attrs = attr,
        .stream = stream,
        .runs = true,
        .tells = true});
}

/* Constant inputs may come as buffers of the host. */
MOCK_EXPORT aclError aclopInferShape(const char *opType, int numInputs, aclTensorDesc *inputDesc[],
    aclDataBuffer *inputs[], int numOutputs, aclTensorDesc *outputDesc[], aclopAttr *attr) {
    MOCK_ENTER(aclopInferShape);
    return mock_named_call_of(&(mock_named_args){
        .api = "aclopInferShape", OPERANDS, .inputs = BUFFERS(inputs), .attrs = attr, .infers = true});
}

/* `truncate` says whether to cut or to round; the mock's Cast does what its types ask for (own choice). */
MOCK_EXPORT aclError aclopCast(const aclTensorDesc *srcDesc, const aclDataBuffer *srcBuffer,
    const aclTensorDesc *dstDesc, aclDataBuffer *dstBuffer, uint8_t truncate, aclrtStream stream) {
    MOCK_ENTER(aclopCast);
    (void)truncate;
    return mock_named_call_of(&(mock_named_args){.api = "aclopCast",
        .type = "Cast",
        .inputs_count = 1,
        .outputs_count = 1,
        .input_descs = &srcDesc,
        .output_descs = &dstDesc,
        .inputs = &srcBuffer,
        .outputs = (const aclDataBuffer *const *)&dstBuffer,
        .stream = stream,
        .runs = true});
}
