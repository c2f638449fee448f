// SPDX-License-Identifier: Apache-2.0
// goldcrest-inspect shows the content of a .gcst file, its origin and the memory that it needs. It also checks whether
// this machine computes the same as the converter did.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include "goldcrest/goldcrest.h"
#include "host/command_line.h"
#include "host/messages.h"
#include "host/model_texts.h"
#include "host/printable.h"
#include "host/session.h"
#include "model/model_view.h"
#include "report/memory_map.h"
#include "report/rules.h"
#include "sources/sniffing/sniff.h"
#include "spec/error.h"
#include "spec/format_text.h"

namespace {
using goldcrest::printable;
using goldcrest::converter::join_text;
using goldcrest::converter::MemoryMap;
using goldcrest::converter::print_text;

constexpr const char* kProgram = "goldcrest-inspect";

enum ExitStatus { kSuccess = 0, kFailed = 1, kBadUsage = 2 };

struct Arguments {
  std::string model;
  goldcrest_limits limits = {};
  bool self_test = false, map = false;
};

// Fills `arguments` from the command line. Returns an exit status if the program is to end: after printing help or the
// version, or an error of the command line.
std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments) {
  using goldcrest::number;
  goldcrest_limits& limits = arguments.limits;
  goldcrest::CommandLine app({kProgram, "Shows what a .gcst model holds and needs.",
      {
          {"*MODEL", goldcrest::text(arguments.model), "a file that goldcrest-convert wrote"},
          {"Checks"},
          {"*--self-test", goldcrest::flag(arguments.self_test), "also verify every byte and run the file's self-test"},
          {"*--map", goldcrest::flag(arguments.map), "also print the arena's formula and a picture of it"},
          {"Limits, for which the memory is printed"},
          {"*--max-source N", number(limits.max_source_tokens), "take at most N source tokens [0: the model's]"},
          {"*--max-target N", number(limits.max_target_tokens), "write at most N tokens [0: the model's]"},
          {"*--beam-size N", number(limits.beam_size, 0, 16), "keep N hypotheses [0: the model's]"},
          {"*--batch N", number(limits.batch, 0, 256), "take N sources at a time [1]"},
          {"*--threads N", number(limits.threads, 0, 64), "split the work into N tasks [1]"},
          {"*--encoder-rows N", number(limits.encoder_rows), "encode N source positions at a time [0: the model's]"},
          {"--max-source-bytes N", number(limits.max_source_bytes), "take at most N bytes of a text [0: the model's]"},
          {"--max-candidates N", number(limits.max_candidates),
              "let a shortlist leave a source at most N tokens [0: the model's]"},
          {"--inspection BITS", number(limits.inspection, 0, 3),
              "have 1: token scores, 2: scores of given targets, 3: both [0]"},
          {"--alignment-layers BITS", number(limits.alignment_layers),
              "have alignments of decoder layers: 1 the first, 2 the second, 3 both, ... [0]"},
      },
      "  goldcrest-inspect model.gcst --self-test --map\n",
      "0 done, 1 the file is refused or the self-test failed, 2 bad usage."});
  if (const auto answer = app.parse(argc, argv)) return ExitStatus(print_answer(kProgram, *answer));
  return {};
}

std::string or_none(const char* text) { return text[0] != '\0' ? goldcrest::printable(text) : "not stated"; }

void print_info(const goldcrest_info& info, bool is_subword) {
  print_text("file         {} bytes, format version {}, weights hash {:016x}\n", info.file_bytes, info.format_version,
      info.weights_hash);
  print_text("weights      {}\n", info.weight_bits == 32  ? "float32"
                                  : info.weight_bits == 4 ? "int8, of which some have 4 bits"
                                                          : "int8");
  print_text("name         {}\n", or_none(info.name));
  print_text("languages    {} -> {}\n", or_none(info.source_language), or_none(info.target_language));
  print_text("licence      {}\n", or_none(info.license));
  print_text("attribution  {}\n", or_none(info.attribution));
  print_text("made from    {} checkpoint, sha256 {}\n", or_none(info.dialect), or_none(info.checkpoint_sha256));
  print_text("made by      {}\n", or_none(info.converter_version));
  print_text("encoder      {} layers, d_model {}, d_ff {}, {} heads, vocabulary {}, {} positions\n",
      info.encoder_layers, info.encoder_d_model, info.encoder_d_ff, info.encoder_heads, info.source_vocab_size,
      info.max_source_positions);
  print_text("decoder      {} layers, d_model {}, d_ff {}, {} heads, vocabulary {}, {} positions\n",
      info.decoder_layers, info.decoder_d_model, info.decoder_d_ff, info.decoder_heads, info.target_vocab_size,
      info.max_target_positions);
  print_text("text         {}, {}\n", info.has_tokenizer ? "tokenizer" : "no tokenizer",
      info.has_detokenizer ? "detokenizer" : "no detokenizer");
  if (is_subword) print_text("             words between spaces, cut by subword-nmt's merges\n");
  print_text("ids          start {}, end {}, padding {}, unknown {}\n", info.decoder_start_id, info.end_id, info.pad_id,
      info.unknown_id);
  print_text("search       beam size {}, at most {} tokens, length penalty {}, word penalty {}\n",
      info.search.beam_size, info.search.max_target_tokens, info.search.length_penalty, info.search.word_penalty);
}

void print_shortlist(const goldcrest::ShortlistView& shortlist, uint32_t max_candidates) {
  const uint32_t n_lists = shortlist.n_source_ids + shortlist.n_ngrams;
  const uint64_t n_ids = uint64_t{shortlist.n_always} + shortlist.offset[n_lists];
  const uint64_t bytes = n_ids * (shortlist.wide_ids ? 4 : 2) +
                         4 * (uint64_t{n_lists} + 1 + uint64_t{shortlist.n_ngrams} * shortlist.max_ngram);
  print_text("shortlist    {} bytes: {} ids of every sentence, {:.1f} of a source id (mean), {} n-grams\n", bytes,
      shortlist.n_always, static_cast<double>(shortlist.offset[shortlist.n_source_ids]) / shortlist.n_source_ids,
      shortlist.n_ngrams);
  print_text("             a source with more than {} candidates is searched among all ids\n", max_candidates);
}

void print_lexicon(const goldcrest_lexicon& lexicon) {
  const uint32_t* const first = lexicon.first_edge;
  const auto is_word_end = [](const goldcrest_lexicon_edge& edge) {
    return edge.token == GOLDCREST_LEXICON_END && edge.child == 0;
  };
  const bool words = std::any_of(lexicon.edges, lexicon.edges + lexicon.n_edges, is_word_end);
  print_text("lexicon      {} bytes: {} nodes, {} edges, {} first ids\n",
      4 * (uint64_t{lexicon.n_nodes} + 2) + 8 * uint64_t{lexicon.n_edges}, lexicon.n_nodes, lexicon.n_edges, first[1]);
  print_text("             a text is {}\n", words ? "its words one after another" : "one of its entries");
}

// Runs the file's self-test in an arena of its own; prints the verdict.
bool self_test(goldcrest::Session* session, const goldcrest_limits& limits) {
  goldcrest_detail detail = {"", -1};
  std::string problem = session->start({"", false, false, false, false, {}}, limits);
  const int status = problem.empty() ? goldcrest_self_test(session->engine(), &detail) : GOLDCREST_OK;
  if (status < 0) problem = describe_error(status, detail);
  if (problem.empty()) print_text("self-test    passed with kernels {}\n", goldcrest_kernels_name(session->engine()));
  else print_text("self-test    FAILED: {}\n", problem);
  return problem.empty();
}

// Throws if the path is known to be something other than a model file.
void refuse_other_kinds(const std::string& path) {
  using goldcrest::converter::Use;
  const goldcrest::converter::Sniffed sniffed = goldcrest::converter::sniff(path);
  if (sniffed.kind == goldcrest::converter::KindId::kEmptyFile) return;  // mapping it reports that
  if (sniffed.use != Use::kModelFile && sniffed.use != Use::kUnknown)
    throw goldcrest::converter::Error("{}", sniffed.text());
}

int inspect(const Arguments& arguments) {
  refuse_other_kinds(arguments.model);
  goldcrest::Session session;
  std::string problem = session.open(arguments.model, std::max(1u, arguments.limits.threads));
  if (problem.empty()) problem = kernels_problem("");
  if (!problem.empty()) throw goldcrest::converter::Error("{}", problem);
  problem = session.read_info();
  const goldcrest_info& info = session.info();
  if (problem.empty()) problem = goldcrest::limits_problem(info, arguments.limits);
  if (!problem.empty()) throw goldcrest::converter::Error("{}: {}", arguments.model, problem);
  const void* const model = session.model();
  goldcrest::TokenizerView tokenizer = {};
  const bool is_subword =
      goldcrest::view_tokenizer(model, &tokenizer) && tokenizer.kind == goldcrest::TokenizerKind::kSubword;
  print_info(info, is_subword);
  const std::vector<std::string> sources = source_languages(model, session.model_bytes());
  if (!sources.empty()) print_text("sources      {}: {}\n", sources.size(), printable(join_text(sources, " ")));
  const std::vector<std::string> targets = target_languages(model, session.model_bytes());
  if (!targets.empty()) print_text("targets      {}: {}\n", targets.size(), printable(join_text(targets, " ")));
  const goldcrest::GenerationView generation = goldcrest::view_generation(model);
  const std::vector<std::string> rules =
      goldcrest::converter::describe_rules(info.search, generation.n_more_ends, generation.n_biased);
  if (!rules.empty()) print_text("rules        {}\n", join_text(rules, ", "));
  goldcrest::ShortlistView shortlist = {};
  if (goldcrest::view_shortlist(model, &shortlist)) print_shortlist(shortlist, info.limits.max_candidates);
  goldcrest_lexicon lexicon = {};
  if (goldcrest::view_lexicon(model, &lexicon)) print_lexicon(lexicon);
  goldcrest_limits limits = arguments.limits;
  if (limits.max_source_bytes == 0) limits.max_source_bytes = info.limits.max_source_bytes;
  const std::span<const uint8_t> bytes(static_cast<const uint8_t*>(model), session.model_bytes());
  const MemoryMap map = goldcrest::converter::map_memory(bytes, limits, arguments.model);
  const goldcrest_memory& memory = map.memory;
  print_text("arena        {} bytes for {}\n", memory.arena_bytes, goldcrest::converter::formula_legend(memory.limits));
  print_text(
      "             or {} bytes and {} bytes of scratch in a second region\n", memory.main_bytes, memory.scratch_bytes);
  print_text("step         at most {} multiply-accumulates ({} by layers)\n", memory.step_macs, memory.layer_step_macs);
  if (memory.text_steps > 0) print_text("tokenizing   at most {} steps\n", memory.text_steps);
  if (arguments.map)
    print_text("\n{}\n{}", goldcrest::converter::arena_formula(map), goldcrest::converter::picture(map));
  const bool passed = !arguments.self_test || self_test(&session, map.memory.limits);
  return passed ? kSuccess : kFailed;
}
}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (const std::optional<ExitStatus> status = parse_options(argc, argv, arguments)) return *status;
  try {
    const int status = inspect(arguments);
    return finish_output(kProgram) ? status : kFailed;
  } catch (const std::exception& error) {
    if (!finish_output(kProgram)) return kFailed;  // the failed output is the error to report
    std::fprintf(stderr, "%s: %s\n", kProgram, describe_exception(error, arguments.model).c_str());
    return kFailed;
  }
}
