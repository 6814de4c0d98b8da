// Tensors: a type, a shape and elements in row-major order.

#ifndef TENSORFLOW_C_TF_TENSOR_H_
#define TENSORFLOW_C_TF_TENSOR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where memory is wanted; struct_size is TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE.
typedef struct TF_AllocatorAttributes {
  size_t struct_size;
  TF_Bool on_host;
} TF_AllocatorAttributes;

#define TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE TF_OFFSET_OF_END(TF_AllocatorAttributes, on_host)

// A tensor. Several may share the same elements.
typedef struct TF_Tensor TF_Tensor;

// A tensor over the caller's memory, or over a copy if that is not aligned; deallocator frees it.
TF_CAPI_EXPORT TF_Tensor* TF_NewTensor(
    TF_DataType, const int64_t* dims, int num_dims, void* data, size_t len,
    void (*deallocator)(void* data, size_t len, void* arg), void* deallocator_arg);

// What data is aligned to that is not copied.
TF_CAPI_EXPORT size_t TF_TensorDefaultAlignment(void);

// A tensor with length bytes of its own, of which the first are its elements.
TF_CAPI_EXPORT TF_Tensor* TF_AllocateTensor(
    TF_DataType, const int64_t* dims, int num_dims, size_t len);

// The tensor itself if nothing else shares its elements, which a callee may change then; else null.
TF_CAPI_EXPORT TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor);

// Frees a handle; the elements go with the last.
TF_CAPI_EXPORT void TF_DeleteTensor(TF_Tensor*);

// The number of the dtype; 0 for null.
TF_CAPI_EXPORT TF_DataType TF_TensorType(const TF_Tensor*);

// Gives the tensor another shape.
TF_CAPI_EXPORT void TF_SetShape(TF_Tensor* tensor, const int64_t* dims, int num_dims);

// The rank; -1 for null.
TF_CAPI_EXPORT int TF_NumDims(const TF_Tensor*);

// A size; -1 if there is no such dimension.
TF_CAPI_EXPORT int64_t TF_Dim(const TF_Tensor* tensor, int dim_index);

// Bytes, as the tensor's maker said.
TF_CAPI_EXPORT size_t TF_TensorByteSize(const TF_Tensor*);

// The first byte of the elements; of strings, the first TF_TString.
TF_CAPI_EXPORT void* TF_TensorData(const TF_Tensor*);

// The number of elements.
TF_CAPI_EXPORT int64_t TF_TensorElementCount(const TF_Tensor* tensor);

// Has to show the bytes of from as elements of another dtype and shape.
TF_CAPI_EXPORT void TF_TensorBitcastFrom(
    const TF_Tensor* from, TF_DataType type, TF_Tensor* to, const int64_t* new_dims,
    int num_new_dims, TF_Status* status);

// Whether the elements are aligned as kernels like them.
TF_CAPI_EXPORT bool TF_TensorIsAligned(const TF_Tensor*);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // TENSORFLOW_C_TF_TENSOR_H_
