// SPDX-License-Identifier: Apache-2.0
// Options that change a checkpoint's outputs.
#pragma once

#include <optional>
#include "cli/in_memory_model.h"
#include "report/vocabulary.h"
#include "report/work.h"

namespace goldcrest::converter {
// --keep-vocabulary, --keep-vocabulary-of and --keep-languages: which entries of the vocabulary stay, and how this
// changes texts. Removes all entries from job.spec that the options do not keep. `whole` is the model with all entries.
// Adds warnings about characters and tokens that texts lose. Throws Error.
TrimmedVocabulary keep_vocabulary(InMemoryModel& whole, Job& job);

// --make-shortlist: makes a shortlist from a text for a model without one, and measures it on held-out lines. Adds it
// to job.spec. Throws Error.
ShortlistFromText make_shortlist_from_text(const ChangeOptions& change, Job& job);

// --pack: collects the inputs of packed matrices in job.products: those of the lines of --calibrate, or of made-up
// sources. With auto also chooses job.pack: the matrices that cost least for a byte, as many as raise the divergence
// of every fourth line within the bound; such a line does not calibrate. At most six numbers are tried. Throws Error.
void calibrate(const QuantizeOptions& options, Job& job);

// --accuracy: returns the choice and its price. With a cost it is made here: one matrix after the other gets fine
// inputs, and its gain is how much nearer the log-probabilities of results are to those with all of them. The results
// are of --evaluate's lines, at most 100, or of made-up ones. Throws Error.
FineInputs choose_fine_inputs(std::optional<double> cost, Job& job, Payload& payload);
}  // namespace goldcrest::converter
