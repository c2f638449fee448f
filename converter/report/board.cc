// SPDX-License-Identifier: Apache-2.0
#include "report/board.h"
#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>
#include "host/printable.h"
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr size_t kMaxScriptBytes = size_t{1} << 16, kMaxRegions = 64;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}

// Splits into words and single characters; drops comments, white space, and the quotes of texts.
class Tokens {
 public:
  Tokens(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  // Returns "" at the end.
  std::string_view next() {
    skip();
    if (text_.empty()) return {};
    if (text_.front() == '"') {
      const size_t end = text_.find('"', 1);
      if (end == text_.npos) throw Error("{}: a text has no end", where_);
      const std::string_view token = text_.substr(1, end - 1);
      text_.remove_prefix(end + 1);
      return token;
    }
    const auto* const end = std::find_if_not(text_.begin(), text_.end(), is_word);
    const std::string_view token = text_.substr(0, std::max<size_t>(1, static_cast<size_t>(end - text_.begin())));
    text_.remove_prefix(token.size());
    return token;
  }

  void expect(std::string_view token) {
    const std::string_view found = next();
    if (found != token) throw Error("{}: found '{}', expected '{}'", where_, printable(found), token);
  }

  // Skips everything up to and including `token`.
  void skip_past(std::string_view token) {
    for (std::string_view found = next(); found != token; found = next())
      if (found.empty()) throw Error("{}: ends where '{}' was expected", where_, token);
  }
 private:
  void skip() {
    while (!text_.empty()) {
      if (text_.starts_with("/*")) {
        const size_t end = text_.find("*/", 2);
        if (end == text_.npos) throw Error("{}: a comment has no end", where_);
        text_.remove_prefix(end + 2);
      } else if (text_.front() == ' ' || text_.front() == '\t' || text_.front() == '\n' || text_.front() == '\r') {
        text_.remove_prefix(1);
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  const std::string& where_;
};

uint64_t parse_length(std::string_view token, const std::string& name, const std::string& where) {
  std::string_view digits = token;
  const int base = digits.starts_with("0x") || digits.starts_with("0X") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  const std::string_view suffix = digits.substr(static_cast<size_t>(end - digits.data()));
  const uint32_t shift = suffix == "K" || suffix == "k" ? 10 : suffix == "M" || suffix == "m" ? 20 : 0;
  if (error != std::errc() || (shift == 0 && !suffix.empty()) || number > UINT64_MAX >> 1 >> shift) {
    throw Error("{}: LENGTH of {} is '{}', expected a number of bytes, or one with K or M", where, printable(name),
        printable(token));
  }
  return number << shift;
}

void parse_memory(Tokens& tokens, const std::string& where, LinkerScript& script) {
  tokens.expect("{");
  for (std::string_view name = tokens.next(); name != "}"; name = tokens.next()) {
    if (name.empty()) throw Error("{}: MEMORY has no end", where);
    if (script.regions.size() == kMaxRegions) throw Error("{}: has more than {} memories", where, kMaxRegions);
    Region region{std::string(name), 0};
    std::string_view token = tokens.next();
    if (token == "(") {
      tokens.skip_past(")");
      token = tokens.next();
    }
    if (token != ":") throw Error("{}: found '{}' after {}, expected ':'", where, printable(token), printable(name));
    tokens.skip_past(",");  // ORIGIN
    const std::string_view length = tokens.next();
    if (length != "LENGTH" && length != "len" && length != "l")
      throw Error("{}: {} has no LENGTH", where, printable(name));
    tokens.expect("=");
    region.bytes = parse_length(tokens.next(), region.name, where);
    script.regions.push_back(std::move(region));
  }
}
}  // namespace

const Region& LinkerScript::region(const std::string& name, const std::string& where) const {
  const auto alias = aliases.find(name);
  const std::string& own = alias == aliases.end() ? name : alias->second;
  const auto found = std::ranges::find(regions, own, &Region::name);
  if (found == regions.end())
    throw Error("{0}: has no memory {1}; expected REGION_ALIAS(\"{1}\", ...), as boards/README.md says", where, name);
  return *found;
}

LinkerScript parse_linker_script(std::string_view text, const std::string& where) {
  if (text.size() > kMaxScriptBytes)
    throw Error("{}: is larger than {} bytes; no linker script", where, kMaxScriptBytes);
  LinkerScript script;
  Tokens tokens(text, where);
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == "MEMORY") parse_memory(tokens, where, script);
    if (token != "REGION_ALIAS") continue;
    tokens.expect("(");
    const std::string alias(tokens.next());
    tokens.expect(",");
    script.aliases[alias] = tokens.next();
    tokens.expect(")");
  }
  if (script.regions.empty()) throw Error("{}: has no MEMORY; expected a linker script", where);
  return script;
}

namespace {
std::string read_script(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (file.peek() == EOF) throw Error("{}: cannot be read, or is empty; expected a linker script", path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Room& room_of(std::vector<Room>& rooms, const Region& region) {
  for (Room& room : rooms)
    if (room.region.name == region.name) return room;
  return rooms.emplace_back(Room{region});
}

// Smaller limits, and the options that set them.
struct LimitChoice {
  goldcrest_limits limits;
  std::string options;
};

LimitChoice with_tokens(LimitChoice choice, uint32_t most) {
  goldcrest_limits& limits = choice.limits;
  limits.max_source_tokens = std::min(limits.max_source_tokens, most);
  limits.max_target_tokens = std::min(limits.max_target_tokens, most);
  limits.encoder_rows = std::min(limits.encoder_rows, limits.max_source_tokens);
  if (limits.max_source_bytes != 0) limits.max_source_bytes = std::min(limits.max_source_bytes, 8 * most);
  choice.options = format_text(
      "--max-source {} --max-target {}{}", limits.max_source_tokens, limits.max_target_tokens, choice.options);
  return choice;
}

// Finds the largest limits that fit: first fewer encoder rows, which cost only time, then one beam, then fewer tokens.
std::optional<std::string> nearest_limits(const BoardDemand& demand, uint64_t room) {
  const goldcrest_limits& asked = demand.memory.limits;
  const auto fits = [&](const LimitChoice& choice) { return demand.arena_bytes(choice.limits) <= room; };
  LimitChoice least{asked, ""};
  for (uint32_t rows = asked.encoder_rows / 2; rows >= 1; rows /= 2) {
    least.limits.encoder_rows = rows;
    least.options = format_text(" --encoder-rows {}", rows);
    if (fits(least)) return least.options.substr(1);
  }
  if (asked.beam_size > 1 || asked.batch > 1) {
    least.limits.beam_size = least.limits.n_best = least.limits.batch = 1;
    least.options = " --beam-size 1" + std::string(asked.batch > 1 ? " --batch 1" : "") + least.options;
    if (fits(least)) return least.options.substr(1);
  }
  // Bisects the most tokens that fit; the arena grows with them.
  uint32_t good = 0, bad = std::max(asked.max_source_tokens, asked.max_target_tokens);
  while (bad - good > 1) {
    const uint32_t middle = good + (bad - good) / 2;
    (fits(with_tokens(least, middle)) ? good : bad) = middle;
  }
  if (good == 0) return {};
  return with_tokens(least, good).options;
}

// Converts "48K" to bytes.
uint64_t parse_bytes(std::string_view text, const std::string& whole) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view suffix = text.substr(static_cast<size_t>(end - text.data()));
  const uint32_t shift = suffix == "K" ? 10 : suffix == "M" ? 20 : 0;
  if (error != std::errc() || (shift == 0 && !suffix.empty()) || number > UINT64_MAX >> shift)
    throw Error("'{}' in '{}' is not a size; expected a whole number of bytes, or one with K or M", text, whole);
  return number << shift;
}

std::string excess(const char* name, const std::optional<uint64_t>& most, uint64_t bytes) {
  if (!most || bytes <= *most) return "";
  return format_text("the {0} needs {1} bytes, {2} more than --budget {0}={3}\n", name, bytes, bytes - *most, *most);
}
}  // namespace

std::vector<std::string> board_names() {
  std::vector<std::string> names;
  for (const BoardScript& script : kBoardScripts) names.emplace_back(script.name);
  return names;
}

std::vector<Board> find_boards(const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".ld"))
    return {{name, parse_linker_script(read_script(name), name)}};
  std::vector<Board> boards;
  for (const BoardScript& script : kBoardScripts)
    if (name == "all" || name == script.name)
      boards.push_back({script.name, parse_linker_script(script.text, script.name)});
  if (boards.empty()) {
    throw Error("'{}' is not a board; expected {}, all, or the path of a linker script (.ld){}", printable(name),
        join_text(board_names(), ", "), guess(name, board_names()));
  }
  return boards;
}

BoardFit fit_board(const Board& board, const BoardDemand& demand) {
  const auto region = [&](const char* name) -> const Region& { return board.script.region(name, board.name); };
  BoardFit fit;
  fit.name = board.name;
  room_of(fit.rooms, region("MODEL")).model = demand.file_bytes;
  room_of(fit.rooms, region("DATA")).arena = demand.memory.arena_bytes;
  room_of(fit.rooms, region("CODE")).others += kCodeBytes;
  room_of(fit.rooms, region("DATA")).others += kVariableBytes;
  room_of(fit.rooms, region("STACK")).others += kStackBytes;
  fit.fits = std::ranges::all_of(fit.rooms, [](const Room& room) { return room.needed() <= room.region.bytes; });
  if (fit.fits) return fit;
  const Room& data = room_of(fit.rooms, region("DATA"));
  const uint64_t others = data.needed() - data.arena;
  const bool arena_is_all = std::ranges::all_of(
      fit.rooms, [&](const Room& room) { return &room == &data || room.needed() <= room.region.bytes; });
  if (arena_is_all && others < data.region.bytes)
    fit.limits_that_fit = nearest_limits(demand, data.region.bytes - others);
  return fit;
}

std::string to_text(const BoardFit& fit) {
  std::string text = format_text("board        {}: {}\n", printable(fit.name), fit.fits ? "fits" : "does not fit");
  for (const Room& room : fit.rooms) {
    std::string parts;
    const auto add = [&](const char* part, uint64_t bytes) {
      if (bytes != 0) parts += format_text("{}{} {}", parts.empty() ? "" : ", ", part, bytes);
    };
    add("model", room.model);
    if (fit.saved_bytes != 0 && room.model != 0) parts += format_text(" (int8: {})", room.model + fit.saved_bytes);
    add("arena", room.arena);
    add("code, stack and variables taken as", room.others);
    const bool too_small = room.needed() > room.region.bytes;
    const uint64_t difference = too_small ? room.needed() - room.region.bytes : room.region.bytes - room.needed();
    text += format_text("  {:<10} {:>10} bytes: {}; {} bytes {}\n", printable(room.region.name), room.region.bytes,
        parts, difference, too_small ? "too many" : "free");
  }
  if (fit.limits_that_fit) text += format_text("  fits with {}\n", *fit.limits_that_fit);
  if (!fit.fits && !fit.limits_that_fit) text += "  no limits make it fit\n";
  return text;
}

Budget parse_budget(const std::string& text) {
  Budget budget;
  for (std::string_view rest = text; !rest.empty() || text.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    const size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    std::optional<uint64_t>* bytes = key == "arena"  ? &budget.arena_bytes
                                     : key == "file" ? &budget.file_bytes
                                                     : nullptr;
    if (bytes == nullptr || equals == std::string_view::npos || *bytes || rest.ends_with(','))
      throw Error("'{}' is not a budget; expected arena=BYTES, file=BYTES, or both with a comma", text);
    *bytes = parse_bytes(part.substr(equals + 1), text);
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  }
  return budget;
}

std::string over_budget(const Budget& budget, const BoardDemand& demand) {
  const std::string of_arena = excess("arena", budget.arena_bytes, demand.memory.arena_bytes);
  const std::string of_file = excess("file", budget.file_bytes, demand.file_bytes);
  if (of_arena.empty()) return of_file;
  const std::optional<std::string> limits = nearest_limits(demand, *budget.arena_bytes);
  return of_arena + of_file +
         (limits ? format_text("the arena fits with {}\n", *limits) : "no limits make the arena fit\n");
}
}  // namespace goldcrest::converter
