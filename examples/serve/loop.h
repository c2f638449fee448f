// SPDX-License-Identifier: Apache-2.0
// The loop of the server: it waits for all clients at once, reads and writes their bytes, and runs no model.
#pragma once

#include <event2/event.h>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

struct bufferevent;
struct evconnlistener;
struct sockaddr;

class Connection;
class Loop;

// Serves one client in one kind of protocol. All functions run in the loop.
class Protocol {
 public:
  virtual ~Protocol() = default;
  // Takes bytes of the client. Returns how many are used; the others come again with the next ones.
  virtual size_t take(Connection& client, std::string_view bytes) = 0;
  // The client sends no more.
  virtual void end(Connection& client) = 0;
  // Answers the request under way with an error, and nothing else after it.
  virtual void refuse(Connection& client, const std::string& why) = 0;
  // Returns whether the client has something to wait for.
  virtual bool is_busy() const = 0;
};

using ProtocolMaker = std::function<std::unique_ptr<Protocol>()>;

// One client. It lives until its last byte is sent, it goes, or it takes too long.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Loop* loop, std::string name, std::unique_ptr<Protocol> protocol)
      : loop_(loop), name_(std::move(name)), protocol_(std::move(protocol)) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Sends bytes. A client that leaves more than kMostUnsent unread is let go.
  void write(std::string_view bytes);
  // Ends the connection once all is sent.
  void finish();
  // The same, but what the client still sends is read away for a while, so that it sees its answer.
  void finish_gently();
  // Reads nothing more from the client until resume(), which offers what has come again.
  void pause();
  void resume();
  // Lets the client go if it has not sent its request, or read its answer, within this time. 0: no limit.
  void set_deadline(double seconds);
  // Writes a line about the client to standard error.
  void log(const std::string& text) const;
  Protocol& protocol() { return *protocol_; }
  Loop& loop() { return *loop_; }
  bool is_finishing() const { return is_finishing_; }
 private:
  friend class Loop;
  static constexpr size_t kMostUnsent = size_t{1} << 22, kMostUnread = size_t{1} << 18;

  void begin(int input, int output);
  void read();
  void close();
  static void on_read(bufferevent*, void* self);
  static void on_sent(bufferevent*, void* self);
  static void on_event(bufferevent*, short what, void* self);
  static void on_deadline(evutil_socket_t, short, void* self);

  Loop* loop_;
  std::string name_;
  std::unique_ptr<Protocol> protocol_;
  bufferevent *in_ = nullptr, *out_ = nullptr;  // one for a socket
  event* deadline_ = nullptr;
  bool is_finishing_ = false, is_paused_ = false, has_ended_ = false, is_reading_ = false, is_gentle_ = false;
};

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Listens at tcp://HOST:PORT, unix://PATH or HOST:PORT. Returns why it cannot, or "".
  std::string listen(const std::string& address, ProtocolMaker maker);
  // Takes a socket that listens already.
  std::string adopt(int listening, ProtocolMaker maker);
  // Serves standard input and output; the loop ends with them.
  std::string serve_stdio(ProtocolMaker maker);

  // Runs work in the loop. Any thread may call it.
  void post(std::function<void()> work);
  // Returns when a signal came and all clients have their answers, or kMostSeconds after the signal.
  void run();
  bool is_stopping() const { return is_stopping_; }

  // Returns whether only this machine reaches an address.
  static bool is_local(const std::string& address);

  uint32_t max_clients = 256;
  std::function<void()> on_stop;  // at the signal
 private:
  friend class Connection;
  struct Listener {
    Loop* loop;
    ProtocolMaker maker;
    evconnlistener* listener;
    std::string path;  // a unix socket's
  };
  static constexpr double kMostSeconds = 1.5;

  void add(int socket, std::string name, std::unique_ptr<Protocol> protocol);
  void remove(Connection* client);
  void stop();
  void end_if_idle();
  static void on_accept(evconnlistener*, evutil_socket_t socket, sockaddr* from, int length, void* listener);
  static void on_posted(evutil_socket_t, short, void* self);
  static void on_signal(evutil_socket_t, short, void* self);
  static void on_last_second(evutil_socket_t, short, void* self);

  event_base* base_;
  int wake_[2] = {-1, -1};
  event *posted_ = nullptr, *last_second_ = nullptr;
  event* signals_[2] = {};
  std::mutex mutex_;
  std::deque<std::function<void()>> work_;
  std::list<Listener> listeners_;
  std::list<std::shared_ptr<Connection>> clients_;
  std::atomic<bool> is_stopping_ = false;
  bool has_stdio_ = false;
};
