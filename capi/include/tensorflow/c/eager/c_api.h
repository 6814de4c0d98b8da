// Ops that run at once, on tensors behind handles.

#ifndef TENSORFLOW_C_EAGER_C_API_H_
#define TENSORFLOW_C_EAGER_C_API_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Contexts

// What contexts are made with.
typedef struct TFE_ContextOptions TFE_ContextOptions;

// Options: one CPU device, and copies between devices without a warning.
TF_CAPI_EXPORT TFE_ContextOptions* TFE_NewContextOptions(void);

// Sets what a serialized ConfigProto says of devices, threads and placement.
TF_CAPI_EXPORT void TFE_ContextOptionsSetConfig(
    TFE_ContextOptions* options, const void* proto, size_t proto_len, TF_Status* status);

// What becomes of an input that is on another device than its op. The CPU is the only device here.
typedef enum TFE_ContextDevicePlacementPolicy {
  TFE_DEVICE_PLACEMENT_EXPLICIT = 0,
  TFE_DEVICE_PLACEMENT_WARN = 1,
  TFE_DEVICE_PLACEMENT_SILENT = 2,
  TFE_DEVICE_PLACEMENT_SILENT_FOR_INT32 = 3,
} TFE_ContextDevicePlacementPolicy;

// Lets ops end after the calls that run them, if they like.
TF_CAPI_EXPORT void TFE_ContextOptionsSetAsync(TFE_ContextOptions*, unsigned char enable);

// Sets what happens to inputs on other devices than the op's, where a thread does not say
// otherwise.
TF_CAPI_EXPORT void TFE_ContextOptionsSetDevicePlacementPolicy(
    TFE_ContextOptions*, TFE_ContextDevicePlacementPolicy);

// Frees options.
TF_CAPI_EXPORT void TFE_DeleteContextOptions(TFE_ContextOptions*);

// Where ops run.
typedef struct TFE_Context TFE_Context;

// Makes a context; null on failure.
TF_CAPI_EXPORT TFE_Context* TFE_NewContext(const TFE_ContextOptions* opts, TF_Status* status);

// Gives up a context.
TF_CAPI_EXPORT void TFE_DeleteContext(TFE_Context* ctx);

// The devices of a context, for the caller to free.
TF_CAPI_EXPORT TF_DeviceList* TFE_ContextListDevices(TFE_Context* ctx, TF_Status* status);

// Drops all kernels, and with them the state of ops that have one: random numbers begin anew.
TF_CAPI_EXPORT void TFE_ContextClearCaches(TFE_Context* ctx);

// Sets the policy of this thread in a context.
TF_CAPI_EXPORT void TFE_ContextSetThreadLocalDevicePlacementPolicy(
    TFE_Context* ctx, TFE_ContextDevicePlacementPolicy policy);

// The policy of this thread in a context, or else the context's; that of new options for null.
TF_CAPI_EXPORT TFE_ContextDevicePlacementPolicy TFE_ContextGetDevicePlacementPolicy(
    TFE_Context* ctx);

// UNIMPLEMENTED: there are no clusters.
TF_CAPI_EXPORT void TFE_ContextSetServerDef(
    TFE_Context* ctx, int keep_alive_secs, const void* proto, size_t proto_len, TF_Status* status);

// ---- Handles of tensors

// A tensor, or one that an op is still to make.
typedef struct TFE_TensorHandle TFE_TensorHandle;

// A handle to a tensor, whose elements it shares; strings are copied.
TF_CAPI_EXPORT TFE_TensorHandle* TFE_NewTensorHandle(const TF_Tensor* t, TF_Status* status);

// Gives up a handle.
TF_CAPI_EXPORT void TFE_DeleteTensorHandle(TFE_TensorHandle* h);

// The number of the dtype; 0 for null.
TF_CAPI_EXPORT TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle* h);

// The rank; -1 on failure.
TF_CAPI_EXPORT int TFE_TensorHandleNumDims(TFE_TensorHandle* h, TF_Status* status);

// The number of elements; -1 on failure.
TF_CAPI_EXPORT int64_t TFE_TensorHandleNumElements(TFE_TensorHandle* h, TF_Status* status);

// A size; -1, and INVALID_ARGUMENT, if there is no such dimension.
TF_CAPI_EXPORT int64_t TFE_TensorHandleDim(TFE_TensorHandle* h, int dim_index, TF_Status* status);

// The device of the op that gave the tensor, or that it was copied to, for as long as the handle is
// there; null on failure.
TF_CAPI_EXPORT const char* TFE_TensorHandleDeviceName(TFE_TensorHandle* h, TF_Status* status);

// The device in whose memory the tensor is; null on failure.
TF_CAPI_EXPORT const char* TFE_TensorHandleBackingDeviceName(
    TFE_TensorHandle* h, TF_Status* status);

// Another handle to the tensor; null on failure.
TF_CAPI_EXPORT TFE_TensorHandle* TFE_TensorHandleCopySharingTensor(
    TFE_TensorHandle* h, TF_Status* status);

// The tensor, for the caller to delete.
TF_CAPI_EXPORT TF_Tensor* TFE_TensorHandleResolve(TFE_TensorHandle* h, TF_Status* status);

// A handle to the tensor on a device of the context, which shares its elements; null on failure.
TF_CAPI_EXPORT TFE_TensorHandle* TFE_TensorHandleCopyToDevice(
    TFE_TensorHandle* h, TFE_Context* ctx, const char* device_name, TF_Status* status);

// How a tensor lies on its device.
typedef struct TFE_TensorDebugInfo TFE_TensorDebugInfo;

// How the tensor lies on its device, for the caller to free: as on the host.
TF_CAPI_EXPORT TFE_TensorDebugInfo* TFE_TensorHandleTensorDebugInfo(
    TFE_TensorHandle* h, TF_Status* status);

// Frees debug info.
TF_CAPI_EXPORT void TFE_DeleteTensorDebugInfo(TFE_TensorDebugInfo* debug_info);

// The rank on the device; -1 for null.
TF_CAPI_EXPORT int TFE_TensorDebugInfoOnDeviceNumDims(TFE_TensorDebugInfo* debug_info);

// A size on the device; -1 if there is no such dimension.
TF_CAPI_EXPORT int64_t TFE_TensorDebugInfoOnDeviceDim(
    TFE_TensorDebugInfo* debug_info, int dim_index);

// ---- Ops

// An op that is being described.
typedef struct TFE_Op TFE_Op;

// Begins the description of an op, or of a call of the context's function of this name; null on
// failure.
TF_CAPI_EXPORT TFE_Op* TFE_NewOp(
    TFE_Context* ctx, const char* op_or_function_name, TF_Status* status);

// Frees a description.
TF_CAPI_EXPORT void TFE_DeleteOp(TFE_Op* op);

// The name of the op or function, for as long as the description is there; null on failure.
TF_CAPI_EXPORT const char* TFE_OpGetName(const TFE_Op* op, TF_Status* status);

// The context, which stays as long as the description; null on failure.
TF_CAPI_EXPORT TFE_Context* TFE_OpGetContext(const TFE_Op* op, TF_Status* status);

// Asks for a device; the empty name for any.
TF_CAPI_EXPORT void TFE_OpSetDevice(TFE_Op* op, const char* device_name, TF_Status* status);

// The device that is asked for, until another one is or the description goes; empty for any; null
// on failure.
TF_CAPI_EXPORT const char* TFE_OpGetDevice(const TFE_Op* op, TF_Status* status);

// Gives the next input: that of an argument, or of a list whose elements are given one by one and
// whose length the attrs say.
TF_CAPI_EXPORT void TFE_OpAddInput(TFE_Op* op, TFE_TensorHandle* input, TF_Status* status);

// Gives the next argument, which is a list.
TF_CAPI_EXPORT void TFE_OpAddInputList(
    TFE_Op* op, TFE_TensorHandle** inputs, int num_inputs, TF_Status* status);

// How many inputs were given, those in lists included; -1 on failure.
TF_CAPI_EXPORT int TFE_OpGetFlatInputCount(const TFE_Op* op, TF_Status* status);

// An input, which stays the op's; null on failure.
TF_CAPI_EXPORT TFE_TensorHandle* TFE_OpGetFlatInput(const TFE_Op* op, int index, TF_Status* status);

// What kind of value an attr of an op has, as TF_AttrMetadata says it, and whether it is a list of
// such; 0 on failure.
TF_CAPI_EXPORT TF_AttrType TFE_OpGetAttrType(
    TFE_Op* op, const char* attr_name, unsigned char* is_list, TF_Status* status);

// TFE_OpGetAttrType of the op of this name, which need not be described.
TF_CAPI_EXPORT TF_AttrType TFE_OpNameGetAttrType(
    TFE_Context* ctx, const char* op_or_function_name, const char* attr_name,
    unsigned char* is_list, TF_Status* status);

// ---- Attrs of ops

// Sets an attr to a string of length bytes.
TF_CAPI_EXPORT void TFE_OpSetAttrString(
    TFE_Op* op, const char* attr_name, const void* value, size_t length);

// Sets an attr to an integer.
TF_CAPI_EXPORT void TFE_OpSetAttrInt(TFE_Op* op, const char* attr_name, int64_t value);

// Sets an attr to a float.
TF_CAPI_EXPORT void TFE_OpSetAttrFloat(TFE_Op* op, const char* attr_name, float value);

// Sets an attr to a bool, which is false for 0.
TF_CAPI_EXPORT void TFE_OpSetAttrBool(TFE_Op* op, const char* attr_name, unsigned char value);

// Sets an attr to a dtype.
TF_CAPI_EXPORT void TFE_OpSetAttrType(TFE_Op* op, const char* attr_name, TF_DataType value);

// Sets an attr to a shape, of which -1 is not known.
TF_CAPI_EXPORT void TFE_OpSetAttrShape(
    TFE_Op* op, const char* attr_name, const int64_t* dims, const int num_dims,
    TF_Status* out_status);

// Sets an attr to the function that another op's description names, with that op's attrs.
TF_CAPI_EXPORT void TFE_OpSetAttrFunction(TFE_Op* op, const char* attr_name, const TFE_Op* value);

// Sets an attr to the function of this name, without attrs.
TF_CAPI_EXPORT void TFE_OpSetAttrFunctionName(
    TFE_Op* op, const char* attr_name, const char* data, size_t length);

// Sets an attr to a copy of a tensor.
TF_CAPI_EXPORT void TFE_OpSetAttrTensor(
    TFE_Op* op, const char* attr_name, TF_Tensor* tensor, TF_Status* status);

// Sets an attr to a list of strings.
TF_CAPI_EXPORT void TFE_OpSetAttrStringList(
    TFE_Op* op, const char* attr_name, const void* const* values, const size_t* lengths,
    int num_values);

// Sets an attr to a list of integers.
TF_CAPI_EXPORT void TFE_OpSetAttrIntList(
    TFE_Op* op, const char* attr_name, const int64_t* values, int num_values);

// Sets an attr to a list of floats.
TF_CAPI_EXPORT void TFE_OpSetAttrFloatList(
    TFE_Op* op, const char* attr_name, const float* values, int num_values);

// Sets an attr to a list of bools.
TF_CAPI_EXPORT void TFE_OpSetAttrBoolList(
    TFE_Op* op, const char* attr_name, const unsigned char* values, int num_values);

// Sets an attr to a list of dtypes.
TF_CAPI_EXPORT void TFE_OpSetAttrTypeList(
    TFE_Op* op, const char* attr_name, const TF_DataType* values, int num_values);

// Sets an attr to a list of shapes.
TF_CAPI_EXPORT void TFE_OpSetAttrShapeList(
    TFE_Op* op, const char* attr_name, const int64_t** dims, const int* num_dims, int num_values,
    TF_Status* out_status);

// Sets an attr to a list of functions that other ops' descriptions name.
TF_CAPI_EXPORT void TFE_OpSetAttrFunctionList(
    TFE_Op* op, const char* attr_name, const TFE_Op** value, int num_values);

// How many tensors an input argument is: 1, or the length of a list by the attrs or inputs given so
// far.
TF_CAPI_EXPORT int TFE_OpGetInputLength(TFE_Op* op, const char* input_name, TF_Status* status);

// The same of an output.
TF_CAPI_EXPORT int TFE_OpGetOutputLength(TFE_Op* op, const char* output_name, TF_Status* status);

// ---- Running

// Runs an op.
TF_CAPI_EXPORT void TFE_Execute(
    TFE_Op* op, TFE_TensorHandle** retvals, int* num_retvals, TF_Status* status);

// ---- Functions

// Adds a serialized FunctionDef.
TF_CAPI_EXPORT void TFE_ContextAddFunctionDef(
    TFE_Context* ctx, const char* serialized_function_def, size_t size, TF_Status* status);

// Adds a function, which stays the caller's, too.
TF_CAPI_EXPORT void TFE_ContextAddFunction(
    TFE_Context* ctx, TF_Function* function, TF_Status* status);

// Removes a function.
TF_CAPI_EXPORT void TFE_ContextRemoveFunction(
    TFE_Context* ctx, const char* name, TF_Status* status);

// Whether there is a function of this name: 1 or 0.
TF_CAPI_EXPORT unsigned char TFE_ContextHasFunction(TFE_Context* ctx, const char* name);

// ---- What runs tell

// Collects statistics of every op from now on.
TF_CAPI_EXPORT void TFE_ContextEnableRunMetadata(TFE_Context* ctx);

// Collects no more statistics, and drops those that were not exported.
TF_CAPI_EXPORT void TFE_ContextDisableRunMetadata(TFE_Context* ctx);

// Fills an empty buffer with the statistics that were collected, as a serialized RunMetadata, and
// begins anew.
TF_CAPI_EXPORT void TFE_ContextExportRunMetadata(
    TFE_Context* ctx, TF_Buffer* buf, TF_Status* status);

// Begins a step: what goes with a step and is known by a name, such as the arrays of TensorArrayV2,
// stays until all steps have ended.
TF_CAPI_EXPORT void TFE_ContextStartStep(TFE_Context* ctx);

// Ends a step.
TF_CAPI_EXPORT void TFE_ContextEndStep(TFE_Context* ctx);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // TENSORFLOW_C_EAGER_C_API_H_
