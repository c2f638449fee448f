// SPDX-License-Identifier: Apache-2.0
// Any bytes as a picture of goldcrest-read: refused with a reason, or turned as it says, with all of its pixels.
#include "fuzz/script.h"
#include "host/picture.h"

void goldcrest::test::run_input(Script script) {
  std::string bytes(script.rest());
  bytes += '\0';  // fmemopen opens no empty file
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(fmemopen(bytes.data(), bytes.size(), "rb"), std::fclose);
  host::Picture picture;
  if (!file || !read_picture(file.get(), &picture).empty()) return;
  require(picture.width > 0 && picture.height > 0, "a picture has pixels");
  require(picture.pixels.size() == picture.row_bytes() * picture.height, "all pixels of a picture are there");
}
