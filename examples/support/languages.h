// SPDX-License-Identifier: Apache-2.0
// The languages of a model's texts, by name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "goldcrest/goldcrest.h"

// The codes of a model that goldcrest_model_info has taken; none where it has one target language.
std::vector<std::string> target_languages(const void* model, size_t model_bytes);

// Why the model has not these languages (empty: none is asked for), with those that it has; empty where it has them.
std::string languages_problem(const void* model, size_t model_bytes, const std::string& source,
                              const std::string& target);
