// SPDX-License-Identifier: Apache-2.0
// Unpacks every matrix and packs it again.
#include "file/relayout.h"
#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include "base/build_options.h"
#include "base/hash.h"
#include "file/fine_inputs.h"
#include "file/format.h"
#include "file/section_writer.h"
#include "model/blocks.h"
#include "model/packed.h"
#include "model/tokenizer_view.h"
#include "quantize/pack_rows.h"
#include "sources/files/input_file.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// A matrix of the section Weights, and the fields that hold its layout: two for a table shared with the projection.
// Float weights count as four columns of bytes each and stay row-major.
struct StoredMatrix {
  uint32_t rows = 0, columns = 0;  // padded
  bool packed = false;
  std::vector<format::Layout*> layout;
  std::vector<uint32_t*> weights;  // likewise

  uint64_t bytes() const { return packed ? packed_bytes(rows, columns) : uint64_t{rows} * columns; }
};

// Keys are offsets in bytes, so the order is that of the weights' hash (FORMAT.md).
using StoredMatrices = std::map<uint64_t, StoredMatrix>;

// table: a linear layer or an embedding, with `rows` rows and `columns` columns before padding.
template <typename Table> void add(Table& table, uint32_t rows, uint32_t columns, StoredMatrices& matrices) {
  StoredMatrix& matrix = matrices[table.weights * uint64_t{kAlignment}];
  rows = pad16(rows) << table.refined;
  if (!matrix.layout.empty() && (rows != matrix.rows || pad16(columns) != matrix.columns ||
                                    table.layout != *matrix.layout.front() || table.packed != matrix.packed)) {
    throw Error(
        "two matrices of different shape or layout share their bytes; expected every matrix to be stored whole");
  }
  matrix.rows = rows;
  matrix.columns = pad16(columns);
  matrix.packed = table.packed;
  matrix.layout.push_back(&table.layout);
  matrix.weights.push_back(&table.weights);
}

void add(format::LinearT& linear, StoredMatrices& matrices) { add(linear, linear.n, linear.k, matrices); }

void add(format::StackT& stack, StoredMatrices& matrices) {
  if (stack.embedding != nullptr)
    add(*stack.embedding, stack.embedding->vocab_size, stack.embedding->d_model, matrices);
  if (stack.head != nullptr) add(*stack.head, matrices);
  if (stack.frontend != nullptr)
    for (const auto& convolution : stack.frontend->convolutions) add(*convolution->linear, matrices);
  for_each_linear(stack, [&](const MatrixEntry&, format::LinearT& linear) { add(linear, matrices); });
}

StoredMatrices matrices_of(format::ModelT& metadata) {
  StoredMatrices matrices;
  add(*metadata.encoder, matrices);
  add(*metadata.decoder, matrices);
  add(*metadata.projection, matrices);
  const uint32_t weight_bytes = has_feature(metadata.features, kFeatureFloat32) ? 4 : 1;
  for (auto& [offset, matrix] : matrices) matrix.columns *= weight_bytes;
  uint64_t end = 0;
  for (const auto& [offset, matrix] : matrices) {
    if (offset < end) throw Error("two matrices overlap; expected each to have its own bytes");
    end = offset + matrix.bytes();
  }
  return matrices;
}

// FORMAT.md, "Trailer"
uint32_t metadata_bytes_of(const FileImage& image) {
  uint32_t bytes = 0;
  std::memcpy(&bytes, image.bytes() + image.size() - kAlignment + 12, sizeof bytes);
  return bytes;
}

// Splits a file into metadata and sections, as the converter had them before it wrote the file.
Payload take_apart(const FileImage& image) {
  Payload payload;
  payload.metadata.reset(new format::ModelT);
  format::GetModel(image.bytes())->UnPackTo(payload.metadata.get());
  for (const auto& section : payload.metadata->sections) {
    const uint8_t* bytes = image.bytes() + section->offset * uint64_t{kAlignment};
    payload.sections.push_back({section->kind, {std::vector<uint8_t>(bytes, bytes + section->size)}});
  }
  payload.metadata->sections.clear();
  return payload;
}

// Writes all matrices anew, those that are not row-major in this layout (none: their own), and with 8 bits if `widens`.
// Returns the hash of the int8 weights.
uint64_t rewrite(const StoredMatrices& matrices, std::optional<Layout> layout, bool widens,
    std::vector<std::vector<uint8_t>>& arrays) {
  const std::vector<uint8_t> weights = std::move(arrays.front());
  SectionWriter written(format::SectionKind::Weights);
  uint64_t hash = kHashStart;
  for (const auto& [offset, matrix] : matrices) {
    const auto stored = static_cast<Layout>(*matrix.layout.front());
    const Layout wanted = stored == Layout::kRowMajor ? stored : layout.value_or(stored);
    const uint8_t* const bytes = &weights[offset];
    QuantizedMatrix unpacked(0, 0);
    if (matrix.packed) {
      unpacked = unpack_nibbles({bytes, matrix.bytes()}, matrix.rows, matrix.columns, stored);
    } else {
      unpacked.weights =
          unpack({reinterpret_cast<const int8_t*>(bytes), matrix.bytes()}, matrix.rows, matrix.columns, stored);
    }
    hash = hash_int8(hash, unpacked.weights.data(), unpacked.weights.size());
    const uint32_t units = matrix.packed && !widens
                               ? written.append(pack_nibbles(unpacked, wanted))
                               : written.append(pack(unpacked.weights, matrix.rows, matrix.columns, wanted));
    for (format::Layout* field : matrix.layout) *field = static_cast<format::Layout>(wanted);
    for (uint32_t* field : matrix.weights) *field = units;
  }
  arrays = written.take().arrays;
  return hash;
}

// Says of all matrices that they have 8 bits.
void forget_packed(format::ModelT& metadata) {
  for (const FineSite& site : fine_sites(metadata)) site.linear->packed = false;
  for (format::StackT* stack : {metadata.encoder.get(), metadata.decoder.get()})
    if (stack->embedding != nullptr) stack->embedding->packed = false;
  metadata.features &= ~kFeaturePacked;
}
}  // namespace

bool is_model_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  if (path.extension() == ".gcst") return true;
  char head[8] = {};
  std::ifstream(path, std::ios::binary).read(head, sizeof head);
  return std::memcmp(head + 4, format::ModelIdentifier(), 4) == 0;
}

FileImage read_model_file(const std::filesystem::path& path) {
  const InputFile file(path);
  refuse_stand_in(file);
  constexpr size_t kMark = 4;  // FORMAT.md: the metadata's FlatBuffer begins with an offset and "GCST"
  char head[2 * kMark] = {};
  if (file.size() >= sizeof head) file.read(0, sizeof head, head);
  if (std::string_view(head + kMark, kMark) != "GCST")
    throw Error("{}: it is not a .gcst file; expected one that goldcrest-convert made", path.string());
  if (file.size() % kAlignment != 0) {
    throw Error("{}: the file has {} bytes, expected a multiple of {}: its end is missing; copy it again",
        path.string(), file.size(), kAlignment);
  }
  FileImage image(file.size());
  file.read(0, file.size(), image.bytes());
  return image;
}

FileImage relay_out(const FileImage& image, std::optional<Layout> layout, const std::string& file, bool widens) try {
  Payload payload = take_apart(image);
  const uint32_t metadata_bytes = metadata_bytes_of(image);
  if (!std::ranges::equal(assemble(payload, {}, metadata_bytes).span(), image.span()))
    throw Error("the file's metadata has fields that this version does not know; use the converter that made the file");
  const StoredMatrices matrices = matrices_of(*payload.metadata);
  const uint64_t hash = rewrite(matrices, layout, widens, payload.sections.front().arrays);
  const uint64_t stated = uint64_t{payload.metadata->weights_hash_high} << 32 | payload.metadata->weights_hash_low;
  if (hash != stated)
    throw Error("the weights' hash is {:016x}, expected {:016x}; convert the checkpoint again", hash, stated);
  if (widens) forget_packed(*payload.metadata);
  return assemble(payload, {}, metadata_bytes);
} catch (const Error& error) {
  throw Error("{}: {}", file, error.what());
}

RulesSpec rules_of(const FileImage& image) {
  const format::Generation& generation = *format::GetModel(image.bytes())->generation();
  RulesSpec rules;
#define GOLDCREST_RULE(kind, field, ...) \
  rules.field = decltype(rules.field)(generation.field() + GOLDCREST_FIRST_##kind);
#include "goldcrest/search_rules.h"
  if (const auto* ends = generation.more_end_ids()) rules.more_end_ids.assign(ends->begin(), ends->end());
  const auto* ids = generation.biased_ids();
  const auto* biases = generation.biases();
  for (uint32_t i = 0; ids != nullptr && biases != nullptr && i < ids->size(); ++i)
    rules.biases[ids->Get(i)] = biases->Get(i);
  return rules;
}

std::vector<std::string> engine_options(const FileImage& image) {
  const format::Model& model = *format::GetModel(image.bytes());
  const format::Tokenizer* const tokenizer = model.tokenizer();
  const auto* const added = tokenizer == nullptr ? nullptr : tokenizer->added();
  std::vector<std::string> options;
  const auto add = [&](bool is_needed, const std::string& needs_option) {
    const std::string option = needs_option.substr(needs_option.find(' ') + 1);
    if (is_needed && needs_option.starts_with("needs ") && std::ranges::find(options, option) == options.end())
      options.push_back(option);
  };
#define GOLDCREST_OPTION(...)
#define GOLDCREST_FEATURE(name, bit, option) add((model.features() & (bit)) != 0, kNo##option);
#include "base/features-inl.h"
#undef GOLDCREST_OPTION
#undef GOLDCREST_FEATURE
  add(added != nullptr && added->size() != 0 && needs_added_words(added->data()), kNoAddedWords);
  return options;
}
}  // namespace goldcrest::converter
