// SPDX-License-Identifier: Apache-2.0
// Languages by name: lists those of a model, and fixes one of several targets.
#pragma once

#include <string>
#include <vector>
#include "spec/spec.h"

namespace goldcrest::converter {
// Returns the xxx of the source vocabulary's entries >>xxx<< in byte order; none for a model of one target.
std::vector<std::string> target_languages(const ModelSpec& spec);

// Leaves only the named languages in the table, or among the entries >>xxx<<. The ids of the others become
// spec.languages.removed. Call it before choose_languages. Throws Error for a name that the model does not have.
void keep_languages(const std::vector<std::string>& kept, ModelSpec& spec);

// If the vocabulary has an entry for each language (spec.languages), fixes each side that is named; a side that is not
// named stays in the file's table. Otherwise makes `target` the language of every text: its entry stands before each
// source, and codes in a text are no longer read. For a model of one target, `target` must be that language, and
// `source` must always be the model's; empty means unchanged. A model that does not name its languages takes the given
// names. Throws Error.
void choose_languages(const std::string& source, const std::string& target, ModelSpec& spec);

// Returns what is missing if texts of this model cannot be read: its table has a side without a default. Else "".
std::string undecided_languages(const ModelSpec& spec);
}  // namespace goldcrest::converter
