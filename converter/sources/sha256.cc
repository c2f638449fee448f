// SPDX-License-Identifier: Apache-2.0
// The hash that says which checkpoint a model came from.
#include "sources/sha256.h"

// The functions of OpenSSL 1.1: those that came after them bring all of a static OpenSSL along, for one hash.
#define OPENSSL_API_COMPAT 10100
#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>

#include "sources/input_file.h"
#include "spec/error.h"

namespace goldcrest::converter {

std::string sha256_of_files(const std::vector<std::filesystem::path>& paths) {
  SHA256_CTX context;
  bool good = SHA256_Init(&context) == 1;
  std::vector<unsigned char> block(size_t{1} << 20);
  for (const auto& path : paths) {
    const InputFile file(path);
    for (uint64_t at = 0; good && at < file.size(); at += block.size()) {
      const auto n = static_cast<size_t>(std::min<uint64_t>(block.size(), file.size() - at));
      file.read(at, n, block.data());
      good = SHA256_Update(&context, block.data(), n) == 1;
    }
  }
  unsigned char digest[SHA256_DIGEST_LENGTH];
  if (!good || SHA256_Final(digest, &context) != 1) throw Error("OpenSSL cannot compute SHA-256");
  std::string hex;
  for (const unsigned char byte : digest) hex += fmt::format("{:02x}", byte);
  return hex;
}

}  // namespace goldcrest::converter
