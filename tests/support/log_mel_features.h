// SPDX-License-Identifier: Apache-2.0
// The log-mel features of a window, from the engine's own transform.
#pragma once

#include "api/engine.h"
#include "layers/inputs/frontend.h"
#include "layers/inputs/log_mel.h"
#include "support/engine_fixture.h"

namespace goldcrest::test {
// Computes the features [n_frames, n_mels] frame by frame, as a stem does. The model has a log-mel.
inline std::vector<std::vector<float>> log_mel_features(
    const TestEngine& engine, const Samples& samples, size_t n_frames) {
  const Runtime& runtime = engine.get()->runtime;
  const LogMelView view = view_frontend(runtime.model.file).log_mel;
  std::vector<uint64_t> scratch(log_mel_scratch_floats(view) / 2 + 9);
  auto* aligned = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
  const LogMel log_mel = {runtime, view, aligned};
  std::vector<std::vector<float>> frames(n_frames, std::vector<float>(view.n_mels));
  float largest = kLeastFeature;
  for (size_t i = 0; i < n_frames; ++i) {
    log_mel.run(samples, static_cast<uint32_t>(i), frames[i].data());
    for (const float x : frames[i]) largest = std::max(largest, x);
  }
  for (std::vector<float>& frame : frames)
    for (float& x : frame) x = scale_log_mel(x, largest);
  return frames;
}
}  // namespace goldcrest::test
