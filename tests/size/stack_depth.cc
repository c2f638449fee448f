// SPDX-License-Identifier: Apache-2.0
// The worst-case stack of the engine's public functions, from the compiler's call graph with stack use
// (-fcallgraph-info=su writes one .ci file an object). Fails on recursion, on frames of unknown size, on calls that
// the rules do not resolve, and beyond the limit.
//
//   stack_depth LIMIT_BYTES RULES FILE.ci...
//
// Rules, one a line, # begins a comment:
//   call SOURCE_FILE REGEX...   an indirect call in this file reaches the functions whose signatures match
//   external NAME BYTES         a function without a .ci file, and the stack it may use
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
  std::set<std::string> indirect_from;  // source files of its indirect calls
};

using Functions = std::map<std::string, Function>;

struct Rules {
  std::map<std::string, std::vector<std::regex>> calls;  // by source file
  std::map<std::string, uint64_t> externals;
};

struct Depth {
  uint64_t bytes = 0;
  std::vector<std::string> path;  // deepest last
};

// The text in quotes after `key`.
std::string quoted(const std::string& line, const std::string& key) {
  const size_t begin = line.find(key + ": \"");
  if (begin == std::string::npos) return "";
  const size_t from = begin + key.size() + 3, to = line.find('"', from);
  return line.substr(from, to - from);
}

// "folder/file.h:12:3" to "folder/file.h", of which the last two parts count.
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
      if (callee == "__indirect_call") {
        caller.indirect_from.insert(source_file(quoted(line, "label")));
      } else {
        caller.callees.insert(callee);
      }
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
    if (kind == "call" && words >> name) {
      while (words >> value) rules.calls[name].emplace_back(value);
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
      if (rule == rules.calls.end()) {
        throw std::runtime_error("an indirect call in " + file + " that no rule resolves: " + caller.signature);
      }
      for (const std::regex& pattern : rule->second) {
        size_t n_matches = 0;
        for (const auto& [callee, function] : functions) {
          if (!function.defined || !std::regex_search(function.signature, pattern)) continue;
          caller.callees.insert(callee);
          ++n_matches;
        }
        if (n_matches == 0) throw std::runtime_error("a pattern for " + file + " matches no function");
      }
    }
  }
}

// The deepest stack at and below a function. `open`: its callers.
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

int run(uint64_t limit_bytes, const std::string& rules_path, const std::vector<std::string>& graphs) {
  const Rules rules = read_rules(rules_path);
  Functions functions;
  for (const std::string& graph : graphs) read_graph(graph, functions);
  resolve_indirect_calls(functions, rules);

  std::map<std::string, Depth> known;
  Depth deepest;
  size_t n_public = 0;
  for (const auto& [name, function] : functions) {
    if (!name.starts_with("goldcrest_") || !function.defined) continue;
    std::vector<std::string> open;
    const Depth& depth = measure(name, functions, rules, known, open);
    std::printf("%6llu  %s\n", static_cast<unsigned long long>(depth.bytes), name.c_str());
    if (depth.bytes > deepest.bytes) deepest = depth;
    ++n_public;
  }
  if (n_public == 0) throw std::runtime_error("no public function among the call graphs");
  std::printf("deepest: %llu bytes of %llu\n", static_cast<unsigned long long>(deepest.bytes),
              static_cast<unsigned long long>(limit_bytes));
  for (const std::string& step : deepest.path) std::printf("  %s\n", step.c_str());
  return deepest.bytes <= limit_bytes ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: stack_depth LIMIT_BYTES RULES FILE.ci...\n");
    return 2;
  }
  try {
    return run(std::stoull(argv[1]), argv[2], {argv + 3, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stack_depth: %s\n", error.what());
    return 1;
  }
}
