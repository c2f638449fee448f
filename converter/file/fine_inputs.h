// SPDX-License-Identifier: Apache-2.0
// --accuracy: the linear layers of an int8 file whose inputs have 16 bits (FORMAT.md, "Fine inputs and refined
// weights"), and the matrices that have a second int8 matrix. Inputs leave the weights as they are, so a payload can
// change their choice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace goldcrest::format {
struct LinearT;
struct ModelT;
}  // namespace goldcrest::format

namespace goldcrest {
struct MatrixEntry;
}

namespace goldcrest::converter {
class FileImage;

// Bits: a matrix may have these. kPackedWeights: 4 bits.
constexpr uint32_t kFineInput = 1, kSecondMatrix = 2, kPackedWeights = 4;

// These bits for the matrices of a name, in which * stands for any text. "all": every one; "linear": those of layers;
// "decoder": see terms_of().
struct MatrixLevel {
  std::string name;
  uint32_t terms = 0;
};

class MatrixLevels {
 public:
  // option: its name, for errors
  explicit MatrixLevels(const std::vector<MatrixLevel>& levels, std::string option = "--matrices");
  // Returns the bits of the last name that fits. is_decoder: whether "decoder" does; by default, if the matrix is not
  // the encoder's.
  uint32_t terms_of(const std::string& matrix, bool is_decoder);
  uint32_t terms_of(const std::string& matrix) { return terms_of(matrix, !matrix.starts_with("encoder.")); }
  // Returns whether keys are centred ("keys", and "all" with fine inputs).
  bool centres_keys() const;
  // Throws Error if a name fitted no matrix that terms_of was asked for.
  void check() const;
 private:
  struct Found : MatrixLevel {
    bool found = false;
  };
  std::vector<Found> levels_;
  std::string option_;
  std::vector<std::string> matrices_;  // all, those of equal layers once
};

// Returns the name of a layer's matrix: "encoder.layers.0.feed_forward.in".
std::string matrix_name(const std::string& layer, const MatrixEntry& entry);

// A matrix of the file that can have fine inputs.
struct FineSite {
  std::string name;         // "encoder.layers.0.feed_forward.out", "encoder.convolutions.2", "projection"
  bool reads_source;        // its rows are those of the source; else of the target
  uint64_t macs;            // multiply-accumulates of one such row, those of a second matrix included
  format::LinearT* linear;  // the model's
};

// Returns the sites in the order of their computation. The model must outlive them.
std::vector<FineSite> fine_sites(format::ModelT& model);

// Gives fine inputs to these sites and to no others. `chosen`: one for each site.
void set_fine_inputs(const std::vector<bool>& chosen, format::ModelT& model);

// Does the same by names of sites; "decoder" means those that each target position multiplies.
void set_fine_inputs(MatrixLevels& levels, format::ModelT& model);

// The matrices with a second one.
struct Refined {
  std::vector<std::string> matrices;   // and tables, that have a second matrix
  uint64_t bytes = 0;                  // second matrices, scales and sums included
  std::vector<std::string> attention;  // stacks whose queries, keys and values have 16 bits
  bool integer_weights = false;        // attention's weights are integers
  bool any() const { return !matrices.empty() || !attention.empty() || integer_weights; }
};
// `all`: as if the file were of --accuracy exact.
Refined refined_parts(format::ModelT& model, bool all);

// The matrices and tables with weights of 4 bits.
struct Packed {
  std::vector<std::string> names;
  size_t n_all = 0;                    // with the others
  uint64_t bytes = 0, int8_bytes = 0;  // their weights; those of int8
  double token_share = 0;              // share of the products of a target position
};
Packed packed_parts(format::ModelT& model);
// Returns the bytes of a model file, if all its weights had 8 bits.
uint64_t bytes_in_int8(const FileImage& image);

// Returns the bits of Feature that all of these need.
uint32_t refined_features(format::ModelT& model);

// Returns the work that fine inputs add, as a share of all linear layers' work for a source of `source_rows` and a
// target of `target_rows`.
double added_work(format::ModelT& model, double source_rows, double target_rows);
}  // namespace goldcrest::converter
