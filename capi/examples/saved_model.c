/* Runs a SavedModel on a row of floats:
 *
 *   cc saved_model.c $(pkg-config --cflags --libs tensorflow) -o saved_model
 *   ./saved_model FOLDER INPUT OUTPUT VALUE...
 *
 * INPUT and OUTPUT are outputs of nodes, such as serving_default_x:0 and StatefulPartitionedCall:1: the signatures in the message
 * that TF_LoadSessionFromSavedModel writes have them, and `kernlink inspect` shows them. */

#include "common.h"

/* The output of a name such as `node:1`. */
static TF_Output output_of(TF_Graph* graph, char* name) {
  char* colon = strrchr(name, ':');
  if (colon != NULL) *colon = 0;
  TF_Output output = {TF_GraphOperationByName(graph, name), colon == NULL ? 0 : atoi(colon + 1)};
  if (output.oper == NULL) {
    fprintf(stderr, "the model has no node %s\n", name);
    exit(1);
  }
  return output;
}

int main(int count, char** arguments) {
  if (count < 5) {
    fprintf(stderr, "usage: saved_model FOLDER INPUT OUTPUT VALUE...\n");
    return 2;
  }
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Buffer* meta_graph = TF_NewBuffer();
  const char* tags[] = {"serve"};
  TF_Session* session =
      TF_LoadSessionFromSavedModel(options, NULL, arguments[1], tags, 1, graph, meta_graph, status);
  check(status, arguments[1]);
  TF_DeleteSessionOptions(options);
  TF_DeleteBuffer(meta_graph);

  const int64_t dims[] = {1, count - 4};
  float* values = malloc((size_t)dims[1] * sizeof(float));
  if (values == NULL) return 1;
  for (int i = 0; i < count - 4; ++i) values[i] = strtof(arguments[4 + i], NULL);
  TF_Tensor* fed = floats(dims, 2, values);
  free(values);

  TF_Output input = output_of(graph, arguments[2]), output = output_of(graph, arguments[3]);
  TF_Tensor* fetched;
  TF_SessionRun(session, NULL, &input, &fed, 1, &output, &fetched, 1, NULL, 0, NULL, status);
  check(status, "run");
  print("output", fetched);

  TF_DeleteTensor(fed);
  TF_CloseSession(session, status);
  check(status, "close");
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  return 0;
}
