// SPDX-License-Identifier: Apache-2.0
// The parts are those of the crate tokenizers 0.22. Allowed is what transformers 5.23 makes from a SentencePiece model
// (convert_slow_tokenizer.py, SpmConverter, and tokenization_FAMILY.py).
#include "dialects/text/tokenizer_json.h"
#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <vector>
#include "base/bounds.h"
#include "dialects/config.h"
#include "host/printable.h"
#include "host/wording.h"
#include "spec/error.h"
#include "text/utf8.h"
#include "tokenizers/byte_piece.h"
#include "tokenizers/charsmap.h"
#include "tokenizers/segmenter.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kLines = 1000;
constexpr std::string_view kMark = "\u2581";

using MergedPair = std::pair<std::string, std::string>;

// "a b", or a list of both.
MergedPair pair_of(const Value& merge, const std::string& where, size_t i) {
  if (merge.is_list() && merge.size() == 2 && merge[0].is_text() && merge[1].is_text())
    return {merge[0].text(), merge[1].text()};
  const size_t space = merge.is_text() ? merge.text().find(' ') : std::string::npos;
  if (space == std::string::npos) throw Error("{}: merge {} is not a pair of pieces", where, i);
  return {merge.text().substr(0, space), merge.text().substr(space + 1)};
}

// The number of ways to make a text of two ordinary pieces.
uint32_t count_pairs(
    const std::string& text, const std::unordered_map<std::string, uint32_t>& ids, const TokenizerSpec& spec) {
  const auto is_ordinary = [&](const std::string& part) {
    const auto found = ids.find(part);
    return found != ids.end() && spec.pieces[found->second].type == PieceType::kNormal;
  };
  uint32_t n = 0;
  for (size_t at = char_bytes(static_cast<uint8_t>(text[0])); at < text.size();
       at += char_bytes(static_cast<uint8_t>(text[at])))
    n += is_ordinary(text.substr(0, at)) && is_ordinary(text.substr(at));
  return n;
}

// The same numbers on every machine (Knuth's MMIX generator).
class Draws {
 public:
  uint32_t below(uint32_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>((state_ >> 33) % n);
  }
 private:
  uint64_t state_ = 1;
};

// A text of some pieces and, in every fifth line, a character that few vocabularies have.
std::string line_of(const std::vector<const std::string*>& texts, uint32_t number, Draws& draws) {
  std::string line;
  for (uint32_t n = 1 + draws.below(12); n > 0; --n) {
    const std::string& text = *texts[draws.below(static_cast<uint32_t>(texts.size()))];
    for (size_t at = 0; at < text.size();) {
      const bool is_space = std::string_view(text).substr(at).starts_with(kMark);
      line += is_space ? ' ' : text[at];
      at += is_space ? kMark.size() : 1;
    }
  }
  if (number % 5 == 0) line.append(" \u2603 x");
  while (line.ends_with(' ')) line.pop_back();  // transformers' NLLB and mBART-50 add an id for these
  return line;
}

std::string ids_text(const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) {
    if (!text.empty()) text += ' ';
    text += std::to_string(id);
  }
  return text;
}
}  // namespace

void score_by_merges(const Value* merges, const std::string& where,
    const std::unordered_map<std::string, uint32_t>& ids, TokenizerSpec& spec) {
  if (merges == nullptr || !merges->is_list()) throw Error("{} is missing, expected an array", where);
  std::vector<uint32_t> n_merges(spec.pieces.size());
  uint32_t last = UINT32_MAX;
  for (size_t i = 0; i < merges->size(); ++i) {
    const auto [left, right] = pair_of((*merges)[i], where, i);
    const auto made = ids.find(left + right);
    if (made == ids.end())
      throw Error("{}: merge {} makes {}, which is not in vocab", where, i, in_quotes(left + right));
    const uint32_t id = made->second;
    const bool is_again = n_merges[id] > 0;
    if (is_again && last != id) {
      throw Error(
          "{}: merge {} makes {}, as an earlier one does; expected them next to each other, as from a SentencePiece "
          "model",
          where, i, in_quotes(left + right));
    }
    if (!is_again) spec.pieces[id].score = -static_cast<float>(i);
    ++n_merges[id];
    last = id;
  }
  for (uint32_t id = 0; id < spec.pieces.size(); ++id) {
    const Piece& piece = spec.pieces[id];
    if (piece.type != PieceType::kNormal) continue;
    const uint32_t n_pairs = count_pairs(piece.text, ids, spec);
    if (n_merges[id] >= n_pairs) continue;
    throw Error(
        "{}: {} of {} pairs that make {} are there; BPE is read where it comes from a SentencePiece model, which has "
        "all",
        where, n_merges[id], n_pairs, in_quotes(piece.text));
  }
}

void check_same_ids(const NamedTokenizer& pieces, const NamedTokenizer& json) {
  std::vector<const std::string*> texts;
  for (const Piece& piece : pieces.spec->pieces)
    if (piece.type == PieceType::kNormal) texts.push_back(&piece.text);
  if (texts.empty()) return;
  const Segmenter of_pieces(*pieces.spec), of_json(*json.spec);
  Draws draws;
  for (uint32_t number = 0; number < kLines; ++number) {
    const std::string line = line_of(texts, number, draws);
    const std::vector<int32_t> a = of_pieces.encode(line), b = of_json.encode(line);
    if (a == b) continue;
    throw Error("{} and {} give different ids to {}: {}, and {}; remove the file that is another model's", pieces.where,
        json.where, in_quotes(line), ids_text(a), ids_text(b));
  }
}

namespace {
constexpr const char* kSpaceMark = "\u2581";
constexpr const char* kRunOfSpaces = " {2,}";
constexpr uint32_t kMaxJsonEntries = 1u << 24;

using KnownTexts = std::vector<std::string>;

// Throws Error unless the setting has one of these texts.
std::string known_text(const Config& part, const char* key, const KnownTexts& known) {
  std::string found = part.text(key);
  if (std::ranges::find(known, found) != known.end()) return found;
  throw Error("{} is {}; known: {}", part.where(key), in_quotes(found), list_in_quotes(known, known.size()));
}

void expect_flag(const Config& part, const char* key, bool expected) {
  if (part.flag_or(key, expected) != expected)
    throw Error("{} is {}, expected {}", part.where(key), !expected, expected);
}

void expect_no_text(const Config& part, const char* key) {
  const std::string found = part.text_or(key, "");
  if (!found.empty()) throw Error("{} is {}, expected null", part.where(key), in_quotes(found));
}

std::string decode_base64(const Config& part, const char* key) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text = part.text_or(key, ""), bytes;
  while (text.ends_with('=')) text.pop_back();
  uint32_t bits = 0, n_bits = 0;
  for (const char digit : text) {
    const size_t value = kDigits.find(digit);
    if (value == std::string_view::npos) throw Error("{}: expected base64, found {}", part.where(key), in_quotes(text));
    bits = bits << 6 | static_cast<uint32_t>(value);
    n_bits += 6;
    if (n_bits < 8) continue;
    n_bits -= 8;
    bytes += static_cast<char>(bits >> n_bits & 0xFF);
  }
  return bytes;
}

// An entry "<2xx>" of MADLAD, as convert_slow_tokenizer.py writes a user-defined symbol.
bool is_madlad_target(const AddedToken& token) {
  const bool has_flags =
      token.strip_left || token.strip_right || token.single_word || token.normalized || token.special;
  return token.text.starts_with("<2") && token.text.ends_with(">") && !has_flags;
}

// The parts' treatment of spaces.
struct Spaces {
  bool joins_runs = false, splits = false, has_metaspace = false, prepends = false, replaces = false;
};

class TokenizerFile {
 public:
  explicit TokenizerFile(const std::filesystem::path& path) : file_(path) {}

  JsonTokenizer read() {
    for (const char* key : {"pre_tokenizer", "decoder"})
      for (const Config& part : parts(key)) made_.is_byte_level |= part.text("type") == "ByteLevel";
    if (made_.is_byte_level) return made_;
    read_model();
    read_added();
    for (const Config& part : parts("normalizer")) read_normalizer(part);
    for (const Config& part : parts("pre_tokenizer")) read_pre_tokenizer(part);
    for (const Config& part : parts("post_processor")) read_post_processor(part);
    for (const Config& part : parts("decoder")) read_decoder(part);
    set_spaces();
    return std::move(made_);
  }
 private:
  std::string where(const std::string& key) const { return file_.path().string() + ": " + key; }

  // The part, or the parts of a Sequence.
  std::vector<Config> parts(const std::string& key) const {
    std::vector<Config> found;
    const Value* part = file_.find(key);
    if (part == nullptr) return found;
    if (!part->is_map()) throw Error("{} is a JSON {}, expected an object", where(key), part->type_name());
    Config whole(*part, where(key), file_.path());
    if (whole.text("type") != "Sequence") return {std::move(whole)};
    for (const char* list : {"normalizers", "pretokenizers", "processors", "decoders"}) {
      const Value* items = whole.find(list);
      for (size_t i = 0; items != nullptr && items->is_list() && i < items->size(); ++i) {
        if (!(*items)[i].is_map()) throw Error("{}: part {} is not an object", where(key), i);
        found.emplace_back((*items)[i], where(key) + ": part " + std::to_string(i), file_.path());
      }
    }
    return found;
  }

  static void refuse_unread(const Config& part) {
    const std::vector<std::string> unread = part.unread();
    if (!unread.empty()) throw Error("{}: a setting that is not known", part.where(unread[0]));
  }

  void read_normalizer(const Config& part) {
    const std::string type = known_text(part, "type", {"Precompiled", "Replace", "Strip", "Prepend"});
    if (type == "Precompiled") {
      made_.spec.precompiled_charsmap = decode_base64(part, "precompiled_charsmap");
      split_charsmap(made_.spec.precompiled_charsmap, part.where("precompiled_charsmap"));  // only for its checks
    } else if (type == "Replace") {
      const Config pattern = part.object_or_empty("pattern");
      if (pattern.has("Regex")) {
        known_text(pattern, "Regex", {kRunOfSpaces});
        known_text(part, "content", {" ", kSpaceMark});
        spaces_.joins_runs = true;
      } else {
        known_text(pattern, "String", {" "});
        known_text(part, "content", {kSpaceMark});
        spaces_.replaces = true;
      }
      refuse_unread(pattern);
    } else if (type == "Prepend") {
      known_text(part, "prepend", {kSpaceMark});
      spaces_.prepends = true;
    } else {
      part.flag_or("strip_left", true);  // spaces at both ends are ignored where runs are joined
      part.flag_or("strip_right", true);
    }
    refuse_unread(part);
  }

  void read_pre_tokenizer(const Config& part) {
    if (known_text(part, "type", {"WhitespaceSplit", "Metaspace"}) == "WhitespaceSplit") {
      spaces_.splits = true;
    } else {
      spaces_.has_metaspace = true;
      known_text(part, "replacement", {kSpaceMark});
      if (part.has("str_rep")) known_text(part, "str_rep", {kSpaceMark});
      if (part.has("prepend_scheme"))
        known_text(part, "prepend_scheme", spaces_.splits ? KnownTexts{"always"} : KnownTexts{"always", "first"});
      expect_flag(part, "add_prefix_space", true);
      splits_at_marks_ = part.flag_or("split", true);
    }
    refuse_unread(part);
  }

  void read_post_processor(const Config& part) {
    known_text(part, "type", {"TemplateProcessing"});
    const Value* single = part.find("single");
    bool is_behind = false;
    for (size_t i = 0; single != nullptr && single->is_list() && i < single->size(); ++i) {
      const Config item((*single)[i], part.where("single"), file_.path());
      is_behind = is_behind || item.has("Sequence");
      if (item.has("SpecialToken"))
        (is_behind ? made_.behind : made_.before).push_back(item.object_or_empty("SpecialToken").text("id"));
    }
    if (!is_behind) throw Error("{}: has no text, expected \"Sequence\" in it", part.where("single"));
    made_.has_template = true;
  }

  // All of these write what SentencePiece writes.
  void read_decoder(const Config& part) const {
    const std::string type = known_text(part, "type", {"Metaspace", "Replace", "ByteFallback", "Fuse", "Strip"});
    if (type == "Metaspace") known_text(part, "replacement", {kSpaceMark});
    if (type == "Replace") {
      known_text(part.object_or_empty("pattern"), "String", {kSpaceMark});
      known_text(part, "content", {" "});
    }
    if (type == "Strip") known_text(part, "content", {" "});
  }

  // SentencePiece either joins runs of spaces and drops those at the ends, or keeps all.
  void set_spaces() {
    TokenizerSpec& spec = made_.spec;
    spec.remove_extra_whitespace = spaces_.splits || spaces_.joins_runs;
    spec.add_dummy_prefix = spaces_.has_metaspace || spaces_.prepends;
    spec.added_keep_last_space = spaces_.has_metaspace && !spaces_.splits;
    const bool is_metaspace = spaces_.has_metaspace && spec.remove_extra_whitespace && !spaces_.prepends;
    const bool is_replace = spaces_.replaces && !spaces_.splits && !spaces_.has_metaspace;
    if (!is_metaspace && !is_replace) {
      throw Error(
          "{} and {}: treat spaces in a way that is not known; known: Metaspace with WhitespaceSplit or with Replace "
          "of {}, or Replace of {} by {} without a pre_tokenizer",
          where("normalizer"), "pre_tokenizer", in_quotes(kRunOfSpaces), in_quotes(" "), in_quotes(kSpaceMark));
    }
    if (spaces_.splits && spec.precompiled_charsmap.empty()) spec.precompiled_charsmap = white_space_charsmap();
    if (!spaces_.splits && !(spaces_.has_metaspace && splits_at_marks_)) return;
    for (Piece& piece : spec.pieces)  // no text reaches a piece of several words
      if (piece.type == PieceType::kNormal && piece.text.find(kSpaceMark, 1) != std::string::npos)
        piece.type = PieceType::kUnused;
  }

  void read_model() {
    const Value* object = file_.find("model");
    if (object == nullptr || !object->is_map()) throw Error("{} is missing, expected an object", where("model"));
    Value settings = Value::map();  // a copy without the long lists
    for (const auto& [key, value] : object->members())
      if (key != "vocab" && key != "merges") settings[key] = value;
    const Config model(std::move(settings), where("model"), file_.path());
    const bool is_bpe =
        model.has("type") ? known_text(model, "type", {"Unigram", "BPE"}) == "BPE" : object->contains("merges");
    const Value* vocab = object->find("vocab");
    if (vocab == nullptr || vocab->empty() || (is_bpe ? !vocab->is_map() : !vocab->is_list()))
      throw Error("{}: vocab is missing, expected {}", where("model"), is_bpe ? "an object" : "an array");
    made_.spec.kind = is_bpe ? TokenizerKind::kBpe : TokenizerKind::kUnigram;
    made_.spec.byte_fallback = model.flag_or("byte_fallback", false);
    is_bpe ? read_ids(*vocab) : read_scores(*vocab);
    made_.spec.vocab_size = static_cast<uint32_t>(made_.spec.pieces.size());
    set_unknown(model, is_bpe);
    if (is_bpe) {
      for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) expect_no_text(model, key);
      expect_flag(model, "ignore_merges", false);
      const bool fuses = model.flag_or("fuse_unk", false);  // without effect where bytes stand for what is unknown
      if (!fuses && !made_.spec.byte_fallback) throw Error("{} is false, expected true", model.where("fuse_unk"));
      if (model.number_or("dropout", 0, 0, 1) > 0) throw Error("{} is not 0", model.where("dropout"));
      merges_ = object->find("merges");
    }
    refuse_unread(model);
  }

  void set_piece(uint64_t id, const std::string& text, double score) {
    const std::string place = where("model: vocab");
    if (id >= kMaxJsonEntries) throw Error("{}: {} has the id {}", place, in_quotes(text), id);
    if (text.empty() || text.size() > kMaxPieceBytes || !is_utf8(text) || text.find('\0') != std::string::npos)
      throw Error("{}: {} of id {}: expected 1 to {} bytes of UTF-8", place, in_quotes(text), id, kMaxPieceBytes);
    if (!(std::abs(score) <= kMaxPieceScore)) throw Error("{}: {} has the score {}", place, in_quotes(text), score);
    std::vector<Piece>& pieces = made_.spec.pieces;
    while (pieces.size() <= id) pieces.push_back({"", 0, PieceType::kControl});
    if (!pieces[id].text.empty())
      throw Error("{}: {} and {} have the id {}", place, in_quotes(pieces[id].text), in_quotes(text), id);
    const bool is_byte = made_.spec.byte_fallback && parse_byte_piece(text).has_value();
    pieces[id] = {text, static_cast<float>(score), is_byte ? PieceType::kByte : PieceType::kNormal};
    if (!ids_.emplace(text, static_cast<uint32_t>(id)).second)
      throw Error("{}: {} occurs twice", place, in_quotes(text));
  }

  void read_scores(const Value& vocab) {
    for (size_t id = 0; id < vocab.size(); ++id) {
      const Value& entry = vocab[id];
      if (!entry.is_list() || entry.size() != 2 || !entry[0].is_text() || !entry[1].is_number())
        throw Error("{}: entry {} is not a piece with its score", where("model: vocab"), id);
      set_piece(id, entry[0].text(), entry[1].number());
    }
  }

  void read_ids(const Value& vocab) {
    for (const auto& [text, id] : vocab.members()) {
      if (!id.is_natural()) throw Error("{}: the id of {} is no integer", where("model: vocab"), in_quotes(text));
      set_piece(id.natural(), text, 0);
    }
  }

  void set_unknown(const Config& model, bool is_bpe) {
    uint32_t id = 0;
    if (is_bpe) {
      const std::string text = model.text("unk_token");
      const auto found = ids_.find(text);
      if (found == ids_.end()) throw Error("{}: {} is not in vocab", model.where("unk_token"), in_quotes(text));
      id = found->second;
    } else {
      id = model.count("unk_id", 0, made_.spec.vocab_size - 1);
    }
    made_.spec.unknown_id = id;
    made_.spec.pieces[id].type = PieceType::kUnknown;
  }

  // Special tokens are control entries. MADLAD's languages stay the user-defined symbols that they are in training.
  void read_added() {
    const Value* list = file_.find("added_tokens");
    for (size_t i = 0; list != nullptr && list->is_list() && i < list->size(); ++i) {
      if (!(*list)[i].is_map()) throw Error("{}: entry {} is not an object", where("added_tokens"), i);
      const Config token((*list)[i], where("added_tokens: entry ") + std::to_string(i), file_.path());
      const AddedToken added = parse_added_token(token, token.count("id", 0, kMaxJsonEntries - 1));
      const auto known = ids_.find(added.text);
      if (known != ids_.end() && known->second != added.id) {
        throw Error(
            "{} is {}, but vocab has {} at {}", token.where("id"), added.id, in_quotes(added.text), known->second);
      }
      if (known == ids_.end()) set_piece(added.id, added.text, 0);
      Piece& piece = made_.spec.pieces[added.id];
      if (piece.type == PieceType::kUnknown) continue;
      if (is_madlad_target(added)) {
        piece.type = PieceType::kUserDefined;
        continue;
      }
      if (added.special) piece.type = PieceType::kControl;
      if (!added.special && known == ids_.end()) piece.type = PieceType::kSurface;
      made_.spec.added.push_back(added);
    }
    made_.spec.vocab_size = static_cast<uint32_t>(made_.spec.pieces.size());
    if (made_.spec.kind == TokenizerKind::kBpe) score_by_merges(merges_, where("model: merges"), ids_, made_.spec);
  }

  const Config file_;
  JsonTokenizer made_;
  Spaces spaces_;
  bool splits_at_marks_ = false;
  std::unordered_map<std::string, uint32_t> ids_;
  const Value* merges_ = nullptr;
};
}  // namespace

AddedToken parse_added_token(const Config& entry, uint32_t id) {
  AddedToken token = {entry.text("content"), id};
  token.strip_left = entry.flag_or("lstrip", false);
  token.strip_right = entry.flag_or("rstrip", false);
  token.single_word = entry.flag_or("single_word", false);
  token.special = entry.flag_or("special", false);
  token.normalized = entry.flag_or("normalized", !token.special);
  return token;
}

JsonTokenizer read_tokenizer_json(const std::filesystem::path& path) { return TokenizerFile(path).read(); }
}  // namespace goldcrest::converter
