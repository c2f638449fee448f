// SPDX-License-Identifier: Apache-2.0
// Inflates deflated bytes of a zip (RFC 1951) with zlib.
#include "sources/files/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace goldcrest::converter {
namespace {

constexpr uint64_t kMostAtOnce = uint64_t{1} << 30;  // zlib counts in unsigned int

// A stream without zlib's own header, as in a zip.
class RawStream {
 public:
  RawStream() {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~RawStream() { inflateEnd(&stream_); }
  RawStream(const RawStream&) = delete;
  RawStream& operator=(const RawStream&) = delete;
  z_stream& get() { return stream_; }

 private:
  z_stream stream_{};
};

}  // namespace

std::optional<std::string> inflate(std::string_view deflated, uint64_t n, bool is_whole) {
  RawStream raw;
  z_stream& stream = raw.get();
  std::string plain(n, '\0');
  char beyond = 0;  // receives a byte only if a whole stream has more than n bytes
  uint64_t read = 0, written = 0;
  int status = Z_OK;
  while (status == Z_OK && (written < n || is_whole)) {
    const auto in = static_cast<uInt>(std::min(deflated.size() - read, kMostAtOnce));
    const auto out = static_cast<uInt>(std::min(n - written, kMostAtOnce));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(deflated.data() + read));  // zlib does not write to it
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(out == 0 ? &beyond : plain.data() + written);
    stream.avail_out = out == 0 ? 1 : out;
    status = ::inflate(&stream, Z_NO_FLUSH);
    if (out == 0 && stream.avail_out == 0) return std::nullopt;
    read += in - stream.avail_in;
    written += out == 0 ? 0 : out - stream.avail_out;
  }
  const bool is_right = is_whole ? status == Z_STREAM_END && read == deflated.size() : status >= Z_OK;
  return is_right && written == n ? std::optional(std::move(plain)) : std::nullopt;
}

}  // namespace goldcrest::converter
