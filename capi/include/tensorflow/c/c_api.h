// Graphs, sessions, functions and what surrounds them.
//
// Objects are pointers: what a TF_New function returns is freed by the TF_Delete function of the same
// name. Texts end with a zero unless their length comes with them. A call that has a status sets it, to
// TF_OK or to an error; what else it returns means something only with TF_OK. Null where an object is due
// is an error of the status, or a call without effect.

#ifndef TENSORFLOW_C_C_API_H_
#define TENSORFLOW_C_C_API_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_attrtype.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/c/tf_tstring.h"

#ifdef __cplusplus
extern "C" {
#endif

// The version of TensorFlow whose C API this is, and whose results Kernlink's are.
TF_CAPI_EXPORT const char* TF_Version(void);

// Makes to the tensor of a serialized TensorProto.
TF_CAPI_EXPORT void TF_TensorFromProto(const TF_Buffer* from, TF_Tensor* to, TF_Status* status);

// A text that belongs to the library; no zero need end it.
typedef struct TF_StringView {
  const char* data;
  size_t len;
} TF_StringView;

// ---- Options of sessions

// What sessions are made with.
typedef struct TF_SessionOptions TF_SessionOptions;

// Options: this process, one thread per processor.
TF_CAPI_EXPORT TF_SessionOptions* TF_NewSessionOptions(void);

// Names the process that runs sessions.
TF_CAPI_EXPORT void TF_SetTarget(TF_SessionOptions* options, const char* target);

// Sets what a serialized ConfigProto says of devices, threads, placement and timeouts.
TF_CAPI_EXPORT void TF_SetConfig(
    TF_SessionOptions* options, const void* proto, size_t proto_len, TF_Status* status);

// Frees options.
TF_CAPI_EXPORT void TF_DeleteSessionOptions(TF_SessionOptions*);

// ---- Graphs

// A graph, to which operations are added. Calls on one graph may come from several threads.
typedef struct TF_Graph TF_Graph;

// An empty graph; null if the program's registrations contradict each other.
TF_CAPI_EXPORT TF_Graph* TF_NewGraph(void);

// Gives up a graph.
TF_CAPI_EXPORT void TF_DeleteGraph(TF_Graph*);

// An operation that is being described.
typedef struct TF_OperationDescription TF_OperationDescription;

// A node of a graph. It lives as long as the graph.
typedef struct TF_Operation TF_Operation;

// An input of an operation: which operation, and which of its inputs.
typedef struct TF_Input {
  TF_Operation* oper;
  int index;
} TF_Input;

// An output of an operation: which operation, and which of its outputs.
typedef struct TF_Output {
  TF_Operation* oper;
  int index;
} TF_Output;

// A function.
typedef struct TF_Function TF_Function;

// How a function is made; there are no options.
typedef struct TF_FunctionOptions TF_FunctionOptions;

// ---- Shapes

// Adds what the caller knows of an output's shape: -1 for sizes, and for a rank, that are not
// known.
TF_CAPI_EXPORT void TF_GraphSetTensorShape(
    TF_Graph* graph, TF_Output output, const int64_t* dims, const int num_dims, TF_Status* status);

// The rank of an output; -1 if it is not known, and on failure.
TF_CAPI_EXPORT int TF_GraphGetTensorNumDims(TF_Graph* graph, TF_Output output, TF_Status* status);

// The sizes of an output, of which num_dims must be the rank: -1 for those that are not known.
TF_CAPI_EXPORT void TF_GraphGetTensorShape(
    TF_Graph* graph, TF_Output output, int64_t* dims, int num_dims, TF_Status* status);

// ---- Describing operations

// As TF_NewOperation; null for the same reasons.
TF_CAPI_EXPORT TF_OperationDescription* TF_NewOperationLocked(
    TF_Graph* graph, const char* op_type, const char* oper_name);

// Begins the description of an operation.
TF_CAPI_EXPORT TF_OperationDescription* TF_NewOperation(
    TF_Graph* graph, const char* op_type, const char* oper_name);

// Asks for a device.
TF_CAPI_EXPORT void TF_SetDevice(TF_OperationDescription* desc, const char* device);

// Gives the next argument, which is one tensor.
TF_CAPI_EXPORT void TF_AddInput(TF_OperationDescription* desc, TF_Output input);

// Gives the next argument, which is a list of tensors.
TF_CAPI_EXPORT void TF_AddInputList(
    TF_OperationDescription* desc, const TF_Output* inputs, int num_inputs);

// Makes the operation run after another one.
TF_CAPI_EXPORT void TF_AddControlInput(TF_OperationDescription* desc, TF_Operation* input);

// Asks for the device of another operation.
TF_CAPI_EXPORT void TF_ColocateWith(TF_OperationDescription* desc, TF_Operation* op);

// Sets an attr to a string of length bytes.
TF_CAPI_EXPORT void TF_SetAttrString(
    TF_OperationDescription* desc, const char* attr_name, const void* value, size_t length);

// Sets an attr to a list of strings.
TF_CAPI_EXPORT void TF_SetAttrStringList(
    TF_OperationDescription* desc, const char* attr_name, const void* const* values,
    const size_t* lengths, int num_values);

// Sets an attr to an integer.
TF_CAPI_EXPORT void TF_SetAttrInt(
    TF_OperationDescription* desc, const char* attr_name, int64_t value);

// Sets an attr to a list of integers.
TF_CAPI_EXPORT void TF_SetAttrIntList(
    TF_OperationDescription* desc, const char* attr_name, const int64_t* values, int num_values);

// Sets an attr to a float.
TF_CAPI_EXPORT void TF_SetAttrFloat(
    TF_OperationDescription* desc, const char* attr_name, float value);

// Sets an attr to a list of floats.
TF_CAPI_EXPORT void TF_SetAttrFloatList(
    TF_OperationDescription* desc, const char* attr_name, const float* values, int num_values);

// Sets an attr to a bool, which is false for 0.
TF_CAPI_EXPORT void TF_SetAttrBool(
    TF_OperationDescription* desc, const char* attr_name, unsigned char value);

// Sets an attr to a list of bools.
TF_CAPI_EXPORT void TF_SetAttrBoolList(
    TF_OperationDescription* desc, const char* attr_name, const unsigned char* values,
    int num_values);

// Sets an attr to a dtype.
TF_CAPI_EXPORT void TF_SetAttrType(
    TF_OperationDescription* desc, const char* attr_name, TF_DataType value);

// Sets an attr to a list of dtypes.
TF_CAPI_EXPORT void TF_SetAttrTypeList(
    TF_OperationDescription* desc, const char* attr_name, const TF_DataType* values,
    int num_values);

// Inside of a function: the attr's value is that of the function's attr placeholder.
TF_CAPI_EXPORT void TF_SetAttrPlaceholder(
    TF_OperationDescription* desc, const char* attr_name, const char* placeholder);

// Sets an attr to the function of this name, without attrs.
TF_CAPI_EXPORT void TF_SetAttrFuncName(
    TF_OperationDescription* desc, const char* attr_name, const char* value, size_t length);

// Sets an attr to a shape, of which -1 is not known.
TF_CAPI_EXPORT void TF_SetAttrShape(
    TF_OperationDescription* desc, const char* attr_name, const int64_t* dims, int num_dims);

// Sets an attr to a list of shapes.
TF_CAPI_EXPORT void TF_SetAttrShapeList(
    TF_OperationDescription* desc, const char* attr_name, const int64_t* const* dims,
    const int* num_dims, int num_shapes);

// Sets an attr to the shape of a serialized TensorShapeProto.
TF_CAPI_EXPORT void TF_SetAttrTensorShapeProto(
    TF_OperationDescription* desc, const char* attr_name, const void* proto, size_t proto_len,
    TF_Status* status);

// Sets an attr to the shapes of serialized TensorShapeProtos.
TF_CAPI_EXPORT void TF_SetAttrTensorShapeProtoList(
    TF_OperationDescription* desc, const char* attr_name, const void* const* protos,
    const size_t* proto_lens, int num_shapes, TF_Status* status);

// Sets an attr to a tensor, which is copied.
TF_CAPI_EXPORT void TF_SetAttrTensor(
    TF_OperationDescription* desc, const char* attr_name, TF_Tensor* value, TF_Status* status);

// Sets an attr to a list of tensors.
TF_CAPI_EXPORT void TF_SetAttrTensorList(
    TF_OperationDescription* desc, const char* attr_name, TF_Tensor* const* values, int num_values,
    TF_Status* status);

// Sets an attr to the value of a serialized AttrValue.
TF_CAPI_EXPORT void TF_SetAttrValueProto(
    TF_OperationDescription* desc, const char* attr_name, const void* proto, size_t proto_len,
    TF_Status* status);

// As TF_FinishOperation; the description is freed.
TF_CAPI_EXPORT TF_Operation* TF_FinishOperationLocked(
    TF_OperationDescription* desc, TF_Status* status);

// Adds the operation to its graph, and frees the description.
TF_CAPI_EXPORT TF_Operation* TF_FinishOperation(TF_OperationDescription* desc, TF_Status* status);

// ---- What operations are

// The operation's name.
TF_CAPI_EXPORT const char* TF_OperationName(TF_Operation* oper);

// The name of its op.
TF_CAPI_EXPORT const char* TF_OperationOpType(TF_Operation* oper);

// The device that it asks for; empty for any.
TF_CAPI_EXPORT const char* TF_OperationDevice(TF_Operation* oper);

// How many outputs it has.
TF_CAPI_EXPORT int TF_OperationNumOutputs(TF_Operation* oper);

// The dtype of an output; 0 if there is none.
TF_CAPI_EXPORT TF_DataType TF_OperationOutputType(TF_Output oper_out);

// How many outputs the argument arg_name stands for; -1 on failure.
TF_CAPI_EXPORT int TF_OperationOutputListLength(
    TF_Operation* oper, const char* arg_name, TF_Status* status);

// How many inputs it has.
TF_CAPI_EXPORT int TF_OperationNumInputs(TF_Operation* oper);

// The dtype of an input; 0 if there is none.
TF_CAPI_EXPORT TF_DataType TF_OperationInputType(TF_Input oper_in);

// How many inputs the argument arg_name stands for; -1 on failure.
TF_CAPI_EXPORT int TF_OperationInputListLength(
    TF_Operation* oper, const char* arg_name, TF_Status* status);

// Where an input comes from; null and -1 if there is none.
TF_CAPI_EXPORT TF_Output TF_OperationInput(TF_Input oper_in);

// Where the inputs come from, as many as there is room for.
TF_CAPI_EXPORT void TF_OperationAllInputs(TF_Operation* oper, TF_Output* inputs, int max_inputs);

// How many inputs take an output; 0 if there is no such output.
TF_CAPI_EXPORT int TF_OperationOutputNumConsumers(TF_Output oper_out);

// Which inputs take an output, as many as there is room for; returns how many do.
TF_CAPI_EXPORT int TF_OperationOutputConsumers(
    TF_Output oper_out, TF_Input* consumers, int max_consumers);

// How many operations it waits for.
TF_CAPI_EXPORT int TF_OperationNumControlInputs(TF_Operation* oper);

// The operations that it waits for, as many as there is room for; returns how many it waits for.
TF_CAPI_EXPORT int TF_OperationGetControlInputs(
    TF_Operation* oper, TF_Operation** control_inputs, int max_control_inputs);

// How many operations wait for it.
TF_CAPI_EXPORT int TF_OperationNumControlOutputs(TF_Operation* oper);

// The operations that wait for it, as many as there is room for; returns how many do.
TF_CAPI_EXPORT int TF_OperationGetControlOutputs(
    TF_Operation* oper, TF_Operation** control_outputs, int max_control_outputs);

// ---- Attrs of operations

// What an attr's value is.
typedef struct TF_AttrMetadata {
  // 1 for a list, 0 for another value.
  unsigned char is_list;
  // The number of elements of a list, -1 for another value.
  int64_t list_size;
  // The kind of the value, or of a list's elements.
  TF_AttrType type;
  // The bytes of a string or of a list's, the rank of a shape or the sum of a list's; else -1.
  int64_t total_size;
} TF_AttrMetadata;

// What kind of value an attr has, and how much room its parts need.
TF_CAPI_EXPORT TF_AttrMetadata TF_OperationGetAttrMetadata(
    TF_Operation* oper, const char* attr_name, TF_Status* status);

// Copies the bytes of an attr that is a string, as many as there is room for.
TF_CAPI_EXPORT void TF_OperationGetAttrString(
    TF_Operation* oper, const char* attr_name, void* value, size_t max_length, TF_Status* status);

// Copies the strings of an attr that is a list into storage, one after the other, and tells where
// each begins.
TF_CAPI_EXPORT void TF_OperationGetAttrStringList(
    TF_Operation* oper, const char* attr_name, void** values, size_t* lengths, int max_values,
    void* storage, size_t storage_size, TF_Status* status);

// An attr that is an integer.
TF_CAPI_EXPORT void TF_OperationGetAttrInt(
    TF_Operation* oper, const char* attr_name, int64_t* value, TF_Status* status);

// An attr that is a list of integers, of which as many are written as there is room for.
TF_CAPI_EXPORT void TF_OperationGetAttrIntList(
    TF_Operation* oper, const char* attr_name, int64_t* values, int max_values, TF_Status* status);

// An attr that is a float.
TF_CAPI_EXPORT void TF_OperationGetAttrFloat(
    TF_Operation* oper, const char* attr_name, float* value, TF_Status* status);

// An attr that is a list of floats, of which as many are written as there is room for.
TF_CAPI_EXPORT void TF_OperationGetAttrFloatList(
    TF_Operation* oper, const char* attr_name, float* values, int max_values, TF_Status* status);

// An attr that is a bool.
TF_CAPI_EXPORT void TF_OperationGetAttrBool(
    TF_Operation* oper, const char* attr_name, unsigned char* value, TF_Status* status);

// An attr that is a list of bools, of which as many are written as there is room for.
TF_CAPI_EXPORT void TF_OperationGetAttrBoolList(
    TF_Operation* oper, const char* attr_name, unsigned char* values, int max_values,
    TF_Status* status);

// An attr that is a dtype.
TF_CAPI_EXPORT void TF_OperationGetAttrType(
    TF_Operation* oper, const char* attr_name, TF_DataType* value, TF_Status* status);

// An attr that is a list of dtypes, of which as many are written as there is room for.
TF_CAPI_EXPORT void TF_OperationGetAttrTypeList(
    TF_Operation* oper, const char* attr_name, TF_DataType* values, int max_values,
    TF_Status* status);

// The sizes of an attr that is a shape, as many as there is room for: -1 for those that are not
// known.
TF_CAPI_EXPORT void TF_OperationGetAttrShape(
    TF_Operation* oper, const char* attr_name, int64_t* value, int num_dims, TF_Status* status);

// Copies the sizes of an attr that is a list of shapes into storage, one shape after the other, and
// tells where each begins and its rank, which is -1 if it is not known.
TF_CAPI_EXPORT void TF_OperationGetAttrShapeList(
    TF_Operation* oper, const char* attr_name, int64_t** dims, int* num_dims, int num_shapes,
    int64_t* storage, int storage_size, TF_Status* status);

// An attr that is a shape as a serialized TensorShapeProto.
TF_CAPI_EXPORT void TF_OperationGetAttrTensorShapeProto(
    TF_Operation* oper, const char* attr_name, TF_Buffer* value, TF_Status* status);

// An attr that is a list of shapes as serialized TensorShapeProtos, for the caller to delete.
TF_CAPI_EXPORT void TF_OperationGetAttrTensorShapeProtoList(
    TF_Operation* oper, const char* attr_name, TF_Buffer** values, int max_values,
    TF_Status* status);

// An attr that is a tensor, for the caller to delete.
TF_CAPI_EXPORT void TF_OperationGetAttrTensor(
    TF_Operation* oper, const char* attr_name, TF_Tensor** value, TF_Status* status);

// An attr that is a list of tensors, for the caller to delete.
TF_CAPI_EXPORT void TF_OperationGetAttrTensorList(
    TF_Operation* oper, const char* attr_name, TF_Tensor** values, int max_values,
    TF_Status* status);

// An attr as a serialized AttrValue.
TF_CAPI_EXPORT void TF_OperationGetAttrValueProto(
    TF_Operation* oper, const char* attr_name, TF_Buffer* output_attr_value, TF_Status* status);

// How many attrs it has, the op's defaults included.
TF_CAPI_EXPORT int TF_OperationGetNumAttrs(TF_Operation* oper);

// The length of the name of attr i, in bytes; -1 if there is no such attr.
TF_CAPI_EXPORT int TF_OperationGetAttrNameLength(TF_Operation* oper, int i);

// Copies the name of attr i, as many bytes as TF_OperationGetAttrNameLength says.
TF_CAPI_EXPORT void TF_OperationGetAttrName(
    TF_Operation* oper, int i, char* output, TF_Status* status);

// ---- Operations of a graph

// The operation of this name; null if there is none.
TF_CAPI_EXPORT TF_Operation* TF_GraphOperationByName(TF_Graph* graph, const char* oper_name);

// The operation after position *pos, which goes on; null after the last.
TF_CAPI_EXPORT TF_Operation* TF_GraphNextOperation(TF_Graph* graph, size_t* pos);

// The graph as a serialized GraphDef.
TF_CAPI_EXPORT void TF_GraphToGraphDef(
    TF_Graph* graph, TF_Buffer* output_graph_def, TF_Status* status);

// The declaration of an op, or the signature of a function of the graph, as a serialized OpDef.
TF_CAPI_EXPORT void TF_GraphGetOpDef(
    TF_Graph* graph, const char* op_name, TF_Buffer* output_op_def, TF_Status* status);

// The versions of the graph as a serialized VersionDef.
TF_CAPI_EXPORT void TF_GraphVersions(
    TF_Graph* graph, TF_Buffer* output_version_def, TF_Status* status);

// ---- Adding messages to graphs

// How a message is added to a graph.
typedef struct TF_ImportGraphDefOptions TF_ImportGraphDefOptions;

// Options that change nothing.
TF_CAPI_EXPORT TF_ImportGraphDefOptions* TF_NewImportGraphDefOptions(void);

// Frees options.
TF_CAPI_EXPORT void TF_DeleteImportGraphDefOptions(TF_ImportGraphDefOptions* opts);

// What the names of the nodes begin with, before a /.
TF_CAPI_EXPORT void TF_ImportGraphDefOptionsSetPrefix(
    TF_ImportGraphDefOptions* opts, const char* prefix);

// The device that nodes ask for which ask for none.
TF_CAPI_EXPORT void TF_ImportGraphDefOptionsSetDefaultDevice(
    TF_ImportGraphDefOptions* opts, const char* device);

// Whether a node whose name is taken gets a number; otherwise that is an error.
TF_CAPI_EXPORT void TF_ImportGraphDefOptionsSetUniquifyNames(
    TF_ImportGraphDefOptions* opts, unsigned char uniquify_names);

// Whether the prefix gets a number if a node's name begins with it.
TF_CAPI_EXPORT void TF_ImportGraphDefOptionsSetUniquifyPrefix(
    TF_ImportGraphDefOptions* opts, unsigned char uniquify_prefix);

// Takes an output of the graph in the place of one of the message.
TF_CAPI_EXPORT void TF_ImportGraphDefOptionsAddInputMapping(
    TF_ImportGraphDefOptions* opts, const char* src_name, int src_index, TF_Output dst);

// Waits for an operation of the graph in the place of one of the message.
TF_CAPI_EXPORT void TF_ImportGraphDefOptionsRemapControlDependency(
    TF_ImportGraphDefOptions* opts, const char* src_name, TF_Operation* dst);

// Lets all that is added wait for an operation of the graph.
TF_CAPI_EXPORT void TF_ImportGraphDefOptionsAddControlDependency(
    TF_ImportGraphDefOptions* opts, TF_Operation* oper);

// Asks for an output of the message, which may be one that is mapped.
TF_CAPI_EXPORT void TF_ImportGraphDefOptionsAddReturnOutput(
    TF_ImportGraphDefOptions* opts, const char* oper_name, int index);

// How many outputs were asked for.
TF_CAPI_EXPORT int TF_ImportGraphDefOptionsNumReturnOutputs(const TF_ImportGraphDefOptions* opts);

// Asks for an operation of the message.
TF_CAPI_EXPORT void TF_ImportGraphDefOptionsAddReturnOperation(
    TF_ImportGraphDefOptions* opts, const char* oper_name);

// How many operations were asked for.
TF_CAPI_EXPORT int TF_ImportGraphDefOptionsNumReturnOperations(
    const TF_ImportGraphDefOptions* opts);

// What became of a message that was added to a graph.
typedef struct TF_ImportGraphDefResults TF_ImportGraphDefResults;

// The outputs that the options asked for.
TF_CAPI_EXPORT void TF_ImportGraphDefResultsReturnOutputs(
    TF_ImportGraphDefResults* results, int* num_outputs, TF_Output** outputs);

// The operations that the options asked for.
TF_CAPI_EXPORT void TF_ImportGraphDefResultsReturnOperations(
    TF_ImportGraphDefResults* results, int* num_opers, TF_Operation*** opers);

// The mappings of inputs that were not used, and that the message has not.
TF_CAPI_EXPORT void TF_ImportGraphDefResultsMissingUnusedInputMappings(
    TF_ImportGraphDefResults* results, int* num_missing_unused_input_mappings,
    const char*** src_names, int** src_indexes);

// Frees results, and the arrays that they showed.
TF_CAPI_EXPORT void TF_DeleteImportGraphDefResults(TF_ImportGraphDefResults* results);

// As TF_GraphImportGraphDef; returns what the options ask for, for the caller to delete.
TF_CAPI_EXPORT TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResults(
    TF_Graph* graph, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions* options,
    TF_Status* status);

// UNIMPLEMENTED: the message would be an object of C++.
TF_CAPI_EXPORT TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResultsNoSerialization(
    TF_Graph* graph, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions* options,
    TF_Status* status);

// As TF_GraphImportGraphDef, and writes the outputs that the options ask for, of which there must
// be num_return_outputs.
TF_CAPI_EXPORT void TF_GraphImportGraphDefWithReturnOutputs(
    TF_Graph* graph, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions* options,
    TF_Output* return_outputs, int num_return_outputs, TF_Status* status);

// Adds the nodes of a serialized GraphDef to a graph.
TF_CAPI_EXPORT void TF_GraphImportGraphDef(
    TF_Graph* graph, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions* options,
    TF_Status* status);

// ---- Functions of a graph

// Adds a function to a graph, so that its operations can call it, and its gradient, which may be
// null.
TF_CAPI_EXPORT void TF_GraphCopyFunction(
    TF_Graph* g, const TF_Function* func, const TF_Function* grad, TF_Status* status);

// How many functions a graph has; 0 for null.
TF_CAPI_EXPORT int TF_GraphNumFunctions(TF_Graph* g);

// The functions of a graph, as many as there is room for, for the caller to delete; returns how
// many were written.
TF_CAPI_EXPORT int TF_GraphGetFunctions(
    TF_Graph* g, TF_Function** funcs, int max_func, TF_Status* status);

// The operation as a serialized NodeDef.
TF_CAPI_EXPORT void TF_OperationToNodeDef(
    TF_Operation* oper, TF_Buffer* output_node_def, TF_Status* status);

// ---- Loops

// A loop that is being described: the caller fills cond_output, body_outputs and name.
typedef struct TF_WhileParams {
  // The number of variables.
  const int ninputs;
  // Where the caller describes the condition: its inputs, and the output that it sets, a bool scalar.
  TF_Graph* const cond_graph;
  const TF_Output* const cond_inputs;
  TF_Output cond_output;
  // Where the caller describes an iteration: the variables before it, and those after it, which it sets.
  TF_Graph* const body_graph;
  const TF_Output* const body_inputs;
  TF_Output* const body_outputs;
  // What the names of the loop's nodes begin with; the caller sets it.
  const char* name;
} TF_WhileParams;

// Begins a loop over inputs: the caller adds its condition and its body to the graphs that are
// returned, and says which outputs they come to.
TF_CAPI_EXPORT TF_WhileParams TF_NewWhile(
    TF_Graph* g, TF_Output* inputs, int ninputs, TF_Status* status);

// Adds the loop to the graph, and writes what its variables come to; frees what TF_NewWhile gave in
// any case.
TF_CAPI_EXPORT void TF_FinishWhile(
    const TF_WhileParams* params, TF_Status* status, TF_Output* outputs);

// Gives up a loop, and frees what TF_NewWhile gave.
TF_CAPI_EXPORT void TF_AbortWhile(const TF_WhileParams* params);

// ---- Gradients

// As TF_AddGradientsWithPrefix, with a prefix that no node has.
TF_CAPI_EXPORT void TF_AddGradients(
    TF_Graph* g, TF_Output* y, int ny, TF_Output* x, int nx, TF_Output* dx, TF_Status* status,
    TF_Output* dy);

// Adds the gradients of the sum of the y with respect to each x, which are written to dy.
TF_CAPI_EXPORT void TF_AddGradientsWithPrefix(
    TF_Graph* g, const char* prefix, TF_Output* y, int ny, TF_Output* x, int nx, TF_Output* dx,
    TF_Status* status, TF_Output* dy);

// ---- Functions

// As TF_GraphToFunctionWithControlOutputs, without control outputs.
TF_CAPI_EXPORT TF_Function* TF_GraphToFunction(
    const TF_Graph* fn_body, const char* fn_name, unsigned char append_hash_to_fn_name,
    int num_opers, const TF_Operation* const* opers, int ninputs, const TF_Output* inputs,
    int noutputs, const TF_Output* outputs, const char* const* output_names,
    const TF_FunctionOptions* opts, const char* description, TF_Status* status);

// A function whose body is made of operations of a graph: all but those of the inputs if num_opers
// is -1.
TF_CAPI_EXPORT TF_Function* TF_GraphToFunctionWithControlOutputs(
    const TF_Graph* fn_body, const char* fn_name, unsigned char append_hash_to_fn_name,
    int num_opers, const TF_Operation* const* opers, int ninputs, const TF_Output* inputs,
    int noutputs, const TF_Output* outputs, const char* const* output_names, int ncontrol_outputs,
    const TF_Operation* const* control_outputs, const char* const* control_output_names,
    const TF_FunctionOptions* opts, const char* description, TF_Status* status);

// The function's name, which stays as long as it does; null for null.
TF_CAPI_EXPORT const char* TF_FunctionName(TF_Function* func);

// The function as a serialized FunctionDef.
TF_CAPI_EXPORT void TF_FunctionToFunctionDef(
    TF_Function* func, TF_Buffer* output_func_def, TF_Status* status);

// A function of a serialized FunctionDef, for the caller to delete; null on failure.
TF_CAPI_EXPORT TF_Function* TF_FunctionImportFunctionDef(
    const void* proto, size_t proto_len, TF_Status* status);

// Sets an attr of the function to the value of a serialized AttrValue.
TF_CAPI_EXPORT void TF_FunctionSetAttrValueProto(
    TF_Function* func, const char* attr_name, const void* proto, size_t proto_len,
    TF_Status* status);

// An attr of the function as a serialized AttrValue.
TF_CAPI_EXPORT void TF_FunctionGetAttrValueProto(
    TF_Function* func, const char* attr_name, TF_Buffer* output_attr_value, TF_Status* status);

// Frees a function.
TF_CAPI_EXPORT void TF_DeleteFunction(TF_Function* func);

// ---- Constants

// The value that an output has in every run, if there is one and it is found with little work: 1
// with a tensor for the caller to delete, or else 0.
TF_CAPI_EXPORT unsigned char TF_TryEvaluateConstant(
    TF_Graph* graph, TF_Output output, TF_Tensor** result, TF_Status* status);

// ---- Sessions

// What runs a graph. Calls on one session may come from several threads.
typedef struct TF_Session TF_Session;

// A session of a graph, which stays as long as its sessions.
TF_CAPI_EXPORT TF_Session* TF_NewSession(
    TF_Graph* graph, const TF_SessionOptions* opts, TF_Status* status);

// A session of the graph in a SavedModel's folder that has these tags, all of them: its variables
// are restored and its initialiser has run.
TF_CAPI_EXPORT TF_Session* TF_LoadSessionFromSavedModel(
    const TF_SessionOptions* session_options, const TF_Buffer* run_options, const char* export_dir,
    const char* const* tags, int tags_len, TF_Graph* graph, TF_Buffer* meta_graph_def,
    TF_Status* status);

// Ends what runs, and refuses what would.
TF_CAPI_EXPORT void TF_CloseSession(TF_Session*, TF_Status* status);

// Frees a session.
TF_CAPI_EXPORT void TF_DeleteSession(TF_Session*, TF_Status* status);

// Runs a graph: inputs take the place of the outputs that they name, outputs are computed and the
// caller's to delete, and the targets run besides.
TF_CAPI_EXPORT void TF_SessionRun(
    TF_Session* session, const TF_Buffer* run_options, const TF_Output* inputs,
    TF_Tensor* const* input_values, int ninputs, const TF_Output* outputs,
    TF_Tensor** output_values, int noutputs, const TF_Operation* const* target_opers, int ntargets,
    TF_Buffer* run_metadata, TF_Status*);

// Sets up a run whose feeds come, and fetches go, in several calls of TF_SessionPRun.
TF_CAPI_EXPORT void TF_SessionPRunSetup(
    TF_Session*, const TF_Output* inputs, int ninputs, const TF_Output* outputs, int noutputs,
    const TF_Operation* const* target_opers, int ntargets, const char** handle, TF_Status*);

// Goes on with a partial run: feeds some of what was set up, and fetches some.
TF_CAPI_EXPORT void TF_SessionPRun(
    TF_Session*, const char* handle, const TF_Output* inputs, TF_Tensor* const* input_values,
    int ninputs, const TF_Output* outputs, TF_Tensor** output_values, int noutputs,
    const TF_Operation* const* target_opers, int ntargets, TF_Status*);

// Frees a handle.
TF_CAPI_EXPORT void TF_DeletePRunHandle(const char* handle);

// ---- Sessions with a graph of their own

// A session whose graph belongs to it.
typedef struct TF_DeprecatedSession TF_DeprecatedSession;

// A session without nodes.
TF_CAPI_EXPORT TF_DeprecatedSession* TF_NewDeprecatedSession(
    const TF_SessionOptions*, TF_Status* status);

// As TF_CloseSession.
TF_CAPI_EXPORT void TF_CloseDeprecatedSession(TF_DeprecatedSession*, TF_Status* status);

// As TF_DeleteSession.
TF_CAPI_EXPORT void TF_DeleteDeprecatedSession(TF_DeprecatedSession*, TF_Status* status);

// Removes the resources in these containers, or in the default one if none are named, of all
// sessions, and closes these.
TF_CAPI_EXPORT void TF_Reset(
    const TF_SessionOptions* opt, const char** containers, int ncontainers, TF_Status* status);

// Adds the nodes of a serialized GraphDef, which may take what there is already.
TF_CAPI_EXPORT void TF_ExtendGraph(
    TF_DeprecatedSession*, const void* proto, size_t proto_len, TF_Status*);

// As TF_SessionRun, by names: node or node:1.
TF_CAPI_EXPORT void TF_Run(
    TF_DeprecatedSession*, const TF_Buffer* run_options, const char** input_names,
    TF_Tensor** inputs, int ninputs, const char** output_names, TF_Tensor** outputs, int noutputs,
    const char** target_oper_names, int ntargets, TF_Buffer* run_metadata, TF_Status*);

// As TF_SessionPRunSetup, by names.
TF_CAPI_EXPORT void TF_PRunSetup(
    TF_DeprecatedSession*, const char** input_names, int ninputs, const char** output_names,
    int noutputs, const char** target_oper_names, int ntargets, const char** handle, TF_Status*);

// As TF_SessionPRun, by names.
TF_CAPI_EXPORT void TF_PRun(
    TF_DeprecatedSession*, const char* handle, const char** input_names, TF_Tensor** inputs,
    int ninputs, const char** output_names, TF_Tensor** outputs, int noutputs,
    const char** target_oper_names, int ntargets, TF_Status*);

// ---- Devices

// Devices, as they were when they were asked for.
typedef struct TF_DeviceList TF_DeviceList;

// The devices of a session, also of one that is closed, for the caller to free.
TF_CAPI_EXPORT TF_DeviceList* TF_SessionListDevices(TF_Session* session, TF_Status* status);

// The same of a deprecated session.
TF_CAPI_EXPORT TF_DeviceList* TF_DeprecatedSessionListDevices(
    TF_DeprecatedSession* session, TF_Status* status);

// Frees a list, with the texts that it gave.
TF_CAPI_EXPORT void TF_DeleteDeviceList(TF_DeviceList* list);

// How many devices there are; -1 for null.
TF_CAPI_EXPORT int TF_DeviceListCount(const TF_DeviceList* list);

// A device's full name, which is there as long as the list; null if there is no such device.
TF_CAPI_EXPORT const char* TF_DeviceListName(
    const TF_DeviceList* list, int index, TF_Status* status);

// Its type, such as CPU; otherwise as TF_DeviceListName.
TF_CAPI_EXPORT const char* TF_DeviceListType(
    const TF_DeviceList* list, int index, TF_Status* status);

// The bytes of its memory, as TensorFlow counts them: every CPU has the same, and others have 0.
TF_CAPI_EXPORT int64_t TF_DeviceListMemoryBytes(
    const TF_DeviceList* list, int index, TF_Status* status);

// A number that it has in this process; 0 if there is no such device.
TF_CAPI_EXPORT uint64_t TF_DeviceListIncarnation(
    const TF_DeviceList* list, int index, TF_Status* status);

// ---- Libraries of ops, and what there is in the program

// A library of ops that was loaded.
typedef struct TF_Library TF_Library;

// Loads a library of ops into the program: one in C against kernels.h and ops.h, or one in Rust.
TF_CAPI_EXPORT TF_Library* TF_LoadLibrary(const char* library_filename, TF_Status* status);

// The ops of a library as a serialized OpList, which belongs to the library.
TF_CAPI_EXPORT TF_Buffer TF_GetOpList(TF_Library* lib_handle);

// Frees what TF_LoadLibrary returned; the library stays.
TF_CAPI_EXPORT void TF_DeleteLibraryHandle(TF_Library* lib_handle);

// All ops as a serialized OpList, for the caller to delete; null on failure.
TF_CAPI_EXPORT TF_Buffer* TF_GetAllOpList(void);

// Texts about ops. Kernlink has none.
typedef struct TF_ApiDefMap TF_ApiDefMap;

// UNIMPLEMENTED: there are no texts about ops.
TF_CAPI_EXPORT TF_ApiDefMap* TF_NewApiDefMap(TF_Buffer* op_list_buffer, TF_Status* status);

// UNIMPLEMENTED: nothing is there to be freed.
TF_CAPI_EXPORT void TF_DeleteApiDefMap(TF_ApiDefMap* apimap);

// UNIMPLEMENTED: there are no texts about ops.
TF_CAPI_EXPORT void TF_ApiDefMapPut(
    TF_ApiDefMap* api_def_map, const char* text, size_t text_len, TF_Status* status);

// UNIMPLEMENTED: there are no texts about ops.
TF_CAPI_EXPORT TF_Buffer* TF_ApiDefMapGet(
    TF_ApiDefMap* api_def_map, const char* name, size_t name_len, TF_Status* status);

// All kernels as a serialized KernelList, for the caller to delete; null on failure.
TF_CAPI_EXPORT TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status);

// The kernels of an op as a serialized KernelList, for the caller to delete; an op that is not
// there has none.
TF_CAPI_EXPORT TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status);

// ---- Changing edges of a graph

// UNIMPLEMENTED: inputs stay as they are.
TF_CAPI_EXPORT void TF_UpdateEdge(
    TF_Graph* graph, TF_Output new_src, TF_Input dst, TF_Status* status);

// ---- Servers

// A process of a cluster. Kernlink has none.
typedef struct TF_Server TF_Server;

// UNIMPLEMENTED: there are no clusters.
TF_CAPI_EXPORT TF_Server* TF_NewServer(const void* proto, size_t proto_len, TF_Status* status);

// UNIMPLEMENTED: there are no clusters.
TF_CAPI_EXPORT void TF_ServerStart(TF_Server* server, TF_Status* status);

// UNIMPLEMENTED: there are no clusters.
TF_CAPI_EXPORT void TF_ServerStop(TF_Server* server, TF_Status* status);

// UNIMPLEMENTED: there are no clusters.
TF_CAPI_EXPORT void TF_ServerJoin(TF_Server* server, TF_Status* status);

// UNIMPLEMENTED: returns null.
TF_CAPI_EXPORT const char* TF_ServerTarget(TF_Server* server);

// UNIMPLEMENTED: nothing is there to be freed.
TF_CAPI_EXPORT void TF_DeleteServer(TF_Server* server);

// ---- Other parts of the program

// UNIMPLEMENTED: calls nothing, since nothing is logged.
TF_CAPI_EXPORT void TF_RegisterLogListener(void (*listener)(const char*));

// UNIMPLEMENTED: file systems are no plugins.
TF_CAPI_EXPORT void TF_RegisterFilesystemPlugin(const char* plugin_filename, TF_Status* status);

// ---- Changing operations of a graph

// UNIMPLEMENTED: no operation waits for another that it has not waited for.
TF_CAPI_EXPORT void TF_AddOperationControlInput(
    TF_Graph* graph, TF_Operation* op, TF_Operation* input);

// UNIMPLEMENTED: attrs stay as they are.
TF_CAPI_EXPORT void TF_SetAttr(
    TF_Graph* graph, TF_Operation* op, const char* attr_name, TF_Buffer* attr_value_proto,
    TF_Status* status);

// UNIMPLEMENTED: attrs stay as they are.
TF_CAPI_EXPORT void TF_ClearAttr(
    TF_Graph* graph, TF_Operation* op, const char* attr_name, TF_Status* status);

// UNIMPLEMENTED: full types stay as they are.
TF_CAPI_EXPORT void TF_SetFullType(
    TF_Graph* graph, TF_Operation* op, const TF_Buffer* full_type_proto);

// UNIMPLEMENTED: the device that an operation asks for stays as it is.
TF_CAPI_EXPORT void TF_SetRequestedDevice(TF_Graph* graph, TF_Operation* op, const char* device);

// UNIMPLEMENTED: operations wait for what they have waited for.
TF_CAPI_EXPORT void TF_RemoveAllControlInputs(TF_Graph* graph, TF_Operation* op);

// UNIMPLEMENTED: ops without a shape function have outputs of unknown shape.
TF_CAPI_EXPORT void TF_SetRequireShapeInferenceFns(TF_Graph* graph, bool require);

// Has the session see what its graph has, as each run does.
TF_CAPI_EXPORT void TF_ExtendSession(TF_Session* session, TF_Status* status);

// UNIMPLEMENTED: returns null.
TF_CAPI_EXPORT TF_Buffer* TF_GetHandleShapeAndType(TF_Graph* graph, TF_Output output);

// UNIMPLEMENTED: what is behind a handle stays as it is known.
TF_CAPI_EXPORT void TF_SetHandleShapeAndType(
    TF_Graph* graph, TF_Output output, const void* proto, size_t proto_len, TF_Status* status);

// UNIMPLEMENTED: inputs stay as they are.
TF_CAPI_EXPORT void TF_AddWhileInputHack(
    TF_Graph* graph, TF_Output new_src, TF_Operation* dst, TF_Status* status);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // TENSORFLOW_C_C_API_H_
