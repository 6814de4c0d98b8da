/* What a library of ops needs that is itself none. */

#include <stddef.h>

float helper_table[8] __attribute__((aligned(64))) = {1, 2, 3, 4, 5, 6, 7, 8};

void helper_free(void* data, size_t length, void* argument) {
  (void)data;
  (void)length;
  (void)argument;
}
