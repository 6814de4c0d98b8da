// What is known of a file.

#ifndef TENSORFLOW_C_TF_FILE_STATISTICS_H_
#define TENSORFLOW_C_TF_FILE_STATISTICS_H_

#include <stdbool.h>
#include <stdint.h>

// A file's length in bytes, the time of its last change in nanoseconds since 1970, and whether it is
// a folder.
typedef struct TF_FileStatistics {
  int64_t length;
  int64_t mtime_nsec;
  bool is_directory;
} TF_FileStatistics;

#endif // TENSORFLOW_C_TF_FILE_STATISTICS_H_
