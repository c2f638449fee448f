// SPDX-License-Identifier: Apache-2.0
// A reader of the pickles that torch.save writes. It builds plain values and executes nothing: names are never
// resolved.
#include "sources/values/pickle.h"
#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
struct Known {
  std::string_view name;
  Makes makes;
};

constexpr Known kKnown[] = {
    {"collections OrderedDict", Makes::kDict},
    {"collections defaultdict", Makes::kDictOfDefaults},
    {"collections Counter", Makes::kFirstArgument},
    {"builtins set", Makes::kFirstArgument},
    {"__builtin__ set", Makes::kFirstArgument},
    {"torch Size", Makes::kFirstArgument},
    {"torch._utils _rebuild_tensor", Makes::kTensor},
    {"torch._utils _rebuild_tensor_v2", Makes::kTensor},
    {"torch._utils _rebuild_parameter", Makes::kParameter},
    {"torch._utils _rebuild_parameter_with_state", Makes::kParameter},
    {"torch device", Makes::kOther},
    {"torch float16", Makes::kOther},
    {"torch float32", Makes::kOther},
    {"torch int64", Makes::kOther},
    {"argparse Namespace", Makes::kObject},
    // The vocabularies of OpenNMT-py 1 and 2.
    {"onmt.inputters.text_dataset TextMultiField", Makes::kObject},
    {"onmt.inputters.text_dataset _feature_tokenize", Makes::kOther},
    {"onmt.inputters.inputter _feature_tokenize", Makes::kOther},
    {"onmt.inputters.inputter AlignField", Makes::kObject},
    {"onmt.inputters.inputter make_src", Makes::kOther},
    {"onmt.inputters.inputter make_tgt", Makes::kOther},
    {"torchtext.data.field Field", Makes::kObject},
    {"torchtext.data.field LabelField", Makes::kObject},
    {"torchtext.data.field RawField", Makes::kObject},
    {"torchtext.vocab Vocab", Makes::kObject},
    {"torchtext.vocab _default_unk_index", Makes::kOther},
    {"functools partial", Makes::kOther},
    // The state of a training with fairseq.
    {"fairseq.meters AverageMeter", Makes::kObject},
    {"fairseq.meters StopwatchMeter", Makes::kObject},
    {"fairseq.meters TimeMeter", Makes::kObject},
    {"fairseq.logging.meters AverageMeter", Makes::kObject},
    {"fairseq.logging.meters StopwatchMeter", Makes::kObject},
    {"fairseq.logging.meters TimeMeter", Makes::kObject},
    {"numpy dtype", Makes::kOther},
    {"numpy.core.multiarray scalar", Makes::kOther},
    {"numpy._core.multiarray scalar", Makes::kOther},
    {"_codecs encode", Makes::kOther},
};
}  // namespace

Makes makes_of(std::string_view name) {
  const auto* const known =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return k.name == name; });
  if (known != std::end(kKnown)) return known->makes;
  return name.starts_with("torch ") && name.ends_with("Storage") ? Makes::kStorage : Makes::kUnknown;
}

namespace {
constexpr size_t kMaxOpcodes = 10'000'000, kMaxNodes = 2'000'000, kMaxStack = 100'000, kMaxMemo = 1'000'000;
constexpr size_t kMaxPickleDepth = 64, kMaxPickleTextBytes = 4096;

class PickleReader {
 public:
  PickleReader(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {
    for (const PickleKind kind :
        {PickleKind::kNone, PickleKind::kBool, PickleKind::kBool, PickleKind::kNumber, PickleKind::kOther}) {
      document_.nodes.push_back(
          {kind, document_.nodes.size() == kTrue, {}, {}, std::numeric_limits<double>::quiet_NaN()});
    }
  }

  PickleDocument read() {
    for (size_t n = 0; n < kMaxOpcodes; ++n) {
      opcode_at_ = at_;
      const auto opcode = static_cast<unsigned char>(take(1)[0]);
      if (opcode == '.') return finish();
      run(opcode);
    }
    refuse(format_text("has more than {} operations", kMaxOpcodes));
  }

  size_t n_read() const { return at_; }  // bytes
  [[noreturn]] void refuse_end() const { refuse("does not end with exactly one value"); }
 private:
  // Nodes that the constructor makes once.
  static constexpr PickleRef kNone = 0, kFalse = 1, kTrue = 2, kWideInteger = 3, kOther = 4;

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(
        "{}: {} (at byte {}); nothing in it is executed. Load it where it was made and save only the weights: "
        "torch.save(model.state_dict(), ...), or convert it to safetensors",
        where_, why, opcode_at_);
  }

  std::string_view take(size_t n) {
    if (n > bytes_.size() - at_) refuse("ends in the middle of a value: it is truncated or damaged");
    at_ += n;
    return bytes_.substr(at_ - n, n);
  }

  // Takes a little-endian unsigned integer of n bytes.
  uint32_t take_integer(size_t n) {
    uint32_t value = 0;
    std::memcpy(&value, take(n).data(), n);
    return value;
  }

  std::string take_text(size_t n) {
    if (n > kMaxPickleTextBytes)
      refuse(format_text("has a text of {} bytes, expected at most {}", n, kMaxPickleTextBytes));
    return std::string(take(n));
  }

  std::string_view take_line() {
    const size_t end = bytes_.substr(at_, kMaxPickleTextBytes).find('\n');
    if (end == std::string_view::npos) refuse("has a name without an end");
    return take(end + 1).substr(0, end);
  }

  PickleNode& node(PickleRef ref) { return document_.nodes[ref]; }
  PickleNode& top() { return node(stack_[require(1)]); }

  // Returns the stack index of the n-th value from the top; all n must be after the innermost mark.
  size_t require(size_t n) const {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() - floor < n) refuse("takes values that are not there: it is damaged");
    return stack_.size() - n;
  }

  void push(PickleRef ref) {
    if (stack_.size() >= kMaxStack) refuse(format_text("needs a stack of more than {} values", kMaxStack));
    stack_.push_back(ref);
  }

  PickleRef make(PickleNode value) {
    if (document_.nodes.size() >= kMaxNodes) refuse(format_text("has more than {} values", kMaxNodes));
    document_.nodes.push_back(std::move(value));
    return static_cast<PickleRef>(document_.nodes.size() - 1);
  }

  PickleRef pop() {
    const PickleRef ref = stack_[require(1)];
    stack_.pop_back();
    return ref;
  }

  std::vector<PickleRef> pop_last(size_t n) {
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(require(n));
    std::vector<PickleRef> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    return items;
  }

  std::vector<PickleRef> pop_mark() {
    if (marks_.empty()) refuse("closes a group that was not opened: it is damaged");
    std::vector<PickleRef> items = pop_last(stack_.size() - marks_.back());
    marks_.pop_back();
    return items;
  }

  void push_tuple(std::vector<PickleRef> items) { push(make({PickleKind::kTuple, 0, {}, std::move(items)})); }
  void push_integer(int64_t value) { push(make({PickleKind::kInteger, value, {}, {}})); }
  void push_text(size_t n) { push(make({PickleKind::kText, 0, take_text(n), {}})); }

  void run(unsigned char opcode) {
    switch (opcode) {
      case 0x80: return check_protocol(take_integer(1));
      case 'N': return push(kNone);
      case 0x88: return push(kTrue);
      case 0x89: return push(kFalse);
      case 'J': return push_integer(std::bit_cast<int32_t>(take_integer(4)));
      case 'K': return push_integer(take_integer(1));
      case 'M': return push_integer(take_integer(2));
      case 'G': return push_number(take(8));
      case 0x8a: return push_long(take(take_integer(1)));
      case 'X': return push_text(take_integer(4));
      case 'U': return push_text(take_integer(1));
      case ')': return push_tuple({});
      case ']': return push(make({PickleKind::kList, 0, {}, {}}));
      case '}': return push(make({PickleKind::kDict, 0, {}, {}}));
      case '(': return open_mark();
      case 't': return push_tuple(pop_mark());
      case 0x85: return push_tuple(pop_last(1));
      case 0x86: return push_tuple(pop_last(2));
      case 0x87: return push_tuple(pop_last(3));
      case 'a': return append(PickleKind::kList, pop_last(1));
      case 'e': return append(PickleKind::kList, pop_mark());
      case 's': return append(PickleKind::kDict, pop_last(2));
      case 'u': return append(PickleKind::kDict, pop_mark());
      case 'q': return put(take_integer(1));
      case 'r': return put(take_integer(4));
      case 'h': return get(take_integer(1));
      case 'j': return get(take_integer(4));
      case 'c': return push_global();
      case 'Q': return push_storage();
      case 'R': return reduce();
      case 0x81: return new_object();
      case 'b': return build();
      default: refuse(format_text("has the operation 0x{:02x}, which a state dict does not need", opcode));
    }
  }

  void check_protocol(uint32_t protocol) {
    if (protocol != 2 && protocol != 3) {
      refuse(
          format_text("is of pickle protocol {}, expected 2, which torch.save uses unless told otherwise", protocol));
    }
  }

  // Pushes a double, highest byte first.
  void push_number(std::string_view bytes) {
    uint64_t bits = 0;
    for (const char byte : bytes) bits = bits << 8 | static_cast<unsigned char>(byte);
    push(make({PickleKind::kNumber, 0, {}, {}, std::bit_cast<double>(bits)}));
  }

  void push_long(std::string_view bytes) {
    if (bytes.size() > 8) return push(kWideInteger);
    uint64_t value = 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    const size_t unused_bits = 64 - 8 * bytes.size();
    push_integer(bytes.empty() ? 0 : std::bit_cast<int64_t>(value << unused_bits) >> unused_bits);
  }

  void open_mark() {
    if (marks_.size() >= kMaxPickleDepth) refuse(format_text("is nested more than {} levels deep", kMaxPickleDepth));
    marks_.push_back(stack_.size());
  }

  void append(PickleKind kind, const std::vector<PickleRef>& items) {
    PickleNode& container = top();
    if (container.kind != kind || (kind == PickleKind::kDict && items.size() % 2 != 0))
      refuse("adds to something that is not a list or a dictionary");
    container.items.insert(container.items.end(), items.begin(), items.end());
  }

  void put(uint32_t slot) {
    if (slot >= kMaxMemo) refuse(format_text("remembers value number {}, expected less than {}", slot, kMaxMemo));
    memo_[slot] = stack_[require(1)];
  }

  void get(uint32_t slot) {
    const auto found = memo_.find(slot);
    if (found == memo_.end()) refuse(format_text("recalls value number {}, which was never stored", slot));
    push(found->second);
  }

  void push_global() {
    std::string name(take_line());
    name += ' ';
    name += take_line();
    if (makes_of(name) == Makes::kUnknown) refuse_name(name);
    push(make({PickleKind::kGlobal, 0, std::move(name), {}}));
  }

  [[noreturn]] void refuse_name(const std::string& module_and_name) const {
    std::string name = module_and_name;
    std::replace(name.begin(), name.end(), ' ', '.');
    if (name.starts_with("omegaconf.")) {
      throw Error(
          "{}: asks for {} (at byte {}), one of OmegaConf's objects; nothing in it is executed. Where fairseq is, save "
          "it with plain settings: python -c \"import torch, omegaconf; s = torch.load('checkpoint.pt', "
          "weights_only=False); s['cfg'] = omegaconf.OmegaConf.to_container(s['cfg'], resolve=True, enum_to_str=True); "
          "torch.save(s, 'plain.pt')\"",
          where_, in_quotes(name), opcode_at_);
    }
    refuse("asks for " + in_quotes(name) + ", which is not part of a state dict");
  }

  bool is(PickleRef ref, PickleKind kind) const { return document_.node(ref).kind == kind; }

  // Takes ("storage", type, key, location, number of elements); before torch 1.6 also None, where no storage is a view.
  void push_storage() {
    const PickleNode& id = node(pop());
    const bool is_id = id.kind == PickleKind::kTuple &&
                       (id.items.size() == 5 || (id.items.size() == 6 && is(id.items[5], PickleKind::kNone)));
    if (!is_id || !is(id.items[0], PickleKind::kText) || node(id.items[0]).text != "storage" ||
        !is(id.items[1], PickleKind::kGlobal) || makes_of(node(id.items[1]).text) != Makes::kStorage ||
        !is(id.items[2], PickleKind::kText) || !is(id.items[4], PickleKind::kInteger) || node(id.items[4]).integer < 0)
      refuse("refers to something that is not a tensor's storage");
    const std::string& key = node(id.items[2]).text;
    const auto plain = [](unsigned char c) { return (c < 0x80 && std::isalnum(c)) || c == '_'; };
    if (key.empty() || !std::all_of(key.begin(), key.end(), plain))
      refuse("refers to the storage " + in_quotes(key) + ", expected letters, digits and underscores");
    push(make({PickleKind::kStorage, node(id.items[4]).integer, key, {id.items[1]}}));
  }

  void reduce() {
    const PickleNode& arguments = node(pop());
    const PickleNode& function = node(pop());
    const std::vector<PickleRef>& items = arguments.items;
    if (arguments.kind != PickleKind::kTuple || function.kind != PickleKind::kGlobal) refuse("calls something unknown");
    switch (makes_of(function.text)) {
      case Makes::kDict:
        if (items.empty()) return push(make({PickleKind::kDict, 0, {}, {}}));
        break;
      case Makes::kDictOfDefaults: return push(make({PickleKind::kDict, 0, {}, {}}));
      case Makes::kFirstArgument:
        if (items.size() == 1) return push(items[0]);
        break;
      case Makes::kTensor:
        if (items.size() >= 4) return push(make({PickleKind::kTensor, 0, {}, {items.begin(), items.begin() + 4}}));
        break;
      case Makes::kParameter:
        if (!items.empty() && is(items[0], PickleKind::kTensor)) return push(items[0]);
        break;
      case Makes::kOther: return push(kOther);
      default: break;
    }
    refuse("calls " + in_quotes(function.text) + " with arguments that it does not take");
  }

  void new_object() {
    const PickleNode& arguments = node(pop());
    const PickleNode& type = node(pop());
    const Makes makes = type.kind == PickleKind::kGlobal ? makes_of(type.text) : Makes::kUnknown;
    if ((makes != Makes::kDict && makes != Makes::kObject) || arguments.kind != PickleKind::kTuple ||
        !arguments.items.empty())
      refuse("makes an object that is not a dictionary");
    push(make({PickleKind::kDict, 0, makes == Makes::kObject ? type.text : std::string(), {}}));
  }

  // Sets attributes. They are the members of an object, and mean nothing here for a dictionary or a tensor (_metadata
  // of a state dict).
  void build() {
    const PickleNode& state = node(pop());
    PickleNode& object = top();
    if (object.kind == PickleKind::kTensor || object.kind == PickleKind::kOther) return;
    if (object.kind != PickleKind::kDict) refuse("sets attributes of an unknown object");
    if (object.text.empty()) return;
    if (state.kind != PickleKind::kDict) refuse("sets attributes that are not a dictionary");
    const std::vector<PickleRef> attributes = state.items;  // a copy, because they may be the object's own items
    n_attributes_ += attributes.size();
    if (n_attributes_ > kMaxNodes) refuse(format_text("sets more than {} attributes", kMaxNodes));
    object.items.insert(object.items.end(), attributes.begin(), attributes.end());
  }

  PickleDocument finish() {
    if (stack_.size() != 1 || !marks_.empty()) refuse_end();
    document_.root = stack_[0];
    return std::move(document_);
  }

  std::string_view bytes_;
  const std::string& where_;
  size_t at_ = 0, opcode_at_ = 0, n_attributes_ = 0;
  PickleDocument document_;
  std::vector<PickleRef> stack_;
  std::vector<size_t> marks_;
  std::map<uint32_t, PickleRef> memo_;
};
}  // namespace

const PickleNode* PickleDocument::member(const PickleNode& dict, std::string_view key) const {
  if (dict.kind != PickleKind::kDict) return nullptr;
  for (size_t i = dict.items.size() / 2; i-- > 0;) {
    const PickleNode& name = node(dict.items[2 * i]);
    if (name.kind == PickleKind::kText && name.text == key) return &node(dict.items[2 * i + 1]);
  }
  return nullptr;
}

PickleDocument read_pickle(std::string_view bytes, const std::string& where) {
  PickleReader reader(bytes, where);
  PickleDocument document = reader.read();
  if (reader.n_read() != bytes.size()) reader.refuse_end();
  return document;
}

PickleDocument read_first_pickle(std::string_view* bytes, const std::string& where) {
  PickleReader reader(*bytes, where);
  PickleDocument document = reader.read();
  bytes->remove_prefix(reader.n_read());
  return document;
}
}  // namespace goldcrest::converter
