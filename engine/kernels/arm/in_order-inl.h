// SPDX-License-Identifier: Apache-2.0
// Instruction text that tiles of linear layers share, most of them for in-order cores, and the code after the sums.
// Such a core issues two instructions a cycle, but a load of 128 bits takes both places of two cycles. So weights are
// loaded in halves.
//
// The text names operands of its asm statement: %[w] the weights, %[left] the inputs that are left, %[y] the address of
// a row's 16 outputs, %[y_bytes] the bytes from there to the next row's, and x_scale, w_scale and bias of the tile.

// clang-format off
// Text that only tiles with some numbers of rows contain.
#define GOLDCREST_WITH(text) text
#define GOLDCREST_WITHOUT(text)

#define GOLDCREST_LOW(weights, at) "ldr d" #weights ", [%[w], #(" #at ")]\n"
#define GOLDCREST_HIGH(half, at) "ldr " #half ", [%[w], #(" #at " + 8)]\n"
#define GOLDCREST_JOIN(weights, half) "ins v" #weights ".d[1], " #half "\n"
#define GOLDCREST_PREFETCH(ahead) "prfm pldl1keep, [%[w], #" #ahead "]\n"
#define GOLDCREST_CLEAR(sum) "movi v" #sum ".4s, #0\n"

#define GOLDCREST_SCALED(row, scale) "fmul v" #row ".4s, v" #scale ".4s, v28.s[0]\n"
#define GOLDCREST_FLOAT(sum) "scvtf v" #sum ".4s, v" #sum ".4s\n"
#define GOLDCREST_TIMES(sum, scale) "fmul v" #sum ".4s, v" #sum ".4s, v" #scale ".4s\n"
#define GOLDCREST_PLUS(sum, bias) "fadd v" #sum ".4s, v" #sum ".4s, v" #bias ".4s\n"

// Adds the neighbours of eight registers, two for each four outputs. The sums are in a, c, e and g.
#define GOLDCREST_ROW_SUMS(a, b, c, d, e, f, g, h)                                     \
  "addp v" #a ".4s, v" #a ".4s, v" #b ".4s\naddp v" #c ".4s, v" #c ".4s, v" #d ".4s\n" \
  "addp v" #e ".4s, v" #e ".4s, v" #f ".4s\naddp v" #g ".4s, v" #g ".4s, v" #h ".4s\n"

// Loads the scales of the outputs `at` bytes after the tile's first to v16 to v19, their bias to v20 to v23.
#define GOLDCREST_LOAD_SCALES_AT(at)                                                    \
  "ldp q16, q17, [%[w_scale], #(" #at ")]\nldp q18, q19, [%[w_scale], #(" #at " + 32)]\n" \
  "ldp q20, q21, [%[bias], #(" #at ")]\nldp q22, q23, [%[bias], #(" #at " + 32)]\n"
#define GOLDCREST_LOAD_SCALES GOLDCREST_LOAD_SCALES_AT(0)

// Scales a row's sums, floats, by the scale in v28 and adds the bias. Activation and residual come later.
#define GOLDCREST_SCALE(a, b, c, d)                                                                           \
  GOLDCREST_SCALED(24, 16) GOLDCREST_SCALED(25, 17) GOLDCREST_SCALED(26, 18) GOLDCREST_SCALED(27, 19)         \
  GOLDCREST_TIMES(a, 24) GOLDCREST_TIMES(b, 25) GOLDCREST_TIMES(c, 26) GOLDCREST_TIMES(d, 27)                 \
  GOLDCREST_PLUS(a, 20) GOLDCREST_PLUS(b, 21) GOLDCREST_PLUS(c, 22) GOLDCREST_PLUS(d, 23)
#define GOLDCREST_FINISH(a, b, c, d, row)                                                                     \
  "ldr s28, [%[x_scale], #(4 * " #row ")]\n"                                                                  \
  GOLDCREST_FLOAT(a) GOLDCREST_FLOAT(b) GOLDCREST_FLOAT(c) GOLDCREST_FLOAT(d) GOLDCREST_SCALE(a, b, c, d)
#define GOLDCREST_STORE_AT(at, a, b, c, d) \
  "stp q" #a ", q" #b ", [%[y], #(" #at ")]\nstp q" #c ", q" #d ", [%[y], #(" #at " + 32)]\n"
#define GOLDCREST_STORE(a, b, c, d) GOLDCREST_STORE_AT(0, a, b, c, d) "add %[y], %[y], %[y_bytes]\n"

#define GOLDCREST_VECTORS                                                                                             \
  "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", \
      "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"
// clang-format on

namespace goldcrest { namespace {
// Applies activation and residual to rows of 16 outputs, which are stored one after another in `products`.
__attribute__((noinline)) inline void finish_rows(
    const LinearArgs<int8_t>& args, const float* products, size_t at, uint32_t rows) {
  for (uint32_t r = 0; r < rows; ++r, at += args.y_stride) {
    V y = load(products + 16 * r);
    if (args.activation != Activation::kNone) y = activate(args.activation, y);
    if (args.residual != nullptr) y = y + load(args.residual + at);
    store(args.y + at, y);
  }
}

// The destination of a tile's rows: y, or memory that finish_rows reads.
template <int kRows> struct TileOutputs {
  // cppcheck-suppress uninitMemberVar; the tile fills `products`
  TileOutputs(const LinearArgs<int8_t>& args, uint32_t first_row, uint32_t first_output)
      : at(first_row * args.y_stride + first_output),
        plain(args.activation == Activation::kNone && args.residual == nullptr),
        y(plain ? args.y + at : products),
        y_bytes(sizeof(float) * (plain ? args.y_stride : 16)) {}

  size_t at;
  bool plain;
  float products[16 * kRows];
  float* y;
  size_t y_bytes;
};

// All code is in one function, so that the callee-saved registers are saved only once.
__attribute__((flatten)) inline void linear_flat(const LinearArgs<int8_t>& args) { linear(args); }
}}  // namespace goldcrest
