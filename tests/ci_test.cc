// SPDX-License-Identifier: Apache-2.0
// The workflow of continuous integration, which never runs here. The test checks that it is YAML, and that its steps
// are commands of this repository with arguments that they take.
#include <yaml-cpp/yaml.h>
#include "support/test.h"

namespace goldcrest { namespace {
const std::filesystem::path kSource = GOLDCREST_SOURCE_DIR;

YAML::Node workflow() { return YAML::LoadFile(kSource / ".github/workflows/ci.yml"); }

TEST(Ci, StepsAreCommandsOfThisRepository) {
  std::set<std::string> commands;
  for (const auto& job : workflow()["jobs"]) {
    for (const YAML::Node& step : job.second["steps"]) {
      if (!step["run"]) continue;
      const auto command = step["run"].as<std::string>();
      ASSERT_TRUE(command.starts_with("bash ")) << command;
      const std::string script = command.substr(5, command.find(' ', 5) - 5);
      EXPECT_TRUE(std::filesystem::exists(kSource / script)) << script;
      commands.insert(command);
    }
  }
  EXPECT_EQ(commands, (std::set<std::string>{
                          "bash tests/fuzz.sh ${{ matrix.target }} 3600",
                          "bash tests/run.sh ${{ matrix.suite }}",
                          "bash tests/run.sh full",
                          "bash tests/xnnpack.sh",
                          "bash toolchains/install_packages.sh fuzz",
                          "bash toolchains/install_packages.sh release",
                          "bash toolchains/install_packages.sh tests",
                          "bash toolchains/release.sh",
                          "bash toolchains/release.sh --publish",
                      }));
}

// A tag of an action may be moved; a commit may not.
TEST(Ci, ActionsArePinned) {
  for (const auto& job : workflow()["jobs"]) {
    for (const YAML::Node& step : job.second["steps"]) {
      if (!step["uses"]) continue;
      const auto action = step["uses"].as<std::string>();
      const std::string commit = action.substr(action.find('@') + 1);
      EXPECT_EQ(commit.size(), 40u) << action;
      EXPECT_EQ(commit.find_first_not_of("0123456789abcdef"), std::string::npos) << action;
    }
  }
}

TEST(Ci, OnlyTheJobThatPublishesMayWrite) {
  EXPECT_EQ(workflow()["permissions"]["contents"].as<std::string>(), "read");
  for (const auto& job : workflow()["jobs"]) {
    const auto name = job.first.as<std::string>();
    const YAML::Node permissions = job.second["permissions"];
    if (name == "publish") {
      EXPECT_EQ(permissions["contents"].as<std::string>(), "write");
      EXPECT_EQ(permissions.size(), 1u);
      EXPECT_EQ(job.second["needs"].as<std::string>(), "release");
    } else {
      EXPECT_FALSE(permissions) << name;
    }
  }
  EXPECT_EQ(workflow()["jobs"]["release"]["if"].as<std::string>(), "startsWith(github.ref, 'refs/tags/v')");
}

// toolchains/wheels.sh builds wheels on no other system, and what it builds is uploaded.
TEST(Ci, ReleasesFromDebian12) {
  const YAML::Node job = workflow()["jobs"]["release"];
  EXPECT_EQ(job["container"].as<std::string>(""), "debian:12");
  std::string uploaded;
  for (const YAML::Node& step : job["steps"])
    if (step["with"] && step["with"]["path"]) uploaded += step["with"]["path"].as<std::string>();
  EXPECT_EQ(uploaded,
      "build/release/*.tar.gz\nbuild/release/*.zip\nbuild/release/*.pack\nbuild/release/*.whl\nbuild/release/"
      "*.spdx\nbuild/release/SHA256SUMS\n");
}

// The shell and the actions of a step see no secret but the token of the job that publishes.
TEST(Ci, OnlyTheJobThatPublishesHasTheToken) {
  for (const auto& job : workflow()["jobs"]) {
    std::string text = YAML::Dump(job.second);
    if (job.first.as<std::string>() == "publish") {
      const std::string token = "${{ github.token }}";
      ASSERT_NE(text.find(token), std::string::npos);
      text.erase(text.find(token), token.size());
    }
    EXPECT_EQ(text.find("github.token"), std::string::npos) << job.first;
    EXPECT_EQ(text.find("secrets."), std::string::npos) << job.first;
  }
}

// tests/xnnpack.sh leaves itself out on other systems.
TEST(Ci, TestsXnnpackOnDebianEachNight) {
  const YAML::Node job = workflow()["jobs"]["xnnpack"];
  EXPECT_TRUE(job["container"].as<std::string>("").starts_with("debian:"));
  EXPECT_EQ(job["if"].as<std::string>(""), "github.event_name == 'schedule'");
}

TEST(Ci, FuzzesEveryTarget) {
  std::set<std::string> targets, sources;
  for (const YAML::Node& target : workflow()["jobs"]["fuzz"]["strategy"]["matrix"]["target"])
    targets.insert(target.as<std::string>());
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "tests/fuzz")) {
    const std::filesystem::path& file = entry.path();
    if (file.extension() == ".cc" && file.stem().string().starts_with("fuzz_")) sources.insert(file.stem());
  }
  EXPECT_EQ(targets, sources);
}

TEST(Ci, SuitesAreThoseOfTheScript) {
  std::set<std::string> suites;
  for (const YAML::Node& suite : workflow()["jobs"]["suites"]["strategy"]["matrix"]["suite"])
    suites.insert(suite.as<std::string>());
  EXPECT_EQ(suites, (std::set<std::string>{"arm", "fast", "lint", "sanitize"}));
}
}}  // namespace goldcrest
