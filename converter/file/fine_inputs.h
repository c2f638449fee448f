// SPDX-License-Identifier: Apache-2.0
// --fine: the linear layers of an int8 file whose inputs have 16 bits (FORMAT.md, "Fine inputs and refined weights").
// The weights stay the same, so a payload can change its choice. --refine: the matrices that have a second int8 matrix.
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

// The matrices that an option names: by name, in which * stands for any text; or "none", "all" or "decoder".
class MatrixNames {
 public:
  MatrixNames(std::string option, const std::vector<std::string>& words);
  // Returns whether a word means this matrix. is_decoder: whether "decoder" does; by default, if it is not the
  // encoder's.
  bool choose(const std::string& matrix, bool is_decoder);
  bool choose(const std::string& matrix) { return choose(matrix, !matrix.starts_with("encoder.")); }
  // Throws Error if a word meant no matrix that `choose` was asked for. Names the word, `other_words` and the matrices.
  void check(const std::string& other_words) const;

 private:
  struct Word {
    std::string text;
    bool found;
  };
  std::string option_;
  std::vector<Word> words_;
  std::vector<std::string> matrices_;  // all, those of equal layers once
};

// Returns the name of a layer's matrix: "encoder.layers.0.feed_forward.in".
std::string matrix_name(const std::string& layer, const MatrixEntry& entry);

// A matrix of the file that can have fine inputs.
struct FineSite {
  std::string name;         // "encoder.layers.0.feed_forward.out", "encoder.convolutions.2", "projection"
  bool reads_source;        // its rows are those of the source; else of the target
  uint64_t macs;            // multiply-accumulates of one such row, those of a second matrix included
  format::LinearT* linear;  // of the model
};

// Returns the sites in the order of their computation. The model must outlive them.
std::vector<FineSite> fine_sites(format::ModelT& model);

// Gives fine inputs to these sites and to no others. `chosen`: one for each site.
void set_fine_inputs(const std::vector<bool>& chosen, format::ModelT& model);

// Does the same by names of sites, as MatrixNames has them; "decoder" means those that each target position multiplies.
// Throws Error that names what matches no site, and the sites.
void set_fine_inputs(const std::vector<std::string>& names, format::ModelT& model);

// The choice of --refine.
struct Refined {
  std::vector<std::string> matrices;   // and tables, that have a second matrix
  uint64_t bytes = 0;                  // of second matrices, scales and sums included
  std::vector<std::string> attention;  // stacks whose queries, keys and values have 16 bits
  bool any() const { return !matrices.empty() || !attention.empty(); }
};
Refined refined_parts(format::ModelT& model);

// Returns the bits of Feature that these need.
uint32_t refined_features(format::ModelT& model);

// Returns the work that fine inputs add, as a share of all linear layers' work for a source of `source_rows` and a
// target of `target_rows`.
double added_work(format::ModelT& model, double source_rows, double target_rows);

}  // namespace goldcrest::converter
