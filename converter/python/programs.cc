// SPDX-License-Identifier: Apache-2.0
// The programs of the Python package in one executable: the first argument is convert, translate,
// transcribe or inspect.
#include <cstdio>
#include <string_view>
#include "goldcrest/goldcrest.h"

int goldcrest_convert_main(int argc, char** argv);
int goldcrest_translate_main(int argc, char** argv);
int goldcrest_transcribe_main(int argc, char** argv);
int goldcrest_inspect_main(int argc, char** argv);

constexpr const char* kUsage =
    "usage: python -m goldcrest convert CHECKPOINT -o MODEL   writes a model file\n"
    "       python -m goldcrest translate MODEL               translates the lines of its input\n"
    "       python -m goldcrest transcribe MODEL              writes down what is said in a clip\n"
    "       python -m goldcrest inspect MODEL                 prints what a file is, and tests it\n"
    "Add --help to one of them for its options.\n";

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "convert") return goldcrest_convert_main(argc - 1, argv + 1);
  if (name == "translate") return goldcrest_translate_main(argc - 1, argv + 1);
  if (name == "transcribe") return goldcrest_transcribe_main(argc - 1, argv + 1);
  if (name == "inspect") return goldcrest_inspect_main(argc - 1, argv + 1);
  const bool asks_help = name == "--help" || name == "-h";
  if (name == "--version") return std::puts("goldcrest " GOLDCREST_VERSION) < 0 ? 1 : 0;
  std::fputs(kUsage, asks_help ? stdout : stderr);
  return asks_help ? 0 : 2;
}
