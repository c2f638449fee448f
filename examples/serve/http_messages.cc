// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1: RFC 9110 and RFC 9112. Forms: RFC 7578 and the URL standard.
#include "http_messages.h"
#include <algorithm>

namespace {
std::string small_letters(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_token(std::string_view text) {
  const auto is_of_token = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_of_token);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char low = static_cast<char>(c | 0x20);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

// Reads all of a text as a number below 2^60.
bool read_size(std::string_view text, unsigned base, uint64_t* size) {
  *size = 0;
  for (const char c : text) {
    const int digit = hex_digit(c);
    if (digit < 0 || digit >= static_cast<int>(base) || *size >= uint64_t{1} << 55) return false;
    *size = *size * base + static_cast<unsigned>(digit);
  }
  return !text.empty();
}
}  // namespace

std::string HttpHead::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

void HttpReader::fail(int code, std::string why) {
  status = code;
  problem = std::move(why);
}

size_t HttpReader::take(std::string_view bytes) {
  size_t used = 0;
  const bool had_head = has_head;
  while (used < bytes.size() && status == 0 && !is_done && has_head == had_head) {
    const std::string_view rest = bytes.substr(used);
    if (part_ == Part::kBody || part_ == Part::kChunk) {
      const size_t n = static_cast<size_t>(std::min<uint64_t>(rest.size(), n_left_));
      used += n;
      give(rest.substr(0, n));
      continue;
    }
    is_begun_ = true;
    const size_t end = std::min(rest.find('\n'), rest.size());
    n_head_ += end + 1;
    if (n_head_ > kMostHead) {
      fail(431, "the headers have more than 16384 bytes");
      break;
    }
    line_.append(rest.substr(0, end));
    used += std::min(end + 1, rest.size());
    if (end == rest.size()) break;
    if (line_.empty() || line_.back() != '\r' || line_.find('\0') != line_.npos) {
      fail(400, "a line of the request does not end with CR LF, or has a NUL");
      break;
    }
    line_.pop_back();
    const std::string line = std::move(line_);
    line_.clear();
    read_line(line);
  }
  return used;
}

void HttpReader::give(std::string_view bytes) {
  n_left_ -= bytes.size();
  const std::string_view taken =
      bytes.substr(0, static_cast<size_t>(std::min<uint64_t>(bytes.size(), most_body - n_body_)));
  n_body_ += taken.size();
  if (body && !body(taken)) return fail(400, "the body is refused");
  if (taken.size() < bytes.size()) return fail(413, "the body has more than " + std::to_string(most_body) + " bytes");
  if (n_left_ > 0) return;
  is_done = part_ == Part::kBody;
  part_ = Part::kChunkEnd;
}

void HttpReader::read_line(std::string_view line) {
  if (part_ == Part::kHead) return read_head(line);
  if (part_ == Part::kTrailer) {
    is_done = line.empty();
    return;
  }
  if (part_ == Part::kChunkEnd) {
    n_head_ = 0;
    part_ = Part::kSize;
    return line.empty() ? void() : fail(400, "a chunk is longer than its size says");
  }
  if (!read_size(trimmed(line.substr(0, line.find(';'))), 16, &n_left_))
    return fail(400, "a chunk's size is no hexadecimal number");
  part_ = n_left_ > 0 ? Part::kChunk : Part::kTrailer;
}

void HttpReader::read_head(std::string_view line) {
  if (head.method.empty()) {
    if (line.empty()) return;  // some clients end a body so
    const size_t first = line.find(' '), last = line.rfind(' ');
    const std::string_view version = last == line.npos ? "" : line.substr(last + 1);
    if (first == line.npos || first == last || !is_token(line.substr(0, first)) || version.substr(0, 5) != "HTTP/")
      return fail(400, "the first line is no HTTP request");
    if (version != "HTTP/1.1" && version != "HTTP/1.0") return fail(505, "the request's version is not HTTP/1.1");
    head.method = line.substr(0, first);
    head.target = line.substr(first + 1, last - first - 1);
    head.path = head.target.substr(0, head.target.find('?'));
    head.keeps_alive = version == "HTTP/1.1";
    return;
  }
  if (line.empty()) return end_head();
  const size_t colon = std::min(line.find(':'), line.size());
  if (colon == line.size() || !is_token(line.substr(0, colon))) return fail(400, "a header has no name");
  const auto [found, is_new] =
      head.headers.emplace(small_letters(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  if (!is_new) found->second += "," + std::string(trimmed(line.substr(colon + 1)));
}

void HttpReader::end_head() {
  const std::string coding = small_letters(head.header("transfer-encoding")), length = head.header("content-length");
  const std::string connection = small_letters(head.header("connection"));
  if (connection.find("close") != connection.npos) head.keeps_alive = false;
  if (!coding.empty() && coding != "chunked") return fail(501, "the request's transfer coding is not \"chunked\"");
  if (!coding.empty() && !length.empty()) return fail(400, "the request has both a length and a transfer coding");
  if (!length.empty() && !read_size(length, 10, &n_left_)) return fail(400, "the Content-Length is no number");
  has_head = true;
  n_head_ = 0;
  part_ = coding.empty() ? Part::kBody : Part::kSize;
  is_done = coding.empty() && n_left_ == 0;
}

std::string header_parameter(std::string_view value, const std::string& name) {
  for (size_t at = value.find(';'); at < value.size();) {
    ++at;
    const size_t equals = value.find('=', at);
    if (equals == value.npos) break;
    const std::string key = small_letters(trimmed(value.substr(at, equals - at)));
    std::string word;
    at = equals + 1;
    if (at < value.size() && value[at] == '"') {
      for (++at; at < value.size() && value[at] != '"'; ++at) {
        if (value[at] == '\\' && at + 1 < value.size()) ++at;
        word += value[at];
      }
      at = value.find(';', at);
    } else {
      const size_t end = std::min(value.find(';', at), value.size());
      word = trimmed(value.substr(at, end - at));
      at = end;
    }
    if (key == name) return word;
  }
  return "";
}

MultipartReader::MultipartReader(const std::string& content_type, Begin begin, Data data)
    : begin_(std::move(begin)), data_(std::move(data)) {
  const std::string boundary = header_parameter(content_type, "boundary");
  delimiter_ = "\r\n--" + boundary;
  if (boundary.empty() || boundary.size() > 70) problem_ = "the Content-Type has no boundary of 1 to 70 characters";
}

bool MultipartReader::read_header() {
  constexpr size_t kMostParts = 64;
  std::string name, filename;
  for (size_t at = 0; at < held_.size();) {
    const size_t end = std::min(held_.find("\r\n", at), held_.size());
    const std::string_view line = std::string_view(held_).substr(at, end - at);
    if (small_letters(line.substr(0, 20)) == "content-disposition:") {
      name = header_parameter(line, "name");
      filename = header_parameter(line, "filename");
    }
    at = end + 2;
  }
  if (name.empty()) problem_ = "a part of the form has no name";
  if (++n_parts_ > kMostParts) problem_ = "the form has more than 64 parts";
  return problem_.empty() && begin_(name, filename);
}

bool MultipartReader::take(std::string_view bytes) {
  constexpr size_t kMostHeader = 4096;
  held_.append(bytes);
  for (bool more = problem_.empty(); more;) {
    more = false;
    if (part_ == Part::kBefore || part_ == Part::kData) {
      const size_t found = held_.find(delimiter_);
      // The end may be the beginning of a delimiter.
      const size_t n = found != held_.npos ? found : held_.size() - std::min(held_.size(), delimiter_.size() - 1);
      if (part_ == Part::kData && n > 0 && !data_(std::string_view(held_).substr(0, n))) return false;
      held_.erase(0, found != held_.npos ? n + delimiter_.size() : n);
      more = found != held_.npos;
      if (more) part_ = Part::kDelimiter;
    } else if (part_ == Part::kDelimiter && held_.size() >= 2) {
      more = held_.compare(0, 2, "\r\n") == 0;
      part_ = more ? Part::kHeader : Part::kAfter;
      if (!more && held_.compare(0, 2, "--") != 0) problem_ = "a boundary of the form is followed by other characters";
      if (more) held_.erase(0, 2);
    } else if (part_ == Part::kHeader) {
      const size_t end = held_.find("\r\n\r\n");
      if (end == held_.npos && held_.size() > kMostHeader) problem_ = "a part's headers have more than 4096 bytes";
      if (end == held_.npos) break;
      const std::string rest = held_.substr(end + 4);
      held_.resize(end);
      if (!read_header()) return false;
      held_ = rest;
      part_ = Part::kData;
      more = true;
    } else if (part_ == Part::kAfter) {
      held_.clear();
    }
  }
  return problem_.empty();
}

std::vector<std::pair<std::string, std::string>> read_form(std::string_view body) {
  std::vector<std::pair<std::string, std::string>> fields;
  const auto decoded = [](std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
      out += low >= 0 ? static_cast<char>(high * 16 + low) : text[i] == '+' ? ' ' : text[i];
      i += low >= 0 ? 2 : 0;
    }
    return out;
  };
  for (size_t at = 0; at < body.size();) {
    const size_t end = std::min(body.find('&', at), body.size());
    const std::string_view field = body.substr(at, end - at);
    const size_t equals = std::min(field.find('='), field.size());
    fields.emplace_back(decoded(field.substr(0, equals)), decoded(field.substr(std::min(equals + 1, field.size()))));
    at = end + 1;
  }
  return fields;
}
