// SPDX-License-Identifier: Apache-2.0
// The recurrent block over vectors of any number of lanes; include math-inl.h first. Only in builds with
// GOLDCREST_SSRU.

namespace goldcrest {
namespace {

#ifdef GOLDCREST_SSRU

template <uint32_t kLanes>
void recurrence(const RecurrenceArgs& args) {
  const V zero = set(0.0f), one = set(1.0f), smallest = set(kSmallestCell);
  for (uint32_t i = 0; i < args.n; i += kLanes) {
    V f[1] = {load(args.forget + i)};
    sigmoid_vectors(f);
    const V past = args.past != nullptr ? load(args.past + i) : zero;
    const V cell = f[0] * past + (one - f[0]) * load(args.input + i);
    const V magnitude = select(greater(zero, cell), negate(cell), cell);
    const V kept = select(not_less(magnitude, smallest), cell, zero);
    store(args.cell + i, kept);
    store(args.y + i, load(args.y + i) + larger(kept, zero));
  }
}

#endif

}  // namespace
}  // namespace goldcrest
