// SPDX-License-Identifier: Apache-2.0
// Tells the program which of the model's bytes are not read for a while: goldcrest_idle_weights.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "goldcrest/goldcrest.h"

namespace goldcrest {
struct IdleWeights {
  goldcrest_idle_weights report = nullptr;  // null: no reports
  void* context = nullptr;
};

void report_idle(const IdleWeights& idle, const void* weights, size_t bytes);

// Report the weights that only encoding reads: those of the frontend, those of an encoder layer, or those that make a
// decoder layer's keys and values of the source. `model` must be validated as far as these.
void report_idle_frontend(const IdleWeights& idle, const void* model);
void report_idle_encoder_layer(const IdleWeights& idle, const void* model, uint32_t layer);
void report_idle_source_keys(const IdleWeights& idle, const void* model, uint32_t decoder_layer);
}  // namespace goldcrest
