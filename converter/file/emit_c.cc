// SPDX-License-Identifier: Apache-2.0
#include "file/emit_c.h"
#include <algorithm>
#include <iterator>
#include <system_error>
#include "file/write.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr const char* kMadeBy = "/* Made by goldcrest-convert " GOLDCREST_VERSION "; changes are lost. */\n";

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

// Returns "#define PREFIX_NAME value" with a suffix that keeps the number whole in the preprocessor and in C.
std::string define(const std::string& prefix, const char* name, uint64_t value) {
  return format_text("#define {}_{} {}{}\n", prefix, name, value, value <= UINT32_MAX ? "u" : "ull");
}

std::string limits_in_c(const std::string& prefix, const goldcrest_limits& limits) {
  const std::pair<const char*, uint32_t> fields[] = {{"MAX_SOURCE_TOKENS", limits.max_source_tokens},
      {"MAX_SOURCE_BYTES", limits.max_source_bytes}, {"MAX_TARGET_TOKENS", limits.max_target_tokens},
      {"BEAM_SIZE", limits.beam_size}, {"BATCH", limits.batch}, {"N_BEST", limits.n_best},
      {"ENCODER_ROWS", limits.encoder_rows}, {"THREADS", limits.threads}, {"INSPECTION", limits.inspection},
      {"ALIGNMENT_LAYERS", limits.alignment_layers}, {"MAX_CANDIDATES", limits.max_candidates},
      {"MAX_PREFIX_TOKENS", limits.max_prefix_tokens}, {"MAX_SAMPLED", limits.max_sampled},
      {"LEXICON", limits.lexicon}};
  static_assert(sizeof limits == std::size(fields) * sizeof(uint32_t), "every field of goldcrest_limits, in its order");
  std::string text, names;
  for (const auto& [name, value] : fields) {
    text += define(prefix, name, value);
    names += format_text("{}{}_{}", names.empty() ? "" : ", ", prefix, name);
  }
  return text + format_text("#define {}_LIMITS {{{}}}\n", prefix, names);
}

std::string header_text(const EmitOptions& options, size_t model_bytes, const goldcrest_memory& memory) {
  const std::string prefix = upper(options.name);
  std::string text = kMadeBy;
  text += format_text("#ifndef {0}_H_\n#define {0}_H_\n\n#include \"goldcrest/goldcrest.h\"\n\n", prefix);
  text += format_text("#if GOLDCREST_FORMAT_VERSION < {}\n#error \"the model's format is newer than this engine\"\n",
      GOLDCREST_FORMAT_VERSION);
  text += "#endif\n\n/* The limits that the memory is planned for: goldcrest_config.limits. */\n";
  text += limits_in_c(prefix, memory.limits);
  text +=
      "\n/* Bytes at GOLDCREST_ALIGN: goldcrest_config.arena_bytes; with a scratch region MAIN there, SCRATCH here. "
      "*/\n";
  text += define(prefix, "ARENA_BYTES", memory.arena_bytes);
  text += define(prefix, "MAIN_BYTES", memory.main_bytes);
  text += define(prefix, "SCRATCH_BYTES", memory.scratch_bytes);
  text += format_text("#define {}_STACK_BYTES GOLDCREST_STACK_BYTES\n\n", prefix);
  text += define(prefix, "BYTES", model_bytes);
  text += "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  text += format_text(
      "/* The file, at GOLDCREST_ALIGN. */\nextern const unsigned char {}[{}_BYTES];\n\n", options.name, prefix);
  return text + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

// Assemblers search the include folders, so the file is found next to the header.
std::string assembler_text(const EmitOptions& options) {
  const std::string section = options.section.empty() ? ".rodata." + options.name : options.section;
  return format_text(
      "{0}\n"
      "  .section {1}, \"a\", %progbits\n"
      "  .balign {2}\n"
      "  .global {3}\n"
      "  .type {3}, %object\n"
      "{3}:\n"
      "  .incbin \"{3}.gcst\"\n"
      "  .size {3}, . - {3}\n\n"
      "  .section .note.GNU-stack, \"\", %progbits\n",
      kMadeBy, section, GOLDCREST_ALIGN, options.name);
}

std::string array_text(const EmitOptions& options, std::span<const uint8_t> model) {
  std::string text = format_text(
      "{}#include \"{}.h\"\n\n"
      "#if defined(__GNUC__)\n"
      "#define MODEL_ALIGNED __attribute__((aligned(GOLDCREST_ALIGN)))\n"
      "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
      "#define MODEL_ALIGNED _Alignas(GOLDCREST_ALIGN)\n"
      "#else\n"
      "#error \"no way is known to align an array with this compiler; use C11\"\n"
      "#endif\n\n",
      kMadeBy, options.name);
  std::string placed;
  if (!options.section.empty()) {
    text += format_text(
        "#if defined(__GNUC__)\n"
        "#define MODEL_PLACED __attribute__((section(\"{0}\")))\n"
        "#else\n"
        "#error \"no way is known to place an array in {0} with this compiler; convert without --section\"\n"
        "#endif\n\n",
        options.section);
    placed = " MODEL_PLACED";
  }
  text +=
      format_text("MODEL_ALIGNED{} const unsigned char {}[{}_BYTES] = {{", placed, options.name, upper(options.name));
  text.reserve(text.size() + 4 * model.size() + model.size() / 16);
  constexpr size_t kBytesPerLine = 32;
  for (size_t i = 0; i < model.size(); ++i) {
    if (i % kBytesPerLine == 0) text += '\n';
    text += std::to_string(model[i]) + ',';
  }
  return text + "\n};\n";
}

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
}  // namespace

std::string c_name(const std::string& name) {
  std::string out = "model_" + name;
  if (std::ranges::none_of(name, is_letter_or_digit))
    throw Error("the model's name '{}' has no letter or digit for a C name; give another with --name", name);
  std::ranges::replace_if(
      out, [](char c) { return !is_letter_or_digit(c); }, '_');
  return out;
}

void check_section_name(const std::string& section) {
  const auto is_plain = [](char c) { return is_letter_or_digit(c) || c == '_' || c == '.'; };
  if (!section.empty() && std::ranges::all_of(section, is_plain)) return;
  throw Error("'{}' is not a section name; expected letters, digits, '_' and '.'", section);
}

std::vector<std::filesystem::path> emit_c(const std::filesystem::path& folder, const EmitOptions& options,
    std::span<const uint8_t> model, const goldcrest_memory& memory) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error("{}: creating the directory failed: {}", folder.string(), error.message());
  std::vector<std::filesystem::path> written;
  const auto put = [&](const char* ending, std::span<const uint8_t> bytes) {
    written.push_back(folder / (options.name + ending));
    write_file(written.back(), bytes);
  };
  if (options.array) {
    put(".c", bytes_of(array_text(options, model)));
  } else {
    put(".gcst", model);
    put(".S", bytes_of(assembler_text(options)));
  }
  put(".h", bytes_of(header_text(options, model.size(), memory)));
  return written;
}
}  // namespace goldcrest::converter
