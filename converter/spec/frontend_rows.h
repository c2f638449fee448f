// SPDX-License-Identifier: Apache-2.0
// The number of rows that a stem makes of a clip.
#pragma once

#include <cmath>
#include <cstddef>
#include "spec/spec.h"

namespace goldcrest::converter {
// Returns the outputs of a convolution over this many rows; 0: too few.
inline size_t count_windows(const ConvolutionSpec& convolution, size_t rows) {
  const size_t padded = rows + 2 * size_t{convolution.padding};
  return rows == 0 || padded < convolution.kernel ? 0 : (padded - convolution.kernel) / convolution.stride + 1;
}

// Returns the encoder's rows for this many rows of the first convolution.
inline size_t count_frontend_rows(const FrontendSpec& frontend, size_t input_rows) {
  for (const ConvolutionSpec& convolution : frontend.convolutions) input_rows = count_windows(convolution, input_rows);
  return input_rows;
}

// Returns the rows of the first convolution that a fixed window of `rows` of the encoder has.
inline size_t window_input_rows(const FrontendSpec& frontend, size_t rows) {
  for (const ConvolutionSpec& convolution : frontend.convolutions) rows *= convolution.stride;
  return rows;
}

// Returns the samples from one row of the first convolution to the next.
inline size_t samples_a_row(const FrontendSpec& frontend) { return frontend.log_mel ? frontend.log_mel->hop : 1; }

// Returns the encoder's rows for a clip of `seconds`; of a fixed window, the rows that hold it.
inline size_t rows_of_seconds(const FrontendSpec& frontend, double seconds) {
  const double input_rows = seconds * frontend.sample_rate / static_cast<double>(samples_a_row(frontend));
  if (!frontend.fixed_window) return count_frontend_rows(frontend, static_cast<size_t>(input_rows));
  return static_cast<size_t>(std::ceil(input_rows / static_cast<double>(window_input_rows(frontend, 1))));
}
}  // namespace goldcrest::converter
