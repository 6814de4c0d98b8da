/* Replaces the built-in MatMul from a library that is loaded: products of floats that are summed in double. No program is built anew.
 *
 *     cc -O2 -shared -fPIC -o libmatmul.so examples/replace-matmul/library.c
 *     kernlink run model --library ./libmatmul.so ...
 *     kernlink kernels --op MatMul --library ./libmatmul.so
 *
 * A program in C calls `TF_LoadLibrary("./libmatmul.so", status)`, one in Rust `kernlink::load_op_library`. The functions are those of TensorFlow's kernels.h. In TensorFlow itself
 * the kernel would have to be the only one for floats on the CPU: two that differ in priority alone are an error there. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct TF_Status TF_Status;
typedef struct TF_Tensor TF_Tensor;
typedef struct TF_KernelBuilder TF_KernelBuilder;
typedef struct TF_OpKernelConstruction TF_OpKernelConstruction;
typedef struct TF_OpKernelContext TF_OpKernelContext;
enum { TF_FLOAT = 1, TF_OK = 0, TF_INVALID_ARGUMENT = 3 };

TF_Status* TF_NewStatus(void);
void TF_DeleteStatus(TF_Status*);
void TF_SetStatus(TF_Status*, int, const char*);
int TF_GetCode(const TF_Status*);
int TF_NumDims(const TF_Tensor*);
int64_t TF_Dim(const TF_Tensor*, int);
void* TF_TensorData(const TF_Tensor*);
void TF_DeleteTensor(TF_Tensor*);
TF_KernelBuilder* TF_NewKernelBuilder(
    const char*, const char*, void* (*)(TF_OpKernelConstruction*), void (*)(void*, TF_OpKernelContext*), void (*)(void*));
void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder*, const char*, int, TF_Status*);
void TF_KernelBuilder_Priority(TF_KernelBuilder*, int32_t);
void TF_RegisterKernelBuilder(const char*, TF_KernelBuilder*, TF_Status*);
void TF_OpKernelConstruction_GetAttrBool(TF_OpKernelConstruction*, const char*, unsigned char*, TF_Status*);
void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction*, TF_Status*);
void TF_OpKernelContext_Failure(TF_OpKernelContext*, TF_Status*);
void TF_GetInput(TF_OpKernelContext*, int, TF_Tensor**, TF_Status*);
TF_Tensor* TF_AllocateOutput(TF_OpKernelContext*, int, int, const int64_t*, int, size_t, TF_Status*);

typedef struct {
  unsigned char transpose_a, transpose_b;
} MatMul;

/* A matrix: its sizes, and how far apart its rows and columns are. */
typedef struct {
  const float* data;
  int64_t rows, columns, row, column;
} Matrix;

static void* create(TF_OpKernelConstruction* ctx) {
  MatMul* kernel = calloc(1, sizeof(MatMul));
  TF_Status* status = TF_NewStatus();
  TF_OpKernelConstruction_GetAttrBool(ctx, "transpose_a", &kernel->transpose_a, status);
  if (TF_GetCode(status) == TF_OK) {
    TF_OpKernelConstruction_GetAttrBool(ctx, "transpose_b", &kernel->transpose_b, status);
  }
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(ctx, status);
  TF_DeleteStatus(status);
  return kernel;
}

static Matrix matrix(const TF_Tensor* tensor, int transpose) {
  int64_t rows = TF_Dim(tensor, 0), columns = TF_Dim(tensor, 1);
  Matrix plain = {TF_TensorData(tensor), rows, columns, columns, 1};
  Matrix transposed = {plain.data, columns, rows, 1, columns};
  return transpose ? transposed : plain;
}

static void multiply(const MatMul* kernel, TF_OpKernelContext* ctx, const TF_Tensor* x, const TF_Tensor* y, TF_Status* status) {
  if (TF_NumDims(x) != 2 || TF_NumDims(y) != 2) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "MatMul takes matrices");
    return;
  }
  Matrix a = matrix(x, kernel->transpose_a), b = matrix(y, kernel->transpose_b);
  if (a.columns != b.rows) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "the columns of `a` do not fit the rows of `b`");
    return;
  }
  int64_t dims[2] = {a.rows, b.columns};
  size_t size = (size_t)(a.rows * b.columns) * sizeof(float);
  TF_Tensor* product = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, 2, size, status);
  if (TF_GetCode(status) != TF_OK) return;
  float* to = TF_TensorData(product);
  for (int64_t row = 0; row < a.rows; ++row) {
    for (int64_t column = 0; column < b.columns; ++column) {
      double sum = 0;
      for (int64_t k = 0; k < a.columns; ++k) {
        sum += (double)a.data[row * a.row + k * a.column] * b.data[k * b.row + column * b.column];
      }
      to[row * b.columns + column] = (float)sum;
    }
  }
  TF_DeleteTensor(product);
}

static void compute(void* kernel, TF_OpKernelContext* ctx) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor *a = NULL, *b = NULL;
  TF_GetInput(ctx, 0, &a, status);
  if (TF_GetCode(status) == TF_OK) TF_GetInput(ctx, 1, &b, status);
  if (TF_GetCode(status) == TF_OK) multiply(kernel, ctx, a, b, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteTensor(a);
  TF_DeleteTensor(b);
  TF_DeleteStatus(status);
}

__attribute__((constructor)) static void load(void) {
  TF_Status* status = TF_NewStatus();
  TF_KernelBuilder* kernel = TF_NewKernelBuilder("MatMul", "CPU", create, compute, free);
  TF_KernelBuilder_TypeConstraint(kernel, "T", TF_FLOAT, status);
  /* Those of Kernlink have 0. */
  TF_KernelBuilder_Priority(kernel, 1);
  TF_RegisterKernelBuilder("MatMulInDouble", kernel, status);
  TF_DeleteStatus(status);
}
