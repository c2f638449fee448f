// SPDX-License-Identifier: Apache-2.0
// Every bound on what a file, a program or a checkpoint may ask for (FORMAT.md, sections 3 and 6; goldcrest.h).
#pragma once

#include <stdint.h>

namespace goldcrest {
// Dimensions: far beyond any real model. No product of them overflows 64 bits, and no sum of a kernel, 255 * 127 * k,
// overflows an int32.
constexpr uint32_t kMaxWidth = 65536;
constexpr uint32_t kMaxVocabulary = 1u << 24;
constexpr uint32_t kMaxLayers = 256;
constexpr uint32_t kMaxHeads = 256;
constexpr uint32_t kMaxHeadWidth = 1024;
constexpr uint32_t kMaxPositions = 1u << 20;

constexpr float kMinEpsilon = 1e-12f, kMaxEpsilon = 1.0f;
constexpr float kMinAttentionScale = 1e-4f, kMaxAttentionScale = 1.0f;
constexpr float kMinEmbeddingScale = 1e-4f, kMaxEmbeddingScale = 65536.0f;

// Frontends: input rows of a window; values of a convolution's windows that kGroupRows encoder rows need, so that bytes
// of scratch fit 32 bits; samples from one encoder row to the next; samples of the longest clip, so that their numbers
// fit an int32 with all windows that reach beyond it; samples of a transform and its bands; values of a
// clip that a norm sums up, so that 2^30 times their number fits an int64.
constexpr uint32_t kMaxKernel = 1024;
constexpr uint32_t kMaxWindowValues = 1u << 26;
constexpr uint32_t kMaxRowSamples = 65536;
constexpr uint32_t kMaxClip = 1u << 30;
constexpr uint32_t kMaxTransform = 1024;
constexpr uint32_t kMaxBands = 256;
constexpr uint64_t kMaxMeasured = uint64_t{1} << 32;
constexpr uint32_t kMinSampleRate = 1000, kMaxSampleRate = 192000;
// Images: a side of the pixels that a model takes; a side, and pixels, of an image that a caller brings.
constexpr uint32_t kMaxImageSide = 4096, kMaxPictureSide = 65535, kMaxPicturePixels = 100000000;

// Tokenizers: bytes of the longest piece and of either side of a normalizer's rule; magnitude of a score.
constexpr uint32_t kMaxPieceBytes = 4096;
constexpr uint32_t kMaxRuleBytes = 128;
constexpr float kMaxPieceScore = 1e9f;

// goldcrest_limits
constexpr uint32_t kMaxSourceBytes = 1u << 24;
constexpr uint32_t kMaxBeams = 16;
constexpr uint32_t kMaxBatch = 256;
constexpr uint32_t kMaxEncoderRows = 1024;
constexpr uint32_t kMaxThreads = 64;
constexpr uint32_t kMaxSampled = 256;

// goldcrest_search: within these bounds the powers of any length stay finite.
constexpr float kMinLengthPenalty = -2.0f, kMaxLengthPenalty = 4.0f;
constexpr float kMinWordPenalty = -1024.0f, kMaxWordPenalty = 1024.0f;
constexpr float kMinRepetitionPenalty = 1.0f / 1024, kMaxRepetitionPenalty = 1024.0f;
constexpr float kMinLengthFactor = 1.0f / 1024, kMaxLengthFactor = 1024.0f;

// goldcrest_sampling
constexpr float kMinTemperature = 1.0f / 1024, kMaxTemperature = 1024.0f;

// Languages: bytes of a name.
constexpr uint32_t kMaxLanguageBytes = 32;
// Lexicons: nodes, edges.
constexpr uint32_t kMaxLexicon = 1u << 26;

// Shortlists: ids of the longest n-gram.
constexpr uint32_t kMaxSourceNgram = 16;

// Rules of a file: end ids after the first, magnitude of a bias.
constexpr uint32_t kMaxMoreEnds = 15;
constexpr float kMaxBias = 65536.0f;
}  // namespace goldcrest
