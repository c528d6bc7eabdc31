/* What a C function registered with kc.runtime.custom_calls.register_c(abi="kc") gets. Plain C, no other header. */
#ifndef KC_CUSTOM_CALL_H
#define KC_CUSTOM_CALL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kc_buffer {
  void *data;          /* first element; device memory for a GPU function */
  int32_t type_code;   /* DLPack: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool, 7 … the 8-bit floats */
  int32_t type_bits;   /* of an element; a complex one has those of both parts; below 8 an element takes a byte */
  int64_t rank;
  const int64_t *dims; /* logical sizes */
  const int64_t *minor_to_major; /* order of the dimensions in memory, the fastest first */
} kc_buffer;

typedef struct kc_call {
  int32_t version; /* 1 */
  int32_t operand_count, result_count;
  const kc_buffer *operands; /* not to be written, unless a result is aliased to it */
  const kc_buffer *results;  /* to be filled */
  const char *attributes;    /* the call's backend_config: a string, or a JSON object for a dictionary; ends with 0 */
  int64_t attributes_size;
  void *stream;              /* CUstream of a GPU call, else null */
  char *message;             /* room for the text of an error, ended with 0 */
  int64_t message_size;
} kc_call;

/* Returns 0, or anything else for an error, which becomes a kc.runtime.ExecutionError with the message. */
typedef int32_t kc_custom_function(const kc_call *call);

#ifdef __cplusplus
}
#endif
#endif
