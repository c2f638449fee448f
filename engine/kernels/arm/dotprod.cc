// SPDX-License-Identifier: Apache-2.0
// AArch64 with the dot product instructions (Armv8.2 and later, Raspberry Pi 5): SDOT over four outputs a register.
#include "kernels/arm/dotprod_vectors-inl.h"
#include "kernels/vector/kernels-inl.h"

namespace goldcrest {

extern const Kernels kernels_arm_dotprod;
const Kernels kernels_arm_dotprod = {
    "arm_dotprod", kCpuDotProduct, quantize_rows, linear,       embed,         layer_norm,
    attention,     output_block,   next_above,    crc32c_words, weights_valid, kVectorFloatKernels,
};

}  // namespace goldcrest
