// The layout of strings, and the functions of ctstring.h.
//
// The two lowest bits of the first byte say which of four layouts a string has; the other bits of the
// first word are its size. Heap memory is malloc's, has a zero after the text, and belongs to the string.

#ifndef TENSORFLOW_CORE_PLATFORM_CTSTRING_INTERNAL_H_
#define TENSORFLOW_CORE_PLATFORM_CTSTRING_INTERNAL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The layout of strings is known for little-endian machines alone."
#endif

// Which layout a string has.
typedef enum TF_TString_Type {
  TF_TSTR_SMALL = 0,
  TF_TSTR_LARGE = 1,
  TF_TSTR_OFFSET = 2,
  TF_TSTR_VIEW = 3,
  TF_TSTR_TYPE_MASK = 3
} TF_TString_Type;

struct TStringOwnerCApi;

typedef void (*tstring_owner_ref_t)(struct TStringOwnerCApi* self);
typedef bool (*tstring_owner_unref_t)(struct TStringOwnerCApi* self);

// What keeps the text of a view: one more holder, and one less.
typedef struct TStringOwnerCApi {
  tstring_owner_ref_t ref;
  tstring_owner_unref_t unref;
  void* obj;
} TStringOwnerCApi;

// A text on the heap, with room for `cap` bytes and a zero.
typedef struct TF_TString_Large {
  size_t size;
  size_t cap;
  char* ptr;
} TF_TString_Large;

// A text that begins `offset` bytes after the string.
typedef struct TF_TString_Offset {
  uint32_t size;
  uint32_t offset;
  uint32_t count;
} TF_TString_Offset;

// A text elsewhere, which its owner keeps, or nobody.
typedef struct TF_TString_View {
  size_t size;
  const char* ptr;
  TStringOwnerCApi* owner_ref;
} TF_TString_View;

typedef struct TF_TString_Raw {
  uint8_t raw[24];
} TF_TString_Raw;

enum { TF_TString_SmallCapacity = sizeof(TF_TString_Raw) - 2 };

// A text inside the string, with a zero after it.
typedef struct TF_TString_Small {
  uint8_t size;
  char str[TF_TString_SmallCapacity + 1];
} TF_TString_Small;

// A string.
typedef struct TF_TString {
  union {
    TF_TString_Small smll;
    TF_TString_Large large;
    TF_TString_Offset offset;
    TF_TString_View view;
    TF_TString_Raw raw;
  } u;
} TF_TString;

// Which layout it has.
static inline TF_TString_Type TF_TString_GetType(const TF_TString* str) {
  return (TF_TString_Type)(str->u.raw.raw[0] & TF_TSTR_TYPE_MASK);
}

// Makes an empty string, whatever was there.
static inline void TF_TString_Init(TF_TString* str) { memset(str, 0, sizeof(*str)); }

// The number of bytes of its text.
static inline size_t TF_TString_GetSize(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL:
      return str->u.smll.size >> 2;
    case TF_TSTR_OFFSET:
      return str->u.offset.size >> 2;
    default:
      return str->u.large.size >> 2;
  }
}

// How many bytes it can have without new memory; 0 for a text that it does not own.
static inline size_t TF_TString_GetCapacity(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL:
      return TF_TString_SmallCapacity;
    case TF_TSTR_LARGE:
      return str->u.large.cap;
    default:
      return 0;
  }
}

// Its text, after which need not be a zero.
static inline const char* TF_TString_GetDataPointer(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL:
      return str->u.smll.str;
    case TF_TSTR_LARGE:
      return str->u.large.ptr;
    case TF_TSTR_OFFSET:
      return (const char*)str + str->u.offset.offset;
    default:
      return str->u.view.ptr;
  }
}

// Frees what a string owns, and leaves the string alone.
static inline void TF_TString_Release(const TF_TString* str) {
  if (TF_TString_GetType(str) == TF_TSTR_LARGE) {
    free(str->u.large.ptr);
  } else if (TF_TString_GetType(str) == TF_TSTR_VIEW && str->u.view.owner_ref != NULL) {
    (void)str->u.view.owner_ref->unref(str->u.view.owner_ref);
  }
}

// Frees what it owns, and leaves an empty string.
static inline void TF_TString_Dealloc(TF_TString* str) {
  TF_TString_Release(str);
  TF_TString_Init(str);
}

// The capacity of the block of memory that a text of so many bytes gets.
static inline size_t TF_TString_RoundCapacity(size_t size) { return (size | 15); }

// Moves the text to the heap, with a capacity, and gives it a size; bytes beyond its end are arbitrary.
static inline char* TF_TString_MakeLarge(TF_TString* str, size_t size, size_t cap) {
  const size_t old_size = TF_TString_GetSize(str);
  char* ptr;
  if (TF_TString_GetType(str) == TF_TSTR_LARGE) {
    ptr = cap == str->u.large.cap ? str->u.large.ptr : (char*)realloc(str->u.large.ptr, cap + 1);
  } else {
    ptr = (char*)malloc(cap + 1);
  }
  if (ptr == NULL) abort();
  if (TF_TString_GetType(str) != TF_TSTR_LARGE) {
    const size_t kept = old_size < size ? old_size : size;
    if (kept > 0) memcpy(ptr, TF_TString_GetDataPointer(str), kept);
    TF_TString_Release(str);
  }
  ptr[size] = '\0';
  str->u.large.size = (size << 2) | TF_TSTR_LARGE;
  str->u.large.cap = cap;
  str->u.large.ptr = ptr;
  return ptr;
}

// Gives it another size, and makes it own its text; bytes that are new are arbitrary.
static inline char* TF_TString_ResizeUninitialized(TF_TString* str, size_t new_size) {
  const size_t size = TF_TString_GetSize(str);
  const size_t cap = TF_TString_GetCapacity(str);
  if (new_size > TF_TString_SmallCapacity) {
    size_t new_cap = cap;
    if (new_size > cap) {
      new_cap = TF_TString_RoundCapacity(new_size);
    } else if (new_size < size && new_size < cap / 2) {
      new_cap = TF_TString_RoundCapacity(cap / 2);
    }
    return TF_TString_MakeLarge(str, new_size, new_cap);
  }
  if (TF_TString_GetType(str) != TF_TSTR_SMALL) {
    const TF_TString old = *str;
    const size_t kept = size < new_size ? size : new_size;
    const char* text = TF_TString_GetDataPointer(str);
    if (kept > 0) memmove(str->u.smll.str, text, kept);
    TF_TString_Release(&old);
  }
  str->u.smll.size = (uint8_t)(new_size << 2);
  str->u.smll.str[new_size] = '\0';
  return str->u.smll.str;
}

// The same; bytes that are new are `c`.
static inline char* TF_TString_Resize(TF_TString* str, size_t new_size, char c) {
  const size_t size = TF_TString_GetSize(str);
  char* text = TF_TString_ResizeUninitialized(str, new_size);
  if (new_size > size) memset(text + size, c, new_size - size);
  return text;
}

// Its text, to be written; one that it does not own is copied first.
static inline char* TF_TString_GetMutableDataPointer(TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL:
      return str->u.smll.str;
    case TF_TSTR_LARGE:
      return str->u.large.ptr;
    default:
      return TF_TString_ResizeUninitialized(str, TF_TString_GetSize(str));
  }
}

// Makes room for so many bytes; the text stays.
static inline void TF_TString_Reserve(TF_TString* str, size_t new_cap) {
  const size_t size = TF_TString_GetSize(str);
  if (new_cap <= TF_TString_SmallCapacity) return;
  if (TF_TString_GetType(str) == TF_TSTR_LARGE && new_cap <= str->u.large.cap) return;
  TF_TString_MakeLarge(str, size, TF_TString_RoundCapacity(new_cap > size ? new_cap : size));
}

// The same, and at least twice what there was, so that many appends take few allocations.
static inline void TF_TString_ReserveAmortized(TF_TString* str, size_t new_cap) {
  const size_t cap = TF_TString_GetCapacity(str);
  if (new_cap > cap) TF_TString_Reserve(str, new_cap > 2 * cap ? new_cap : 2 * cap);
}

// Makes it a view of a text, which an owner keeps that counts one more holder; null is no owner.
static inline void TF_TString_AssignViewWithOwner(
    TF_TString* dst, const char* src, size_t size, TStringOwnerCApi* owner_ref) {
  if (owner_ref != NULL) owner_ref->ref(owner_ref);
  TF_TString_Dealloc(dst);
  dst->u.view.size = (size << 2) | TF_TSTR_VIEW;
  dst->u.view.ptr = src;
  dst->u.view.owner_ref = owner_ref;
}

// Makes it a view of a text that the caller keeps as long.
static inline void TF_TString_AssignView(TF_TString* dst, const char* src, size_t size) {
  TF_TString_AssignViewWithOwner(dst, src, size, NULL);
}

// Adds bytes, which are no part of it, at its end.
static inline void TF_TString_AppendN(TF_TString* dst, const char* src, size_t size) {
  const size_t old_size = TF_TString_GetSize(dst);
  if (size == 0) return;
  TF_TString_ReserveAmortized(dst, old_size + size);
  memcpy(TF_TString_ResizeUninitialized(dst, old_size + size) + old_size, src, size);
}

// Adds another string at its end.
static inline void TF_TString_Append(TF_TString* dst, const TF_TString* src) {
  TF_TString_AppendN(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src));
}

// Makes it a copy of bytes, which are no part of it.
static inline void TF_TString_Copy(TF_TString* dst, const char* src, size_t size) {
  char* text = TF_TString_ResizeUninitialized(dst, size);
  if (size > 0) memcpy(text, src, size);
}

// Makes it a copy of another; views stay views.
static inline void TF_TString_Assign(TF_TString* dst, const TF_TString* src) {
  const char* text = TF_TString_GetDataPointer(src);
  const size_t size = TF_TString_GetSize(src);
  if (dst == src) return;
  switch (TF_TString_GetType(src)) {
    case TF_TSTR_SMALL:
      TF_TString_Dealloc(dst);
      *dst = *src;
      return;
    case TF_TSTR_LARGE:
      TF_TString_Dealloc(dst);
      TF_TString_Copy(dst, text, size);
      return;
    case TF_TSTR_OFFSET:
      TF_TString_AssignView(dst, text, size);
      return;
    default:
      TF_TString_AssignViewWithOwner(dst, text, size, src->u.view.owner_ref);
  }
}

// Moves another into it; of a text that another owns, that one is empty afterwards.
static inline void TF_TString_Move(TF_TString* dst, TF_TString* src) {
  if (dst == src) return;
  if (TF_TString_GetType(src) == TF_TSTR_OFFSET) {
    TF_TString_AssignView(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src));
    return;
  }
  TF_TString_Dealloc(dst);
  *dst = *src;
  if (TF_TString_GetType(src) != TF_TSTR_SMALL) TF_TString_Init(src);
}

#endif // TENSORFLOW_CORE_PLATFORM_CTSTRING_INTERNAL_H_
