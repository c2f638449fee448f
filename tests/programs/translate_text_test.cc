// SPDX-License-Identifier: Apache-2.0
// goldcrest.hpp: translate_text gives the text that goldcrest-translate gives, in memory of any size.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "goldcrest/goldcrest.hpp"
#include "programs/models.h"

namespace goldcrest::test {
namespace {

constexpr char kList[] = "Mr";

// An engine for the shipped English-French model.
class TranslateText : public testing::Test {
 protected:
  void start(const goldcrest_limits& limits) {
    file_ = read_file(converted_model("enfr"));
    model_ = aligned(file_.size());
    std::memcpy(model_.get(), file_.data(), file_.size());
    const int64_t bytes = goldcrest_arena_bytes(model_.get(), file_.size(), &limits);
    ASSERT_GT(bytes, 0);
    arena_ = aligned(static_cast<size_t>(bytes));
    goldcrest_config config = {};
    config.model = model_.get();
    config.model_bytes = file_.size();
    config.arena = arena_.get();
    config.arena_bytes = static_cast<size_t>(bytes);
    config.limits = limits;
    ASSERT_TRUE(engine_.init(config).ok());
  }

  // Returns the value of translate_text; its text is in out_.
  int64_t translate(const std::string& text, size_t out_bytes) {
    out_.assign(out_bytes + 1, '#');
    const goldcrest_part_options parts = {kList, sizeof kList - 1, 0};
    const Status status = engine_.translate_text(text.data(), text.size(), parts, out_.data(), out_bytes);
    EXPECT_EQ(out_[out_bytes], '#') << "a byte behind the memory is written";
    return status.value();
  }
  std::string text() const { return out_.c_str(); }

  Engine engine_;

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  static std::unique_ptr<void, Free> aligned(size_t bytes) {
    return std::unique_ptr<void, Free>(
        std::aligned_alloc(GOLDCREST_ALIGN, (bytes + GOLDCREST_ALIGN - 1) / GOLDCREST_ALIGN * GOLDCREST_ALIGN));
  }

  std::string file_, out_;
  std::unique_ptr<void, Free> model_, arena_;
};

const std::string kText = " Where is the station?  I saw Mr. Jackson.\r\n\nCan you help me, please? Stop!\n";

TEST_F(TranslateText, GivesWhatTheProgramGives) {
  goldcrest_limits limits = {};
  limits.max_source_bytes = 256;
  start(limits);
  const std::string expected = run(translate_program(), {converted_model("enfr")}, {.input = kText}).out;
  const int64_t n = translate(kText, 1000);
  ASSERT_GT(n, 0);
  EXPECT_EQ(text().size(), static_cast<size_t>(n));
  std::string without_carriage_return = text();
  without_carriage_return.erase(without_carriage_return.find('\r'), 1);
  EXPECT_EQ(without_carriage_return, expected);
  const std::string whole = text();
  EXPECT_EQ(translate(kText, whole.size() + 1), n);
  for (size_t bytes = 1; bytes <= whole.size(); ++bytes) {
    EXPECT_EQ(translate(kText, bytes), GOLDCREST_ERROR_TRUNCATED) << bytes;
    EXPECT_EQ(whole.compare(0, text().size(), text()), 0) << text();
  }
  EXPECT_EQ(translate(kText, 0), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(translate("", 1), 0);
  EXPECT_EQ(translate(" \n \n", 5), 4);
  EXPECT_EQ(text(), " \n \n");
}

TEST_F(TranslateText, CutsWhatTheEngineFindsTooLong) {
  goldcrest_limits limits = {};
  limits.max_source_bytes = 32;
  limits.max_source_tokens = 8;
  start(limits);
  EXPECT_GT(translate("I know what you want, but I can't help you; we have to go home now.", 1000), 40);
  EXPECT_GT(translate(std::string(500, 'x') + "\xFF\x80 " + std::string(500, ' '), 10000), 500);
}

TEST_F(TranslateText, RefusesNoEngine) {
  const goldcrest_part_options parts = {};
  char out[8];
  EXPECT_EQ(engine_.translate_text("a", 1, parts, out, sizeof out).value(), GOLDCREST_ERROR_ARGUMENT);
}

}  // namespace
}  // namespace goldcrest::test
