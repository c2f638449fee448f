// SPDX-License-Identifier: Apache-2.0
#include "prefix_text.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "model/model_view.h"

namespace {

constexpr std::string_view kSpace = "\xe2\x96\x81";  // U+2581, which stands for a space in pieces

struct Pieces {
  std::unordered_map<std::string_view, int32_t> ids;
  size_t longest = 0;
};

Pieces pieces_of(const goldcrest::DetokenizerView& view) {
  Pieces pieces;
  for (uint32_t id = 0; id < view.n_pieces; ++id) {
    const auto type = static_cast<goldcrest::PieceType>(view.type[id]);
    if (type != goldcrest::PieceType::kNormal && type != goldcrest::PieceType::kUserDefined &&
        type != goldcrest::PieceType::kByte)
      continue;
    const uint32_t begin = view.text_offset[id], end = view.text_offset[id + 1];
    if (begin == end) continue;
    // A byte's piece and a normal one can have the same text; the normal one is meant.
    const auto [found, is_new] = pieces.ids.emplace(std::string_view(view.text + begin, end - begin), id);
    if (!is_new && type != goldcrest::PieceType::kByte) found->second = static_cast<int32_t>(id);
    pieces.longest = std::max<size_t>(pieces.longest, end - begin);
  }
  return pieces;
}

}  // namespace

std::string prefix_ids(const void* model, const std::string& text, std::vector<int32_t>* ids) {
  goldcrest::DetokenizerView view = {};
  if (!goldcrest::view_detokenizer(model, &view) ||
      (view.kind != goldcrest::TokenizerKind::kUnigram && view.kind != goldcrest::TokenizerKind::kBpe))
    return "the model's results are not made of SentencePiece's pieces; give the prefix as ids, with --prefix-ids";
  std::string spaced = view.add_dummy_prefix ? std::string(kSpace) : "";
  for (const char c : text) spaced += c == ' ' ? std::string(kSpace) : std::string(1, c);
  const Pieces pieces = pieces_of(view);
  const size_t n = spaced.size(), none = n + 1;
  std::vector<size_t> fewest(n + 1, none), next(n + 1, 0);  // pieces from a byte on; the end of the first of them
  fewest[n] = 0;
  for (size_t begin = n; begin-- > 0;) {
    for (size_t end = std::min(n, begin + pieces.longest); end > begin; --end) {
      if (fewest[end] + 1 >= fewest[begin]) continue;
      if (pieces.ids.count(std::string_view(spaced).substr(begin, end - begin)) == 0) continue;
      fewest[begin] = fewest[end] + 1;
      next[begin] = end;
    }
  }
  if (fewest[0] == none) return "the model's vocabulary has no pieces for the prefix \"" + text + "\"";
  for (size_t begin = 0; begin < n; begin = next[begin])
    ids->push_back(pieces.ids.at(std::string_view(spaced).substr(begin, next[begin] - begin)));
  return "";
}
