// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"

#include "layers/frontend.h"

#include "layers/norm.h"
#include "layers/stem.h"

namespace goldcrest {

namespace {

// Returns the multiply-accumulates of this many encoder rows, if they are computed together: those of all convolutions,
// and those of the frames that they need.
[[gnu::cold]] uint64_t group_macs(const FrontendView& view, uint64_t rows) {
  uint64_t macs = 0;
  for (uint32_t i = view.n_convolutions; i-- > 0;) {
    const ConvolutionView& convolution = view.convolutions[i];
    const LinearView& linear = convolution.linear;
    macs += rows * linear.n * linear.k * (linear.fine_input ? 2 : 1) * (linear.rows_to_second() != 0 ? 2 : 1);
    rows = (rows - 1) * convolution.stride + convolution.kernel;
  }
  if constexpr (kHasLogMel) {
    if (view.has_log_mel) macs += rows * log_mel_macs(view.log_mel);
  }
  return macs;
}

// Returns the multiply-accumulates that measure a row of level 1, or a frame.
[[gnu::cold, gnu::noinline]] uint64_t measured_macs(const FrontendView& view) {
  if constexpr (kHasLogMel) {
    if (view.has_log_mel) return log_mel_macs(view.log_mel);
  }
  return uint64_t{view.convolutions[0].linear.n} * view.convolutions[0].linear.k;
}

// The rows of level 1 (or the frames, of a log-mel) that an encoder row measures: these, and for the last row all that
// follow.
[[gnu::cold]] uint32_t measured_stride(const FrontendView& view) {
  return view.has_log_mel ? view.row_stride : view.row_stride / view.convolutions[0].stride;
}

// Returns the rows of a sentence that are in the block.
[[gnu::cold, gnu::noinline]] Range rows_in(Range block, const Sentence& sentence) {
  return common({sentence.first_row, sentence.n_rows}, block);
}

// Calls work(sentence, rows of it) for the block's part of each sentence.
template <typename Work>
void for_each_part(const Batch& batch, Range block, const Work& work) {
  for (uint32_t i = 0; i < batch.n_sentences; ++i) {
    const Range rows = rows_in(block, batch.sentences[i]);
    if (rows.count > 0) work(i, rows);
  }
}

bool ends_in(const Sentence& sentence, Range rows) {
  return rows.first + rows.count == sentence.first_row + sentence.n_rows;
}

const uint8_t* bytes_at(const Clip& clip, size_t offset) {
  return reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(clip.address)) + offset;
}

uint32_t item_bytes(const FrontendView& view, const Clip& clip) {
  return clip.has_features != 0 ? view.channels * static_cast<uint32_t>(sizeof(float))
                                : static_cast<uint32_t>(sizeof(int16_t));
}

// The view of the frontend, and the scratch of all tasks.
struct Frontend {
  [[gnu::cold, gnu::noinline]] Frontend(const Runtime& of, BufferRef ref)
      : runtime(of), view(view_frontend(of.file)), parts(parts_of(view)), scratch(ref) {}
  [[gnu::cold, gnu::noinline]] Stem stem(uint32_t task, const Clip& clip, const Sentence& sentence) const {
    Stem made(runtime, view, parts, runtime.task_buffer<uint8_t>(scratch, task));
    made.open(clip, sentence);
    return made;
  }
  // Returns what a task has measured.
  [[gnu::cold, gnu::noinline]] Measured& measured(uint32_t task) const {
    return *runtime.task_buffer<Measured>(scratch, task);
  }
  const Runtime& runtime;
  const FrontendView view;
  const ScratchParts parts;
  const BufferRef scratch;
};

// Adds what all tasks have measured to the clip's sums. The sums are exact, so their order has no effect.
[[gnu::cold]] void collect_measured(const Frontend& frontend, uint32_t n_tasks, Clip& clip) {
  for (uint32_t task = 0; task < n_tasks; ++task) {
    const Measured& measured = frontend.measured(task);
    clip.sum += measured.sum;
    clip.squares += measured.squares;
    clip.largest = larger(clip.largest, measured.largest);
  }
}

// Rows to work on in chunks of `each`: encoder rows to compute, or rows of level 1 (frames, of a log-mel) to measure.
struct Part {
  const Frontend& frontend;
  const Sentence& sentence;
  Clip& clip;
  uint32_t first, end, each;
  float* x;  // the first row's place; null: measures
};

[[gnu::cold, gnu::noinline]] void run_chunks(const Part& part, Range chunks, uint32_t task) {
  const Stem stem = part.frontend.stem(task, part.clip, part.sentence);
  for (uint32_t i = chunks.first; i < chunks.first + chunks.count; ++i) {
    const uint32_t offset = i * part.each, begin = part.first + offset;
    const Rows rows = {static_cast<int32_t>(begin), smaller(part.end - begin, part.each)};
    if (part.x != nullptr) {
      stem.run(rows, part.x + size_t{offset} * part.frontend.runtime.model.encoder.d_model_padded);
    } else {
      part.frontend.view.has_log_mel ? stem.measure_frames(rows) : stem.measure_values(rows);
    }
  }
}

[[gnu::cold, gnu::noinline]] void run_part(const Part& part, uint64_t macs_a_chunk) {
  const Runtime& runtime = part.frontend.runtime;
  const uint32_t n_chunks = (part.end - part.first + part.each - 1) / part.each;
  const Split split = split_work(macs_a_chunk * n_chunks, n_chunks, runtime.threads);
  if (part.x == nullptr) {
    for (uint32_t task = 0; task < split.n_tasks; ++task) part.frontend.measured(task) = {0, 0, part.clip.largest};
  }
  run_pieces(runtime, split,
             [&](uint32_t piece, uint32_t task) { run_chunks(part, split.part_of(n_chunks, piece), task); });
  if (part.x == nullptr) collect_measured(part.frontend, split.n_tasks, part.clip);
}

// Measures the part of a clip that belongs to some of its encoder rows.
[[gnu::cold]] void measure_part(const Frontend& frontend, const Sentence& sentence, Range rows, Clip& clip) {
  const uint32_t stride = measured_stride(frontend.view), each = frontend.parts.out_rows[0];
  const uint32_t first = (rows.first - sentence.first_row) * stride;
  const uint32_t end = ends_in(sentence, rows)
                           ? frontend.stem(0, clip, sentence).n_rows(frontend.view.has_log_mel ? 0 : 1)
                           : first + rows.count * stride;
  run_part({frontend, sentence, clip, first, end, each, nullptr}, each * measured_macs(frontend.view));
}

}  // namespace

[[gnu::cold]] BufferRef plan_frontend(Plan& plan, const FrontendView& view) {
  return plan.add("encoder.frontend", Phase::kEncode, Region::kScratch,
                  {parts_of(view).end, 0, {GOLDCREST_FACTOR_THREADS, 0, 0, 0}});
}

// A block has at most a group more for each sentence that begins in it. The last row of a clip also measures the rows
// that complete its first window.
[[gnu::cold]] uint64_t largest_frontend_step_macs(const FrontendView& view, const goldcrest_limits& limits) {
  const uint64_t rows = limits.encoder_rows, sentences = smaller<uint64_t>(limits.batch, rows);
  const uint64_t groups = smaller((rows + kGroupRows - 1) / kGroupRows + sentences - 1, rows);
  // Each group's first row costs most; the others cost the same.
  const uint64_t first = group_macs(view, 1), other = group_macs(view, 2) - first;
  uint64_t completing = 1;  // rows of level 1 that complete a clip's first window
  for (uint32_t i = view.n_convolutions; i-- > 1;)
    completing = (completing - 1) * view.convolutions[i].stride + view.convolutions[i].kernel;
  const uint64_t measured = rows * measured_stride(view) + (view.has_log_mel ? 0 : sentences * completing);
  return larger(groups * first + (rows - groups) * other, view.measures() ? measured * measured_macs(view) : 0);
}

[[gnu::cold]] void measure_clips(const Runtime& runtime, BufferRef scratch, const Batch& batch, Range block) {
  const Frontend frontend(runtime, scratch);
  for_each_part(batch, block, [&](uint32_t i, Range rows) {
    Clip& clip = batch.clips[i];
    if (frontend.view.has_log_mel && clip.has_features != 0) return;
    measure_part(frontend, batch.sentences[i], rows, clip);
  });
}

[[gnu::cold]] void run_frontend(const Runtime& runtime, BufferRef scratch, const Batch& batch, Range block, float* x) {
  const Frontend frontend(runtime, scratch);
  const StackView& stack = runtime.model.encoder;
  const uint64_t macs = group_macs(frontend.view, kGroupRows);
  for_each_part(batch, block, [&](uint32_t i, Range rows) {
    const Sentence& sentence = batch.sentences[i];
    const uint32_t first = rows.first - sentence.first_row;
    float* const y = x + size_t{rows.first - block.first} * stack.d_model_padded;
    run_part({frontend, sentence, batch.clips[i], first, first + rows.count, kGroupRows, y}, macs);
  });
  if (stack.embedding_norm.present()) layer_norm(runtime, stack, stack.embedding_norm, {x, x, block.count});
}

[[gnu::cold]] bool check_clips(const Runtime& runtime, const Batch& batch, Range block) {
  const FrontendView view = view_frontend(runtime.file);
  bool same = true;
  for_each_part(batch, block, [&](uint32_t i, Range rows) {
    Clip& clip = batch.clips[i];
    const Sentence& sentence = batch.sentences[i];
    const uint32_t stride = view.row_stride * (clip.has_features != 0 ? 1 : view.row_samples);
    const uint32_t n = static_cast<uint32_t>(clip.n), first = smaller(n, (rows.first - sentence.first_row) * stride);
    const uint32_t end = ends_in(sentence, rows) ? n : smaller(n, first + rows.count * stride);
    const size_t bytes = item_bytes(view, clip);
    clip.checked = runtime.kernels->crc32c(clip.checked, bytes_at(clip, first * bytes), (end - first) * bytes);
    same &= !ends_in(sentence, rows) || clip.checked == clip.checksum;
  });
  return same;
}

[[gnu::cold]] uint32_t checksum_clip(const Runtime& runtime, const FrontendView& view, const Clip& clip) {
  return runtime.kernels->crc32c(0, bytes_at(clip, 0), static_cast<size_t>(clip.n * item_bytes(view, clip)));
}

}  // namespace goldcrest
