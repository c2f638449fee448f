// SPDX-License-Identifier: Apache-2.0
// A model with its threads and an engine, for programs on an operating system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>
#include "goldcrest/goldcrest.h"
#include "goldcrest/inspection.h"
#include "goldcrest/tokens.h"
#include "host/model_memory.h"
#include "host/thread_pool.h"

namespace goldcrest {
// Functions that return a text return an error without the model's path, or "".
class Session {
 public:
  struct Options {
    std::string kernels;                   // empty: the best
    bool structure_only = false;           // the weights' bytes are not checked
    bool low_memory = false;               // weights leave memory while they are not used
    bool short_steps = false;              // a step is a layer where a position of all beams may take long
    std::optional<bool> replace_unknowns;  // by source tokens, see append_result; none: as the file says
    // Changes the configuration before the engine starts, for example to attach a backend. Returns an error, or "".
    std::function<std::string(goldcrest_config*)> prepare;
  };

  Session() = default;
  Session(const Session&) = delete;  // the engine keeps addresses of its members
  Session& operator=(const Session&) = delete;

  // Maps a file and starts threads; 0: one for each CPU. These errors name the file.
  std::string open(const std::string& path, uint32_t threads);
  // Uses a file in memory, which must outlive the session, on one thread.
  void use(const void* bytes, size_t n);
  // Checks that the file is a model and reads what it says of itself.
  std::string read_info();
  // Plans an arena for the limits and starts an engine in it. The pool sets limits.threads. In a batch, each block of
  // encoder work gets as many rows for every thread as one thread has. If the limits are refused, the engine that
  // runs stays; otherwise it ends first, because the machine may have no memory for two arenas.
  std::string start(const Options& options, goldcrest_limits limits);

  // Returns the text of a status with the detail that the engine left.
  std::string describe(int64_t status) const;

  // *source <- the ids of a text. *pieces <- their texts, empty for special ids, if unknown tokens are replaced or the
  // engine records attention.
  // Returns the number of ids, or a negative status.
  int tokenize(const std::string& text, std::vector<int32_t>* source, std::vector<std::string>* pieces);
  // Appends the text of ids. Returns a negative status on an error.
  int64_t append_text(const int32_t* ids, size_t n, std::string* text) const;
  // Appends the text of a result. With pieces, that of the source with the largest attention stands for an unknown
  // token, as in CTranslate2 with replace_unknowns. *ends (may be null) <- for each id the end of its text in *text,
  // which was empty. Returns a negative status on an error.
  int64_t append_result(uint32_t sentence, uint32_t rank, const std::vector<std::string>& pieces, std::string* text,
      std::vector<size_t>* ends) const;
  // Returns the tokens of a sentence that no further step changes.
  std::vector<int32_t> agreed_tokens(uint32_t sentence) const;

  const void* model() const { return bytes_; }
  size_t model_bytes() const { return n_bytes_; }
  const goldcrest_info& info() const { return info_; }
  const goldcrest_text_traits& traits() const { return traits_; }
  // Returns the ids that end a source.
  std::vector<int32_t> source_end() const { return {traits_.source_end, traits_.source_end + traits_.n_source_end}; }
  // Models of words or of characters (pronunciation, spelling) are trained on other units than sentences.
  bool takes_sentences() const {
    return traits_.source != GOLDCREST_CUT_NOT && traits_.source != GOLDCREST_CUT_WORDS &&
           traits_.source != GOLDCREST_CUT_CHARACTERS;
  }
  const goldcrest_memory& memory() const { return memory_; }  // the running engine's; zeros without one
  uint32_t threads() const { return pool_.threads(); }
  goldcrest_engine* engine() const { return engine_; }  // null before start
  bool replaces_unknowns() const { return replaces_; }
 private:
  int64_t find_attended(goldcrest_alignment wanted, const std::vector<std::string>& pieces) const;

  MappedFile mapped_;
  const void* bytes_ = nullptr;  // the model's
  size_t n_bytes_ = 0;
  ThreadPool pool_;
  ArenaMemory arena_;
  goldcrest_engine* engine_ = nullptr;
  goldcrest_detail detail_ = {"", -1};
  goldcrest_info info_ = {};
  goldcrest_text_traits traits_ = {};
  goldcrest_memory memory_ = {};
  bool replaces_ = false;  // unknown tokens
};
}  // namespace goldcrest
