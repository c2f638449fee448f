// SPDX-License-Identifier: Apache-2.0
#include "languages.h"

#include <algorithm>

#include "goldcrest/languages.h"
#include "model/model_view.h"
#include "sources/messages/messages.h"
#include "spec/printable.h"

namespace {

void add_code(void* context, const char* code, size_t code_bytes, int32_t) {
  static_cast<std::vector<std::string>*>(context)->emplace_back(code, code_bytes);
}

std::string in_quotes(const std::string& text) { return '"' + goldcrest::converter::printable(text) + '"'; }

// Returns, for example: --target-lang "de": the model's target languages are "fra", "ita"
std::string refusal(const std::string& side, const std::string& asked, const std::vector<std::string>& found) {
  constexpr size_t kMostNamed = 12;
  std::string text = "--" + side + "-lang " + in_quotes(asked) + ": the model's " + side + " language" +
                     (found.size() > 1 ? "s are " : " is ");
  if (found.size() == 1 && found[0].empty()) return text + "not stated";
  for (size_t i = 0; i < std::min(found.size(), kMostNamed); ++i) text += (i == 0 ? "" : ", ") + in_quotes(found[i]);
  if (found.size() > kMostNamed)
    text += " and " + std::to_string(found.size() - kMostNamed) + " more, which goldcrest-inspect lists";
  return text + goldcrest::converter::guess(asked, found);
}

}  // namespace

std::vector<std::string> target_languages(const void* model, size_t model_bytes) {
  std::vector<std::string> codes;
  const int n = goldcrest_target_languages(model, model_bytes, add_code, &codes, nullptr);
  if (n < 0) codes.clear();
  return codes;
}

std::string languages_problem(const void* model, size_t model_bytes, const std::string& source,
                              const std::string& target) {
  goldcrest_info info = {};
  const int status = goldcrest_model_info(model, model_bytes, &info, nullptr);
  if (status < 0) return goldcrest_status_string(status);
  if (!source.empty() && source != info.source_language) return refusal("source", source, {info.source_language});
  std::vector<std::string> targets = target_languages(model, model_bytes);
  if (targets.empty()) targets = {info.target_language};
  const bool is_known = target.empty() || std::find(targets.begin(), targets.end(), target) != targets.end();
  return is_known ? "" : refusal("target", target, targets);
}

std::vector<int32_t> source_end(const void* model) {
  const goldcrest::GenerationView generation = goldcrest::view_generation(model);
  return {generation.source_suffix, generation.source_suffix + generation.n_suffix};
}

bool takes_sentences(const void* model) {
  using goldcrest::TokenizerKind;
  goldcrest::TokenizerView tokenizer = {};
  if (!goldcrest::view_tokenizer(model, &tokenizer)) return false;
  return tokenizer.kind != TokenizerKind::kWord && tokenizer.kind != TokenizerKind::kCharacter;
}
