// SPDX-License-Identifier: Apache-2.0
// The lists of linear layers' calls (layers/call_sites.h, decoding/output_layer.h), from which a backend prepares, have
// exactly the calls that an engine makes.
#include "layers/call_sites.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "api/observe.h"
#include "decoding/output_layer.h"
#include "support/engine_fixture.h"
#include "support/tiny_model.h"

namespace goldcrest {
namespace {

// A layer's weights as an offset in the file, its outputs and inputs, its activation, and whether it adds to a
// residual.
using Call = std::tuple<size_t, uint32_t, uint32_t, Activation, bool>;

// Kernels are plain functions, so they write to this global.
struct Recording {
  const Kernels* native = nullptr;
  const uint8_t* file = nullptr;
  std::set<Call> calls;

  template <typename Element>
  void add(const LinearArgs<Element>& args) {
    const auto offset = static_cast<size_t>(reinterpret_cast<const uint8_t*>(args.w) - file);
    calls.insert({offset, args.n, args.k, args.activation, args.residual != nullptr});
  }
};
Recording recording;

template <typename Element>
const TypedKernels<Element>& native();
template <>
const TypedKernels<int8_t>& native() {
  return recording.native->int8;
}
template <>
const TypedKernels<float>& native() {
  return *recording.native->float32;
}

template <typename Element>
TypedKernels<Element> recorded() {
  TypedKernels<Element> table = native<Element>();
  table.linear = [](const LinearArgs<Element>& args) {
    recording.add(args);
    native<Element>().linear(args);
  };
  table.output_block = [](const OutputBlockArgs<Element>& args) {
    recording.add(args.linear);
    native<Element>().output_block(args);
  };
  return table;
}

std::set<Call> listed_calls(const void* file) {
  const ModelView model = view_model(file);
  std::set<Call> calls;
  const auto add = [&](const LinearCallSite& site) {
    calls.insert({size_t{site.view.weights} * kAlignment, site.view.n, site.view.k, site.activation, site.adds});
  };
  for_each_call_site(file, model, add);
  for_each_output_call_site(model, add);
  return calls;
}

void expect_calls_listed(const converter::FileImage& file) {
  test::TestEngine engine(file.span(), {});
  recording = {exchange_kernels(engine.get(), nullptr), file.bytes(), {}};
  Kernels table = *recording.native;
  table.int8 = recorded<int8_t>();
  TypedKernels<float> float_table = {};
  if (table.float32 != nullptr) {
    float_table = recorded<float>();
    table.float32 = &float_table;
  }
  exchange_kernels(engine.get(), &table);
  goldcrest_search search = engine.search();
  search.min_target_tokens = 2;  // so one position is not the last
  engine.set_search(search);
  (void)engine.run({5, 3, 1});
  EXPECT_EQ(recording.calls, listed_calls(file.bytes()));
  EXPECT_GT(recording.calls.size(), 8u);
}

TEST(CallSites, AreTheCallsOfAnEngine) {
  test::TinyOptions options = test::deep_tiny_options();
  options.target_vocab_size = 300;  // two blocks of outputs
  for (const test::TinyOptions& each :
       {test::odd_tiny_options(), options, test::mixed_tiny_options(), test::student_tiny_options(),
        test::gated_tiny_options(), test::t5_tiny_options()}) {
    const converter::ModelSpec spec = test::tiny_spec(each);
    expect_calls_listed(test::tiny_file(spec));
    expect_calls_listed(test::tiny_file(spec, Layout::kN16K4, {}, converter::Weights::kFloat32));
  }
}

}  // namespace
}  // namespace goldcrest
