// SPDX-License-Identifier: Apache-2.0
#pragma once

// A model of sentences, of a file that goldcrest_model_info has taken: its tokenizer cuts text into pieces of words.
// Those that take a word or a character as a token (pronunciation, spelling) are trained on other units.
bool takes_sentences(const void* model);
