// SPDX-License-Identifier: Apache-2.0
// The program's output on its two standard streams. If the user closes standard error, the program goes on without
// messages. A report that cannot be written is an error.
#pragma once

#include <string>
#include <string_view>

namespace goldcrest::converter {
// Fills closed standard streams, so that no file of the program takes their numbers. Makes a broken pipe an error
// instead of the program's end.
void open_standard_streams();

// Returns the width of the terminal on standard output, or 80 if it is not a terminal.
size_t output_columns();

// Writes to standard error, unchanged; ignores failures.
void say(std::string_view text);
// Writes "goldcrest-convert: ...", with control characters escaped and a line end.
void say_error(std::string_view message);

// Writes to standard output, unchanged.
void print(std::string_view text);
// Returns false if printed text was lost. A pipe whose reader left loses nothing, because head has its lines.
bool flush_output();
// Throws Error with `consequence` ("nothing was done") if flush_output returns false.
void require_output(std::string_view consequence);
}  // namespace goldcrest::converter
