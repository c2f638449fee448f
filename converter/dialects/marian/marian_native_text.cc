// SPDX-License-Identifier: Apache-2.0
// The YAML that marian-decoder is started with, and the vocabularies that it names (marian-dev at 2781d735:
// src/common/config_parser.cpp, src/data/default_vocab.cpp).
#include <algorithm>
#include "base/bounds.h"
#include "dialects/marian/marian_native.h"
#include "dialects/text/subword_text.h"
#include "dialects/text/tokenizer_fit.h"
#include "dialects/text/vocabulary_file.h"
#include "host/wording.h"
#include "sources/files/input_file.h"
#include "sources/sniffing/sniff.h"
#include "sources/values/yaml_text.h"
#include "spec/error.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter {
namespace {
namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_yaml_name(const fs::path& path) { return path.extension() == ".yml" || path.extension() == ".yaml"; }

Config read_settings(const fs::path& path) {
  return Config(
      parse_yaml_settings(read_small_file(path, kYamlSettings.most_bytes), path.string()), path.string(), path);
}

// Returns the texts of a list, or one text as a list.
std::vector<std::string> texts_of(const Config& config, const char* key) {
  const Value* const value = config.find(key);
  if (value == nullptr) return {};
  if (value->is_text()) return {value->text()};
  std::vector<std::string> texts;
  for (const Value& item : value->is_list() ? *value : Value::list({0})) {
    if (!item.is_text()) throw Error("{} is not a list of file names", config.where(key));
    texts.push_back(item.text());
  }
  return texts;
}

// True if a YAML file has decoder settings whose "models" name the file.
bool is_settings_of(const fs::path& path, const fs::path& model) {
  if (!is_file(path) || fs::file_size(path) > kYamlSettings.most_bytes) return false;
  if (read_small_file(path, kYamlSettings.most_bytes).find("models") == std::string::npos) return false;
  const std::vector<std::string> models = texts_of(read_settings(path), "models");
  return std::any_of(models.begin(), models.end(),
      [&](const std::string& name) { return fs::path(name).filename() == model.filename(); });
}

// Returns the YAML in the folder that belongs to the model: Marian's own name for it, or the only one; "" if there is
// none.
fs::path find_settings(const fs::path& folder, const fs::path& model) {
  fs::path own = folder / (model.filename().string() + ".decoder.yml");
  std::vector<fs::path> found;
  for (const std::string& name : names_in(folder))
    if (is_yaml_name(name) && is_settings_of(folder / name, model)) found.push_back(folder / name);
  if (std::find(found.begin(), found.end(), own) != found.end()) return own;
  if (found.size() > 1) {
    throw Error("{}: {} and {} both name {}; give one of them with --config", folder.string(),
        in_quotes(found[0].filename().string()), in_quotes(found[1].filename().string()),
        in_quotes(model.filename().string()));
  }
  return found.empty() ? fs::path() : found[0];
}

struct VocabularyFiles {
  fs::path source, target;
};

// For settings without "vocabs": the only SentencePiece model, or two whose names tell source and target.
VocabularyFiles guess_vocabularies(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const std::string& name : names_in(folder))
    if (name.ends_with(".spm")) files.push_back(folder / name);
  if (files.size() == 1) return {files[0], files[0]};
  if (files.size() == 2) {
    const std::string first = files[0].filename().string(), second = files[1].filename().string();
    if (is_source_and_target(first, second)) return {files[0], files[1]};
    if (is_source_and_target(second, first)) return {files[1], files[0]};
  }
  throw Error(
      "{}: its vocabularies are not known: expected the YAML that marian-decoder is started with next to the model (or "
      "with --config), with \"models\" and \"vocabs\", or one .spm file, or srcvocab.spm and trgvocab.spm; found {}",
      folder.string(), files.empty() ? "no .spm file" : format_text("{} .spm files", files.size()));
}

VocabularyFiles find_vocabularies(const Checkpoint& checkpoint, const Config& decoder) {
  const std::vector<std::string> names = texts_of(decoder, "vocabs");
  if (names.empty()) return guess_vocabularies(checkpoint.directory);
  if (names.size() != 2)
    throw Error("{} has {} files, expected two: of one source and one target", decoder.where("vocabs"), names.size());
  return {named_file(decoder, names[0]), named_file(decoder, names[1])};
}

// One side's tokenizer, its end id, and their files.
struct MarianVocabulary {
  TokenizerSpec tokenizer;
  uint32_t end_id = 0;
  fs::path path;                            // a SentencePiece model, or a list of pieces
  Vocabulary list = {};                     // empty for a SentencePiece model
  fs::path model_path = {};                 // cuts texts into the list's pieces
  std::optional<TokenizerSpec> model = {};  // if absent, the list is of words
};

MarianVocabulary sentencepiece_vocabulary(const fs::path& path) {
  MarianVocabulary result{read_sentencepiece_model(path), 0, path};
  const std::vector<Piece>& pieces = result.tokenizer.pieces;
  const auto end = std::find_if(pieces.begin(), pieces.end(), [](const Piece& piece) { return piece.text == "</s>"; });
  if (end == pieces.end()) throw Error("{}: has no piece \"</s>\", the end token", path.string());
  result.end_id = static_cast<uint32_t>(end - pieces.begin());
  return result;
}

// Marian still reads models of Nematus, which calls the ids 0 and 1 "eos" and "UNK".
uint32_t special_id(const Vocabulary& vocabulary, const char* text, uint32_t old_id, const char* old_text) {
  const std::vector<std::string>& texts = vocabulary.id_to_text;
  if (old_id < texts.size() && texts[old_id] == old_text) return old_id;
  return require_id(vocabulary, text, old_id == 0 ? "the end token" : "the unknown token");
}

// Reads a list of pieces. `model` is the SentencePiece model that cuts texts into them; if it is empty, the list is of
// words.
MarianVocabulary listed_vocabulary(
    const fs::path& path, const fs::path& model, uint32_t n_ids, std::vector<std::string>& warnings) {
  Vocabulary list = read_vocabulary(path, n_ids);
  const uint32_t end_id = special_id(list, "</s>", 0, "eos");
  list.unknown_id = special_id(list, "<unk>", 1, "UNK");
  list.control_ids = {end_id};
  check_gaps(list, warnings);
  if (!is_file(model)) {
    TokenizerSpec words = word_tokenizer(list);
    return {std::move(words), end_id, path, std::move(list)};
  }
  TokenizerSpec pieces = read_sentencepiece_model(model);
  TokenizerSpec tokenizer = combine_with_vocabulary(pieces, list);
  return {std::move(tokenizer), end_id, path, std::move(list), model, std::move(pieces)};
}

// `side` is "source" or "target". The result has an entry for each of n_ids rows.
MarianVocabulary read_marian_vocabulary(
    const fs::path& path, const std::string& side, uint32_t n_ids, std::vector<std::string>& warnings) {
  if (path.extension() == ".fsv") throw Error("{}: is a factored vocabulary, which is not supported", path.string());
  if (!is_sentencepiece_name(path.string()))
    return listed_vocabulary(path, path.parent_path() / (side + ".spm"), n_ids, warnings);
  MarianVocabulary result = sentencepiece_vocabulary(path);
  TokenizerSpec& tokenizer = result.tokenizer;
  if (tokenizer.vocab_size > n_ids) {
    throw Error(
        "{}: has {} pieces, but the {}'s embedding has {} rows", path.string(), tokenizer.vocab_size, side, n_ids);
  }
  if (tokenizer.vocab_size < n_ids) {
    warnings.push_back(
        format_text("{}: {} of {} ids have no piece", path.string(), n_ids - tokenizer.vocab_size, n_ids));
    tokenizer.pieces.resize(n_ids, {"", 0, PieceType::kControl});
    tokenizer.vocab_size = n_ids;
  }
  return result;
}

// Checks that the SentencePiece models next to lists belong to them.
void check_models(const MarianVocabulary& source, const MarianVocabulary& target, std::vector<std::string>& warnings) {
  const auto pieces_of = [](const MarianVocabulary& side, const Vocabulary& list) {
    return PiecesOf{side.model_path, &*side.model, &list, ""};
  };
  if (source.model && target.model) {
    const bool is_shared = source.path == target.path;
    check_both(pieces_of(source, source.list), pieces_of(target, is_shared ? source.list : target.list), warnings);
    return;
  }
  for (const MarianVocabulary* side : {&source, &target}) {
    if (!side->model) continue;
    check_pieces(pieces_of(*side, side->list), warnings);
    check_entries(side->list, {pieces_of(*side, side->list)}, warnings);
  }
}

// Reads subword-nmt's merges next to the model, as OPUS-MT's downloads have them, if the vocabularies are lists without
// SentencePiece models. Returns the merges' files.
std::vector<fs::path> read_merges(
    const fs::path& folder, const MarianVocabulary& source, const MarianVocabulary& target, ModelSpec& spec) {
  if (source.list.id_to_text.empty() || target.list.id_to_text.empty() || source.model || target.model) return {};
  std::vector<std::string> names;
  for (const std::string& name : names_in(folder))
    if (is_codes_name(name)) names.push_back(name);
  const auto sides = source_and_target_files(names, "files of subword-nmt's merges cut", folder.string());
  if (!sides) return {};
  const auto codes_in = [&](size_t i) {
    const fs::path path = folder / names[i];
    return parse_subword_codes(read_small_file(path, kMaxCodesBytes), path.string());
  };
  const SubwordCodes of_source = codes_in(sides->first), of_target = codes_in(sides->second);
  const Vocabulary& target_list = source.path == target.path ? source.list : target.list;
  set_subword_tokenizers({&of_source, &source.list}, {&of_target, &target_list}, spec);
  std::vector<fs::path> files = {of_source.where};
  if (sides->first != sides->second) files.emplace_back(of_target.where);
  return files;
}

std::vector<fs::path> files_of(const MarianVocabulary& source, const MarianVocabulary& target) {
  std::vector<fs::path> files;
  for (const fs::path& file : {source.path, target.path, source.model_path, target.model_path})
    if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  return files;
}
}  // namespace

fs::path named_file(const Config& decoder, const std::string& name) {
  const fs::path beside = decoder.path().parent_path(), folder = beside.empty() ? fs::path(".") : beside;
  const fs::path as_written = folder / name;  // `name` itself, if it is absolute
  return is_file(as_written) ? as_written : folder / fs::path(name).filename();
}

Config find_decoder_settings(const Checkpoint& checkpoint, std::vector<std::string>& warnings) {
  const fs::path model = checkpoint.tensors->files()[0];
  const fs::path path = checkpoint.settings.empty() ? find_settings(checkpoint.directory, model) : checkpoint.settings;
  if (path.empty()) {
    warnings.push_back(format_text(
        "{}: no YAML next to it has \"models\" that name it; it searches greedily, with normalize 1", model.string()));
    return Config({{"beam-size", 1u}, {"normalize", 1u}}, model.string(), checkpoint.directory / "decoder.yml");
  }
  Config decoder = read_settings(path);
  const size_t n = texts_of(decoder, "models").size();
  if (n > 1) throw Error("{} has {} files, expected one: ensembles are not supported", decoder.where("models"), n);
  return decoder;
}

void read_marian_text(const Checkpoint& checkpoint, const Config& decoder, ModelSpec& spec) {
  const uint32_t source_rows = spec.encoder.embedding->rows, target_rows = spec.decoder.embedding->rows;
  const VocabularyFiles files = find_vocabularies(checkpoint, decoder);
  MarianVocabulary source = read_marian_vocabulary(files.source, "source", source_rows, spec.warnings);
  std::vector<std::string> of_target;  // repeats the warnings if one file is for both
  MarianVocabulary target = read_marian_vocabulary(files.target, "target", target_rows, of_target);
  if (files.target != files.source) spec.warnings.insert(spec.warnings.end(), of_target.begin(), of_target.end());
  check_models(source, target, spec.warnings);
  spec.tokenizer_files = files_of(source, target);
  GenerationSpec& generation = spec.generation;
  read_marian_search(decoder, generation, spec.warnings);
  generation.end_id = target.end_id;
  generation.source_suffix = {source.end_id};
  generation.unknown_id = target.tokenizer.unknown_id;
  if (!decoder.flag_or("allow-unk", false)) generation.suppressed_ids = {target.tokenizer.unknown_id};
  generation.max_target_tokens = spec.decoder.positions.rows;
  spec.source_tokenizer = std::move(source.tokenizer);
  spec.target_tokenizer = std::move(target.tokenizer);
  const std::vector<fs::path> merges = read_merges(checkpoint.directory, source, target, spec);
  spec.tokenizer_files.insert(spec.tokenizer_files.end(), merges.begin(), merges.end());
}
}  // namespace goldcrest::converter
