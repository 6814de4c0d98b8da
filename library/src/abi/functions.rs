//! The signatures of all functions that a library may ask its host for, once: from this list are made the host's table, the
//! guest's table, and what a shared library exports.

/// Hands the signatures to a macro.
#[macro_export]
#[doc(hidden)]
macro_rules! for_each_host_function {
    ($callback:ident) => {
        $callback! {
            // tf_status.h
            fn TF_NewStatus() -> *mut TF_Status;
            fn TF_DeleteStatus(status: *mut TF_Status);
            fn TF_SetStatus(status: *mut TF_Status, code: TF_Code, message: *const c_char);
            fn TF_SetPayload(status: *mut TF_Status, key: *const c_char, value: *const c_char);
            fn TF_SetStatusFromIOError(status: *mut TF_Status, error: c_int, context: *const c_char);
            fn TF_GetCode(status: *const TF_Status) -> TF_Code;
            fn TF_Message(status: *const TF_Status) -> *const c_char;
            // tf_buffer.h
            fn TF_NewBuffer() -> *mut TF_Buffer;
            fn TF_NewBufferFromString(data: *const c_void, length: usize) -> *mut TF_Buffer;
            fn TF_DeleteBuffer(buffer: *mut TF_Buffer);
            fn TF_GetBuffer(buffer: *mut TF_Buffer) -> TF_Buffer;
            // tf_datatype.h, tf_tensor.h
            fn TF_DataTypeSize(dtype: TF_DataType) -> usize;
            fn TF_TensorDefaultAlignment() -> usize;
            fn TF_NewTensor(dtype: TF_DataType, dims: *const i64, rank: c_int, data: *mut c_void, length: usize, deallocator: Option<Deallocator>, argument: *mut c_void) -> *mut TF_Tensor;
            fn TF_AllocateTensor(dtype: TF_DataType, dims: *const i64, rank: c_int, length: usize) -> *mut TF_Tensor;
            fn TF_TensorMaybeMove(tensor: *mut TF_Tensor) -> *mut TF_Tensor;
            fn TF_DeleteTensor(tensor: *mut TF_Tensor);
            fn TF_TensorType(tensor: *const TF_Tensor) -> TF_DataType;
            fn TF_SetShape(tensor: *mut TF_Tensor, dims: *const i64, rank: c_int);
            fn TF_NumDims(tensor: *const TF_Tensor) -> c_int;
            fn TF_Dim(tensor: *const TF_Tensor, index: c_int) -> i64;
            fn TF_TensorByteSize(tensor: *const TF_Tensor) -> usize;
            fn TF_TensorData(tensor: *const TF_Tensor) -> *mut c_void;
            fn TF_TensorElementCount(tensor: *const TF_Tensor) -> i64;
            fn TF_TensorBitcastFrom(from: *const TF_Tensor, dtype: TF_DataType, to: *mut TF_Tensor, dims: *const i64, rank: c_int, status: *mut TF_Status);
            fn TF_TensorIsAligned(tensor: *const TF_Tensor) -> bool;
            // tf_tstring.h
            fn TF_StringInit(string: *mut TF_TString);
            fn TF_StringCopy(string: *mut TF_TString, bytes: *const c_char, length: usize);
            fn TF_StringAssignView(string: *mut TF_TString, bytes: *const c_char, length: usize);
            fn TF_StringGetDataPointer(string: *const TF_TString) -> *const c_char;
            fn TF_StringGetType(string: *const TF_TString) -> TF_TString_Type;
            fn TF_StringGetSize(string: *const TF_TString) -> usize;
            fn TF_StringGetCapacity(string: *const TF_TString) -> usize;
            fn TF_StringDealloc(string: *mut TF_TString);
            // kernels.h: registration
            fn TF_NewKernelBuilder(op: *const c_char, device: *const c_char, create: Option<CreateFunction>, compute: Option<ComputeFunction>, delete: Option<DeleteFunction>) -> *mut TF_KernelBuilder;
            fn TF_NewAsyncKernelBuilder(op: *const c_char, device: *const c_char, create: Option<CreateFunction>, compute: Option<ComputeAsyncFunction>, delete: Option<DeleteFunction>) -> *mut TF_KernelBuilder;
            fn TF_RunAsyncOpKernelDoneCallback(done: *mut TF_AsyncOpKernelDoneCallback);
            fn TF_KernelBuilder_TypeConstraint(builder: *mut TF_KernelBuilder, attr: *const c_char, dtype: TF_DataType, status: *mut TF_Status);
            fn TF_KernelBuilder_HostMemory(builder: *mut TF_KernelBuilder, argument: *const c_char);
            fn TF_KernelBuilder_Priority(builder: *mut TF_KernelBuilder, priority: i32);
            fn TF_KernelBuilder_Label(builder: *mut TF_KernelBuilder, label: *const c_char);
            fn TF_RegisterKernelBuilder(name: *const c_char, builder: *mut TF_KernelBuilder, status: *mut TF_Status);
            fn TF_RegisterKernelBuilderWithKernelDef(kernel_def: *const c_char, name: *const c_char, builder: *mut TF_KernelBuilder, status: *mut TF_Status);
            fn TF_DeleteKernelBuilder(builder: *mut TF_KernelBuilder);
            // kernels.h: construction
            fn TF_OpKernelConstruction_Failure(ctx: *mut TF_OpKernelConstruction, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetNodeDef(ctx: *mut TF_OpKernelConstruction, status: *mut TF_Status) -> *mut TF_Buffer;
            fn TF_OpKernelConstruction_GetName(ctx: *mut TF_OpKernelConstruction) -> TF_StringView;
            fn TF_OpKernelConstruction_HasAttr(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, status: *mut TF_Status) -> bool;
            fn TF_OpKernelConstruction_GetAttrSize(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, list_size: *mut i32, total_size: *mut i32, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrType(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, value: *mut TF_DataType, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrInt32(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, value: *mut i32, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrInt64(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, value: *mut i64, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrFloat(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, value: *mut f32, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrBool(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, value: *mut TF_Bool, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrString(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, value: *mut c_char, most: usize, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrTensor(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, value: *mut *mut TF_Tensor, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrTypeList(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, values: *mut TF_DataType, most: c_int, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrInt32List(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, values: *mut i32, most: c_int, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrInt64List(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, values: *mut i64, most: c_int, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrFloatList(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, values: *mut f32, most: c_int, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrBoolList(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, values: *mut TF_Bool, most: c_int, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrStringList(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, values: *mut *mut c_char, lengths: *mut usize, most: c_int, storage: *mut c_void, storage_size: usize, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrTensorList(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, values: *mut *mut TF_Tensor, most: c_int, status: *mut TF_Status);
            fn TF_OpKernelConstruction_GetAttrFunction(ctx: *mut TF_OpKernelConstruction, attr: *const c_char, status: *mut TF_Status) -> *mut TF_Buffer;
            // kernels.h: computation
            fn TF_GetStream(ctx: *mut TF_OpKernelContext, status: *mut TF_Status) -> *mut c_void;
            fn TF_NumInputs(ctx: *mut TF_OpKernelContext) -> c_int;
            fn TF_NumOutputs(ctx: *mut TF_OpKernelContext) -> c_int;
            fn TF_GetInput(ctx: *mut TF_OpKernelContext, index: c_int, tensor: *mut *mut TF_Tensor, status: *mut TF_Status);
            fn TF_InputRange(ctx: *mut TF_OpKernelContext, name: *const c_char, range: *mut TF_InputRange_Args);
            fn TF_InputDatatype(ctx: *mut TF_OpKernelContext, index: c_int) -> TF_DataType;
            fn TF_SetOutput(ctx: *mut TF_OpKernelContext, index: c_int, tensor: *const TF_Tensor, status: *mut TF_Status);
            fn TF_GetMutableOutput(ctx: *mut TF_OpKernelContext, index: c_int, status: *mut TF_Status) -> *mut TF_Tensor;
            fn TF_GetSerializedFunctionDefLibrary(ctx: *mut TF_OpKernelContext, buffer: *mut TF_Buffer, status: *mut TF_Status);
            fn TF_GetSerializedConfigProto(ctx: *mut TF_OpKernelContext, buffer: *mut TF_Buffer, status: *mut TF_Status);
            fn TF_GetSerializedResourceHandleProto(ctx: *mut TF_OpKernelContext, index: c_int, buffer: *mut TF_Buffer, status: *mut TF_Status);
            fn TF_OpKernelContext_Failure(ctx: *mut TF_OpKernelContext, status: *mut TF_Status);
            fn TF_ExpectedOutputDataType(ctx: *mut TF_OpKernelContext, index: c_int) -> TF_DataType;
            fn TF_IsHostMemoryInput(ctx: *mut TF_OpKernelContext, index: c_int, status: *mut TF_Status) -> bool;
            fn TF_IsHostMemoryOutput(ctx: *mut TF_OpKernelContext, index: c_int, status: *mut TF_Status) -> bool;
            fn TF_StepId(ctx: *mut TF_OpKernelContext) -> i64;
            fn TF_GetFrameId(ctx: *mut TF_OpKernelContext) -> u64;
            fn TF_GetIterId(ctx: *mut TF_OpKernelContext) -> i64;
            fn TF_GetStepId(ctx: *mut TF_OpKernelContext) -> i64;
            fn TF_GetDeviceId(ctx: *mut TF_OpKernelContext) -> c_int;
            fn TF_GetDeviceName(ctx: *mut TF_OpKernelContext) -> TF_StringView;
            fn TF_GetGraphDefVersion(ctx: *mut TF_OpKernelContext) -> c_int;
            fn TF_GetOpKernelName(ctx: *mut TF_OpKernelContext) -> TF_StringView;
            fn TF_GetResourceMgrDefaultContainerName(ctx: *mut TF_OpKernelContext) -> TF_StringView;
            fn TF_GetOpKernelRequestedInput(ctx: *mut TF_OpKernelContext, index: usize) -> TF_StringView;
            fn TF_AllocateOutput(ctx: *mut TF_OpKernelContext, index: c_int, dtype: TF_DataType, dims: *const i64, rank: c_int, length: usize, status: *mut TF_Status) -> *mut TF_Tensor;
            fn TF_ForwardInputOrAllocateOutput(ctx: *mut TF_OpKernelContext, candidates: *const c_int, count: c_int, index: c_int, dims: *const i64, rank: c_int, forwarded: *mut c_int, status: *mut TF_Status) -> *mut TF_Tensor;
            fn TF_AllocateTemp(ctx: *mut TF_OpKernelContext, dtype: TF_DataType, dims: *const i64, rank: c_int, attributes: *mut TF_AllocatorAttributes, status: *mut TF_Status) -> *mut TF_Tensor;
            fn TF_IncNumDeferredOps(ctx: *mut TF_OpKernelContext);
            fn TF_DecNumDeferredOps(ctx: *mut TF_OpKernelContext);
            // ops.h
            fn TF_NewOpDefinitionBuilder(name: *const c_char) -> *mut TF_OpDefinitionBuilder;
            fn TF_RegisterOpDefinition(builder: *mut TF_OpDefinitionBuilder, status: *mut TF_Status);
            fn TF_DeleteOpDefinitionBuilder(builder: *mut TF_OpDefinitionBuilder);
            fn TF_OpDefinitionBuilderAddAttr(builder: *mut TF_OpDefinitionBuilder, spec: *const c_char);
            fn TF_OpDefinitionBuilderAddInput(builder: *mut TF_OpDefinitionBuilder, spec: *const c_char);
            fn TF_OpDefinitionBuilderAddOutput(builder: *mut TF_OpDefinitionBuilder, spec: *const c_char);
            fn TF_OpDefinitionBuilderSetIsCommutative(builder: *mut TF_OpDefinitionBuilder, value: bool);
            fn TF_OpDefinitionBuilderSetIsAggregate(builder: *mut TF_OpDefinitionBuilder, value: bool);
            fn TF_OpDefinitionBuilderSetIsStateful(builder: *mut TF_OpDefinitionBuilder, value: bool);
            fn TF_OpDefinitionBuilderSetAllowsUninitializedInput(builder: *mut TF_OpDefinitionBuilder, value: bool);
            fn TF_OpDefinitionBuilderDeprecated(builder: *mut TF_OpDefinitionBuilder, version: c_int, explanation: *const c_char);
            fn TF_OpDefinitionBuilderSetShapeInferenceFunction(builder: *mut TF_OpDefinitionBuilder, function: Option<ShapeFunction>);
            fn TF_ShapeInferenceContextNumInputs(ctx: *mut TF_ShapeInferenceContext) -> i64;
            fn TF_NewShapeHandle() -> *mut TF_ShapeHandle;
            fn TF_DeleteShapeHandle(shape: *mut TF_ShapeHandle);
            fn TF_NewDimensionHandle() -> *mut TF_DimensionHandle;
            fn TF_DeleteDimensionHandle(dimension: *mut TF_DimensionHandle);
            fn TF_DimensionHandleValueKnown(dimension: *mut TF_DimensionHandle) -> c_int;
            fn TF_DimensionHandleValue(dimension: *mut TF_DimensionHandle) -> i64;
            fn TF_ShapeInferenceContextGetInput(ctx: *mut TF_ShapeInferenceContext, index: c_int, shape: *mut TF_ShapeHandle, status: *mut TF_Status);
            fn TF_ShapeInferenceContextSetOutput(ctx: *mut TF_ShapeInferenceContext, index: c_int, shape: *mut TF_ShapeHandle, status: *mut TF_Status);
            fn TF_ShapeInferenceContextScalar(ctx: *mut TF_ShapeInferenceContext) -> *mut TF_ShapeHandle;
            fn TF_ShapeInferenceContextVectorFromSize(ctx: *mut TF_ShapeInferenceContext, size: usize) -> *mut TF_ShapeHandle;
            fn TF_ShapeInferenceContext_GetAttrType(ctx: *mut TF_ShapeInferenceContext, attr: *const c_char, value: *mut TF_DataType, status: *mut TF_Status);
            fn TF_ShapeInferenceContextRank(ctx: *mut TF_ShapeInferenceContext, shape: *mut TF_ShapeHandle) -> i64;
            fn TF_ShapeInferenceContextRankKnown(ctx: *mut TF_ShapeInferenceContext, shape: *mut TF_ShapeHandle) -> c_int;
            fn TF_ShapeInferenceContextWithRank(ctx: *mut TF_ShapeInferenceContext, shape: *mut TF_ShapeHandle, rank: i64, result: *mut TF_ShapeHandle, status: *mut TF_Status);
            fn TF_ShapeInferenceContextWithRankAtLeast(ctx: *mut TF_ShapeInferenceContext, shape: *mut TF_ShapeHandle, rank: i64, result: *mut TF_ShapeHandle, status: *mut TF_Status);
            fn TF_ShapeInferenceContextWithRankAtMost(ctx: *mut TF_ShapeInferenceContext, shape: *mut TF_ShapeHandle, rank: i64, result: *mut TF_ShapeHandle, status: *mut TF_Status);
            fn TF_ShapeInferenceContextDim(ctx: *mut TF_ShapeInferenceContext, shape: *mut TF_ShapeHandle, index: i64, result: *mut TF_DimensionHandle);
            fn TF_ShapeInferenceContextSubshape(ctx: *mut TF_ShapeInferenceContext, shape: *mut TF_ShapeHandle, start: i64, end: i64, result: *mut TF_ShapeHandle, status: *mut TF_Status);
            fn TF_ShapeInferenceContextSetUnknownShape(ctx: *mut TF_ShapeInferenceContext, status: *mut TF_Status);
            fn TF_ShapeInferenceContextConcatenateShapes(ctx: *mut TF_ShapeInferenceContext, first: *mut TF_ShapeHandle, second: *mut TF_ShapeHandle, result: *mut TF_ShapeHandle, status: *mut TF_Status);
        }
    };
}
