// A loaded program: linked host code, and for GPU programs its device modules and kernel table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda_program.h"
#include "elf_loader.h"
#include "host_calls.h"
#include "kc_runtime.h"

struct kc_program {
  kc_program(const std::vector<kc::ObjectBytes> &objects, bool device_memory)
      : image(objects, device_memory), device_memory(device_memory) {}

  kc::Image image;
  const bool device_memory;
  kc::DeviceProgram device;
  std::vector<kc::CustomCall> calls;
};
