// SPDX-License-Identifier: Apache-2.0
// Ids are checked against the vocabularies and lengths against the positions, so later code need not check them.
#include "evaluate/check_samples.h"
#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>
#include <string_view>
#include "base/bounds.h"
#include "sources/containers/numpy_array.h"
#include "sources/files/input_file.h"
#include "sources/values/json_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint64_t kMaxResultBytes = uint64_t{256} << 20;
constexpr uint64_t kMaxClipBytes = uint64_t{1} << 30;
constexpr int kMaxDepth = 4;

// Reads an array of 1..most ids below vocab_size.
std::vector<int32_t> read_ids(const Value& value, const std::string& where, uint64_t vocab_size, uint64_t most) {
  if (!value.is_list()) throw Error("{}: found a JSON {}, expected an array of token ids", where, value.type_name());
  if (value.empty() || value.size() > most)
    throw Error("{}: found {} ids, expected 1..{}, the model's positions", where, value.size(), most);
  std::vector<int32_t> ids;
  for (const Value& id : value) {
    if (!id.is_natural() || id.natural() >= vocab_size)
      throw Error("{}[{}]: found {}, expected an id below the vocabulary's size, {}", where, ids.size(), write_json(id),
          vocab_size);
    ids.push_back(static_cast<int32_t>(id.natural()));
  }
  return ids;
}

uint64_t read_count(const Value& object, const char* key, uint64_t absent, const std::string& where) {
  const Value* const found = object.find(key);
  if (found == nullptr) return absent;
  if (!found->is_natural() || found->natural() > UINT32_MAX)
    throw Error("{}: \"{}\": found {}, expected a count", where, key, write_json(*found));
  return found->natural();
}

// "greedy" is 1, "beam<n>" is n for 2..kMaxBeams; 0 means that the key is not a search.
uint32_t beam_size_of(std::string_view key) {
  constexpr std::string_view kBeam = "beam";
  if (key == "greedy") return 1;
  if (!key.starts_with(kBeam)) return 0;
  uint32_t beam_size = 0;
  const char* const end = key.data() + key.size();
  const auto [stop, failure] = std::from_chars(key.data() + kBeam.size(), end, beam_size);
  return failure == std::errc() && stop == end && beam_size >= 2 && beam_size <= kMaxBeams ? beam_size : 0;
}

// The clips of samples.npy, which follow one another, and the place of the next one in bytes.
struct Clips {
  std::string where, bytes;
  size_t next = 0;

  template <typename Item> std::vector<Item> take(size_t n) {
    const size_t left = (bytes.size() - next) / sizeof(Item);
    if (n == 0 || n > left)
      throw Error("{}: has {} more samples, expected the {} of the next line's \"samples\"", where, left, n);
    std::vector<Item> items(n);
    std::memcpy(items.data(), bytes.data() + next, n * sizeof(Item));
    next += n * sizeof(Item);
    return items;
  }
};

// `type` is NumPy's: "<i2" or "<f4".
Clips read_clips(const std::filesystem::path& path, const std::string& type) {
  Clips clips = {path.string(), read_small_file(path, kMaxClipBytes)};
  const NumpyHeader header = parse_numpy_header(clips.bytes, clips.where);
  clips.next = header.bytes;
  const size_t n_bytes = clips.bytes.size() - header.bytes, item_bytes = type == "<f4" ? 4 : 2;
  if (header.type != type || header.shape.size() != 1 || header.shape[0] != n_bytes / item_bytes) {
    throw Error("{}: found the type \"{}\" and the shape [{}] for {} bytes; expected one axis of \"{}\"", clips.where,
        header.type, join_text(header.shape, ", "), n_bytes, type);
  }
  return clips;
}

SampleLine read_line(const Value& object, size_t place, const ModelSpec& spec, const std::string& where) {
  if (!object.is_map()) throw Error("{}: found a JSON {}, expected an object", where, object.type_name());
  SampleLine sample;
  sample.line = read_count(object, "line", place, where);
  sample.max_target_tokens = static_cast<uint32_t>(read_count(object, "max_target_tokens", 0, where));
  if (spec.encoder.frontend) {
    if (!object.contains("samples")) throw Error("{}: no \"samples\", the number of the clip's samples", where);
  } else {
    if (!object.contains("source_ids")) throw Error("{}: no \"source_ids\"", where);
    sample.source = read_ids(
        object["source_ids"], where + ": \"source_ids\"", spec.encoder.embedding->rows, spec.encoder.positions.rows);
  }
  for (const auto& [key, value] : object.members()) {
    const uint32_t beam_size = beam_size_of(key);
    if (beam_size == 0) continue;
    const std::string at = where + ": \"" + key + "\"";
    sample.searches.push_back(
        {key, beam_size, read_ids(value, at, spec.decoder.embedding->rows, spec.decoder.positions.rows)});
  }
  return sample;
}

std::unique_ptr<TensorSource> open_if_there(const std::filesystem::path& path) {
  return std::filesystem::exists(path) ? open_safetensors(path) : nullptr;
}
}  // namespace

const SampleSearch* SampleLine::find(const std::string& name) const {
  for (const SampleSearch& search : searches)
    if (search.name == name) return &search;
  return nullptr;
}

Samples read_samples(const std::filesystem::path& folder, const ModelSpec& spec) {
  const std::filesystem::path path = folder / "results.jsonl";
  if (!std::filesystem::exists(path))
    throw Error(
        "{}: missing; the samples are made from its \"source_ids\" (examples/export_nn_transformer.py writes it)",
        path.string());
  const std::string text = read_small_file(path, kMaxResultBytes);
  Samples samples;
  std::set<size_t> seen;
  Clips clips;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view row = std::string_view{text}.substr(at, end - at);
    at = end + 1;
    const std::string where = format_text("{}:{}", path.string(), ++number);
    if (row.find_first_not_of(" \t\r") == row.npos) continue;
    SampleLine line = read_line(parse_json(row, kMaxDepth, where), samples.lines.size(), spec, where);
    if (spec.encoder.frontend) {
      const size_t n = read_count(parse_json(row, kMaxDepth, where), "samples", 0, where);
      const bool has_rows = spec.encoder.frontend->input == FrontendInput::kFrames;
      if (clips.where.empty()) clips = read_clips(folder / "samples.npy", has_rows ? "<f4" : "<i2");
      if (has_rows) line.features = clips.take<float>(n);
      if (!has_rows) line.samples = clips.take<int16_t>(n);
    }
    if (!seen.insert(line.line).second) throw Error("{}: \"line\" {} appears twice", where, line.line);
    samples.lines.push_back(std::move(line));
  }
  if (samples.lines.empty()) throw Error("{}: no lines", path.string());
  samples.logits = open_if_there(folder / "logits.safetensors");
  samples.trace = open_if_there(folder / "trace.safetensors");
  return samples;
}
}  // namespace goldcrest::converter
