// SPDX-License-Identifier: Apache-2.0
// Everything that symbols_test forbids; the test must find all of it.
#include <cmath>
#include <cstdlib>
#include <string>

int goldcrest_bad_counter = 7;                                                      // .data
int goldcrest_bad_buffer[16];                                                       // .bss
std::string goldcrest_bad_text("a string that is too long to be stored in place");  // .init_array

float goldcrest_bad_function(float x) { return std::pow(x, goldcrest_bad_text.empty() ? 2.5f : 0.5f); }
void* goldcrest_bad_allocation(size_t n) { return std::malloc(n); }
char* goldcrest_bad_array(size_t n) { return new char[n]; }
