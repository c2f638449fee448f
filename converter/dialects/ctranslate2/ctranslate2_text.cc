// SPDX-License-Identifier: Apache-2.0
// Vocabularies and special tokens of a CTranslate2 model (src/models/sequence_to_sequence.cc and src/vocabulary.cc at
// 0d8bcd36). The model does not say how texts are cut into pieces; SentencePiece models next to it are used if there
// are any.
#include <algorithm>
#include "dialects/ctranslate2/ctranslate2.h"
#include "dialects/text/subword_text.h"
#include "dialects/text/tokenizer_fit.h"
#include "dialects/text/vocabulary_file.h"
#include "host/wording.h"
#include "sources/values/json_text.h"
#include "spec/error.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter {
namespace {
constexpr uint64_t kMaxPiecesBytes = uint64_t{64} << 20, kMaxMetadataFileBytes = uint64_t{1} << 20;
// The defaults of CTranslate2's translate_batch (include/ctranslate2/translation.h): a text has a token before its end.
constexpr uint32_t kBeams = 2, kMostTokens = 256, kLeastTokens = 2;
// Argos Translate's call of it (argostranslate/translate.py, apply_packaged_translation, at 1.9), with
// replace_unknowns.
constexpr uint32_t kArgosBeams = 4;
constexpr float kArgosLengthPenalty = 0.2f;

// A file of the model's folder or of the package's.
struct SideFile {
  const InputFolder* folder;
  std::string name;
  std::string where() const { return folder->where(name); }
};

class TextReader {
 public:
  TextReader(const CTranslate2Files& files, const Config& config, ModelSpec& spec)
      : files_(files), config_(config), spec_(spec) {}

  void read(bool starts_from_zero) {
    source_ = vocabulary("source", spec_.encoder.embedding->rows);
    target_ = vocabulary("target", spec_.decoder.embedding->rows);
    read_special_ids(starts_from_zero);
    const bool is_argos = read_package();
    read_tokenizers();
    spec_.generation.beam_size = is_argos ? kArgosBeams : kBeams;
    if (is_argos) spec_.generation.length_penalty = kArgosLengthPenalty;
    if (!is_argos) spec_.generation.unknown = {};
    spec_.generation.max_target_tokens = std::min(kMostTokens, spec_.decoder.positions.rows);
    spec_.generation.min_target_tokens = std::min(kLeastTokens, spec_.generation.max_target_tokens);
    // src/decoding.cc: tokens are removed before the soft-max; the last position takes any token; a sentence is done
    // when as many hypotheses as beams have ended.
    spec_.generation.rules = {.renormalize = true, .force_end = false, .early_stopping = GOLDCREST_STOP_FULL};
    if (files_.model.has("vmap.txt"))
      spec_.warnings.push_back(files_.model.where("vmap.txt") +
                               " is not used, as CTranslate2 does without being asked; --shortlist takes it");
  }
 private:
  std::string text_of(const SideFile& file, uint64_t most_bytes) {
    if (!file.folder->is_zip()) {
      std::vector<std::filesystem::path>& hashed = spec_.tokenizer_files;
      if (std::find(hashed.begin(), hashed.end(), file.where()) == hashed.end()) hashed.emplace_back(file.where());
    }
    return file.folder->read(file.name, most_bytes);
  }

  // Reads the vocabulary that both sides share, or that of one side.
  Vocabulary vocabulary(const std::string& side, uint32_t n_ids) {
    for (const std::string& of : {std::string("shared"), side}) {
      for (const char* extension : {".json", ".txt"}) {
        const SideFile file = {&files_.model, of + "_vocabulary" + extension};
        if (!file.folder->has(file.name)) continue;
        Vocabulary found = parse_vocabulary(text_of(file, kMaxVocabularyBytes), file.where(), n_ids);
        find_special_entries(found);
        return found;
      }
    }
    if (side == "source" &&
        (files_.model.has("source_1_vocabulary.json") || files_.model.has("source_1_vocabulary.txt")))
      throw Error("{}: has several words per position (source features), which are not supported",
          files_.model.where("source_1_vocabulary"));
    throw Error(
        "{}: is missing, and so are shared_vocabulary.json and the .txt forms of both: copy the vocabulary from where "
        "the model came from",
        files_.model.where(side + "_vocabulary.json"));
  }

  // As in CTranslate2, an unknown token that the list lacks comes after all others.
  void find_special_entries(Vocabulary& vocabulary) {
    const std::string unknown = config_.text("unk_token");
    std::vector<std::string>& texts = vocabulary.id_to_text;
    const auto n = static_cast<size_t>(std::find_if(texts.rbegin(), texts.rend(), [](const std::string& text) {
      return !text.empty();
    }).base() - texts.begin());
    if (!find_id(vocabulary, unknown) && n < texts.size()) texts[n] = unknown;
    vocabulary.unknown_id = require_id(vocabulary, unknown, "the unknown token");
    for (const std::string& text :
        {config_.text("eos_token"), config_.text("bos_token"), config_.text_or("decoder_start_token", ""),
            std::string("<s>"), std::string("</s>"), std::string("<pad>"), std::string("<blank>")}) {
      const auto id = find_id(vocabulary, text);
      std::vector<uint32_t>& control = vocabulary.control_ids;
      const bool is_new =
          id && id != vocabulary.unknown_id && std::find(control.begin(), control.end(), *id) == control.end();
      if (is_new) control.push_back(*id);
    }
    check_gaps(vocabulary, spec_.warnings);
  }

  void read_special_ids(bool starts_from_zero) {
    GenerationSpec& generation = spec_.generation;
    const std::string end = config_.text("eos_token"), start = config_.text_or("decoder_start_token", "");
    generation.end_id = require_id(target_, end, "the end token");
    generation.unknown_id = target_.unknown_id;
    if (!starts_from_zero) {
      if (start.empty()) {
        throw Error(
            "{} is null: the first token of every target is the user's there; write it into that setting (or into a "
            "copy, for --config)",
            config_.where("decoder_start_token"));
      }
      generation.decoder_start_id = require_id(target_, start, "the decoder's start token");
    }
    if (config_.flag_or("add_source_bos", false))
      generation.source_prefix = {require_id(source_, config_.text("bos_token"), "the start token")};
    if (config_.flag_or("add_source_eos", false) || (starts_from_zero && start == end)) {
      generation.source_suffix = {require_id(source_, end, "the end token")};
    } else if (start == end && generation.source_prefix.empty()) {
      spec_.warnings.push_back(
          format_text("{} is false, and nothing is put around a source; if transformers' tokenizer put tokens there, "
                      "set it (and \"add_source_bos\"), or give ids",
              config_.where("add_source_eos")));
    }
  }

  // Reads Argos Translate's languages, and the token that its targets begin with. Returns false if there is no package.
  bool read_package() {
    if (!files_.package || !files_.package->has("metadata.json")) return false;
    const std::string where = files_.package->where("metadata.json");
    Value json = parse_json(files_.package->read("metadata.json", kMaxMetadataFileBytes), 8, where);
    if (!json.is_map()) throw Error("{}: found a JSON {}, expected an object", where, json.type_name());
    const Config metadata(std::move(json), where, where);
    spec_.source_language = metadata.text_or("from_code", "");
    spec_.target_language = metadata.text_or("to_code", "");
    const std::string prefix = metadata.text_or("target_prefix", "");
    if (prefix.empty()) return true;
    const uint32_t id = require_id(target_, prefix, "the token that targets begin with");
    spec_.generation.forced_first_id = id;
    target_.control_ids.push_back(id);
    return true;
  }

  std::vector<SideFile> files_named(bool (*is_it)(const std::string&)) const {
    std::vector<SideFile> found;
    for (const InputFolder* folder : {&files_.model, files_.package ? &*files_.package : nullptr}) {
      if (folder == nullptr) continue;
      for (const std::string& name : folder->names())
        if (is_it(name)) found.push_back({folder, name});
    }
    return found;
  }

  // Returns the source's and the target's file, which may be the same; nothing if there are no files.
  std::optional<std::pair<SideFile, SideFile>> sides_of(
      const std::vector<SideFile>& files, const std::string& what_cuts) const {
    std::vector<std::string> names;
    for (const SideFile& file : files) names.push_back(file.name);
    const auto sides = source_and_target_files(names, what_cuts, files_.model.path().string());
    if (!sides) return std::nullopt;
    return {{files[sides->first], files[sides->second]}};
  }

  void read_tokenizers() {
    const auto models = sides_of(files_named(is_pieces_name), "SentencePiece models cuts");
    if (models) return read_pieces(models->first, models->second);
    const auto codes = sides_of(files_named(is_codes_name), "files of subword-nmt's merges cut");
    if (codes) return read_merges(codes->first, codes->second);
    read_words();
  }

  void read_pieces(const SideFile& source, const SideFile& target) {
    const TokenizerSpec source_model = parse_sentencepiece_model(text_of(source, kMaxPiecesBytes), source.where());
    const TokenizerSpec target_model = parse_sentencepiece_model(text_of(target, kMaxPiecesBytes), target.where());
    const PiecesOf source_pieces = {source.where(), &source_model, &source_, spec_.source_language};
    const PiecesOf target_pieces = {target.where(), &target_model, &target_, spec_.target_language};
    if (source.where() == target.where()) {
      Vocabulary both = source_;
      both.id_to_text.insert(both.id_to_text.end(), target_.id_to_text.begin(), target_.id_to_text.end());
      check_pieces({source.where(), &source_model, &both, ""}, spec_.warnings);
    } else {
      check_pieces(source_pieces, spec_.warnings);
      check_pieces(target_pieces, spec_.warnings);
    }
    if (source_.where == target_.where) {
      check_entries(source_, {source_pieces, target_pieces}, spec_.warnings);
    } else {
      check_entries(source_, {source_pieces}, spec_.warnings);
      check_entries(target_, {target_pieces}, spec_.warnings);
    }
    spec_.source_tokenizer = combine_with_vocabulary(source_model, source_);
    spec_.target_tokenizer = combine_with_vocabulary(target_model, target_);
  }

  void read_merges(const SideFile& source, const SideFile& target) {
    const SubwordCodes source_codes = parse_subword_codes(text_of(source, kMaxCodesBytes), source.where());
    const SubwordCodes target_codes = parse_subword_codes(text_of(target, kMaxCodesBytes), target.where());
    set_subword_tokenizers({&source_codes, &source_}, {&target_codes, &target_}, spec_);
    if (source.name != "bpe.model") return;
    spec_.warnings.push_back(
        format_text("{}: Argos Translate takes texts through Moses's normalizer and tokenizer before these merges, and "
                    "back after them; Goldcrest does not: give it their words with spaces between them",
            source.where()));
  }

  // A text's entries are separated by spaces, as OpenNMT and CTranslate2 take them.
  void read_words() {
    spec_.source_tokenizer = word_tokenizer(source_);
    spec_.target_tokenizer = word_tokenizer(target_);
    spec_.warnings.push_back(words_warning(files_.model.where(files_.weights), source_.where));
  }

  const CTranslate2Files& files_;
  const Config& config_;
  ModelSpec& spec_;
  Vocabulary source_, target_;
};
}  // namespace

void read_ctranslate2_text(
    const CTranslate2Files& files, const Config& config, bool starts_from_zero, ModelSpec& spec) {
  TextReader(files, config, spec).read(starts_from_zero);
}
}  // namespace goldcrest::converter
