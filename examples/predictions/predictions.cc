// SPDX-License-Identifier: Apache-2.0
// goldcrest-predictions prints the predictions for a machine next to the measurements that goldcrest-bench or
// benchmark_firmware wrote as JSON.
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "../support/messages.h"
#include "figures.h"
#include "sources/messages/messages.h"
#include "sources/messages/options.h"
#include "spec/format_text.h"

namespace predictions {
namespace {

using goldcrest::converter::format_text;
using goldcrest::converter::join_text;
using goldcrest::converter::nearest;
using goldcrest::converter::print_text;
using Json = nlohmann::json;

enum ExitStatus { kSuccess = 0, kFailed = 1, kBadUsage = 2 };

struct Arguments {
  std::string file;     // "-": standard input; empty if wants_table
  std::string machine;  // whose predictions; empty: the machine that the file names
  bool wants_table = false;
};

// Fills `arguments` from the command line. Returns an exit status if the program is to end: after printing help or the
// version, or an error of the command line.
std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments) {
  constexpr const char* kProgram = "goldcrest-predictions";
  goldcrest::converter::CommandLine app(kProgram, "Prints the predictions for a machine next to its measurements.");
  app.add_option("FILE", arguments.file,
                 "JSON of goldcrest-bench --json, or the log of benchmark_firmware; -: standard input");
  app.add_option("--machine", arguments.machine,
                 "compare with the predictions for this machine if the file does not name it");
  app.add_flag("--table", arguments.wants_table, "print all predictions as CSV (boards/predictions.csv)");
  app.version("goldcrest-predictions " GOLDCREST_VERSION);
  app.footer(
      "Every prediction has a band; how both were made: examples/predictions/README.md.\n"
      "Exit status: 0 done, 1 failed, 2 bad usage.");
  if (const auto answer = app.parse(argc, argv)) return ExitStatus(print_answer(kProgram, *answer));
  if (arguments.file.empty() && !arguments.wants_table)
    return ExitStatus(print_answer(kProgram, app.refuse("FILE is required")));
  return {};
}

constexpr int kSchemaVersion = 1;
constexpr double kSameInstructions = 0.05;  // compilers differ by less

// Reads the JSON, or the one line of a console's log that is JSON.
Json read_report(std::istream& stream) {
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const size_t whole = text.find_first_not_of(" \t\r\n");
  const size_t line = text.find("\n{");
  const size_t begin = whole != std::string::npos && text[whole] == '{' ? whole : line;
  if (begin == std::string::npos)
    throw std::runtime_error("no JSON; expected that of goldcrest-bench --json or the log of benchmark_firmware");
  const size_t end = begin == whole ? text.size() : text.find('\n', begin + 1);
  Json report = Json::parse(text.substr(begin, end - begin));
  if (report.value("schema_version", 0) != kSchemaVersion)
    throw std::runtime_error(format_text("schema_version is not {}", kSchemaVersion));
  return report;
}

void print_line(const std::vector<std::string>& cells) {
  print_text("{:<14}{:>12}  {:<18}{:>12}  {:<10}{:>6}  {}\n", cells[0], cells[1], cells[2], cells[3], cells[4],
             cells[5], cells[6]);
}

void print_row(const std::string& what, const Band& predicted, double measured, const char* unit) {
  const bool is_inside = measured >= predicted.low && measured <= predicted.high;
  print_line({what, digits(predicted.middle), digits(predicted.low) + " to " + digits(predicted.high), digits(measured),
              unit, format_text("{:.2f}", measured / predicted.middle), is_inside ? "inside" : "outside"});
}

void print_head(const std::string& machine, const Json& report) {
  print_text("{}; measured with kernels {}\n", machine, report.at("kernels").get<std::string>());
  print_line({"", "predicted", "band", "measured", "", "ratio", "the band"});
}

const Shape* shape_of(const Json& shape) {
  for (const Shape& known : shapes()) {
    if (shape.at("encoder_layers") == known.encoder_layers && shape.at("decoder_layers") == known.decoder_layers &&
        shape.at("decoder_d_model") == known.d_model && shape.at("decoder_d_ff") == known.d_ff &&
        shape.at("target_vocab_size") == known.target_vocab_size && shape.at("weight_bits") == 8)
      return &known;
  }
  throw std::runtime_error("nothing was predicted of a model of this shape");
}

void compare_computer(const Json& report, const Computer& computer) {
  const std::string model = shape_of(report.at("shape"))->name;
  const double clock_hz = report.at("host").at("clock_hz");
  print_head(format_text("{}, {} at {:.0f} MHz", computer.name, computer.cpu, computer.clock_hz / 1e6), report);
  bool found = false;
  for (const Json& measured : report.value("cases", Json::array())) {
    if (measured.at("batch") != 1 || report.at("threads") != 1) continue;
    for (const Computer::Speed& speed : computer.speeds) {
      if (model != speed.model || measured.at("beam_size") != speed.beam_size) continue;
      print_row(format_text("{}, beam {}", model, speed.beam_size), tokens_per_s(speed), measured.at("tokens_per_s"),
                "tokens/s");
      found = true;
    }
  }
  if (!found)
    throw std::runtime_error("nothing was predicted of these cases; --beam 1,4 --batch 1 --threads 1 has what was");
  if (clock_hz > 0 && std::abs(clock_hz / computer.clock_hz - 1) > 0.02)
    print_text("This one's clock is {:.0f} MHz; the prediction is of {:.0f}.\n", clock_hz / 1e6,
               computer.clock_hz / 1e6);
  if (report.at("source_tokens") != 32 || report.at("target_tokens") < 60 || report.at("target_tokens") > 64)
    print_text("The prediction is of 32 source and 64 target tokens, the usual ones of goldcrest-bench.\n");
}

// Returns the ticks of a word's search.
double word_ticks(const Json& report, uint32_t beam_size) {
  const std::string name = format_text("{}: whole search of one word",
                                       beam_size == 1 ? std::string("greedy") : format_text("beam {}", beam_size));
  for (const Json& part : report.at("parts")) {
    if (part.at("name") == name) return part.at("ticks");
  }
  throw std::runtime_error("parts has no \"" + name + "\"");
}

// If ticks are instructions: compares them with the counts behind the predictions.
bool compare_instructions(const Json& report) {
  const std::string cpu = report.at("host").at("cpu");
  bool found = false, same = true;
  for (const Word& word : words()) {
    if (cpu != word.cpu) continue;
    const double counted = word_ticks(report, word.beam_size) / double{report.at("ticks_per_second")} * 1e9;
    const Band expected = {word.instructions * (1 - kSameInstructions), word.instructions,
                           word.instructions * (1 + kSameInstructions)};
    if (!found) print_head(cpu + " in an emulator that counts instructions", report);
    print_row(format_text("g2p, beam {}", word.beam_size),
              {expected.low / 1e6, expected.middle / 1e6, expected.high / 1e6}, counted / 1e6, "M a word");
    found = true;
    same = same && counted >= expected.low && counted <= expected.high;
  }
  if (!found) throw std::runtime_error("no instructions of a " + cpu + " are known");
  if (!same) std::fputs("The predictions come from other counts: figures.cc is to be brought up to date.\n", stdout);
  return same;
}

void compare_microcontroller(const Json& report, const Microcontroller& part) {
  print_head(format_text("{}, {} at {:.0f} MHz, weights in {}", part.name, part.cpu, part.clock_hz / 1e6, part.memory),
             report);
  for (const Word& word : words()) {
    if (std::string(word.cpu) != part.cpu) continue;
    const double ms = word_ticks(report, word.beam_size) / double{report.at("ticks_per_second")} * 1e3;
    print_row(format_text("g2p, beam {}", word.beam_size), milliseconds_a_word(part, word), ms, "ms a word");
  }
}

std::vector<std::string> known_machines() {
  std::vector<std::string> names;
  for (const Computer& computer : computers()) names.emplace_back(computer.name);
  for (const Microcontroller& part : microcontrollers()) names.emplace_back(part.name);
  return names;
}

// Returns false if counted instructions differ from the counts behind the predictions. wanted: a machine's name, or
// empty.
bool compare(const Json& report, const std::string& wanted) {
  const Json& host = report.at("host");
  const std::string board = host.at("board");
  const bool is_firmware = report.at("program") == "benchmark_firmware";
  if (is_firmware && report.at("ticks_count") == "instructions") return compare_instructions(report);
  bool found = false;
  for (const Computer& computer : computers()) {
    if (is_firmware || (wanted.empty() ? board.rfind(computer.board, 0) != 0 : wanted != computer.name)) continue;
    compare_computer(report, computer);
    found = true;
  }
  for (const Microcontroller& part : microcontrollers()) {
    if (!is_firmware) break;
    const bool is_this =
        board == part.board && std::abs(double{report.at("ticks_per_second")} / part.clock_hz - 1) < 0.02;
    if (wanted.empty() ? !is_this : wanted != part.name) continue;
    compare_microcontroller(report, part);
    found = true;
  }
  if (!found) {
    const std::vector<std::string> known = known_machines();
    const std::string meant = wanted.empty() ? "" : nearest(wanted, known);
    throw std::runtime_error(
        format_text("nothing was predicted of \"{}\"; --machine NAME compares with one of\n  {}\n{}",
                    wanted.empty() ? board : wanted, join_text(known, "\n  "),
                    meant.empty() ? "" : format_text("did you mean \"{}\"?\n", meant)));
  }
  return true;
}

}  // namespace
}  // namespace predictions

int main(int argc, char** argv) {
  using namespace predictions;
  Arguments arguments;
  if (const std::optional<ExitStatus> status = parse_options(argc, argv, arguments)) return *status;
  const auto& [file, machine, wants_table] = arguments;
  bool same = true;
  try {
    if (wants_table) {
      std::fputs(table().c_str(), stdout);
    } else if (file == "-") {
      same = compare(read_report(std::cin), machine);
    } else {
      std::ifstream stream(file);
      if (!stream) throw std::runtime_error("cannot be read");
      same = compare(read_report(stream), machine);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "goldcrest-predictions: %s: %s\n", file == "-" ? "standard input" : file.c_str(),
                 error.what());
    return kFailed;
  }
  return same && std::fflush(stdout) == 0 ? kSuccess : kFailed;
}
