/* A variable that ops take by reference, as in TensorFlow 1: it is assigned to, read and added to in several runs, while the graph
 * grows and in two sessions, each of which has its own. All of it goes with the sessions and the graph. */

#include <assert.h>

#include "../../examples/common.h"

static TF_Graph* graph;
static TF_Status* status;

static TF_Output finished(TF_OperationDescription* description) {
  TF_Output output = {TF_FinishOperation(description, status), 0};
  check(status, "operation");
  return output;
}

static TF_Output constant(const char* name, float value) {
  TF_Tensor* tensor = floats(NULL, 0, &value);
  TF_OperationDescription* description = TF_NewOperation(graph, "Const", name);
  TF_SetAttrType(description, "dtype", TF_FLOAT);
  TF_SetAttrTensor(description, "value", tensor, status);
  check(status, name);
  TF_DeleteTensor(tensor);
  return finished(description);
}

static TF_Output node(const char* op, const char* name, TF_Output first, const TF_Output* second) {
  TF_OperationDescription* description = TF_NewOperation(graph, op, name);
  TF_AddInput(description, first);
  if (second != NULL) TF_AddInput(description, *second);
  return finished(description);
}

/* Runs a target, unless it is null, and then fetches an output. */
static float fetch(TF_Session* session, TF_Operation* target, TF_Output output) {
  const TF_Operation* const targets[] = {target};
  if (target != NULL) TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, targets, 1, NULL, status);
  check(status, "run");
  TF_Tensor* fetched = NULL;
  TF_SessionRun(session, NULL, NULL, NULL, 0, &output, &fetched, 1, NULL, 0, NULL, status);
  check(status, "fetch");
  const float value = *(const float*)TF_TensorData(fetched);
  TF_DeleteTensor(fetched);
  return value;
}

int main(void) {
  graph = TF_NewGraph();
  status = TF_NewStatus();
  TF_OperationDescription* description = TF_NewOperation(graph, "VariableV2", "variable");
  TF_SetAttrType(description, "dtype", TF_FLOAT);
  TF_SetAttrShape(description, "shape", NULL, 0);
  const TF_Output variable = finished(description);
  assert(TF_OperationOutputType(variable) == (TF_DataType)(TF_FLOAT + 100));
  const TF_Output two = constant("two", 2);
  const TF_Output assign = node("Assign", "assign", variable, &two);
  const TF_Output add = node("AssignAdd", "add", variable, &two);
  const TF_Output read = node("Identity", "read", variable, NULL);

  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  check(status, "session");
  TF_Session* another = TF_NewSession(graph, options, status);
  check(status, "another session");
  TF_DeleteSessionOptions(options);

  /* Read before it has a value. */
  TF_Tensor* nothing = NULL;
  TF_SessionRun(session, NULL, NULL, NULL, 0, &read, &nothing, 1, NULL, 0, NULL, status);
  assert(TF_GetCode(status) == TF_FAILED_PRECONDITION && nothing == NULL);
  TF_SetStatus(status, TF_OK, "");

  assert(fetch(session, assign.oper, read) == 2);
  assert(fetch(session, add.oper, variable) == 4);
  assert(fetch(session, NULL, add) == 6);
  const TF_Output negative = node("Neg", "negative", read, NULL);
  assert(fetch(session, NULL, negative) == -6);
  assert(fetch(another, assign.oper, negative) == -2);
  assert(fetch(session, NULL, read) == 6);

  TF_CloseSession(session, status);
  check(status, "close");
  TF_DeleteSession(session, status);
  check(status, "delete");
  TF_DeleteGraph(graph);
  TF_DeleteSession(another, status);
  check(status, "delete");
  TF_DeleteStatus(status);
  printf("references ok\n");
  return 0;
}
