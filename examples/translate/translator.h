// SPDX-License-Identifier: Apache-2.0
// The options of goldcrest-translate, and its work: it translates lines with only the C API: one engine, one arena.
// Lines of models that take sentences are cut into sentences. With batches, sentences are read ahead and sorted by
// their length in tokens, so that the sentences of a batch end at about the same time. Results keep the order of the
// input.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "goldcrest/decoding.h"
#include "goldcrest/goldcrest.h"
#include "host/lexicon.h"
#include "host/marks/glossary.h"
#include "host/marks/html.h"
#include "host/marks/keep_patterns.h"
#include "host/marks/marked_text.h"
#include "host/messages.h"
#include "host/open_backend.h"
#include "host/sentence_search.h"
#include "host/session.h"

struct TranslatorOptions {
  std::string model, kernels;                    // kernels: empty for the best
  std::string source_language, target_language;  // empty: the model's
  goldcrest_limits limits = {};
  uint32_t n_best = 1;
  std::optional<uint32_t> min_target;  // none, as the two below: the model's
  std::optional<float> length_penalty, word_penalty;
  goldcrest_search rules = {};  // only the fields of rules; 0: the model's
  bool scores = false, tokens = false, encode = false, decode = false, structure_only = false, low_memory = false;
  bool ids = false;  // sources and results are ids
  bool token_scores = false, coarse = false;
  std::string alignments;  // "hard", "soft" or empty
  int32_t alignment_layer = -1, alignment_head = -1;
  std::string score_file;          // target ids; empty: translate
  bool keep_controls = false;      // texts keep line ends and control characters
  bool no_split = false;           // a line is one source
  std::string abbreviations;       // a file of them; empty: the lists of our own
  std::string prefix, prefix_ids;  // with which every result begins
  std::string prefix_file;         // ids, line by line; at most one of the three is not empty
  bool prefix_in_lengths = false;
  std::string draft;    // "source", or a file of ids, line by line
  std::string lexicon;  // a file of the only texts that may come out; empty: the model's own, or none
  bool lexicon_words = false;
  bool html = false;  // an input is a document whose tags are kept
  goldcrest::host::KeepPatterns keep;
  std::string glossary;                                 // a file of terms; empty: none
  std::string suppressed;                               // a text that no result has; empty: none
  std::vector<std::string> suppressed_ids, biased_ids;  // sequences; of biased_ids the bias comes first
  std::optional<uint32_t> no_repeat_source_ngram;
  std::optional<bool> replace_unknowns;  // by source tokens; none: as the model says
  bool stream = false;                   // print text as soon as it is certain
  bool samples = false;                  // draw tokens instead of searching
  goldcrest_sampling sampling = {0, 1, 50, 1, 0, 1, 0};
  uint32_t alternatives = 0;  // results that differ in their first tokens; 0: a search
  float min_alternative_prob = 0;
  double deadline = 0;  // seconds for the sentences of a batch; 0: none
};

constexpr const char* kProgram = "goldcrest-translate";

enum ExitStatus { kSuccess = 0, kFailed = 1, kBadUsage = 2, kLinesFailed = 3 };

struct Arguments : TranslatorOptions {
  std::vector<std::string> inputs;
  bool stats = false;
};

// Fills `arguments` from the command line. Returns an exit status if the program is to end: after printing help or the
// version, or an error of the command line.
std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments);

class Translator {
 public:
  explicit Translator(const TranslatorOptions& options) : options_(options) {}

  // Maps the model, allocates the arena once, starts the engine. Returns false after an error message.
  bool start();
  // Translates all lines. A bad line gives a message and an empty line, a blank one an empty line. Returns false if
  // standard output cannot be written or, after a message, if the input cannot be read.
  bool process(std::FILE* input, const std::string& name);
  // Call it after the last input. Returns false, after a message, if the file of targets or prefixes has more lines.
  bool check_line_ids();
  void print_stats() const;
  void warn_of_lines() const;
  void finish_counter() { counter_.finish(); }
  uint64_t failed_lines() const { return failed_lines_; }
 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  // A line on its way through the program. With an error an empty line replaces `out` and `end`.
  struct Line {
    uint64_t number;
    std::string out, end, error;
    std::string warning = {};    // printed before both
    std::string stopped = {};    // a message: why the end of `out` is missing
    std::string no_tokens = {};  // the error of a line in which no sentence gives a token
    bool has_tokens = false;
    goldcrest::host::MarkedText marked = {};  // what `out` and the next one are written from, if texts have marks
    std::optional<goldcrest::host::MarkWriter> writer = {};
    uint32_t n_cut = 0;  // tokens of a result that a limit cut; 0: none
  };

  using Sentence = goldcrest::host::Sentence;  // a line, or a sentence of it; its input is the line's index in lines_

  // --stream has printed this of a sentence.
  struct Stream {
    goldcrest_text_state state;
    size_t n_printed;  // tokens
    int64_t status;
  };

  std::string missing_text() const;
  bool read_prefix();
  bool read_draft();
  bool read_lexicon();
  bool read_sequences();
  bool read_glossary();
  bool has_marks() const { return options_.html || !options_.keep.empty() || glossary_; }
  bool process_html(std::FILE* input, const std::string& name);
  bool add_line(goldcrest::host::MarkedText text, size_t number);
  void begin_stream(Sentence* sentence);
  int64_t print_certain(Stream* stream, bool at_end) const;
  static void say_of_line(const Line& line, goldcrest::Paint paint, const std::string& text);
  goldcrest::host::SentenceSearch::Options search_options();
  static void print_warning(const Line& line);
  bool ask_inspection();
  bool open_line_ids(const std::string& path);
  bool start_engine();
  bool set_languages();
  bool set_search();
  bool refuse(const std::string& problem) const;
  bool fail(int status) const;
  bool splits_sentences() const;
  bool read_abbreviations();
  void read(const std::string& text, Line* line);
  void read_sentences(const std::string& text, Line* line);
  int tokenize(const std::string& text, Sentence* sentence);
  void decode(const std::string& text, Line* line);
  void read_ids(const std::string& text, Line* line);
  void read_line_ids(Line* line);
  bool is_enough() const { return sentences_.size() >= ahead_ || lines_.size() >= ahead_; }
  void translate();
  void finish(const Sentence& sentence);
  std::string results_of(const Sentence& sentence) const;
  void append_alignments(const goldcrest::host::Found& found, std::string* text) const;
  bool has_columns() const;
  std::string text_or_ids(const goldcrest::host::Found& found) const;
  std::string in_line(const std::string& text) const;
  bool print_lines();
  void print(Line& line);

  TranslatorOptions options_;
  Backend backend_;
  goldcrest::Session session_;
  std::unique_ptr<std::FILE, CloseFile> line_ids_;  // options_.score_file or options_.prefix_file
  std::string line_ids_path_;
  uint64_t n_cut_lines_ = 0, first_cut_line_ = 0;
  uint32_t n_cut_tokens_ = 0;  // in the first cut line
  uint64_t n_lines_ = 0, failed_lines_ = 0, source_tokens_ = 0, target_tokens_ = 0;
  uint32_t n_sentences_ = 0;
  double seconds_ = 0;
  goldcrest::LineCounter counter_;
  bool splits_ = false;              // lines into sentences
  std::string abbreviations_;        // for goldcrest_part_options
  size_t ahead_ = 1;                 // this many lines or sentences are read before the first is translated
  std::deque<Line> lines_;           // not printed yet
  std::vector<Sentence> sentences_;  // not translated yet
  goldcrest::host::SentenceSearch search_;
  bool has_code_ = false;  // each source begins with the code of a target language
  bool has_warned_of_end_ = false;
  std::vector<int32_t> prefix_;
  goldcrest::LexiconSpec lexicon_;
  std::optional<TextCutter> cutter_;
  std::optional<goldcrest::host::Glossary> glossary_;
  uint64_t n_unplaced_ = 0;            // marks without a place in the translation
  std::vector<int32_t> sequence_ids_;  // as goldcrest_sequences has them
  std::vector<float> sequence_biases_;
  std::optional<goldcrest_sequences> sequences_;
  goldcrest_search search_rules_ = {};
};
