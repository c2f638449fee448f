// SPDX-License-Identifier: Apache-2.0
// goldcrest-serve answers Home Assistant, and clients of OpenAI's speech API and of LibreTranslate's.
#include "serve.h"
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include "host/messages.h"
#include "host/wording.h"
#include "http.h"
#include "loop.h"
#include "models.h"
#include "wyoming.h"

namespace {
int refuse(const std::string& problem) {
  std::fprintf(
      stderr, "%s\n", goldcrest::painted(goldcrest::Paint::kRed, std::string(kProgram) + ": " + problem).c_str());
  return 1;
}

void say(const std::string& text) { std::fprintf(stderr, "%s: %s\n", kProgram, text.c_str()); }

// Opens a file as the kind of model that it is.
std::string open_model(const std::string& word, Service* service) {
  const size_t equals = word.find('=');
  const std::string path = equals == word.npos ? word : word.substr(equals + 1);
  std::string name = equals == word.npos ? path.substr(path.rfind('/') + 1) : word.substr(0, equals);
  if (equals == word.npos) name.resize(std::min(name.rfind('.'), name.size()));
  goldcrest::Session session;
  std::string problem = session.open(path, 1);
  if (!problem.empty()) return problem;
  problem = session.read_info();
  if (!problem.empty()) return path + ": " + problem;
  if (session.info().sample_rate != 0) {
    auto model = std::make_unique<SpeechModel>();
    problem = model->start(name, path, service->arguments);
    if (problem.empty())
      say(name + ": speech in " + std::to_string(model->languages().size()) + " languages, arena " +
          std::to_string(model->transcriber().arena_bytes()) + " bytes" +
          (model->has_voice() ? ", ends commands itself" : ""));
    service->speech.push_back(std::move(model));
  } else {
    auto model = std::make_unique<TextModel>();
    problem = model->start(name, path, service->arguments);
    if (problem.empty())
      say(name + ": translates " + goldcrest::join_words(model->sources(), ", ") + " to " +
          goldcrest::join_words(model->targets(), ", "));
    service->text.push_back(std::move(model));
  }
  return problem.empty() ? "" : path + ": " + problem;
}

// Opens the sockets of systemd. Returns why it cannot, or "".
std::string adopt_sockets(Service& service) {
  const char *const n = std::getenv("LISTEN_FDS"), *const process = std::getenv("LISTEN_PID"),
                    *const all_names = std::getenv("LISTEN_FDNAMES");
  if (n == nullptr || process == nullptr || std::atol(process) != getpid()) return "";
  std::string names = all_names == nullptr ? "" : all_names;
  for (int i = 0; i < std::atoi(n); ++i) {
    const size_t end = std::min(names.find(':'), names.size());
    const bool is_http = names.substr(0, end) == "http";
    names.erase(0, end + 1);
    const std::string problem = service.loop.adopt(3 + i, is_http ? http_protocol(service) : wyoming_protocol(service));
    if (!problem.empty()) return "LISTEN_FDS: descriptor " + std::to_string(3 + i) + " " + problem;
    say(std::string("serves ") + (is_http ? "HTTP" : "Wyoming") + " at a socket of systemd");
  }
  return "";
}

std::string open_doors(Service& service) {
  const ServeArguments& a = service.arguments;
  std::string problem = adopt_sockets(service);
  const bool is_stdio = a.wyoming.compare(0, 8, "stdio://") == 0;
  if (problem.empty() && !a.wyoming.empty())
    problem = is_stdio ? service.loop.serve_stdio(wyoming_protocol(service))
                       : service.loop.listen(a.wyoming, wyoming_protocol(service));
  if (problem.empty() && !a.http.empty()) problem = service.loop.listen(a.http, http_protocol(service));
  if (!problem.empty()) return problem;
  const auto say_door = [](const char* what, const std::string& address) {
    if (!address.empty())
      say(std::string("serves ") + what + " at " + address +
          (Loop::is_local(address) ? ", for this machine only" : ", for every machine that reaches it"));
  };
  say_door("Wyoming", a.wyoming);
  say_door("HTTP", a.http);
  return "";
}

// Tells Home Assistant's Supervisor where the add-on's server is, so that it offers the integration. The Supervisor's
// address is 172.30.32.2 in each installation; a scratch image has nothing that finds it by name.
void announce() {
  const char* const token = std::getenv("SUPERVISOR_TOKEN");
  char host[256] = "", status[13] = "";
  gethostname(host, sizeof host - 1);
  const std::string body = R"({"service":"wyoming","config":{"uri":"tcp://)" + std::string(host) + R"(:10300"}})";
  const std::string request = "POST /discovery HTTP/1.1\r\nHost: supervisor\r\nAuthorization: Bearer " +
                              std::string(token == nullptr ? "" : token) +
                              "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                              "\r\n\r\n" + body;
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_port = htons(80);
  name.sin_addr.s_addr = htonl(0xac1e2002);
  const int supervisor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool is_told = connect(supervisor, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 &&
                       write(supervisor, request.data(), request.size()) > 0 &&
                       recv(supervisor, status, 12, MSG_WAITALL) == 12 && std::string(status) == "HTTP/1.1 200";
  close(supervisor);
  say(is_told ? "Home Assistant knows this server"
              : "Home Assistant's Supervisor does not answer; add the integration Wyoming Protocol by hand");
}

int run(const ServeArguments& arguments) {
  Loop loop;
  loop.max_clients = arguments.max_clients;
  loop.on_stop = [] { say("ends"); };
  Service service = {arguments, loop, {}, {}};
  std::string problem = kernels_problem(arguments.kernels);
  for (const std::string& word : arguments.models)
    if (problem.empty()) problem = open_model(word, &service);
  if (problem.empty()) problem = open_doors(service);
  if (!problem.empty()) return refuse(problem);
  if (arguments.is_add_on) std::thread(announce).detach();
  loop.run();
  interrupted = 1;  // a search under way stops at its next step
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    std::_Exit(0);  // the step is a long one
  }).detach();
  return 0;
}
}  // namespace

int main(int argc, char** argv) {
  ServeArguments arguments;
  try {
    if (const std::optional<int> status = parse_options(argc, argv, arguments)) return *status;
    return run(arguments);
  } catch (const std::exception& error) {
    return refuse(error.what());
  }
}
