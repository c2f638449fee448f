// SPDX-License-Identifier: Apache-2.0
// A guess of a result (goldcrest_set_draft). Greedy search feeds its next ids to further rows of the same step, each at
// the position after the last, and takes the rows' choices as long as they are what was fed. So results are greedy's.
#pragma once

#include <stdint.h>

namespace goldcrest {
// Rows of one step that check a draft. Tasks split rows where each gets 8 (kRowsPerTask); these must stay together.
constexpr uint32_t kMostDraftRows = 15;

struct Draft {
  const int32_t* ids;  // [n], the caller's
  uint32_t n;          // 0: no draft
  uint32_t next;       // place of the id that is guessed to come next; n: none
  uint32_t first;      // the text's last two ids are searched from here on
  uint32_t n_missed;   // guesses since the last right one
};

// Follows the token that was chosen after `last`. A wrong guess is taken for a changed id, so the next guess is the id
// after it. If that is wrong too, guesses stop until the text's last two ids stand in the rest of the draft; before the
// first right guess, until its last one does.
void follow_token(int32_t last, int32_t token, Draft* draft);
}  // namespace goldcrest
