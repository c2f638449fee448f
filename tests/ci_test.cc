// SPDX-License-Identifier: Apache-2.0
// The workflow of continuous integration, which never runs here. The test checks that it is YAML, and that its steps
// are commands of this repository with arguments that they take.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <set>
#include <string>

namespace goldcrest {
namespace {

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
                          "bash toolchains/install_packages.sh tests",
                      }));
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

}  // namespace
}  // namespace goldcrest
