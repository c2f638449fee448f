// SPDX-License-Identifier: Apache-2.0
#include "evaluate/id_lines.h"

#include <utility>

#include "spec/error.h"
#include "spec/format_text.h"
#include "spec/id_list.h"
#include "spec/printable.h"

namespace goldcrest::converter {

std::vector<int32_t> parse_ids(std::string_view line, uint32_t vocab_size) {
  constexpr size_t kMostShown = 20;
  IdList list = read_id_list(line, vocab_size);
  if (!list.bad.empty()) {
    throw Error("'{}' is not a token id; expected numbers below {}, separated by spaces",
                printable(list.bad.substr(0, kMostShown)), vocab_size);
  }
  if (list.ids.empty()) throw Error("no token id; expected numbers below {}, separated by spaces", vocab_size);
  return std::move(list.ids);
}

std::string ids_text(std::span<const int32_t> ids) { return join_text(ids, " "); }

}  // namespace goldcrest::converter
