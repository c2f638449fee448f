// SPDX-License-Identifier: Apache-2.0
// Turns objdump's text into kinds and registers. The registers are those in the text, in its order; the name says how
// many of them are written.
#include "arm_cycles/core.h"

namespace arm_cycles {
namespace {
// A register as it stands in the text.
struct Named {
  int number;        // -1: the zero register
  char letter;       // x w v q d s h b
  bool whole;        // v: all 128 bits
  bool lane;         // v: one lane of it
  bool in_brackets;  // an address
};

struct Operands {
  std::vector<Named> registers;
  bool writes_back = false, shifted = false;
  size_t n_outside = 0;  // registers before the address
};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '#' || c == '-' || c == '+';
}

// Reads the register that a word names, such as x0, v3.16b or sp.
bool read_register(std::string_view word, Named* found) {
  *found = {};
  if (any_of(word, {"sp", "wsp", "xzr", "wzr"})) {
    *found = {word.ends_with("sp") ? 31 : -1, 'x', false, false, false};
    return true;
  }
  if (word.size() < 2 || std::string_view("xwvqdshb").find(word[0]) == std::string_view::npos) return false;
  const std::string_view number = word.substr(1, word.find('.') - 1);
  if (number.empty() || number.find_first_not_of("0123456789") != std::string_view::npos) return false;
  found->letter = word[0];
  found->number = std::stoi(std::string(number)) + (word[0] == 'x' || word[0] == 'w' ? 0 : kVectors);
  const std::string_view arrangement = word.find('.') == std::string_view::npos ? "" : word.substr(word.find('.'));
  found->whole = word[0] == 'q' || any_of(arrangement, {".16b", ".8h", ".4s", ".2d"});
  return true;
}

Operands read_operands(std::string_view text) {
  text = text.substr(0, text.find("//"));
  Operands operands;
  bool in_brackets = false, range = false;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (!is_word(c) || c == '-' || c == '+') {
      // v0.16b-v3.16b is a range. In x0, v1.s[2] the brackets hold a lane, not an address.
      const bool of_list = c == '}' && at + 1 < text.size() && text[at + 1] == '[';
      if (of_list || (c == '[' && at > 0 && text[at - 1] != ' ' && !operands.registers.empty())) {
        for (Named& found : operands.registers) found.lane |= of_list || &found == &operands.registers.back();
        at = text.find(']', at) + 1;
        continue;
      }
      if (c == '[') in_brackets = true, operands.n_outside = operands.registers.size();
      if (c == ']') {
        in_brackets = false;
        operands.writes_back |= text.find_first_of("!,", at) != std::string_view::npos;
      }
      range = c == '-';
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_word(text[end]) && text[end] != '-') ++end;
    const std::string_view word = text.substr(at, end - at);
    Named found;
    if (read_register(word, &found)) {
      found.in_brackets = in_brackets;
      if (range) {
        for (int number = operands.registers.back().number + 1; number < found.number; ++number) {
          operands.registers.push_back(found);
          operands.registers.back().number = number;
        }
      }
      operands.registers.push_back(found);
    } else if (any_of(word, {"lsl", "lsr", "asr", "ror", "uxtw", "sxtw", "uxtb", "uxth", "sxtb", "sxth", "sxtx"})) {
      operands.shifted = true;
    }
    range = false;
    at = end;
  }
  return operands;
}

// The memory kind among those for X, D and Q registers.
Kind sized(const Named& data, Kind x, Kind d, Kind q) {
  if (data.letter == 'x' || data.letter == 'w') return x;
  return data.letter == 'q' || data.whole ? q : d;
}

void decode_memory(std::string_view name, const Operands& operands, Instruction* out) {
  const bool load = name[0] == 'l';
  const auto& registers = operands.registers;
  if (registers.empty() || operands.n_outside >= registers.size()) throw std::runtime_error("no address");
  const Named& data = registers[0];
  out->count = static_cast<int>(operands.n_outside);
  const bool pair = any_of(name, {"ldp", "stp", "ldnp", "stnp", "ldpsw"});
  const bool structure = any_of(name.substr(0, 3), {"ld1", "ld2", "ld3", "ld4", "st1", "st2", "st3", "st4"});
  const bool one_lane = structure && (data.lane || name.back() == 'r');
  if (one_lane) {
    out->kind = load ? Kind::kLoadLane : Kind::kStoreD;
  } else if (structure && load) {
    out->kind = data.whole ? Kind::kLoadMultipleQ : Kind::kLoadMultipleD;
    if (name[2] != '1') out->count *= 2;  // takes the elements apart, too
  } else if (pair) {
    out->kind = load ? sized(data, Kind::kLoadPairX, Kind::kLoadPairD, Kind::kLoadPairQ)
                     : sized(data, Kind::kStorePairX, Kind::kStorePairD, Kind::kStorePairQ);
  } else {
    out->kind = load ? sized(data, Kind::kLoadX, Kind::kLoadD, Kind::kLoadQ)
                     : sized(data, Kind::kStoreX, Kind::kStoreD, Kind::kStoreQ);
  }
  for (size_t i = 0; i < registers.size(); ++i) {
    const bool written = load && i < operands.n_outside;
    if (registers[i].number < 0) continue;
    if (written) out->writes.push_back(registers[i].number);
    if (!written || (one_lane && name.back() != 'r')) out->reads.push_back(registers[i].number);
  }
  if (operands.writes_back) {
    out->written_back = registers[operands.n_outside].number;
    out->writes.push_back(out->written_back);
  }
}

bool compares(std::string_view name) {
  return any_of(name, {"cmp", "cmn", "tst", "ccmp", "ccmn", "fcmp", "fcmpe", "fccmp"});
}

bool reads_flags(std::string_view name) {
  return name.starts_with("b.") || any_of(name, {"csel", "cset", "csetm", "csinc", "csinv", "csneg", "cinc", "cinv",
                                                    "cneg", "ccmp", "ccmn", "fcsel", "adc", "sbc"});
}

bool accumulates(std::string_view name) {
  return any_of(name, {"smlal", "smlal2", "umlal", "umlal2", "sadalp", "uadalp", "sdot", "udot", "usdot", "mla", "mls",
                          "fmla", "fmls"});
}

// Returns whether an instruction changes a part of its first register, and so waits for it.
bool changes_part(std::string_view name) {
  return any_of(name, {"ins", "movk", "bfi", "bfxil", "bsl", "bit", "bif", "tbx", "sli", "sri", "ssra", "usra", "xtn2",
                          "shrn2", "sqxtn2", "fcvtn2"});
}

Kind scalar_kind(std::string_view name, bool shifted) {
  if (any_of(name, {"mul", "madd", "msub", "mneg", "smull", "umull", "smaddl", "umaddl", "smulh", "umulh", "crc32cb",
                       "crc32ch", "crc32cw", "crc32cx"}))
    return Kind::kMultiply;
  if (any_of(name, {"udiv", "sdiv"})) return Kind::kDivide;
  if (any_of(name, {"mov", "movz", "movn", "movk", "add", "adds", "sub", "subs", "and", "ands", "orr", "orn", "eor",
                       "eon", "bic", "bics", "mvn", "neg", "negs", "lsl", "lsr", "asr", "ror", "extr", "ubfx", "sbfx",
                       "ubfiz", "sbfiz", "bfi", "bfxil", "sxtw", "sxth", "sxtb", "uxtb", "uxth", "cmp", "cmn", "tst",
                       "ccmp", "ccmn", "csel", "cset", "csetm", "csinc", "cinc", "cinv", "csinv", "csneg", "cneg",
                       "adr", "adrp", "clz", "rbit", "rev", "adc", "sbc", "mrs", "msr"}))
    return shifted ? Kind::kAluShift : Kind::kAlu;
  throw std::runtime_error("no kind");
}

// Returns the kind of an instruction with vector registers; `to` is its first operand.
Kind vector_kind(std::string_view name, const Named& to, bool from_general) {
  if (to.number < kVectors) return Kind::kToX;
  const bool whole = to.whole;
  if (from_general) {
    if (name == "dup") return Kind::kDuplicateX;
    if (name == "fmov") return Kind::kFromX;
    if (any_of(name, {"scvtf", "ucvtf"})) return Kind::kConvertX;
    if (any_of(name, {"ins", "mov"})) return Kind::kInsertX;
    throw std::runtime_error("no kind");
  }
  if (any_of(name, {"smull", "smull2", "umull", "umull2"})) return Kind::kMultiplyLong;
  if (any_of(name, {"smlal", "smlal2", "umlal", "umlal2"})) return Kind::kMultiplyLongAdd;
  if (any_of(name, {"sadalp", "uadalp"})) return Kind::kPairwiseAdd;
  if (any_of(name, {"sdot", "udot", "usdot"})) return Kind::kDot;
  if (any_of(name, {"mla", "mls", "mul"})) return whole ? Kind::kVectorMultiplyQ : Kind::kVectorMultiplyD;
  if (any_of(name, {"sxtl", "sxtl2", "uxtl", "uxtl2", "sshll", "sshll2", "ushll", "ushll2", "shl", "sshr", "ushr",
                       "sli", "sri", "ssra", "usra"}))
    return whole ? Kind::kShiftQ : Kind::kVectorD;
  if (any_of(name, {"scvtf", "ucvtf", "fcvtns", "fcvtzs"})) return whole ? Kind::kConvertQ : Kind::kFloatD;
  if (any_of(name, {"fdiv", "fsqrt"})) return whole ? Kind::kFloatDivideQ : Kind::kFloatDivideD;
  if (any_of(name, {"fadd", "fsub", "fmul", "fmla", "fmls", "fmax", "fmin", "fmaxnm", "fminnm", "faddp", "fmaxp",
                       "fminp", "frintn", "fmadd", "fmsub", "fnmul", "fcmp", "fcmpe", "fcvt"}))
    return whole ? Kind::kFloatQ : Kind::kFloatD;
  return whole || name.back() == '2' ? Kind::kVectorQ : Kind::kVectorD;
}

Instruction decode_known(std::string_view name, std::string_view operands) {
  Instruction out;
  const Operands found = read_operands(operands);
  const auto& registers = found.registers;
  const auto reads_from = [&](size_t first) {
    for (size_t i = first; i < registers.size(); ++i)
      if (registers[i].number >= 0) out.reads.push_back(registers[i].number);
    return out;
  };
  if (any_of(name, {"nop", "hint", "bti", "paciasp", "autiasp", "dmb"})) return out;
  if (any_of(name, {"b", "bl", "br", "blr", "ret", "cbz", "cbnz", "tbz", "tbnz"}) || name.starts_with("b.")) {
    out.kind = Kind::kBranch;
    if (name == "bl" || name == "blr") out.writes = {30};
    reads_from(0);
    if (name.starts_with("b.")) out.reads.push_back(kFlags);
    return out;
  }
  if (any_of(name, {"prfm", "prfum"})) out.kind = Kind::kPrefetch;
  if (name == "dc" && operands.starts_with("zva")) out.kind = Kind::kStorePairQ;  // memset's: zeros for a cache line
  if (out.kind != Kind::kNop) return reads_from(0);
  if (name.starts_with("ld") || name.starts_with("st")) {
    decode_memory(name, found, &out);
    return out;
  }
  if (registers.empty() && name != "msr") throw std::runtime_error("no register");
  if (std::any_of(registers.begin(), registers.end(), [](Named r) { return r.number >= kVectors; })) {
    const bool from_general = registers.size() > 1 && registers[0].number >= kVectors && registers[1].number < kVectors;
    out.kind = vector_kind(name, registers[0], from_general);
  } else {
    out.kind = scalar_kind(name, found.shifted);
  }
  const bool writes_first = !compares(name) && name != "msr";
  if (writes_first && registers[0].number >= 0) {
    out.writes.push_back(registers[0].number);
    if (accumulates(name)) out.accumulator = registers[0].number;
    if (changes_part(name) || (name == "mov" && registers[0].lane)) out.reads.push_back(registers[0].number);
  }
  reads_from(writes_first ? 1 : 0);
  if (compares(name) || any_of(name, {"subs", "adds", "ands", "negs", "bics"})) out.writes.push_back(kFlags);
  if (reads_flags(name)) out.reads.push_back(kFlags);
  return out;
}
}  // namespace

Instruction decode(std::string_view name, std::string_view operands) {
  try {
    return decode_known(name, operands);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("cannot decode " + std::string(name) + " " + std::string(operands) + ": " + error.what());
  }
}
}  // namespace arm_cycles
