// SPDX-License-Identifier: Apache-2.0
// The state of validate_model: the facts about the file that earlier checks found. Each file of this folder checks a
// part of the model file.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "base/align.h"
#include "base/bounds.h"
#include "base/build_options.h"
#include "base/status.h"
#include "model/float_bounds.h"
#include "model/packed.h"
#include "model/tokenizer_view.h"
#include "model/validate.h"
#include "model/validate/trailer.h"
#include "schema/model_reader_generated.h"

namespace goldcrest {
inline bool in_range(float x, float low, float high) { return x >= low && x <= high; }

struct ConvolutionView;
struct FrontendView;
struct LogMelView;

// The subject of a check: its name in errors, and the index of its layer or line (-1: there is only one).
struct Subject {
  const char* name;
  int32_t index;
};

// A matrix of the weights. Both dimensions are padded.
struct StoredMatrix {
  uint32_t units;
  uint32_t n, k;
  format::Layout layout;
  bool packed;  // read it with is_packed()

  [[gnu::always_inline]] bool is_packed() const { return has_packed(packed); }
  uint32_t row_bytes() const { return is_packed() ? packed_row_bytes(k) : k; }
  [[gnu::noinline]] uint64_t bytes() const { return uint64_t{n} * row_bytes(); }
};

class Validator {
 public:
  Validator(const uint8_t* file, uint64_t file_bytes, const VerifyFunctions& functions, goldcrest_detail& where)
      : file_(file), file_bytes_(file_bytes), functions_(functions), detail(where) {}

  int run();
  int refuse(Subject subject) { return fail(detail, GOLDCREST_ERROR_MODEL_CORRUPT, subject.name, subject.index); }
  int check_norm(const format::Norm* table, uint32_t d_model, const char* name, int32_t index);
  int check_linear(const format::Linear* table, uint32_t n, uint32_t k, Subject subject);
 private:
  // frame.cc
  int check_frame();
  int check_features();
  int check_sections();
  bool is_padding(uint64_t begin, uint64_t end) const;
  void checksum_weights_to(uint64_t end);
  int check_weights_checksum();

  // stacks.cc
  int refuse_weights(Subject subject);
  int check_int8_weights(const StoredMatrix& matrix, const int32_t* weight_sum, Subject subject);
  int check_float_weights(const StoredMatrix& matrix, Subject subject);
  template <typename Table> int check_kind(const Table& table, uint32_t n, Subject subject);
  bool is_projection(const StoredMatrix& matrix) const;
  int check_embedding(const format::Embedding* table, uint32_t d_model, const char* name);
  int check_stack(const format::Stack* stack, bool is_decoder, const char* name);
  bool bias_good(const format::AttentionBias* table, const format::Stack& stack, bool is_decoder) const;
  int check_layers(const format::Stack& stack, bool is_decoder);
  int check_rotary(const format::Stack& stack);
  int check_source(const format::Stack& stack, bool is_decoder);

  // speech.cc
  int check_frontend();
  int check_convolutions(const format::Frontend& table, const FrontendView& view);
  int check_convolution(const format::Convolution& table, const ConvolutionView& view, Subject subject);
  int check_log_mel(const format::Frontend& frontend, const FrontendView& view);
  // Returns the name of what is wrong, or null. *band <- the band that it concerns, if any.
  const char* wrong_of_log_mel(const LogMelView& view, int32_t* band);
  int check_image(const FrontendView& view);
  int check_voice();
  int check_samples(const format::SelfTestLine& line, int32_t index);

  // generation.cc
  int check_ids(const format::Vector<uint32_t>* ids, uint32_t vocab_size, const char* name, int32_t index);
  int check_generation();
  int check_length_factor(const format::Generation& table);
  int check_rules(const format::Generation& table);
  int check_sequences();
  int check_limits();
  int check_self_tests();

  // text.cc
  int check_tokenizer();
  int check_detokenizer();
  int check_languages();

  // prompt.cc
  int check_prompt();

  // lists.cc
  int check_shortlist();
  int check_lists(const format::Shortlist& table);
  template <typename Id> bool is_list(uint32_t units, uint32_t first, uint32_t end) const;
  int check_ngrams(const format::Shortlist& table);
  int check_lexicon_of_file();

  format::TokenizerKind last_kind() const {
    return has_feature(features_, kFeatureSubword) ? format::TokenizerKind::Subword : format::TokenizerKind::Character;
  }
  bool has_frontend() const { return has_feature(features_, kFeatureFrontend); }
  bool is_float32() const { return has_feature(features_, kFeatureFloat32); }
  // These check values of arrays in the parameters and positions. Only floats_good checks that they are inside the
  // file.
  [[gnu::noinline]] bool floats_good(const SectionView& arrays, uint32_t units, uint64_t n) const {
    return arrays.holds(units, 4 * n) && (functions_.metadata_only || values_in_range(arrays.at<float>(units), n));
  }
  bool scales_good(uint32_t units, uint64_t n) const {
    return functions_.metadata_only || scales_in_range(section(format::SectionKind::Parameters).at<float>(units), n);
  }
  bool padding_good(uint32_t units, uint32_t n, uint32_t expected_bits) const {
    return functions_.metadata_only ||
           padding_is(section(format::SectionKind::Parameters).at<float>(units), n, expected_bits);
  }
  const SectionView& section(format::SectionKind kind) const { return sections_[static_cast<int>(kind)]; }

  const uint8_t* file_;
  uint64_t file_bytes_;
  const VerifyFunctions& functions_;
  goldcrest_detail& detail;      // named for GOLDCREST_REQUIRE
  uint32_t metadata_bytes_ = 0;  // after check_frame, as is the model
  const format::Model* model_ = nullptr;
  uint32_t features_ = 0;
  SectionView sections_[4] = {};    // by kind
  uint64_t checksummed_bytes_ = 0;  // bytes of the weights so far
  uint32_t weights_crc_ = 0;        // checksum of these bytes
  uint32_t source_vocab_size_ = 0, target_vocab_size_ = 0;
};
}  // namespace goldcrest
