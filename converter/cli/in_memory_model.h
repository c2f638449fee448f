// SPDX-License-Identifier: Apache-2.0
// A model file in memory, made before the final one to learn its size and its translations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/progress.h"
#include "file/write.h"
#include "report/engine_session.h"

namespace goldcrest::converter {

// Returns the payload for the limits and metadata of the command line. Throws Error that names the checkpoint.
Payload make_payload(const ModelSpec& spec, const Arguments& arguments, Progress& progress);

// Returns the bytes of all sections.
uint64_t section_bytes(const Payload& payload);

class InMemoryModel {
 public:
  // Throws Error as make_payload does.
  InMemoryModel(const ModelSpec& spec, const Arguments& arguments, Progress& progress);

  const FileImage& image() const { return image_; }
  uint64_t bytes() const { return bytes_; }  // of all sections
  // Translates the lines' sources greedily with the engine.
  std::vector<Translation> translate(const std::vector<EvaluationLine>& lines);

 private:
  const Arguments& arguments_;
  Progress& progress_;
  uint64_t bytes_ = 0;
  uint32_t max_source_bytes_ = 0;
  FileImage image_;  // without a self-test
};

// Returns how many sources were not translated, and why the first was not; "" if all were.
std::string describe_failures(const std::vector<Translation>& translations);

}  // namespace goldcrest::converter
