// The elements of tensors of strings; tensorflow/core/platform/ctstring.h has them as inline functions.

#ifndef TENSORFLOW_C_TF_TSTRING_H_
#define TENSORFLOW_C_TF_TSTRING_H_

#include <stddef.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/core/platform/ctstring.h"

#ifdef __cplusplus
extern "C" {
#endif

// Makes the memory an empty string, whatever is in it.
TF_CAPI_EXPORT void TF_StringInit(TF_TString* t);

// Has the string hold a copy.
TF_CAPI_EXPORT void TF_StringCopy(TF_TString* dst, const char* src, size_t size);

// Has the string show bytes that stay the caller's.
TF_CAPI_EXPORT void TF_StringAssignView(TF_TString* dst, const char* src, size_t size);

// The first byte.
TF_CAPI_EXPORT const char* TF_StringGetDataPointer(const TF_TString* tstr);

// 0 small, 1 large, 2 offset, 3 view.
TF_CAPI_EXPORT TF_TString_Type TF_StringGetType(const TF_TString* str);

// The number of bytes.
TF_CAPI_EXPORT size_t TF_StringGetSize(const TF_TString* tstr);

// How many bytes it can have where it is.
TF_CAPI_EXPORT size_t TF_StringGetCapacity(const TF_TString* str);

// Frees what it has, and leaves an empty string.
TF_CAPI_EXPORT void TF_StringDealloc(TF_TString* tstr);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // TENSORFLOW_C_TF_TSTRING_H_
