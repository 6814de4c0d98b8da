// What the other headers are written with.

#ifndef TENSORFLOW_C_C_API_MACROS_H_
#define TENSORFLOW_C_C_API_MACROS_H_

// How functions of the library are declared. With TF_CAPI_WEAK a program may be linked without the library.
#ifdef TF_CAPI_WEAK
#define TF_CAPI_EXPORT __attribute__((visibility("default"), weak))
#else
#define TF_CAPI_EXPORT __attribute__((visibility("default")))
#endif

// A bool of one byte, in C and in C++.
#ifndef TF_Bool
#define TF_Bool unsigned char
#endif

// The size of a struct up to a member and with it; <stddef.h> is needed.
#ifndef TF_OFFSET_OF_END
#define TF_OFFSET_OF_END(TYPE, MEMBER) (offsetof(TYPE, MEMBER) + sizeof(((TYPE*)0)->MEMBER))
#endif

#endif // TENSORFLOW_C_C_API_MACROS_H_
