// SPDX-License-Identifier: Apache-2.0
// The int8 engine over a file image, with its own memory. The converter's self-test and --evaluate run on it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>
#include "evaluate/evaluate.h"
#include "file/write.h"
#include "goldcrest/goldcrest.h"
#include "host/sentence_search.h"

namespace goldcrest::converter {
class EngineSession : public Session {
 public:
  // Throws Error naming `file` if the engine refuses the model or the limits. The model must outlive the session.
  // prepare: see Session::Options
  EngineSession(std::span<const uint8_t> model, const goldcrest_limits& limits, const std::string& file,
      std::function<std::string(goldcrest_config*)> prepare = {});

  void set_search(const goldcrest_search& search);
  // Chooses the languages of self-test line `line`, if the model has a table of them: the defaults, or else the first
  // ones. If the target's language is forced as the first token, lines take the targets in turn. Returns whether it is.
  bool choose_languages(size_t line);
  // Returns the ids that the file's tokenizer gives for a text. Throws Error if the text is too long for the limits.
  std::vector<int32_t> encode(const std::string& text);
  std::string decode(std::span<const int32_t> tokens);
 private:
  void check(int64_t status, const std::string& context) const;
};

enum class Lines { kText, kIds, kClips, kImages };

// The int8 side of an evaluation, in batches of the session's limits. With Lines::kIds, sources and result texts are
// ids (line_encoder.h). With Lines::kClips, sources are WAV files, and result texts are their words (line_encoder.h).
// With Lines::kImages, sources are PNG and JPEG files.
class EngineTranslator : public Translator {
 public:
  explicit EngineTranslator(EngineSession& session, Lines lines = Lines::kText) : session_(session), lines_(lines) {}
  std::vector<Translation> translate(std::span<const std::string> sources) override { return run(sources, {}); }
  // Throws Error if the line is no source.
  host::Sentence read(const std::string& line);
  // Does not search, but computes the log-probabilities of given results. One that has an error keeps it. The session's
  // limits.inspection need both bits.
  std::vector<Translation> score(std::span<const std::string> sources, std::span<const Translation> targets) {
    return run(sources, targets);
  }
 private:
  // `targets`: one for each source, or none.
  std::vector<Translation> run(std::span<const std::string> sources, std::span<const Translation> targets);
  std::string text_of(const host::Found& found) const;

  EngineSession& session_;
  Lines lines_;
};

// Returns the engine's description of a model. Throws Error naming `file`.
goldcrest_info read_info(std::span<const uint8_t> model, const std::string& file);

// Returns greedy ids and logits hash of each source, as the file's self-test stores them. Sources that are too long for
// the limits are left out. If all are searched among candidates, the first is also searched among the whole vocabulary.
// `progress` counts sources; may be empty.
std::vector<SelfTestLine> make_self_test(EngineSession& session, std::span<const std::vector<int32_t>> sources,
    const std::function<void(size_t done, size_t total)>& progress);

// The same for a model of speech and one clip. Returns no line if the clip does not fit the limits.
std::vector<SelfTestLine> make_self_test(EngineSession& session, std::span<const int16_t> samples);

// Returns half a second of made-up sound, or as much as max_source_tokens rows take: tones that change, and noise.
// Empty for a model that takes no samples.
std::vector<int16_t> made_up_clip(const ModelSpec& spec, uint32_t max_source_tokens);

// Returns sources of seeded random ids, ended like the model's texts, as for a self-test without lines of the user.
// lengths: of the sources without what stands around a text. A model of speech has none.
std::vector<std::vector<int32_t>> random_sources(
    const ModelSpec& spec, uint32_t max_source_tokens, const std::vector<uint32_t>& lengths = {3, 7, 12});
}  // namespace goldcrest::converter
