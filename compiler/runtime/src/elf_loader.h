// Links ELF64 x86-64 relocatable objects into memory of this process, with no linker and no LLVM.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace kc {

struct ObjectBytes {
  const uint8_t *data;
  size_t size;
  std::string name; // for messages
};

// Linked code and data. Text is read-execute, constants are read-only, nothing is writable and executable.
class Image {
public:
  // Throws std::runtime_error with a message that names the object and what is wrong in it.
  Image(const std::vector<ObjectBytes> &objects, bool device_memory);
  ~Image();
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;

  void *symbol(const std::string &name) const;
  bool contains(const void *pointer) const {
    auto *byte = static_cast<const uint8_t *>(pointer);
    return byte >= base_ && byte < base_ + size_;
  }

private:
  friend class Linker;
  uint8_t *base_ = nullptr;
  size_t size_ = 0;
  std::unordered_map<std::string, void *> symbols_;
};

} // namespace kc
