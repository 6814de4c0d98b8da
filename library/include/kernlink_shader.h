/* Kernels for the GPU in a library of ops in C, of which the shader (WGSL) is all that is written, where the host is Kernlink.
 *
 * A library begins a TF_KernelBuilder for the device "GPU" without a function that creates and one that computes, gives each attr
 * that it constrains one dtype, names the arguments that stay in host memory, and then tells the builder the shader. Include
 * tensorflow/c/kernels.h first. library/src/abi/shader.rs has the protobuf message of a shader, `Shader`, with what each field means. */
#ifndef KERNLINK_SHADER_H
#define KERNLINK_SHADER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A shape whose sizes are all known. `dims` may be null if there are none. */
typedef struct KernlinkShape {
  const int64_t* dims;
  int rank;
} KernlinkShape;

/* An input of a run: its dtype, a TF_DataType, and its shape. */
typedef struct KernlinkInput {
  int dtype;
  KernlinkShape shape;
} KernlinkInput;

/* A run that is about to be recorded. All of it is good during the call. */
typedef struct KernlinkLaunch {
  /* The size of the struct that the host knows. */
  size_t size;
  /* The host's own. */
  const void* host;
  const KernlinkInput* inputs;
  size_t num_inputs;
  /* The outputs' shapes; null in the function that says them. */
  const KernlinkShape* outputs;
  size_t num_outputs;
  /* Input `index`, one in host memory, as a tensor that the caller deletes; null with an error in the status for others. */
  TF_Tensor* (*input)(const struct KernlinkLaunch* launch, size_t index, TF_Status* status);
  /* Says the shape of output `index`, in the function that is asked for it. What is said last of an output holds: a shape that is
   * refused fails the run, unless one that is right comes after it. */
  void (*set_output)(const struct KernlinkLaunch* launch, size_t index, KernlinkShape shape, TF_Status* status);
} KernlinkLaunch;

/* What makes a shader's kernels, and is asked before each run. `kernel` is what `create` made for the node. Each may be called on
 * any thread, several at once, and leaves an error in the status. */
typedef struct KernlinkShaderFunctions {
  /* sizeof(KernlinkShaderFunctions) */
  size_t size;
  /* Handed to `create`. */
  const void* data;
  /* Makes what the library keeps for a node; the builder's own function deletes it. May be null. */
  void* (*create)(const void* data, TF_OpKernelConstruction* ctx, int graph_def_version);
  /* Says the shape of each output by `set_output`. */
  void (*outputs)(void* kernel, const KernlinkLaunch* launch, TF_Status* status);
  /* Writes the bits of the `count` parameters that functions say, in their order. May be null if there are none. */
  void (*computed)(void* kernel, const KernlinkLaunch* launch, uint32_t* words, size_t count, TF_Status* status);
  /* Writes three numbers of workgroups. May be null unless the dispatch rule is a function. */
  void (*groups)(void* kernel, const KernlinkLaunch* launch, uint32_t* groups, TF_Status* status);
} KernlinkShaderFunctions;

/* Tells a builder the shader of its kernel, once: a `Shader` message of `length` bytes, and functions, both of which are copied. The
 * function is null where the host is another than Kernlink. */
#ifdef __GNUC__
__attribute__((weak))
#endif
void Kernlink_KernelBuilder_SetShader(
    TF_KernelBuilder* builder, const void* shader, size_t length, const KernlinkShaderFunctions* functions, TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif
