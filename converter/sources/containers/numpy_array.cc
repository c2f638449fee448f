// SPDX-License-Identifier: Apache-2.0
// The header of a NumPy array file (numpy/lib/format.py: versions 1.0, 2.0 and 3.0).
#include "sources/containers/numpy_array.h"
#include <charconv>
#include "host/wording.h"
#include "sources/sniffing/peek.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
class DictReader {
 public:
  DictReader(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

  void read(NumpyHeader* header) {
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      bool& is_known = key == "descr" ? has_type : key == "fortran_order" ? has_order : has_shape;
      if (is_known || (key != "descr" && key != "fortran_order" && key != "shape")) fail();
      is_known = true;
      if (key == "descr") header->type = quoted();
      if (key == "fortran_order") read_order();
      if (key == "shape") read_shape(header);
      if (!accept(',') && rest_.substr(0, 1) != "}") fail();
    }
    skip_space();
    if (!rest_.empty() || !has_type || !has_order || !has_shape) fail();
  }
 private:
  [[noreturn]] void fail() const { throw Error("{}: its header is not that of a NumPy array: it is damaged", where_); }

  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  bool accept(char c) {
    skip_space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail();
  }
  bool accept_word(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string quoted() {
    skip_space();
    const char quote = rest_.empty() ? '\0' : rest_[0];
    if (quote != '\'' && quote != '"') fail();
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) fail();
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  void read_order() {
    if (accept_word("False")) return;
    if (!accept_word("True")) fail();
    throw Error("{}: is in Fortran's order, which is not read; save it again with numpy.ascontiguousarray", where_);
  }

  void read_shape(NumpyHeader* header) {
    expect('(');
    while (!accept(')')) {
      skip_space();
      uint64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc()) fail();
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      header->shape.push_back(size);
      if (!accept(',') && rest_.substr(0, 1) != ")") fail();
    }
  }

  std::string_view rest_;
  const std::string& where_;
};
}  // namespace

NumpyHeader parse_numpy_header(std::string_view start, const std::string& where) {
  const uint64_t version = little_endian(start, 6, 1);
  const uint64_t length_bytes = version == 1 ? 2 : 4, before = 8 + length_bytes;
  if (!start.starts_with("\x93NUMPY") || version < 1 || version > 3 || start.size() < before)
    throw Error("{}: is not a NumPy array of version 1, 2 or 3", where);
  const uint64_t length = little_endian(start, 8, length_bytes);
  if (length > kMaxNumpyHeader - before || length > start.size() - before)
    throw Error("{}: its header of {} bytes does not fit: it is damaged", where, length);
  NumpyHeader header;
  header.bytes = before + length;
  DictReader(start.substr(before, length), where).read(&header);
  return header;
}
}  // namespace goldcrest::converter
