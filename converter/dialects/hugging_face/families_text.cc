// SPDX-License-Identifier: Apache-2.0
// Tokenizers of mBART, mBART-50, M2M-100, NLLB and Pegasus: a SentencePiece model whose ids fairseq's dictionary
// shifts, special tokens in front and languages after (transformers/models/FAMILY/tokenization_FAMILY.py at v4.57).
// A BART that misaki uses for unknown words has letters and phonemes, which config.json lists.
#include <algorithm>
#include <optional>
#include "dialects/hugging_face/families.h"
#include "dialects/hugging_face/side_files.h"
#include "dialects/hugging_face/special_tokens.h"
#include "dialects/text/tokenizer_fit.h"
#include "dialects/text/vocabulary_file.h"
#include "host/wording.h"
#include "sources/values/json_text.h"
#include "spec/error.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kShiftByOne = 1, kPegasusShift = 103;

// A tokenizer's class: where it puts the languages, and how it writes one.
struct Class {
  const char* name;   // in tokenizer_config.json
  const char* shape;  // an entry: a and A stand for letters, other characters for themselves
  LanguagePlace source;
  LanguagePlace target;
};
constexpr Class kClasses[] = {
    {"NllbTokenizer", "aaa_Aaaa", LanguagePlace::kBeforeText, LanguagePlace::kForcedFirst},
    {"M2M100Tokenizer", "__aa__", LanguagePlace::kBeforeText, LanguagePlace::kForcedFirst},
    {"MBart50Tokenizer", "aa_AA", LanguagePlace::kBeforeText, LanguagePlace::kForcedFirst},
    {"MBartTokenizer", "aa_AA", LanguagePlace::kBehindText, LanguagePlace::kStart},
};
constexpr const Class &kNllb = kClasses[0], &kM2m = kClasses[1], &kMBart50 = kClasses[2], &kMBart = kClasses[3];

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// The code of an entry that is a language's; else empty. M2M-100's languages have two or three letters.
std::string code_of(const std::string& text, const Class& kind) {
  if (&kind == &kM2m) {
    if (text.size() < 6 || text.size() > 7 || !text.starts_with("__") || !text.ends_with("__")) return "";
    std::string code = text.substr(2, text.size() - 4);
    return std::all_of(code.begin(), code.end(), is_lower) ? code : "";
  }
  const std::string_view shape = kind.shape;
  if (text.size() != shape.size()) return "";
  for (size_t i = 0; i < text.size(); ++i) {
    const bool fits = shape[i] == 'a' ? is_lower(text[i]) : shape[i] == 'A' ? is_upper(text[i]) : text[i] == shape[i];
    if (!fits) return "";
  }
  return text;
}

class FamilyTextReader {
 public:
  FamilyTextReader(const Checkpoint& checkpoint, const TextSizes& sizes, ModelSpec& spec)
      : checkpoint_(checkpoint),
        sizes_(sizes),
        tokenizer_(side_config(checkpoint, "tokenizer_config.json")),
        special_(read_special_texts(tokenizer_, {"<unk>", "</s>", "<pad>"})),
        added_(read_added_tokens(checkpoint)),
        files_(checkpoint, sizes.kind == FamilyText::kPegasus ? "spiece.model" : "sentencepiece.bpe.model"),
        spec_(spec) {}

  void read_pegasus() {
    if (!files_.has_pieces()) {
      const std::optional<TokenizerSpec> model = files_.read_json(spec_, AroundText{{}, {special_.end}});
      if (model) finish(*model, named(*model));
      return;
    }
    const TokenizerSpec model = sentencepiece("spiece.model");
    Vocabulary vocabulary = shifted(model, kPegasusShift, 0);
    vocabulary.unknown_id = model.unknown_id + kPegasusShift;
    vocabulary.id_to_text[0] = "<pad>";
    vocabulary.id_to_text[1] = "</s>";
    for (uint32_t id = 0; id < kPegasusShift; ++id) vocabulary.control_ids.push_back(id);
    finish(model, vocabulary);
  }

  void read_results() {
    const std::optional<TokenizerSpec> json =
        files_.has_pieces() ? std::nullopt : files_.read_json(spec_, std::nullopt);
    if (!json && !files_.has_pieces()) return;
    const TokenizerSpec model = json ? *json : sentencepiece("sentencepiece.bpe.model");
    Vocabulary vocabulary = json ? named(model) : shifted(model, kShiftByOne, kFirstOwnPiece);
    if (!json) name_special(model, vocabulary);
    spec_.target_tokenizer = combine_with_vocabulary(model, vocabulary);
    spec_.target_tokenizer->unknown_surface = "";
    spec_.generation.unknown_id = vocabulary.unknown_id;
  }

  void read_multilingual() {
    const Class& kind = tokenizer_class();
    const bool is_json = &kind != &kM2m && !files_.has_pieces();
    const std::optional<TokenizerSpec> json = is_json ? files_.read_json(spec_, std::nullopt) : std::nullopt;
    if (is_json && !json) return;
    const TokenizerSpec model = json ? *json : sentencepiece("sentencepiece.bpe.model");
    Vocabulary vocabulary = json             ? named(model)
                            : &kind == &kM2m ? listed()
                                             : shifted(model, kShiftByOne, kFirstOwnPiece);
    if (!json && &kind != &kM2m) name_special(model, vocabulary);
    add_entries(kind, vocabulary);
    if (&kind == &kM2m) {
      check_gaps(vocabulary, spec_.warnings);
      check_pieces({model_path_, &model, &vocabulary, ""}, spec_.warnings);
    }
    finish(model, vocabulary, &kind == &kM2m);
    place_languages(kind);
  }
 private:
  static constexpr uint32_t kFirstOwnPiece = 3;  // after SentencePiece's own <unk>, <s>, </s>

  std::filesystem::path file(const char* name) const {
    const std::filesystem::path path = side_file(checkpoint_, name);
    std::error_code error;
    if (std::filesystem::exists(path, error) || std::filesystem::is_symlink(path, error)) return path;
    throw Error("{}: is missing; copy it from the repository of the checkpoint or of the model that it was tuned from",
        path.string());
  }

  TokenizerSpec sentencepiece(const char* name) {
    model_path_ = file(name);
    spec_.tokenizer_files = {model_path_};
    return read_sentencepiece_model(model_path_);
  }

  // The tokenizer's class. Without a tokenizer_config.json a vocab.json tells M2M-100.
  const Class& tokenizer_class() const {
    std::string name = tokenizer_.text_or("tokenizer_class", "");
    if (name.ends_with("Fast")) name.resize(name.size() - 4);
    const bool is_mbart = sizes_.kind == FamilyText::kMBart;
    if (name.empty() || name == "PreTrainedTokenizer" || name == "TokenizersBackend") {
      std::error_code error;
      if (!is_mbart) return std::filesystem::exists(side_file(checkpoint_, "vocab.json"), error) ? kM2m : kNllb;
    }
    for (const Class& kind : kClasses)
      if (name == kind.name && is_mbart == (&kind == &kMBart50 || &kind == &kMBart)) return kind;
    throw Error("{} is {}, expected {}: it tells where the language stands", tokenizer_.where("tokenizer_class"),
        name.empty() ? "missing" : in_quotes(name),
        is_mbart ? "\"MBartTokenizer\" or \"MBart50Tokenizer\"" : "\"NllbTokenizer\" or \"M2M100Tokenizer\"");
  }

  // The entries of a tokenizer.json.
  Vocabulary named(const TokenizerSpec& model) const {
    require_room(files_.json(), model.vocab_size, sizes_.vocab_size);
    Vocabulary vocabulary;
    vocabulary.where = files_.json().string();
    vocabulary.unknown_id = model.unknown_id;
    vocabulary.id_to_text.resize(sizes_.vocab_size);
    for (uint32_t id = 0; id < model.vocab_size; ++id) {
      vocabulary.id_to_text[id] = model.pieces[id].text;
      if (model.pieces[id].type == PieceType::kControl) vocabulary.control_ids.push_back(id);
    }
    return vocabulary;
  }

  // The model's pieces from `first` on, each at its id plus `shift`.
  Vocabulary shifted(const TokenizerSpec& model, uint32_t shift, uint32_t first) const {
    require_room(model_path_, model.vocab_size + uint64_t{shift}, sizes_.vocab_size);
    Vocabulary vocabulary;
    vocabulary.where = model_path_.string();
    vocabulary.id_to_text.resize(sizes_.vocab_size);
    for (uint32_t id = first; id < model.vocab_size; ++id)
      if (model.pieces[id].type == PieceType::kControl) vocabulary.control_ids.push_back(id + shift);
      else vocabulary.id_to_text[id + shift] = model.pieces[id].text;
    return vocabulary;
  }

  // fairseq's <s>, <pad>, </s>, <unk> stand where SentencePiece has <unk>, <s>, </s>.
  void name_special(const TokenizerSpec& model, Vocabulary& vocabulary) const {
    if (model.vocab_size <= kFirstOwnPiece || model.unknown_id != 0 || model.pieces[1].type != PieceType::kControl ||
        model.pieces[2].type != PieceType::kControl)
      throw Error("{}: expected <unk>, <s> and </s> as its first pieces: it is another model's", model_path_.string());
    const char* const texts[] = {"<s>", "<pad>", "</s>", "<unk>"};
    for (uint32_t id = 0; id < std::size(texts); ++id) vocabulary.id_to_text[id] = texts[id];
    vocabulary.unknown_id = 3;
    vocabulary.control_ids.insert(vocabulary.control_ids.end(), {0, 1, 2});
  }

  // M2M-100's vocab.json.
  Vocabulary listed() {
    const std::filesystem::path path = file("vocab.json");
    spec_.tokenizer_files.push_back(path);
    Vocabulary vocabulary = read_vocabulary(path, sizes_.vocab_size);
    vocabulary.unknown_id = require_id(vocabulary, "<unk>", "the unknown token");
    for (const char* text : {"<s>", "<pad>", "</s>"})
      vocabulary.control_ids.push_back(require_id(vocabulary, text, "a special token"));
    return vocabulary;
  }

  // Entries that the tokenizer adds to its vocabulary. Older files only list the special ones, in the order of the ids
  // after the vocabulary.
  std::vector<AddedToken> added_entries(const Vocabulary& vocabulary) const {
    if (!added_.empty()) return added_;
    std::vector<AddedToken> entries;
    uint32_t next = sizes_.vocab_size;
    while (next > 0 && vocabulary.id_to_text[next - 1].empty()) --next;
    for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
      const Config file = side_config(checkpoint_, name);
      const Value* list = file.find("additional_special_tokens");
      for (size_t i = 0; list != nullptr && list->is_list() && i < list->size(); ++i) {
        const Value& entry = (*list)[i];
        const std::string text = entry.is_map()
                                     ? Config(entry, file.where("additional_special_tokens"), {}).text("content")
                                 : entry.is_text() ? entry.text()
                                                   : "";
        if (!text.empty() && !find_id(vocabulary, text))
          entries.push_back({text, next++, false, false, false, false, true});
      }
      if (!entries.empty()) return entries;
    }
    return entries;
  }

  void add_entries(const Class& kind, Vocabulary& vocabulary) {
    added_ = added_entries(vocabulary);
    for (const auto& [text, id, left, right, word, normalized, special] : added_) {
      if (id >= sizes_.vocab_size) {
        throw Error("{}: the entry {} has the id {}, but the checkpoint's vocabulary has {} entries",
            tokenizer_.path().string(), in_quotes(text), id, sizes_.vocab_size);
      }
      std::string& known = vocabulary.id_to_text[id];
      if (!known.empty() && known != text) {
        throw Error("{}: id {} is {}, but {} has {} there", tokenizer_.path().string(), id, in_quotes(text),
            vocabulary.where, in_quotes(known));
      }
      const std::string code = code_of(text, kind);
      if (known.empty() && (special || !code.empty())) vocabulary.control_ids.push_back(id);
      known = text;
      if (!code.empty()) spec_.languages.entries.push_back({code, id, id});
    }
    if (spec_.languages.entries.empty()) {
      throw Error(
          "{}: has no entries for languages such as {}; copy tokenizer_config.json and special_tokens_map.json "
          "(or tokenizer.json) from the repository of the checkpoint",
          tokenizer_.path().string(),
          in_quotes(&kind == &kNllb  ? "eng_Latn"
                    : &kind == &kM2m ? "__en__"
                                     : "en_XX"));
    }
  }

  void finish(const TokenizerSpec& model, const Vocabulary& vocabulary, bool splits_by_items = false) {
    spec_.source_tokenizer = combine_with_vocabulary(model, vocabulary);
    TokenizerSpec& tokenizer = *spec_.source_tokenizer;
    tokenizer.added_by_items = splits_by_items;
    // tokenization_nllb.py and tokenization_pegasus.py do so with a SentencePiece model; a tokenizer.json says it.
    if (files_.has_pieces()) tokenizer.added_keep_last_space = !splits_by_items && sizes_.kind != FamilyText::kMBart;
    set_added_tokens(checkpoint_, added_, spec_.languages, tokenizer);
    if (files_.has_pieces()) files_.compare(*spec_.source_tokenizer, spec_.warnings);
    spec_.target_tokenizer = spec_.source_tokenizer;
    spec_.generation.unknown_id = vocabulary.unknown_id;
    spec_.generation.source_suffix = {sizes_.end_id};
  }

  void place_languages(const Class& kind) {
    LanguagesSpec& languages = spec_.languages;
    const bool is_legacy = &kind == &kNllb && tokenizer_.flag_or("legacy_behaviour", false);
    languages.source_place = is_legacy ? LanguagePlace::kBehindText : kind.source;
    languages.target_place = kind.target;
    spec_.source_language = known_language("src_lang", kind);
    spec_.target_language = known_language("tgt_lang", kind);
    if (!spec_.target_language.empty()) return;
    const std::optional<uint32_t> forced = kind.target == LanguagePlace::kStart
                                               ? std::optional(spec_.generation.decoder_start_id)
                                               : spec_.generation.forced_first_id;
    for (const Language& entry : languages.entries)
      if (entry.target == forced) spec_.target_language = entry.code;
  }

  // A setting that names one of the languages, by its code or its whole entry; else empty.
  std::string known_language(const char* key, const Class& kind) const {
    const std::string name = tokenizer_.text_or(key, "");
    const std::string code = code_of(name, kind);
    for (const Language& entry : spec_.languages.entries)
      if (entry.code == name || entry.code == code) return entry.code;
    return "";
  }

  const Checkpoint& checkpoint_;
  const TextSizes& sizes_;
  const Config tokenizer_;
  const SpecialTexts special_;
  std::vector<AddedToken> added_;
  const TextFiles files_;
  ModelSpec& spec_;
  std::filesystem::path model_path_;
};

// The characters of a setting, by their ids; "_" stands for the first four, which are special. As misaki, this prints
// nothing for an unknown one.
TokenizerSpec listed_characters(const Config& config, const char* key, uint32_t vocab_size) {
  Vocabulary vocabulary = {config.where(key), {}, 3, {0, 1, 2}};
  std::vector<std::string>& texts = vocabulary.id_to_text;
  for (const char byte : config.text(key))
    if ((byte & 0xC0) == 0x80 && !texts.empty()) texts.back() += byte;
    else texts.emplace_back(1, byte);
  if (texts.size() <= 4 || texts.size() > vocab_size) {
    throw Error("{} has {} characters, expected four special ones and others, at most {}, the rows of the tables",
        vocabulary.where, texts.size(), vocab_size);
  }
  const char* const special[] = {"<pad>", "<s>", "</s>", "<unk>"};
  std::copy(std::begin(special), std::end(special), texts.begin());
  texts.resize(vocab_size);
  TokenizerSpec tokenizer = character_tokenizer(vocabulary);
  tokenizer.unknown_surface = "";
  return tokenizer;
}
}  // namespace

void read_family_text(const Checkpoint& checkpoint, const TextSizes& sizes, ModelSpec& spec) {
  if (sizes.kind != FamilyText::kXlmRoberta) spec.generation.source_suffix = {sizes.end_id};
  if (sizes.kind == FamilyText::kNone) {
    if (checkpoint.config.has("grapheme_chars")) {
      spec.source_tokenizer = listed_characters(checkpoint.config, "grapheme_chars", sizes.vocab_size);
      spec.target_tokenizer = listed_characters(checkpoint.config, "phoneme_chars", sizes.vocab_size);
      spec.generation.source_prefix = {1};
      spec.generation.source_suffix = {2};
      spec.generation.unknown_id = 3;
    } else if (!checkpoint.is_shape) {
      spec.warnings.emplace_back(
          "the tokenizer of this family (byte-level BPE, or words that another program cuts) is not read: the file "
          "takes and gives token ids (--ids)");
    }
    return;
  }
  const char* const model = sizes.kind == FamilyText::kPegasus ? "spiece.model" : "sentencepiece.bpe.model";
  if (checkpoint.is_shape && !TextFiles(checkpoint, model).has_any()) return;
  FamilyTextReader reader(checkpoint, sizes, spec);
  if (sizes.kind == FamilyText::kPegasus) reader.read_pegasus();
  else if (sizes.kind == FamilyText::kXlmRoberta) reader.read_results();
  else reader.read_multilingual();
}
}  // namespace goldcrest::converter
