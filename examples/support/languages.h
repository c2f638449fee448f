// SPDX-License-Identifier: Apache-2.0
// Answers questions of programs about the texts of a model and their languages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "goldcrest/goldcrest.h"

// The languages of a model's texts, by name.
// Both return the codes of a model that goldcrest_model_info has accepted; none if it has only one language there.

std::vector<std::string> source_languages(const void* model, size_t model_bytes);
std::vector<std::string> target_languages(const void* model, size_t model_bytes);

// Returns a message if the model lacks one of these languages (empty: not asked for), with those that it has; else an
// empty string.
std::string languages_problem(const void* model, size_t model_bytes, const std::string& source,
                              const std::string& target);

// *ids <- the prompt with which a speech model writes in this language: the language's id, then what follows it in the
// file's prompt; none if the model knows only this language. Returns a message if the model lacks the language.
// Takes a model that goldcrest_model_info accepts.
std::string language_prompt(const void* model, size_t model_bytes, const std::string& language,
                            std::vector<int32_t>* ids);

// Returns a message if texts need a language that is neither asked for nor the model's default, or "" if they do not.
std::string missing_language(const void* model, size_t model_bytes, const std::string& source,
                             const std::string& target);

// Returns whether the language of a target acts on sources of ids too: as the first or the start token.
bool forces_target(const void* model);

// Returns whether the tokenizer reads a leading >>xxx<<.
bool reads_codes(const void* model);

// Returns a warning if the vocabulary lacks the >>xxx<< that a text begins with, or "". `unknown_id`: of
// goldcrest_info; has_code: the tokenizer puts the code of a chosen language before texts. Replaces the engine's
// sources.
std::string code_warning(goldcrest_engine* engine, int32_t unknown_id, bool has_code, const std::string& text);

// Chooses the first language of each side of the model's table that has no default.
int choose_first_languages(goldcrest_engine* engine, const void* model);

// Reads the ids that a model's sources end with.
// Takes a model that goldcrest_model_info accepts. Returns nothing for a model that adds no ids to a source.

std::vector<int32_t> source_end(const void* model);

// True if the tokenizer of a model, which goldcrest_model_info has taken, cuts text into pieces of words. Models whose
// token is a word or a character (pronunciation, spelling) are trained on other units than sentences.

bool takes_sentences(const void* model);
