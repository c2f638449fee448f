// SPDX-License-Identifier: Apache-2.0
// The public headers are the manual. The comment of every function that can fail lists its errors, by names that exist.
#include <regex>
#include "support/test.h"

namespace goldcrest { namespace {
std::string header(const std::string& name) {
  const std::ifstream file(std::string(GOLDCREST_SOURCE_DIR "/engine/include/goldcrest/") + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Function {
  std::string name, comment;
};

// Returns the functions whose result must be checked, each with the last comment before it. A group of them shares one
// comment.
std::vector<Function> functions_of(const std::string& text) {
  static const std::regex pattern(R"(GOLDCREST_MUST_CHECK int[0-9_a-z]* (goldcrest_\w+)\()");
  std::vector<Function> functions;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    const size_t begin = text.rfind("/*", static_cast<size_t>(at->position()));
    functions.push_back({(*at)[1], text.substr(begin, text.find("*/", begin) - begin)});
  }
  return functions;
}

TEST(Header, EveryFunctionListsItsErrors) {
  const std::string text = header("goldcrest.h");
  const std::vector<Function> functions = functions_of(
      text + header("check.h") + header("inspection.h") + header("languages.h") + header("sentences.h") +
      header("image.h") + header("resample.h") + header("speech.h") + header("tokens.h") + header("xnnpack.h"));
  ASSERT_EQ(functions.size(), 38u);
  static const std::regex error("ERROR_[A-Z_]+|goldcrest_[a-z_]+");
  for (const Function& function : functions) {
    const size_t list = function.comment.find("Errors: ");
    ASSERT_NE(list, std::string::npos) << function.name;
    const std::string errors = function.comment.substr(list);
    size_t n_named = 0;
    for (std::sregex_iterator at(errors.begin(), errors.end(), error), end; at != end; ++at, ++n_named) {
      const std::string name = at->str().starts_with("ERROR_") ? "  GOLDCREST_" + at->str() + " = " : at->str();
      EXPECT_NE((text + header("speech.h") + header("xnnpack.h")).find(name), std::string::npos)
          << function.name << ": " << at->str();
    }
    EXPECT_GT(n_named, 0u) << function.name;
  }
}
}}  // namespace goldcrest
