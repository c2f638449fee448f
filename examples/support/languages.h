// SPDX-License-Identifier: Apache-2.0
// The languages of a model's texts, by name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "goldcrest/goldcrest.h"

// Returns the codes of a model that goldcrest_model_info has accepted; none if it has only one target language.
std::vector<std::string> target_languages(const void* model, size_t model_bytes);

// Returns a message if the model lacks one of these languages (empty: not asked for), with those that it has; else an
// empty string.
std::string languages_problem(const void* model, size_t model_bytes, const std::string& source,
                              const std::string& target);
