/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Tensors, scalars, arrays and executors of the two-phase operators. */
#ifndef MOCK_ACLNN_ACL_META_H_
#define MOCK_ACLNN_ACL_META_H_

#include "acl/acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t aclnnStatus;

typedef struct aclOpExecutor aclOpExecutor;
typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;

static const int32_t ACLNN_SUCCESS = 0;
static const int32_t ACLNN_ERR_PARAM_NULLPTR = 161001;
static const int32_t ACLNN_ERR_PARAM_INVALID = 161002;
static const int32_t ACLNN_ERR_RUNTIME_ERROR = 361001;
static const int32_t ACLNN_ERR_INNER = 561000;

/** Older spelling of aclSetDynamicInputTensorAddr. */
aclnnStatus AclSetDynamicInputTensorAddr(
    aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex, aclTensorList *tensors,
    void *addr);
/** Older spelling of aclSetDynamicOutputTensorAddr. */
aclnnStatus AclSetDynamicOutputTensorAddr(
    aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex, aclTensorList *tensors,
    void *addr);
/** Older spelling of aclSetDynamicTensorAddr. */
aclnnStatus AclSetDynamicTensorAddr(
    aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex, aclTensorList *tensors,
    void *addr);
/** Older spelling of aclSetInputTensorAddr. */
aclnnStatus AclSetInputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr);
/** Older spelling of aclSetOutputTensorAddr. */
aclnnStatus AclSetOutputTensorAddr(
    aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr);
/** Older spelling of aclSetTensorAddr. */
aclnnStatus AclSetTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr);
/** Copies truth values into an array for operators. */
aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size);
/** Copies floats into an array for operators. */
aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size);
/** Copies integers into an array for operators. */
aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size);
/** Copies one value of a type. */
aclScalar *aclCreateScalar(void *value, aclDataType dataType);
/** Puts scalars into a list, which owns them. */
aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size);
/** Describes device memory as a tensor: view shape, strides and offset over a storage shape. */
aclTensor *aclCreateTensor(
    const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t *stride,
    int64_t offset, aclFormat format, const int64_t *storageDims, uint64_t storageDimsNum,
    void *tensorData);
/** Puts tensors into a list, which owns them. */
aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size);
/** Frees a repeatable executor. */
aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor);
/** Frees the array. */
aclnnStatus aclDestroyBoolArray(const aclBoolArray *array);
/** Frees the array. */
aclnnStatus aclDestroyFloatArray(const aclFloatArray *array);
/** Frees the array. */
aclnnStatus aclDestroyIntArray(const aclIntArray *array);
/** Frees the scalar. */
aclnnStatus aclDestroyScalar(const aclScalar *scalar);
/** Frees the list and its scalars. */
aclnnStatus aclDestroyScalarList(const aclScalarList *array);
/** Frees the description, not the device memory. */
aclnnStatus aclDestroyTensor(const aclTensor *tensor);
/** Frees the list and its tensors. */
aclnnStatus aclDestroyTensorList(const aclTensorList *array);
aclnnStatus aclDumpOpTensors(
    const char *opType, const char *opName, aclTensor **tensors, size_t inputTensorNum,
    size_t outputTensorNum, aclrtStream stream);
/** The number of elements. */
aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size);
/** The element type of a tensor. */
aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType);
/** The number of elements. */
aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size);
/** The format of a tensor. */
aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format);
/** The number of elements. */
aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size);
/** The address of the storage. */
aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr);
/** The number of scalars. */
aclnnStatus aclGetScalarListSize(const aclScalarList *scalarList, uint64_t *size);
/** The shape of the storage, in an array that the caller frees. */
aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims, uint64_t *storageDimsNum);
/** The number of tensors. */
aclnnStatus aclGetTensorListSize(const aclTensorList *tensorList, uint64_t *size);
/** Elements between the start of the storage and the view. */
aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset);
/** The shape of the view, in an array that the caller frees. */
aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims, uint64_t *viewDimsNum);
/** The strides of the view in elements, in an array that the caller frees. */
aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue, uint64_t *stridesNum);
/** Describes a tensor anew. */
aclnnStatus aclInitTensor(
    aclTensor *tensor, const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType,
    const int64_t *stride, int64_t offset, aclFormat format, const int64_t *storageDims,
    uint64_t storageDimsNum, void *tensorDataAddr);
/** Keeps an executor after its launch, for more launches; it must be destroyed then. */
aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor);
/** Gives a tensor of an input list of a repeatable executor another address. */
aclnnStatus aclSetDynamicInputTensorAddr(
    aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex, aclTensorList *tensors,
    void *addr);
/** Gives a tensor of an output list of a repeatable executor another address. */
aclnnStatus aclSetDynamicOutputTensorAddr(
    aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex, aclTensorList *tensors,
    void *addr);
/** Gives a tensor of a list of a repeatable executor another address. */
aclnnStatus aclSetDynamicTensorAddr(
    aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex, aclTensorList *tensors,
    void *addr);
/** Gives an input of a repeatable executor another address. */
aclnnStatus aclSetInputTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr);
/** Gives an output of a repeatable executor another address. */
aclnnStatus aclSetOutputTensorAddr(
    aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr);
/** Gives the storage another address. */
aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr);
/** Gives a tensor of a repeatable executor another address. */
aclnnStatus aclSetTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr);

#ifdef __cplusplus
}
#endif

#endif
