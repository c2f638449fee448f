// SPDX-License-Identifier: Apache-2.0
// Models and engines for the tests of inspection.
#pragma once

#include "convert/support/naive_forward.h"
#include "support/engine_fixture.h"
#include "support/tiny_model.h"

namespace goldcrest::test {
struct InspectedModel {
  ModelSpec spec;
  FileImage int8, float32;
};

// Models with one decoder layer and with two.
inline const std::vector<InspectedModel>& inspected_models() {
  static const std::vector<InspectedModel> all = [] {
    std::vector<InspectedModel> made;
    for (const TinyOptions& options : {odd_tiny_options(), deep_tiny_options()}) {
      ModelSpec spec = tiny_spec(options);
      FileImage int8 = tiny_file(spec);
      FileImage float32 = tiny_file(spec, Layout::kN16K4, {}, converter::Weights::kFloat32);
      made.push_back({std::move(spec), std::move(int8), std::move(float32)});
    }
    return made;
  }();
  return all;
}

constexpr float kCloseInspection = 2e-5f;  // the largest difference between a float32 file and a pass in double

// Limits that ask for all results of inspection.
inline EngineSetup inspecting(uint32_t beam_size, uint32_t batch) {
  return {.limits = {.beam_size = beam_size,
              .batch = batch,
              .n_best = beam_size,
              .inspection = GOLDCREST_INSPECT_TOKEN_SCORES | GOLDCREST_INSPECT_TARGETS,
              .alignment_layers = GOLDCREST_ALL_LAYERS}};
}

inline std::vector<int32_t> random_source(Rng& rng, const ModelSpec& spec) {
  return rng.ids(rng.between(1, spec.encoder.positions.rows), spec.encoder.embedding->rows);
}
}  // namespace goldcrest::test
