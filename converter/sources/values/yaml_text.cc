// SPDX-License-Identifier: Apache-2.0
// YAML from an untrusted file as values. yaml-cpp's events are checked as they arrive, so nothing is built before it is
// known to be small.
#include "sources/values/yaml_text.h"
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>
#include <charconv>
#include <sstream>
#include <vector>
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
template <typename Number> bool parse_whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// YAML 1.2, section 10.3.2: the core schema. Infinities and other bases stay texts.
Value typed(const std::string& text) {
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (text.find_first_not_of("+-.0123456789eE") != std::string::npos) return text;
  const std::string_view number = text.starts_with('+') ? std::string_view(text).substr(1) : std::string_view(text);
  uint64_t natural = 0;
  int64_t integer = 0;
  double real = 0;
  if (parse_whole(number, natural)) return natural;
  if (parse_whole(number, integer)) return integer;
  return parse_whole(number, real) ? Value(real) : Value(text);
}

class YamlBuilder : public YAML::EventHandler {
 public:
  YamlBuilder(const YamlBounds& bounds, const std::string& where) : bounds_(bounds), where_(where) {}

  Value take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    if (is_key()) return take_key(mark, "null");  // as Marian reads it
    add(mark, nullptr);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark, "an alias, which is not read"); }
  void OnScalar(
      const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& text) override {
    refuse_anchor(mark, anchor);
    if (tag != "?" && tag != "!") refuse(mark, "the tag " + in_quotes(tag) + ", which is not read");
    if (is_key()) return take_key(mark, text);
    add(mark, tag == "?" ? typed(text) : Value(text));
  }
  void OnSequenceStart(
      const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Value::list());
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(
      const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Value::map());
  }
  void OnMapEnd() override { open_.pop_back(); }
 private:
  struct Open {
    Value* value;
    bool has_key = false;
    std::string key;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& problem) const {
    throw Error("{}: line {} has {}", where_, mark.line + 1, problem);
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor) refuse(mark, "an anchor, which is not read");
  }
  bool is_key() const { return !open_.empty() && open_.back().value->is_map() && !open_.back().has_key; }

  void take_key(const YAML::Mark& mark, const std::string& key) {
    Open& map = open_.back();
    if (map.value->contains(key)) refuse(mark, "the key " + in_quotes(key) + " again");
    map.key = key;
    map.has_key = true;
  }

  Value* add(const YAML::Mark& mark, Value value) {
    if (++values_ > bounds_.most_values) refuse(mark, format_text("more than {} values", bounds_.most_values));
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Open& parent = open_.back();
    parent.has_key = false;
    if (parent.value->is_list()) return &parent.value->push_back(std::move(value));
    return &((*parent.value)[parent.key] = std::move(value));
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Value value) {
    refuse_anchor(mark, anchor);
    if (tag != "?" && tag != "!" && !tag.empty()) refuse(mark, "the tag " + in_quotes(tag) + ", which is not read");
    if (is_key()) refuse(mark, "a key that is not a text");
    if (open_.size() >= bounds_.most_depth) refuse(mark, format_text("more than {} levels", bounds_.most_depth));
    open_.push_back({add(mark, std::move(value)), false, ""});
  }

  const YamlBounds& bounds_;
  const std::string& where_;
  uint64_t values_ = 0;
  Value root_;
  std::vector<Open> open_;
};
}  // namespace

Value parse_yaml(std::string_view text, const YamlBounds& bounds, const std::string& where) {
  if (text.size() > bounds.most_bytes)
    throw Error("{}: has {} bytes, expected at most {}", where, text.size(), bounds.most_bytes);
  if (text.find('\0') != std::string_view::npos) throw Error("{}: is not YAML: it has a NUL byte", where);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    YamlBuilder builder(bounds, where);
    if (!parser.HandleNextDocument(builder)) throw Error("{}: is empty", where);
    Value value = builder.take();
    if (parser.HandleNextDocument(builder)) throw Error("{}: holds several documents, expected one", where);
    return value;
  } catch (const YAML::Exception& error) {
    throw Error(
        "{}: line {}, column {}: is not YAML: {}", where, error.mark.line + 1, error.mark.column + 1, error.msg);
  }
}

Value parse_yaml_settings(std::string_view text, const std::string& where) {
  Value value = parse_yaml(text, kYamlSettings, where);
  if (!value.is_map()) throw Error("{}: found a YAML {}, expected a mapping", where, value.type_name());
  return value;
}
}  // namespace goldcrest::converter
