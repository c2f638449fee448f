// SPDX-License-Identifier: Apache-2.0
// Each system call of the programs fails once, and is once the program's last. A program then gives an error with a
// message or all of the right output. A file that it writes is complete, or is still the previous file.
#include <stdlib.h>
#include <csignal>
#include "convert/support/nn_folder.h"
#include "programs/models.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
// During its lifetime, programs start with fault.c loaded.
class Fault {
 public:
  Fault(const std::string& variable, const std::string& value, bool kills) {
    ::setenv("LD_PRELOAD", GOLDCREST_FAULT_LIBRARY, 1);
    ::setenv(variable.c_str(), value.c_str(), 1);
    if (kills) ::setenv("FAULT_KILLS", "1", 1);
  }
  ~Fault() {
    for (const char* name : {"LD_PRELOAD", "FAULT_CALL", "FAULT_COUNT", "FAULT_KILLS"}) ::unsetenv(name);
  }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
};

class Faults : public testing::Test {
 protected:
  static Outcome run_with_fault(
      const std::filesystem::path& program, const Arguments& arguments, int call, bool kills = false) {
    const Fault fault("FAULT_CALL", std::to_string(call), kills);
    return run(program, arguments, {.input = "one one\n"});
  }
  int count_calls(const std::filesystem::path& program, const Arguments& arguments) const {
    const Fault fault("FAULT_COUNT", folder_ / "calls", false);
    EXPECT_EQ(run(program, arguments, {.input = "one one\n"}).status, 0);
    return std::stoi(folder_.read("calls"));
  }
  // Expects the right output or a message, and never a signal.
  static void expect_told(const Outcome& outcome, const std::string& right, const std::string& program, int call) {
    if (outcome.status == 0) {
      EXPECT_EQ(outcome.out, right) << program << ", call " << call;
      return;
    }
    EXPECT_LT(outcome.status, 128) << program << ", call " << call;
    EXPECT_TRUE(outcome.err.starts_with(program + ": ")) << "call " << call << ": " << outcome.err;
  }

  // Makes a model's file of a small checkpoint.
  std::filesystem::path model() const {
    std::filesystem::path path = folder_ / "model.gcst";
    NnFolder checkpoint;
    checkpoint.load();
    EXPECT_EQ(convert(checkpoint.folder.path(), {"-o", path}).status, 0);
    return path;
  }

  TemporaryFolder folder_;
};

TEST_F(Faults, OfReadersAreTold) {
  const std::filesystem::path file = model();
  for (const auto& [program, name] : {std::pair(translate_program(), std::string("goldcrest-translate")),
           std::pair(inspect_program(), std::string("goldcrest-inspect"))}) {
    const Arguments arguments = {file};
    const std::string right = run(program, arguments, {.input = "one one\n"}).out;
    const int n_calls = count_calls(program, arguments);
    EXPECT_GE(n_calls, 3) << name;
    for (int call = 1; call <= n_calls; ++call)
      expect_told(run_with_fault(program, arguments, call), right, name, call);
  }
}

TEST_F(Faults, OfTheConverterLeaveAWholeFile) {
  NnFolder checkpoint;
  checkpoint.load();
  const TemporaryFolder out;
  const Arguments arguments = {"-q", checkpoint.folder.path(), "-o", out / "model.gcst"};
  const int n_calls = count_calls(convert_program(), arguments);
  const std::string right = out.read("model.gcst"), before = "what was there before",
                    report = run(convert_program(), arguments).out;
  EXPECT_GT(n_calls, 20);
  int n_failed = 0;
  for (int call = 1; call <= n_calls; ++call) {
    for (const bool kills : {false, true}) {
      out.write("model.gcst", before);
      const Outcome outcome = run_with_fault(convert_program(), arguments, call, kills);
      const std::string found = out.read("model.gcst");
      EXPECT_TRUE(found == before || found == right) << "call " << call;
      if (kills) {
        EXPECT_EQ(outcome.status, 128 + SIGKILL) << "call " << call;
        continue;
      }
      expect_told(outcome, report, "goldcrest-convert", call);
      EXPECT_TRUE(outcome.status != 0 || found == right) << "call " << call;
      n_failed += outcome.status != 0;
    }
  }
  EXPECT_GT(n_failed, 20);
  // The next run removes what the killed runs have left.
  EXPECT_EQ(run(convert_program(), arguments).status, 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(out.path()), {}), 1);
}
}}  // namespace goldcrest::test
