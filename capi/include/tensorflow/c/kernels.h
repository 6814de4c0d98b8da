// Kernels: what libraries of ops register, and what their kernels are called with.

#ifndef TENSORFLOW_C_KERNELS_H_
#define TENSORFLOW_C_KERNELS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/core/common_runtime/next_pluggable_device/c/tf_rendezvous_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// A stream of a device's work. The CPU has none.
typedef struct SP_Stream_st* SP_Stream;

// A kernel that is being described.
typedef struct TF_KernelBuilder TF_KernelBuilder;

// What a kernel is made with, while create_func runs.
typedef struct TF_OpKernelConstruction TF_OpKernelConstruction;

// What a kernel runs on.
typedef struct TF_OpKernelContext TF_OpKernelContext;

// What a kernel that ends later calls when it has ended.
typedef struct TF_AsyncOpKernelDoneCallback TF_AsyncOpKernelDoneCallback;

// Says that the kernel is done: once for each call, on any thread.
TF_CAPI_EXPORT void TF_RunAsyncOpKernelDoneCallback(TF_AsyncOpKernelDoneCallback*);

// Not of this library: a plugin may have a function of this name, which its host calls when it loads it.
void TF_InitKernel(void);

// ---- Describing kernels

// Begins the registration of a kernel.
TF_CAPI_EXPORT TF_KernelBuilder* TF_NewKernelBuilder(
    const char* op_name, const char* device_name, void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_func)(void*, TF_OpKernelContext*), void (*delete_func)(void*));

// Begins the registration of a kernel that calls back once it is done.
TF_CAPI_EXPORT TF_KernelBuilder* TF_NewAsyncKernelBuilder(
    const char* op_name, const char* device_name, void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_async_func)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback* done),
    void (*delete_func)(void*));

// Only nodes whose attr has this dtype.
TF_CAPI_EXPORT void TF_KernelBuilder_TypeConstraint(
    TF_KernelBuilder* kernel_builder, const char* attr_name, TF_DataType type, TF_Status* status);

// Keeps an argument in the host's memory.
TF_CAPI_EXPORT void TF_KernelBuilder_HostMemory(
    TF_KernelBuilder* kernel_builder, const char* arg_name);

// Of several kernels that match, the highest wins.
TF_CAPI_EXPORT void TF_KernelBuilder_Priority(
    TF_KernelBuilder* kernel_builder, int32_t priority_number);

// Only nodes that ask for this label in their attr _kernel.
TF_CAPI_EXPORT void TF_KernelBuilder_Label(TF_KernelBuilder* kernel_builder, const char* label);

// Registers the kernel, and frees the builder.
TF_CAPI_EXPORT void TF_RegisterKernelBuilder(
    const char* kernel_name, TF_KernelBuilder* builder, TF_Status* status);

// TF_RegisterKernelBuilder, with what a serialized KernelDef says, if there is one, instead of what
// the builder was told.
TF_CAPI_EXPORT void TF_RegisterKernelBuilderWithKernelDef(
    const char* serialized_kernel_def, const char* name, TF_KernelBuilder* builder,
    TF_Status* status);

// Frees a builder that is not registered.
TF_CAPI_EXPORT void TF_DeleteKernelBuilder(TF_KernelBuilder* builder);

// ---- Running: a kernel's inputs and outputs

// UNIMPLEMENTED: there is no stream on the host's devices.
TF_CAPI_EXPORT SP_Stream TF_GetStream(TF_OpKernelContext* ctx, TF_Status* status);

// The number of inputs.
TF_CAPI_EXPORT int TF_NumInputs(TF_OpKernelContext* ctx);

// The number of outputs.
TF_CAPI_EXPORT int TF_NumOutputs(TF_OpKernelContext* ctx);

// An input, in a handle that the caller deletes.
TF_CAPI_EXPORT void TF_GetInput(
    TF_OpKernelContext* ctx, int i, TF_Tensor** tensor, TF_Status* status);

// The inputs of an argument: from start, and before stop. The caller sets struct_size and status.
typedef struct {
  size_t struct_size;
  void* priv;
  int start;
  int stop;
  TF_Status* status;
} TF_InputRange_Args;

#define TF_InputRange_Args_STRUCT_SIZE TF_OFFSET_OF_END(TF_InputRange_Args, status)

// Which inputs belong to the argument of this name.
TF_CAPI_EXPORT void TF_InputRange(
    TF_OpKernelContext* ctx, const char* name, TF_InputRange_Args* args);

// The number of an input's dtype; 0 if there is none.
TF_CAPI_EXPORT TF_DataType TF_InputDatatype(TF_OpKernelContext* ctx, int index);

// Sets an output; the tensor stays the caller's.
TF_CAPI_EXPORT void TF_SetOutput(
    TF_OpKernelContext* ctx, int i, const TF_Tensor* tensor, TF_Status* status);

// An output that was allocated or set, in a handle that the caller deletes; null if it was not.
TF_CAPI_EXPORT TF_Tensor* TF_GetMutableOutput(TF_OpKernelContext* ctx, int i, TF_Status* status);

// UNIMPLEMENTED: a kernel does not see the graph's functions.
TF_CAPI_EXPORT void TF_GetSerializedFunctionDefLibrary(
    TF_OpKernelContext* ctx, TF_Buffer* serialized_function_def_library, TF_Status* status);

// UNIMPLEMENTED: there is no ConfigProto.
TF_CAPI_EXPORT void TF_GetSerializedConfigProto(
    TF_OpKernelContext* ctx, TF_Buffer* serialized_config_proto, TF_Status* status);

// The handle that an input of dtype resource holds, as a serialized ResourceHandleProto.
TF_CAPI_EXPORT void TF_GetSerializedResourceHandleProto(
    TF_OpKernelContext* ctx, int i, TF_Buffer* serialized_resource_handle_proto, TF_Status* status);

// The library cannot make the kernel.
TF_CAPI_EXPORT void TF_OpKernelConstruction_Failure(
    TF_OpKernelConstruction* ctx, TF_Status* status);

// The kernel failed.
TF_CAPI_EXPORT void TF_OpKernelContext_Failure(TF_OpKernelContext* ctx, TF_Status* status);

// The number of an output's dtype; 0 if there is none.
TF_CAPI_EXPORT TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext* ctx, int i);

// Whether an input is in the host's memory though the kernel runs elsewhere.
TF_CAPI_EXPORT bool TF_IsHostMemoryInput(TF_OpKernelContext* ctx, int i, TF_Status* status);

// Whether an output is in the host's memory though the kernel runs elsewhere.
TF_CAPI_EXPORT bool TF_IsHostMemoryOutput(TF_OpKernelContext* ctx, int i, TF_Status* status);

// The step's number.
TF_CAPI_EXPORT int64_t TF_StepId(TF_OpKernelContext* ctx);

// The node as a serialized NodeDef, in a buffer that the caller deletes.
TF_CAPI_EXPORT TF_Buffer* TF_OpKernelConstruction_GetNodeDef(
    TF_OpKernelConstruction* ctx, TF_Status* status);

// The number of the loop's execution that the call is in.
TF_CAPI_EXPORT uint64_t TF_GetFrameId(TF_OpKernelContext* ctx);

// The number of the loop's iteration.
TF_CAPI_EXPORT int64_t TF_GetIterId(TF_OpKernelContext* ctx);

// The step's number.
TF_CAPI_EXPORT int64_t TF_GetStepId(TF_OpKernelContext* ctx);

// The number of the device among those of its type.
TF_CAPI_EXPORT int TF_GetDeviceId(TF_OpKernelContext* ctx);

// The device's full name, which stays as long as the call.
TF_CAPI_EXPORT TF_StringView TF_GetDeviceName(TF_OpKernelContext* ctx);

// UNIMPLEMENTED: returns a rendezvous without functions.
TF_CAPI_EXPORT TF_RendezvousThunk TF_GetRendezvous(TF_OpKernelContext* ctx);

// The version of GraphDef that the graph's producer had.
TF_CAPI_EXPORT int TF_GetGraphDefVersion(TF_OpKernelContext* ctx);

// The node's name, which stays as long as the call.
TF_CAPI_EXPORT TF_StringView TF_GetOpKernelName(TF_OpKernelContext* ctx);

// The container of resources that name none.
TF_CAPI_EXPORT TF_StringView TF_GetResourceMgrDefaultContainerName(TF_OpKernelContext* ctx);

// Where an input comes from; empty, since a kernel's call does not know.
TF_CAPI_EXPORT TF_StringView TF_GetOpKernelRequestedInput(TF_OpKernelContext* ctx, size_t index);

// ---- Making: a kernel's attrs

// How many elements a list has, and bytes a string, or the strings of a list together; -1 for what
// does not apply.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrSize(
    TF_OpKernelConstruction* ctx, const char* attr_name, int32_t* list_size, int32_t* total_size,
    TF_Status* status);

// The number of a dtype.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrType(
    TF_OpKernelConstruction* ctx, const char* attr_name, TF_DataType* val, TF_Status* status);

// An int of 32 bits.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrInt32(
    TF_OpKernelConstruction* ctx, const char* attr_name, int32_t* val, TF_Status* status);

// An int.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrInt64(
    TF_OpKernelConstruction* ctx, const char* attr_name, int64_t* val, TF_Status* status);

// A float.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrFloat(
    TF_OpKernelConstruction* ctx, const char* attr_name, float* val, TF_Status* status);

// A bool.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrBool(
    TF_OpKernelConstruction* ctx, const char* attr_name, TF_Bool* val, TF_Status* status);

// The first bytes of a string, as many as there is room for, without a zero at the end.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrString(
    TF_OpKernelConstruction* ctx, const char* attr_name, char* val, size_t max_length,
    TF_Status* status);

// A tensor, for the caller to delete.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrTensor(
    TF_OpKernelConstruction* ctx, const char* attr_name, TF_Tensor** val, TF_Status* status);

// The numbers of dtypes, as many as there is room for.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrTypeList(
    TF_OpKernelConstruction* ctx, const char* attr_name, TF_DataType* vals, int max_vals,
    TF_Status* status);

// Ints of 32 bits, as many as there is room for.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrInt32List(
    TF_OpKernelConstruction* ctx, const char* attr_name, int32_t* vals, int max_vals,
    TF_Status* status);

// Ints, as many as there is room for.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrInt64List(
    TF_OpKernelConstruction* ctx, const char* attr_name, int64_t* vals, int max_vals,
    TF_Status* status);

// Floats, as many as there is room for.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrFloatList(
    TF_OpKernelConstruction* ctx, const char* attr_name, float* vals, int max_vals,
    TF_Status* status);

// Bools, as many as there is room for.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrBoolList(
    TF_OpKernelConstruction* ctx, const char* attr_name, TF_Bool* vals, int max_vals,
    TF_Status* status);

// Strings, as many as there is room for: they are copied to storage, and values and lengths say
// where each is.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrStringList(
    TF_OpKernelConstruction* ctx, const char* attr_name, char** values, size_t* lengths,
    int max_values, void* storage, size_t storage_size, TF_Status* status);

// Tensors, as many as there is room for, for the caller to delete.
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrTensorList(
    TF_OpKernelConstruction* ctx, const char* attr_name, TF_Tensor** vals, int max_values,
    TF_Status* status);

// A function, as a serialized NameAttrList in a buffer that the caller deletes.
TF_CAPI_EXPORT TF_Buffer* TF_OpKernelConstruction_GetAttrFunction(
    TF_OpKernelConstruction* ctx, const char* attr_name, TF_Status* status);

// Whether the node has an attr.
TF_CAPI_EXPORT bool TF_OpKernelConstruction_HasAttr(
    TF_OpKernelConstruction* ctx, const char* attr_name, TF_Status* status);

// The node's name, which stays as long as the kernel is made.
TF_CAPI_EXPORT TF_StringView TF_OpKernelConstruction_GetName(TF_OpKernelConstruction* ctx);

// ---- Running: memory

// A tensor for an output, in a handle that the caller deletes: what is written there is the output.
TF_CAPI_EXPORT TF_Tensor* TF_AllocateOutput(
    TF_OpKernelContext* context, int index, TF_DataType dtype, const int64_t* dims, int num_dims,
    size_t len, TF_Status* status);

// The first of the inputs that the output can take the place of, whose number is written; else a
// new tensor, and -1.
TF_CAPI_EXPORT TF_Tensor* TF_ForwardInputOrAllocateOutput(
    TF_OpKernelContext* context, const int* candidate_input_indices,
    int num_candidate_input_indices, int output_index, const int64_t* output_dims,
    int output_num_dims, int* forwarded_input, TF_Status* status);

// A tensor for the kernel's own use, in a handle that the caller deletes.
TF_CAPI_EXPORT TF_Tensor* TF_AllocateTemp(
    TF_OpKernelContext* context, TF_DataType dtype, const int64_t* dims, int num_dims,
    TF_AllocatorAttributes* alloc_attrs, TF_Status* status);

// Keeps the step from ending until TF_DecNumDeferredOps is called as often, by this call or another
// of the same step.
TF_CAPI_EXPORT void TF_IncNumDeferredOps(TF_OpKernelContext* context);

// See TF_IncNumDeferredOps.
TF_CAPI_EXPORT void TF_DecNumDeferredOps(TF_OpKernelContext* context);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // TENSORFLOW_C_KERNELS_H_
