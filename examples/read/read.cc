// SPDX-License-Identifier: Apache-2.0
// goldcrest-read turns images into text.
#include <cstdio>
#include <exception>
#include "goldcrest/speech.h"
#include "host/command_line.h"
#include "host/messages.h"
#include "host/picture.h"
#include "host/printable.h"
#include "host/session.h"

namespace {
constexpr const char* kProgram = "goldcrest-read";
enum ExitStatus { kSuccess = 0, kFailed = 1, kBadUsage = 2, kImagesFailed = 3 };

struct ReadArguments {
  std::string model, kernels;
  std::vector<std::string> images;
  goldcrest_limits limits = {};
};

ExitStatus refuse(const std::string& name, const std::string& problem) {
  const std::string message = std::string(kProgram) + ": " + name + ": " + problem;
  std::fprintf(stderr, "%s\n", goldcrest::painted(goldcrest::Paint::kRed, message).c_str());
  return kFailed;
}

std::string start(const ReadArguments& arguments, goldcrest::Session* session) {
  std::string problem = session->open(arguments.model, arguments.limits.threads);
  if (problem.empty()) problem = kernels_problem(arguments.kernels);
  if (problem.empty()) problem = session->read_info();
  if (problem.empty()) problem = goldcrest::limits_problem(session->info(), arguments.limits);
  if (problem.empty()) problem = session->start({arguments.kernels, false, false, false, {}, {}}, arguments.limits);
  if (!problem.empty()) return problem;
  goldcrest_image any = {};
  any.width = any.height = 1;
  if (goldcrest_image_bytes(&any, session->engine()) == 0)
    return "the model takes no images; goldcrest-translate and goldcrest-transcribe run the others";
  return session->info().has_detokenizer ? "" : "the model has no detokenizer, so its tokens have no text";
}

// *text <- the text of an image. Returns a problem, or "".
std::string read_image(goldcrest::Session* session, const std::string& path, std::string* text) {
  goldcrest_engine* const engine = session->engine();
  std::vector<float> rows;
  const std::string problem = goldcrest::host::read_rows(*session, path, &rows);
  if (!problem.empty()) return problem;
  int64_t status = goldcrest_begin_features(engine, rows.data(), rows.size() / session->info().feature_channels);
  if (status >= 0) status = goldcrest_run(engine);
  if (status >= 0) status = session->append_result(0, 0, {}, text, nullptr);
  return status < 0 ? session->describe(status) : "";
}

ExitStatus read_images(const ReadArguments& arguments) {
  goldcrest::Session session;
  const std::string problem = start(arguments, &session);
  if (!problem.empty()) return refuse(arguments.model, problem);
  ExitStatus status = kSuccess;
  for (const std::string& name : arguments.images) {
    std::string text;
    const std::string wrong = read_image(&session, name, &text);
    if (!wrong.empty()) refuse(name, wrong), status = kImagesFailed;
    std::printf("%s\n", goldcrest::single_line(text, true).c_str());
  }
  return finish_output(kProgram) ? status : kFailed;
}

std::vector<goldcrest::Option> rows_of(ReadArguments& arguments) {
  return {{"*MODEL", goldcrest::text(arguments.model), "a file that goldcrest-convert wrote"},
      {"*[IMAGE...]", goldcrest::texts(arguments.images), "PNG and JPEG files, each with a line of text"},
      {"*--beam-size N", goldcrest::number(arguments.limits.beam_size, 0, 16),
          "keep N hypotheses, 1 to 16; 1 is greedy [0: the model's]"},
      {"*--max-target N", goldcrest::number(arguments.limits.max_target_tokens),
          "write at most N tokens [0: the model's]"},
      {"*--threads N", goldcrest::number(arguments.limits.threads, 0, 64), "use N threads; 0: one for each CPU [1]"},
      {"*--kernels NAME", goldcrest::text(arguments.kernels),
          "force a kernel table by its name (an unknown one lists them)"}};
}
}  // namespace

int main(int argc, char** argv) {
  ReadArguments arguments;
  arguments.limits.threads = 1;
  goldcrest::CommandLine app({kProgram, "Turns images into text with a .gcst model that reads them (TrOCR, manga-ocr).",
      rows_of(arguments), "  goldcrest-read trocr.gcst line.png\n",
      "0 done, 1 failed, 2 bad usage, 3 some images failed.",
      "Each image gives one line of text, which is empty if the image cannot be read. Transparent pixels are shown on "
      "white, and images are turned as their EXIF data says.\n"});
  if (const auto answer = app.parse(argc, argv)) return print_answer(kProgram, *answer);
  if (arguments.images.empty()) return print_answer(kProgram, app.refuse("IMAGE: expected one or more files"));
  try {
    return read_images(arguments);
  } catch (const std::exception& error) {
    return refuse(arguments.model, describe_exception(error, arguments.model));
  }
}
