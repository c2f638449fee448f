// SPDX-License-Identifier: Apache-2.0
// The report of a conversion: as text, as JSON, and as one self-contained HTML page.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include "evaluate/centre_keys.h"
#include "evaluate/deviation.h"
#include "evaluate/evaluate.h"
#include "file/build.h"
#include "report/board.h"
#include "report/html.h"
#include "report/memory_map.h"
#include "report/vocabulary.h"
#include "report/work.h"
#include "sources/values/value.h"

namespace goldcrest::converter {
struct Report {
  std::string checkpoint, output;
  const ModelSpec* spec = nullptr;
  goldcrest_info info = {};
  std::vector<TensorRecord> tensors;
  std::vector<std::pair<std::string, uint64_t>> sections;  // name, bytes
  uint64_t file_bytes = 0, int8_bytes = 0;                 // int8_bytes: the file's without weights of 4 bits
  size_t self_test_lines = 0;
  Work work;
  bool is_shape = false;  // a model without weights, so the report leaves them out
  MemoryMap memory;
  std::vector<BoardFit> boards;
  std::optional<DeviationBound> deviation;  // if the checkpoint's norms add epsilon to it
  std::optional<TrimmedVocabulary> trimmed;
  std::optional<ShortlistFromText> shortlist_from_text;
  std::optional<FineInputs> fine;
  std::optional<CentredKeys> centred_keys;
  std::optional<Evaluation> evaluation;
  std::optional<ShortlistEvaluation> shortlist;  // for the same lines
  std::vector<EvaluationLine> evaluation_lines;
  std::string check;                // --check: the samples' folder, with which the float32 reference agrees; or empty
  std::string check_results;        // its text
  std::string kept_loss;            // a line that says that the loss is within --max-loss; or empty
  std::string command, date;        // for the page: how and when it was converted; empty: left out
  std::vector<ArenaGrowth> growth;  // for the page
};

std::string report_text(const Report& report);
// Returns the bytes of file and arena, and what options beyond the conversion asked for.
std::string report_summary(const Report& report);
// The same, with the checkpoint's family.
std::string report_screen(const Report& report);
// Returns a sentence on what int8 costs the user's lines. Words and characters have no BLEU.
std::string verdict(const Report& report);
// Returns commands for what comes next, most useful first.
std::vector<std::string> next_commands(const Report& report);
// Returns what the steps of --accuracy cost, a verdict in words, and the next two commands.
std::string report_ending(const Report& report);
Value report_json(const Report& report);
std::string report_html(const Report& report);

// Returns "64 source and 64 target tokens, greedy".
std::string limits_text(const goldcrest_limits& limits);
// Returns "encoder: 4 layers, d_model 256, ..." and the same for the decoder, one line each.
std::string describe_architecture(const goldcrest_info& info);
}  // namespace goldcrest::converter
