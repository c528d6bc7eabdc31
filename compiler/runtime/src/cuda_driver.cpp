#include "cuda_driver.h"

#include <dlfcn.h>

#include <cstdlib>

#include "error.h"

namespace kc {
namespace {

Driver load() {
  Driver result;
  const char *name = std::getenv("KC_LIBCUDA");
  if (!name || !*name)
    name = "libcuda.so.1";
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    result.problem = std::string("no CUDA driver: ") + dlerror();
    return result;
  }
#define F(function, arguments)                                                                                        \
  result.function = reinterpret_cast<CuResult(*) arguments>(dlsym(library, #function));                               \
  if (!result.function && result.problem.empty())                                                                     \
    result.problem = std::string("the CUDA driver is too old: ") + name + " has no " #function;
  KC_CUDA_FUNCTIONS(F)
#undef F
  if (!result.problem.empty())
    return result;
  if (CuResult code = result.cuInit(0)) {
    const char *text = nullptr;
    result.cuGetErrorString(code, &text);
    result.problem = format("the CUDA driver does not start: error %d (%s)", code, text ? text : "unknown");
  }
  return result;
}

} // namespace

const Driver &driver() {
  static const Driver instance = load();
  return instance;
}

std::string describe(CuResult result) {
  const char *name = nullptr, *text = nullptr;
  driver().cuGetErrorName(result, &name);
  driver().cuGetErrorString(result, &text);
  return format("%s (%s)", name ? name : "unknown CUDA error", text ? text : std::to_string(result).c_str());
}

} // namespace kc
