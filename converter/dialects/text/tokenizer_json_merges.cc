// SPDX-License-Identifier: Apache-2.0
// transformers 5.23 lists, piece by piece, all pairs of pieces that make a piece (convert_slow_tokenizer.py,
// generate_merges). A list that lacks some, as BPE of other trainers does, merges otherwise than SentencePiece.
#include "dialects/text/tokenizer_json_merges.h"

#include <string_view>
#include <vector>

#include "dialects/text/tokenizer_json.h"
#include "host/wording.h"
#include "spec/error.h"
#include "text/utf8.h"
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
uint32_t count_pairs(const std::string& text, const std::unordered_map<std::string, uint32_t>& ids,
                     const TokenizerSpec& spec) {
  const auto is_ordinary = [&](const std::string& part) {
    const auto found = ids.find(part);
    return found != ids.end() && spec.pieces[found->second].type == PieceType::kNormal;
  };
  uint32_t n = 0;
  for (size_t at = char_bytes(static_cast<uint8_t>(text[0])); at < text.size();
       at += char_bytes(static_cast<uint8_t>(text[at]))) {
    n += is_ordinary(text.substr(0, at)) && is_ordinary(text.substr(at));
  }
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
          "{}: merge {} makes {}, as an earlier one does; expected them next to each other, as from a "
          "SentencePiece model",
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
        "{}: {} of {} pairs that make {} are there; BPE is read where it comes from a SentencePiece model, which "
        "has all",
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

}  // namespace goldcrest::converter
