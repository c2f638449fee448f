// SPDX-License-Identifier: Apache-2.0
// Computes the worst-case stack of the engine's public functions from the compiler's call graph with stack use
// (-fcallgraph-info=su writes one .ci file for each object). Fails on recursion, on frames of unknown size, on calls
// that the rules do not resolve, and beyond the limit.
//
//   stack_depth LIMIT_BYTES RULES MEASURED FILE.ci...
//
// RULES has a rule on each line; # begins a comment:
//   call SOURCE_FILE REGEX...   an indirect call in this file reaches the functions whose signatures match
//   option SOURCE_FILE REGEX... the same, but the build may be without such functions
//   program SOURCE_FILE         an indirect call here reaches the program's own function, whose stack is not counted
//   entry REGEX...              functions that the program calls back; the limit also holds for each of them
//   external NAME BYTES         a function without a .ci file, and the stack that it may use
// MEASURED has lines "stack NAME BYTES" among others: the stack that functions took on a board. A computed depth must
// not be less. "-" means no such file.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {
struct Function {
  std::string signature;  // demangled, as the compiler prints it
  bool defined = false;
  uint64_t own_bytes = 0;
  std::set<std::string> callees;
  std::set<std::string> indirect_from;  // source files with its indirect calls
};

using Functions = std::map<std::string, Function>;

struct Callees {
  std::vector<std::regex> patterns;  // none: the program's own functions
  bool may_be_missing = false;
};

struct Rules {
  std::map<std::string, Callees> calls;  // by source file
  std::vector<std::regex> entries;
  std::map<std::string, uint64_t> externals;
};

struct Depth {
  uint64_t bytes = 0;
  std::vector<std::string> path;  // the deepest is last
};

// Returns the text in quotes after `key`.
std::string quoted(const std::string& line, const std::string& key) {
  const size_t begin = line.find(key + ": \"");
  if (begin == std::string::npos) return "";
  const size_t from = begin + key.size() + 3, to = line.find('"', from);
  return line.substr(from, to - from);
}

// Returns "folder/file.h" for "folder/file.h:12:3"; only the last two parts of the path count.
std::string source_file(const std::string& location) {
  std::string file = location.substr(0, location.find(':'));
  const size_t last = file.rfind('/');
  const size_t before = last == std::string::npos || last == 0 ? std::string::npos : file.rfind('/', last - 1);
  return before == std::string::npos ? file : file.substr(before + 1);
}

void read_node(const std::string& line, Functions& functions) {
  Function& function = functions[quoted(line, "title")];
  const std::string label = quoted(line, "label");
  if (function.signature.empty()) function.signature = label.substr(0, label.find("\\n"));
  std::smatch match;
  if (!std::regex_search(label, match, std::regex("\\\\n(\\d+) bytes \\((\\w+)"))) return;
  if (match[2] != "static") throw std::runtime_error("a stack frame of unknown size: " + function.signature);
  function.defined = true;
  function.own_bytes = std::max<uint64_t>(function.own_bytes, std::stoull(match[1]));
}

void read_graph(const std::string& path, Functions& functions) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("node:")) {
      read_node(line, functions);
    } else if (line.starts_with("edge:")) {
      Function& caller = functions[quoted(line, "sourcename")];
      const std::string callee = quoted(line, "targetname");
      if (callee == "__indirect_call") caller.indirect_from.insert(source_file(quoted(line, "label")));
      else caller.callees.insert(callee);
    }
  }
}

Rules read_rules(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  Rules rules;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string kind, name, value;
    if (!(words >> kind)) continue;
    if ((kind == "call" || kind == "option") && words >> name) {
      Callees& callees = rules.calls[name];
      callees.may_be_missing = kind == "option";
      while (words >> value) callees.patterns.emplace_back(value);
    } else if (kind == "program" && words >> name) {
      rules.calls[name];
    } else if (kind == "entry") {
      while (words >> value) rules.entries.emplace_back(value);
    } else if (kind == "external" && words >> name >> value) {
      rules.externals[name] = std::stoull(value);
    } else {
      throw std::runtime_error(path + ": not a rule: " + line);
    }
  }
  return rules;
}

void resolve_indirect_calls(Functions& functions, const Rules& rules) {
  for (auto& [name, caller] : functions) {
    for (const std::string& file : caller.indirect_from) {
      const auto rule = rules.calls.find(file);
      if (rule == rules.calls.end())
        throw std::runtime_error("an indirect call in " + file + " that no rule resolves: " + caller.signature);
      for (const std::regex& pattern : rule->second.patterns) {
        size_t n_matches = 0;
        for (const auto& [callee, function] : functions) {
          if (!function.defined || !std::regex_search(function.signature, pattern)) continue;
          caller.callees.insert(callee);
          ++n_matches;
        }
        if (n_matches == 0 && !rule->second.may_be_missing)
          throw std::runtime_error("a pattern for " + file + " matches no function");
      }
    }
  }
}

// Returns the deepest stack at and below a function. `open` are its callers.
const Depth& measure(const std::string& name, const Functions& functions, const Rules& rules,
    std::map<std::string, Depth>& known, std::vector<std::string>& open) {
  if (const auto found = known.find(name); found != known.end()) return found->second;
  if (std::find(open.begin(), open.end(), name) != open.end()) {
    std::string message = "recursion:";
    for (const std::string& caller : open) message += "\n  " + functions.at(caller).signature;
    throw std::runtime_error(message + "\n  " + functions.at(name).signature);
  }
  const Function& function = functions.at(name);
  Depth deepest;
  if (!function.defined) {
    const auto external = rules.externals.find(name);
    if (external == rules.externals.end()) throw std::runtime_error("a function that no rule names: " + name);
    deepest = {external->second, {name}};
  } else {
    open.push_back(name);
    for (const std::string& callee : function.callees) {
      const Depth& below = measure(callee, functions, rules, known, open);
      if (below.bytes >= deepest.bytes) deepest = below;
    }
    open.pop_back();
    deepest.bytes += function.own_bytes;
    deepest.path.insert(deepest.path.begin(), std::to_string(function.own_bytes) + "  " + function.signature);
  }
  return known[name] = deepest;
}

// Reads the lines "stack NAME BYTES" of a board's output.
std::map<std::string, uint64_t> read_measured(const std::string& path) {
  std::map<std::string, uint64_t> measured;
  if (path == "-") return measured;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, name;
    uint64_t bytes = 0;
    if (words >> kind >> name >> bytes && kind == "stack") measured[name] = bytes;
  }
  if (measured.empty()) throw std::runtime_error(path + " has no line \"stack NAME BYTES\"");
  return measured;
}

bool is_entry(const std::string& name, const Function& function, const Rules& rules) {
  if (!function.defined) return false;
  if (name.starts_with("goldcrest_")) return true;
  return std::any_of(rules.entries.begin(), rules.entries.end(),
      [&](const std::regex& pattern) { return std::regex_search(function.signature, pattern); });
}

// Returns the depths of all public functions and entries, by name.
std::map<std::string, Depth> measure_entries(const Functions& functions, const Rules& rules) {
  std::map<std::string, Depth> known, depths;
  for (const auto& [name, function] : functions) {
    if (!is_entry(name, function, rules)) continue;
    std::vector<std::string> open;
    depths[name] = measure(name, functions, rules, known, open);
  }
  return depths;
}

int run(uint64_t limit_bytes, const std::string& rules_path, const std::string& measured_path,
    const std::vector<std::string>& graphs) {
  const Rules rules = read_rules(rules_path);
  Functions functions;
  for (const std::string& graph : graphs) read_graph(graph, functions);
  resolve_indirect_calls(functions, rules);
  const std::map<std::string, Depth> depths = measure_entries(functions, rules);
  if (!depths.contains("goldcrest_init")) throw std::runtime_error("goldcrest_init is not among the call graphs");

  std::map<std::string, uint64_t> measured = read_measured(measured_path);
  bool passes = true;
  Depth deepest;
  for (const auto& [name, depth] : depths) {
    std::printf("%6llu computed", static_cast<unsigned long long>(depth.bytes));
    const auto found = measured.find(name);
    if (found != measured.end()) {
      std::printf(" %6llu measured", static_cast<unsigned long long>(found->second));
      if (found->second > depth.bytes) {
        std::printf(" (more than the call graph allows)");
        passes = false;
      }
      measured.erase(found);
    }
    std::printf("  %.100s\n", functions.at(name).signature.c_str());
    if (depth.bytes > deepest.bytes) deepest = depth;
  }
  for (const auto& [name, bytes] : measured) throw std::runtime_error("measured, but not in the call graphs: " + name);
  std::printf("deepest: %llu bytes of %llu\n", static_cast<unsigned long long>(deepest.bytes),
      static_cast<unsigned long long>(limit_bytes));
  for (const std::string& step : deepest.path) std::printf("  %.100s\n", step.c_str());
  return passes && deepest.bytes <= limit_bytes ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: stack_depth LIMIT_BYTES RULES MEASURED FILE.ci...\n");
    return 2;
  }
  try {
    return run(std::stoull(argv[1]), argv[2], argv[3], {argv + 4, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stack_depth: %s\n", error.what());
    return 1;
  }
}
