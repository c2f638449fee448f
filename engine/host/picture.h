// SPDX-License-Identifier: Apache-2.0
// Reads PNG and JPEG files, and makes of them what a model reads. libpng and libjpeg leave a damaged file by longjmp;
// that stays in picture.cc.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>
#include "goldcrest/image.h"
#include "host/session.h"

namespace goldcrest::host {
struct Picture {
  uint32_t width = 0, height = 0;
  goldcrest_pixels format = GOLDCREST_RGB;  // or GREY, RGBA
  std::vector<uint8_t> pixels;              // row by row

  size_t step() const { return format == GOLDCREST_GREY ? 1 : format == GOLDCREST_RGBA ? 4 : 3; }
  size_t row_bytes() const { return width * step(); }
};

// Fills in the picture as its EXIF data says to show it. Returns why it cannot be read, or "".
std::string read_picture(std::FILE* file, Picture* picture);
std::string read_picture(const std::string& path, Picture* picture);

// *rows <- the feature rows of an image, for goldcrest_begin_features. Returns why there are none, or "".
#ifdef GOLDCREST_HAS_PICTURES
std::string read_rows(const Session& session, const std::string& path, std::vector<float>* rows);
#else
inline std::string read_rows(const Session&, const std::string&, std::vector<float>*) {
  return "is an image, which this build cannot read: it lacks libpng or libjpeg";
}
#endif
}  // namespace goldcrest::host
