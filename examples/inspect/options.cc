// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include "../support/messages.h"
#include "sources/messages/options.h"

std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments) {
  goldcrest::converter::CommandLine app(kProgram, "Shows what a .gcst model holds and needs.");
  app.version("goldcrest-inspect " GOLDCREST_VERSION);
  app.add_option("MODEL", arguments.model, "a file that goldcrest-convert wrote")->required();
  app.add_flag("--self-test", arguments.self_test, "also verify every byte and run the file's self-test");
  app.add_flag("--map", arguments.map, "also print the arena's formula and a picture of it");
  app.add_option("--max-source", arguments.limits.max_source_tokens, "source tokens (0: the model's)");
  app.add_option("--max-source-bytes", arguments.limits.max_source_bytes, "bytes of a source text (0: the model's)");
  app.add_option("--max-target", arguments.limits.max_target_tokens, "generated tokens (0: the model's)");
  app.add_option("--beam-size,--beam", arguments.limits.beam_size, "hypotheses (0: the model's)")->check_range(0, 16);
  app.add_option("--batch", arguments.limits.batch, "sources at a time (0: 1)")->check_range(0, 256);
  app.add_option("--inspection", arguments.limits.inspection, "1 token scores, 2 scores of given targets, 3 both")
      ->check_range(0, 3);
  app.add_option("--alignment-layers", arguments.limits.alignment_layers,
                 "bits of the decoder layers whose alignments can be asked for: 1 the first, 2 the second, ...");
  app.add_option("--max-candidates", arguments.limits.max_candidates,
                 "tokens that a shortlist may leave a source (0: the model's)");
  app.add_option("--threads", arguments.limits.threads, "tasks that work is split into (0: 1)")->check_range(0, 64);
  app.add_option("--encoder-rows", arguments.limits.encoder_rows,
                 "source positions encoded at a time (0: the model's)");
  app.footer("Exit status: 0 done, 1 the file is refused or the self-test failed, 2 bad usage.");
  if (const auto answer = app.parse(argc, argv)) return ExitStatus(print_answer(kProgram, *answer));
  return {};
}
