/* Libraries with faults: what is defined when this is compiled says which. */

#include "tensorflow.h"

#ifndef PRIORITY
#define PRIORITY 1
#endif
#ifndef VALUE
#define VALUE 7
#endif

static void op(const char* name, const char* attr) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  if (attr) TF_OpDefinitionBuilderAddAttr(op, attr);
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_RegisterOpDefinition(op, status);
  TF_DeleteStatus(status);
}

static void compute(void* kernel, TF_OpKernelContext* ctx) {
  (void)kernel;
  TF_Status* status = TF_NewStatus();
  TF_Tensor* y = TF_AllocateOutput(ctx, 0, TF_FLOAT, NULL, 0, sizeof(float), status);
  *(float*)TF_TensorData(y) = VALUE;
  TF_DeleteTensor(y);
  TF_DeleteStatus(status);
}

static void kernel(const char* op, int priority) {
  TF_Status* status = TF_NewStatus();
  TF_KernelBuilder* kernel = TF_NewKernelBuilder(op, "CPU", NULL, compute, NULL);
  TF_KernelBuilder_Priority(kernel, priority);
  TF_RegisterKernelBuilder(op, kernel, status);
  TF_DeleteStatus(status);
}

#ifdef OTHER_INTERFACE
const uint32_t kernlink_library_interface_other = 7;
#endif

#ifdef MISSING_FUNCTION
void TF_DoesNotExistAnywhere(void);
void use_it(void) { TF_DoesNotExistAnywhere(); }
#endif

#ifdef CPP
void _ZN10tensorflow8OpKernel7ComputeEv(void);
void use_cpp(void) { _ZN10tensorflow8OpKernel7ComputeEv(); }
#endif

#ifdef MISSING_OTHER
void some_function_of_nobody(void);
void use_other(void) { some_function_of_nobody(); }
#endif

__attribute__((constructor)) static void load(void) {
#ifdef OP
  op(OP, NULL);
#endif
#ifdef KERNEL
  kernel(KERNEL, PRIORITY);
#endif
#ifdef HALF
  /* One that would be right, and one that contradicts itself. */
  op("HostileGood", NULL);
  kernel("HostileGood", 0);
  op("HostileBad", "T: nonsense");
#endif
  (void)op;
  (void)kernel;
}
