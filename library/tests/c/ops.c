/* A library of ops in C, which loads in Kernlink and in TensorFlow: attrs, lists, strings, errors, a shape function, and kernels that
 * compute at once and by calling back. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow.h"

enum { MOST_DIMS = 8 };

/* The tensor's dims; how many there are. */
static int dims_of(const TF_Tensor* tensor, int64_t* dims) {
  int rank = TF_NumDims(tensor);
  for (int i = 0; i < rank && i < MOST_DIMS; ++i) dims[i] = TF_Dim(tensor, i);
  return rank;
}

static void fail(TF_OpKernelContext* ctx, TF_Status* status, TF_Code code, const char* message) {
  TF_SetStatus(status, code, message);
  TF_OpKernelContext_Failure(ctx, status);
}

/* CScale: x times an attr, plus the sum of a list. A kernel has what it reads when it is made. */

typedef struct {
  float factor;
  int64_t sum;
} Scale;

static void* scale_create(TF_OpKernelConstruction* ctx) {
  TF_Status* status = TF_NewStatus();
  Scale* scale = calloc(1, sizeof(Scale));
  int32_t count = 0, total = 0;
  int64_t offsets[16] = {0};
  TF_OpKernelConstruction_GetAttrFloat(ctx, "factor", &scale->factor, status);
  if (TF_GetCode(status) == TF_OK) TF_OpKernelConstruction_GetAttrSize(ctx, "offsets", &count, &total, status);
  if (TF_GetCode(status) == TF_OK) TF_OpKernelConstruction_GetAttrInt64List(ctx, "offsets", offsets, 16, status);
  for (int i = 0; i < count && i < 16; ++i) scale->sum += offsets[i];
  if (TF_GetCode(status) == TF_OK && scale->factor == 0) {
    TF_SetStatus(status, TF_OUT_OF_RANGE, "factor must not be 0");
  }
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(ctx, status);
  TF_DeleteStatus(status);
  return scale;
}

static void scale_compute(void* kernel, TF_OpKernelContext* ctx) {
  const Scale* scale = kernel;
  TF_Status* status = TF_NewStatus();
  TF_Tensor* x = NULL;
  TF_Tensor* y = NULL;
  int64_t dims[MOST_DIMS];
  TF_GetInput(ctx, 0, &x, status);
  if (TF_GetCode(status) == TF_OK) {
    int rank = dims_of(x, dims);
    y = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, rank, TF_TensorByteSize(x), status);
  }
  if (TF_GetCode(status) != TF_OK) {
    TF_OpKernelContext_Failure(ctx, status);
  } else {
    const float* from = TF_TensorData(x);
    float* to = TF_TensorData(y);
    int64_t count = TF_TensorElementCount(x);
    for (int64_t i = 0; i < count; ++i) {
      if (from[i] < 0) {
        fail(ctx, status, TF_INVALID_ARGUMENT, "x must not be negative");
        break;
      }
      to[i] = from[i] * scale->factor + (float)scale->sum;
    }
  }
  TF_DeleteTensor(x);
  TF_DeleteTensor(y);
  TF_DeleteStatus(status);
}

static void scale_shape(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeHandle* shape = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, 0, shape, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextWithRankAtLeast(ctx, shape, 1, shape, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, shape, status);
  TF_DeleteShapeHandle(shape);
}

/* CGreet: each string with a greeting before it. */

typedef struct {
  size_t length;
  char text[256];
} Greeting;

static void* greet_create(TF_OpKernelConstruction* ctx) {
  TF_Status* status = TF_NewStatus();
  Greeting* greeting = calloc(1, sizeof(Greeting));
  int32_t list = 0, length = 0;
  TF_OpKernelConstruction_GetAttrSize(ctx, "greeting", &list, &length, status);
  if (TF_GetCode(status) == TF_OK) {
    TF_OpKernelConstruction_GetAttrString(ctx, "greeting", greeting->text, sizeof greeting->text, status);
  }
  greeting->length = length < 256 ? (size_t)length : 256;
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(ctx, status);
  TF_DeleteStatus(status);
  return greeting;
}

static void greet_compute(void* kernel, TF_OpKernelContext* ctx) {
  const Greeting* greeting = kernel;
  TF_Status* status = TF_NewStatus();
  TF_Tensor* names = NULL;
  TF_Tensor* texts = NULL;
  int64_t dims[MOST_DIMS];
  TF_GetInput(ctx, 0, &names, status);
  if (TF_GetCode(status) == TF_OK) {
    int rank = dims_of(names, dims);
    texts = TF_AllocateOutput(ctx, 0, TF_STRING, dims, rank, TF_TensorElementCount(names) * sizeof(TF_TString), status);
  }
  if (TF_GetCode(status) != TF_OK) {
    TF_OpKernelContext_Failure(ctx, status);
  } else {
    const TF_TString* from = TF_TensorData(names);
    TF_TString* to = TF_TensorData(texts);
    int64_t count = TF_TensorElementCount(names);
    for (int64_t i = 0; i < count; ++i) {
      size_t length = TF_StringGetSize(&from[i]);
      char* text = malloc(greeting->length + length + 1);
      memcpy(text, greeting->text, greeting->length);
      memcpy(text + greeting->length, TF_StringGetDataPointer(&from[i]), length);
      TF_StringCopy(&to[i], text, greeting->length + length);
      free(text);
    }
  }
  TF_DeleteTensor(names);
  TF_DeleteTensor(texts);
  TF_DeleteStatus(status);
}

/* CLater: its input, handed on by a thread of the library's own. */

typedef struct {
  TF_OpKernelContext* ctx;
  TF_AsyncOpKernelDoneCallback* done;
} Later;

static void* later_run(void* argument) {
  Later* later = argument;
  TF_Status* status = TF_NewStatus();
  TF_Tensor* x = NULL;
  TF_GetInput(later->ctx, 0, &x, status);
  if (TF_GetCode(status) == TF_OK && TF_TensorElementCount(x) == 0) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "x is empty");
  }
  if (TF_GetCode(status) == TF_OK) TF_SetOutput(later->ctx, 0, x, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(later->ctx, status);
  TF_DeleteTensor(x);
  TF_DeleteStatus(status);
  TF_RunAsyncOpKernelDoneCallback(later->done);
  free(later);
  return NULL;
}

static void later_compute(void* kernel, TF_OpKernelContext* ctx, TF_AsyncOpKernelDoneCallback* done) {
  (void)kernel;
  Later* later = malloc(sizeof(Later));
  later->ctx = ctx;
  later->done = done;
  pthread_t thread;
  if (pthread_create(&thread, NULL, later_run, later) != 0) {
    later_run(later);
    return;
  }
#ifdef DETACHED
  pthread_detach(thread);
#else
  /* TensorFlow 2.21 gives a callback that is on the stack of whoever calls this function: it must have been called by the end. */
  pthread_join(thread, NULL);
#endif
}

/* CBorrowed: a tensor over memory that is the library's. */

static const float TABLE[8] __attribute__((aligned(64))) = {1, 2, 3, 4, 5, 6, 7, 8};

static void nothing_to_free(void* data, size_t length, void* argument) {
  (void)data;
  (void)length;
  (void)argument;
}

static void borrowed_compute(void* kernel, TF_OpKernelContext* ctx) {
  (void)kernel;
  TF_Status* status = TF_NewStatus();
  int64_t dims[1] = {8};
  TF_Tensor* y = TF_NewTensor(TF_FLOAT, dims, 1, (void*)TABLE, sizeof TABLE, nothing_to_free, NULL);
  TF_SetOutput(ctx, 0, y, status);
  TF_DeleteTensor(y);
  TF_DeleteStatus(status);
}

/* TensorFlow does not survive outputs whose shapes nobody has set. */
static void unknown_shape(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeInferenceContextSetUnknownShape(ctx, status);
}

static void declare(
    const char* name, const char* const* attrs, const char* input, const char* output,
    void (*shape)(TF_ShapeInferenceContext*, TF_Status*), TF_Status* status) {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  for (; *attrs; ++attrs) TF_OpDefinitionBuilderAddAttr(op, *attrs);
  if (input) TF_OpDefinitionBuilderAddInput(op, input);
  TF_OpDefinitionBuilderAddOutput(op, output);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, shape);
  TF_RegisterOpDefinition(op, status);
}

__attribute__((constructor)) static void load(void) {
  TF_Status* status = TF_NewStatus();
  const char* const scale_attrs[] = {"factor: float = 2.0", "offsets: list(int) = []", NULL};
  const char* const greet_attrs[] = {"greeting: string = 'hello, '", NULL};
  const char* const later_attrs[] = {"T: {float, int32}", NULL};
  const char* const no_attrs[] = {NULL};
  declare("CScale", scale_attrs, "x: float", "y: float", scale_shape, status);
  declare("CGreet", greet_attrs, "names: string", "texts: string", unknown_shape, status);
  declare("CLater", later_attrs, "x: T", "y: T", unknown_shape, status);
  declare("CBorrowed", no_attrs, NULL, "y: float", unknown_shape, status);

  TF_KernelBuilder* scale = TF_NewKernelBuilder("CScale", "CPU", scale_create, scale_compute, free);
  TF_RegisterKernelBuilder("CScale", scale, status);
  TF_KernelBuilder* greet = TF_NewKernelBuilder("CGreet", "CPU", greet_create, greet_compute, free);
  TF_RegisterKernelBuilder("CGreet", greet, status);
  TF_KernelBuilder* later = TF_NewAsyncKernelBuilder("CLater", "CPU", NULL, later_compute, NULL);
  TF_KernelBuilder_TypeConstraint(later, "T", TF_FLOAT, status);
  TF_RegisterKernelBuilder("CLater", later, status);
  TF_KernelBuilder* borrowed = TF_NewKernelBuilder("CBorrowed", "CPU", NULL, borrowed_compute, NULL);
  TF_RegisterKernelBuilder("CBorrowed", borrowed, status);

  /* As in TensorFlow, what no node can get is no fault: constraints that exclude one another, and a device that is not there. */
  TF_KernelBuilder* neither = TF_NewAsyncKernelBuilder("CLater", "CPU", NULL, later_compute, NULL);
  TF_KernelBuilder_TypeConstraint(neither, "T", TF_FLOAT, status);
  TF_KernelBuilder_TypeConstraint(neither, "T", TF_INT32, status);
  TF_RegisterKernelBuilder("CLaterNeither", neither, status);
  TF_KernelBuilder* elsewhere = TF_NewKernelBuilder("CScale", "XYZ", scale_create, scale_compute, free);
  TF_RegisterKernelBuilder("CScaleElsewhere", elsewhere, status);
  TF_DeleteStatus(status);
}
