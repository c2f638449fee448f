// SPDX-License-Identifier: Apache-2.0
// tests/weight.pl: what it counts, and when it fails. tests/lint.sh runs it on this tree.
#include "source_tree.h"

namespace goldcrest { namespace {
// The exit status of the script, 0 or 1, and then what it prints after the heading.
std::string weigh(const Tree& tree, const std::string& option = "") {
  const std::string command = "perl '" GOLDCREST_SOURCE_DIR "/tests/weight.pl' " + option + " '";
  FILE* pipe = popen((command + tree.path().string() + "'").c_str(), "r");
  std::string out;
  for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
  const int status = pclose(pipe);
  return std::string(status == 0 ? "0" : "1") + out.substr(out.find('\n'));
}

// A row as the script prints it: name, base, ceiling, goal, count.
std::string row(const std::string& name, const std::string& ceiling, int count) {
  char text[80];
  std::snprintf(text, sizeof text, "\n%-20s %9d %9s %9s %9d", name.c_str(), 7, ceiling.c_str(), "-", count);
  return text;
}

// Writes at least one of each thing that is counted, and things that are like them.
void write_heavy_things(const Tree& tree) {
  std::string lines;
  for (int i = 0; i < 59; ++i) lines += "  x();\n";
  tree.write("engine/base/features-inl.h", "GOLDCREST_OPTION(A, B)\n// GOLDCREST_OPTION(B, C)\n");
  tree.write("engine/base/options.h",
      "#ifndef GOLDCREST_OPTIONS_H_\nconstexpr bool kMay = kHasA || kHasB;\n#if GOLDCREST_A  // kHasA\n"
      "#define GOLDCREST_RARE [[gnu::cold]]\nGOLDCREST_RARE int a(Choose<kMay, int, char>);\n");
  tree.write("engine/layers/view.h", "struct Whole {\n  ModelView view;\n};\nint f(const Whole& whole, int* other);\n");
  tree.write("converter/long.cc", "/* a\n\n b */\nint long_one() {\n" + lines + "}\nint short_one(\n    int x) {\n}\n");
  tree.write("converter/CMakeLists.txt", "# examples/\nset(a ../examples/a.cc)\n");
  tree.write("examples/a.cc", "#include \"sources/a.h\"\n#include \"kernels/a.h\"\nauto url = \"http://a\";  // b\n");
  tree.write("examples/bench/a.cc", "#include \"sources/a.h\"\n");
  tree.write("tests/wide.sh", "# " + std::string(118, 'a') + "\necho " + std::string(116, 'b') + "\n");
  tree.write("README.md", "Two words.\n| a | b |\n| c | 1 |\n| d | 2 | 3 |\n");
  tree.write("CMakePresets.json", "{\n}\n");
  tree.write("tests/link/departures.txt", "a b\n");
  for (int i = 0; i < 32; ++i) tree.write("tests/convert/" + std::to_string(i) + ".txt", "");
}

const std::vector<std::pair<std::string, int>> kCounts = {
    {"conditions", 6},
    {"options", 1},
    {"cold", 3},
    {"code.engine", 10},
    {"code.converter", 65},
    {"code.examples", 4},
    {"code.tests", 1},
    {"lines", 86},
    {"wide", 1},
    {"functions", 1},
    {"departures", 1},
    {"crowded", 2},
    {"model_names", 2},
    {"shell", 2},
    {"converter_includes", 1},
    {"engine_includes", 1},
    {"examples_elsewhere", 1},
    {"presets", 2},
    {"words", 19},
};

// Writes ceilings that are this much above the counts. Returns what the script prints of them.
std::string write_ceilings(const Tree& tree, int above) {
  std::string ceilings = "# name, base, ceiling, goal\n", printed;
  for (const auto& [name, count] : kCounts) {
    ceilings += name + "  7 " + std::to_string(count + above) + " -\n";
    printed += row(name, std::to_string(count + above), count);
  }
  tree.write("tests/weight.txt", ceilings);
  return printed + "\n";
}

TEST(Weight, EveryKindIsCounted) {
  const Tree tree;
  write_heavy_things(tree);
  const std::string printed = write_ceilings(tree, 0);
  EXPECT_EQ(weigh(tree), "0" + printed);
}

TEST(Weight, ACountAboveItsCeilingFailsWithItsPlaces) {
  const Tree tree;
  write_heavy_things(tree);
  const std::string printed = write_ceilings(tree, 0);
  tree.write("engine/layers/more.cc", "[[gnu::cold]] void f();\n[[gnu::cold]] void g();\n");
  const std::string out = weigh(tree);
  EXPECT_EQ(out[0], '1');
  for (const char* message : {"\ntests/weight.txt: cold: 5 is above the ceiling: make it less, or say why not\n",
           "\nengine/layers/more.cc: cold: 2, before 0\n"})
    EXPECT_NE(out.find(message), std::string::npos) << out;
  EXPECT_EQ(out.find("shell:"), std::string::npos) << out;
}

TEST(Weight, ACountBelowItsCeilingFailsUntilTheCeilingFollows) {
  const Tree tree;
  write_heavy_things(tree);
  write_ceilings(tree, 3);
  const std::string out = weigh(tree);
  EXPECT_EQ(out[0], '1');
  const std::string message = "\ntests/weight.txt: cold: 3 is below the ceiling, 6: run perl tests/weight.pl --lower\n";
  EXPECT_NE(out.find(message), std::string::npos) << out;
  EXPECT_EQ(weigh(tree, "--lower")[0], '0');
  const std::string lowered = weigh(tree);
  EXPECT_EQ(lowered, std::string("0") + write_ceilings(tree, 0));
}

TEST(Weight, ARowThatIsMissingFails) {
  const Tree tree;
  tree.write("tests/a.sh", "a\n");
  tree.write("tests/weight.txt", "lines 7 1 -\ncode.tests 7 - -\n");
  EXPECT_EQ(weigh(tree), std::string("1") + row("lines", "1", 1) + row("code.tests", "-", 1) +
                             "\ntests/weight.txt: shell: the row is missing\n");
}
}}  // namespace goldcrest
