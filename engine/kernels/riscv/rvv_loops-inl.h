// SPDX-License-Identifier: Apache-2.0
// Loops over vectors of RISC-V's extension V 1.0, of any length from 128 bits on. They are assembly, because GCC 12 has
// no intrinsics. The compiler's own vector code may follow: no loop expects a state of the vector unit.
//
// Sums in the contract's order have 16 lanes. Sixteen words take four registers of 128 bits, two of 256, or one of 512.
// On some CPUs the number of registers decides the time, so these loops set the vector type at run time. The loops name
// the first of four registers; with longer vectors the others stay unused.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace goldcrest { namespace {
// GCC 12 uses no vector registers and does not know their names.
#if defined(__clang__) || __GNUC__ >= 13
#define GOLDCREST_RVV_VECTORS                                                                                    \
  , "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", \
      "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"
#else
#define GOLDCREST_RVV_VECTORS
#endif
#define GOLDCREST_RVV_CLOBBERS "memory", "t0", "t1", "t2", "t3", "ft0" GOLDCREST_RVV_VECTORS

// Vector types of 16 lanes, for vsetvl. Lanes after the last one keep their contents.
struct Lanes {
  size_t words, halves;  // 32 and 16 bits a lane
};

inline Lanes sixteen_lanes() {
  size_t bytes;  // bytes in a register
  asm("csrr %0, vlenb" : "=r"(bytes));
  const size_t log_registers = bytes == 16 ? 2 : bytes == 32 ? 1 : 0;  // 16 words take this many
  return {2 << 3 | log_registers, 1 << 3 | ((log_registers - 1) & 7)};
}

// Returns the largest magnitude of x [n], as bits.
inline uint32_t largest_magnitude(const float* x, size_t n) {
  size_t bits;
  asm volatile(
      "vsetvli t0, zero, e32, m8, tu, ma\n"
      "vmv.v.i v16, 0\n"
      "1:\n"
      "vsetvli t0, %[n], e32, m8, tu, ma\n"
      "vle32.v v8, (%[x])\n"
      "sub %[n], %[n], t0\n"
      "slli t1, t0, 2\n"
      "add %[x], %[x], t1\n"
      "vfabs.v v8, v8\n"
      "vmaxu.vv v16, v16, v8\n"
      "bnez %[n], 1b\n"
      "vsetvli t0, zero, e32, m8, ta, ma\n"
      "vredmaxu.vs v8, v16, v16\n"
      "vmv.x.s %[bits], v8\n"
      : [x] "+&r"(x), [n] "+&r"(n), [bits] "=r"(bits)
      :
      : GOLDCREST_RVV_CLOBBERS);
  return static_cast<uint32_t>(bits);
}

// q [n] <- x * inverse, rounded half to even; |x * inverse| < 127.5
inline void quantize(const float* x, size_t n, float inverse, int8_t* q) {
  asm volatile(
      "1:\n"
      "vsetvli t0, %[n], e32, m8, ta, ma\n"
      "vle32.v v8, (%[x])\n"
      "sub %[n], %[n], t0\n"
      "slli t1, t0, 2\n"
      "add %[x], %[x], t1\n"
      "vfmul.vf v8, v8, %[inverse]\n"
      "vsetvli zero, zero, e16, m4, ta, ma\n"
      "vfncvt.x.f.w v16, v8\n"
      "vsetvli zero, zero, e8, m2, ta, ma\n"
      "vnsrl.wi v20, v16, 0\n"
      "vse8.v v20, (%[q])\n"
      "add %[q], %[q], t0\n"
      "bnez %[n], 1b\n"
      : [x] "+&r"(x), [n] "+&r"(n), [q] "+&r"(q)
      : [inverse] "f"(inverse)
      : GOLDCREST_RVV_CLOBBERS);
}

// Begins a loop over up to 16 lanes at a time: sums in v16, zeros in v28. AVL is given exactly, because a vsetvl may
// take fewer lanes than it could if there are more than it can take.
#define GOLDCREST_RVV_BEGIN_LANES     \
  "vsetvl zero, %[lanes], %[words]\n" \
  "vmv.v.i v16, 0\n"                  \
  "vmv.v.i v28, 0\n"                  \
  "1:\n"                              \
  "mv t0, %[lanes]\n"                 \
  "bgeu %[n], t0, 2f\n"               \
  "mv t0, %[n]\n"                     \
  "2:\n"                              \
  "vsetvl zero, t0, %[words]\n"       \
  "vle32.v v4, (%[x])\n"              \
  "addi %[x], %[x], 64\n"             \
  "sub %[n], %[n], t0\n"

// Ends the loop: 8 + 8, 4 + 4, 2 + 2, 1 + 1.
#define GOLDCREST_RVV_END_LANES       \
  "bnez %[n], 1b\n"                   \
  "vsetvl zero, %[lanes], %[words]\n" \
  "vslidedown.vi v4, v16, 8\n"        \
  "vfadd.vv v16, v16, v4\n"           \
  "vslidedown.vi v4, v16, 4\n"        \
  "vfadd.vv v16, v16, v4\n"           \
  "vslidedown.vi v4, v16, 2\n"        \
  "vfadd.vv v16, v16, v4\n"           \
  "vslidedown.vi v4, v16, 1\n"        \
  "vfadd.vv v16, v16, v4\n"           \
  "vfmv.f.s %[sum], v16\n"

// Returns the strided sum of x [n], n >= 1.
inline float sum_strided(const Lanes& types, const float* x, size_t n) {
  const size_t lanes = 16;
  float sum;
  asm volatile(GOLDCREST_RVV_BEGIN_LANES "vfadd.vv v16, v16, v4\n" GOLDCREST_RVV_END_LANES
               : [x] "+&r"(x), [n] "+&r"(n), [sum] "=&f"(sum)
               : [lanes] "r"(lanes), [words] "r"(types.words)
               : GOLDCREST_RVV_CLOBBERS);
  return sum;
}

// Returns the strided sum of (x - mean)^2.
inline float sum_squares(const Lanes& types, const float* x, size_t n, float mean) {
  const size_t lanes = 16;
  float sum;
  asm volatile(GOLDCREST_RVV_BEGIN_LANES
               "vfsub.vf v4, v4, %[mean]\n"
               "vfmul.vv v4, v4, v4\n"
               "vfadd.vv v16, v16, v4\n" GOLDCREST_RVV_END_LANES
               : [x] "+&r"(x), [n] "+&r"(n), [sum] "=&f"(sum)
               : [lanes] "r"(lanes), [words] "r"(types.words), [mean] "f"(mean)
               : GOLDCREST_RVV_CLOBBERS);
  return sum;
}

// y [n] <- ((x - mean) * factor) * gamma + beta; y may be x.
inline void normalize(
    const float* x, size_t n, float mean, float factor, const float* gamma, const float* beta, float* y) {
  asm volatile(
      "1:\n"
      "vsetvli t0, %[n], e32, m8, ta, ma\n"
      "vle32.v v8, (%[x])\n"
      "vle32.v v16, (%[gamma])\n"
      "vle32.v v24, (%[beta])\n"
      "sub %[n], %[n], t0\n"
      "slli t1, t0, 2\n"
      "vfsub.vf v8, v8, %[mean]\n"
      "vfmul.vf v8, v8, %[factor]\n"
      "vfmul.vv v8, v8, v16\n"
      "vfadd.vv v8, v8, v24\n"
      "vse32.v v8, (%[y])\n"
      "add %[x], %[x], t1\n"
      "add %[gamma], %[gamma], t1\n"
      "add %[beta], %[beta], t1\n"
      "add %[y], %[y], t1\n"
      "bnez %[n], 1b\n"
      : [x] "+&r"(x), [n] "+&r"(n), [gamma] "+&r"(gamma), [beta] "+&r"(beta), [y] "+&r"(y)
      : [mean] "f"(mean), [factor] "f"(factor)
      : GOLDCREST_RVV_CLOBBERS);
}

// to [n] <- e^(x - largest), as exp_float computes it; no x is larger. Returns the strided sum. to: may be x; null:
// only the sum is wanted.
inline float exponentials(const Lanes& types, const float* x, size_t n, float largest, float* to) {
  const size_t lanes = 16;
  float sum;
  asm volatile(
      GOLDCREST_RVV_BEGIN_LANES
      "vfsub.vf v4, v4, %[largest]\n"
      "vmfge.vf v0, v4, %[least]\n"
      "vfmul.vf v8, v4, %[log2_e]\n"
      "vfadd.vf v8, v8, %[rounding]\n"  // the sum's low bits are those of the power of two
      "vfsub.vf v20, v8, %[rounding]\n"
      "vfmul.vf v24, v20, %[ln2]\n"
      "vfsub.vv v4, v4, v24\n"
      "vfmul.vf v24, v20, %[ln2_rest]\n"
      "vfsub.vv v4, v4, v24\n"
      "vfmul.vf v12, v4, %[c7]\n"
      "vfadd.vf v12, v12, %[c6]\n"
      "vfmul.vv v12, v12, v4\n"
      "vfadd.vf v12, v12, %[c5]\n"
      "vfmul.vv v12, v12, v4\n"
      "vfadd.vf v12, v12, %[c4]\n"
      "vfmul.vv v12, v12, v4\n"
      "vfadd.vf v12, v12, %[c3]\n"
      "vfmul.vv v12, v12, v4\n"
      "vfadd.vf v12, v12, %[c2]\n"
      "vfmul.vv v12, v12, v4\n"
      "vfadd.vf v12, v12, %[one]\n"
      "vfmul.vv v12, v12, v4\n"
      "vfadd.vf v12, v12, %[one]\n"
      "vsll.vi v8, v8, 23\n"
      "vadd.vv v12, v12, v8\n"
      "vmerge.vvm v12, v28, v12, v0\n"
      "vfadd.vv v16, v16, v12\n"
      "beqz %[to], 3f\n"
      "vse32.v v12, (%[to])\n"
      "addi %[to], %[to], 64\n"
      "3:\n" GOLDCREST_RVV_END_LANES
      : [x] "+&r"(x), [n] "+&r"(n), [to] "+&r"(to), [sum] "=&f"(sum)
      : [lanes] "r"(lanes), [words] "r"(types.words), [largest] "f"(largest), [least] "f"(-40.0f),
      [log2_e] "f"(1.44269504f), [rounding] "f"(12582912.0f), [ln2] "f"(0.693359375f), [ln2_rest] "f"(-2.12194440e-4f),
      [c7] "f"(1.98412698e-4f), [c6] "f"(1.38888889e-3f), [c5] "f"(8.33333333e-3f), [c4] "f"(4.16666667e-2f),
      [c3] "f"(1.66666667e-1f), [c2] "f"(0.5f), [one] "f"(1.0f)
      : GOLDCREST_RVV_CLOBBERS);
  return sum;
}

// Returns the largest number of x [n], n >= 1, and -infinity if none is a number. A zero may have either sign.
inline float largest_number(const float* x, size_t n) {
  float largest = -__builtin_huge_valf();
  asm volatile(
      "vsetivli zero, 1, e32, m1, ta, ma\n"
      "vfmv.s.f v4, %[largest]\n"
      "1:\n"
      "vsetvli t0, %[n], e32, m8, ta, ma\n"
      "vle32.v v8, (%[x])\n"
      "sub %[n], %[n], t0\n"
      "slli t1, t0, 2\n"
      "add %[x], %[x], t1\n"
      "vfredmax.vs v4, v8, v4\n"
      "bnez %[n], 1b\n"
      "vfmv.f.s %[largest], v4\n"
      : [x] "+&r"(x), [n] "+&r"(n), [largest] "+&f"(largest)
      :
      : GOLDCREST_RVV_CLOBBERS);
  return largest;
}

// Returns the sum over i of a[i] * b[i].
inline int32_t dot(const int8_t* a, const int8_t* b, size_t n) {
  int32_t sum;
  asm volatile(
      "vsetivli zero, 1, e32, m1, ta, ma\n"
      "vmv.s.x v3, zero\n"
      "1:\n"
      "vsetvli t0, %[n], e8, m2, ta, ma\n"
      "vle8.v v4, (%[a])\n"
      "vle8.v v8, (%[b])\n"
      "sub %[n], %[n], t0\n"
      "add %[a], %[a], t0\n"
      "add %[b], %[b], t0\n"
      "vwmul.vv v12, v4, v8\n"
      "vsetvli zero, zero, e16, m4, ta, ma\n"
      "vwredsum.vs v3, v12, v3\n"
      "bnez %[n], 1b\n"
      "vsetivli zero, 1, e32, m1, ta, ma\n"
      "vmv.x.s %[sum], v3\n"
      : [a] "+&r"(a), [b] "+&r"(b), [n] "+&r"(n), [sum] "=r"(sum)
      :
      : GOLDCREST_RVV_CLOBBERS);
  return sum;
}

// The values of a head, each `d_head` int8, for one row. The number of a key's row is slot + position.
struct ValueRows {
  const int8_t* values;
  const uint8_t* slot;  // the first key's
  size_t slot_stride, position_stride, d_head;
  const float* weights;  // [n_keys]
  size_t n_keys;
};

// Sums of the values of all keys: a load of the weight, its products, and what turns the sums into outputs.
#define GOLDCREST_RVV_VALUES(load_weight, products, finish) \
  "vsetvli %[done], %[columns], e32, m8, ta, ma\n"          \
  "vmv.v.i v16, 0\n"                                        \
  "1:\n"                                                    \
  "lbu t0, (%[slot])\n" load_weight                         \
  "add t0, t0, %[position]\n"                               \
  "mul t0, t0, %[d_head]\n"                                 \
  "add t0, t0, %[values]\n"                                 \
  "vle8.v v4, (t0)\n"                                       \
  "addi %[weight], %[weight], 4\n"                          \
  "add %[slot], %[slot], %[slot_stride]\n"                  \
  "add %[position], %[position], %[position_stride]\n"      \
  "vsext.vf4 v8, v4\n" products "bltu %[weight], %[end], 1b\n" finish "vse32.v v16, (%[out])\n"

// out [d_head] = sum over t of weights[t] * value[t], t ascending; of integer weights, in any order, times `factor`.
template <bool kIntegers> inline void sum_values(const ValueRows& rows, float factor, float* out) {
  const float* const end = rows.weights + rows.n_keys;
  const int8_t* values = rows.values;
  for (size_t columns = rows.d_head; columns > 0;) {
    const uint8_t* slot = rows.slot;
    const float* weight = rows.weights;
    size_t position = 0, done;
    if constexpr (kIntegers) {
      asm volatile(GOLDCREST_RVV_VALUES(
          "lw t1, (%[weight])\n", "vmacc.vx v16, t1, v8\n", "vfcvt.f.x.v v16, v16\nvfmul.vf v16, v16, %[factor]\n")
                   : [slot] "+&r"(slot), [weight] "+&r"(weight), [position] "+&r"(position), [done] "=&r"(done)
                   : [columns] "r"(columns), [values] "r"(values), [d_head] "r"(rows.d_head),
                   [slot_stride] "r"(rows.slot_stride), [position_stride] "r"(rows.position_stride), [end] "r"(end),
                   [out] "r"(out), [factor] "f"(factor)
                   : GOLDCREST_RVV_CLOBBERS);
    } else {
      asm volatile(GOLDCREST_RVV_VALUES(
          "flw ft0, (%[weight])\n", "vfcvt.f.x.v v8, v8\nvfmul.vf v8, v8, ft0\nvfadd.vv v16, v16, v8\n", "")
                   : [slot] "+&r"(slot), [weight] "+&r"(weight), [position] "+&r"(position), [done] "=&r"(done)
                   : [columns] "r"(columns), [values] "r"(values), [d_head] "r"(rows.d_head),
                   [slot_stride] "r"(rows.slot_stride), [position_stride] "r"(rows.position_stride), [end] "r"(end),
                   [out] "r"(out)
                   : GOLDCREST_RVV_CLOBBERS);
    }
    columns -= done;
    values += done;
    out += done;
  }
}
}}  // namespace goldcrest
