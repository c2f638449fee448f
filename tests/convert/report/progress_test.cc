// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <gtest/gtest.h>

namespace goldcrest::converter {
namespace {

// A screen that keeps its text, and a clock that the test sets.
struct Screen {
  std::string shown;
  double now = 100;
  size_t columns = 80;

  ProgressScreen of(bool terminal) {
    return {terminal, columns, [this](std::string_view text) { shown += text; }, [this] { return now; }};
  }
  std::string take() { return std::exchange(shown, ""); }
};

TEST(Progress, ElsewhereALineAStageAndOneEveryTenSeconds) {
  Screen screen;
  Progress progress(screen.of(false));
  progress.stage(
      "loading a\x1b"
      "b");
  EXPECT_EQ(screen.take(),
            "loading a\\x1b"
            "b\n");
  progress.at(1, 3);
  screen.now += 9.9;
  progress.at(2, 3);
  EXPECT_EQ(screen.take(), "");
  progress.stage("evaluating");
  screen.now += 10;
  progress.at(64, 960);
  progress.at(128, 960);
  screen.now += 10;
  progress.counter()(320, 960);
  progress.finish();
  EXPECT_EQ(screen.take(), "evaluating\nevaluating: 64 of 960 (6 %)\nevaluating: 320 of 960 (33 %)\n");
}

TEST(Progress, OnATerminalABarThatIsWrittenOver) {
  Screen screen;
  {
    Progress progress(screen.of(true));
    progress.stage("quantizing");
    EXPECT_EQ(screen.take(), "\rquantizing ...\x1b[K");
    progress.at(1, 4);  // too soon after the last line
    EXPECT_EQ(screen.take(), "");
    screen.now += 0.2;
    progress.at(2, 4);
    EXPECT_EQ(screen.take(), "\rquantizing [###############               ]  50 %\x1b[K");
    screen.now += 0.2;
    progress.at(2, 4);  // the line has not changed
    EXPECT_EQ(screen.take(), "");
    screen.now += 0.2;
    progress.at(9, 4);
    EXPECT_EQ(screen.take(), "\rquantizing [##############################] 100 %\x1b[K");
  }
  EXPECT_EQ(screen.take(), "\r\x1b[K");
}

TEST(Progress, NoLineIsWiderThanTheTerminal) {
  Screen screen;
  screen.columns = 20;
  Progress progress(screen.of(true));
  progress.stage("loading /a/very/long/path");
  EXPECT_EQ(screen.take(), "\rloading /a/very ...\x1b[K");
  screen.now += 1;
  progress.at(1, 2);
  EXPECT_EQ(screen.take(), "\rloading /a/ve  50 %\x1b[K");
}

TEST(Progress, QuietShowsNothing) {
  Progress progress(standard_error_screen(true));
  progress.stage("loading");
  progress.at(1, 2);
  progress.finish();
}

}  // namespace
}  // namespace goldcrest::converter
