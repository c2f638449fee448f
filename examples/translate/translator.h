// SPDX-License-Identifier: Apache-2.0
// Lines in, lines out, through the C API alone: one engine, one arena. With batches, lines are read ahead and sorted by
// their length in tokens, so that the sentences of a batch end at about the same time; results keep the lines' order.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "../support/backend.h"
#include "../support/mapped_file.h"
#include "../support/thread_pool.h"
#include "goldcrest/goldcrest.h"

struct TranslatorOptions {
  std::string model, kernels;                    // kernels: empty for the best
  std::string source_language, target_language;  // empty: the model's
  goldcrest_limits limits = {};
  uint32_t n_best = 1, min_target = 0;  // min_target: where has_min_target
  float length_penalty = 1, word_penalty = 0;
  bool has_min_target = false, has_length_penalty = false, has_word_penalty = false;
  goldcrest_search rules = {};  // the fields of rules alone; 0: the model's
  bool scores = false, tokens = false, encode = false, decode = false, structure_only = false, low_memory = false;
  bool ids = false;  // sources are ids; so are the results
  bool token_scores = false;
  std::string alignments;  // "hard", "soft" or empty
  int32_t alignment_layer = -1, alignment_head = -1;
  std::string score_file;  // of target ids; empty: translate
};

class Translator {
 public:
  explicit Translator(const TranslatorOptions& options) : options_(options) {}

  // Maps the model, allocates the arena once, starts the engine. False after an error message.
  bool start();
  // Translates all lines; a bad one gives a message and an empty line, a blank one an empty line. False where standard
  // output takes no more or, after a message, where the input cannot be read.
  bool process(std::FILE* input, const std::string& name);
  // After the last input: false after a message where the targets to score have more lines.
  bool check_targets();
  void print_stats() const;
  uint64_t failed_lines() const { return failed_lines_; }

 private:
  struct FreeDeleter {
    void operator()(void* memory) const { std::free(memory); }
  };
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  // One line's way through: source ids, then what is printed for it.
  struct Line {
    uint64_t number;
    std::vector<int32_t> source;  // none: there is nothing to translate
    std::vector<int32_t> target;  // to score
    std::string out, error;       // an error has an empty line in place of `out`
    std::string warning = {};     // said before either
  };

  std::string missing_text() const;
  bool ask_inspection();
  bool start_engine();
  bool set_languages();
  bool set_search();
  bool refuse(const std::string& problem) const;
  bool fail(int status) const;
  void read(const std::string& text, Line* line);
  size_t count_source(const std::string& text, int32_t* first);
  std::string code_warning(const std::string& text);
  void tokenize(const std::string& text, Line* line);
  void decode(const std::string& text, Line* line);
  void read_ids(const std::string& text, Line* line);
  void read_target(Line* line);
  void translate(std::vector<Line>* lines);
  void translate_batch(const std::vector<Line*>& batch);
  int64_t append_results(uint32_t sentence, Line* line);
  int64_t append_alignments(uint32_t sentence, uint32_t rank, uint32_t n_tokens, std::string* text);
  int64_t append_text(const int32_t* ids, size_t n, std::string* text);
  void print(const Line& line);

  TranslatorOptions options_;
  MappedFile model_;
  ThreadPool pool_;
  Backend backend_;
  std::unique_ptr<void, FreeDeleter> arena_;
  std::unique_ptr<std::FILE, CloseFile> targets_;  // of options_.score_file
  goldcrest_engine* engine_ = nullptr;
  goldcrest_detail detail_ = {"", -1};
  goldcrest_info info_ = {};
  goldcrest_memory memory_ = {};
  uint64_t n_lines_ = 0, failed_lines_ = 0, source_tokens_ = 0, target_tokens_ = 0;
  double seconds_ = 0;
  bool has_warned_of_end_ = false;
  bool has_code_ = false;  // each source begins with the code of a target language
};
