// SPDX-License-Identifier: Apache-2.0
// If another part of the program has initialized XNNPACK, that part's allocator serves all. The backend then refuses
// with a message, and the exact tables still work.
#include <xnnpack.h>
#include "goldcrest/xnnpack.h"
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
TEST(XnnpackForeign, AnotherAllocatorIsRefusedWithAReason) {
  ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
  const FileImage file = tiny_file(tiny_spec(odd_tiny_options()));
  goldcrest_xnnpack_memory memory = {};
  goldcrest_detail detail = {"", -1};
  EXPECT_EQ(goldcrest_xnnpack_plan_memory(file.bytes(), file.size(), nullptr, &memory, &detail), GOLDCREST_ERROR_STATE);
  EXPECT_TRUE(has(std::string(detail.message), "another part of the program"));
  TestEngine engine(file.span(), {});
  EXPECT_STREQ(goldcrest_kernels_name(engine.get()), goldcrest_kernels_at(0));
}
}}  // namespace goldcrest::test
