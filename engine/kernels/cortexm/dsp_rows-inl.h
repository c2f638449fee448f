// SPDX-License-Identifier: Apache-2.0
// Quantization, layer norm, attention and soft-max sums. A turn loads several numbers together; the 16 partial sums
// stay in 16 registers of the floating-point unit.
#pragma once

#include <arm_acle.h>
#include <string.h>
#include "kernels/kernels.h"
#include "kernels/reference/attention-inl.h"
#include "kernels/reference/math.h"
#include "kernels/reference/reference.h"

namespace goldcrest { namespace {
// Returns bytes 0 and 2, or 1 and 3, of four int8 as two int16.
inline uint32_t even_bytes(uint32_t word) {
  uint32_t pair;
  asm("sxtb16 %0, %1" : "=r"(pair) : "r"(word));
  return pair;
}
inline uint32_t odd_bytes(uint32_t word) {
  uint32_t pair;
  asm("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
  return pair;
}

// sum + a[0] * b[0] + a[1] * b[1]
inline int32_t add_products(uint32_t a, uint32_t b, int32_t sum) {
  asm("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}

#if defined(__ARM_FP)
#define GOLDCREST_DSP_EIGHT(step) \
  step("s0") step("s1") step("s2") step("s3") step("s4") step("s5") step("s6") step("s7")
// sum += a * b, both rounded; destroys a. A Cortex-M7, which its doubles identify, begins a VMLA every cycle; a
// Cortex-M4 is faster with two separate instructions.
#if (__ARM_FP & 8) != 0
#define GOLDCREST_DSP_ADD_PRODUCT(sum, a, b) "vmla.f32 " sum ", " a ", " b "\n"
#else
#define GOLDCREST_DSP_ADD_PRODUCT(sum, a, b) "vmul.f32 " a ", " a ", " b "\nvadd.f32 " sum ", " sum ", " a "\n"
#endif
#endif

// Writes two words for each four inputs of x; the words of the next four are step_bytes further. blocks % 4 == 0,
// blocks > 0
__attribute__((noinline)) void expand(const int8_t* x, uint32_t blocks, uint32_t* expanded, uint32_t step_bytes) {
  const int8_t* const end = x + size_t{4} * blocks;
  uint32_t even, odd;
// clang-format off
#define GOLDCREST_DSP_EXPAND(word) \
  "sxtb16 %[even], " word "\n" \
  "sxtb16 %[odd], " word ", ror #8\n" \
  "strd %[even], %[odd], [%[expanded]]\n" \
  "add %[expanded], %[step_bytes]\n"
  // clang-format on
  asm volatile(
      "1:\n"
      "ldmia %[x]!, {r4-r6, r8}\n" GOLDCREST_DSP_EXPAND("r4") GOLDCREST_DSP_EXPAND("r5") GOLDCREST_DSP_EXPAND("r6")
          GOLDCREST_DSP_EXPAND("r8")
      "cmp %[x], %[end]\n"
      "bne 1b\n"
      : [x] "+r"(x), [expanded] "+r"(expanded), [even] "=&r"(even), [odd] "=&r"(odd)
      : [end] "r"(end), [step_bytes] "r"(step_bytes)
      : "r4", "r5", "r6", "r8", "cc", "memory");
}

// 8 + 8, 4 + 4, 2 + 2, 1 + 1
__attribute__((noinline)) float sum_lanes(const float (&lanes)[16]) {
  float sums[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) sums[i] = lanes[i];
#pragma GCC unroll 4
  for (int width = 8; width > 0; width /= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return sums[0];
}

// lanes[i] = the sum of x[i], x[i + 16] ... or of (x[i] - mean)^2 ..., of n / 16 numbers each.
template <bool kSquares>
inline void sum_sixteens(const float* x, uint32_t n, [[maybe_unused]] float mean, float (&lanes)[16]) {
  const float* const end = x + (n & ~15u);
#if defined(__ARM_FP)
#define GOLDCREST_DSP_SUM(add) \
  "vmov d8, %[zero], %[zero]\nvmov d9, %[zero], %[zero]\nvmov d10, %[zero], %[zero]\nvmov d11, %[zero], %[zero]\n"   \
  "vmov d12, %[zero], %[zero]\nvmov d13, %[zero], %[zero]\nvmov d14, %[zero], %[zero]\nvmov d15, %[zero], %[zero]\n" \
  "b 2f\n"                                                                                                          \
  "1:\n"                                                                                                            \
  "vldmia %[x]!, {s0-s7}\n" add("s16", "s0") add("s17", "s1") add("s18", "s2") add("s19", "s3") add("s20", "s4")     \
      add("s21", "s5") add("s22", "s6") add("s23", "s7")                                                            \
  "vldmia %[x]!, {s0-s7}\n" add("s24", "s0") add("s25", "s1") add("s26", "s2") add("s27", "s3") add("s28", "s4")     \
      add("s29", "s5") add("s30", "s6") add("s31", "s7")                                                            \
  "2:\n"                                                                                                            \
  "cmp %[x], %[end]\n"                                                                                              \
  "bne 1b\n"                                                                                                        \
  "vstmia %[lanes], {s16-s31}\n"
#define GOLDCREST_DSP_ADD_NUMBER(sum, number) "vadd.f32 " sum ", " sum ", " number "\n"
#define GOLDCREST_DSP_ADD_SQUARE(sum, number) \
  "vsub.f32 " number ", " number ", %[mean]\n" GOLDCREST_DSP_ADD_PRODUCT(sum, number, number)
#define GOLDCREST_DSP_SUM_CLOBBERS                                                                               \
  "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", \
      "s25", "s26", "s27", "s28", "s29", "s30", "s31", "cc", "memory"
  if constexpr (kSquares) {
    asm volatile(GOLDCREST_DSP_SUM(GOLDCREST_DSP_ADD_SQUARE)
                 : [x] "+r"(x)
                 : [end] "r"(end), [zero] "r"(0), [mean] "t"(mean), [lanes] "r"(lanes)
                 : GOLDCREST_DSP_SUM_CLOBBERS);
  } else {
    asm volatile(GOLDCREST_DSP_SUM(GOLDCREST_DSP_ADD_NUMBER)
                 : [x] "+r"(x)
                 : [end] "r"(end), [zero] "r"(0), [lanes] "r"(lanes)
                 : GOLDCREST_DSP_SUM_CLOBBERS);
  }
#else
  for (float& lane : lanes) lane = 0.0f;
  for (; x < end; x += 16)
    for (int i = 0; i < 16; ++i) lanes[i] += kSquares ? (x[i] - mean) * (x[i] - mean) : x[i];
#endif
}

// Returns the strided sum of x, or of (x - mean)^2.
template <bool kSquares> __attribute__((noinline)) float sum_strided(const float* x, uint32_t n, float mean) {
  float lanes[16];
  sum_sixteens<kSquares>(x, n, mean, lanes);
  float* lane = lanes;
  for (uint32_t i = n & ~15u; i < n; ++i, ++lane) *lane += kSquares ? (x[i] - mean) * (x[i] - mean) : x[i];
  return sum_lanes(lanes);
}

// Returns the largest of the bits of |x[i]|, doubled. Few numbers are larger than all before them, so the loop only
// compares four numbers until one is larger. n % 4 == 0, n > 0
inline uint32_t largest_doubled(const float* x, const float* end) {
  uint32_t doubled = 0;
#define GOLDCREST_DSP_LEAVE_IF_LARGER(x, label) "cmp %[doubled], " x ", lsl #1\nblo " label "2f\n"
#define GOLDCREST_DSP_TAKE_IF_LARGER(x, label) \
  label "2:\ncmp %[doubled], " x ", lsl #1\nit lo\nlsllo %[doubled], " x ", #1\n"
#define GOLDCREST_DSP_FOUR(step) step("r4", "4") step("r5", "5") step("r6", "6") step("r8", "8")
#define GOLDCREST_DSP_UNTIL_END "cmp %[x], %[end]\nbne 1b\n"
  asm volatile(
      "1:\n"
      "ldmia %[x]!, {r4-r6, r8}\n" GOLDCREST_DSP_FOUR(GOLDCREST_DSP_LEAVE_IF_LARGER) GOLDCREST_DSP_UNTIL_END
      "b 3f\n" GOLDCREST_DSP_FOUR(GOLDCREST_DSP_TAKE_IF_LARGER) GOLDCREST_DSP_UNTIL_END "3:\n"
      : [x] "+r"(x), [doubled] "+r"(doubled)
      : [end] "r"(end)
      : "r4", "r5", "r6", "r8", "cc", "memory");
  return doubled;
}

// q[i] = round_half_even(x[i] * inverse). |x * inverse| <= 127 * (1 + 2^-23)^2, so it rounds to at most 127. Adding
// 1.5 * 2^23 puts the result into the lowest bits.
inline void round_row(const float* x, const float* end, float inverse, int8_t* q) {
  constexpr float kRounder = 12582912.0f;
#if defined(__ARM_FP)
#if (__ARM_FP & 8) != 0  // one VMLA for each, onto a fresh copy of the rounders
  static const float rounders[] = {kRounder, kRounder, kRounder, kRounder, kRounder, kRounder, kRounder, kRounder};
#define GOLDCREST_DSP_ROUNDERS "r"
#define GOLDCREST_DSP_ROUND_INPUT(s, x) "vmla.f32 " s ", " x ", %[inverse]\n"
#define GOLDCREST_DSP_ROUND_EIGHT                                                               \
  "vldmia %[x]!, {s8-s15}\nvldmia %[rounders], {s0-s7}\n" GOLDCREST_DSP_ROUND_INPUT("s0", "s8") \
      GOLDCREST_DSP_ROUND_INPUT("s1", "s9") GOLDCREST_DSP_ROUND_INPUT("s2", "s10")              \
          GOLDCREST_DSP_ROUND_INPUT("s3", "s11") GOLDCREST_DSP_ROUND_INPUT("s4", "s12")         \
              GOLDCREST_DSP_ROUND_INPUT("s5", "s13") GOLDCREST_DSP_ROUND_INPUT("s6", "s14")     \
                  GOLDCREST_DSP_ROUND_INPUT("s7", "s15")
#else
  const float rounders = kRounder;
#define GOLDCREST_DSP_ROUNDERS "t"
#define GOLDCREST_DSP_SCALE_INPUT(s) "vmul.f32 " s ", " s ", %[inverse]\n"
#define GOLDCREST_DSP_ROUND_INPUT(s) "vadd.f32 " s ", " s ", %[rounders]\n"
#define GOLDCREST_DSP_ROUND_EIGHT                                          \
  "vldmia %[x]!, {s0-s7}\n" GOLDCREST_DSP_EIGHT(GOLDCREST_DSP_SCALE_INPUT) \
      GOLDCREST_DSP_EIGHT(GOLDCREST_DSP_ROUND_INPUT)
#endif
#define GOLDCREST_DSP_JOIN_BYTES(word, second, third, fourth) \
  "bfi " word ", " second ", #8, #8\nbfi " word ", " third ", #16, #8\nbfi " word ", " fourth ", #24, #8\n"
  asm volatile(
      "1:\n" GOLDCREST_DSP_ROUND_EIGHT
      "vmov r4, r8, s0, s1\n"
      "vmov r6, r9, s2, s3\n" GOLDCREST_DSP_JOIN_BYTES("r4", "r8", "r6", "r9")
      "vmov r5, r8, s4, s5\n"
      "vmov r6, r9, s6, s7\n" GOLDCREST_DSP_JOIN_BYTES("r5", "r8", "r6", "r9")
      "strd r4, r5, [%[q]], #8\n" GOLDCREST_DSP_UNTIL_END
      : [x] "+r"(x), [q] "+r"(q)
      : [end] "r"(end), [inverse] "t"(inverse), [rounders] GOLDCREST_DSP_ROUNDERS(rounders)
      : "r4", "r5", "r6", "r8", "r9", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12",
        "s13", "s14", "s15", "cc", "memory");
#else
  for (; x < end; ++x, ++q) *q = static_cast<int8_t>(float_bits(*x * inverse + kRounder));
#endif
}

// Quantizes one row of quantize_rows: q [n] <- x [n]. Returns the scale.
__attribute__((noinline)) float quantize_row(const float* x, size_t n, int8_t* q) {
  const uint32_t amax_bits = largest_doubled(x, x + n) >> 1;
  if (amax_bits < kSmallestAmax || amax_bits > kLargestAmax) {
    memset(q, 0, n);
    return 0.0f;
  }
  const float amax = bits_float(amax_bits);
  round_row(x, x + n, 127.0f / amax, q);
  return amax / 127.0f;
}

void quantize_rows(const QuantizeRowsArgs<int8_t>& args) { quantize_by_rows(args, quantize_row); }

struct Normalization {
  const float* x;             // [n]
  float* y;                   // [n]; may be x
  const float *gamma, *beta;  // [n]
  uint32_t n;
  float mean, inverse_deviation;
};

// Computes the last step of layer_norm for all columns except the last n % 8. Returns the number of computed columns.
inline uint32_t normalize_eights([[maybe_unused]] const Normalization& row) {
#if defined(__ARM_FP)
  const uint32_t n = row.n & ~7u;
  const float *x = row.x, *gamma = row.gamma, *beta = row.beta;
  float* y = row.y;
#define GOLDCREST_DSP_CENTER(s) "vsub.f32 " s ", " s ", %[mean]\n"
#define GOLDCREST_DSP_NORMALIZE(s) "vmul.f32 " s ", " s ", %[inverse_deviation]\n"
  asm volatile(
      "b 2f\n"
      "1:\n"
      "vldmia %[x]!, {s0-s7}\n"
      "vldmia %[gamma]!, {s8-s15}\n"
      "vldmia %[beta]!, {s16-s23}\n" GOLDCREST_DSP_EIGHT(GOLDCREST_DSP_CENTER)
          GOLDCREST_DSP_EIGHT(GOLDCREST_DSP_NORMALIZE) GOLDCREST_DSP_ADD_PRODUCT("s16", "s0", "s8")
              GOLDCREST_DSP_ADD_PRODUCT("s17", "s1", "s9") GOLDCREST_DSP_ADD_PRODUCT("s18", "s2", "s10")
                  GOLDCREST_DSP_ADD_PRODUCT("s19", "s3", "s11") GOLDCREST_DSP_ADD_PRODUCT("s20", "s4", "s12")
                      GOLDCREST_DSP_ADD_PRODUCT("s21", "s5", "s13") GOLDCREST_DSP_ADD_PRODUCT("s22", "s6", "s14")
                          GOLDCREST_DSP_ADD_PRODUCT("s23", "s7", "s15")
      "vstmia %[y]!, {s16-s23}\n"
      "2:\n"
      "cmp %[x], %[end]\n"
      "bne 1b\n"
      : [x] "+r"(x), [y] "+r"(y), [gamma] "+r"(gamma), [beta] "+r"(beta)
      : [end] "r"(row.x + n), [mean] "t"(row.mean), [inverse_deviation] "t"(row.inverse_deviation)
      : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16",
        "s17", "s18", "s19", "s20", "s21", "s22", "s23", "cc", "memory");
  return n;
#else
  return 0;
#endif
}

void layer_norm(const LayerNormArgs& args) {
  const uint32_t n = args.n;
  const float* const gamma = args.gamma;
  const float* const beta = args.beta;
  const float inverse_n = 1.0f / static_cast<float>(n);
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* const x = args.x + row * args.stride;
    float* const y = args.y + row * args.stride;
    const float mean = args.centred ? sum_strided<false>(x, n, 0.0f) * inverse_n : 0.0f;
    const float variance = sum_strided<true>(x, n, mean) * inverse_n;
    const float inverse_deviation = 1.0f / sqrt_float(variance + args.epsilon);
    for (uint32_t i = normalize_eights({x, y, gamma, beta, n, mean, inverse_deviation}); i < n; ++i)
      y[i] = ((x[i] - mean) * inverse_deviation) * gamma[i] + beta[i];
    for (uint32_t i = n; i < args.n_padded; ++i) y[i] = 0.0f;
  }
}

// Returns e^x for x <= 0 or NaN.
inline float exp_of_difference(float x) {
  if (x > 88.0f) __builtin_unreachable();
  return exp_float(x);
}

constexpr uint32_t kMaxQueryWidth = 128;

// q . key; q: expanded pairs
__attribute__((noinline)) int32_t dot(const uint32_t* q, const int8_t* key, uint32_t d_head) {
  int32_t sum = 0;
  const int8_t* const end = key + d_head;
  uint32_t even;
#define GOLDCREST_DSP_DOT(word, x_even, x_odd)                                                  \
  "sxtb16 %[even], " word "\nsmlad %[sum], %[even], " x_even ", %[sum]\nsxtb16 " word ", " word \
  ", ror #8\nsmlad %[sum], " word ", " x_odd ", %[sum]\n"
  asm volatile(
      "1:\n"
      "ldmia %[key]!, {r4-r6, r8}\n"
      "ldmia %[q]!, {r9-r12}\n" GOLDCREST_DSP_DOT("r4", "r9", "r10") GOLDCREST_DSP_DOT("r5", "r11", "r12")
      "ldmia %[q]!, {r9-r12}\n" GOLDCREST_DSP_DOT("r6", "r9", "r10") GOLDCREST_DSP_DOT("r8", "r11", "r12")
      "cmp %[key], %[end]\n"
      "bne 1b\n"
      : [q] "+r"(q), [key] "+r"(key), [sum] "+r"(sum), [even] "=&r"(even)
      : [end] "r"(end)
      : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
  return sum;
}

// args.weights <- the scores of one head's query, after soft-max, times the value scales. Returns the factor of integer
// weights.
inline float attention_weights(const AttentionArgs<int8_t>& args, uint32_t row, const HeadKeys& head, float q_scale) {
  uint32_t q[kMaxQueryWidth / 2];
  const uint32_t d_head = args.d_head;
  expand(args.q_row, d_head / 4, q, 8);
  float largest = -__builtin_huge_valf();
  float* const weights = args.weights;
  float* const end = weights + args.n_keys;
  KeyRows key_rows(args, row);
  for (float* weight = weights; weight < end; ++weight) {
    const size_t at = key_rows.next();
    const float product = static_cast<float>(dot(q, head.keys + at * d_head, d_head));
    const float score = (product * (q_scale * head.key_scales[at])) * args.scale;
    *weight = score;
    largest = score > largest ? score : largest;
  }
  largest = add_row_bias(args, head.bias, row, largest);
  if (args.has_integers()) return reference_integer_weights(args, row, head, largest);
  for (float* weight = weights; weight < end; ++weight) *weight = exp_of_difference(*weight - largest);
  const float inverse = 1.0f / sum_strided<false>(weights, args.n_keys, 0.0f);
  KeyRows value_rows(args, row);
  for (float* weight = weights; weight < end; ++weight)
    *weight = (*weight * inverse) * head.value_scales[value_rows.next()];
  return 1.0f;
}

#if defined(__ARM_FP)
// sums[j] += weight * value[j] for 8 columns.
inline void add_weighted(float (&sums)[16], int first, float weight, const int8_t* value) {
#define GOLDCREST_DSP_TWO_VALUES(at, next, to, to_next) \
  "ldrsb r4, [%[value], #" at "]\nldrsb r5, [%[value], #" next "]\nvmov " to ", " to_next ", r4, r5\n"
#define GOLDCREST_DSP_TO_FLOAT(s) "vcvt.f32.s32 " s ", " s "\n"
  asm(GOLDCREST_DSP_TWO_VALUES("0", "1", "s0", "s1") GOLDCREST_DSP_TWO_VALUES("2", "3", "s2", "s3")
          GOLDCREST_DSP_TWO_VALUES("4", "5", "s4", "s5") GOLDCREST_DSP_TWO_VALUES("6", "7", "s6", "s7")
              GOLDCREST_DSP_EIGHT(GOLDCREST_DSP_TO_FLOAT) GOLDCREST_DSP_ADD_PRODUCT("%[sum0]", "s0", "%[weight]")
                  GOLDCREST_DSP_ADD_PRODUCT("%[sum1]", "s1", "%[weight]") GOLDCREST_DSP_ADD_PRODUCT(
                      "%[sum2]", "s2", "%[weight]") GOLDCREST_DSP_ADD_PRODUCT("%[sum3]", "s3", "%[weight]")
                      GOLDCREST_DSP_ADD_PRODUCT("%[sum4]", "s4", "%[weight]") GOLDCREST_DSP_ADD_PRODUCT(
                          "%[sum5]", "s5", "%[weight]") GOLDCREST_DSP_ADD_PRODUCT("%[sum6]", "s6", "%[weight]")
                          GOLDCREST_DSP_ADD_PRODUCT("%[sum7]", "s7", "%[weight]")
      : [sum0] "+t"(sums[first]), [sum1] "+t"(sums[first + 1]), [sum2] "+t"(sums[first + 2]),
      [sum3] "+t"(sums[first + 3]), [sum4] "+t"(sums[first + 4]), [sum5] "+t"(sums[first + 5]),
      [sum6] "+t"(sums[first + 6]), [sum7] "+t"(sums[first + 7])
      : [weight] "t"(weight), [value] "r"(value + first), "m"(*reinterpret_cast<const int8_t(*)[16]>(value))
      : "r4", "r5", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7");
}
#else
inline void add_weighted(float (&sums)[16], int first, float weight, const int8_t* value) {
  for (int j = first; j < first + 8; ++j) sums[j] += weight * static_cast<float>(value[j]);
}
#endif

// The same as attention_values below with integer weights, for four columns. Keys without slots are taken in pairs.
__attribute__((noinline)) void attention_integers(
    const AttentionArgs<int8_t>& args, uint32_t row, const int8_t* value, float factor, float* out) {
  const float* weight = args.weights;
  const float* const end = weight + args.n_keys;
  const uint8_t* slot = args.ancestor;
  const size_t stride = args.position_stride * args.d_head;
  int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
#if defined(__OPTIMIZE__)  // the loop takes nearly every register
  const float* const pairs_end = slot != nullptr ? weight : end - args.n_keys % 2;
  uint32_t weights, first, second, pairs;
#define GOLDCREST_DSP_TWO_KEYS(sum, pairs) "smlad %[" sum "], " pairs ", %[weights], %[" sum "]\n"
  asm volatile(
      "b 2f\n"
      "1:\n"
      "ldrd %[weights], %[first], [%[weight]], #8\n"
      "ldr %[second], [%[value], %[stride]]\n"
      "orr %[weights], %[weights], %[first], lsl #16\n"
      "ldr %[first], [%[value]]\n"
      "add %[value], %[value], %[stride], lsl #1\n"
      "pkhbt %[pairs], %[first], %[second], lsl #16\n"
      "pkhtb %[first], %[second], %[first], asr #16\n"
      "sxtb16 %[second], %[pairs]\n" GOLDCREST_DSP_TWO_KEYS("sum0", "%[second]")
      "sxtb16 %[pairs], %[pairs], ror #8\n" GOLDCREST_DSP_TWO_KEYS("sum1", "%[pairs]")
      "sxtb16 %[second], %[first]\n" GOLDCREST_DSP_TWO_KEYS("sum2", "%[second]")
      "sxtb16 %[first], %[first], ror #8\n" GOLDCREST_DSP_TWO_KEYS("sum3", "%[first]")
      "2:\n"
      "cmp %[weight], %[pairs_end]\n"
      "bne 1b\n"
      : [sum0] "+r"(sum0), [sum1] "+r"(sum1), [sum2] "+r"(sum2), [sum3] "+r"(sum3), [value] "+r"(value),
      [weight] "+r"(weight), [weights] "=&r"(weights), [first] "=&r"(first), [second] "=&r"(second),
      [pairs] "=&r"(pairs)
      : [stride] "r"(stride), [pairs_end] "r"(pairs_end)
      : "cc", "memory");
#endif
  for (; weight < end; ++weight, value += stride) {
    const int8_t* from = value;
    if (slot != nullptr) from += slot[row] * args.d_head, slot += args.ancestor_stride;
    const auto integer = static_cast<int32_t>(float_bits(*weight));
    const auto word = static_cast<uint32_t>(load_word(from));
    const auto even = static_cast<int32_t>(even_bytes(word)), odd = static_cast<int32_t>(odd_bytes(word));
    sum0 = __smlabb(even, integer, sum0), sum1 = __smlabb(odd, integer, sum1);
    sum2 = __smlatb(even, integer, sum2), sum3 = __smlatb(odd, integer, sum3);
  }
  const int32_t sums[] = {sum0, sum1, sum2, sum3};
#pragma GCC unroll 1
  for (const int32_t& sum : sums) *out++ = static_cast<float>(sum) * factor;
}

// out[j] = sum over t of weights[t] * value[t, j], t ascending, for 16 columns.
inline void attention_values(
    const AttentionArgs<int8_t>& args, uint32_t row, const int8_t* values, float factor, float* out) {
  if (args.has_integers()) {
#pragma GCC unroll 1
    for (const float* const end = out + 16; out < end; values += 4, out += 4)
      attention_integers(args, row, values, factor, out);
    return;
  }
  float sums[16] = {};
  const float* weight = args.weights;
  const float* const end = weight + args.n_keys;
  const size_t d_head = args.d_head;
  for (KeyRows rows(args, row); weight < end; ++weight) {
    const int8_t* const value = values + rows.next() * d_head;
    add_weighted(sums, 0, *weight, value);
    add_weighted(sums, 8, *weight, value);
  }
#pragma GCC unroll 16
  for (int j = 0; j < 16; ++j) out[j] = sums[j];
}

void attention(const AttentionArgs<int8_t>& args) {
  if (args.d_head > kMaxQueryWidth) return reference_attention(args);
  attend_by_rows(args, quantize_row, attention_weights, attention_values);
}

// Computes the largest logit of a row's block and the sum of exponentials.
inline void sum_logits(const float* logits, uint32_t count, float* block_max, float* block_sum) {
  float largest = logits[0];
  for (uint32_t i = 1; i < count; ++i) largest = logits[i] > largest ? logits[i] : largest;
  float lanes[16] = {};
  for (uint32_t i = 0; i < count; ++i) lanes[i % 16] += exp_of_difference(logits[i] - largest);
  *block_max = largest;
  *block_sum = sum_lanes(lanes);
}

// Computes the sums of a block from its finished logits.
__attribute__((noinline)) void logit_sums(const LogitSumsArgs& args) {
  for (uint32_t row = 0; row < args.rows; ++row) {
    sum_logits(args.logits + row * args.logits_stride, args.count, args.block_max + row * args.stride,
        args.block_sum + row * args.stride);
  }
}

inline void output_block_sums(const OutputBlockArgs<int8_t>& args) {
  if (args.block_max != nullptr) logit_sums(logit_sums_of(args));
}
}}  // namespace goldcrest
