// SPDX-License-Identifier: Apache-2.0
// Reads HTTP/1.1 requests, multipart bodies and forms of untrusted bytes, part by part. Bodies are not collected here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct HttpHead {
  std::string method, target, path;            // path: the target without its query
  std::map<std::string, std::string> headers;  // by small letters; of several, their values with commas between
  bool keeps_alive = true;

  // Returns a header, or "".
  std::string header(const std::string& name) const;
};

// Reads one request: its head, then its body.
class HttpReader {
 public:
  static constexpr size_t kMostHead = size_t{1} << 14;

  // Takes bytes; returns how many are used. Bytes of the body go to `body`, which returns false if it wants no more.
  // Stops at the end of the head, so that `body` may be set, and at the end of the request.
  size_t take(std::string_view bytes);

  HttpHead head;
  std::function<bool(std::string_view)> body;
  uint64_t most_body = UINT64_MAX;
  bool has_head = false, is_done = false;
  int status = 0;  // an error's status; 0: none
  std::string problem;
  bool is_begun() const { return is_begun_; }
 private:
  enum class Part { kHead, kBody, kSize, kChunk, kChunkEnd, kTrailer };
  void fail(int code, std::string why);
  void read_line(std::string_view line);
  void read_head(std::string_view line);
  void end_head();
  void give(std::string_view bytes);

  Part part_ = Part::kHead;
  bool is_begun_ = false;
  std::string line_;
  size_t n_head_ = 0;
  uint64_t n_left_ = 0, n_body_ = 0;
};

// Reads a body of multipart/form-data.
class MultipartReader {
 public:
  using Begin = std::function<bool(const std::string& name, const std::string& filename)>;
  using Data = std::function<bool(std::string_view)>;
  // begin: a part begins; data: its bytes. Both return false to end the reading.
  MultipartReader(const std::string& content_type, Begin begin, Data data);

  // Returns false after a problem.
  bool take(std::string_view bytes);
  bool is_done() const { return part_ == Part::kAfter; }
  const std::string& problem() const { return problem_; }
 private:
  enum class Part { kBefore, kDelimiter, kHeader, kData, kAfter };
  bool read_header();

  std::string delimiter_, held_ = "\r\n", problem_;
  Begin begin_;
  Data data_;
  Part part_ = Part::kBefore;
  size_t n_parts_ = 0;
};

// Returns a parameter of a header's value, as name of: form-data; name="file".
std::string header_parameter(std::string_view value, const std::string& name);

// Reads the fields of a form, "a=b&c=d%20e".
std::vector<std::pair<std::string, std::string>> read_form(std::string_view body);
