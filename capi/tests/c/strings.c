/* Strings by the inline functions and by the library's, on one tensor: both read and free what the other wrote. */

#include <assert.h>

#include "../../examples/common.h"

static int holders = 0;
static void ref(TStringOwnerCApi* self) { (void)self, ++holders; }
static bool unref(TStringOwnerCApi* self) { return (void)self, --holders == 0; }

static void expect(const TF_TString* string, const char* text) {
  assert(TF_StringGetSize(string) == strlen(text));
  assert(TF_TString_GetSize(string) == strlen(text));
  assert(TF_StringGetType(string) == TF_TString_GetType(string));
  assert(TF_StringGetCapacity(string) == TF_TString_GetCapacity(string));
  assert(memcmp(TF_StringGetDataPointer(string), text, strlen(text)) == 0);
  assert(memcmp(TF_TString_GetDataPointer(string), text, strlen(text)) == 0);
}

int main(void) {
  const char* small = "short";
  const char* large = "more than twenty-two bytes";
  const int64_t dims[] = {4};
  TF_Tensor* tensor = TF_AllocateTensor(TF_STRING, dims, 1, 4 * sizeof(TF_TString));
  TF_TString* strings = TF_TensorData(tensor);
  expect(&strings[0], "");
  TF_StringCopy(&strings[0], large, strlen(large));
  TF_TString_Copy(&strings[1], large, strlen(large));
  TF_StringCopy(&strings[2], small, strlen(small));
  expect(&strings[0], large);
  expect(&strings[1], large);
  expect(&strings[2], small);
  /* What was large is freed by the assignment. */
  TF_TString_Assign(&strings[0], &strings[2]);
  expect(&strings[0], small);
  TF_TString_Assign(&strings[2], &strings[1]);
  expect(&strings[2], large);
  TF_TString_AppendN(&strings[2], small, strlen(small));
  expect(&strings[2], "more than twenty-two bytesshort");
  TStringOwnerCApi owner = {ref, unref, NULL};
  TF_TString_AssignViewWithOwner(&strings[3], large, strlen(large), &owner);
  expect(&strings[3], large);
  assert(holders == 1);
  TF_StringDealloc(&strings[3]);
  assert(holders == 0);
  expect(&strings[3], "");
  TF_TString_Dealloc(&strings[0]);
  TF_StringDealloc(&strings[1]);
  /* The tensor frees the third. */
  TF_DeleteTensor(tensor);
  printf("strings ok\n");
  return 0;
}
