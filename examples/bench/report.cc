// SPDX-License-Identifier: Apache-2.0
#include "report.h"
#include <algorithm>
#include "spec/format_text.h"

namespace bench {
using goldcrest::converter::format_text;

std::vector<double> spreads_of(const Report& report) {
  std::vector<double> spreads;
  const auto add = [&](const Timing& timing) { spreads.push_back(timing.spread); };
  if (report.open)
    for (const Timing& timing :
        {report.open->full, report.open->structure, report.open->first_token, report.open->first_sentence})
      add(timing);
  for (const Case& measured : report.cases) {
    add(measured.speed.encode);
    add(measured.speed.run);
    if (measured.against) spreads.push_back(measured.against->spread);
    if (!measured.work) continue;
    spreads.push_back(measured.work->encode.spread);
    spreads.push_back(measured.work->decode.spread);
  }
  for (const LengthCost& cost : report.lengths) {
    add(cost.short_position);
    add(cost.long_position);
  }
  if (report.breakdown) {
    add(report.breakdown->embed);
    for (const Timing& timing : report.breakdown->encoder_layer) add(timing);
    add(report.breakdown->memory);
    for (const Timing& timing : report.breakdown->decoder_layer) add(timing);
    add(report.breakdown->output);
  }
  if (report.machine) {
    for (const MachineSpeeds::Reading& reading : report.machine->readings) spreads.push_back(reading.speed.spread);
    spreads.push_back(report.machine->macs.spread);
  }
  return spreads;
}

std::string spread_warning(const Report& report) {
  const std::vector<double> spreads = spreads_of(report);
  const auto n_large =
      std::count_if(spreads.begin(), spreads.end(), [](double spread) { return spread > kLargeSpread; });
  if (n_large == 0) return "";
  return format_text(
      "warning: {} of {} timings have a spread above {:.0f} %, the largest {:.0f} %: other work disturbs "
      "this machine, and such figures are not to be trusted\n",
      n_large, spreads.size(), 100 * kLargeSpread, 100 * *std::max_element(spreads.begin(), spreads.end()));
}
}  // namespace bench
