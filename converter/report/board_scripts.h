// SPDX-License-Identifier: Apache-2.0
// The linker scripts of boards/, which CMake puts into the program (report/board_scripts.cc.in).
#pragma once

#include <span>

namespace goldcrest::converter {

struct BoardScript {
  const char* name;
  const char* text;
};

extern const std::span<const BoardScript> kBoardScripts;  // by name

}  // namespace goldcrest::converter
