/* A CUDA driver in host memory, for tests: it logs every call that matters, runs two kernels, and fails when told to.
 * test_runtime_cuda.py compiles it and points KC_LIBCUDA at it. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char log_text[1 << 16];
static size_t log_size;
static char fail_name[64];
static int fail_code;
static int live; /* allocations */
static __thread void *current;
static volatile int lock;
static int contexts[2];
static unsigned attribute_limit = 49152;

static int call(const char *name, const char *pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  while (__sync_lock_test_and_set(&lock, 1))
    ;
  if (log_size < sizeof log_text - 300) {
    log_size += sprintf(log_text + log_size, "%s ", name);
    log_size += vsprintf(log_text + log_size, pattern, arguments);
    log_text[log_size++] = '\n';
    log_text[log_size] = 0;
  }
  __sync_lock_release(&lock);
  va_end(arguments);
  if (strcmp(name, fail_name) == 0)
    return fail_code;
  return 0;
}

/* For the test. */
const char *fake_log(void) { return log_text; }
void fake_clear(void) { log_size = 0, log_text[0] = 0, fail_name[0] = 0; }
void fake_fail(const char *name, int code) { strcpy(fail_name, name), fail_code = code; }
int fake_live(void) { return live; }
void fake_set_current(void *context) { current = context; }
void *fake_current(void) { return current; }

int cuInit(unsigned flags) { return getenv("FAKE_CUDA_INIT") ? atoi(getenv("FAKE_CUDA_INIT")) : 0; }
int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
int cuDeviceGetCount(int *n) { *n = 2; return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return i < 2 ? 0 : 101; }
int cuDeviceGetName(char *s, int n, int d) { snprintf(s, n, "Fake GPU %d", d); return 0; }
int cuDeviceTotalMem_v2(size_t *m, int d) { *m = 1 << 30; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) {
  *v = a == 16 ? 132 : a == 75 ? 9 : a == 76 ? 0 : a == 115 ? !getenv("FAKE_CUDA_NO_POOL") : -1;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **c, int d) { *c = &contexts[d]; return 0; }
int cuCtxGetCurrent(void **c) { *c = current; return 0; }
int cuCtxSetCurrent(void *c) { current = c; return 0; }
static int context(void) { return (int)((int *)current - contexts); }

struct Module { char text[4096]; };
int cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *options, void **values) {
  int code = call("cuModuleLoadDataEx", "context %d, %.20s", context(), (const char *)image);
  if (strncmp(image, "bad", 3) == 0) {
    for (unsigned i = 0; i < n; i++)
      if (options[i] == 5) strcpy(values[i], "ptxas application ptx input, line 7; error : Unknown symbol 'q'");
    return 218;
  }
  struct Module *module = malloc(sizeof *module);
  strncpy(module->text, image, sizeof module->text - 1);
  *m = module;
  return code;
}
int cuModuleUnload(void *m) { free(m); return call("cuModuleUnload", "context %d", context()); }
int cuModuleGetFunction(void **f, void *m, const char *name) {
  *f = (void *)(strcmp(name, "scale") == 0 ? 1L : strcmp(name, "first") == 0 ? 2L : 0L);
  return *f ? 0 : 500;
}
int cuFuncGetAttribute(int *v, int a, void *f) { *v = attribute_limit; return 0; }
int cuFuncSetAttribute(void *f, int a, int v) { return call("cuFuncSetAttribute", "%d = %d", a, v); }
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **params, void **extra) {
  int code = call("cuLaunchKernel", "%ld context %d grid %u %u %u block %u %u %u shared %u stream %p", (long)f,
                  context(), gx, gy, gz, bx, by, bz, shared, stream);
  if (code) return code;
  float *in = *(float **)params[0], *out = *(float **)params[1];
  int64_t n = *(int64_t *)params[2];
  for (int64_t i = 0; i < ((long)f == 1 ? n : 1); i++) out[i] = (long)f == 1 ? 2 * in[i] : in[0];
  return 0;
}
int cuTensorMapEncodeTiled(void *out, int type, unsigned rank, void *base, const uint64_t *dims,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                           int swizzle, int l2, int fill) {
  memset(out, 7, 128);
  const char *pattern = "type %d rank %u dims %lu %lu pitch %lu box %u %u steps %u %u swizzle %d l2 %d";
  return call("cuTensorMapEncodeTiled", pattern, type, rank, dims[0], dims[1], strides[0], box[0], box[1], steps[0],
              steps[1], swizzle, l2);
}
static int give(uint64_t *p, size_t n, int code) {
  if (code) return code;
  *p = (uint64_t)malloc(n);
  live++;
  return 0;
}
int cuMemAlloc_v2(uint64_t *p, size_t n) { return give(p, n, call("cuMemAlloc_v2", "%zu", n)); }
int cuMemFree_v2(uint64_t p) { free((void *)p); live--; return call("cuMemFree_v2", ""); }
int cuMemPoolCreate(void **pool, const void *properties) {
  *pool = (void *)99;
  return call("cuMemPoolCreate", "%d", ((int *)properties)[3]);
}
int cuMemPoolSetAttribute(void *pool, int a, void *v) {
  return call("cuMemPoolSetAttribute", "%d = %ld", a, *(long *)v);
}
int cuMemAllocFromPoolAsync(uint64_t *p, size_t n, void *pool, void *stream) {
  return give(p, n, call("cuMemAllocFromPoolAsync", "%zu stream %p", n, stream));
}
int cuMemFreeAsync(uint64_t p, void *stream) {
  int code = call("cuMemFreeAsync", "stream %p", stream);
  if (code) return code;
  free((void *)p);
  live--;
  return 0;
}
static int copy(const char *name, void *to, const void *from, size_t n, void *stream) {
  int code = call(name, "%zu stream %p", n, stream);
  if (!code) memcpy(to, from, n);
  return code;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *s) {
  return copy("cuMemcpyHtoDAsync_v2", (void *)to, from, n, s);
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *s) {
  return copy("cuMemcpyDtoHAsync_v2", to, (void *)from, n, s);
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *s) {
  return copy("cuMemcpyDtoDAsync_v2", (void *)to, (void *)from, n, s);
}
int cuMemsetD8Async(uint64_t p, unsigned char b, size_t n, void *s) {
  memset((void *)p, b, n);
  return call("cuMemsetD8Async", "%d %zu", b, n);
}
int cuStreamCreate(void **s, unsigned flags) { *s = (void *)(uintptr_t)(0x50 + context()); return 0; }
int cuStreamSynchronize(void *s) { return call("cuStreamSynchronize", "%p", s); }
int cuStreamWaitEvent(void *s, void *e, unsigned flags) { return call("cuStreamWaitEvent", "%p waits for %p", s, e); }
int cuEventCreate(void **e, unsigned flags) { *e = (void *)0xe; return 0; }
int cuEventRecord(void *e, void *s) { return call("cuEventRecord", "%p on %p", e, s); }
int cuEventDestroy_v2(void *e) { return 0; }
int cuPointerGetAttribute(void *out, int a, uint64_t p) { *(int *)out = 1; return p ? 0 : 1; }
int cuGetErrorName(int code, const char **s) {
  *s = code == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
       : code == 218 ? "CUDA_ERROR_INVALID_PTX"
       : code == 500 ? "CUDA_ERROR_NOT_FOUND"
                     : "CUDA_ERROR_LAUNCH_FAILED";
  return 0;
}
int cuGetErrorString(int code, const char **s) { *s = code == 2 ? "out of memory" : "something is wrong"; return 0; }
