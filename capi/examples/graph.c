/* A graph, made node by node, with a gradient, and run: y = (a * x + 1)^2 of two values of x, and dy/dx.
 *
 *   cc graph.c $(pkg-config --cflags --libs tensorflow) -o graph && ./graph */

#include "common.h"

/* The first output of a new operation with these inputs. */
static TF_Output operation(TF_Graph* graph, const char* type, const char* name, const TF_Output* inputs, int count) {
  TF_Status* status = TF_NewStatus();
  TF_OperationDescription* description = TF_NewOperation(graph, type, name);
  for (int i = 0; i < count; ++i) TF_AddInput(description, inputs[i]);
  TF_Output output = {TF_FinishOperation(description, status), 0};
  check(status, name);
  TF_DeleteStatus(status);
  return output;
}

static TF_Output constant(TF_Graph* graph, const char* name, float value) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor* tensor = floats(NULL, 0, &value);
  TF_OperationDescription* description = TF_NewOperation(graph, "Const", name);
  TF_SetAttrType(description, "dtype", TF_FLOAT);
  TF_SetAttrTensor(description, "value", tensor, status);
  check(status, name);
  TF_Output output = {TF_FinishOperation(description, status), 0};
  check(status, name);
  TF_DeleteTensor(tensor);
  TF_DeleteStatus(status);
  return output;
}

int main(void) {
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();

  TF_OperationDescription* description = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(description, "dtype", TF_FLOAT);
  const int64_t shape[] = {-1};
  TF_SetAttrShape(description, "shape", shape, 1);
  TF_Output x = {TF_FinishOperation(description, status), 0};
  check(status, "x");

  TF_Output scaled = operation(graph, "Mul", "scaled", (TF_Output[]){constant(graph, "a", 3), x}, 2);
  TF_Output sum = operation(graph, "AddV2", "sum", (TF_Output[]){scaled, constant(graph, "one", 1)}, 2);
  TF_Output fetches[2] = {operation(graph, "Square", "y", &sum, 1)};
  TF_AddGradients(graph, &fetches[0], 1, &x, 1, NULL, status, &fetches[1]);
  check(status, "gradients");

  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  check(status, "session");
  TF_DeleteSessionOptions(options);

  const int64_t dims[] = {2};
  TF_Tensor* fed = floats(dims, 1, (const float[]){1, -2});
  TF_Tensor* fetched[2];
  TF_SessionRun(session, NULL, &x, &fed, 1, fetches, fetched, 2, NULL, 0, NULL, status);
  check(status, "run");
  print("y", fetched[0]);
  print("dy/dx", fetched[1]);

  TF_DeleteTensor(fed);
  TF_CloseSession(session, status);
  check(status, "close");
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  return 0;
}
