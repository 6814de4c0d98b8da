// How calls end: a code and a message.

#ifndef TENSORFLOW_C_TF_STATUS_H_
#define TENSORFLOW_C_TF_STATUS_H_

#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

// A code and a message. A new one is TF_OK.
typedef struct TSL_Status TF_Status;

// What a call ended with; the numbers are gRPC's.
typedef enum TSL_Code {
  TF_OK = 0,
  TF_CANCELLED = 1,
  TF_UNKNOWN = 2,
  TF_INVALID_ARGUMENT = 3,
  TF_DEADLINE_EXCEEDED = 4,
  TF_NOT_FOUND = 5,
  TF_ALREADY_EXISTS = 6,
  TF_PERMISSION_DENIED = 7,
  TF_RESOURCE_EXHAUSTED = 8,
  TF_FAILED_PRECONDITION = 9,
  TF_ABORTED = 10,
  TF_OUT_OF_RANGE = 11,
  TF_UNIMPLEMENTED = 12,
  TF_INTERNAL = 13,
  TF_UNAVAILABLE = 14,
  TF_DATA_LOSS = 15,
  TF_UNAUTHENTICATED = 16,
} TF_Code;

// A status that is OK.
TF_CAPI_EXPORT TF_Status* TF_NewStatus(void);

// Frees a status.
TF_CAPI_EXPORT void TF_DeleteStatus(TF_Status*);

// Sets code and message.
TF_CAPI_EXPORT void TF_SetStatus(TF_Status* s, TF_Code code, const char* msg);

// Does nothing: payloads are not kept.
TF_CAPI_EXPORT void TF_SetPayload(TF_Status* s, const char* key, const char* value);

// Called with each key, its value and what the caller hands on.
typedef void (*TF_PayloadVisitor)(const char* key, const char* value, void* capture);

// UNIMPLEMENTED: calls nothing, since payloads are not kept.
TF_CAPI_EXPORT void TF_ForEachPayload(const TF_Status* s, TF_PayloadVisitor visitor, void* capture);

// Sets a status from the operating system's error number, with context: before what it says.
TF_CAPI_EXPORT void TF_SetStatusFromIOError(TF_Status* s, int error_code, const char* context);

// The code; 0 is OK.
TF_CAPI_EXPORT TF_Code TF_GetCode(const TF_Status* s);

// The message, which stays until the status changes; empty for OK.
TF_CAPI_EXPORT const char* TF_Message(const TF_Status* s);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // TENSORFLOW_C_TF_STATUS_H_
