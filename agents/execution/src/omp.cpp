// OpenMP for a team of one: what MLIR's lowering of omp.parallel and omp.wsloop calls. Iterations run in order, so that
// a run does not depend on threads; races are found by the shadow memory, not by luck.
#include <cstdarg>
#include <cstdlib>

#include "checked.h"

namespace {

constexpr int kMostArguments = 4;

template <typename T, typename S> void whole_range(int32_t *last, T *lower, T *upper, S *stride) {
  *last = 1;
  *stride = static_cast<S>(*upper - *lower + 1);
}

struct Dispatch {
  uint64_t lower, upper;
  int64_t step;
  bool given;
} dispatch;

template <typename T, typename S> int32_t next(int32_t *last, T *lower, T *upper, S *stride) {
  if (dispatch.given)
    return 0;
  dispatch.given = true;
  *last = 1;
  *lower = static_cast<T>(dispatch.lower);
  *upper = static_cast<T>(dispatch.upper);
  *stride = static_cast<S>(dispatch.step);
  return *lower <= *upper;
}

} // namespace

KC_CHECKED_EXPORT void __kmpc_fork_call(void *, int32_t count, void *microtask, ...) {
  void *arguments[kMostArguments] = {};
  va_list list;
  va_start(list, microtask);
  for (int32_t i = 0; i < count && i < kMostArguments; ++i)
    arguments[i] = va_arg(list, void *);
  va_end(list);
  if (count > kMostArguments)
    kc::leave(4, "an omp.parallel with more arguments than are known here");
  int32_t thread = 0, bound = 0;
  reinterpret_cast<void (*)(int32_t *, int32_t *, void *, void *, void *, void *)>(microtask)(
      &thread, &bound, arguments[0], arguments[1], arguments[2], arguments[3]);
}

KC_CHECKED_EXPORT int32_t __kmpc_global_thread_num(void *) { return 0; }
KC_CHECKED_EXPORT void __kmpc_push_num_threads(void *, int32_t, int32_t) {}
KC_CHECKED_EXPORT void __kmpc_barrier(void *, int32_t) {}
KC_CHECKED_EXPORT void __kmpc_critical(void *, int32_t, void *) {}
KC_CHECKED_EXPORT void __kmpc_end_critical(void *, int32_t, void *) {}
KC_CHECKED_EXPORT int32_t __kmpc_reduce(void *, int32_t, int32_t, uint64_t, void *, void *, void *) { return 1; }
KC_CHECKED_EXPORT void __kmpc_end_reduce(void *, int32_t, void *) {}
KC_CHECKED_EXPORT int32_t __kmpc_reduce_nowait(void *, int32_t, int32_t, uint64_t, void *, void *, void *) { return 1; }
KC_CHECKED_EXPORT void __kmpc_end_reduce_nowait(void *, int32_t, void *) {}

KC_CHECKED_EXPORT void __kmpc_for_static_init_4(void *, int32_t, int32_t, int32_t *last, int32_t *lower, int32_t *upper,
                                                int32_t *stride, int32_t, int32_t) {
  whole_range(last, lower, upper, stride);
}
KC_CHECKED_EXPORT void __kmpc_for_static_init_4u(void *, int32_t, int32_t, int32_t *last, uint32_t *lower,
                                                 uint32_t *upper, int32_t *stride, int32_t, int32_t) {
  whole_range(last, lower, upper, stride);
}
KC_CHECKED_EXPORT void __kmpc_for_static_init_8(void *, int32_t, int32_t, int32_t *last, int64_t *lower, int64_t *upper,
                                                int64_t *stride, int64_t, int64_t) {
  whole_range(last, lower, upper, stride);
}
KC_CHECKED_EXPORT void __kmpc_for_static_init_8u(void *, int32_t, int32_t, int32_t *last, uint64_t *lower,
                                                 uint64_t *upper, int64_t *stride, int64_t, int64_t) {
  whole_range(last, lower, upper, stride);
}
KC_CHECKED_EXPORT void __kmpc_for_static_fini(void *, int32_t) {}
KC_CHECKED_EXPORT void __kmpc_dispatch_init_4u(void *, int32_t, int32_t, uint32_t lower, uint32_t upper, int32_t step,
                                               int32_t) {
  dispatch = {lower, upper, step, false};
}
KC_CHECKED_EXPORT void __kmpc_dispatch_init_8u(void *, int32_t, int32_t, uint64_t lower, uint64_t upper, int64_t step,
                                               int64_t) {
  dispatch = {lower, upper, step, false};
}
KC_CHECKED_EXPORT int32_t __kmpc_dispatch_next_4u(void *, int32_t, int32_t *last, uint32_t *lower, uint32_t *upper,
                                                  int32_t *stride) {
  return next(last, lower, upper, stride);
}
KC_CHECKED_EXPORT int32_t __kmpc_dispatch_next_8u(void *, int32_t, int32_t *last, uint64_t *lower, uint64_t *upper,
                                                  int64_t *stride) {
  return next(last, lower, upper, stride);
}
KC_CHECKED_EXPORT void __kmpc_dispatch_fini_4u(void *, int32_t) {}
KC_CHECKED_EXPORT void __kmpc_dispatch_fini_8u(void *, int32_t) {}
KC_CHECKED_EXPORT void __kmpc_dispatch_deinit(void *, int32_t) {}
