// SPDX-License-Identifier: Apache-2.0
// Turns objdump's text of Thumb code into kinds and registers, for the instructions that kernels of Cortex-M use. A
// vector of Helium is four floats, so all share their numbers.
#include "arm_cycles/core.h"

namespace arm_cycles {
namespace {
using Names = std::initializer_list<std::string_view>;

bool begins_with_any(std::string_view name, Names list) {
  return std::any_of(list.begin(), list.end(), [name](std::string_view begin) { return name.starts_with(begin); });
}

// One operand: the registers that it names; a list's one by one.
struct Operand {
  std::vector<int> registers;
  char letter = 0;  // r s d q; 0: no register
  bool lane = false;
};

struct Operands {
  std::vector<Operand> all;
  size_t address = 0;  // index of the address; later operands are added to it afterwards; 0: none
  bool writes_back = false, shifted = false;
};

// Returns the registers that a word names, or none.
std::vector<int> registers_of(std::string_view word) {
  constexpr std::string_view kNamed[] = {"sl", "fp", "ip", "sp", "lr", "pc"};
  for (int i = 0; i < 6; ++i)
    if (word == kNamed[i]) return {10 + i};
  if (word.size() < 2 || std::string_view("rsdq").find(word[0]) == std::string_view::npos) return {};
  if (word.substr(1).find_first_not_of("0123456789") != std::string_view::npos) return {};
  const int number = std::stoi(std::string(word.substr(1)));
  if (word[0] == 'r') return {number};
  const int floats = word[0] == 'q' ? 4 : word[0] == 'd' ? 2 : 1;
  std::vector<int> found;
  if (kVectors + floats * (number + 1) > kFlags) return found;
  for (int i = 0; i < floats; ++i) found.push_back(kVectors + floats * number + i);
  return found;
}

Operands read_operands(std::string_view text) {
  text = text.substr(0, text.find_first_of(";@<"));
  Operands operands;
  bool in_list = false, in_address = false, range = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \t,{}[]!-:", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    const std::vector<int> registers = registers_of(word);
    if (!registers.empty()) {
      if (!(in_list || in_address)) operands.all.emplace_back();
      Operand& operand = operands.all.back();
      if (operand.letter == 0) operand.letter = word[0] == 'q' || word[0] == 'd' || word[0] == 's' ? word[0] : 'r';
      if (word == "sp" || word == "sl") operand.letter = 'r';
      if (range)
        for (int number = operand.registers.back() + 1; number < registers[0]; ++number)
          operand.registers.push_back(number);
      operand.registers.insert(operand.registers.end(), registers.begin(), registers.end());
      range = false;
    } else if (any_of(word, {"lsl", "lsr", "asr", "ror", "rrx"})) {
      operands.shifted = true;
    }
    if (end == text.size()) break;
    const char c = text[end];
    if (c == '{') operands.all.emplace_back(), in_list = true;
    if (c == '}') in_list = false;
    if (c == '[' && end > 0 && text[end - 1] != ' ' && text[end - 1] != '\t' && text[end - 1] != ',') {
      operands.all.back().lane = true;  // q0[2]
      at = text.find(']', end) + 1;
    } else if (c == '[') {
      operands.address = operands.all.size();
      operands.all.emplace_back(), in_address = true;
    }
    if (c == ']') {
      in_address = false;
      operands.writes_back |= text.find('#', end) != std::string_view::npos;
    }
    operands.writes_back |= c == '!';
    range = c == '-' && in_list;
  }
  return operands;
}

void append(std::vector<int>& to, const std::vector<int>& from) { to.insert(to.end(), from.begin(), from.end()); }

// Decodes a load or store. One of several registers has its address first, then a list of registers.
void decode_memory(std::string_view name, const Operands& operands, Instruction* out) {
  const bool floats = name[0] == 'v', load = name[floats ? 1 : 0] == 'l' || name.ends_with("pop");
  const bool stack = name.ends_with("push") || name.ends_with("pop");
  const bool multiple = stack || begins_with_any(name, {"ldm", "stm", "vldm", "vstm"});
  std::vector<int> address = {13}, data;
  if (multiple) {
    if (!stack) address = operands.all.at(0).registers;
    data = operands.all.at(stack ? 0 : 1).registers;
    out->count = static_cast<int>(data.size());
    out->kind = !load ? Kind::kStoreMultiple : floats ? Kind::kLoadMultipleD : Kind::kLoadMultipleX;
  } else {
    if (operands.address == 0) throw std::runtime_error("no address");
    address = operands.all[operands.address].registers;
    for (size_t i = 0; i < operands.all.size(); ++i)
      if (i != operands.address) append(i < operands.address ? data : out->reads, operands.all[i].registers);
    const char letter = data.size() == 4 ? 'q' : operands.all[0].letter;
    const bool pair = any_of(name, {"ldrd", "strd"});
    out->kind = letter == 'q'   ? load ? Kind::kLoadQ : Kind::kStoreQ
                : letter != 'r' ? load ? Kind::kLoadD : Kind::kStoreD
                : pair          ? load ? Kind::kLoadPairX : Kind::kStorePairX
                : load          ? Kind::kLoadX
                                : Kind::kStoreX;
  }
  append(out->reads, address);
  append(load ? out->writes : out->reads, data);
  if (operands.writes_back || stack || (!multiple && operands.address + 1 < operands.all.size())) {
    out->written_back = address[0];
    out->writes.push_back(address[0]);
  }
}

// Returns the kind of an instruction on general registers.
Kind general_kind(std::string_view name, bool shifted) {
  if (begins_with_any(name, {"sxt", "uxt", "bfi", "bfc", "ubfx", "sbfx", "pkh", "clz", "rev", "rbit", "uadd", "sadd",
                                "usub", "ssub", "uqsub", "qadd", "qsub", "ssat", "usat", "sel"}))
    return Kind::kExtend;
  if (begins_with_any(name, {"mul", "mla", "mls", "smul", "smla", "smua", "umul", "umla", "umaal", "smml", "smmul"}))
    return Kind::kMultiply;
  if (any_of(name, {"sdiv", "udiv"})) return Kind::kDivide;
  if (begins_with_any(name, {"mov", "mvn", "add", "sub", "rsb", "and", "orr", "orn", "eor", "bic", "lsl", "lsr", "asr",
                                "ror", "rrx", "cmp", "cmn", "tst", "teq", "adc", "sbc", "adr", "neg", "cset", "csel",
                                "cinc", "cneg", "csinv", "csinc", "csneg", "cinv", "sqrshr", "lsll", "asrl", "lsrl"}))
    return shifted ? Kind::kAluShift : Kind::kAlu;
  throw std::runtime_error("no kind");
}

// Returns the kind of an instruction with float or vector registers.
Kind vector_kind(std::string_view name, const Operands& operands) {
  const Operand& to = operands.all[0];
  const bool has_general =
      std::any_of(operands.all.begin(), operands.all.end(), [](const Operand& o) { return o.letter == 'r'; });
  const bool whole =
      std::any_of(operands.all.begin(), operands.all.end(), [](const Operand& o) { return o.letter == 'q'; });
  if (begins_with_any(name, {"vmladav", "vmlav", "vrmlaldav", "vmlaldav"})) return Kind::kDot;
  if (begins_with_any(name, {"vaddv", "vminv", "vmaxv", "vaddlv"})) return Kind::kPairwiseAdd;
  if (name.starts_with("vmov") && has_general)
    return to.letter == 'r' ? Kind::kToX : whole ? Kind::kInsertX : Kind::kFromX;
  if (name.starts_with("vdup")) return Kind::kDuplicateX;
  if (begins_with_any(name, {"vdiv", "vsqrt"})) return Kind::kDivide;
  const bool is_float = name.find(".f") != std::string_view::npos;
  if (name.starts_with("vcvt")) return whole ? Kind::kConvertQ : Kind::kFloatD;
  if (!whole) return Kind::kFloatD;
  if (is_float && !begins_with_any(name, {"vmov", "vpsel"})) return Kind::kFloatQ;
  if (begins_with_any(name, {"vmul", "vqrdmulh", "vqdmulh", "vmla", "vmull"})) return Kind::kVectorMultiplyQ;
  if (begins_with_any(name, {"vshl", "vshr", "vrshl", "vrshr", "vqrshl", "vshll"})) return Kind::kShiftQ;
  return Kind::kVectorQ;
}

bool ends_with_condition(std::string_view name) {
  if (any_of(name, {"teq", "movs", "mls", "muls", "lsls", "adcs", "sbcs", "bics"})) return false;
  return name.size() > 2 && any_of(name.substr(name.size() - 2),
                                {"eq", "ne", "cs", "cc", "mi", "pl", "hi", "ls", "ge", "lt", "gt", "le", "vs", "vc"});
}

void decode_operation(std::string_view name, const Operands& operands, Instruction* out) {
  if (operands.all.empty()) throw std::runtime_error("no register");
  const auto& all = operands.all;
  const bool vectors = name[0] == 'v';
  out->kind = vectors ? vector_kind(name, operands) : general_kind(name, operands.shifted);
  const bool compares = any_of(name.substr(0, 3), {"cmp", "cmn", "tst", "teq"}) || name.starts_with("vcmp");
  const bool two = begins_with_any(name, {"smull", "umull", "smlal", "umlal", "lsll", "asrl", "lsrl", "sqrshrl"}) ||
                   (name.starts_with("vmov") && all.size() > 2 && all[0].letter == 'r');
  const bool adds = any_of(name, {"smlad", "smladx", "mla", "mls"}) || begins_with_any(name, {"smlab", "smlat"});
  const bool sums = out->kind == Kind::kDot || out->kind == Kind::kPairwiseAdd;
  if (!compares) append(out->writes, all[0].registers);
  if (two && all.size() > 1) append(out->writes, all[1].registers);
  const size_t first_read = compares || (all.size() == 1) ? 0 : two && vectors ? 2 : 1;
  for (size_t i = first_read; i < all.size(); ++i)
    if (!(adds && i == 3)) append(out->reads, all[i].registers);
  const bool changes_part =
      all[0].lane || begins_with_any(name, {"bfi", "bfc", "movt", "vfma", "vfms", "vmla.", "vsli", "smlal", "umlal"});
  if (adds) {
    out->accumulator = all.at(3).registers[0];
    if (out->accumulator != all[0].registers[0]) append(out->reads, all[3].registers), out->accumulator = -1;
  } else if (sums && name.find("va.") != std::string_view::npos) {
    out->accumulator = all[0].registers[0];
  } else if (changes_part) {
    append(out->reads, all[0].registers);
  }
  const bool sets_flags = compares || (!vectors && name.back() == 's' && !any_of(name, {"mls"}));
  if (sets_flags) out->writes.push_back(kFlags);
}

Instruction decode_known(std::string_view name, std::string_view text) {
  Instruction out;
  if (any_of(name, {"le", "letp"})) out.kind = Kind::kLoopEnd;
  const bool is_it = name.starts_with("it") && name.find_first_not_of("te", 1) == name.npos;
  if (is_it || any_of(name, {"nop", "cpsid", "cpsie", "le", "letp"})) return out;
  const Operands operands = read_operands(text);
  const auto reads_all = [&] {
    for (const Operand& operand : operands.all) append(out.reads, operand.registers);
  };
  if (begins_with_any(name, {"vpst", "vctp", "vpnot", "vmsr", "vmrs"})) {
    reads_all();
    out.writes.push_back(kFlags);
    return out;
  }
  if (begins_with_any(name, {"dls", "wls"})) {
    out.kind = Kind::kAlu;
    out.writes = {14};
    out.reads = operands.all.at(1).registers;
    return out;
  }
  const std::string_view bare = ends_with_condition(name) ? name.substr(0, name.size() - 2) : name;
  if (any_of(bare, {"b", "bl", "bx", "blx", "cbz", "cbnz", "tbb", "tbh"})) {
    out.kind = Kind::kBranch;
    reads_all();
    if (name != bare) out.reads.push_back(kFlags);
    if (bare.starts_with("bl")) out.writes = {14};
    return out;
  }
  // A conditional instruction that does not run keeps the old value of its result.
  const bool conditional = name != bare && name[0] != 'v';
  if (conditional) name = bare;
  if (begins_with_any(
          name, {"ldr", "str", "ldm", "stm", "push", "pop", "vldr", "vstr", "vldm", "vstm", "vpush", "vpop"}))
    decode_memory(name, operands, &out);
  else decode_operation(name, operands, &out);
  if (conditional || begins_with_any(name, {"csel", "cset", "cinc", "cneg", "vpsel"})) out.reads.push_back(kFlags);
  if (conditional && out.kind != Kind::kStoreX) append(out.reads, out.writes);
  return out;
}
}  // namespace

Instruction decode_thumb(std::string_view full_name, std::string_view text) {
  std::string why = "an operand is missing";
  try {
    const bool sized = full_name.ends_with(".w") || full_name.ends_with(".n");
    return decode_known(full_name.substr(0, full_name.size() - (sized ? 2 : 0)), text);
  } catch (const std::runtime_error& error) {
    why = error.what();
  } catch (const std::out_of_range&) {
  }
  throw std::runtime_error("cannot decode " + std::string(full_name) + " " + std::string(text) + ": " + why);
}
}  // namespace arm_cycles
