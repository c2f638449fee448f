// SPDX-License-Identifier: Apache-2.0
// Answers questions of programs about the texts of a model and their languages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "goldcrest/goldcrest.h"
#include "host/session.h"

// Both return the codes of a model that goldcrest_model_info has accepted; none if it has only one language there.

std::vector<std::string> source_languages(const void* model, size_t model_bytes);
std::vector<std::string> target_languages(const void* model, size_t model_bytes);

// Returns a message if the model lacks one of these languages (empty: not asked for), with those that it has; else an
// empty string. These functions take a session whose file is a model.
std::string languages_problem(const goldcrest::Session& session, const std::string& source, const std::string& target);

// Returns a message if texts need a language that is neither asked for nor the model's default, or "" if they do not.
std::string missing_language(const goldcrest::Session& session, const std::string& source, const std::string& target);

// *ids <- the prompt with which a speech model writes in this language: the language's id, then what follows it in the
// file's prompt; none if the model knows only this language. Returns a message if the model lacks the language.
std::string language_prompt(const goldcrest::Session& session, const std::string& language, std::vector<int32_t>* ids);

// Returns a warning if the vocabulary lacks the >>xxx<< that a text begins with, or "". has_code: the tokenizer puts
// the code of a chosen language before texts. Replaces the engine's sources.
std::string code_warning(goldcrest::Session* session, bool has_code, const std::string& text);

// Chooses the first language of each side of the model's table that has no default.
int choose_first_languages(goldcrest_engine* engine, const void* model, size_t model_bytes);
