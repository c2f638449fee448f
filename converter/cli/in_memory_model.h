// SPDX-License-Identifier: Apache-2.0
// A model file in memory, made before the final one to learn its size and its translations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include "cli/command_line.h"
#include "file/write.h"
#include "report/engine_session.h"

namespace goldcrest::converter {
// Stage "quantize": sets job.quantize. It throws an Error that names the checkpoint.
void set_quantizer(const QuantizeOptions& options, Job& job);

// Returns the bytes of all sections.
uint64_t section_bytes(const Payload& payload);

class InMemoryModel {
 public:
  // The model of job.spec. Throws Error as job.quantize does.
  explicit InMemoryModel(Job& job);

  const FileImage& image() const { return image_; }
  uint64_t bytes() const { return bytes_; }  // all sections together
  uint32_t max_source_bytes() const { return max_source_bytes_; }
  // Translates the lines' sources greedily with the engine.
  std::vector<Translation> translate(const std::vector<EvaluationLine>& lines);
 private:
  Job& job_;
  uint64_t bytes_ = 0;
  uint32_t max_source_bytes_ = 0;
  FileImage image_;  // without a self-test
};

// Returns how many sources were not translated, and why the first was not; "" if all were.
std::string describe_failures(const std::vector<Translation>& translations);
}  // namespace goldcrest::converter
