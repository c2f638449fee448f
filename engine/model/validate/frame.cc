// SPDX-License-Identifier: Apache-2.0
// Checks a file around its arrays (FORMAT.md, sections 1 and 2: trailer, metadata's structure, features, sections,
// checksums), and then everything else.
#include "base/exact_floats.h"
#include <string.h>
#include "base/build_options.h"
#include "model/validate.h"
#include "model/validate/trailer.h"
#include "model/validate/validator.h"

namespace goldcrest {
int Validator::check_frame() {
  Trailer trailer;
  GOLDCREST_TRY(read_trailer(file_, file_bytes_, functions_, &trailer, detail));
  GOLDCREST_REQUIRE_INTACT(
      functions_.crc32c(0, file_, trailer.metadata_bytes) == trailer.metadata_crc32c, "metadata: checksum", -1);
  GOLDCREST_REQUIRE_INTACT(memcmp(file_ + 4, "GCST", 4) == 0, "metadata: identifier", -1);

  bool lacks_feature;
  GOLDCREST_REQUIRE_INTACT(metadata_is_sound(file_, trailer.metadata_bytes, &lacks_feature), "metadata: structure", -1);
  model_ = format::GetModel(file_);
  GOLDCREST_REQUIRE_INTACT(model_->format_version() == trailer.format_version, "metadata: format version", -1);
  metadata_bytes_ = trailer.metadata_bytes;
  GOLDCREST_TRY(check_features());
  return lacks_feature ? refuse({"metadata: feature bits", -1}) : GOLDCREST_OK;
}

// Float32 has a message of its own, because it can name the remedy.
int Validator::check_features() {
  const uint32_t features = features_ = model_->features();
  const uint32_t lacking = features & ~(kSupportedFeatures | kFeatureFloat32);
  if (lacking != 0) {
    const char* const refusal = refusal_of(lacking);
    return fail(detail, GOLDCREST_ERROR_UNSUPPORTED, refusal != nullptr ? refusal : "metadata: feature bits",
        static_cast<int32_t>(features));
  }
  GOLDCREST_REQUIRE((features & kFeatureFloat32) == 0 || functions_.float32, GOLDCREST_ERROR_UNSUPPORTED,
      "float32 weights, which this build cannot run; convert without --weights float32", -1);
  return GOLDCREST_OK;
}

int Validator::check_sections() {
  GOLDCREST_REQUIRE_INTACT(
      model_->sections() != nullptr && model_->sections()->size() == 4, "sections: four are needed", -1);
  uint64_t previous_end = metadata_bytes_;
  for (uint32_t i = 0; i < 4; ++i) {
    const format::Section* table = model_->sections()->at(i);
    const int32_t index = static_cast<int32_t>(i);
    const int kind = static_cast<int>(table->kind());
    GOLDCREST_REQUIRE_INTACT(kind == index, "sections: kind", index);
    const uint64_t start = table->offset() * kAlignment, end = file_bytes_ - sizeof(Trailer);
    GOLDCREST_REQUIRE_INTACT(
        start == align_bytes(previous_end) && start <= end && table->size() <= end - start, "sections: extent", index);
    GOLDCREST_REQUIRE_INTACT(is_padding(previous_end, start), "sections: padding before", index);
    previous_end = start + table->size();
    sections_[kind] = {file_ + start, table->size()};
    if (functions_.metadata_only || table->kind() == format::SectionKind::Weights) continue;  // stacks.cc checks these
    GOLDCREST_REQUIRE_INTACT(functions_.crc32c(0, file_ + start, static_cast<size_t>(table->size())) == table->crc32c(),
        "sections: checksum", index);
  }
  GOLDCREST_REQUIRE_INTACT(align_bytes(previous_end) == file_bytes_ - sizeof(Trailer) &&
                               is_padding(previous_end, file_bytes_ - sizeof(Trailer)),
      "sections: padding before the trailer", -1);
  return GOLDCREST_OK;
}

// A checksum covers every byte of the file, except the padding, which must be zero.
bool Validator::is_padding(uint64_t begin, uint64_t end) const {
  if (functions_.metadata_only) return true;
  while (begin < end && file_[begin] == 0) ++begin;
  return begin == end;
}

void Validator::checksum_weights_to(uint64_t end) {
  if (end <= checksummed_bytes_) return;
  weights_crc_ = functions_.crc32c(weights_crc_, section(format::SectionKind::Weights).start + checksummed_bytes_,
      static_cast<size_t>(end - checksummed_bytes_));
  checksummed_bytes_ = end;
}

int Validator::check_weights_checksum() {
  if (functions_.weights_valid == nullptr) return GOLDCREST_OK;
  checksum_weights_to(section(format::SectionKind::Weights).size);
  GOLDCREST_REQUIRE_INTACT(weights_crc_ == model_->sections()->at(0)->crc32c(), "sections: checksum", 0);
  return GOLDCREST_OK;
}

// Each check relies on those before it.
int Validator::run() {
  GOLDCREST_TRY(check_frame());
  GOLDCREST_TRY(check_sections());
  GOLDCREST_TRY(check_stack(model_->encoder(), false, "encoder: dimensions"));
  GOLDCREST_TRY(check_stack(model_->decoder(), true, "decoder: dimensions"));
  if (!has_frontend()) source_vocab_size_ = model_->encoder()->embedding()->vocab_size();
  GOLDCREST_REQUIRE_INTACT(
      model_->projection() != nullptr && model_->projection()->n() <= kMaxVocabulary, "projection", -1);
  target_vocab_size_ = model_->projection()->n();
  GOLDCREST_REQUIRE_INTACT(
      model_->decoder()->embedding()->vocab_size() == target_vocab_size_, "decoder.embedding: rows", -1);
  GOLDCREST_TRY(
      check_linear(model_->projection(), target_vocab_size_, model_->decoder()->d_model(), {"projection", -1}));
  GOLDCREST_TRY(check_layers(*model_->encoder(), false));
  GOLDCREST_TRY(check_layers(*model_->decoder(), true));
  GOLDCREST_TRY(check_weights_checksum());
  GOLDCREST_TRY(check_generation());
  GOLDCREST_TRY(check_limits());
  GOLDCREST_TRY(check_tokenizer());
  GOLDCREST_TRY(check_detokenizer());
  if (has_feature(features_, kFeatureShortlist | kFeatureLexicon)) GOLDCREST_TRY(check_shortlist());
  if (has_feature(features_, kFeatureLexicon)) GOLDCREST_TRY(check_lexicon_of_file());
  GOLDCREST_TRY(check_self_tests());
  if (has_feature(features_, kFeatureLanguages)) GOLDCREST_TRY(check_languages());
  if (has_feature(features_, kFeatureSequences)) GOLDCREST_TRY(check_sequences());
  if (has_feature(features_, kFeatureVoice)) GOLDCREST_TRY(check_voice());
  return has_feature(features_, kFeaturePrompt | (kHasTimestamps ? kFeatureTimestamps : 0)) ? check_prompt()
                                                                                            : GOLDCREST_OK;
}

int validate_model(const void* model, size_t model_bytes, const VerifyFunctions& functions, goldcrest_detail* detail) {
  goldcrest_detail unwanted;
  goldcrest_detail& wanted = detail != nullptr ? *detail : unwanted;
  return Validator(static_cast<const uint8_t*>(model), model_bytes, functions, wanted).run();
}
}  // namespace goldcrest
