/* Libraries whose constructors do what few do: what is defined when this is compiled says which. */

#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tensorflow.h"

static void op(const char* name) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_RegisterOpDefinition(op, status);
  TF_DeleteStatus(status);
}

#ifdef HELPER
/* The table and what frees it are in another library. */
extern float helper_table[8];
void helper_free(void* data, size_t length, void* argument);

static void compute(void* kernel, TF_OpKernelContext* ctx) {
  (void)kernel;
  TF_Status* status = TF_NewStatus();
  int64_t dims[1] = {8};
  TF_Tensor* y = TF_NewTensor(TF_FLOAT, dims, 1, helper_table, sizeof helper_table, helper_free, NULL);
  TF_SetOutput(ctx, 0, y, status);
  TF_DeleteTensor(y);
  TF_DeleteStatus(status);
}
#else
static void compute(void* kernel, TF_OpKernelContext* ctx) {
  (void)kernel;
  (void)ctx;
}
#endif

static void kernel(const char* op, TF_Status* status) {
  TF_RegisterKernelBuilder(op, TF_NewKernelBuilder(op, "CPU", NULL, compute, NULL), status);
}

#ifdef THREAD
/* Writes how the registration went. */
static void* register_apart(void* path) {
  TF_Status* status = TF_NewStatus();
  kernel(OP, status);
  FILE* file = fopen(path, "w");
  fprintf(file, "%d %s", TF_GetCode(status), TF_Message(status));
  fclose(file);
  TF_DeleteStatus(status);
  return NULL;
}
#endif

__attribute__((constructor)) static void load(void) {
  TF_Status* status = TF_NewStatus();
#ifdef WAITS
  /* Says that it runs, and waits for the answer. */
  struct timespec moment = {0, 10000000};
  fclose(fopen(WAITS "/started", "w"));
  int tries = 0;
  while (access(WAITS "/go", F_OK) != 0 && ++tries < 500) nanosleep(&moment, NULL);
  op(tries < 500 ? "Waited" : "WaitedInVain");
#endif
#ifdef THREAD
  pthread_t thread;
  op(OP);
  pthread_create(&thread, NULL, register_apart, THREAD);
  pthread_join(thread, NULL);
#endif
#ifdef HELPER
  op("Helped");
  kernel("Helped", status);
#endif
#ifdef KERNEL
  kernel(KERNEL, status);
#endif
  (void)op;
  (void)kernel;
  TF_DeleteStatus(status);
}
