// SPDX-License-Identifier: Apache-2.0
// Guesses the name that the user meant.
#include "sources/messages/nearest.h"

#include <algorithm>
#include <utility>

#include "sources/messages/messages.h"

namespace goldcrest::converter {
namespace {

constexpr size_t kMaxNames = 10'000, kMaxBytes = 200, kMaxEdits = 3;

// The Levenshtein distance.
size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// True if one name is the other with a prefix that ends in a dot.
bool differ_in_prefix(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return a.size() < b.size() && b.ends_with(a) && b[b.size() - a.size() - 1] == '.';
}

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& names) {
  std::string best;
  size_t least = std::min(kMaxEdits, std::max<size_t>(name.size() / 4, 1)) + 1;
  for (size_t i = 0; i < std::min(names.size(), kMaxNames); ++i) {
    const std::string& other = names[i];
    if (differ_in_prefix(name, other)) return other;
    const size_t difference = std::max(name.size(), other.size()) - std::min(name.size(), other.size());
    if (difference >= least || std::max(name.size(), other.size()) > kMaxBytes) continue;
    const size_t n = edits(name, other);
    if (n < least) {
      least = n;
      best = other;
    }
  }
  return best;
}

std::string guess(std::string_view name, const std::vector<std::string>& names) {
  const std::string meant = nearest(name, names);
  return meant.empty() ? "" : "; did you mean " + in_quotes(meant) + "?";
}

std::string why_ignored(std::string_view name, const std::vector<std::string>& names) {
  const bool is_known = std::find(names.begin(), names.end(), name) != names.end();
  return is_known ? " has no effect with the other settings and was ignored"
                  : " is not known and was ignored" + guess(name, names);
}

}  // namespace goldcrest::converter
