// SPDX-License-Identifier: Apache-2.0
// The shortlist of Marian's own models: marian-decoder's setting `shortlist`, which is `[FILE, FIRST, BEST, THRESHOLD]`
// for a text and `[FILE, CHECK]` for a binary (marian-dev at 2781d735: src/data/shortlist.cpp).
#include <charconv>
#include "dialects/marian/marian_native.h"
#include "dialects/shortlist/shortlist_file.h"
#include "host/wording.h"
#include "sources/sniffing/sniff.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
namespace fs = std::filesystem;

// Returns the binary shortlists of a folder, for a model whose settings name none.
std::vector<fs::path> find_binaries(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const std::string& name : names_in(folder))
    if (name.ends_with(".bin") && is_binary_shortlist(folder / name)) found.push_back(folder / name);
  return found;
}

// Returns number `at` of the setting, which YAML gives as a number or as a text.
double number_at(const Config& decoder, const Value& setting, size_t at, double fallback) {
  if (at >= setting.size()) return fallback;
  const Value& value = setting[at];
  const std::string text = value.is_text() ? value.text() : shown_setting(value);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number >= 0 && number <= 1e9))
    throw Error("{} has {}, expected a number", decoder.where("shortlist"), shown_setting(value));
  return number;
}

// Returns none, with a warning, if the file cannot be used, because the model works without it.
std::optional<ShortlistSpec> read_setting(const Config& decoder, const Value& setting, ModelSpec& spec) {
  if (!setting.is_list() || setting.empty() || !setting[0].is_text()) {
    throw Error(
        "{} is {}, expected a list that begins with a file's name", decoder.where("shortlist"), shown_setting(setting));
  }
  const fs::path path = named_file(decoder, setting[0].text());
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    spec.warnings.push_back(
        format_text("{} names {}, which is missing; no shortlist is used", decoder.where("shortlist"), path.string()));
    return {};
  }
  if (is_binary_shortlist(path))
    return read_binary_shortlist(path, {spec.encoder.embedding->rows, spec.decoder.embedding->rows});
  if (path.extension() == ".gz") {
    spec.warnings.push_back(
        format_text("{}: is compressed, and no shortlist is used; unpack it with gunzip, and name it with --shortlist",
            path.string()));
    return {};
  }
  const LexicalOptions defaults;
  const LexicalOptions options = {static_cast<uint32_t>(number_at(decoder, setting, 1, defaults.first)),
      static_cast<uint32_t>(number_at(decoder, setting, 2, defaults.best)),
      number_at(decoder, setting, 3, defaults.threshold)};
  return read_lexical_shortlist(path, {*spec.source_tokenizer, *spec.target_tokenizer}, options);
}
}  // namespace

void read_marian_shortlist(const Checkpoint& checkpoint, const Config& decoder, ModelSpec& spec) {
  if (const Value* const setting = decoder.find("shortlist")) {
    spec.shortlist = read_setting(decoder, *setting, spec);
    return;
  }
  const std::vector<fs::path> found = find_binaries(checkpoint.directory);
  if (found.size() == 1) {
    spec.shortlist = read_binary_shortlist(found[0], {spec.encoder.embedding->rows, spec.decoder.embedding->rows});
  } else if (!found.empty()) {
    spec.warnings.push_back(format_text("{}: has {} shortlists, and none is used; choose one with --shortlist",
        checkpoint.directory.string(), found.size()));
  }
}
}  // namespace goldcrest::converter
