/* SPDX-License-Identifier: Apache-2.0
 *
 * Firmware that measures the engine on a board, with the pronunciation model: the ticks of starting, tokenizing,
 * encoding, one target position and a whole search. The last line has the same figures as JSON, for programs.
 */
#include <stddef.h>
#include <stdint.h>
#include "benchmark_hook.h"
#include "board_api.h"
#include "console_text.h"
#include "goldcrest/goldcrest.h"
#include "model_g2p.h" /* goldcrest_add_model in CMakeLists.txt */
#include "worst_step.h"

enum { kPhonemeBytes = 4 /* three letters and a space */, kNameColumn = 44, kTicksColumn = 12 };

static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_G2P_ARENA_BYTES];

static const struct word {
  const char *text;
  size_t n_letters;
} kWords[] = {{"goldcrest", 9}, {"translation", 11}, {"heap", 4}, {"microcontroller", 15}, {"through", 7}};
enum { kNWords = sizeof kWords / sizeof kWords[0] };

/* One line of the table: the ticks of all measured intervals, and the number of times that the part was done in them.
 */
typedef struct part {
  const char *name;
  uint64_t ticks, count;
} part;

/* The lines of one search. */
typedef struct search_parts {
  part encoder, position, whole;
  const char *step, *layer_step; /* at most */
} search_parts;

/* The figures of the table's lines, for the JSON: means, and the most ticks of a step. */
typedef struct lines {
  struct {
    const char *name;
    uint64_t ticks;
  } of[16];
  size_t n;
} lines;
static lines means, mosts;

void __attribute__((weak)) benchmark_begin(const char *name) { (void)name; }
void __attribute__((weak)) benchmark_end(const char *name) { (void)name; }

static uint64_t begin(const part *p) {
  benchmark_begin(p->name);
  return board_ticks();
}

/* Ends the interval that began at `start`, in which the part was done `count` times. */
static void end(part *p, uint64_t start, uint64_t count) {
  p->ticks += board_ticks() - start;
  benchmark_end(p->name);
  p->count += count;
}

static void put_right(uint64_t value, int column) {
  for (uint64_t rest = value; column > 1; --column, rest /= 10)
    if (rest < 10) put_text(" ");
  put_unsigned(value);
}

static void print_line(lines *kept, const char *name, uint64_t ticks) {
  int column = kNameColumn;
  for (const char *letter = name; *letter != '\0'; ++letter) --column;
  put_text(name);
  for (; column > 0; --column) put_text(" ");
  if (kept->n < sizeof kept->of / sizeof kept->of[0]) {
    kept->of[kept->n].name = name;
    kept->of[kept->n++].ticks = ticks;
  }
  const uint64_t rate = board_ticks_per_second();
  put_right(ticks, kTicksColumn);
  put_right((ticks * 1000000 + rate - 1) / rate, kTicksColumn); /* rounded up, so that it is a bound where ticks are */
  put_text("\n");
}

/* Prints the mean over `count`. */
static void print_part(const part *p) { print_line(&means, p->name, p->count > 0 ? p->ticks / p->count : 0); }

static void check(const char *what, int64_t status, const goldcrest_detail *detail) {
  if (status >= 0) return;
  put_error(what, (int)status, detail);
  board_exit(1);
}

static goldcrest_engine *start_engine(goldcrest_detail *detail) {
  const goldcrest_config config = {
      .model = model_g2p,
      .model_bytes = MODEL_G2P_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_G2P_LIMITS,
      .detail = detail,
  };
  goldcrest_engine *engine;
  part init = {.name = "init, with every check of the model"};
  const uint64_t start = begin(&init);
  const int status = goldcrest_init(&engine, &config);
  end(&init, start, 1);
  if (status < 0) {
    put_init_error("init", status, &config);
    board_exit(1);
  }
  put_start(engine, MODEL_G2P_BYTES, sizeof arena);
  put_text("Means over ");
  put_unsigned(kNWords);
  put_text(" words; ");
  put_unsigned(board_ticks_per_second());
  put_text(" ticks a second.\n");
  put_text("                                                   ticks          us\n");
  print_part(&init);
  return engine;
}

static goldcrest_search search_of(uint32_t beam_size) {
  const goldcrest_search search = {.beam_size = beam_size, .length_penalty = 1.0f};
  return search;
}

static void set_beam(goldcrest_engine *engine, uint32_t beam_size, const goldcrest_detail *detail) {
  const goldcrest_search search = search_of(beam_size);
  check("search", goldcrest_set_search(engine, &search), detail);
}

/* Returns the number of steps in a word's encoder work: those of a greedy search that give no token. */
static uint32_t count_encoder_steps(goldcrest_engine *engine, const struct word *word, const goldcrest_detail *detail) {
  uint32_t n_steps = 0;
  set_beam(engine, 1, detail);
  int status = goldcrest_begin_text(engine, word->text, word->n_letters);
  while (status >= 0 && status != GOLDCREST_DONE) {
    status = goldcrest_step(engine, NULL);
    if (status == GOLDCREST_WORKING) ++n_steps;
  }
  check(word->text, status, detail);
  return n_steps;
}

static void print_text_parts(goldcrest_engine *engine, const goldcrest_detail *detail) {
  part tokenizer = {.name = "tokenizer, one word"}, detokenizer = {.name = "detokenizer, one word"};
  set_beam(engine, 1, detail);
  for (size_t i = 0; i < kNWords; ++i) {
    uint64_t start = begin(&tokenizer);
    int status = goldcrest_begin_text(engine, kWords[i].text, kWords[i].n_letters);
    end(&tokenizer, start, 1);
    if (status >= 0) status = goldcrest_run(engine);
    goldcrest_result best;
    if (status >= 0) status = goldcrest_get_result(engine, 0, 0, &best);
    check(kWords[i].text, status, detail);
    char phonemes[kPhonemeBytes * MODEL_G2P_MAX_TARGET_TOKENS];
    goldcrest_text_state state = {0};
    start = begin(&detokenizer);
    const int64_t n = goldcrest_detokenize(engine, &state, best.tokens, best.n_tokens, phonemes, sizeof phonemes);
    end(&detokenizer, start, 1);
    check(kWords[i].text, n, detail);
  }
  print_part(&tokenizer);
  print_part(&detokenizer);
}

/* Searches word by word with one beam size: the encoder, then each position. Returns the number of tokens found. */
static uint64_t measure_steps(
    goldcrest_engine *engine, uint32_t beam_size, search_parts *parts, const goldcrest_detail *detail) {
  uint64_t n_tokens = 0;
  for (size_t i = 0; i < kNWords; ++i) {
    const uint32_t encoder_steps = count_encoder_steps(engine, &kWords[i], detail);
    set_beam(engine, beam_size, detail);
    int status = goldcrest_begin_text(engine, kWords[i].text, kWords[i].n_letters);
    uint64_t start = begin(&parts->encoder);
    for (uint32_t step = 0; status >= 0 && step < encoder_steps; ++step) status = goldcrest_step(engine, NULL);
    end(&parts->encoder, start, 1);
    while (status >= 0 && status != GOLDCREST_DONE) {
      start = begin(&parts->position);
      status = goldcrest_step(engine, NULL);
      end(&parts->position, start, 1);
    }
    goldcrest_result best;
    if (status >= 0) status = goldcrest_get_result(engine, 0, 0, &best);
    check(kWords[i].text, status, detail);
    n_tokens += best.n_tokens;
  }
  return n_tokens;
}

/* Prints the bounds that no step of a search exceeds, for steps of whole positions and of single layers. */
static void print_worst_step(goldcrest_engine *engine, uint32_t beam_size, const search_parts *parts) {
  static const int32_t kSource[MODEL_G2P_MAX_SOURCE_TOKENS];
  const worst_search worst = {search_of(beam_size), kSource, MODEL_G2P_MAX_SOURCE_TOKENS};
  worst_step most;
  check(parts->step, measure_worst_step(engine, &worst, &most), NULL);
  print_line(&mosts, parts->step, most.position_ticks);
  print_line(&mosts, parts->layer_step, most.layer_ticks);
}

static void print_search(
    goldcrest_engine *engine, uint32_t beam_size, search_parts parts, const goldcrest_detail *detail) {
  const uint64_t n_tokens = measure_steps(engine, beam_size, &parts, detail);
  for (size_t i = 0; i < kNWords; ++i) {
    const uint64_t start = begin(&parts.whole);
    int status = goldcrest_begin_text(engine, kWords[i].text, kWords[i].n_letters);
    if (status >= 0) status = goldcrest_run(engine);
    end(&parts.whole, start, 1);
    check(kWords[i].text, status, detail);
  }
  const part token = {"    each generated token of it", parts.whole.ticks, n_tokens};
  print_part(&parts.encoder);
  print_part(&parts.position);
  print_part(&parts.whole);
  print_part(&token);
  print_worst_step(engine, beam_size, &parts);
}

#if defined(__riscv)
/* Returns the instruction set: the compiler's flags say it, and no register names the core reliably. */
static const char *core_name(void) {
#if defined(__riscv_flen)
  return "rv32 with FPU";
#else
  return "rv32";
#endif
}

#define TURN "not %0, %0\n\tnot %0, %0\n\tnot %0, %0\n\tnot %0, %0\n\t"
#define TURN_END "addi %0, %0, -1\n\tbnez %0, 1b\n"
#else
/* Returns the core by its part number in CPUID, which every Cortex-M has at this address (Arm DDI 0403, B3.2.3). */
static const char *core_name(void) {
  const uint32_t number = *(const volatile uint32_t *)0xE000ED00u >> 4 & 0xFFFu;
  static const struct {
    uint32_t number;
    const char *name;
  } kCores[] = {{0xC23, "Cortex-M3"}, {0xC24, "Cortex-M4"}, {0xC27, "Cortex-M7"}, {0xD21, "Cortex-M33"},
      {0xD22, "Cortex-M55"}, {0xD23, "Cortex-M85"}};
  for (size_t i = 0; i < sizeof kCores / sizeof kCores[0]; ++i)
    if (kCores[i].number == number) return kCores[i].name;
  return "";
}

#define TURN "mvns %0, %0\n\tmvns %0, %0\n\tmvns %0, %0\n\tmvns %0, %0\n\t"
#define TURN_END "subs %0, #1\n\tbne 1b\n"
#endif

/* Returns whether a tick is a fixed number of instructions, one a nanosecond, as QEMU counts with -icount shift=0. It
 * times ten instructions that each need the previous one: no core below a gigahertz is this fast. */
static int ticks_count_instructions(void) {
  enum { kTurns = 100000, kInstructions = 10 };
  uint32_t turns = kTurns;
  const uint64_t start = board_ticks();
#if defined(__riscv)
  __asm__ volatile("1:\n" TURN TURN TURN_END : "+r"(turns));
#else
  __asm__ volatile("1:\n" TURN TURN TURN_END : "+l"(turns) : : "cc");
#endif
  const uint64_t nanoseconds = (board_ticks() - start) * 1000 / (board_ticks_per_second() / 1000000);
  return nanoseconds >= (uint64_t)kTurns * kInstructions * 98 / 100 &&
         nanoseconds <= (uint64_t)kTurns * kInstructions * 102 / 100;
}

static void put_field(const char *name, const char *text) {
  put_text("\"");
  put_text(name);
  put_text("\":\"");
  put_text(text);
  put_text("\",");
}

static void put_number(const char *name, uint64_t value, const char *end) {
  put_text("\"");
  put_text(name);
  put_text("\":");
  put_unsigned(value);
  put_text(end);
}

static void put_hash(uint64_t hash) {
  put_text("\"weights_hash\":\"");
  for (int shift = 60; shift >= 0; shift -= 4) board_write(&"0123456789abcdef"[hash >> shift & 15], 1);
  put_text("\",");
}

static void put_shape(const goldcrest_info *model) {
  put_text("\"shape\":{");
  put_number("encoder_layers", model->encoder_layers, ",");
  put_number("encoder_d_model", model->encoder_d_model, ",");
  put_number("encoder_d_ff", model->encoder_d_ff, ",");
  put_number("encoder_heads", model->encoder_heads, ",");
  put_number("decoder_layers", model->decoder_layers, ",");
  put_number("decoder_d_model", model->decoder_d_model, ",");
  put_number("decoder_d_ff", model->decoder_d_ff, ",");
  put_number("decoder_heads", model->decoder_heads, ",");
  put_number("source_vocab_size", model->source_vocab_size, ",");
  put_number("target_vocab_size", model->target_vocab_size, ",");
  put_number("weight_bits", model->weight_bits, "},");
}

/* Prints one line of JSON. examples/bench/README.md describes its fields. */
static void print_json(const goldcrest_engine *engine, const goldcrest_detail *detail) {
  goldcrest_info model;
  check("model", goldcrest_model_info(model_g2p, MODEL_G2P_BYTES, &model, NULL), detail);
  put_text("{\"schema_version\":1,\"program\":\"benchmark_firmware\",\"version\":\"" GOLDCREST_VERSION
           "\",\"command\":\"benchmark_firmware\",\"host\":{");
  put_field("board", board_name());
  put_field("cpu", core_name());
  put_number("cpus", 1, "},\"compiler\":\"GCC " __VERSION__ "\",\"model\":\"g2p\",");
  put_number("file_bytes", model.file_bytes, ",");
  put_hash(model.weights_hash);
  put_shape(&model);
  put_field("kernels", goldcrest_kernels_name(engine));
  put_number("arena_bytes", sizeof arena, ",");
  put_number("ticks_per_second", board_ticks_per_second(), ",");
  put_field("ticks_count", ticks_count_instructions() ? "instructions" : "time");
  put_number("words", kNWords, ",\"parts\":[");
  for (size_t i = 0; i < means.n; ++i) {
    put_text(i > 0 ? ",{" : "{");
    put_field("name", means.of[i].name);
    put_number("ticks", means.of[i].ticks, "");
    if (i + 1 < means.n && means.of[i + 1].name[0] == ' ') { /* a token of what this line is */
      put_text(",");
      put_number("token_ticks", means.of[++i].ticks, "");
    }
    put_text("}");
  }
  put_text("],\"largest_steps\":[");
  for (size_t i = 0; i < mosts.n; ++i) {
    put_text(i > 0 ? ",{" : "{");
    put_field("name", mosts.of[i].name);
    put_number("ticks", mosts.of[i].ticks, "}");
  }
  put_text("]}\n");
}

int main(void) {
  static const search_parts kGreedy = {.encoder = {.name = "greedy: encoder, one word"},
      .position = {.name = "greedy: one target position"},
      .whole = {.name = "greedy: whole search of one word"},
      .step = "greedy: a step, at most",
      .layer_step = "greedy: a step of a layer, at most"};
  static const search_parts kBeam = {.encoder = {.name = "beam 4: encoder, one word"},
      .position = {.name = "beam 4: one target position"},
      .whole = {.name = "beam 4: whole search of one word"},
      .step = "beam 4: a step, at most",
      .layer_step = "beam 4: a step of a layer, at most"};
  board_init();
  goldcrest_detail detail = {"", -1};
  goldcrest_engine *engine = start_engine(&detail);
  print_text_parts(engine, &detail);
  print_search(engine, 1, kGreedy, &detail);
  print_search(engine, 4, kBeam, &detail);
  print_json(engine, &detail);
  board_exit(0);
}
