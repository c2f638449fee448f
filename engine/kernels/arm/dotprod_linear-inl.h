// SPDX-License-Identifier: Apache-2.0
// Linear layers by SDOT on out-of-order cores, over vector/linear-inl.h.

namespace goldcrest {
namespace {

// A single row has two loads for each two products, and a prefetch delays a load. So layers that fit half of the
// smallest second-level cache (256 KiB) are not prefetched.
constexpr size_t kSmallLayer = 128 * 1024;

// kOthers computes layers of several rows, and large ones.
template <void (*kOthers)(const LinearArgs<int8_t>&)>
void linear_by_dots(const LinearArgs<int8_t>& args) {
  if (args.rows > 1 || args.layout != Layout::kN16K4 || size_t{args.n} * args.k > kSmallLayer) return kOthers(args);
  linear_rows<1, false>(args, 0, 0, args.n);
}

}  // namespace
}  // namespace goldcrest
