// SPDX-License-Identifier: Apache-2.0
#include "kernel_recorder.h"
#include <algorithm>
#include "api/observe.h"

namespace bench {
namespace {
constexpr int kTimings = 1001;  // an empty stopwatch is timed this often

// Restores a list, if there is one, when it goes out of scope.
class SavedList {
 public:
  explicit SavedList(const goldcrest::LargestNumbers* list) : list_(list) {
    if (list == nullptr) return;
    values_.assign(list->values, list->values + *list->count);
    tokens_.assign(list->tokens, list->tokens + *list->count);
  }
  ~SavedList() {
    if (list_ == nullptr) return;
    std::copy(values_.begin(), values_.end(), list_->values);
    std::copy(tokens_.begin(), tokens_.end(), list_->tokens);
    *list_->count = static_cast<uint32_t>(values_.size());
  }
  SavedList(const SavedList&) = delete;
  SavedList& operator=(const SavedList&) = delete;
 private:
  const goldcrest::LargestNumbers* list_;
  std::vector<float> values_;
  std::vector<int32_t> tokens_;
};

struct Recorder {
  static const goldcrest::Kernels* table;
  static KernelWorks works;
  static Calls calls;

  template <typename Call>
  static auto observe(const CallWork& call_work, const Call& call, const goldcrest::LargestNumbers* list = nullptr) {
    KernelWork& work = works[call_work.slot];
    ++work.calls;
    work.macs += call_work.macs;
    work.bytes += call_work.bytes;
    work.exponentials += call_work.exponentials;
    if (calls == Calls::kTwice) {
      const SavedList saved(list);
      call();
    }
    const Stopwatch watch(calls == Calls::kTwice ? work.again_s : work.seconds);
    return call();
  }
};
const goldcrest::Kernels* Recorder::table = nullptr;
KernelWorks Recorder::works;
Calls Recorder::calls;

// Returns the seconds that a stopwatch shows for no work.
double stopwatch_seconds() {
  std::vector<double> times(kTimings, 0.0);
  for (double& seconds : times) const Stopwatch watch(seconds);
  return median(std::move(times));
}

// Returns the seconds that using a stopwatch takes.
double stopwatch_cost() {
  double shown = 0;
  const double seconds = time_once([&] {
    for (int i = 0; i < kTimings; ++i) const Stopwatch watch(shown);
  });
  return seconds / kTimings;
}
}  // namespace

KernelRecorder::KernelRecorder(goldcrest_engine* engine, Calls calls)
    : engine_(engine),
      float_table_(ObservedTypedKernels<Recorder, float>::table()),
      clock_s_(stopwatch_seconds()),
      cost_s_(stopwatch_cost()) {
  Recorder::calls = calls;
  Recorder::table = goldcrest::exchange_kernels(engine, nullptr);
  table_ = ObservedKernels<Recorder>::table(*Recorder::table, &float_table_);
  goldcrest::exchange_kernels(engine, &table_);
}

KernelRecorder::~KernelRecorder() { goldcrest::exchange_kernels(engine_, Recorder::table); }

void KernelRecorder::begin() { Recorder::works = {}; }

Record KernelRecorder::end(double seconds) {
  Record record = {Recorder::works, 0, 0};
  for (KernelWork& work : record.kernels) {
    const double clock_s = static_cast<double>(work.calls) * clock_s_;
    work.seconds = std::max(work.seconds - clock_s, 0.0);
    work.again_s = std::max(work.again_s - clock_s, 0.0);
  }
  const KernelWork sum = total(record.kernels);
  record.rest_s = std::max(seconds - sum.seconds - static_cast<double>(sum.calls) * cost_s_, 0.0);
  return record;
}

Record difference(const Record& a, const Record& b) {
  Record result = {{}, std::max(a.rest_s - b.rest_s, 0.0), a.spread};
  for (size_t slot = 0; slot < kSlots; ++slot) {
    const KernelWork &x = a.kernels[slot], &y = b.kernels[slot];
    result.kernels[slot] = {x.calls - y.calls, x.macs - y.macs, x.bytes - y.bytes, x.exponentials - y.exponentials,
        std::max(x.seconds - y.seconds, 0.0), std::max(x.again_s - y.again_s, 0.0)};
  }
  return result;
}

KernelWork total(const KernelWorks& works) {
  KernelWork sum;
  for (const KernelWork& work : works) {
    sum.calls += work.calls;
    sum.macs += work.macs;
    sum.bytes += work.bytes;
    sum.exponentials += work.exponentials;
    sum.seconds += work.seconds;
    sum.again_s += work.again_s;
  }
  return sum;
}
}  // namespace bench
