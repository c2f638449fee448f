// SPDX-License-Identifier: Apache-2.0
#include "evaluate/agreement.h"

#include "evaluate/metrics_chrf.h"

namespace goldcrest::converter {

Agreement measure_agreement(const std::vector<EvaluationLine>& lines, Translator& whole, Translator& part,
                            const std::function<void(size_t, size_t)>& progress) {
  EvaluationOptions options;
  options.progress = progress;
  std::vector<EvaluationLine> sources = lines;
  for (EvaluationLine& line : sources) line.references.clear();
  const Evaluation evaluation = evaluate(sources, whole, part, options);
  Agreement agreement;
  ChrfScorer chrf;
  for (const EvaluatedLine& line : evaluation.lines) {
    ++agreement.lines;
    agreement.identical += line.float32.text == line.int8.text ? 1 : 0;
    chrf.add(line.int8.text, {line.float32.text});
  }
  agreement.chrf = chrf.score();
  return agreement;
}

}  // namespace goldcrest::converter
