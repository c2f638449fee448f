// SPDX-License-Identifier: Apache-2.0
// Converts a neutral float model to the sections and the metadata of a file; write.h turns them into bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include "file/fine_inputs.h"
#include "file/section_writer.h"
#include "goldcrest/goldcrest.h"
#include "quantize/quantize.h"
#include "spec/spec.h"

namespace goldcrest::format {
struct ModelT;
}  // namespace goldcrest::format

namespace goldcrest::converter {
enum class Weights { kInt8, kFloat32 };
// The type of attention weights. kIntegerForSpeech: integers if the model has a frontend and the file can have them
enum class AttentionWeights { kFloat, kInteger, kIntegerForSpeech };

// Returns X^T X of the inputs of a matrix, [k, k], and forgets it; empty: its inputs are not known.
using ProductsOf = std::function<std::vector<float>(const Matrix& of)>;

// Matrices of earlier payloads, which a later one need not quantize again; bool: packed.
struct KeptMatrix {
  std::string name;  // for --pack
  QuantizedMatrix matrix;
  std::vector<std::optional<double>> sqnr_db;  // each part has its own
};
using KeptMatrices = std::map<std::pair<const Matrix*, bool>, KeptMatrix>;

struct BuildOptions {
  Weights weights = Weights::kInt8;
  AttentionWeights attention = AttentionWeights::kFloat;
  Layout layout = Layout::kN16K4;                           // for int8 weights
  std::vector<MatrixLevel> pack = {};                       // for kPackedWeights
  ProductsOf products = {};                                 // for packed matrices; empty: nothing is known of inputs
  KeptMatrices* kept = nullptr;                             // if there is one, takes and gives matrices
  std::vector<MatrixLevel> accuracy;                        // empty: the spec's fine inputs, no second matrix
  goldcrest_limits limits = {};                             // zeros: the defaults of resolve_limits (metadata.h)
  std::optional<std::string> license, attribution;          // replace the checkpoint's
  std::function<void(size_t done, size_t total)> progress;  // in layers and tables; may be empty
};

// One tensor for the report.
struct TensorRecord {
  std::string name;                // the checkpoint's; if it has no name there, its place in the model
  std::string group;               // "encoder", "encoder.layers.0", ..., "decoder.layers.5", "projection"
  uint32_t rows = 0, columns = 0;  // before padding
  uint64_t bytes = 0;              // in the file, with padding, scales, sums and bias
  std::optional<double> sqnr_db;   // absent: kept as float32
};

// Allows code to hold a payload without including the tables' header, file/format.h.
struct DeleteMetadata {
  void operator()(format::ModelT* metadata) const;
};
using Metadata = std::unique_ptr<format::ModelT, DeleteMetadata>;

// A whole file except its self-test and the numbers that depend on the bytes (places and checksums).
struct Payload {
  Metadata metadata;
  std::vector<SectionBytes> sections;  // all four, in the order of their kinds
  std::vector<TensorRecord> tensors;   // in the order of the file
};

// Returns the matrices of a spec whose inputs BuildOptions::products should know: one for each packed linear layer of
// the file. Throws Error for a name that fits none.
std::vector<const Matrix*> packed_inputs(const ModelSpec& spec, const std::vector<MatrixLevel>& pack);

// Validates, quantizes and packs. Throws Error.
Payload build_payload(const ModelSpec& spec, const BuildOptions& options);
}  // namespace goldcrest::converter
