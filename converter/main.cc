// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

int main(int argc, char** argv) { return goldcrest::converter::run_program(argc, argv); }
