// SPDX-License-Identifier: Apache-2.0
// Any bytes as a clip of goldcrest-transcribe: a WAV file, or raw samples. It is refused with a reason, or it gives no
// more samples than it has, twice as many if it has half the model's rate, and says so if some are missing.
#include "engine/host/speech/wav.h"
#include "fuzz/script.h"

namespace goldcrest::test {
namespace {
constexpr uint32_t kRate = 16000;

std::string number(uint32_t value, size_t n) {
  std::string bytes;
  for (size_t i = 0; i < n; ++i) bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

std::string chunk(const char* tag, const std::string& content, Script& script) {
  const uint32_t n = script.one_in(8) ? script.word() : static_cast<uint32_t>(content.size());
  return tag + number(n, 4) + content;
}

// A WAV file that is nearly right, or any bytes.
std::string file_bytes(Script& script) {
  if (script.one_in(4)) return std::string(script.rest());
  const uint32_t channels = script.one_in(8) ? script.half() : 1 + script.below(3);
  const uint32_t kind = script.one_in(4) ? 0xFFFE : script.one_in(8) ? script.half() : script.one_in(4) ? 3 : 1;
  const uint32_t width = kind == 3 ? 4u << script.below(2) : script.one_in(2) ? 2 : 1 + script.below(4);
  std::string format = number(kind, 2) + number(channels, 2) +
                       number(script.one_in(8)   ? script.word()
                              : script.one_in(4) ? 8000 + script.below(190000)
                                                 : kRate,
                           4) +
                       number(kRate * 2 * channels, 4) +
                       number(script.one_in(8) ? script.half() : width * channels, 2) +
                       number(script.one_in(8) ? script.half() : 8 * width, 2);
  format += script.text_of(script.below(40));
  std::string file = "RIFF" + number(script.word(), 4) + "WAVE";
  if (script.one_in(4)) file += chunk("LIST", std::string(script.text()), script);
  if (!script.one_in(16)) file += chunk("fmt ", format, script);
  if (script.one_in(8)) file += chunk("fact", std::string(script.text()), script);
  return file + chunk("data", std::string(script.rest()), script);
}
}  // namespace

void run_input(Script script) {
  const size_t n_bytes = script.n_bytes();
  std::string file = file_bytes(script);
  struct Close {
    void operator()(std::FILE* opened) const { std::fclose(opened); }
  };
  const std::unique_ptr<std::FILE, Close> opened(fmemopen(file.data(), file.size() + (file.empty() ? 1 : 0), "rb"));
  if (!opened) return;
  host::WavReader reader;
  if (!reader.open(opened.get(), n_bytes % 2 != 0 ? "clip" : "", kRate).empty()) return;
  size_t n_read = 0;
  const size_t block_size = 1 + n_bytes % 7;
  std::vector<int16_t> block(block_size);
  for (size_t found = block_size; found == block_size; n_read += found) {
    found = reader.read(block.data(), block_size);
    require(found <= block_size, "read: no more samples than asked for");
    require(n_read <= 2 * file.size(), "read: no more samples than bytes, at twice the lowest rate");
  }
  require(reader.read(block.data(), block_size) == 0, "read: nothing behind the end");
}
}  // namespace goldcrest::test
