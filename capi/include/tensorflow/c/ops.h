// Ops: what libraries of ops define, and what their shape functions are called with.

#ifndef TENSORFLOW_C_OPS_H_
#define TENSORFLOW_C_OPS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

// A dimension, known or not.
typedef struct TF_DimensionHandle TF_DimensionHandle;

// An op that is being defined.
typedef struct TF_OpDefinitionBuilder TF_OpDefinitionBuilder;

// A shape, known, in part or not at all.
typedef struct TF_ShapeHandle TF_ShapeHandle;

// What a shape function is called with.
typedef struct TF_ShapeInferenceContext TF_ShapeInferenceContext;

// ---- Defining ops

// Begins the declaration of an op.
TF_CAPI_EXPORT TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char* op_name);

// Registers the op, and frees the builder.
TF_CAPI_EXPORT void TF_RegisterOpDefinition(TF_OpDefinitionBuilder* builder, TF_Status* status);

// Frees a builder that is not registered.
TF_CAPI_EXPORT void TF_DeleteOpDefinitionBuilder(TF_OpDefinitionBuilder* builder);

// Adds an attr, such as T: {float, int32} = DT_FLOAT.
TF_CAPI_EXPORT void TF_OpDefinitionBuilderAddAttr(
    TF_OpDefinitionBuilder* builder, const char* attr_spec);

// Adds an input, such as x: N * T.
TF_CAPI_EXPORT void TF_OpDefinitionBuilderAddInput(
    TF_OpDefinitionBuilder* builder, const char* input_spec);

// Adds an output.
TF_CAPI_EXPORT void TF_OpDefinitionBuilderAddOutput(
    TF_OpDefinitionBuilder* builder, const char* output_spec);

// Says that op(a, b) is op(b, a).
TF_CAPI_EXPORT void TF_OpDefinitionBuilderSetIsCommutative(
    TF_OpDefinitionBuilder* builder, bool is_commutative);

// Says that inputs can be taken in any order and grouping.
TF_CAPI_EXPORT void TF_OpDefinitionBuilderSetIsAggregate(
    TF_OpDefinitionBuilder* builder, bool is_aggregate);

// Says that the op has state or effects.
TF_CAPI_EXPORT void TF_OpDefinitionBuilderSetIsStateful(
    TF_OpDefinitionBuilder* builder, bool is_stateful);

// Says that an input may be a reference to a variable without a value.
TF_CAPI_EXPORT void TF_OpDefinitionBuilderSetAllowsUninitializedInput(
    TF_OpDefinitionBuilder* builder, bool allows_uninitialized_input);

// Says from which version of GraphDef on the op is refused, and what to use instead.
TF_CAPI_EXPORT void TF_OpDefinitionBuilderDeprecated(
    TF_OpDefinitionBuilder* builder, int version, const char* explanation);

// Sets the shape function.
TF_CAPI_EXPORT void TF_OpDefinitionBuilderSetShapeInferenceFunction(
    TF_OpDefinitionBuilder* builder,
    void (*shape_inference_func)(TF_ShapeInferenceContext* ctx, TF_Status* status));

// ---- Shape functions

// The number of inputs.
TF_CAPI_EXPORT int64_t TF_ShapeInferenceContextNumInputs(TF_ShapeInferenceContext* ctx);

// A handle for results, of an unknown shape so far.
TF_CAPI_EXPORT TF_ShapeHandle* TF_NewShapeHandle(void);

// The shape of an input.
TF_CAPI_EXPORT void TF_ShapeInferenceContextGetInput(
    TF_ShapeInferenceContext* ctx, int i, TF_ShapeHandle* handle, TF_Status* status);

// Sets the shape of an output.
TF_CAPI_EXPORT void TF_ShapeInferenceContextSetOutput(
    TF_ShapeInferenceContext* ctx, int i, TF_ShapeHandle* handle, TF_Status* status);

// The shape of a scalar, in a handle that the caller deletes.
TF_CAPI_EXPORT TF_ShapeHandle* TF_ShapeInferenceContextScalar(TF_ShapeInferenceContext* ctx);

// The shape of a vector of so many elements, in a handle that the caller deletes.
TF_CAPI_EXPORT TF_ShapeHandle* TF_ShapeInferenceContextVectorFromSize(
    TF_ShapeInferenceContext* ctx, size_t size);

// A handle for a dimension, unknown so far.
TF_CAPI_EXPORT TF_DimensionHandle* TF_NewDimensionHandle(void);

// The dtype that an attr holds.
TF_CAPI_EXPORT void TF_ShapeInferenceContext_GetAttrType(
    TF_ShapeInferenceContext* ctx, const char* attr_name, TF_DataType* val, TF_Status* status);

// The rank; -1 if it is unknown.
TF_CAPI_EXPORT int64_t TF_ShapeInferenceContextRank(
    TF_ShapeInferenceContext* ctx, TF_ShapeHandle* handle);

// Whether the rank is known.
TF_CAPI_EXPORT int TF_ShapeInferenceContextRankKnown(
    TF_ShapeInferenceContext* ctx, TF_ShapeHandle* handle);

// The same shape with what is known of it once it has this rank.
TF_CAPI_EXPORT void TF_ShapeInferenceContextWithRank(
    TF_ShapeInferenceContext* ctx, TF_ShapeHandle* handle, int64_t rank, TF_ShapeHandle* result,
    TF_Status* status);

// The same shape, which must have at least this rank.
TF_CAPI_EXPORT void TF_ShapeInferenceContextWithRankAtLeast(
    TF_ShapeInferenceContext* ctx, TF_ShapeHandle* handle, int64_t rank, TF_ShapeHandle* result,
    TF_Status* status);

// The same shape, which must have at most this rank.
TF_CAPI_EXPORT void TF_ShapeInferenceContextWithRankAtMost(
    TF_ShapeInferenceContext* ctx, TF_ShapeHandle* handle, int64_t rank, TF_ShapeHandle* result,
    TF_Status* status);

// A dimension of a shape, counted from the end if the index is negative; unknown if there is none.
TF_CAPI_EXPORT void TF_ShapeInferenceContextDim(
    TF_ShapeInferenceContext* ctx, TF_ShapeHandle* shape_handle, int64_t i,
    TF_DimensionHandle* result);

// The dimensions from start to before end, which count from the end if negative.
TF_CAPI_EXPORT void TF_ShapeInferenceContextSubshape(
    TF_ShapeInferenceContext* ctx, TF_ShapeHandle* shape_handle, int64_t start, int64_t end,
    TF_ShapeHandle* result, TF_Status* status);

// Leaves the shapes of all outputs unknown.
TF_CAPI_EXPORT void TF_ShapeInferenceContextSetUnknownShape(
    TF_ShapeInferenceContext* ctx, TF_Status* status);

// Whether the size is known.
TF_CAPI_EXPORT int TF_DimensionHandleValueKnown(TF_DimensionHandle* dim_handle);

// The size; -1 if it is unknown.
TF_CAPI_EXPORT int64_t TF_DimensionHandleValue(TF_DimensionHandle* dim_handle);

// The dimensions of first, then those of second.
TF_CAPI_EXPORT void TF_ShapeInferenceContextConcatenateShapes(
    TF_ShapeInferenceContext* ctx, TF_ShapeHandle* first, TF_ShapeHandle* second,
    TF_ShapeHandle* result, TF_Status* status);

// Frees a handle.
TF_CAPI_EXPORT void TF_DeleteShapeHandle(TF_ShapeHandle* handle);

// Frees a handle.
TF_CAPI_EXPORT void TF_DeleteDimensionHandle(TF_DimensionHandle* handle);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // TENSORFLOW_C_OPS_H_
