// Strings as tensors of strings hold them: 24 bytes each, and what those own. All functions are inline.
//
// Memory that is all zeros is an empty string; a string that owns memory is freed by TF_TString_Dealloc.

#ifndef TENSORFLOW_CORE_PLATFORM_CTSTRING_H_
#define TENSORFLOW_CORE_PLATFORM_CTSTRING_H_

#include "tensorflow/core/platform/ctstring_internal.h"

#endif // TENSORFLOW_CORE_PLATFORM_CTSTRING_H_
