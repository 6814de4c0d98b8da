/* Nanoseconds that small calls take: an op that runs at once, and a run of a session. Best means of rounds of 20,000.
 *
 *   cc -O2 speed.c $(pkg-config --cflags --libs tensorflow) -o speed && ./speed
 *
 * Linked to TensorFlow's library it tells what these cost there. */

#include <time.h>

#include "../../examples/common.h"
#include "tensorflow/c/eager/c_api.h"

enum { ROUNDS = 10, CALLS = 20000 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static TF_Tensor* pair(void) {
  const int64_t dims[] = {2};
  const float values[] = {1, 2};
  return floats(dims, 1, values);
}

/* AddV2 of two handles: all that a call takes, and TFE_Execute alone. */
static void time_eager(TF_Status* status) {
  TFE_ContextOptions* options = TFE_NewContextOptions();
  TFE_Context* context = TFE_NewContext(options, status);
  check(status, "TFE_NewContext");
  TFE_DeleteContextOptions(options);
  TF_Tensor* tensor = pair();
  TFE_TensorHandle* handle = TFE_NewTensorHandle(tensor, status);
  check(status, "TFE_NewTensorHandle");
  TF_DeleteTensor(tensor);
  double whole = 1e18, execute = 1e18;
  for (int round = 0; round < ROUNDS; ++round) {
    double begin = now(), executing = 0;
    for (int call = 0; call < CALLS; ++call) {
      TFE_Op* op = TFE_NewOp(context, "AddV2", status);
      TFE_OpAddInput(op, handle, status);
      TFE_OpAddInput(op, handle, status);
      TFE_TensorHandle* sum;
      int count = 1;
      double before = now();
      TFE_Execute(op, &sum, &count, status);
      executing += now() - before;
      check(status, "TFE_Execute");
      TFE_DeleteTensorHandle(sum);
      TFE_DeleteOp(op);
    }
    double mean = (now() - begin) / CALLS;
    if (mean < whole) whole = mean;
    if (executing / CALLS < execute) execute = executing / CALLS;
  }
  printf("AddV2 at once: %.0f ns, of which TFE_Execute %.0f ns\n", whole, execute);
  TFE_DeleteTensorHandle(handle);
  TFE_DeleteContext(context);
}

/* A graph of a placeholder and its negative. */
static void time_session(TF_Status* status) {
  TF_Graph* graph = TF_NewGraph();
  TF_OperationDescription* described = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(described, "dtype", TF_FLOAT);
  TF_Output x = {TF_FinishOperation(described, status), 0};
  check(status, "x");
  described = TF_NewOperation(graph, "Neg", "y");
  TF_AddInput(described, x);
  TF_Output y = {TF_FinishOperation(described, status), 0};
  check(status, "y");
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  check(status, "TF_NewSession");
  TF_DeleteSessionOptions(options);
  TF_Tensor* fed = pair();
  double best = 1e18;
  for (int round = 0; round < ROUNDS; ++round) {
    double begin = now();
    for (int call = 0; call < CALLS; ++call) {
      TF_Tensor* fetched = NULL;
      TF_SessionRun(session, NULL, &x, &fed, 1, &y, &fetched, 1, NULL, 0, NULL, status);
      check(status, "TF_SessionRun");
      TF_DeleteTensor(fetched);
    }
    double mean = (now() - begin) / CALLS;
    if (mean < best) best = mean;
  }
  printf("a run of a session: %.0f ns\n", best);
  TF_DeleteTensor(fed);
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
}

int main(void) {
  TF_Status* status = TF_NewStatus();
  time_eager(status);
  time_session(status);
  TF_DeleteStatus(status);
  return 0;
}
