// SPDX-License-Identifier: Apache-2.0
// Languages by name: which a model has, and a model for one of several targets.
#pragma once

#include <string>
#include <vector>

#include "spec/spec.h"

namespace goldcrest::converter {

// The xxx of the source vocabulary's entries >>xxx<<, in the order of their bytes; none for a model of one target.
std::vector<std::string> target_languages(const ModelSpec& spec);

// Of a model with entries for languages (spec.languages) both sides must be chosen, or known already: the language of the
// source and of the target then stand where the family has them. Of the others, this makes `target` the language of every text: its entry stands before each source, and codes in a text are no longer
// read. Of a model of one target it must be that one, as `source` must be the model's; empty: as it is. A model that
// does not say its languages takes the names that are given. Throws Error.
void choose_languages(const std::string& source, const std::string& target, ModelSpec& spec);

}  // namespace goldcrest::converter
