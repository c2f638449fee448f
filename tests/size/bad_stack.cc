// SPDX-License-Identifier: Apache-2.0
// Faults that stack_depth must find, by the value of GOLDCREST_BAD: 1 recursion; 2 a frame of unknown size; 3 an
// unknown indirect call; 4 too deep a stack; 5 less than a board has measured.
extern "C" void use_bytes(char* bytes);
extern "C" int goldcrest_init(int n, int (*next)(int));

__attribute__((noinline)) static int large_frame(int n) {
  char bytes[8192];
  bytes[n] = 1;
  use_bytes(bytes);
  return bytes[0];
}

int goldcrest_init(int n, [[maybe_unused]] int (*next)(int)) {
#if GOLDCREST_BAD == 1
  return n == 0 ? 0 : 1 + goldcrest_init(n - 1, next) * goldcrest_init(n / 2, next);
#elif GOLDCREST_BAD == 2
  char* const bytes = static_cast<char*>(__builtin_alloca(static_cast<unsigned>(n)));
  use_bytes(bytes);
  return bytes[0];
#elif GOLDCREST_BAD == 3
  return 1 + next(n);
#elif GOLDCREST_BAD == 4
  return 1 + large_frame(n);
#else
  return n;
#endif
}

// Uses large_frame, so that every build has all of the functions.
int unused_function(int n) { return large_frame(n); }
