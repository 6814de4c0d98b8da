/* Ops that run at once: the product of two matrices, and the join of two strings.
 *
 *   cc eager.c $(pkg-config --cflags --libs tensorflow) -o eager && ./eager */

#include "common.h"
#include "tensorflow/c/eager/c_api.h"

/* A handle of a tensor, which is deleted. */
static TFE_TensorHandle* handle_of(TF_Tensor* tensor) {
  TF_Status* status = TF_NewStatus();
  TFE_TensorHandle* handle = TFE_NewTensorHandle(tensor, status);
  check(status, "handle");
  TF_DeleteTensor(tensor);
  TF_DeleteStatus(status);
  return handle;
}

/* A scalar of a string. */
static TF_Tensor* string(const char* text) {
  TF_Tensor* tensor = TF_AllocateTensor(TF_STRING, NULL, 0, sizeof(TF_TString));
  TF_StringCopy(TF_TensorData(tensor), text, strlen(text));
  return tensor;
}

/* Runs an op with one output on handles, which are deleted. */
static TF_Tensor* run(TFE_Context* context, const char* name, TFE_TensorHandle** inputs, int count, int is_list) {
  TF_Status* status = TF_NewStatus();
  TFE_Op* op = TFE_NewOp(context, name, status);
  check(status, name);
  if (is_list) {
    TFE_OpAddInputList(op, inputs, count, status);
    check(status, name);
  }
  for (int i = 0; i < count; ++i) {
    if (!is_list) TFE_OpAddInput(op, inputs[i], status);
    check(status, name);
    TFE_DeleteTensorHandle(inputs[i]);
  }
  TFE_TensorHandle* output;
  int outputs = 1;
  TFE_Execute(op, &output, &outputs, status);
  check(status, name);
  TF_Tensor* tensor = TFE_TensorHandleResolve(output, status);
  check(status, name);
  TFE_DeleteTensorHandle(output);
  TFE_DeleteOp(op);
  TF_DeleteStatus(status);
  return tensor;
}

int main(void) {
  TF_Status* status = TF_NewStatus();
  TFE_ContextOptions* options = TFE_NewContextOptions();
  TFE_Context* context = TFE_NewContext(options, status);
  check(status, "context");
  TFE_DeleteContextOptions(options);

  const int64_t dims[] = {2, 2};
  TFE_TensorHandle* matrices[] = {
      handle_of(floats(dims, 2, (const float[]){1, 2, 3, 4})),
      handle_of(floats(dims, 2, (const float[]){0, 1, 1, 0})),
  };
  print("product", run(context, "MatMul", matrices, 2, 0));

  TFE_TensorHandle* texts[] = {handle_of(string("one string and ")), handle_of(string("another string"))};
  TF_Tensor* joined = run(context, "StringJoin", texts, 2, 1);
  const TF_TString* text = TF_TensorData(joined);
  printf("joined: %.*s\n", (int)TF_StringGetSize(text), TF_StringGetDataPointer(text));
  TF_DeleteTensor(joined);

  TFE_DeleteContext(context);
  TF_DeleteStatus(status);
  return 0;
}
