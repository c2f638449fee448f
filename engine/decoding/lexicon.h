// SPDX-License-Identifier: Apache-2.0
// A lexicon restricts the texts of a search (goldcrest_set_lexicon). Each live hypothesis has a node of its tree.
// Builds without GOLDCREST_LEXICON have no lexicons.
#pragma once

#include "decoding/stages.h"

namespace goldcrest {

// Moves the node of every live hypothesis on to the current position. Chooses the outputs of each sentence: the allowed
// ones of all its hypotheses if they fit the limits, else all.
void follow_lexicon(const OutputStep& step);

// Removes the tokens that the lexicon does not allow from a block and sums the others up, one after another: the sum
// must not depend on which outputs are computed. Call it for a row's blocks in ascending order.
void keep_allowed(const OutputStep& step, const LogitBlock& block);

}  // namespace goldcrest
