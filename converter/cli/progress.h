// SPDX-License-Identifier: Apache-2.0
// Progress on stderr: a bar that redraws itself on a terminal, else one plain line a stage.
#pragma once

#include <cstddef>
#include <string>

namespace goldcrest::converter {

class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Begins a stage, ending the one before.
  void stage(const std::string& name);
  // How far the stage is.
  void at(size_t done, size_t total);
  void finish();

 private:
  bool quiet_, terminal_;
  std::string stage_;
};

}  // namespace goldcrest::converter
