/* Eight threads on one session, of which each checks its own results, while another lets the graph grow. For so many seconds:
 *
 *   ./threads SECONDS */

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "../../examples/common.h"

enum { THREADS = 8 };

static TF_Graph* graph;
static TF_Session* session;
static TF_Output x, y;
static atomic_bool is_over;
static atomic_long runs, wrong;

static TF_Output finished(TF_OperationDescription* description) {
  TF_Status* status = TF_NewStatus();
  TF_Output output = {TF_FinishOperation(description, status), 0};
  check(status, "operation");
  TF_DeleteStatus(status);
  return output;
}

/* Each thread feeds its own number, in a tensor that it deletes at once, and asks for twice as much. */
static void* run(void* argument) {
  const float number = (float)(long)argument;
  TF_Status* status = TF_NewStatus();
  while (!atomic_load(&is_over)) {
    TF_Tensor* fed = floats((const int64_t[]){1}, 1, &number);
    TF_Tensor* fetched = NULL;
    TF_SessionRun(session, NULL, &x, &fed, 1, &y, &fetched, 1, NULL, 0, NULL, status);
    TF_DeleteTensor(fed);
    if (TF_GetCode(status) != TF_OK || *(const float*)TF_TensorData(fetched) != 2 * number) atomic_fetch_add(&wrong, 1);
    TF_DeleteTensor(fetched);
    atomic_fetch_add(&runs, 1);
  }
  TF_DeleteStatus(status);
  return NULL;
}

int main(int count, char** arguments) {
  const time_t end = time(NULL) + (count > 1 ? atoi(arguments[1]) : 2);
  TF_Status* status = TF_NewStatus();
  graph = TF_NewGraph();
  TF_OperationDescription* description = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(description, "dtype", TF_FLOAT);
  x = finished(description);
  description = TF_NewOperation(graph, "AddV2", "y");
  TF_AddInput(description, x);
  TF_AddInput(description, x);
  y = finished(description);
  TF_SessionOptions* options = TF_NewSessionOptions();
  session = TF_NewSession(graph, options, status);
  check(status, "session");
  TF_DeleteSessionOptions(options);

  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, run, (void*)(i + 1));
  long nodes = 0;
  while (time(NULL) < end) {
    char name[32];
    snprintf(name, sizeof(name), "more_%ld", nodes++);
    description = TF_NewOperation(graph, "Neg", name);
    TF_AddInput(description, y);
    TF_Output more = finished(description);
    TF_Tensor* fed = floats((const int64_t[]){1}, 1, (const float[]){4});
    TF_Tensor* fetched = NULL;
    TF_SessionRun(session, NULL, &x, &fed, 1, &more, &fetched, 1, NULL, 0, NULL, status);
    check(status, name);
    if (*(const float*)TF_TensorData(fetched) != -8) atomic_fetch_add(&wrong, 1);
    TF_DeleteTensor(fed);
    TF_DeleteTensor(fetched);
    nanosleep(&(const struct timespec){0, 20 * 1000 * 1000}, NULL);
  }
  atomic_store(&is_over, 1);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  printf("%ld runs, %ld operations added, %ld wrong\n", atomic_load(&runs), nodes, atomic_load(&wrong));
  return atomic_load(&wrong) == 0 && atomic_load(&runs) > 0 ? 0 : 1;
}
