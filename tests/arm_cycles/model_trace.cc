// SPDX-License-Identifier: Apache-2.0
// Translates one source of random ids, or transcribes random samples; a model that takes samples has its file's limits
// in place of SOURCE_TOKENS and TARGET_TOKENS. Markers of tracer.c surround each kernel call and the code between two
// calls. Prints a line for each section: the part of the work, the kernel (or none), its multiply-accumulates, and the
// bytes that it reads. Parts are encode, first (the first position) and decode (the middle one).
//
//   model_trace MODEL TABLE BEAM_SIZE SOURCE_TOKENS TARGET_TOKENS
#include "api/observe.h"
#include "arm_cycles/traced.h"
#include "examples/bench/observed_kernels.h"
#include "goldcrest/speech.h"
#include "host/model_memory.h"
#include "support/engine_fixture.h"
#include "support/program.h"
#include "support/rng.h"

namespace goldcrest::test { namespace {
using bench::CallWork;

constexpr CallWork kBetween = {bench::kSlots, 0, 0};

// Ends the section between two kernels, traces the call as its own section, and begins the next section.
struct Tracer {
  static const Kernels* table;
  static std::vector<CallWork> sections;

  template <typename Call>
  static auto observe(const CallWork& work, const Call& call, const LargestNumbers* = nullptr) {
    struct Section {
      explicit Section(const CallWork& work) {
        end_trace();
        sections.push_back(work);
        sections.push_back(kBetween);
        begin_trace();
      }
      ~Section() {
        end_trace();
        begin_trace();
      }
    } const section(work);
    return call();
  }
};
const Kernels* Tracer::table = nullptr;
std::vector<CallWork> Tracer::sections;

// Computes an output block and its sums as separate sections.
void output_block(const OutputBlockArgs<int8_t>& args) {
  OutputBlockArgs<int8_t> products = args;
  products.block_max = nullptr;
  bench::ObservedTypedKernels<Tracer, int8_t>::table().output_block(products);
  if (args.block_max == nullptr) return;
  const LogitSumsArgs sums = {
      args.linear.y, args.block_max, args.block_sum, args.linear.y_stride, args.stride, args.linear.rows, args.count};
  Tracer::observe({bench::kLogitSums, 0, 0}, [&] { Tracer::table->logit_sums(sums); });
}

void print_sections(const char* part) {
  for (const CallWork& work : Tracer::sections) {
    std::printf("%s %s %llu %llu\n", part, work.slot == bench::kSlots ? "between" : bench::slot_name(work.slot),
        static_cast<unsigned long long>(work.macs), static_cast<unsigned long long>(work.bytes));
  }
}

struct Work {
  uint32_t beam_size, source_tokens, target_tokens;
};

// Begins with random ids, or with `samples`: random ones for n_tokens encoder rows. Returns a status.
int begin_random(TestEngine& engine, uint32_t n_tokens, std::vector<int16_t>& samples) {
  Rng rng(1);
  const goldcrest_info& info = engine.info();
  if (info.sample_rate == 0) {
    const std::vector<int32_t> ids = rng.ids(n_tokens, info.source_vocab_size);
    return goldcrest_begin(engine.get(), ids.data(), ids.size());
  }
  samples.resize(info.first_row_samples + size_t{n_tokens - 1} * info.row_samples);
  for (int16_t& sample : samples) sample = static_cast<int16_t>(3000 * rng.uniform());
  return goldcrest_begin_audio(engine.get(), samples.data(), samples.size());
}

void trace_translation(const char* model, const char* table, Work work) {
  MappedFile file;
  const std::string problem = file.open(model);
  if (!problem.empty()) throw std::runtime_error(problem);
  goldcrest_info info = {};
  if (goldcrest_model_info(file.bytes(), file.size(), &info, nullptr) < 0) throw std::runtime_error("no model");
  if (info.sample_rate != 0) {
    work.source_tokens = info.limits.max_source_tokens;
    work.target_tokens = info.limits.max_target_tokens;
  }
  EngineSetup setup = {.limits = {.max_source_tokens = work.source_tokens,
                           .max_target_tokens = work.target_tokens,
                           .beam_size = work.beam_size},
      .verify = GOLDCREST_VERIFY_STRUCTURE,
      .kernels = table};
  TestEngine engine({static_cast<const uint8_t*>(file.bytes()), file.size()}, setup);
  engine.change_search([&](goldcrest_search& search) {
    search.beam_size = work.beam_size;
    search.min_target_tokens = search.max_target_tokens = work.target_tokens;
  });
  std::vector<int16_t> samples;
  if (begin_random(engine, work.source_tokens, samples) < 0) throw std::runtime_error(engine.detail().message);
  Tracer::table = exchange_kernels(engine.get(), nullptr);
  Kernels observed = bench::ObservedKernels<Tracer>::table(*Tracer::table, nullptr);
  observed.int8.output_block = output_block;
  const uint32_t middle = work.target_tokens / 2;
  for (uint32_t position = 0; position <= middle;) {
    const bool traced = position == 0 || position == middle;  // encoding precedes position 0
    exchange_kernels(engine.get(), traced ? &observed : Tracer::table);
    Tracer::sections.assign(1, kBetween);
    if (traced) begin_trace();
    const int status = goldcrest_step(engine.get(), nullptr);
    end_trace();
    if (status < 0 || status == GOLDCREST_DONE) throw std::runtime_error(goldcrest_status_string(status));
    const bool encoding = traced && std::none_of(Tracer::sections.begin(), Tracer::sections.end(),
                                        [](CallWork call) { return call.slot == bench::kListLargest; });
    if (traced) print_sections(encoding ? "encode" : position == middle ? "decode" : "first");
    position += encoding ? 0 : 1;
  }
}
}}  // namespace goldcrest::test

int main(int argc, char** argv) {
  const auto number = [&](int i) { return static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10)); };
  return goldcrest::test::report_errors("model_trace", [&] {
    if (argc != 6) throw std::runtime_error("needs MODEL TABLE BEAM_SIZE SOURCE_TOKENS TARGET_TOKENS");
    goldcrest::test::trace_translation(argv[1], argv[2], {number(3), number(4), number(5)});
  });
}
