// One relocatable object, parsed and bounds-checked.
#pragma once

#include <elf.h>

#include <string>
#include <vector>

#include "elf_loader.h"

namespace kc {

enum class Group { kText, kReadOnly, kWritable, kNone };

struct Section {
  Elf64_Shdr header;
  std::string name;
  Group group = Group::kNone;
  size_t offset = 0; // in the image
};

struct Relocations {
  size_t target; // section they apply to
  std::vector<Elf64_Rela> entries;
};

class Object {
public:
  explicit Object(const ObjectBytes &bytes);

  [[noreturn]] void fail(const std::string &what) const;
  const uint8_t *contents(const Section &section) const { return bytes_.data + section.header.sh_offset; }
  const char *symbol_name(const Elf64_Sym &symbol) const;
  const std::string &name() const { return bytes_.name; }

  std::vector<Section> sections;
  std::vector<Elf64_Sym> symbols;
  std::vector<Relocations> relocations;

private:
  template <typename T> T read(size_t offset, const char *what) const;
  template <typename T> std::vector<T> table(const Elf64_Shdr &header, const char *what) const;
  const char *string_at(const Elf64_Shdr &table, size_t offset) const;
  Group classify(const Section &section) const;

  ObjectBytes bytes_;
  Elf64_Shdr strings_{};
};

} // namespace kc
