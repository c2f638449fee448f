// SPDX-License-Identifier: Apache-2.0
// What the program says on its two standard streams. Whoever closes standard error wants no messages, and still wants
// the model; a report that cannot be written is an error.
#pragma once

#include <string>
#include <string_view>

namespace goldcrest::converter {

// Takes the place of standard streams that are closed, so that no file of the program becomes one of them, and makes a
// broken pipe an error and not the program's end.
void open_standard_streams();

// The width of the terminal on standard output; 80 where it is none.
size_t output_columns();

// To standard error, as it stands; what goes wrong is passed over.
void say(std::string_view text);
// "goldcrest-convert: ...", with control characters escaped and a line end after it.
void say_error(std::string_view message);

// To standard output, as it stands.
void print(std::string_view text);
// Returns false where something that was printed is lost. A pipe whose reader left loses nothing: head has its lines.
bool flush_output();
// Throws Error with `consequence` ("nothing was done") where flush_output returns false.
void require_output(std::string_view consequence);

}  // namespace goldcrest::converter
