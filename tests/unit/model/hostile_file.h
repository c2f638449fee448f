// SPDX-License-Identifier: Apache-2.0
// Files with right checksums and wrong contents, and the engine's reaction to them.
#pragma once

#include <functional>
#include <string>
#include <vector>
#include "model_generated.h"
#include "support/tiny_model.h"

namespace goldcrest::test {
using format::ModelT;

// The smallest model with everything that a file can hold: all norms, tokenizers, two self-test lines.
const FileImage& smallest_file();

// The same with float32 weights.
const FileImage& smallest_float32_file();

// The same with a recurrent decoder layer, int8.
const FileImage& smallest_recurrent_file();

// The same with a shortlist that has n-grams; one line of its self-test is searched among candidates.
const FileImage& smallest_listed_file();

// The same with gates in both stacks, int8 or with float32 weights.
const FileImage& smallest_gated_file();
const FileImage& smallest_gated_float32_file();

// The same with RMS norms and attention biases in place of positions.
const FileImage& smallest_biased_file();
const FileImage& smallest_biased_float32_file();

// The same with subword-nmt's merges on both sides.
const FileImage& smallest_subword_file();

// The same with a table of three languages, "a" and "b" of sources, "b" and "c" of targets, which are forced first.
const FileImage& smallest_languages_file();

using Mutation = std::function<void(ModelT&)>;

// Changes the metadata by `mutate` and makes all places and checksums right again. Then, with the sections at their
// places, calls `mutate_placed`, which must not change the metadata's size, and repairs the metadata's checksum.
FileImage remade(const FileImage& file, const Mutation& mutate, const Mutation& mutate_placed = nullptr);

// The bytes of the sections, in order.
using Contents = std::vector<std::vector<uint8_t>>;

// Changes the metadata and the contents of the sections; sizes, places and checksums follow.
FileImage remade_with_contents(const FileImage& file, const std::function<void(ModelT&, Contents&)>& mutate,
    const Mutation& mutate_placed = nullptr);

// Repairs the checksums of a file with changed bytes: sections, metadata and trailer.
void repair_checksums(FileImage& file);

struct Verdict {
  int status = 0;      // goldcrest_init's with full verification
  std::string detail;  // its message
};

// Starts an engine. If it accepts the file, also translates ids and text with greedy and beam search and runs the
// self-test. This must end for any file, without a finding of the sanitizers. Also calls every size query; all must
// agree on what is refused.
Verdict try_file(const FileImage& image);

// Expects that the engine runs the file, or that it finds it corrupt with this message.
void expect_runs(const FileImage& image, const char* file = __builtin_FILE(), int line = __builtin_LINE());
void expect_corrupt(const FileImage& image, const std::string& detail, const char* file = __builtin_FILE(),
    int line = __builtin_LINE());

struct Lie {
  const char* detail;  // the message that the engine must give
  Mutation tell;
};

// Each change by itself makes the file corrupt.
void expect_refused(const FileImage& file, const std::vector<Lie>& lies);

// Every truncation is refused, and so is every flipped bit while the checksums are the old ones.
void expect_damage_refused(FileImage file);

struct Flips {
  uint64_t seed = 9;
  int n = 3000;
  bool anywhere = false;  // not only in the last section, which has the tables for text
};

// Repairs checksums after a flipped bit of the metadata or of a section. The file is refused with a reason, or it runs.
void expect_flips_refused_or_run(const FileImage& whole, const Flips& flips = {});
}  // namespace goldcrest::test
