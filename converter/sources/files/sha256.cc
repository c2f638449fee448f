// SPDX-License-Identifier: Apache-2.0
#include "sources/files/sha256.h"

// Uses only the functions of OpenSSL 1.1, because later ones link most of a static OpenSSL for one hash.
#define OPENSSL_API_COMPAT 10100
#include <openssl/sha.h>
#include <algorithm>
#include "sources/files/input_file.h"
#include "spec/error.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {
class Sha256 {
 public:
  void add(const void* bytes, size_t n) { good_ = good_ && SHA256_Update(&context_, bytes, n) == 1; }
  std::string hex() {
    unsigned char digest[SHA256_DIGEST_LENGTH];
    if (!good_ || SHA256_Final(digest, &context_) != 1) throw Error("OpenSSL cannot compute SHA-256");
    std::string text;
    for (const unsigned char byte : digest) text += format_text("{:02x}", byte);
    return text;
  }
 private:
  SHA256_CTX context_{};
  bool good_ = SHA256_Init(&context_) == 1;
};
}  // namespace

std::string sha256_of(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.hex();
}

std::string sha256_of_files(const std::vector<std::filesystem::path>& paths) {
  Sha256 hash;
  std::vector<unsigned char> block(size_t{1} << 20);
  for (const auto& path : paths) {
    const InputFile file(path);
    for (uint64_t at = 0; at < file.size(); at += block.size()) {
      const auto n = static_cast<size_t>(std::min<uint64_t>(block.size(), file.size() - at));
      file.read(at, n, block.data());
      hash.add(block.data(), n);
    }
  }
  return hash.hex();
}
}  // namespace goldcrest::converter
