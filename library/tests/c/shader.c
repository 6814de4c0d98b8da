/* A library with a kernel for the GPU of which only the shader is written. What is defined when this is compiled says what of it
 * is wrong. */

#include <stdlib.h>
#include <string.h>

#include "tensorflow.h"

#include "../../include/kernlink_shader.h"

#ifndef OP
#define OP "CShade"
#endif
#ifndef WRONG
#define WRONG 0
#endif

/* What may be wrong. */
#define ON_CPU 1
#define COMPUTES 2
#define CREATES 3
#define NO_FUNCTIONS 4
#define GARBAGE 5
#define HUGE_LENGTH 6
#define NO_SUCH_ATTR 7
#define SMALL_STRUCT 8
#define NO_ATTR 9

/* What a node's kernel keeps; one that was deleted is not used again. */
typedef struct {
  uint32_t magic;
  float factor;
} Kernel;

static void* create(const void* data, TF_OpKernelConstruction* ctx, int graph_def_version) {
  (void)graph_def_version;
  TF_Status* status = TF_NewStatus();
  Kernel* kernel = malloc(sizeof *kernel);
  kernel->magic = *(const uint32_t*)data;
  TF_OpKernelConstruction_GetAttrFloat(ctx, "factor", &kernel->factor, status);
  if (TF_GetCode(status) == TF_OK && kernel->factor == 0) TF_SetStatus(status, TF_OUT_OF_RANGE, "factor must not be 0");
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(ctx, status);
  TF_DeleteStatus(status);
  return kernel;
}

static void delete_kernel(void* kernel) {
  ((Kernel*)kernel)->magic = 0;
  free(kernel);
}

static void outputs(void* kernel, const KernlinkLaunch* launch, TF_Status* status) {
  if (((Kernel*)kernel)->magic != 0x5ade || launch->size < sizeof *launch || launch->outputs != NULL) abort();
  if (launch->inputs[0].shape.rank == 0) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "x must have elements in a row");
    return;
  }
  launch->set_output(launch, 0, launch->inputs[0].shape, status);
}

static void computed(void* kernel, const KernlinkLaunch* launch, uint32_t* words, size_t count, TF_Status* status) {
  if (count != 2 || launch->num_outputs != 1 || launch->num_inputs != 2) abort();
  memcpy(&words[0], &((Kernel*)kernel)->factor, 4);
  TF_Tensor* offset = launch->input(launch, 1, status);
  if (offset == NULL) return;
  words[1] = *(const uint32_t*)TF_TensorData(offset);
  TF_DeleteTensor(offset);
}

#if WRONG
static void compute(void* kernel, TF_OpKernelContext* ctx) {
  (void)kernel;
  (void)ctx;
}

static void* create_by_builder(TF_OpKernelConstruction* ctx) {
  (void)ctx;
  return NULL;
}
#endif

/* A protobuf message that is being written, of fields with numbers below 16. */
typedef struct {
  unsigned char bytes[512];
  size_t length;
} Message;

static void add_number(Message* message, int field, uint32_t value) {
  message->bytes[message->length++] = (unsigned char)(field << 3);
  for (; value > 127; value >>= 7) message->bytes[message->length++] = (unsigned char)(value | 128);
  message->bytes[message->length++] = (unsigned char)value;
}

static void add_bytes(Message* message, int field, const void* bytes, size_t length) {
  add_number(message, field, (uint32_t)length);
  /* The same but for the type of the field: lengths here are below 128. */
  message->bytes[message->length - 2] |= 2;
  memcpy(message->bytes + message->length, bytes, length);
  message->length += length;
}

static void add_text(Message* message, int field, const char* text) { add_bytes(message, field, text, strlen(text)); }

static void add_param(Message* shader, const char* name, const char* type) {
  Message param = {{0}, 0};
  add_text(&param, 1, name);
  add_number(&param, 2, 2); /* a function says it */
  add_text(&param, 3, type);
  add_bytes(shader, 10, param.bytes, param.length);
}

static void set_shader(TF_KernelBuilder* builder, TF_Status* status) {
  static const uint32_t magic = 0x5ade;
  Message shader = {{0}, 0}, dispatch = {{0}, 0};
  add_number(&dispatch, 1, 1); /* a thread for each element of the first output */
  add_number(&dispatch, 3, 1);
  add_text(&shader, 1, "CShadeOnGpu");
  add_text(&shader, 2, "shader.c");
  add_number(&shader, 3, 7);
  add_text(&shader, 4, "shade.wgsl");
  add_text(&shader, 5, "fn element(i: u32) { y[i] = x[i] * params.factor + f32(params.offset); }");
  add_bytes(&shader, 9, dispatch.bytes, dispatch.length);
  add_param(&shader, "factor", "f32");
  add_param(&shader, "offset", "i32");
  add_number(&shader, 12, 64);
  add_number(&shader, 15, 1);
  KernlinkShaderFunctions functions = {sizeof functions, &magic, create, outputs, computed, NULL};
  if (WRONG == NO_FUNCTIONS) functions.outputs = NULL;
  if (WRONG == SMALL_STRUCT) functions.size = 16;
  if (WRONG == GARBAGE) memset(shader.bytes, 0xff, shader.length);
  size_t length = WRONG == HUGE_LENGTH ? SIZE_MAX : shader.length;
  Kernlink_KernelBuilder_SetShader(builder, shader.bytes, length, &functions, status);
}

__attribute__((constructor)) static void load(void) {
  TF_Status* status = TF_NewStatus();
#ifndef KERNEL_ONLY
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(OP);
  if (WRONG != NO_ATTR) TF_OpDefinitionBuilderAddAttr(op, "factor: float = 2");
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddInput(op, "offset: int32");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_RegisterOpDefinition(op, status);
#endif
  if (Kernlink_KernelBuilder_SetShader != NULL) {
#if WRONG
    TF_KernelBuilder* kernel = TF_NewKernelBuilder(
        OP, WRONG == ON_CPU ? "CPU" : "GPU", WRONG == CREATES ? create_by_builder : NULL,
        WRONG == COMPUTES ? compute : NULL, delete_kernel);
    if (WRONG == NO_SUCH_ATTR) {
      TF_KernelBuilder_TypeConstraint(kernel, "T", TF_FLOAT, status);
    }
#else
    TF_KernelBuilder* kernel = TF_NewKernelBuilder(OP, "GPU", NULL, NULL, delete_kernel);
#endif
    TF_KernelBuilder_HostMemory(kernel, "offset");
    set_shader(kernel, status);
    TF_RegisterKernelBuilder(OP, kernel, status);
  }
  TF_DeleteStatus(status);
}
