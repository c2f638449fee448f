// SPDX-License-Identifier: Apache-2.0
// Evaluates the arena's formula only from its printed text, as a reader with a pocket calculator would.
#pragma once

#include <cctype>
#include "goldcrest/goldcrest.h"
#include "support/standard.h"

namespace goldcrest::test {
// Reads lines of "name = expression" and skips other lines. An expression has numbers, names of other lines, the
// letters of the limits, +, *, (a>b), max(a, b, ...) and up64(a), which rounds up to a multiple of 64.
class ArenaFormula {
 public:
  explicit ArenaFormula(const std::string& text) {
    for (size_t start = 0; start < text.size();) {
      const size_t end = std::min(text.find('\n', start), text.size()), equals = text.find(" = ", start);
      if (equals < end) lines_[text.substr(start, equals - start)] = text.substr(equals + 3, end - equals - 3);
      start = end + 1;
    }
  }

  uint64_t evaluate(const goldcrest_limits& limits) const { return Expression(*this, limits).value_of("arena"); }
 private:
  class Expression {
   public:
    Expression(const ArenaFormula& formula, const goldcrest_limits& limits) : formula_(formula), limits_(limits) {}

    uint64_t value_of(const std::string& name) const {
      const auto line = formula_.lines_.find(name);
      if (line == formula_.lines_.end()) throw std::runtime_error("the formula has no line for " + name);
      Expression part = *this;
      part.text_ = line->second;
      part.at_ = 0;
      const uint64_t value = part.sum();
      if (part.next() != '\0') throw std::runtime_error("not a formula: " + line->second.substr(part.at_));
      return value;
    }
   private:
    char next() {
      while (at_ < text_.size() && text_[at_] == ' ') ++at_;
      return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char c) {
      if (next() != c) return false;
      ++at_;
      return true;
    }
    void expect(char c) {
      if (!take(c)) throw std::runtime_error(std::string("expected ") + c + " at " + text_.substr(at_));
    }

    uint64_t sum() {
      uint64_t value = product();
      while (take('+')) value += product();
      return value;
    }
    uint64_t product() {
      uint64_t value = factor();
      while (take('*')) value *= factor();
      return value;
    }
    uint64_t factor() {
      if (take('(')) {
        const uint64_t left = sum();
        const uint64_t value = take('>') ? uint64_t{left > sum()} : left;
        expect(')');
        return value;
      }
      std::string word;
      while (std::isalnum(static_cast<unsigned char>(next())) != 0) word += text_[at_++];
      if (word.empty()) throw std::runtime_error("expected a value at " + text_.substr(at_));
      if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return std::stoull(word);
      return take('(') ? call(word) : variable(word);
    }
    uint64_t call(const std::string& function) {
      std::vector<uint64_t> values = {sum()};
      while (take(',')) values.push_back(sum());
      expect(')');
      if (function == "max") return *std::max_element(values.begin(), values.end());
      if (function == "up64" && values.size() == 1) return (values[0] + 63) / 64 * 64;
      throw std::runtime_error("unknown function " + function);
    }
    uint64_t variable(const std::string& name) const {
      const std::map<std::string, uint64_t> letters = {{"S", limits_.max_source_tokens},
          {"C", limits_.max_source_bytes}, {"T", limits_.max_target_tokens},
          {"L", std::max(limits_.max_source_tokens, limits_.max_target_tokens)}, {"B", limits_.beam_size},
          {"N", limits_.batch}, {"R", limits_.encoder_rows}, {"P", limits_.threads}, {"X", limits_.max_prefix_tokens},
          {"D", limits_.max_sampled}, {"K", (limits_.max_candidates + 15) / 16 * 16}};
      const auto letter = letters.find(name);
      return letter != letters.end() ? letter->second : value_of(name);
    }

    const ArenaFormula& formula_;
    const goldcrest_limits& limits_;
    std::string text_ = {};
    size_t at_ = 0;
  };

  std::map<std::string, std::string> lines_;
};
}  // namespace goldcrest::test
