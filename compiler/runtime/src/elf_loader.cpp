#include "elf_loader.h"

#include <sys/mman.h>

#include <climits>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include "elf_object.h"
#include "error.h"
#include "symbols.h"

namespace kc {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kStub = 8; // ff 25 disp32, padded

size_t round_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

const char *relocation_name(uint32_t type) {
  switch (type) {
  case R_X86_64_TLSGD:
  case R_X86_64_TLSLD:
  case R_X86_64_DTPOFF32:
  case R_X86_64_GOTTPOFF:
  case R_X86_64_TPOFF32: return "a thread-local variable";
  case R_X86_64_GOTPC32:
  case R_X86_64_GOTOFF64:
  case R_X86_64_GOTPC64:
  case R_X86_64_PLTOFF64: return "the medium or large code model; compile with the small one";
  default: return "an unknown kind";
  }
}

bool fits(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

} // namespace

// Lays the sections of all objects out as  text, stubs | constants | GOT | data, bss  (pages of their own), then
// resolves and relocates. A stub is an indirect jump through the symbol's GOT slot, for functions out of reach.
class Linker {
public:
  Linker(Image &image, const std::vector<ObjectBytes> &bytes, bool device_memory)
      : image_(image), device_memory_(device_memory) {
    for (const ObjectBytes &one : bytes)
      objects_.emplace_back(one);
  }

  void link() {
    collect_globals();
    collect_slots();
    lay_out();
    resolve_undefined();
    for (size_t o = 0; o < objects_.size(); ++o)
      for (const Relocations &group : objects_[o].relocations)
        for (const Elf64_Rela &entry : group.entries)
          relocate(o, objects_[o].sections[group.target], entry);
    protect();
    for (const auto &[name, place] : globals_)
      image_.symbols_.emplace(name, reinterpret_cast<void *>(address_of(place.first, place.second)));
  }

private:
  using Place = std::pair<size_t, size_t>; // object, symbol index

  void collect_globals() {
    std::map<std::string, bool> weak;
    for (size_t o = 0; o < objects_.size(); ++o)
      for (size_t s = 0; s < objects_[o].symbols.size(); ++s) {
        const Elf64_Sym &symbol = objects_[o].symbols[s];
        unsigned binding = ELF64_ST_BIND(symbol.st_info);
        if (binding == STB_LOCAL || symbol.st_shndx == SHN_UNDEF)
          continue;
        std::string name = objects_[o].symbol_name(symbol);
        if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
          objects_[o].fail("'" + name + "' is an indirect function, which is not supported");
        bool is_weak = binding == STB_WEAK || symbol.st_shndx == SHN_COMMON;
        auto found = globals_.find(name);
        if (found == globals_.end()) {
          globals_.emplace(name, Place{o, s});
          weak[name] = is_weak;
        } else if (!is_weak && !weak[name]) {
          objects_[o].fail("'" + name + "' is defined twice (also in '" + objects_[found->second.first].name() + "')");
        } else if (!is_weak) {
          found->second = {o, s};
          weak[name] = false;
        }
      }
  }

  // One GOT slot (and a stub) for every symbol that may need one: named in a GOT relocation, or not defined here.
  void collect_slots() {
    for (size_t o = 0; o < objects_.size(); ++o)
      for (const Relocations &group : objects_[o].relocations)
        for (const Elf64_Rela &entry : group.entries) {
          size_t index = ELF64_R_SYM(entry.r_info);
          if (index >= objects_[o].symbols.size())
            objects_[o].fail("relocation against a symbol that is not there");
          uint32_t type = ELF64_R_TYPE(entry.r_info);
          bool got = type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
          low_addresses_ |= type == R_X86_64_32 || type == R_X86_64_32S;
          Place place = canonical({o, index});
          if (got || objects_[place.first].symbols[place.second].st_shndx == SHN_UNDEF)
            slots_.emplace(place, slots_.size());
        }
  }

  void lay_out() {
    size_t end = place_group(Group::kText, 0);
    stubs_ = round_up(end, kStub);
    text_end_ = round_up(stubs_ + kStub * slots_.size(), kPage);
    end = place_group(Group::kReadOnly, text_end_);
    got_ = round_up(end, sizeof(void *));
    read_only_end_ = round_up(got_ + sizeof(void *) * slots_.size(), kPage);
    end = place_group(Group::kWritable, read_only_end_);
    for (size_t o = 0; o < objects_.size(); ++o)
      for (size_t s = 0; s < objects_[o].symbols.size(); ++s) {
        const Elf64_Sym &symbol = objects_[o].symbols[s];
        if (symbol.st_shndx != SHN_COMMON)
          continue;
        end = round_up(end, symbol.st_value ? symbol.st_value : 1); // the value of a common symbol is its alignment
        commons_[{o, s}] = end;
        end += symbol.st_size;
      }
    image_.size_ = round_up(end ? end : 1, kPage);
    if (image_.size_ > INT32_MAX)
      throw std::runtime_error("the program's code and constants exceed 2 GiB; large constants belong into parameters");
    // Absolute 32-bit relocations (code not compiled as PIC) need addresses below 2 GiB.
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (low_addresses_ ? MAP_32BIT : 0);
    void *memory = mmap(nullptr, image_.size_, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED)
      throw std::runtime_error(format("no memory for %zu bytes of code and constants", image_.size_));
    image_.base_ = static_cast<uint8_t *>(memory);
    for (const Object &object : objects_)
      for (const Section &section : object.sections)
        if (section.group != Group::kNone && section.header.sh_type != SHT_NOBITS)
          std::memcpy(image_.base_ + section.offset, object.contents(section), section.header.sh_size);
  }

  size_t place_group(Group group, size_t at) {
    for (Object &object : objects_)
      for (Section &section : object.sections) {
        if (section.group != group)
          continue;
        size_t alignment = section.header.sh_addralign ? section.header.sh_addralign : 1;
        if (alignment > kPage || section.header.sh_size > INT32_MAX)
          object.fail("section '" + section.name + "' is too large or asks for more than page alignment");
        at = round_up(at, alignment);
        section.offset = at;
        at += section.header.sh_size;
      }
    return at;
  }

  // The definition that a symbol of an object stands for, when some object has one.
  Place canonical(Place place) const {
    const Elf64_Sym &symbol = objects_[place.first].symbols[place.second];
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL)
      return place;
    std::string name = objects_[place.first].symbol_name(symbol);
    if (auto found = globals_.find(name); found != globals_.end())
      return found->second;
    return undefined_.emplace(name, place).first->second;
  }

  void resolve_undefined() {
    std::string missing;
    for (const auto &[name, place] : undefined_) {
      void *found = find_host_symbol(name, device_memory_);
      const Elf64_Sym &symbol = objects_[place.first].symbols[place.second];
      if (!found && ELF64_ST_BIND(symbol.st_info) != STB_WEAK && slots_.count(place))
        missing += (missing.empty() ? "'" : ", '") + name + "'";
      external_[place] = reinterpret_cast<uint64_t>(found);
    }
    if (!missing.empty())
      throw std::runtime_error("unresolved symbol(s) " + missing + ": neither defined by the program's objects nor "
                               "among the functions that the kc runtime offers to generated code");
    for (const auto &[place, slot] : slots_) {
      uint64_t target = address_of(place.first, place.second);
      uint8_t *cell = image_.base_ + got_ + slot * sizeof target;
      std::memcpy(cell, &target, sizeof target);
      uint8_t *stub = image_.base_ + stubs_ + slot * kStub;
      auto displacement = static_cast<int32_t>(cell - (stub + 6));
      const uint8_t jump[] = {0xff, 0x25};
      std::memcpy(stub, jump, 2);
      std::memcpy(stub + 2, &displacement, 4);
      stub[6] = stub[7] = 0xcc;
    }
  }

  uint64_t address_of(size_t o, size_t s) const {
    Place place = canonical({o, s});
    const Object &object = objects_[place.first];
    const Elf64_Sym &symbol = object.symbols[place.second];
    switch (symbol.st_shndx) {
    case SHN_UNDEF: {
      auto found = external_.find(place);
      return found == external_.end() ? 0 : found->second;
    }
    case SHN_ABS: return symbol.st_value;
    case SHN_COMMON: return reinterpret_cast<uint64_t>(image_.base_ + commons_.at(place));
    default: break;
    }
    if (symbol.st_shndx >= object.sections.size())
      object.fail("symbol in a section that is not there");
    const Section &section = object.sections[symbol.st_shndx];
    return section.group == Group::kNone
               ? 0
               : reinterpret_cast<uint64_t>(image_.base_ + section.offset) + symbol.st_value;
  }

  void relocate(size_t o, const Section &section, const Elf64_Rela &entry) {
    const Object &object = objects_[o];
    size_t index = ELF64_R_SYM(entry.r_info);
    uint32_t type = ELF64_R_TYPE(entry.r_info);
    size_t width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
    if (type == R_X86_64_NONE)
      return;
    if (entry.r_offset > section.header.sh_size || width > section.header.sh_size - entry.r_offset)
      object.fail("relocation outside of section '" + section.name + "'");
    uint8_t *at = image_.base_ + section.offset + entry.r_offset;
    auto position = static_cast<int64_t>(reinterpret_cast<uint64_t>(at));
    auto target = static_cast<int64_t>(address_of(o, index));
    auto slot = slots_.find(canonical({o, index}));
    int64_t value;
    switch (type) {
    case R_X86_64_64: value = target + entry.r_addend; break;
    case R_X86_64_PC64: value = target + entry.r_addend - position; break;
    case R_X86_64_32: value = target + entry.r_addend; break;
    case R_X86_64_32S: value = target + entry.r_addend; break;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
      value = target + entry.r_addend - position;
      if (!fits(value) && slot != slots_.end())
        value = reinterpret_cast<int64_t>(image_.base_ + stubs_ + slot->second * kStub) + entry.r_addend - position;
      break;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      value = reinterpret_cast<int64_t>(image_.base_ + got_ + slot->second * sizeof(void *));
      value += entry.r_addend - position;
      break;
    default:
      object.fail(format("relocation type %u in section '%s' is not supported (%s)", type, section.name.c_str(),
                         relocation_name(type)));
    }
    bool reaches = width == 8 || (type == R_X86_64_32 ? value >= 0 && value <= UINT32_MAX : fits(value));
    if (!reaches)
      object.fail(format("'%s' is out of reach of a 32-bit relocation in section '%s'; compile position-independent",
                         object.symbol_name(object.symbols[index]), section.name.c_str()));
    std::memcpy(at, &value, width);
  }

  void protect() {
    auto set = [&](size_t from, size_t to, int protection) {
      if (to > from && mprotect(image_.base_ + from, to - from, protection) != 0)
        throw std::runtime_error("the system refuses to make generated code executable");
    };
    set(0, text_end_, PROT_READ | PROT_EXEC);
    set(text_end_, read_only_end_, PROT_READ);
  }

  Image &image_;
  bool device_memory_;
  bool low_addresses_ = false;
  std::vector<Object> objects_;
  std::map<std::string, Place> globals_;
  mutable std::map<std::string, Place> undefined_;
  std::map<Place, size_t> slots_;
  std::map<Place, size_t> commons_;
  std::map<Place, uint64_t> external_;
  size_t stubs_ = 0, text_end_ = 0, got_ = 0, read_only_end_ = 0;
};

Image::Image(const std::vector<ObjectBytes> &objects, bool device_memory) {
  try {
    Linker(*this, objects, device_memory).link();
  } catch (...) {
    if (base_)
      munmap(base_, size_);
    throw;
  }
}

Image::~Image() { munmap(base_, size_); }

void *Image::symbol(const std::string &name) const {
  auto found = symbols_.find(name);
  return found == symbols_.end() ? nullptr : found->second;
}

} // namespace kc
