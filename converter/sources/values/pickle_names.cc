// SPDX-License-Identifier: Apache-2.0
// The names that a pickle may ask for: those of state dicts and of the settings that toolkits save with them.
// Checkpoints of fairseq also hold the state of their training, with scalars of NumPy.
#include "sources/values/pickle_names.h"

#include <algorithm>
#include <iterator>

namespace goldcrest::converter {
namespace {

struct Known {
  std::string_view name;
  Makes makes;
};

constexpr Known kKnown[] = {
    {"collections OrderedDict", Makes::kDict},
    {"collections defaultdict", Makes::kDictOfDefaults},
    {"collections Counter", Makes::kFirstArgument},
    {"builtins set", Makes::kFirstArgument},
    {"__builtin__ set", Makes::kFirstArgument},
    {"torch Size", Makes::kFirstArgument},
    {"torch._utils _rebuild_tensor", Makes::kTensor},
    {"torch._utils _rebuild_tensor_v2", Makes::kTensor},
    {"torch._utils _rebuild_parameter", Makes::kParameter},
    {"torch._utils _rebuild_parameter_with_state", Makes::kParameter},
    {"torch device", Makes::kOther},
    {"torch float16", Makes::kOther},
    {"torch float32", Makes::kOther},
    {"torch int64", Makes::kOther},
    {"argparse Namespace", Makes::kObject},
    // The vocabularies of OpenNMT-py 1 and 2.
    {"onmt.inputters.text_dataset TextMultiField", Makes::kObject},
    {"onmt.inputters.text_dataset _feature_tokenize", Makes::kOther},
    {"onmt.inputters.inputter _feature_tokenize", Makes::kOther},
    {"onmt.inputters.inputter AlignField", Makes::kObject},
    {"onmt.inputters.inputter make_src", Makes::kOther},
    {"onmt.inputters.inputter make_tgt", Makes::kOther},
    {"torchtext.data.field Field", Makes::kObject},
    {"torchtext.data.field LabelField", Makes::kObject},
    {"torchtext.data.field RawField", Makes::kObject},
    {"torchtext.vocab Vocab", Makes::kObject},
    {"torchtext.vocab _default_unk_index", Makes::kOther},
    {"functools partial", Makes::kOther},
    // The state of a training with fairseq.
    {"fairseq.meters AverageMeter", Makes::kObject},
    {"fairseq.meters StopwatchMeter", Makes::kObject},
    {"fairseq.meters TimeMeter", Makes::kObject},
    {"fairseq.logging.meters AverageMeter", Makes::kObject},
    {"fairseq.logging.meters StopwatchMeter", Makes::kObject},
    {"fairseq.logging.meters TimeMeter", Makes::kObject},
    {"numpy dtype", Makes::kOther},
    {"numpy.core.multiarray scalar", Makes::kOther},
    {"numpy._core.multiarray scalar", Makes::kOther},
    {"_codecs encode", Makes::kOther},
};

}  // namespace

Makes makes_of(std::string_view name) {
  const auto* const known =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return k.name == name; });
  if (known != std::end(kKnown)) return known->makes;
  return name.starts_with("torch ") && name.ends_with("Storage") ? Makes::kStorage : Makes::kUnknown;
}

}  // namespace goldcrest::converter
