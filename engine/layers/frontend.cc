// SPDX-License-Identifier: Apache-2.0
// Level 0 is the clip's input rows; level i + 1 has the output rows of convolution i. A group of output rows needs a
// range of rows of each level, which begins before the first row or ends behind the last one where there is padding.
#include "layers/frontend.h"

#include <cstring>

#include "base/align.h"
#include "kernels/reference/math.h"
#include "layers/log_mel.h"
#include "layers/norm.h"

namespace goldcrest {

namespace {

constexpr uint32_t kGroupRows = 4;  // encoder rows that a task computes at a time

constexpr float kToFloat = 1.0f / 32768.0f;
constexpr float kMeasuredUnits = 32768.0f;  // of a value of tanh

// Rows of a level, which may lie outside of the clip.
struct Rows {
  int64_t first;
  uint32_t count;
  Rows within(uint64_t n) const {
    const int64_t begin = larger<int64_t>(first, 0), end = smaller<int64_t>(first + count, static_cast<int64_t>(n));
    return {begin, end > begin ? static_cast<uint32_t>(end - begin) : 0};
  }
};

// What one task measures of a clip.
struct Measured {
  int64_t sum, squares;
  float largest;
};

// The parts of a task's scratch, in bytes from its start. They follow from the view alone.
struct ScratchParts {
  uint64_t rows[kMaxConvolutions];  // float: the input rows of each convolution
  uint64_t inputs, scales;          // quantized windows
  uint64_t fine_inputs, fine_scales, remainder;
  uint64_t transform;  // of the log-mel
  uint64_t end;
  uint32_t out_rows[kMaxConvolutions];  // most rows that a convolution computes at a time
};

ScratchParts parts_of(const FrontendView& view) {
  ScratchParts parts = {};
  uint64_t end = align_bytes(sizeof(Measured)), widest = 0, most = 0, longest_fine = 0, fine_bytes = 0;
  const auto take = [&](uint64_t bytes) {
    const uint64_t start = end;
    end = align_bytes(end + bytes);
    return start;
  };
  uint64_t rows = kGroupRows;
  for (uint32_t i = view.n_convolutions; i-- > 0;) {
    const ConvolutionView& convolution = view.convolutions[i];
    const uint64_t k = convolution.linear.k;
    const uint64_t input_bytes = rows * k * bytes_of(convolution.linear.weight_type);
    parts.out_rows[i] = static_cast<uint32_t>(smaller<uint64_t>(rows, UINT32_MAX));
    parts.rows[i] = take(sizeof(float) * ((rows - 1) * convolution.stride * convolution.width + k));
    widest = larger(widest, input_bytes);
    most = larger(most, rows);
    if (convolution.linear.fine_input) {
      longest_fine = larger(longest_fine, k);
      fine_bytes = larger(fine_bytes, input_bytes);
    }
    rows = (rows - 1) * convolution.stride + convolution.kernel;
  }
  parts.inputs = take(widest);
  parts.scales = take(sizeof(float) * most);
  parts.fine_inputs = take(fine_bytes);
  parts.fine_scales = take(longest_fine > 0 ? sizeof(float) * most : 0);
  parts.remainder = take(sizeof(float) * longest_fine);
  if constexpr (kHasLogMel) parts.transform = take(view.has_log_mel ? log_mel_scratch_bytes(view.log_mel) : 0);
  parts.end = end;
  return parts;
}

// The work of one task on one clip.
class Stem {
 public:
  Stem(const Runtime& runtime, const FrontendView& view, const ScratchParts& parts, uint8_t* scratch)
      : runtime_(runtime), view_(view), parts_(parts), scratch_(scratch) {}

  void open(const Clip& clip, const Sentence& sentence) {
    clip_ = &clip;
    n_rows_[0] = view_.fixed_window ? uint64_t{sentence.n_rows} * view_.row_stride : clip.n;
    for (uint32_t i = 0; i < view_.n_convolutions; ++i) n_rows_[i + 1] = view_.convolutions[i].rows_of(n_rows_[i]);
  }

  Measured& measured() const { return *reinterpret_cast<Measured*>(scratch_); }
  uint64_t n_rows(uint32_t level) const { return n_rows_[level]; }

  // x <- encoder rows, [count, d_model padded].
  void run(Rows rows, float* x) const {
    Rows ranges[kMaxConvolutions];
    const uint32_t n = view_.n_convolutions;
    Rows needed = rows;
    for (uint32_t i = n; i-- > 0;) ranges[i] = needed = inputs_of(i, needed.within(n_rows_[i + 1]));
    load(ranges[0]);
    for (uint32_t i = 0; i < n; ++i) {
      const Rows out = i + 1 < n ? ranges[i + 1] : rows;
      const Rows inside = out.within(n_rows_[i + 1]);
      const size_t width = view_.convolutions[i].linear.n;
      float* y = i + 1 < n ? level(i + 1) : x;
      const size_t before = static_cast<size_t>(inside.first - out.first);
      memset(y, 0, before * width * sizeof(float));
      y += before * width;
      convolve(i, inside, i + 1 < n ? nullptr : positions(inside), y);
      if (i == 0) normalize(y, inside.count);
      memset(y + inside.count * width, 0, (out.count - before - inside.count) * width * sizeof(float));
    }
  }

  // Adds the values of these rows of the first convolution to measured().
  void measure_values(Rows rows) const {
    const ConvolutionView& convolution = view_.convolutions[0];
    load(inputs_of(0, rows));
    float* const y = level(1);
    convolve(0, rows, nullptr, y);
    int64_t sum = 0, squares = 0;
    for (uint32_t row = 0; row < rows.count; ++row) {
      for (uint32_t j = 0; j < convolution.n_outputs; ++j) {
        const int32_t q =
            static_cast<int32_t>(round_half_even(y[size_t{row} * convolution.linear.n + j] * kMeasuredUnits));
        sum += q;
        squares += int64_t{q} * q;
      }
    }
    measured().sum += sum;
    measured().squares += squares;
  }

  // Raises measured().largest to the largest feature of these frames.
  void measure_frames(Rows frames) const {
    if constexpr (kHasLogMel) {
      const LogMel log_mel(runtime_, view_.log_mel, scratch_ + parts_.transform);
      for (uint32_t i = 0; i < frames.count; ++i) {
        log_mel.run(window(), static_cast<uint64_t>(frames.first) + i, level(0));
        for (uint32_t j = 0; j < view_.log_mel.n_mels; ++j)
          measured().largest = larger(measured().largest, level(0)[j]);
      }
    }
  }

 private:
  float* level(uint32_t i) const { return reinterpret_cast<float*>(scratch_ + parts_.rows[i]); }

  const float* positions(Rows rows) const {
    const StackView& stack = runtime_.model.encoder;
    return runtime_.tensor<float>(stack.positions) + static_cast<size_t>(rows.first) * stack.d_model_padded;
  }

  Rows inputs_of(uint32_t i, Rows out) const {
    const ConvolutionView& convolution = view_.convolutions[i];
    return {out.first * convolution.stride - convolution.padding,
            (out.count - 1) * convolution.stride + convolution.kernel};
  }

  Samples window() const {
    return {reinterpret_cast<const int16_t*>(static_cast<uintptr_t>(clip_->address)), clip_->n,
            n_rows_[0] * view_.row_samples};
  }

  // level(0) <- input rows. Values outside of the clip are zeros.
  void load(Rows rows) const {
    if (clip_->has_features != 0) return load_features(rows);
    if (view_.has_log_mel) return load_log_mel(rows);
    // The last window is padded to a multiple of 16 samples.
    const ConvolutionView& convolution = view_.convolutions[0];
    const int64_t end = rows.first + rows.count + (convolution.linear.k - convolution.kernel);
    const int16_t* const samples = window().samples;
    float* x = level(0);
    for (int64_t i = rows.first; i < end; ++i) {
      *x++ = i >= 0 && static_cast<uint64_t>(i) < clip_->n ? static_cast<float>(samples[i]) * kToFloat : 0.0f;
    }
  }

  void load_features(Rows rows) const {
    const float* const features = reinterpret_cast<const float*>(static_cast<uintptr_t>(clip_->address));
    const size_t width = view_.convolutions[0].width, channels = view_.channels;
    float* x = level(0);
    memset(x, 0, rows.count * width * sizeof(float));
    const Rows inside = rows.within(clip_->n);
    x += static_cast<size_t>(inside.first - rows.first) * width;
    for (uint32_t i = 0; i < inside.count; ++i, x += width) {
      memcpy(x, features + (static_cast<size_t>(inside.first) + i) * channels, channels * sizeof(float));
    }
  }

  void load_log_mel(Rows rows) const {
    if constexpr (kHasLogMel) {
      const LogMel log_mel(runtime_, view_.log_mel, scratch_ + parts_.transform);
      const size_t width = view_.convolutions[0].width;
      float* x = level(0);
      memset(x, 0, rows.count * width * sizeof(float));
      const Rows inside = rows.within(n_rows_[0]);
      x += static_cast<size_t>(inside.first - rows.first) * width;
      for (uint32_t i = 0; i < inside.count; ++i, x += width) {
        log_mel.run(window(), static_cast<uint64_t>(inside.first) + i, x);
        scale_log_mel(x, view_.log_mel.n_mels, clip_->largest);
      }
    }
  }

  // y <- activation(convolution i of its input rows in level(i)) + residual, for these rows inside of the clip.
  void convolve(uint32_t i, Rows rows, const float* residual, float* y) const {
    const ConvolutionView& convolution = view_.convolutions[i];
    const LinearView& linear = convolution.linear;
    const LinearInputs inputs = {scratch_ + parts_.inputs, reinterpret_cast<float*>(scratch_ + parts_.scales)};
    const FineInputs fine = {{scratch_ + parts_.fine_inputs, reinterpret_cast<float*>(scratch_ + parts_.fine_scales)},
                             reinterpret_cast<float*>(scratch_ + parts_.remainder)};
    for (uint32_t row = 0; row < rows.count; ++row) {
      const float* const x = level(i) + size_t{row} * convolution.stride * convolution.width;
      const LinearInputs of_row = row_of(inputs, row, linear);
      operations(runtime_).quantize(runtime_, x, 1, linear.k, of_row);
      if (linear.fine_input)
        quantize_remainder(runtime_, x, linear.k, of_row, {row_of(fine.inputs, row, linear), fine.remainder});
    }
    LinearCall call = {&linear, inputs, rows.count, convolution.activation, residual, y, linear.n, false};
    if (convolution.has_tanh) call.residual = nullptr;
    if (linear.fine_input) {
      run_fine(runtime_, call, fine.inputs, nullptr);
    } else {
      operations(runtime_).linear(runtime_, call);
    }
    const size_t values = size_t{rows.count} * linear.n;
    for (size_t j = 0; convolution.has_tanh && j < values; ++j)
      y[j] = residual != nullptr ? tanh_float(y[j]) + residual[j] : tanh_float(y[j]);
  }

  static LinearInputs row_of(const LinearInputs& inputs, uint32_t row, const LinearView& linear) {
    return {static_cast<uint8_t*>(inputs.rows) + size_t{row} * linear.k * bytes_of(linear.weight_type),
            inputs.scales + row};
  }

  // Applies the first convolution's norm: that of layer norm, but with mean and variance over the whole clip.
  void normalize(float* y, uint32_t rows) const {
    const ConvolutionView& convolution = view_.convolutions[0];
    const NormView& norm = convolution.whole_norm;
    if (!norm.present()) return;
    const float n = static_cast<float>(n_rows_[1] * convolution.n_outputs);
    const float mean = static_cast<float>(clip_->sum) * kToFloat / n;
    const float variance = static_cast<float>(clip_->squares) * (kToFloat * kToFloat) / n - mean * mean;
    const float inverse_deviation = 1.0f / sqrt_float((variance > 0.0f ? variance : 0.0f) + norm.epsilon);
    const float* const gamma = runtime_.tensor<float>(norm.gamma);
    const float* const beta = runtime_.tensor<float>(norm.beta);
    for (uint32_t row = 0; row < rows; ++row) {
      for (uint32_t j = 0; j < convolution.linear.n; ++j, ++y)
        *y = ((*y - mean) * inverse_deviation) * gamma[j] + beta[j];
    }
  }

  const Runtime& runtime_;
  const FrontendView& view_;
  const ScratchParts& parts_;
  uint8_t* scratch_;
  const Clip* clip_ = nullptr;
  uint64_t n_rows_[kMaxConvolutions + 1] = {};
};

// Returns the multiply-accumulates of the convolutions from `first` on for a full group, and of the group's frames.
uint64_t group_macs(const FrontendView& view, const ScratchParts& parts) {
  uint64_t macs = 0;
  for (uint32_t i = 0; i < view.n_convolutions; ++i) {
    const LinearView& linear = view.convolutions[i].linear;
    macs += uint64_t{parts.out_rows[i]} * linear.n * linear.k * (linear.fine_input ? 2 : 1);
  }
  if constexpr (kHasLogMel) {
    const ConvolutionView& first = view.convolutions[0];
    const uint64_t frames = (uint64_t{parts.out_rows[0]} - 1) * first.stride + first.kernel;
    if (view.has_log_mel) macs += frames * log_mel_macs(view.log_mel);
  }
  return macs;
}

// Returns the multiply-accumulates that measure a row of level 1, or a frame.
uint64_t measured_macs(const FrontendView& view) {
  if constexpr (kHasLogMel) {
    if (view.has_log_mel) return log_mel_macs(view.log_mel);
  }
  return uint64_t{view.convolutions[0].linear.n} * view.convolutions[0].linear.k;
}

// The rows of level 1 (or the frames, of a log-mel) that an encoder row measures: these, and for the last row all that
// follow.
uint32_t measured_stride(const FrontendView& view) {
  return view.has_log_mel ? view.row_stride : view.row_stride / view.convolutions[0].stride;
}

// Calls work(sentence, rows of it) for the block's part of each sentence.
template <typename Work>
void for_each_part(const Batch& batch, Range block, const Work& work) {
  for (uint32_t i = 0; i < batch.n_sentences; ++i) {
    const Range rows = common({batch.sentences[i].first_row, batch.sentences[i].n_rows}, block);
    if (rows.count > 0) work(i, rows);
  }
}

bool ends_in(const Sentence& sentence, Range rows) {
  return rows.first + rows.count == sentence.first_row + sentence.n_rows;
}

const uint8_t* bytes_at(const Clip& clip, uint64_t offset) {
  return reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(clip.address)) + static_cast<size_t>(offset);
}

uint32_t item_bytes(const FrontendView& view, const Clip& clip) {
  return clip.has_features != 0 ? view.channels * static_cast<uint32_t>(sizeof(float))
                                : static_cast<uint32_t>(sizeof(int16_t));
}

// What all functions below need.
struct Frontend {
  Frontend(const Runtime& of, BufferRef ref)
      : runtime(of), view(view_frontend(of.file)), parts(parts_of(view)), scratch(ref) {}
  Stem stem(uint32_t task, const Clip& clip, const Sentence& sentence) const {
    Stem made(runtime, view, parts, runtime.task_buffer<uint8_t>(scratch, task));
    made.open(clip, sentence);
    return made;
  }
  const Runtime& runtime;
  const FrontendView view;
  const ScratchParts parts;
  const BufferRef scratch;
};

// Adds what all tasks have measured to the clip's sums. The sums are exact, so their order has no effect.
void collect_measured(const Frontend& frontend, uint32_t n_tasks, Clip& clip) {
  for (uint32_t task = 0; task < n_tasks; ++task) {
    const Measured& measured = *frontend.runtime.task_buffer<Measured>(frontend.scratch, task);
    clip.sum += measured.sum;
    clip.squares += measured.squares;
    clip.largest = larger(clip.largest, measured.largest);
  }
}

// Measures the part of a clip that belongs to some of its encoder rows.
void measure_part(const Frontend& frontend, const Sentence& sentence, Range rows, Clip& clip) {
  const Runtime& runtime = frontend.runtime;
  const bool of_frames = frontend.view.has_log_mel;
  const uint32_t stride = measured_stride(frontend.view), each = frontend.parts.out_rows[0];
  const uint64_t n_all = frontend.stem(0, clip, sentence).n_rows(of_frames ? 0 : 1);
  const uint64_t first = uint64_t{rows.first - sentence.first_row} * stride;
  const uint64_t end = ends_in(sentence, rows) ? n_all : first + uint64_t{rows.count} * stride;
  const uint32_t n_chunks = static_cast<uint32_t>((end - first + each - 1) / each);
  const Split split = split_work((end - first) * measured_macs(frontend.view), n_chunks, runtime.threads);
  for (uint32_t task = 0; task < split.n_tasks; ++task)
    *runtime.task_buffer<Measured>(frontend.scratch, task) = {0, 0, clip.largest};
  run_pieces(runtime, split, [&](uint32_t piece, uint32_t task) {
    const Stem stem = frontend.stem(task, clip, sentence);
    const Range chunks = split.part_of(n_chunks, piece);
    for (uint32_t i = chunks.first; i < chunks.first + chunks.count; ++i) {
      const uint64_t begin = first + uint64_t{i} * each;
      const Rows part = {static_cast<int64_t>(begin), static_cast<uint32_t>(smaller<uint64_t>(end - begin, each))};
      of_frames ? stem.measure_frames(part) : stem.measure_values(part);
    }
  });
  collect_measured(frontend, split.n_tasks, clip);
}

}  // namespace

[[gnu::cold]] BufferRef plan_frontend(Plan& plan, const FrontendView& view) {
  return plan.add("encoder.frontend", Phase::kEncode, Region::kScratch,
                  {parts_of(view).end, 0, {GOLDCREST_FACTOR_THREADS, 0, 0, 0}});
}

// A block has at most a group more for each sentence that begins in it. What a clip's last row measures is its stride,
// and the rows that complete the first window.
[[gnu::cold]] uint64_t largest_frontend_step_macs(const FrontendView& view, const goldcrest_limits& limits) {
  const ScratchParts parts = parts_of(view);
  const uint64_t rows = limits.encoder_rows, sentences = smaller<uint64_t>(limits.batch, rows);
  const uint64_t groups = smaller((rows + kGroupRows - 1) / kGroupRows + sentences - 1, rows);
  const uint64_t measured = rows * measured_stride(view) + sentences * parts.out_rows[0];
  return larger(groups * group_macs(view, parts), view.measures() ? measured * measured_macs(view) : 0);
}

void measure_clips(const Runtime& runtime, BufferRef scratch, const Batch& batch, Range block) {
  const Frontend frontend(runtime, scratch);
  for_each_part(batch, block, [&](uint32_t i, Range rows) {
    Clip& clip = batch.clips[i];
    if (frontend.view.has_log_mel && clip.has_features != 0) return;
    measure_part(frontend, batch.sentences[i], rows, clip);
  });
}

void run_frontend(const Runtime& runtime, BufferRef scratch, const Batch& batch, Range block, float* x) {
  const Frontend frontend(runtime, scratch);
  const StackView& stack = runtime.model.encoder;
  const uint64_t macs = group_macs(frontend.view, frontend.parts);
  for_each_part(batch, block, [&](uint32_t i, Range rows) {
    const Sentence& sentence = batch.sentences[i];
    const uint32_t n_groups = (rows.count + kGroupRows - 1) / kGroupRows;
    const Split split = split_work(macs * n_groups, n_groups, runtime.threads);
    run_pieces(runtime, split, [&](uint32_t piece, uint32_t task) {
      const Stem stem = frontend.stem(task, batch.clips[i], sentence);
      const Range groups = split.part_of(n_groups, piece);
      const uint32_t end = smaller((groups.first + groups.count) * kGroupRows, rows.count);
      for (uint32_t row = groups.first * kGroupRows; row < end; row += kGroupRows) {
        const uint32_t position = rows.first + row - sentence.first_row;
        stem.run({position, smaller(end - row, kGroupRows)},
                 x + size_t{rows.first + row - block.first} * stack.d_model_padded);
      }
    });
  });
  if (stack.embedding_norm.present()) layer_norm(runtime, stack, stack.embedding_norm, {x, x, block.count});
}

bool check_clips(const Runtime& runtime, const Batch& batch, Range block) {
  const FrontendView view = view_frontend(runtime.file);
  bool same = true;
  for_each_part(batch, block, [&](uint32_t i, Range rows) {
    Clip& clip = batch.clips[i];
    const Sentence& sentence = batch.sentences[i];
    const uint64_t stride = uint64_t{view.row_stride} * (clip.has_features != 0 ? 1 : view.row_samples);
    const uint64_t first = smaller(clip.n, (rows.first - sentence.first_row) * stride);
    const uint64_t end = ends_in(sentence, rows) ? clip.n : smaller(clip.n, first + rows.count * stride);
    const uint32_t bytes = item_bytes(view, clip);
    clip.checked = runtime.kernels->crc32c(clip.checked, bytes_at(clip, first * bytes),
                                           static_cast<size_t>((end - first) * bytes));
    same &= !ends_in(sentence, rows) || clip.checked == clip.checksum;
  });
  return same;
}

uint32_t checksum_clip(const Runtime& runtime, const FrontendView& view, const Clip& clip) {
  return runtime.kernels->crc32c(0, bytes_at(clip, 0), static_cast<size_t>(clip.n * item_bytes(view, clip)));
}

}  // namespace goldcrest
