/* The driver of test/unit/fake_cuda.c with streams that are busy for a while, events that keep time, a context to wait
 * for, and the clocks of an H200. fake_work(us) is work on the stream whose events are recorded, fake_elsewhere(us) on
 * one that no event sees: whoever waits for the context waits for both. */
#define cuEventCreate fake_cuda_event_create
#define cuMemsetD8Async fake_cuda_memset
#define cuEventRecord fake_cuda_event_record
#define cuDeviceGetAttribute fake_cuda_attribute
#include "../unit/fake_cuda.c"
#undef cuEventCreate
#undef cuMemsetD8Async
#undef cuEventRecord
#undef cuDeviceGetAttribute
#include <time.h>
#include <unistd.h>

enum { FILL_US = 200 };
static double seen_until, elsewhere_until; /* seconds: when the streams will be idle */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
static double from(double until) { return until > now() ? until : now(); }

void fake_work(unsigned us) { seen_until = from(seen_until) + 1e-6 * us; }
void fake_elsewhere(unsigned us) { elsewhere_until = from(elsewhere_until) + 1e-6 * us; }
int cuMemsetD8Async(uint64_t pointer, unsigned char value, size_t size, void *stream) {
  fake_work(FILL_US);
  return 0;
}
int cuCtxSynchronize(void) {
  double left = (seen_until > elsewhere_until ? seen_until : elsewhere_until) - now();
  if (left > 0)
    usleep((unsigned)(1e6 * left));
  return 0;
}
int cuEventCreate(void **event, unsigned flags) {
  *event = calloc(1, sizeof(double));
  return 0;
}
int cuEventRecord(void *event, void *stream) {
  *(double *)event = from(seen_until);
  return 0;
}
int cuEventElapsedTime(float *ms, void *first, void *second) {
  *ms = (float)(1e3 * (*(double *)second - *(double *)first));
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
  case 13: *value = 1980000; return 0; /* clock, kHz */
  case 36: *value = 3201000; return 0; /* memory clock, kHz */
  case 37: *value = 6144; return 0;    /* bus width, bits */
  case 38: *value = 60 << 20; return 0;
  default: return fake_cuda_attribute(value, attribute, device);
  }
}
