// SPDX-License-Identifier: Apache-2.0
// The programs of the Python package in one executable: the first argument is convert, translate or inspect.
#include <cstdio>
#include <string_view>

int goldcrest_convert_main(int argc, char** argv);
int goldcrest_translate_main(int argc, char** argv);
int goldcrest_inspect_main(int argc, char** argv);

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "convert") return goldcrest_convert_main(argc - 1, argv + 1);
  if (name == "translate") return goldcrest_translate_main(argc - 1, argv + 1);
  if (name == "inspect") return goldcrest_inspect_main(argc - 1, argv + 1);
  std::fprintf(stderr, "usage: python -m goldcrest convert|translate|inspect ...\n");
  return 2;
}
