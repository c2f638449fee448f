// SPDX-License-Identifier: Apache-2.0
// Makes two passes over the ids: the first only counts, so that nothing is written if the text does not fit.
#include "base/exact_floats.h"
#include "text/detokenizer.h"
#include <string.h>
#include "base/build_options.h"
#include "text/utf8.h"

namespace goldcrest {
namespace {
class Writer {
 public:
  // out: null to only count.
  Writer(const DetokenizerView& view, const goldcrest_text_state& state, char* out)
      : view_(view), state_(state), out_(out) {}

  const goldcrest_text_state& state() const { return state_; }
  uint64_t n() const { return n_; }

  void put_token(uint32_t id) { put_piece(piece_text(id), static_cast<PieceType>(view_.type[id])); }
  void put_piece(TextSpan piece, PieceType type);
  // Writes the bytes that wait for the rest of their character, with U+FFFD for each byte that is no UTF-8. Drops a
  // space that waits for a further word.
  void flush() {
    if (is_subword()) state_.n_pending = 0;
    write_pending(true);
  }
 private:
  TextSpan piece_text(uint32_t id) const;
  bool is_sentencepiece() const { return view_.kind == TokenizerKind::kUnigram || view_.kind == TokenizerKind::kBpe; }

  bool is_subword() const { return goldcrest::is_subword(view_.kind); }

  void append(const uint8_t* bytes, uint32_t n);
  void put_bytes(TextSpan bytes);
  void put_spaced(TextSpan piece);
  void put_subword(TextSpan piece);
  void write_pending(bool last);

  const DetokenizerView& view_;
  goldcrest_text_state state_;
  char* out_;
  uint64_t n_ = 0;
};

// Returns an empty text if the file's offsets make no sense.
TextSpan Writer::piece_text(uint32_t id) const {
  const uint32_t begin = view_.text_offset[id], end = view_.text_offset[id + 1];
  if (begin > end || end > view_.text_bytes) return {nullptr, 0};
  return {reinterpret_cast<const uint8_t*>(view_.text) + begin, end - begin};
}

void Writer::append(const uint8_t* bytes, uint32_t n) {
  if (n == 0) return;
  if (out_ != nullptr) memcpy(out_ + n_, bytes, n);
  n_ += n;
  state_.started = 1;
}

// Writes the whole characters of `pending`; with `last`, everything.
void Writer::write_pending(bool last) {
  uint32_t begin = 0;
  while (begin < state_.n_pending) {
    const TextSpan rest = {state_.pending + begin, state_.n_pending - begin};
    if (!last && char_bytes(rest.bytes[0]) > rest.n) break;
    const uint32_t n = valid_char_bytes(rest);
    if (n > 0) append(rest.bytes, n);
    else append(kReplacementSymbol, sizeof(kReplacementSymbol));
    begin += n > 0 ? n : 1;
  }
  state_.n_pending = static_cast<uint8_t>(state_.n_pending - begin);
  memmove(state_.pending, state_.pending + begin, state_.n_pending);
}

void Writer::put_bytes(TextSpan bytes) {
  for (uint32_t i = 0; i < bytes.n; ++i) {
    state_.pending[state_.n_pending++] = bytes.bytes[i];
    write_pending(false);
  }
}

// Writes a piece with spaces for U+2581. Drops a leading one at the start of the text.
void Writer::put_spaced(TextSpan piece) {
  const auto starts_with_space = [&piece] {
    return piece.n >= sizeof(kSpaceSymbol) && memcmp(piece.bytes, kSpaceSymbol, sizeof(kSpaceSymbol)) == 0;
  };
  if (state_.started == 0 && (view_.add_dummy_prefix || view_.remove_extra_whitespace) && starts_with_space()) {
    piece = piece.from(sizeof(kSpaceSymbol));
    if (!view_.remove_extra_whitespace) state_.started = 1;
  }
  const uint8_t space = ' ';
  while (piece.n > 0) {
    if (starts_with_space()) {
      append(&space, 1);
      piece = piece.from(sizeof(kSpaceSymbol));
    } else {
      append(piece.bytes, 1);
      piece = piece.from(1);
    }
  }
}

// The space that ends a word waits until another piece comes.
void Writer::put_subword(TextSpan piece) {
  write_pending(true);
  const bool ends_word = piece.n > 0 && piece.bytes[piece.n - 1] == ' ';
  append(piece.bytes, piece.n - ends_word);
  state_.pending[0] = ' ';
  state_.n_pending = ends_word;
}

void Writer::put_piece(TextSpan piece, PieceType type) {
  if (is_subword()) {
    if (type != PieceType::kControl) put_subword(piece);
    return;
  }
  if (type == PieceType::kByte) return put_bytes(piece);
  write_pending(true);
  if (type == PieceType::kControl) return;
  if (is_sentencepiece() && type != PieceType::kUnknown) return put_spaced(piece);
  const uint8_t space = ' ';
  if (view_.kind == TokenizerKind::kWord && state_.started != 0) append(&space, 1);
  append(piece.bytes, piece.n);
}

// Runs `run` on a writer that counts, then on one that writes, if there is room.
template <typename Run>
int64_t write(const DetokenizerView& view, goldcrest_text_state* state, char* out, size_t capacity, const Run& run) {
  if (state->n_pending >= sizeof(state->pending)) return GOLDCREST_ERROR_ARGUMENT;
  Writer counter(view, *state, nullptr);
  run(&counter);
  if (counter.n() > capacity) return GOLDCREST_ERROR_TRUNCATED;
  Writer writer(view, *state, out);
  run(&writer);
  *state = writer.state();
  return static_cast<int64_t>(writer.n());
}
}  // namespace

// NOLINTNEXTLINE(readability-function-size): the parameters of goldcrest_detokenize
int64_t detokenize(const DetokenizerView& view, goldcrest_text_state* state, const int32_t* tokens, size_t n, char* out,
    size_t capacity) {
  for (size_t i = 0; i < n; ++i)
    if (tokens[i] < 0 || static_cast<uint32_t>(tokens[i]) >= view.n_pieces) return GOLDCREST_ERROR_TOKEN_RANGE;
  return write(view, state, out, capacity, [&](Writer* writer) {
    for (size_t i = 0; i < n; ++i) writer->put_token(static_cast<uint32_t>(tokens[i]));
    if (n == 0) writer->flush();
  });
}

int64_t detokenize_piece(const DetokenizerView& view, goldcrest_text_state* state, const goldcrest_token& token,
    char* out, size_t capacity) {
  const TextSpan piece = {reinterpret_cast<const uint8_t*>(token.text), static_cast<uint32_t>(token.text_bytes)};
  return write(view, state, out, capacity, [&](Writer* writer) { writer->put_piece(piece, PieceType::kNormal); });
}
}  // namespace goldcrest