// SPDX-License-Identifier: Apache-2.0
// The hash that says which checkpoint a model came from.
#include "sources/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <memory>

#include "sources/input_file.h"
#include "spec/error.h"

namespace goldcrest::converter {

std::string sha256_of_files(const std::vector<std::filesystem::path>& paths) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  bool good = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::vector<unsigned char> block(size_t{1} << 20);
  for (const auto& path : paths) {
    const InputFile file(path);
    for (uint64_t at = 0; good && at < file.size(); at += block.size()) {
      const auto n = static_cast<size_t>(std::min<uint64_t>(block.size(), file.size() - at));
      file.read(at, n, block.data());
      good = EVP_DigestUpdate(context.get(), block.data(), n) == 1;
    }
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int digest_bytes = 0;
  if (!good || EVP_DigestFinal_ex(context.get(), digest, &digest_bytes) != 1)
    throw Error("OpenSSL cannot compute SHA-256");
  std::string hex;
  for (unsigned int i = 0; i < digest_bytes; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace goldcrest::converter
