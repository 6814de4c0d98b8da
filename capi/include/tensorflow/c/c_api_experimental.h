// Of TensorFlow's experimental functions, those that clients are known to need.

#ifndef TENSORFLOW_C_C_API_EXPERIMENTAL_H_
#define TENSORFLOW_C_C_API_EXPERIMENTAL_H_

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

// UNIMPLEMENTED: devices are no plugins.
TF_CAPI_EXPORT TF_Library* TF_LoadPluggableDeviceLibrary(
    const char* library_filename, TF_Status* status);

// Has no effect: what nodes ask to be colocated with is checked when they are placed.
TF_CAPI_EXPORT void TF_ImportGraphDefOptionsSetValidateColocationConstraints(
    TF_ImportGraphDefOptions* opts, unsigned char enable);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // TENSORFLOW_C_C_API_EXPERIMENTAL_H_
