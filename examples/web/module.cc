// SPDX-License-Identifier: Apache-2.0
// The engine as a WebAssembly module without imports, for goldcrest.mjs. An instance serves one model. Its memory holds
// the stack and static data, then the model, the arena, and a text with its translation. It grows to what the model and
// the longest text need, and goes with the instance.
#include "goldcrest/goldcrest.hpp"
#include "goldcrest/tokens.h"

#define GOLDCREST_EXPORT(name) __attribute__((export_name(#name)))

// The linker's: the first byte after stack and static data.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): its name
extern "C" uint8_t __heap_base;

namespace {
constexpr uint64_t kPage = 65536, kMostBytes = uint64_t{1} << 32;

struct Session {
  uint8_t* end = nullptr;  // end of the reserved memory
  uint8_t* model = nullptr;
  goldcrest_info info = {};
  uint64_t arena_bytes = 0;
  goldcrest_limits limits = {};
  goldcrest_detail detail = {"", -1};
  goldcrest::Engine engine;
  bool splits = false;  // into sentences; otherwise into lines

  char* text = nullptr;  // [text_bytes], then the translation
  size_t text_bytes = 0;
  goldcrest_part_options parts = {};
  goldcrest::SentenceReader reader = goldcrest::SentenceReader(nullptr, 0, parts);
  size_t line = 0;  // where the next line begins

  char* out = nullptr;  // [out_bytes, up to the memory's end]
  size_t out_bytes = 0;
  bool in_sentence = false;
  uint32_t n_written = 0;  // tokens of the sentence
  goldcrest_text_state state = {};
  uint64_t logits_hash = 0;  // the last sentence's
};

// Nothing calls constructors before the exports.
[[clang::require_constant_initialization]] Session session;

uint64_t address(const void* p) { return reinterpret_cast<uintptr_t>(p); }

uint64_t memory_bytes() { return __builtin_wasm_memory_size(0) * kPage; }

// Grows the memory to `end` bytes. Returns false where the browser refuses.
bool grow_memory(uint64_t end) {
  if (end <= memory_bytes()) return true;
  if (end > kMostBytes - kPage) return false;
  const auto pages = static_cast<size_t>((end - memory_bytes() + kPage - 1) / kPage);
  return __builtin_wasm_memory_grow(0, pages) != SIZE_MAX;
}

// Returns the place of `bytes` bytes after what is reserved, aligned for the engine; null if there is no memory.
uint8_t* reserve(uint64_t bytes) {
  const uint64_t begin = (address(session.end) + GOLDCREST_ALIGN - 1) / GOLDCREST_ALIGN * GOLDCREST_ALIGN;
  if (!grow_memory(begin + bytes)) return nullptr;
  session.end = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(begin + bytes));
  return session.end - bytes;
}

int refuse(int status, const char* message) {
  session.detail = {message, -1};
  return status;
}

// Makes room for `bytes` more bytes of the translation.
bool has_room(size_t bytes) {
  if (address(session.out) + session.out_bytes + bytes <= memory_bytes()) return true;
  return grow_memory(memory_bytes() + (bytes > kPage ? bytes : kPage));
}

int write_space(const char* space, size_t bytes) {
  if (!has_room(bytes)) return GOLDCREST_ERROR_TRUNCATED;
  for (size_t i = 0; i < bytes; ++i) session.out[session.out_bytes++] = space[i];
  return GOLDCREST_OK;
}

// Writes the text of n tokens; n = 0 ends a sentence.
int write_tokens(const int32_t* tokens, uint32_t n) {
  Session& s = session;
  int64_t written = GOLDCREST_ERROR_TRUNCATED;
  for (size_t room = 256; written == GOLDCREST_ERROR_TRUNCATED && has_room(room); room *= 2) {
    written = goldcrest_detokenize(s.engine.get(), &s.state, tokens, n, s.out + s.out_bytes,
        static_cast<size_t>(memory_bytes() - address(s.out)) - s.out_bytes);
  }
  if (written < 0) return static_cast<int>(written);
  s.out_bytes += static_cast<size_t>(written);
  return GOLDCREST_OK;
}

// Starts the search of a sentence, or of what fits of it.
int begin_sentence() {
  Session& s = session;
  int64_t status = s.engine.begin(s.reader.sentence(), s.reader.bytes()).value();
  while (status == GOLDCREST_ERROR_TOO_LONG && s.reader.shorten())
    status = s.engine.begin(s.reader.sentence(), s.reader.bytes()).value();
  return static_cast<int>(status);
}

int begin_line() {
  Session& s = session;
  const size_t begin = s.line;
  while (s.line < s.text_bytes && s.text[s.line] != '\n') ++s.line;
  return static_cast<int>(s.engine.begin(s.text + begin, s.line - begin).value());
}

// Goes to the next sentence or line and begins it. Returns WORKING, or DONE at the text's end.
int next_sentence() {
  Session& s = session;
  int status = GOLDCREST_OK;
  if (s.splits) {
    const bool more = s.reader.next();
    status = write_space(s.reader.space(), s.reader.space_bytes());
    if (!more) return status < 0 ? status : GOLDCREST_DONE;
    if (status >= 0) status = begin_sentence();
  } else {
    if (s.line >= s.text_bytes) return GOLDCREST_DONE;
    if (s.text[s.line] == '\n') {
      ++s.line;
      return write_space("\n", 1) < 0 ? GOLDCREST_ERROR_TRUNCATED : GOLDCREST_WORKING;
    }
    status = begin_line();
  }
  if (status == GOLDCREST_ERROR_ARGUMENT) return GOLDCREST_WORKING;  // it gives no token, so it is left out
  s.in_sentence = status >= 0;
  s.n_written = 0;
  s.state = {};
  return status < 0 ? status : GOLDCREST_WORKING;
}

// Writes the tokens that no further step can change.
int write_agreed() {
  Session& s = session;
  int32_t tokens[1024];
  const int64_t n = s.engine.agreed(0, tokens, sizeof tokens / sizeof *tokens).value();
  const uint32_t fit = n == GOLDCREST_ERROR_TRUNCATED ? 1024 : n < 0 ? 0 : static_cast<uint32_t>(n);
  if (fit <= s.n_written) return GOLDCREST_WORKING;
  const int status = write_tokens(tokens + s.n_written, fit - s.n_written);
  s.n_written = fit;
  return status < 0 ? status : GOLDCREST_WORKING;
}

int end_sentence() {
  Session& s = session;
  s.in_sentence = false;
  goldcrest_result result = {};
  int status = static_cast<int>(s.engine.result(0, 0, result).value());
  if (status >= 0 && s.n_written < result.n_tokens)
    status = write_tokens(result.tokens + s.n_written, result.n_tokens - s.n_written);
  if (status >= 0) status = write_tokens(nullptr, 0);
  s.logits_hash = result.logits_hash;
  return status < 0 ? status : GOLDCREST_WORKING;
}
}  // namespace

extern "C" {

// Returns where the caller writes the model's bytes; 0 if there is no memory. Once, before all other calls.
GOLDCREST_EXPORT(place_model) uint8_t* place_model(size_t bytes) {
  session.end = &__heap_base;
  return session.model = reserve(bytes);
}

// Checks the model and starts the engine. beam_size: the most that searches may have; 0: the file's.
GOLDCREST_EXPORT(start) int start(size_t bytes, uint32_t beam_size) {
  Session& s = session;
  int status = goldcrest_model_info(s.model, bytes, &s.info, &s.detail);
  if (status < 0) return status;
  if (!s.info.has_tokenizer || !s.info.has_detokenizer)
    return refuse(GOLDCREST_ERROR_UNSUPPORTED, "the file has no tokenizer or no detokenizer");
  s.limits.beam_size = beam_size;
  s.limits.max_source_bytes = s.info.limits.max_source_bytes;
  goldcrest_memory memory;
  status = goldcrest_plan_memory(s.model, bytes, &s.limits, &memory, nullptr, nullptr, &s.detail);
  if (status < 0) return status;
  goldcrest_config config = {};
  config.model = s.model;
  config.model_bytes = bytes;
  config.arena = reserve(memory.arena_bytes);
  if (config.arena == nullptr)
    return refuse(GOLDCREST_ERROR_ARENA_TOO_SMALL, "the browser has no memory for the arena");
  config.arena_bytes = static_cast<size_t>(memory.arena_bytes);
  config.limits = s.limits;
  config.detail = &s.detail;
  s.arena_bytes = memory.arena_bytes;
  s.parts.max_bytes = memory.limits.max_source_bytes;
  goldcrest_text_traits traits;
  status = goldcrest_get_text_traits(s.model, bytes, &traits, &s.detail);
  if (status < 0) return status;
  // As goldcrest-translate does, models of words and characters take a line at a time.
  s.splits = traits.source != GOLDCREST_CUT_WORDS && traits.source != GOLDCREST_CUT_CHARACTERS;
  return static_cast<int>(s.engine.init(config).value());
}

// Returns where the caller writes a text of `bytes` bytes; 0 if there is no memory. Ends any search.
GOLDCREST_EXPORT(place_text) char* place_text(size_t bytes) {
  Session& s = session;
  s.in_sentence = false;
  uint8_t* const end = s.end;  // each text takes the place of the one before
  uint8_t* const place = reserve(bytes + GOLDCREST_ALIGN);
  s.end = end;
  s.text = reinterpret_cast<char*>(place);
  return s.text;
}

// Sets the languages of the following texts: two names with zeros after them, which place_text took. Empty: as it is.
GOLDCREST_EXPORT(set_languages) int set_languages() {
  const char *const source = session.text, *target = source;
  while (*target++ != '\0') {
  }
  goldcrest_reset(session.engine.get());
  const auto given = [](const char* name) { return *name != '\0' ? name : nullptr; };
  return goldcrest_set_languages(session.engine.get(), given(source), given(target));
}

// Sets the searches of the following texts. beam_size: at most that of `start`; 0: that one.
GOLDCREST_EXPORT(set_search) int set_search(uint32_t beam_size, uint32_t flags) {
  goldcrest_reset(session.engine.get());
  goldcrest_search search = session.info.search;
  search.beam_size = beam_size;
  search.flags = flags;
  return static_cast<int>(session.engine.set_search(search).value());
}

// Begins the translation of a text that place_text took: first `list_bytes` bytes of abbreviations
// (goldcrest/sentences.h), then the text.
GOLDCREST_EXPORT(begin) void begin(size_t list_bytes, size_t text_bytes) {
  Session& s = session;
  goldcrest_reset(s.engine.get());
  s.parts.abbreviations = s.text;
  s.parts.abbreviations_bytes = list_bytes;
  s.reader = goldcrest::SentenceReader(s.text + list_bytes, text_bytes, s.parts);
  s.text_bytes = list_bytes + text_bytes;
  s.line = list_bytes;
  s.out = s.text + s.text_bytes;
  s.out_bytes = 0;
  s.in_sentence = false;
}

// Does a bounded amount of work. Returns WORKING or DONE, or an error. The translation so far is certain.
GOLDCREST_EXPORT(step) int step() {
  Session& s = session;
  if (!s.in_sentence) return next_sentence();
  const int status = goldcrest_step(s.engine.get(), nullptr);
  if (status == GOLDCREST_DONE) return end_sentence();
  return status < 0 ? status : write_agreed();
}

GOLDCREST_EXPORT(translation) const char* translation() { return session.out; }
GOLDCREST_EXPORT(translation_bytes) size_t translation_bytes() { return session.out_bytes; }
GOLDCREST_EXPORT(logits_hash) uint64_t logits_hash() { return session.logits_hash; }

GOLDCREST_EXPORT(self_test) int self_test() {
  session.in_sentence = false;
  return static_cast<int>(session.engine.self_test(session.detail).value());
}

GOLDCREST_EXPORT(status_name) const char* status_name(int status) { return goldcrest_status_string(status); }
GOLDCREST_EXPORT(message) const char* message() { return session.detail.message; }
GOLDCREST_EXPORT(message_index) int32_t message_index() { return session.detail.index; }

// The strings of a model that has started.
GOLDCREST_EXPORT(kernels) const char* kernels() { return session.engine.kernels_name(); }
GOLDCREST_EXPORT(name) const char* name() { return session.info.name; }
GOLDCREST_EXPORT(source_language) const char* source_language() { return session.info.source_language; }
GOLDCREST_EXPORT(target_language) const char* target_language() { return session.info.target_language; }
GOLDCREST_EXPORT(license) const char* license() { return session.info.license; }
GOLDCREST_EXPORT(attribution) const char* attribution() { return session.info.attribution; }
GOLDCREST_EXPORT(arena_bytes) uint32_t arena_bytes() { return static_cast<uint32_t>(session.arena_bytes); }
GOLDCREST_EXPORT(beam_size) uint32_t beam_size() {
  return session.limits.beam_size != 0 ? session.limits.beam_size : session.info.limits.beam_size;
}

}  // extern "C"
