/* What the libraries of these tests use of TensorFlow's C API, declared as in its kernels.h, ops.h, tf_status.h and tf_tensor.h. */
#ifndef KERNLINK_TESTS_TENSORFLOW_H
#define KERNLINK_TESTS_TENSORFLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TF_Status TF_Status;
typedef struct TF_Tensor TF_Tensor;
typedef struct TF_KernelBuilder TF_KernelBuilder;
typedef struct TF_OpKernelConstruction TF_OpKernelConstruction;
typedef struct TF_OpKernelContext TF_OpKernelContext;
typedef struct TF_AsyncOpKernelDoneCallback TF_AsyncOpKernelDoneCallback;
typedef struct TF_OpDefinitionBuilder TF_OpDefinitionBuilder;
typedef struct TF_ShapeHandle TF_ShapeHandle;
typedef struct TF_ShapeInferenceContext TF_ShapeInferenceContext;
typedef struct TF_TString { uint64_t words[3]; } TF_TString;

typedef enum { TF_FLOAT = 1, TF_INT32 = 3, TF_STRING = 7, TF_INT64 = 9 } TF_DataType;
typedef enum { TF_OK = 0, TF_INVALID_ARGUMENT = 3, TF_OUT_OF_RANGE = 11 } TF_Code;

TF_Status* TF_NewStatus(void);
void TF_DeleteStatus(TF_Status*);
void TF_SetStatus(TF_Status*, TF_Code, const char*);
TF_Code TF_GetCode(const TF_Status*);
const char* TF_Message(const TF_Status*);

TF_Tensor* TF_NewTensor(TF_DataType, const int64_t*, int, void*, size_t, void (*)(void*, size_t, void*), void*);
void TF_DeleteTensor(TF_Tensor*);
int TF_NumDims(const TF_Tensor*);
int64_t TF_Dim(const TF_Tensor*, int);
int64_t TF_TensorElementCount(const TF_Tensor*);
size_t TF_TensorByteSize(const TF_Tensor*);
void* TF_TensorData(const TF_Tensor*);
void TF_StringCopy(TF_TString*, const char*, size_t);
const char* TF_StringGetDataPointer(const TF_TString*);
size_t TF_StringGetSize(const TF_TString*);

TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char*);
void TF_RegisterOpDefinition(TF_OpDefinitionBuilder*, TF_Status*);
void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder*, const char*);
void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder*, const char*);
void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder*, const char*);
void TF_OpDefinitionBuilderSetShapeInferenceFunction(
    TF_OpDefinitionBuilder*, void (*)(TF_ShapeInferenceContext*, TF_Status*));
TF_ShapeHandle* TF_NewShapeHandle(void);
void TF_DeleteShapeHandle(TF_ShapeHandle*);
void TF_ShapeInferenceContextGetInput(TF_ShapeInferenceContext*, int, TF_ShapeHandle*, TF_Status*);
void TF_ShapeInferenceContextSetOutput(TF_ShapeInferenceContext*, int, TF_ShapeHandle*, TF_Status*);
void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext*, TF_Status*);
void TF_ShapeInferenceContextWithRankAtLeast(
    TF_ShapeInferenceContext*, TF_ShapeHandle*, int64_t, TF_ShapeHandle*, TF_Status*);

TF_KernelBuilder* TF_NewKernelBuilder(
    const char*, const char*, void* (*)(TF_OpKernelConstruction*), void (*)(void*, TF_OpKernelContext*), void (*)(void*));
TF_KernelBuilder* TF_NewAsyncKernelBuilder(
    const char*, const char*, void* (*)(TF_OpKernelConstruction*),
    void (*)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback*), void (*)(void*));
void TF_RunAsyncOpKernelDoneCallback(TF_AsyncOpKernelDoneCallback*);
void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder*, const char*, const TF_DataType, TF_Status*);
void TF_KernelBuilder_HostMemory(TF_KernelBuilder*, const char*);
void TF_KernelBuilder_Priority(TF_KernelBuilder*, int32_t);
void TF_RegisterKernelBuilder(const char*, TF_KernelBuilder*, TF_Status*);

void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction*, TF_Status*);
void TF_OpKernelConstruction_GetAttrFloat(TF_OpKernelConstruction*, const char*, float*, TF_Status*);
void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction*, const char*, int32_t*, int32_t*, TF_Status*);
void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction*, const char*, char*, size_t, TF_Status*);
void TF_OpKernelConstruction_GetAttrInt64List(TF_OpKernelConstruction*, const char*, int64_t*, int, TF_Status*);

int TF_NumInputs(TF_OpKernelContext*);
void TF_GetInput(TF_OpKernelContext*, int, TF_Tensor**, TF_Status*);
void TF_SetOutput(TF_OpKernelContext*, int, const TF_Tensor*, TF_Status*);
void TF_OpKernelContext_Failure(TF_OpKernelContext*, TF_Status*);
TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext*, int);
TF_Tensor* TF_AllocateOutput(TF_OpKernelContext*, int, TF_DataType, const int64_t*, int, size_t, TF_Status*);
TF_Tensor* TF_ForwardInputOrAllocateOutput(
    TF_OpKernelContext*, const int*, int, int, const int64_t*, int, int*, TF_Status*);

#endif
