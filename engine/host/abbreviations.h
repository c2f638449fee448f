// SPDX-License-Identifier: Apache-2.0
// Words after which a full stop does not end a sentence, as goldcrest_part_options takes them. The lists were written
// for this project.
#pragma once

#include <string>
#include <string_view>

// The list of a language, by a code such as "de", "deu" or "de_DE"; the lists of all languages together, for a code
// that has none and for an empty one.
std::string abbreviations_of(std::string_view language);

// The words of a file's text, without the full stops that they end with.
std::string abbreviations_in(std::string_view text);
