// SPDX-License-Identifier: Apache-2.0
// The texts of messages: numbers and names in words, the nearest name, the choices, the answer to bad usage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest {
// Shows names and shapes from an untrusted file in messages. Needs only the C++ standard library.

// "[6000, 256]"; a scalar is "[]".
std::string shape_text(const std::vector<uint64_t>& shape);

// Returns the text in double quotes, without control characters, cut after about 100 bytes.
std::string in_quotes(std::string_view text);

// Returns the texts in quotes, separated by commas. After the first `most`, only the number of the others follows.
std::string list_in_quotes(const std::vector<std::string>& texts, size_t most);

// Returns the Levenshtein distance in bytes.
size_t edit_distance(std::string_view a, std::string_view b);

// Guesses the name that the user meant.

// Prefers a name of `names` that ends with `name`, or with which `name` ends (another prefix). Else returns the name
// that needs the fewest edits: at most a quarter of its letters and at most 3. Returns "" if none is near.
std::string nearest(std::string_view name, const std::vector<std::string>& names);

// Returns "; did you mean "scale_embedding"?", or "" if no name is near.
std::string guess(std::string_view name, const std::vector<std::string>& names);

// The same for the code of a language. Names up to three codes: those of the same language in another script or of
// another region ("zho_Hans" for "zh"), and those that need as few edits as above. The fewest edits come first.
std::string guess_languages(std::string_view code, const std::vector<std::string>& codes);

// Returns the code of Whisper's language that is given as its English name, "German", as its token, "<|de|>", or as its
// code. Other texts stay, in small letters.
std::string language_code(std::string_view language);

// Returns the English name of a code of these, "German"; other codes stay.
std::string language_name(const std::string& code);

// The end of a warning about a setting that was not read: it is none of `names`, or it has no effect.
std::string why_ignored(std::string_view name, const std::vector<std::string>& names);

// Every program answers a wrong command line with these texts.

// Returns the words with the separator between them.
std::string join_words(const std::vector<std::string>& words, const char* separator);

// Returns "a, b or c".
std::string list_choices(const std::vector<std::string>& words);

// Returns "" if `word` is one of `words`, or else an error that names all of them and the most similar one.
std::string choice_problem(std::string_view word, const std::vector<std::string>& words);

// Returns the text for a shell: in quotes if it needs them.
std::string quoted_for_shell(const std::string& text);

// Returns the arguments, quoted for a shell.
std::string command_line(int argc, const char* const* argv);
}  // namespace goldcrest
