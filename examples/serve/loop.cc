// SPDX-License-Identifier: Apache-2.0
#include "loop.h"
#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>
#include "host/printable.h"
#include "serve.h"

namespace {
constexpr double kMostUnreadSeconds = 30;  // a client may leave an answer unread this long

timeval time_of(double seconds) {
  return {
      static_cast<time_t>(seconds), static_cast<suseconds_t>(1e6 * (seconds - static_cast<double>(time_t(seconds))))};
}

// "127.0.0.1:5000", "[::1]:5000"; "a local client" for a unix socket.
std::string name_of(const sockaddr* from) {
  char host[64] = "";
  if (from->sa_family == AF_INET6) {
    const auto* const it = reinterpret_cast<const sockaddr_in6*>(from);
    inet_ntop(AF_INET6, &it->sin6_addr, host, sizeof host);
    return std::string("[") + host + "]:" + std::to_string(ntohs(it->sin6_port));
  }
  if (from->sa_family != AF_INET) return "a local client";
  const auto* const it = reinterpret_cast<const sockaddr_in*>(from);
  inet_ntop(AF_INET, &it->sin_addr, host, sizeof host);
  return std::string(host) + ":" + std::to_string(ntohs(it->sin_port));
}

bool begins_with(const std::string& text, const std::string& with) { return text.compare(0, with.size(), with) == 0; }
}  // namespace

Connection::~Connection() {
  if (out_ != nullptr && out_ != in_) bufferevent_free(out_);
  if (in_ != nullptr) bufferevent_free(in_);
  if (deadline_ != nullptr) event_free(deadline_);
}

void Connection::begin(int input, int output) {
  in_ = bufferevent_socket_new(loop_->base_, input, input == output ? BEV_OPT_CLOSE_ON_FREE : 0);
  out_ = input == output ? in_ : bufferevent_socket_new(loop_->base_, output, 0);
  deadline_ = evtimer_new(loop_->base_, on_deadline, this);
  if (in_ == nullptr || out_ == nullptr || deadline_ == nullptr) throw std::bad_alloc();
  bufferevent_setcb(in_, on_read, out_ == in_ ? on_sent : nullptr, on_event, this);
  if (out_ != in_) bufferevent_setcb(out_, nullptr, on_sent, on_event, this);
  const timeval unread = time_of(kMostUnreadSeconds);
  bufferevent_set_timeouts(out_, nullptr, &unread);
  bufferevent_setwatermark(in_, EV_READ, 0, kMostUnread);
  bufferevent_enable(out_, EV_WRITE);
  bufferevent_enable(in_, EV_READ);
}

void Connection::write(std::string_view bytes) {
  if (is_finishing_ || bytes.empty()) return;
  if (evbuffer_get_length(bufferevent_get_output(out_)) + bytes.size() > kMostUnsent) {
    log("leaves its answers unread; let go");
    return close();
  }
  bufferevent_write(out_, bytes.data(), bytes.size());
}

void Connection::finish() {
  is_finishing_ = true;
  bufferevent_disable(in_, EV_READ);
  set_deadline(0);
  if (evbuffer_get_length(bufferevent_get_output(out_)) == 0) close();
}

void Connection::finish_gently() {
  constexpr double kMostSeconds = 2;
  is_finishing_ = is_gentle_ = true;
  bufferevent_enable(in_, EV_READ);
  set_deadline(kMostSeconds);
  if (evbuffer_get_length(bufferevent_get_output(out_)) == 0) on_sent(out_, this);
}

void Connection::pause() {
  is_paused_ = true;
  bufferevent_disable(in_, EV_READ);
}

void Connection::resume() {
  if (is_finishing_) return;
  is_paused_ = false;
  bufferevent_enable(in_, EV_READ);
  const std::shared_ptr<Connection> self = shared_from_this();
  loop_->post([self] { self->read(); });
}

void Connection::set_deadline(double seconds) {
  if (seconds <= 0) {
    evtimer_del(deadline_);
    return;
  }
  const timeval time = time_of(seconds);
  evtimer_add(deadline_, &time);
}

void Connection::log(const std::string& text) const {
  std::fprintf(stderr, "%s: %s: %s\n", kProgram, name_.c_str(), goldcrest::printable(text).c_str());
}

// The list of clients may hold the last reference.
void Connection::close() {
  is_finishing_ = true;
  bufferevent_disable(in_, EV_READ);
  set_deadline(0);
  const std::shared_ptr<Connection> self = shared_from_this();
  loop_->post([self] { self->loop_->remove(self.get()); });
}

void Connection::read() {
  if (is_reading_) return;
  is_reading_ = true;
  evbuffer* const buffer = bufferevent_get_input(in_);
  if (is_finishing_) evbuffer_drain(buffer, evbuffer_get_length(buffer));
  while (!is_finishing_ && !is_paused_ && evbuffer_get_length(buffer) > 0) {
    const size_t n = evbuffer_get_length(buffer);
    const char* bytes = reinterpret_cast<const char*>(evbuffer_pullup(buffer, -1));
    size_t used = 0;
    try {
      used = protocol_->take(*this, {bytes, n});
    } catch (const std::bad_alloc&) {
      protocol_->refuse(*this, "the server has no memory for this");
      break;
    }
    evbuffer_drain(buffer, used);
    if (used == 0) break;
  }
  if (has_ended_ && !is_finishing_ && !is_paused_) protocol_->end(*this);
  is_reading_ = false;
}

void Connection::on_read(bufferevent*, void* self) { static_cast<Connection*>(self)->read(); }

void Connection::on_sent(bufferevent*, void* self) {
  Connection& it = *static_cast<Connection*>(self);
  if (it.is_finishing_ && !it.is_gentle_) it.close();
  if (it.is_gentle_) shutdown(bufferevent_getfd(it.out_), SHUT_WR);
}

void Connection::on_event(bufferevent*, short what, void* self) {
  Connection& it = *static_cast<Connection*>(self);
  if ((what & BEV_EVENT_EOF) != 0 && !it.is_finishing_) {
    it.has_ended_ = true;
    return it.read();
  }
  if ((what & BEV_EVENT_TIMEOUT) != 0 && !it.is_finishing_) it.log("leaves its answers unread; let go");
  it.close();
}

void Connection::on_deadline(evutil_socket_t, short, void* self) {
  Connection& it = *static_cast<Connection*>(self);
  if (it.is_finishing_) return it.close();
  it.protocol_->refuse(it, "the request took too long");
}

Loop::Loop() : base_(event_base_new()) {
  if (base_ == nullptr || pipe2(wake_, O_NONBLOCK | O_CLOEXEC) != 0) throw std::bad_alloc();
  posted_ = event_new(base_, wake_[0], EV_READ | EV_PERSIST, on_posted, this);
  last_second_ = evtimer_new(base_, on_last_second, this);
  signals_[0] = evsignal_new(base_, SIGTERM, on_signal, this);
  signals_[1] = evsignal_new(base_, SIGINT, on_signal, this);
  if (posted_ == nullptr || last_second_ == nullptr || signals_[0] == nullptr || signals_[1] == nullptr)
    throw std::bad_alloc();
  event_add(posted_, nullptr);
  for (event* const it : signals_) event_add(it, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

Loop::~Loop() {
  clients_.clear();
  work_.clear();
  for (Listener& it : listeners_) {
    if (it.listener != nullptr) evconnlistener_free(it.listener);
    if (!it.path.empty()) unlink(it.path.c_str());
  }
  for (event* const it : {posted_, last_second_, signals_[0], signals_[1]}) event_free(it);
  event_base_free(base_);
  ::close(wake_[0]);
  ::close(wake_[1]);
}

bool Loop::is_local(const std::string& address) {
  if (begins_with(address, "unix://") || begins_with(address, "stdio:")) return true;
  const std::string host = begins_with(address, "tcp://") ? address.substr(6) : address;
  return begins_with(host, "localhost:") || begins_with(host, "[::1]:") || begins_with(host, "127.");
}

namespace {
// *made <- a socket that is bound. Returns why it cannot be, or "".
std::string bind_to(const std::string& address, int* made) {
  if (begins_with(address, "unix://")) {
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    const std::string path = address.substr(7);
    if (path.empty() || path.size() >= sizeof name.sun_path) return "has no path of 1 to 107 bytes";
    std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
    *made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // A socket that nobody serves is one that a server left.
    if (*made >= 0 && connect(*made, reinterpret_cast<sockaddr*>(&name), sizeof name) != 0 && errno == ECONNREFUSED)
      unlink(path.c_str());
    if (*made >= 0 && bind(*made, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0) return "";
    return std::strerror(errno);
  }
  std::string place = begins_with(address, "tcp://") ? address.substr(6) : address;
  if (begins_with(place, "localhost:")) place.replace(0, 9, "127.0.0.1");
  sockaddr_storage name = {};
  int length = sizeof name;
  if (place.find(':') == place.npos ||
      evutil_parse_sockaddr_port(place.c_str(), reinterpret_cast<sockaddr*>(&name), &length) != 0)
    return "is no address; expected NUMBERS:PORT, tcp://NUMBERS:PORT or unix://PATH";
  *made = socket(name.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  if (*made >= 0) setsockopt(*made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool is_bound =
      *made >= 0 && bind(*made, reinterpret_cast<sockaddr*>(&name), static_cast<socklen_t>(length)) == 0;
  return is_bound ? "" : std::strerror(errno);
}
}  // namespace

std::string Loop::listen(const std::string& address, ProtocolMaker maker) {
  int made = -1;
  std::string problem = bind_to(address, &made);
  if (problem.empty() && ::listen(made, 128) != 0) problem = std::strerror(errno);
  if (problem.empty()) problem = adopt(made, std::move(maker));
  if (!problem.empty() && made >= 0) ::close(made);
  if (!problem.empty()) return address + ": " + problem;
  if (begins_with(address, "unix://")) listeners_.back().path = address.substr(7);
  return "";
}

std::string Loop::adopt(int listening, ProtocolMaker maker) {
  evutil_make_socket_nonblocking(listening);
  Listener& it = listeners_.emplace_back(Listener{this, std::move(maker), nullptr, ""});
  it.listener = evconnlistener_new(base_, on_accept, &it, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, listening);
  if (it.listener != nullptr) return "";
  listeners_.pop_back();
  return "is no socket that listens";
}

std::string Loop::serve_stdio(ProtocolMaker maker) {
  for (const int stream : {0, 1})
    if (evutil_make_socket_nonblocking(stream) != 0) return std::strerror(errno);
  has_stdio_ = true;
  const auto client = std::make_shared<Connection>(this, "standard input", maker());
  clients_.push_back(client);
  client->begin(0, 1);
  return "";
}

void Loop::add(int socket, std::string name, std::unique_ptr<Protocol> protocol) {
  constexpr size_t kMostRefused = 32;
  evutil_make_socket_nonblocking(socket);
  evutil_make_socket_closeonexec(socket);
  if (clients_.size() >= max_clients + kMostRefused) {
    ::close(socket);
    return;
  }
  const auto client = std::make_shared<Connection>(this, std::move(name), std::move(protocol));
  clients_.push_back(client);
  client->begin(socket, socket);
  if (clients_.size() <= max_clients) return client->set_deadline(600);
  client->log("refused: " + std::to_string(max_clients) + " clients are connected");
  client->protocol().refuse(*client, "too many clients are connected; try again later");
}

void Loop::on_accept(evconnlistener*, evutil_socket_t socket, sockaddr* from, int, void* listener) {
  Listener& it = *static_cast<Listener*>(listener);
  it.loop->add(socket, name_of(from), it.maker());
}

void Loop::remove(Connection* client) {
  clients_.remove_if([client](const std::shared_ptr<Connection>& it) { return it.get() == client; });
  if (has_stdio_ && clients_.empty()) stop();
  end_if_idle();
}

void Loop::post(std::function<void()> work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  work_.push_back(std::move(work));
  const char byte = 0;
  if (work_.size() == 1 && ::write(wake_[1], &byte, 1) < 0 && errno != EAGAIN) std::abort();
}

void Loop::on_posted(evutil_socket_t wake, short, void* self) {
  Loop& it = *static_cast<Loop*>(self);
  char bytes[64];
  while (::read(wake, bytes, sizeof bytes) > 0) {
  }
  std::deque<std::function<void()>> work;
  {
    const std::lock_guard<std::mutex> lock(it.mutex_);
    work.swap(it.work_);
  }
  for (const std::function<void()>& each : work) each();
}

void Loop::run() { event_base_dispatch(base_); }

void Loop::stop() {
  if (is_stopping_) return;
  is_stopping_ = true;
  if (on_stop) on_stop();
  for (Listener& it : listeners_) {
    evconnlistener_free(it.listener);
    it.listener = nullptr;
  }
  const timeval time = time_of(kMostSeconds);
  evtimer_add(last_second_, &time);
  for (const std::shared_ptr<Connection>& it :
      std::vector<std::shared_ptr<Connection>>(clients_.begin(), clients_.end()))
    if (!it->protocol().is_busy()) it->protocol().refuse(*it, "the server ends");
  end_if_idle();
}

void Loop::end_if_idle() {
  if (is_stopping_ && clients_.empty()) event_base_loopbreak(base_);
}

void Loop::on_signal(evutil_socket_t, short, void* self) { static_cast<Loop*>(self)->stop(); }

// The answers that are not ready now are refused.
void Loop::on_last_second(evutil_socket_t, short, void* self) {
  Loop& it = *static_cast<Loop*>(self);
  for (const std::shared_ptr<Connection>& client :
      std::vector<std::shared_ptr<Connection>>(it.clients_.begin(), it.clients_.end()))
    if (!client->is_finishing()) client->protocol().refuse(*client, "the server ends");
  const timeval time = time_of(0.3);
  event_base_loopexit(it.base_, &time);
}
