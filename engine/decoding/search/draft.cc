// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "decoding/search/draft.h"

namespace goldcrest {
void follow_token(int32_t last, int32_t token, Draft* draft) {
  const uint32_t n = draft->n, guess = draft->next;
  uint32_t found = guess < n && draft->ids[guess] == token ? guess : n;
  for (uint32_t i = draft->first; found == n && draft->n_missed > 0 && i < n; ++i) {
    const bool is_run = draft->first == 0 || (i > draft->first && draft->ids[i - 1] == last);
    if (is_run && draft->ids[i] == token) found = i;
  }
  if (found < n) {
    draft->next = draft->first = found + 1;
    draft->n_missed = 0;
  } else {
    draft->next = draft->n_missed++ == 0 && guess < n ? guess + 1 : n;
  }
}
}  // namespace goldcrest
