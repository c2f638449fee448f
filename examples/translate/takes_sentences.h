// SPDX-License-Identifier: Apache-2.0
#pragma once

// True if the tokenizer of a model, which goldcrest_model_info has taken, cuts text into pieces of words. Models whose
// token is a word or a character (pronunciation, spelling) are trained on other units than sentences.
bool takes_sentences(const void* model);
