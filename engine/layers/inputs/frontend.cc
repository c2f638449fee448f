// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "layers/inputs/frontend.h"
#include "layers/inputs/stem.h"
#include "layers/norm.h"

namespace goldcrest {
namespace {
// Returns the multiply-accumulates of this many encoder rows, if they are computed together: those of all convolutions,
// and those of the frames that they need.
[[gnu::noinline]] uint64_t group_macs(const FrontendView& view, uint32_t rows) {
  uint64_t macs = 0;
  for (uint32_t i = view.n_convolutions; i-- > 0;) {
    const ConvolutionView& convolution = view.convolutions[i];
    const LinearView& linear = convolution.linear;
    const uint32_t products = (linear.fine_input ? 2 : 1) * (linear.rows_to_second() != 0 ? 2 : 1);
    macs += uint64_t{linear.n * products} * linear.k * rows;
    rows = (rows - 1) * convolution.stride + convolution.kernel;
  }
  macs += uint64_t{rows} * log_mel_macs(view.log_mel);  // 0 without one
  return macs;
}

// Returns the multiply-accumulates that measure a row of level 1, or a frame.
[[gnu::noinline]] uint64_t measured_macs(const FrontendView& view) {
  if (view.has_log_mel) return log_mel_macs(view.log_mel);
  return uint64_t{view.convolutions[0].linear.n} * view.convolutions[0].linear.k;
}

// The rows of level 1 (or the frames, of a log-mel) that an encoder row measures: these, and for the last row all that
// follow.
uint32_t measured_stride(const FrontendView& view) {
  return view.has_log_mel ? view.row_stride : view.row_stride / view.convolutions[0].stride;
}

// Returns the place of an item of a clip, a sample or a feature row, and the bytes of one.
const uint8_t* bytes_at(const Clip& clip, size_t offset) {
  return reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(clip.address)) + offset;
}

uint32_t item_bytes(const FrontendView& view, const Clip& clip) {
  return clip.has_features != 0 ? view.channels * static_cast<uint32_t>(sizeof(float))
                                : static_cast<uint32_t>(sizeof(int16_t));
}

// Rows of a sentence to work on in chunks of `each`: encoder rows to compute, or rows of level 1 (frames, of a log-mel)
// to measure.
struct Part {
  const Sentence* sentence;
  Clip* clip;
  uint32_t first, end, each;
  float* x;  // the first row's place; null: measures
};

// The view of the frontend, the scratch of all tasks, and the part that they work on.
struct Frontend {
  // Returns the place of what a task has measured, which its scratch begins with.
  [[gnu::noinline]] Measured* measured(uint32_t task) const { return runtime.task_buffer<Measured>(scratch, task); }
  [[gnu::noinline]] Stem stem_of(uint32_t task) const {
    Stem stem = {runtime, view, parts, reinterpret_cast<uint8_t*>(measured(task)), *part.clip};
    stem.count_rows(*part.sentence);
    return stem;
  }
  void run_chunks(Range chunks, uint32_t task) const;
  void run_part(uint64_t macs_a_chunk) const;

  const Runtime& runtime;
  const FrontendView view;
  const ScratchParts parts;
  const BufferRef& scratch;
  Part part;
};

[[gnu::noinline]] void Frontend::run_chunks(Range chunks, uint32_t task) const {
  const Stem stem = stem_of(task);
  for (uint32_t i = chunks.first; i < chunks.first + chunks.count; ++i) {
    const uint32_t offset = i * part.each, begin = part.first + offset;
    const Rows rows = {static_cast<int32_t>(begin), smaller(part.end - begin, part.each)};
    if (part.x != nullptr) stem.run(rows, part.x + size_t{offset} * runtime.model.encoder.d_model_padded);
    else view.has_log_mel ? stem.load(rows) : stem.measure_values(rows);
  }
}

// Runs the part and adds what all tasks have measured to the clip's sums. The sums are exact, so their order has no
// effect. A part that computes rows adds nothing: of its features, none is larger than the largest measured one.
[[gnu::noinline]] void Frontend::run_part(uint64_t macs_a_chunk) const {
  const uint32_t n_chunks = (part.end - part.first + part.each - 1) / part.each;
  const Split split = split_work(macs_a_chunk * n_chunks, n_chunks, runtime.threads);
  Clip& clip = *part.clip;
  for (uint32_t task = 0; task < split.n_tasks; ++task) *measured(task) = {0, 0, clip.largest};
  run_pieces(runtime, split, [&](uint32_t piece, uint32_t task) { run_chunks(split.part_of(n_chunks, piece), task); });
  for (uint32_t task = 0; task < split.n_tasks; ++task) {
    const Measured& by_task = *measured(task);
    clip.sum += by_task.sum;
    clip.squares += by_task.squares;
    clip.largest = larger(clip.largest, by_task.largest);
  }
}
}  // namespace

BufferRef plan_frontend(Plan& plan, const FrontendView& view) {
  return plan.add("encoder.frontend", Phase::kEncode, Region::kScratch,
      {parts_of(view).end, 0, {GOLDCREST_FACTOR_THREADS, 0, 0, 0}});
}

// A block has at most a group more for each sentence that begins in it. The last row of a clip also measures the rows
// that complete its first window.
uint64_t largest_frontend_step_macs(const FrontendView& view, const goldcrest_limits& limits) {
  const uint32_t rows = limits.encoder_rows, sentences = smaller(limits.batch, rows);
  const uint32_t groups = smaller((rows + kGroupRows - 1) / kGroupRows + sentences - 1, rows);
  // Each group's first row costs most; the others cost the same.
  const uint64_t first = group_macs(view, 1), other = group_macs(view, 2) - first;
  const uint64_t computed = groups * first + (rows - groups) * other;
  if (!view.measures()) return computed;
  uint32_t completing = view.has_log_mel ? 0 : 1;  // rows of level 1 that complete a clip's first window
  for (uint32_t i = view.n_convolutions; completing != 0 && i-- > 1;)
    completing = (completing - 1) * view.convolutions[i].stride + view.convolutions[i].kernel;
  const uint64_t measured = uint64_t{rows} * measured_stride(view) + uint64_t{sentences} * completing;
  return larger(computed, measured * measured_macs(view));
}

void run_frontend(const Runtime& runtime, const BufferRef& scratch, const Batch& batch, const Range& block, float* x) {
  const FrontendView view = view_frontend(runtime.model.file);
  auto frontend = Frontend{runtime, view, parts_of(view), scratch, {}};
  for (uint32_t i = 0; i < batch.n_sentences; ++i) {
    const Sentence& sentence = batch.sentences[i];
    const Range rows = common({sentence.first_row, sentence.n_rows}, block);
    Clip& clip = batch.clips[i];
    if (rows.count == 0 || (x == nullptr && view.has_log_mel && clip.has_features != 0)) continue;
    const uint32_t first = rows.first - sentence.first_row, end = first + rows.count;
    const bool is_end = end == sentence.n_rows;
    if (x == nullptr) {
      const uint32_t stride = measured_stride(view);
      frontend.part = {&sentence, &clip, first * stride, end * stride, frontend.parts.out_rows[0], nullptr};
      if (is_end) frontend.part.end = frontend.stem_of(0).n_rows(view.has_log_mel ? 0 : 1);
      frontend.run_part(frontend.part.each * measured_macs(view));
      continue;
    }
    float* const y = x + size_t{rows.first - block.first} * runtime.model.encoder.d_model_padded;
    frontend.part = {&sentence, &clip, first, end, kGroupRows, y};
    frontend.run_part(group_macs(view, kGroupRows));
    const uint32_t n = static_cast<uint32_t>(clip.n);
    const uint32_t stride = view.row_stride * (clip.has_features != 0 ? 1 : view.row_samples);
    const size_t bytes = item_bytes(view, clip), checked = bytes * smaller(n, first * stride);
    const size_t checked_end = bytes * (is_end ? n : smaller(n, end * stride));
    clip.checked = runtime.kernels->crc32c(clip.checked, bytes_at(clip, checked), checked_end - checked);
  }
  const StackView& stack = runtime.model.encoder;
  if (x != nullptr && stack.embedding_norm.present())
    layer_norm(runtime, stack, stack.embedding_norm, {x, x, block.count});
}

bool were_same(const Batch& batch) {
  uint32_t differences = 0;
  for (uint32_t i = 0; i < batch.n_sentences; ++i) differences |= batch.clips[i].checked ^ batch.clips[i].checksum;
  return differences == 0;
}

uint32_t checksum_clip(const Runtime& runtime, const FrontendView& view, const Clip& clip) {
  return runtime.kernels->crc32c(0, bytes_at(clip, 0), static_cast<size_t>(clip.n * item_bytes(view, clip)));
}
}  // namespace goldcrest
