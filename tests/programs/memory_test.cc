// SPDX-License-Identifier: Apache-2.0
// Memory of a conversion: the largest tensor as float32, a third of that for all else, and the file.
#include "programs/memory.h"

#include <gtest/gtest.h>

#include "programs/models.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

TEST(Memory, OneTensorOfACheckpointAtATime) {
  const TemporaryFolder folder;
  const std::filesystem::path checkpoint = folder / "opus", model = folder / "opus.gcst";
  ASSERT_EQ(run(GOLDCREST_MAKE_OPUS_PROGRAM, {checkpoint, "safetensors"}).status, 0);
  const Outcome outcome = run(convert_program(), {"-q", checkpoint, "-o", model});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  expect_lean(outcome, checkpoint, model);
}

}  // namespace
}  // namespace goldcrest::test
