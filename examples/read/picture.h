// SPDX-License-Identifier: Apache-2.0
// Reads PNG and JPEG files. libpng and libjpeg leave a damaged file by longjmp; that stays in picture.cc.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>
#include "goldcrest/image.h"

struct Picture {
  uint32_t width = 0, height = 0;
  goldcrest_pixels format = GOLDCREST_RGB;  // or GREY, RGBA
  std::vector<uint8_t> pixels;              // row by row

  size_t step() const { return format == GOLDCREST_GREY ? 1 : format == GOLDCREST_RGBA ? 4 : 3; }
  size_t row_bytes() const { return width * step(); }
};

// Fills in the picture as its EXIF data says to show it. Returns why it cannot be read, or "".
std::string read_picture(std::FILE* file, Picture* picture);
