// SPDX-License-Identifier: Apache-2.0
// Files with right checksums and wrong content, and what an engine makes of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model_generated.h"
#include "support/tiny_model.h"

namespace goldcrest::test {

// The smallest model with everything that a file can hold: all norms, tokenizers, two self-test lines.
const converter::FileImage& smallest_file();

// The same with float32 weights.
const converter::FileImage& smallest_float32_file();

// The same with a recurrent decoder layer, int8.
const converter::FileImage& smallest_recurrent_file();

// The same with a shortlist that has n-grams, one of the lines of whose self-test is of candidates.
const converter::FileImage& smallest_listed_file();

// The same with subword-nmt's merges on both sides.
const converter::FileImage& smallest_subword_file();

using Mutation = std::function<void(format::ModelT&)>;

// The file with its metadata changed by `mutate` and all places and checksums made right again; then, with the sections
// at their places, by `mutate_placed` (which must not change the metadata's size), and the metadata's checksum again.
converter::FileImage remade(const converter::FileImage& file, const Mutation& mutate,
                            const Mutation& mutate_placed = nullptr);

// The bytes of its sections, in their order.
using Contents = std::vector<std::vector<uint8_t>>;

// The file with its metadata and the contents of its sections changed; sizes, places and checksums follow.
converter::FileImage remade_with_contents(const converter::FileImage& file,
                                          const std::function<void(format::ModelT&, Contents&)>& mutate,
                                          const Mutation& mutate_placed = nullptr);

// Makes the checksums of a file right whose bytes were changed: sections, metadata and trailer.
void repair_checksums(converter::FileImage& file);

struct Verdict {
  int status = 0;      // of goldcrest_init with full verification
  std::string detail;  // its message
};

// Starts an engine; when the file is accepted, also translates ids and text with greedy and beam search and runs the
// self-test. Whatever the file holds, that must end, and the sanitizers must have nothing to say. Also asks every size
// query, which must agree on what is refused.
Verdict try_file(const converter::FileImage& image);

struct Lie {
  const char* detail;  // the message that the engine must give
  Mutation tell;
};

// Each lie alone makes the file corrupt.
void expect_refused(const converter::FileImage& file, const std::vector<Lie>& lies);

// Every truncation is refused, and every byte with a bit flipped, where checksums are as they were.
void expect_damage_refused(converter::FileImage file);

// With right checksums a flipped bit of the metadata or of the last section, which has what text needs, may be
// meaningful: it is refused with a reason or it runs.
void expect_flips_refused_or_run(const converter::FileImage& file);

}  // namespace goldcrest::test
