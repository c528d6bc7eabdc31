/* The driver of test/unit/fake_cuda.c with events that keep time, a context to wait for, and the clocks of an H200.
 * fake_elsewhere(us) is work on a stream that no event sees: whoever waits for the context waits for it. */
#define cuEventCreate fake_cuda_event_create
#define cuEventRecord fake_cuda_event_record
#define cuDeviceGetAttribute fake_cuda_attribute
#include "../unit/fake_cuda.c"
#undef cuEventCreate
#undef cuEventRecord
#undef cuDeviceGetAttribute
#include <time.h>
#include <unistd.h>

static unsigned pending;

void fake_elsewhere(unsigned us) { pending += us; }
int cuCtxSynchronize(void) {
  if (pending)
    usleep(pending);
  pending = 0;
  return 0;
}
int cuEventCreate(void **event, unsigned flags) {
  *event = calloc(1, sizeof(struct timespec));
  return 0;
}
int cuEventRecord(void *event, void *stream) { return clock_gettime(CLOCK_MONOTONIC, event); }
int cuEventElapsedTime(float *ms, void *first, void *second) {
  struct timespec *a = first, *b = second;
  *ms = 1e3f * (float)(b->tv_sec - a->tv_sec) + 1e-6f * (float)(b->tv_nsec - a->tv_nsec);
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
