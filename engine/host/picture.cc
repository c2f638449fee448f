// SPDX-License-Identifier: Apache-2.0
#include "host/picture.h"

// libjpeg's header needs stdio's before it.
#include <jpeglib.h>
#include <png.h>
#include <cerrno>
#include <csetjmp>
#include <cstring>
#include <memory>
#include <string_view>

namespace goldcrest::host {
namespace {
constexpr uint32_t kMostSide = 65535;
constexpr uint64_t kMostPixels = 100000000;
constexpr size_t kSignatureBytes = 8;

// The state that both libraries' callbacks reach.
struct Decoding {
  std::jmp_buf end;
  char problem[300] = "";  // a longjmp destroys no strings
  std::vector<png_bytep> rows;
  unsigned orientation = 1;  // EXIF's, 1 to 8

  [[noreturn]] void stop(const char* before, const char* why) {
    std::snprintf(problem, sizeof problem, "%s%s", before, why);
    std::longjmp(end, 1);
  }
  void check_size(uint32_t width, uint32_t height) {
    const bool is_good = width - 1 < kMostSide && height - 1 < kMostSide && uint64_t{width} * height < kMostPixels;
    if (is_good) return;
    char size[60];
    std::snprintf(size, sizeof size, "has %u x %u pixels", width, height);
    stop(size, "; expected 1 to 65,535 a side, and fewer than 100,000,000");
  }
  void make_room(Picture* picture) {
    picture->pixels.resize(picture->row_bytes() * picture->height);
    for (uint32_t y = 0; y < picture->height; ++y) rows.push_back(&picture->pixels[y * picture->row_bytes()]);
  }
};

// Returns the tag "orientation" (274) of the first directory of EXIF data in TIFF's format; 1 without it.
unsigned orientation_of(std::string_view tiff) {
  const bool is_little = tiff.substr(0, 2) == "II";
  const auto number = [&](size_t at, size_t bytes) {
    size_t value = 0;
    for (size_t i = 0; i < bytes && at + bytes <= tiff.size(); ++i)
      value = value << 8 | static_cast<uint8_t>(tiff[is_little ? at + bytes - 1 - i : at + i]);
    return value;
  };
  const size_t directory = number(4, 4), n = number(directory, 2);
  for (size_t i = 0; i < n && directory + 2 + 12 * i < tiff.size(); ++i)
    if (const size_t entry = directory + 2 + 12 * i; number(entry, 2) == 274)
      return static_cast<unsigned>(number(entry + 8, 2));
  return 1;
}

void turn(unsigned orientation, Picture* picture) {
  if (orientation < 2 || orientation > 8) return;
  const bool swaps = orientation >= 5, from_right = orientation == 2 || orientation == 3 || orientation >= 7;
  const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const Picture stored = *picture;
  if (swaps) std::swap(picture->width, picture->height);
  uint8_t* out = picture->pixels.data();
  for (uint32_t y = 0; y < picture->height; ++y) {
    for (uint32_t x = 0; x < picture->width; ++x, out += stored.step()) {
      const uint32_t along = swaps ? y : x, down = swaps ? x : y;
      const size_t column = from_right ? stored.width - 1 - along : along;
      const size_t row = from_bottom ? stored.height - 1 - down : down;
      std::memcpy(out, &stored.pixels[row * stored.row_bytes() + column * stored.step()], stored.step());
    }
  }
}

void decode_png(png_structp png, png_infop info, Decoding* decoding, Picture* picture) {
  if (setjmp(decoding->end) != 0) return;
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);  // check_size says it better
  // libpng's own reader of this chunk asks for as much memory as the chunk says to have.
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_ALWAYS, reinterpret_cast<png_const_bytep>("eXIf"), 1);
  png_set_sig_bytes(png, kSignatureBytes);
  png_read_info(png, info);
  decoding->check_size(png_get_image_width(png, info), png_get_image_height(png, info));
  png_set_expand(png);  // palettes, fewer bits, transparent colours
  png_set_strip_16(png);
  const bool has_alpha =
      (png_get_color_type(png, info) & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  if (has_alpha) png_set_gray_to_rgb(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  picture->width = png_get_image_width(png, info);
  picture->height = png_get_image_height(png, info);
  const png_byte channels = png_get_channels(png, info);
  picture->format = channels == 1 ? GOLDCREST_GREY : channels == 4 ? GOLDCREST_RGBA : GOLDCREST_RGB;
  decoding->make_room(picture);
  png_read_image(png, decoding->rows.data());
  png_read_end(png, info);
  png_unknown_chunkp exif = nullptr;
  if (png_get_unknown_chunks(png, info, &exif) > 0)
    decoding->orientation = orientation_of({reinterpret_cast<const char*>(exif->data), exif->size});
}

void read_png(std::FILE* file, Decoding* decoding, Picture* picture) {
  const auto stop = [](png_structp png, png_const_charp why) {
    static_cast<Decoding*>(png_get_error_ptr(png))->stop("is damaged: ", why);
  };
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, decoding, stop, [](png_structp, png_const_charp) {});
  png_infop info = png == nullptr ? nullptr : png_create_info_struct(png);
  if (info != nullptr) {
    png_init_io(png, file);
    decode_png(png, info, decoding, picture);
  } else {
    std::snprintf(decoding->problem, sizeof decoding->problem, "libpng cannot start");
  }
  png_destroy_read_struct(&png, &info, nullptr);
}

void decode_jpeg(jpeg_decompress_struct* jpeg, Decoding* decoding, Picture* picture) {
  if (setjmp(decoding->end) != 0) return;
  constexpr int kExif = JPEG_APP0 + 1;
  constexpr std::string_view kExifName("Exif\0\0", 6);
  jpeg_save_markers(jpeg, kExif, 0xffff);
  jpeg_read_header(jpeg, TRUE);
  decoding->check_size(jpeg->image_width, jpeg->image_height);
  if (jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK)
    decoding->stop("has colours for print (CMYK)", "; expected grey or RGB: convert it");
  const bool is_grey = jpeg->jpeg_color_space == JCS_GRAYSCALE;
  jpeg->out_color_space = is_grey ? JCS_GRAYSCALE : JCS_RGB;
  *picture = {jpeg->image_width, jpeg->image_height, is_grey ? GOLDCREST_GREY : GOLDCREST_RGB, {}};
  decoding->make_room(picture);
  jpeg_start_decompress(jpeg);
  while (jpeg->output_scanline < jpeg->output_height)
    jpeg_read_scanlines(jpeg, &decoding->rows[jpeg->output_scanline], 1);
  for (const jpeg_marker_struct* marker = jpeg->marker_list; marker != nullptr; marker = marker->next) {
    const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
    if (data.substr(0, kExifName.size()) == kExifName)
      decoding->orientation = orientation_of(data.substr(kExifName.size()));
  }
  jpeg_finish_decompress(jpeg);
}

void read_jpeg(std::FILE* file, Decoding* decoding, Picture* picture) {
  jpeg_decompress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  jpeg.err = jpeg_std_error(&errors);
  jpeg.client_data = decoding;
  errors.error_exit = [](j_common_ptr common) {
    char why[JMSG_LENGTH_MAX];
    common->err->format_message(common, why);
    static_cast<Decoding*>(common->client_data)->stop("is damaged: ", why);
  };
  errors.emit_message = [](j_common_ptr common, int level) {  // below 0: data that is wrong, as at a file's early end
    if (level < 0) common->err->error_exit(common);
  };
  jpeg_create_decompress(&jpeg);
  jpeg_stdio_src(&jpeg, file);
  decode_jpeg(&jpeg, decoding, picture);
  jpeg_destroy_decompress(&jpeg);
}
}  // namespace

std::string read_picture(std::FILE* file, Picture* picture) {
  Decoding decoding;
  uint8_t first[kSignatureBytes] = {};
  const size_t n = std::fread(first, 1, sizeof first, file);
  if (n == sizeof first && png_sig_cmp(first, 0, n) == 0) {
    read_png(file, &decoding, picture);
  } else if (n > 2 && first[0] == 0xff && first[1] == 0xd8) {
    std::rewind(file);
    read_jpeg(file, &decoding, picture);
  } else {
    return "is neither PNG nor JPEG";
  }
  if (decoding.problem[0] == 0) turn(decoding.orientation, picture);
  return decoding.problem;
}

std::string read_picture(const std::string& path, Picture* picture) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  return file ? read_picture(file.get(), picture) : std::string("cannot be read: ") + std::strerror(errno);
}

std::string read_rows(const Session& session, const std::string& path, std::vector<float>* rows) {
  Picture picture;
  const std::string problem = read_picture(path, &picture);
  if (!problem.empty()) return problem;
  goldcrest_image image = {};
  image.width = picture.width;
  image.height = picture.height;
  image.format = picture.format;
  rows->resize(goldcrest_image_bytes(&image, session.engine()) / sizeof(float) + 1);
  int status = goldcrest_image_begin(&image, session.engine(), rows->data(), rows->size() * sizeof(float));
  for (uint32_t y = 0; status >= 0 && y < picture.height; ++y)
    status = goldcrest_image_row(&image, &picture.pixels[y * picture.row_bytes()]);
  rows->resize(image.n * image.channels);
  return status < 0 ? session.describe(status) : "";
}
}  // namespace goldcrest::host
