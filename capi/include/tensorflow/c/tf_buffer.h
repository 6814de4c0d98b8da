// Bytes, with what frees them.

#ifndef TENSORFLOW_C_TF_BUFFER_H_
#define TENSORFLOW_C_TF_BUFFER_H_

#include <stddef.h>

#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes. What data_deallocator frees, TF_DeleteBuffer frees by it; null frees nothing.
typedef struct TF_Buffer {
  const void* data;
  size_t length;
  void (*data_deallocator)(void* data, size_t length);
} TF_Buffer;

// A buffer with a copy of bytes.
TF_CAPI_EXPORT TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len);

// An empty buffer.
TF_CAPI_EXPORT TF_Buffer* TF_NewBuffer(void);

// Frees a buffer and, by its own function, its bytes.
TF_CAPI_EXPORT void TF_DeleteBuffer(TF_Buffer*);

// The struct itself, by value.
TF_CAPI_EXPORT TF_Buffer TF_GetBuffer(TF_Buffer* buffer);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // TENSORFLOW_C_TF_BUFFER_H_
