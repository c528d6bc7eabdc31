#include "elf_object.h"

#include <cstring>
#include <stdexcept>

#include "error.h"

namespace kc {

void Object::fail(const std::string &what) const {
  throw std::runtime_error("cannot load object '" + bytes_.name + "': " + what);
}

template <typename T> T Object::read(size_t offset, const char *what) const {
  if (offset > bytes_.size || sizeof(T) > bytes_.size - offset)
    fail(format("truncated (%s at offset %zu of %zu bytes)", what, offset, bytes_.size));
  T value;
  std::memcpy(&value, bytes_.data + offset, sizeof value);
  return value;
}

template <typename T> std::vector<T> Object::table(const Elf64_Shdr &header, const char *what) const {
  std::vector<T> result;
  for (size_t at = 0; at + sizeof(T) <= header.sh_size; at += sizeof(T))
    result.push_back(read<T>(header.sh_offset + at, what));
  return result;
}

const char *Object::string_at(const Elf64_Shdr &table, size_t offset) const {
  if (offset >= table.sh_size)
    fail("name outside of the string table");
  const char *text = reinterpret_cast<const char *>(bytes_.data + table.sh_offset + offset);
  if (!std::memchr(text, 0, table.sh_size - offset))
    fail("name without an end");
  return text;
}

const char *Object::symbol_name(const Elf64_Sym &symbol) const { return string_at(strings_, symbol.st_name); }

Group Object::classify(const Section &section) const {
  const Elf64_Shdr &header = section.header;
  // Unwind tables are of no use here: generated code does not throw, and nothing registers them.
  if (!(header.sh_flags & SHF_ALLOC) || section.name == ".eh_frame" ||
      header.sh_type == SHT_NOTE || header.sh_type == SHT_X86_64_UNWIND)
    return Group::kNone;
  if (header.sh_flags & SHF_TLS)
    fail("section '" + section.name + "' holds thread-local variables, which are not supported");
  if (header.sh_type == SHT_INIT_ARRAY || header.sh_type == SHT_FINI_ARRAY || header.sh_type == SHT_PREINIT_ARRAY ||
      section.name == ".ctors" || section.name == ".dtors")
    fail("static constructors ('" + section.name + "') are not supported");
  if (header.sh_flags & SHF_EXECINSTR)
    return Group::kText;
  return header.sh_flags & SHF_WRITE ? Group::kWritable : Group::kReadOnly;
}

Object::Object(const ObjectBytes &bytes) : bytes_(bytes) {
  auto header = read<Elf64_Ehdr>(0, "ELF header");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    fail("not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64)
    fail(format("made for another machine (ELF machine %u; this one is x86-64)", header.e_machine));
  if (header.e_type != ET_REL)
    fail("not a relocatable object");
  if (header.e_shentsize != sizeof(Elf64_Shdr))
    fail("section headers of an unknown size");
  size_t count = header.e_shnum, names_index = header.e_shstrndx;
  if (header.e_shoff != 0 && count == 0) // more sections than fit the header: the first section tells
    count = read<Elf64_Shdr>(header.e_shoff, "section header").sh_size;
  if (names_index == SHN_XINDEX)
    names_index = read<Elf64_Shdr>(header.e_shoff, "section header").sh_link;
  for (size_t i = 0; i < count; ++i) {
    Section section{};
    section.header = read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr), "section header");
    section.group = Group::kNone;
    const Elf64_Shdr &h = section.header;
    if (h.sh_type != SHT_NOBITS && (h.sh_offset > bytes_.size || h.sh_size > bytes_.size - h.sh_offset))
      fail(format("truncated (section %zu ends beyond the %zu bytes there are)", i, bytes_.size));
    sections.push_back(section);
  }
  if (names_index >= sections.size())
    fail("no section names");
  for (Section &section : sections) {
    section.name = string_at(sections[names_index].header, section.header.sh_name);
    if (section.header.sh_type != SHT_NULL)
      section.group = classify(section);
  }
  for (const Section &section : sections) {
    const Elf64_Shdr &h = section.header;
    if (h.sh_type == SHT_SYMTAB) {
      symbols = table<Elf64_Sym>(h, "symbol");
      if (h.sh_link >= sections.size())
        fail("symbol table without names");
      strings_ = sections[h.sh_link].header;
    } else if (h.sh_type == SHT_RELA) {
      if (h.sh_info >= sections.size())
        fail("relocations of a section that is not there");
      if (sections[h.sh_info].group != Group::kNone)
        relocations.push_back({h.sh_info, table<Elf64_Rela>(h, "relocation")});
    } else if (h.sh_type == SHT_REL) {
      fail("relocations without addends (SHT_REL) are not used on x86-64");
    } else if (h.sh_type == SHT_SYMTAB_SHNDX) {
      fail("more than 65279 sections");
    }
  }
}

} // namespace kc
