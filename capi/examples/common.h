/* What the examples share. */

#ifndef KERNLINK_CAPI_EXAMPLES_COMMON_H_
#define KERNLINK_CAPI_EXAMPLES_COMMON_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

/* Ends the program unless the call that set the status went well. */
static inline void check(const TF_Status* status, const char* what) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s: %d: %s\n", what, (int)TF_GetCode(status), TF_Message(status));
  exit(1);
}

/* A tensor of floats, for the caller to delete. */
static inline TF_Tensor* floats(const int64_t* dims, int rank, const float* values) {
  size_t bytes = sizeof(float);
  for (int i = 0; i < rank; ++i) bytes *= (size_t)dims[i];
  TF_Tensor* tensor = TF_AllocateTensor(TF_FLOAT, dims, rank, bytes);
  if (tensor == NULL) {
    fprintf(stderr, "no tensor of %zu bytes\n", bytes);
    exit(1);
  }
  memcpy(TF_TensorData(tensor), values, bytes);
  return tensor;
}

/* Prints a tensor of floats, and deletes it. */
static inline void print(const char* name, TF_Tensor* tensor) {
  const float* values = TF_TensorData(tensor);
  printf("%s [", name);
  for (int i = 0; i < TF_NumDims(tensor); ++i) printf(i == 0 ? "%lld" : ",%lld", (long long)TF_Dim(tensor, i));
  printf("]:");
  for (int64_t i = 0; i < TF_TensorElementCount(tensor); ++i) printf(" %g", (double)values[i]);
  printf("\n");
  TF_DeleteTensor(tensor);
}

#endif
