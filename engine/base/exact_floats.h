// SPDX-License-Identifier: Apache-2.0
// Keeps the bits of floats the same for every compiler and its flags. Each source of the engine includes this file
// before everything else, because the settings hold from here to the end of the source.
#pragma once

// A product and a sum must round one after the other, as written. GCC and Clang fuse them where the CPU can.
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "Goldcrest's results are the same bits everywhere: compile it without -Ofast, -ffast-math and their parts"
#endif
#if defined(__FLT_EVAL_METHOD__) && (__FLT_EVAL_METHOD__ == 1 || __FLT_EVAL_METHOD__ == 2)
#error "Goldcrest's floats must have 32 bits between operations too: compile it for 32-bit x86 with -msse2 -mfpmath=sse"
#endif
