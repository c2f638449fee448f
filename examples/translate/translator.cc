// SPDX-License-Identifier: Apache-2.0
#include "translator.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>
#include "goldcrest/goldcrest.hpp"
#include "goldcrest/inspection.h"
#include "goldcrest/languages.h"
#include "host/messages.h"
#include "host/model_texts.h"
#include "host/text_lines.h"

namespace {
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // some editors put it at the start of a file
constexpr uint32_t kBatchesAhead = 16;                       // batches that are read and sorted together
constexpr uint32_t kDraftRows = 6;  // check a draft (goldcrest_set_draft): kernels' tiles have at least 6 rows

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
}  // namespace

bool Translator::refuse(const std::string& problem) const {
  std::fprintf(stderr, "%s\n", painted(goldcrest::Paint::kRed, "goldcrest-translate: " + problem).c_str());
  return false;
}

bool Translator::fail(int status) const { return refuse(options_.model + ": " + session_.describe(status)); }

bool Translator::start() {
  std::string problem = session_.open(options_.model, options_.limits.threads);
  if (problem.empty()) problem = kernels_problem(options_.kernels);
  if (!problem.empty()) return refuse(problem);
  problem = session_.read_info();
  if (!problem.empty()) return refuse(options_.model + ": " + problem);
  goldcrest_limits& limits = options_.limits;
  if (options_.samples) {
    limits.max_sampled = options_.sampling.top_k;
    limits.beam_size = options_.n_best = options_.sampling.n_samples;
  }
  if (options_.alternatives != 0) limits.max_sampled = limits.beam_size = options_.n_best = options_.alternatives;
  limits.n_best = options_.n_best;
  if (limits.beam_size == 0 && options_.n_best > session_.info().limits.beam_size) limits.beam_size = options_.n_best;
  if (!options_.lexicon.empty()) limits.lexicon = 1;
  if (!options_.draft.empty()) {
    limits.batch = 1;
    limits.beam_size = kDraftRows;
  }
  problem = missing_text();
  if (problem.empty()) problem = goldcrest::limits_problem(session_.info(), limits);
  if (!problem.empty()) return refuse(options_.model + ": " + problem);
  if (!ask_inspection() || !read_prefix() || !read_draft() || !read_lexicon() || !read_sequences() || !read_glossary())
    return false;
  const bool takes_text = session_.info().has_tokenizer && !options_.ids && !options_.decode;
  if (limits.max_source_bytes == 0 && takes_text) limits.max_source_bytes = session_.info().limits.max_source_bytes;
  splits_ = splits_sentences();
  return read_abbreviations() && start_engine() && set_languages() && set_search();
}

// Prepares for drafts. Returns false after an error message.
bool Translator::read_draft() {
  if (options_.draft.empty()) return true;
  const uint32_t n_source = session_.info().source_vocab_size, n_target = session_.info().target_vocab_size;
  if (options_.draft != "source") return open_line_ids(options_.draft);
  return n_source == n_target ||
         refuse(options_.model + ": --draft source: the model has " + std::to_string(n_source) + " source ids and " +
                std::to_string(n_target) + " target ids; expected the same");
}

// Lines are cut into sentences: text to text, one result each, for a model of sentences.
bool Translator::splits_sentences() const {
  const TranslatorOptions& o = options_;
  const bool by_line = o.no_split || o.ids || o.encode || o.decode || o.tokens || o.n_best > 1 || o.scores ||
                       o.token_scores || !o.alignments.empty() || !o.score_file.empty() ||
                       (!o.draft.empty() && o.draft != "source") ||
                       (options_.limits.max_prefix_tokens > 0 && !glossary_);
  return !by_line && session_.takes_sentences();
}

bool Translator::read_abbreviations() {
  if (options_.abbreviations.empty()) {
    abbreviations_ = abbreviations_of(session_.info().source_language);
    return true;
  }
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(options_.abbreviations.c_str(), "rb"));
  std::string text, line;
  while (file && read_line(file.get(), &line)) text += line + '\n';
  if (!file || std::ferror(file.get()) != 0)
    return refuse(options_.abbreviations + ": cannot be read: " + std::strerror(errno));
  abbreviations_ = abbreviations_in(text);
  return true;
}

// Sets the limits so that the engine records what the options ask for.
bool Translator::ask_inspection() {
  goldcrest_limits& limits = options_.limits;
  if (options_.token_scores) limits.inspection |= GOLDCREST_INSPECT_TOKEN_SCORES;
  if (!options_.alignments.empty() || options_.html || !options_.keep.empty() || !options_.glossary.empty()) {
    const int32_t layer = options_.alignment_layer, head = options_.alignment_head;
    const auto lacks = [&](const std::string& option, int32_t asked, uint32_t n) {
      return refuse(options_.model + ": " + option + ' ' + std::to_string(asked) + ": the decoder's are 0 to " +
                    std::to_string(n - 1));
    };
    if (layer >= static_cast<int32_t>(session_.info().decoder_layers))
      return lacks("--alignment-layer", layer, session_.info().decoder_layers);
    if (head >= static_cast<int32_t>(session_.info().decoder_heads))
      return lacks("--alignment-head", head, session_.info().decoder_heads);
    limits.alignment_layers = layer < 0 ? GOLDCREST_ALL_LAYERS : 1u << layer;
  }
  if (options_.score_file.empty()) return true;
  limits.inspection |= GOLDCREST_INSPECT_TARGETS;
  limits.beam_size = 1;
  return open_line_ids(options_.score_file);
}

// Opens a file that has ids for each line of the input. Returns false after an error message.
bool Translator::open_line_ids(const std::string& path) {
  line_ids_path_ = path;
  line_ids_.reset(std::fopen(path.c_str(), "rb"));
  return line_ids_ || refuse(path + ": cannot be read: " + std::strerror(errno));
}

// Returns a message if the model lacks something that the options ask for, or an empty string.
std::string Translator::missing_text() const {
  if (session_.info().sample_rate != 0) return "the model takes samples; goldcrest-transcribe runs models of speech";
  const bool text_in = !options_.ids && !options_.decode;
  const bool text_out = !options_.ids && !options_.tokens && options_.score_file.empty();
  if (text_in && !session_.info().has_tokenizer) {
    return options_.encode ? "the model has no tokenizer, which --encode needs"
                           : "the model has no tokenizer; with --ids it reads source ids and writes target ids";
  }
  if (options_.encode || !text_out || session_.info().has_detokenizer) return "";
  return options_.decode ? "the model has no detokenizer, which --decode needs"
                         : "the model has no detokenizer; with --tokens it writes target ids";
}

bool Translator::start_engine() {
  std::optional<bool> replaces = options_.replace_unknowns;
  if (options_.stream && !replaces && session_.traits().unknown_heads != 0) {
    replaces = false;  // attention is known when a text is whole
    std::fprintf(stderr,
        "goldcrest-translate: %s: warning: --stream prints unknown tokens as the model's text for them; without "
        "it a source token replaces each, as the model asks\n",
        options_.model.c_str());
  }
  goldcrest::Session::Options options = {
      options_.kernels, options_.structure_only, options_.low_memory, false, replaces, {}};
  options.prepare = [this](goldcrest_config* config) { return backend_.attach(config); };
  const std::string problem = session_.start(options, options_.limits);
  return problem.empty() || refuse(options_.model + ": " + problem);
}

bool Translator::set_languages() {
  const std::string &source = options_.source_language, &target = options_.target_language;
  std::string problem = languages_problem(session_, source, target);
  const bool is_forced = session_.traits().target_acts_on_ids != 0;
  if (problem.empty() && options_.ids && !target.empty() && !is_forced)
    problem = "--target-lang: with --ids, a source's own ids say its language";
  if (problem.empty() && !options_.decode && (!options_.ids || is_forced))
    problem = missing_language(session_, options_.ids ? "any" : source, target);
  if (!problem.empty()) return refuse(options_.model + ": " + problem);
  has_code_ = !target.empty() && session_.traits().has_codes != 0;
  const int status = goldcrest_set_languages(
      session_.engine(), source.empty() ? nullptr : source.c_str(), target.empty() ? nullptr : target.c_str());
  return status < 0 ? fail(status) : true;
}

bool Translator::set_search() {
  goldcrest_search& search = search_rules_;
  search = session_.info().search;
  const bool is_single = options_.samples || options_.alternatives != 0 || !options_.draft.empty();
  search.beam_size = is_single ? 1 : 0;  // 0: the limits'
  if (search.max_target_tokens > session_.memory().limits.max_target_tokens || options_.limits.max_target_tokens != 0)
    search.max_target_tokens = 0;
  if (options_.min_target) search.min_target_tokens = *options_.min_target;
  if (options_.length_penalty) search.length_penalty = *options_.length_penalty;
  if (options_.word_penalty) search.word_penalty = *options_.word_penalty;
#define GOLDCREST_RULE(kind, field, ...) search.field = options_.rules.field;
#include "goldcrest/search_rules.h"
  if (options_.scores) search.flags |= GOLDCREST_SEARCH_SCORES;
  if (options_.coarse) search.flags |= GOLDCREST_SEARCH_COARSE;
  int status = goldcrest_set_search(session_.engine(), &search);
  if (status >= 0 && options_.samples) status = goldcrest_set_sampling(session_.engine(), &options_.sampling);
  const goldcrest_lexicon lexicon = lexicon_.view();
  if (status >= 0 && !options_.lexicon.empty()) status = goldcrest_set_lexicon(session_.engine(), &lexicon);
  if (status >= 0 && options_.alternatives != 0)
    status = goldcrest_set_alternatives(session_.engine(), options_.alternatives, options_.min_alternative_prob);
  if (status >= 0 && (!sequence_biases_.empty() || options_.no_repeat_source_ngram)) {
    sequences_ =
        goldcrest_sequences{sequence_ids_.data(), sequence_biases_.data(), static_cast<uint32_t>(sequence_ids_.size()),
            static_cast<uint32_t>(sequence_biases_.size()), options_.no_repeat_source_ngram.value_or(0)};
    status = goldcrest_set_sequences(session_.engine(), &*sequences_);
  }
  return status < 0 ? fail(status) : true;
}

void Translator::decode(const std::string& text, Line* line) {
  std::vector<int32_t> ids;
  line->error = parse_ids(text, session_.info().target_vocab_size, &ids);
  if (!line->error.empty()) return;
  const int64_t status = session_.append_text(ids.data(), ids.size(), &line->out);
  if (status < 0) line->error = session_.describe(status);
  line->out = in_line(line->out) + '\n';
}

void Translator::read_ids(const std::string& text, Line* line) {
  Sentence sentence = {lines_.size() - 1};
  sentence.target = prefix_;
  line->error = parse_ids(text, session_.info().source_vocab_size, &sentence.source);
  const uint32_t most = session_.memory().limits.max_source_tokens;
  if (line->error.empty() && sentence.source.size() > most)
    line->error = too_many(sentence.source.size(), most, "--max-source");
  if (line->error.empty() && !sentence.source.empty() && !has_warned_of_end_) {
    line->warning = goldcrest::missing_end(sentence.source, session_.source_end());
    has_warned_of_end_ = !line->warning.empty();
  }
  sentences_.push_back(std::move(sentence));
}

// Reads the line of the file of ids that belongs to this line.
void Translator::read_line_ids(Line* line) {
  std::string text;
  std::vector<int32_t> ids;
  const bool is_target = !options_.score_file.empty(), is_draft = !options_.draft.empty();
  const bool found = read_line(line_ids_.get(), &text);
  std::string problem = found                               ? parse_ids(text, session_.info().target_vocab_size, &ids)
                        : std::ferror(line_ids_.get()) != 0 ? std::strerror(errno)
                                                            : "no such line";
  const bool has_source = !sentences_.empty() && sentences_.back().input == lines_.size() - 1;
  const goldcrest_limits& limits = session_.memory().limits;
  const uint32_t most = is_target || is_draft ? limits.max_target_tokens : limits.max_prefix_tokens;
  if (problem.empty() && ids.size() > most) problem = too_many(ids.size(), most, "--max-target");
  if (problem.empty() && is_target && ids.empty() && has_source) problem = "no ids";
  if (!problem.empty() && line->error.empty()) line->error = line_ids_path_ + ": " + problem;
  if (has_source) (is_draft ? sentences_.back().draft : sentences_.back().target) = std::move(ids);
}

bool Translator::check_line_ids() {
  std::string text;
  return !line_ids_ || !read_line(line_ids_.get(), &text) || refuse(line_ids_path_ + ": more lines than the input has");
}

// Makes the sources of a line, or the output of a line that has nothing to translate.
void Translator::read(const std::string& text, Line* line) {
  if (options_.decode) return decode(text, line);
  if (!options_.encode && is_blank(text)) {
    line->end = "\n";
    return;
  }
  if (options_.ids) return read_ids(text, line);
  line->error = text_problem(text);
  if (!line->error.empty()) return;
  line->warning = code_warning(&session_, has_code_, text);
  if (splits_) return read_sentences(text, line);
  Sentence sentence = {lines_.size() - 1};
  sentence.bytes = text.size();
  sentence.target = prefix_;
  if (line->writer) line->end = "\n";
  const auto begin = std::chrono::steady_clock::now();
  const int status = session_.tokenize(text, &sentence.source, &sentence.pieces);
  seconds_ += seconds_since(begin);
  if (status < 0) {
    line->error = session_.describe(status);
  } else if (options_.encode) {
    line->out = goldcrest::ids_text(sentence.source) + '\n';
  } else {
    if (line->writer && line->marked.is_kept(0, text.size())) sentence.source.clear();
    sentences_.push_back(std::move(sentence));
  }
}

void Translator::read_sentences(const std::string& text, Line* line) {
  goldcrest::host::TextReader reader(session_, text, abbreviations_, line->warning.empty());
  Sentence sentence;
  const auto read_next = [&](int* status) {
    sentence = {lines_.size() - 1};
    const auto begin = std::chrono::steady_clock::now();
    const bool is_sentence = reader.next(&session_, &sentence, status);
    seconds_ += seconds_since(begin);
    return is_sentence;
  };
  for (int status = GOLDCREST_OK; read_next(&status);) {
    std::string& error = status == GOLDCREST_ERROR_ARGUMENT ? line->no_tokens : line->error;
    if (status < 0) error = session_.describe(status);
    line->has_tokens = line->has_tokens || status >= 0;
    if (sentences_.size() >= ahead_) translate();
    if (line->writer && line->marked.is_kept(sentence.begin, sentence.bytes)) sentence.source.clear();
    sentences_.push_back(std::move(sentence));
  }
  line->end = sentence.space + '\n';
}

// Translates the sentences that are read, and puts the results into their lines.
void Translator::translate() {
  std::vector<Sentence*> order;
  for (Sentence& sentence : sentences_) {
    sentence.stream = n_sentences_++;
    if (options_.draft == "source") sentence.draft = sentence.source;
    if (lines_[sentence.input].error.empty()) order.push_back(&sentence);
  }
  search_.begin(search_options(), std::move(order));
  std::optional<Stream> stream;
  while (!search_.is_done()) {
    if (is_interrupted()) search_.stop();
    const auto begin = std::chrono::steady_clock::now();
    Sentence* const finished = search_.work(&session_);
    seconds_ += seconds_since(begin);
    if (options_.stream && !stream && finished == nullptr) {
      begin_stream(search_.running());
      stream.emplace();
    } else if (stream && stream->status >= 0 && (finished == nullptr || finished->problem.empty())) {
      stream->status = print_certain(&*stream, finished != nullptr);
    }
    if (finished == nullptr) continue;
    if (stream && stream->status < 0) finished->problem = session_.describe(stream->status);
    stream.reset();
    finish(*finished);
  }
  for (const Sentence& sentence : sentences_) {
    Line& line = lines_[sentence.input];
    if (line.writer) line.writer->add(sentence, &line.out);
    else line.out += sentence.space + results_of(sentence);
  }
  sentences_.clear();
}

// Prints all lines. False where standard output takes no more.
bool Translator::print_lines() {
  translate();
  for (Line& line : lines_) print(line);
  lines_.clear();
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

// Reads a line, or one of a document's texts. Returns false where standard output takes no more, or at an interrupt.
bool Translator::add_line(goldcrest::host::MarkedText text, size_t number) {
  lines_.push_back({number, {}, {}, {}});
  Line& line = lines_.back();
  ++n_lines_;
  if (has_marks()) {
    goldcrest::host::put_stand_ins(options_.keep, &text);
    line.marked = std::move(text);
    line.writer.emplace(line.marked);
  }
  read(has_marks() ? line.marked.text : text.text, &line);
  if (line_ids_) read_line_ids(&line);
  if (is_enough() && !print_lines()) return false;
  counter_.show(n_lines_);
  return !is_interrupted();
}

bool Translator::process_html(std::FILE* input, const std::string& name) {
  constexpr size_t kMostBytes = size_t{1} << 16;
  goldcrest::host::HtmlReader reader;
  goldcrest::host::MarkedText text;
  std::string bytes;
  for (int c = 0; c != EOF;) {
    for (bytes.clear(); bytes.size() < kMostBytes && (c = std::getc(input)) != EOF;) {
      bytes += static_cast<char>(c);
      if (c == '\n') break;
    }
    reader.push(bytes);
    if (c == EOF && !is_interrupted()) reader.finish();
    while (reader.next(&text))
      if (!add_line(std::move(text), text.line)) return false;
  }
  if (reader.n_problems() == 0) return true;
  failed_lines_ += reader.n_problems();
  const std::string others = reader.n_problems() > 1 ? "; " + std::to_string(reader.n_problems() - 1) + " more" : "";
  std::fprintf(stderr, "%s: warning: %s: not well-formed: %s%s\n", kProgram, name.c_str(),
      reader.first_problem().c_str(), others.c_str());
  return true;
}

bool Translator::process(std::FILE* input, const std::string& name) {
  const bool answers_at_once = options_.encode || options_.decode || session_.memory().limits.batch == 1;
  ahead_ = answers_at_once ? 1 : size_t{kBatchesAhead} * session_.memory().limits.batch;
  std::string text;
  if (options_.html && !process_html(input, name)) return false;
  for (bool is_first = true; !options_.html && read_line(input, &text);) {
    if (std::exchange(is_first, false) && text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0)
      text.erase(0, kByteOrderMark.size());
    if (!options_.ids && !options_.decode) text = without_soft_hyphens(std::move(text));
    if (!add_line({{}, text}, static_cast<size_t>(n_lines_ + 1))) return false;
  }
  if (is_interrupted()) return false;
  const int read_error = std::ferror(input) != 0 ? errno : 0;
  if (!print_lines()) return false;
  return read_error == 0 || refuse(name + ": " + std::strerror(read_error));
}
