/* SPDX-License-Identifier: Apache-2.0
 *
 * Goldcrest runs a trained encoder-decoder Transformer as int8 inside memory that the caller owns. In short, with an
 * `arena` that is aligned to GOLDCREST_ALIGN (goldcrest_arena_bytes tells its size):
 *
 *     const goldcrest_config config = {.model = model, .model_bytes = model_bytes, .arena = arena,
 *                                      .arena_bytes = sizeof arena, .limits = {.max_source_bytes = 256}};
 *     goldcrest_engine *engine;
 *     int status = goldcrest_init(&engine, &config);
 *     if (status < 0) return status;
 *     text_bytes = goldcrest_translate(engine, "Thank you.", 10, text, sizeof text);
 *     status = goldcrest_begin_text(engine, "Thank you.", 10); // the same, a bounded amount of work at a time
 *     while (status >= 0 && status != GOLDCREST_DONE) status = goldcrest_step(engine, &token);
 *     if (status == GOLDCREST_DONE) status = goldcrest_get_result(engine, 0, 0, &result);
 *     return status;
 *
 *   size query          goldcrest_model_info, goldcrest_plan_memory, goldcrest_arena_bytes
 *   start               goldcrest_init, once; makes every check on the model file; to check again: goldcrest/check.h
 *   one or more sources goldcrest_begin / goldcrest_begin_text, then goldcrest_add / goldcrest_add_text for a batch
 *   work                goldcrest_step until GOLDCREST_DONE, or goldcrest_run
 *   results             goldcrest_get_result, goldcrest_detokenize; or all steps in one: goldcrest_translate
 *   prefixes, lexicons, sampling: goldcrest/decoding.h; token scores, alignments: goldcrest/inspection.h
 *
 * The engine uses no heap and no global state, and prints nothing. Use an engine from one thread at a time (it can
 * spread its work over your threads, see goldcrest_parallel_for). Any number of engines can share one model. They read
 * its bytes in place, so keep them unchanged while an engine uses them. engine/README.md has the bounds of all calls.
 *
 * Functions return a status: zero or positive is success, negative is an error and leaves the engine usable (a failed
 * goldcrest_init makes no engine). A function that returns a count returns it as a value >= 0.
 * "Errors" in a function's comment names every error that it can return, without GOLDCREST_.
 */
#ifndef GOLDCREST_GOLDCREST_H_
#define GOLDCREST_GOLDCREST_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GOLDCREST_VERSION "0.1.0"
#define GOLDCREST_FORMAT_VERSION 1

#define GOLDCREST_ALIGN 64         /* bytes; alignment of the model, of the arena and of the scratch region */
#define GOLDCREST_STACK_BYTES 4096 /* the most stack that one call of any function here takes on Cortex-M */

#if defined(__GNUC__)
#define GOLDCREST_MUST_CHECK __attribute__((warn_unused_result))
#else
#define GOLDCREST_MUST_CHECK
#endif

/* Negative values are errors, so that a function can return a count or an error. Released values never change. */
typedef enum goldcrest_status {
  GOLDCREST_OK = 0,
  GOLDCREST_WORKING = 1, /* goldcrest_step: call again */
  GOLDCREST_TOKEN = 2,   /* goldcrest_step: one token was generated; call again */
  GOLDCREST_DONE = 3,    /* goldcrest_step: results are ready */

  GOLDCREST_ERROR_ARGUMENT = -1,        /* null, misaligned, out of the documented range */
  GOLDCREST_ERROR_MODEL_CORRUPT = -2,   /* the file is damaged or makes no sense */
  GOLDCREST_ERROR_MODEL_VERSION = -3,   /* the file is newer than this engine */
  GOLDCREST_ERROR_UNSUPPORTED = -4,     /* the file or call needs a feature that this build lacks */
  GOLDCREST_ERROR_ARENA_TOO_SMALL = -5, /* see goldcrest_arena_bytes */
  GOLDCREST_ERROR_TOKEN_RANGE = -6,     /* a token id is not below the vocabulary's size */
  GOLDCREST_ERROR_TOO_LONG = -7,        /* the source exceeds a limit */
  GOLDCREST_ERROR_TRUNCATED = -8,       /* the output buffer was too small; what fits was written */
  GOLDCREST_ERROR_STATE = -9,           /* the call does not fit the engine's state */
  GOLDCREST_ERROR_BUILD = -10,          /* this build computes other bits than the reference: wrong compiler flags */
  GOLDCREST_ERROR_SELF_TEST = -11       /* the file's self-test gave another result on this device */
} goldcrest_status;

/* A short English name of a status, in ROM; "unknown status" for any other value. */
const char *goldcrest_status_string(int status);

/* Details of an error: a string in ROM, and an index into the thing that it names (a layer, a row, a line), or -1. With
 * ERROR_ARENA_TOO_SMALL the index is the number of bytes that the named memory needs (-1 from 2 GiB on). */
typedef struct goldcrest_detail {
  const char *message;
  int32_t index;
} goldcrest_detail;

/* The limits that the memory is planned for. Zero is a default. */
typedef struct goldcrest_limits {
  uint32_t max_source_tokens; /* ids of one source with its end token, at most the file's positions; 0: file's limit */
  uint32_t max_source_bytes;  /* bytes of one source text; 0: token ids only */
  uint32_t max_target_tokens; /* generated ids, end token included, start token excluded; 0: the file's limit */
  uint32_t beam_size;         /* 1..16; 0: the file's default */
  uint32_t batch;             /* sources at a time, 1..256; 0: 1 */
  uint32_t n_best;            /* results for each source, 1..beam_size; 0: 1 */
  uint32_t encoder_rows;      /* source positions in one block of encoder work, 1..1024; 0: the file's default */
  uint32_t threads;           /* tasks that work is split into, 1..64; 0: 1. Needs goldcrest_config.parallel_for */
  uint32_t inspection;        /* GOLDCREST_INSPECT_*; 0: nothing. Builds without GOLDCREST_INSPECTION: always 0 */
  uint32_t alignment_layers;  /* bit i: decoder layer i, for goldcrest_get_alignment; GOLDCREST_ALL_LAYERS; 0: none */
  uint32_t max_candidates;    /* of a shortlist or lexicon; with more of them all outputs are computed. 0: the file's
                               * number; GOLDCREST_NO_SHORTLIST: always all outputs, and no memory for candidates */
  uint32_t max_prefix_tokens; /* of goldcrest_set_prefix, below max_target_tokens; 0: the file's number, usually 0 */
  uint32_t max_sampled;       /* the largest top_k of goldcrest_set_sampling, 1..256; 0: no memory for sampling */
  uint32_t lexicon;           /* not 0: memory for goldcrest_set_lexicon; 0: only if the file has a lexicon */
} goldcrest_limits;

#define GOLDCREST_INSPECT_TOKEN_SCORES 1u /* goldcrest_result.token_log_probs; implies GOLDCREST_SEARCH_SCORES */
#define GOLDCREST_INSPECT_TARGETS 2u      /* goldcrest_score */
#define GOLDCREST_ALL_LAYERS 0xffffffffu  /* if there are more than 32: the first 32 */
#define GOLDCREST_NO_SHORTLIST 0xffffffffu
/* A rule of a search: the file's own, or the caller's choice. */
typedef enum goldcrest_choice { GOLDCREST_AS_FILE = 0, GOLDCREST_NO = 1, GOLDCREST_YES = 2 } goldcrest_choice;

/* When beams stop: transformers' early_stopping False, True and "never". */
typedef enum goldcrest_early_stopping {
  GOLDCREST_STOP_AS_FILE = 0,
  GOLDCREST_STOP_LIKELY = 1, /* beam_size are finished, and no live one could enter their list at its present length */
  GOLDCREST_STOP_FULL = 2,   /* beam_size are finished */
  GOLDCREST_STOP_NEVER = 3   /* beam_size are finished, and no live one could enter their list at any length */
} goldcrest_early_stopping;

/* The divisor of (log_prob - word_penalty * n). */
typedef enum goldcrest_length_penalty {
  GOLDCREST_LENGTH_AS_FILE = 0,
  GOLDCREST_LENGTH_POWER = 1, /* n^length_penalty */
  GOLDCREST_LENGTH_WU = 2     /* ((5 + n) / 6)^length_penalty: Wu et al. 2016, equation 14 */
} goldcrest_length_penalty;

/* The options of a search; start from the file's defaults in goldcrest_info. The fields from renormalize on are rules
 * that a file may have; 0 is the file's own. Other values, and files with rules, need a build with GOLDCREST_SEARCH.
 * Rules work as in transformers' generate: the start token counts as an id of the text. A rule changes logits in greedy
 * search and log-probabilities with beams. */
typedef struct goldcrest_search {
  uint32_t beam_size;          /* 1: greedy; 0: the limits'. Beams with a repetition penalty compute outputs twice */
  uint32_t min_target_tokens;  /* the end token is not chosen before this many ids, including itself */
  uint32_t max_target_tokens;  /* the end token is forced as this id; 0: the limits' */
  float length_penalty;        /* -2..4: score = (log_prob - word_penalty * n) / n^length_penalty */
  float word_penalty;          /* Marian's; 0 for transformers */
  uint32_t flags;              /* GOLDCREST_SEARCH_* */
  uint8_t renormalize;         /* goldcrest_choice: the soft-max runs only over the ids that may be chosen */
  uint8_t force_end;           /* goldcrest_choice: no: a text that reaches max_target_tokens stays without an end */
  uint8_t early_stopping;      /* goldcrest_early_stopping; beams only */
  uint8_t length_penalty_kind; /* goldcrest_length_penalty */
  uint32_t no_repeat_ngram;    /* no run of this many ids occurs twice; UINT32_MAX: any may */
  uint32_t max_extra_tokens;   /* at most this many ids more than the source has; UINT32_MAX: no limit */
  float repetition_penalty;    /* p in 2^-10..2^10, for ids of the text: value < 0 ? value * p : value / p; 1: none */
  float max_length_factor;     /* from 2^-10: at most this factor times the source's ids, rounded up; INFINITY: none */
} goldcrest_search;

#define GOLDCREST_SEARCH_SCORES 1u      /* greedy: also log-probabilities, as beams; after any penalty and biases */
#define GOLDCREST_SEARCH_HASH_LOGITS 2u /* fill goldcrest_result.logits_hash; greedy only */
#define GOLDCREST_SEARCH_ALL_OUTPUTS 4u /* compute all outputs, whatever a shortlist or lexicon leaves */
#define GOLDCREST_SEARCH_COARSE 8u      /* without fine inputs and second matrices; never in the self-test */
#define GOLDCREST_SEARCH_TIMESTAMPS                                                    \
  16u /* results have ids that are times (goldcrest_text_traits.first_timestamp), by   \
       * Whisper's rules, and log-probabilities of what these leave. The file's prompt \
       * then lacks its last id, which forbids times. Refused without such ids in      \
       * the file; nothing with a lexicon */

/* The contents of a file. Strings point into the file and are never null. */
typedef struct goldcrest_info {
  uint32_t format_version;
  uint64_t file_bytes;
  uint64_t weights_hash; /* equal for equal weights, whatever their layout */
  uint32_t source_vocab_size, target_vocab_size, encoder_layers, decoder_layers;
  uint32_t encoder_d_model, decoder_d_model, encoder_d_ff, decoder_d_ff, encoder_heads, decoder_heads;
  uint32_t max_source_positions, max_target_positions;
  uint32_t weight_bits; /* 8: int8; 4: int8, of which some matrices are stored in 4 bits; 32: float32 weights and
                           activations, which builds for microcontrollers refuse */
  int32_t has_tokenizer, has_detokenizer; /* sources can be text, results can be text */
  uint32_t sample_rate, feature_channels, first_row_samples, row_samples, fixed_window; /* goldcrest/speech.h */
  int32_t decoder_start_id, end_id, pad_id, unknown_id;                                 /* -1: none */
  uint32_t prompt_tokens;  /* ids of the file's prompt, with which every result begins; not its forced first id */
  goldcrest_limits limits; /* the defaults */
  goldcrest_search search; /* the defaults */
  const char *name, *source_language, *target_language, *license, *attribution;
  const char *checkpoint_sha256, *dialect, *converter_version;
} goldcrest_info;

/* Bytes for given limits, the same numbers on every machine. With one arena: arena_bytes = fixed + max(text, encode,
 * decode). With a scratch region: main_bytes in the arena, scratch_bytes in the scratch region. */
typedef struct goldcrest_memory {
  uint64_t arena_bytes, main_bytes, scratch_bytes;
  uint64_t fixed_bytes, text_bytes, encode_bytes, decode_bytes;
  uint64_t step_macs; /* multiply-accumulates of the largest step with GOLDCREST_STEP_POSITION, by the file's rules */
  uint64_t layer_step_macs; /* the same with GOLDCREST_STEP_LAYER */
  uint64_t text_steps;      /* most trie steps, rule bytes and merges of a goldcrest_begin_text; 0 without text */
  goldcrest_limits limits;  /* with every default filled in */
} goldcrest_memory;

/* The factors of a buffer's size. bytes = round_up(constant + coefficient * product of the factors, 64). If
 * GOLDCREST_FACTOR_THREADS is among the factors, the rounded bytes are multiplied by limits.threads. */
typedef enum goldcrest_factor {
  GOLDCREST_FACTOR_NONE = 0,
  GOLDCREST_FACTOR_SOURCE_TOKENS,
  GOLDCREST_FACTOR_SOURCE_BYTES,
  GOLDCREST_FACTOR_TARGET_TOKENS,
  GOLDCREST_FACTOR_LONGEST, /* the larger of source and target tokens */
  GOLDCREST_FACTOR_BEAM,
  GOLDCREST_FACTOR_BATCH,
  GOLDCREST_FACTOR_ENCODER_ROWS,
  GOLDCREST_FACTOR_BEAM_USED,  /* 1 when beam_size > 1, else 0 */
  GOLDCREST_FACTOR_THREADS,    /* each task has a buffer of its own: multiplies the rounded bytes */
  GOLDCREST_FACTOR_CANDIDATES, /* rounded up to a multiple of 16; only for a shortlist or lexicon */
  GOLDCREST_FACTOR_PREFIX_TOKENS,
  GOLDCREST_FACTOR_SAMPLED /* limits.max_sampled */
} goldcrest_factor;

typedef enum goldcrest_phase {
  GOLDCREST_PHASE_ALWAYS = 0,
  GOLDCREST_PHASE_TEXT, /* text, encode and decode share the same bytes, one after another */
  GOLDCREST_PHASE_ENCODE,
  GOLDCREST_PHASE_DECODE
} goldcrest_phase;

typedef struct goldcrest_buffer {
  const char *name;
  uint32_t phase;  /* goldcrest_phase */
  int32_t scratch; /* non-zero: is in the scratch region if there is one */
  uint64_t constant, coefficient;
  uint8_t factors[4]; /* goldcrest_factor */
  uint64_t bytes;
  uint64_t offset_bytes; /* in a single arena */
} goldcrest_buffer;

typedef void (*goldcrest_plan_function)(void *context, const goldcrest_buffer *buffer);

/* Reads and checks the file's metadata; goldcrest_init checks the rest. detail may be null.
 * Errors: ERROR_ARGUMENT (info null; model null or misaligned; the environment's GOLDCREST_KERNELS names no table that
 * runs here), ERROR_MODEL_CORRUPT, ERROR_MODEL_VERSION, ERROR_UNSUPPORTED (the file needs a feature that this build
 * lacks: float32 weights, or one that this version does not know). */
GOLDCREST_MUST_CHECK int goldcrest_model_info(
    const void *model, size_t model_bytes, goldcrest_info *info, goldcrest_detail *detail);

/* Computes the memory for `limits` (null: all defaults). Calls visit (may be null) once for every buffer, in order.
 * Errors: those of goldcrest_model_info; ERROR_ARGUMENT (memory null; a limit out of its range, or all too large
 * together), ERROR_UNSUPPORTED (limits.max_source_bytes for a model without a tokenizer). */
GOLDCREST_MUST_CHECK int goldcrest_plan_memory(const void *model, size_t model_bytes, const goldcrest_limits *limits,
    goldcrest_memory *memory, goldcrest_plan_function visit, void *visit_context, goldcrest_detail *detail);

/* Returns goldcrest_memory.arena_bytes. Errors: those of goldcrest_plan_memory. */
GOLDCREST_MUST_CHECK int64_t goldcrest_arena_bytes(
    const void *model, size_t model_bytes, const goldcrest_limits *limits);

typedef enum goldcrest_verify {
  GOLDCREST_VERIFY_FULL = 0,     /* everything, including the weights' bytes */
  GOLDCREST_VERIFY_STRUCTURE = 1 /* everything except the weights' bytes */
} goldcrest_verify;

typedef enum goldcrest_step_size {
  GOLDCREST_STEP_POSITION = 0, /* a decoding step is one target position */
  GOLDCREST_STEP_LAYER = 1     /* a decoding step is one decoder layer, or the output layer */
} goldcrest_step_size;

/* Receives intermediate values, for debugging. name: "encoder.embed", "encoder.layers", "encoder.norm", the same for
 * "decoder", or "logits". layer: its index or -1; for logits the index of the block of 256 outputs. row: a source or
 * target position. values: [count], not padded. Called only in builds with GOLDCREST_TRACE. Use greedy search and one
 * sentence at a time, or rows of several hypotheses mix. */
typedef void (*goldcrest_trace_function)(
    void *context, const char *name, int32_t layer, uint32_t row, const float *values, uint32_t count);

/* Your thread pool for the engine, which has no threads of its own. Must call task(task_context, i) once for every i in
 * [0, n), on any threads and in any order, and return after all calls have returned. The caller must then see
 * everything that they wrote. n <= limits.threads. */
typedef void (*goldcrest_parallel_for)(
    void *context, void (*task)(void *task_context, size_t i), void *task_context, size_t n);

/* Reports `bytes` bytes of the model from `weights` on that the engine does not read before the next source. These
 * are the matrices of encoding, once goldcrest_init has checked them and each time the encoder has used them. They are
 * also checked int8 tables, if the engine looks up only single rows of them. A program that has mapped the file may
 * release these pages; the system loads them again when they are read. Called on the thread that uses the engine. */
typedef void (*goldcrest_idle_weights)(void *context, const void *weights, size_t bytes);

typedef struct goldcrest_engine goldcrest_engine;

/* Another library's kernels for the linear layers of a model; goldcrest/xnnpack.h opens them. */
typedef struct goldcrest_backend goldcrest_backend;

typedef struct goldcrest_config {
  const void *model; /* aligned to GOLDCREST_ALIGN; in RAM, a mapped file or flash */
  size_t model_bytes;
  void *arena; /* aligned to GOLDCREST_ALIGN; the engine uses it during its whole life */
  size_t arena_bytes;
  void *scratch; /* optional fast second region, aligned to GOLDCREST_ALIGN; null: everything is in the arena */
  size_t scratch_bytes;
  goldcrest_limits limits;
  uint32_t verify;                /* goldcrest_verify */
  uint32_t step_size;             /* goldcrest_step_size */
  const char *kernels;            /* a kernel table's name; null: the best that this CPU runs. With a backend also
                                   * "xnnpack" (its kernels) and "fastest" (its kernels for the layers that they compute
                                   * faster; goldcrest_init measures it): results are then close, not bit-identical */
  goldcrest_detail *detail;       /* optional; the engine keeps it and fills it on every error. Only ERROR_ARGUMENT for
                                   * a null pointer or an output of 0 bytes may leave it as it was */
  goldcrest_trace_function trace; /* if set, the calling thread does all work */
  void *trace_context;
  goldcrest_parallel_for parallel_for; /* optional; null: tasks run one after another on the calling thread */
  void *parallel_context;              /* The bits of results depend neither on limits.threads nor on parallel_for. */
  goldcrest_idle_weights idle_weights; /* optional */
  void *idle_context;
  const goldcrest_backend *backend; /* optional; used only if `kernels` or GOLDCREST_KERNELS asks for it */
  void *backend_memory;             /* aligned to GOLDCREST_ALIGN; holds the backend's objects; as long as the arena */
  size_t backend_bytes;
} goldcrest_config;

/* Checks everything, plans the arena, places the engine in it.
 * Errors: those of goldcrest_plan_memory, now for the whole file; ERROR_ARGUMENT (engine or config null; kernels,
 * verify or step_size unknown; arena null or misaligned; scratch misaligned; the backend missing, opened for another
 * model, or its memory null or misaligned), ERROR_UNSUPPORTED (the backend cannot run a layer), ERROR_ARENA_TOO_SMALL
 * (arena, scratch or backend_memory; detail.index: the bytes needed), ERROR_BUILD (see there). */
GOLDCREST_MUST_CHECK int goldcrest_init(goldcrest_engine **engine, const goldcrest_config *config);

/* Returns the name of the kernel table in use, such as "reference"; "" if engine is null. */
const char *goldcrest_kernels_name(const goldcrest_engine *engine);

/* Returns the name of kernel table `index` among those that this build has and this CPU runs, best first; null past the
 * end. All tables give the same bits. */
const char *goldcrest_kernels_at(uint32_t index);

/* The same for all kernel tables of this build, whether or not this CPU runs them. */
const char *goldcrest_kernels_built(uint32_t index);

/* Sets the search options of the following sources; null: the file's defaults. Not while a search is under way.
 * Errors: ERROR_ARGUMENT (engine null; a value out of its range or above the limits'), ERROR_STATE (a search is under
 * way), ERROR_UNSUPPORTED (a rule in a build without GOLDCREST_SEARCH). */
GOLDCREST_MUST_CHECK int goldcrest_set_search(goldcrest_engine *engine, const goldcrest_search *search);

/* Starts over with one source of n ids in [0, source_vocab_size), with an end token if the model expects one. Only
 * stores them. Discards all earlier results. Returns the source's index, 0.
 * Errors: ERROR_ARGUMENT (engine or source null; n is 0), ERROR_TOO_LONG (n above limits.max_source_tokens),
 * ERROR_TOKEN_RANGE (detail.index: which id), ERROR_UNSUPPORTED (it takes sound), ERROR_STATE (it needs a language). */
GOLDCREST_MUST_CHECK int goldcrest_begin(goldcrest_engine *engine, const int32_t *source, size_t n);

/* The same with UTF-8 text, which the file's tokenizer reads. Needs limits.max_source_bytes. See goldcrest/languages.h.
 * Errors: ERROR_ARGUMENT (engine or text null; the text gives no token at all), ERROR_UNSUPPORTED
 * (limits.max_source_bytes is 0), ERROR_TOO_LONG (more bytes or tokens than limits.max_source_bytes or _tokens). */
GOLDCREST_MUST_CHECK int goldcrest_begin_text(goldcrest_engine *engine, const char *text, size_t text_bytes);

/* Adds a source to the batch before its first step. Returns its index, 1, 2, ...
 * Errors: those of goldcrest_begin, or of goldcrest_begin_text; ERROR_STATE (before begin, or after the first step),
 * ERROR_TOO_LONG (more sources than limits.batch). */
GOLDCREST_MUST_CHECK int goldcrest_add(goldcrest_engine *engine, const int32_t *source, size_t n);
GOLDCREST_MUST_CHECK int goldcrest_add_text(goldcrest_engine *engine, const char *text, size_t text_bytes);

/* *source <- the ids of a stored source, including its end token. They stay in the arena until the next begin. Returns
 * their number. Errors: ERROR_ARGUMENT (engine or source null; no such sentence), ERROR_UNSUPPORTED (it is sound). */
GOLDCREST_MUST_CHECK int goldcrest_get_source(
    const goldcrest_engine *engine, uint32_t sentence, const int32_t **source);

/* Does a bounded amount of work: encodes at most encoder_rows rows by half a layer, or decodes one target position (one
 * decoder layer with GOLDCREST_STEP_LAYER). The size of a step does not change the results' bits. Greedy search of a
 * single source returns TOKEN for each token and sets *token (may be null). Returns WORKING, TOKEN or DONE.
 * Errors: ERROR_ARGUMENT (engine null), ERROR_STATE (no source was given, or goldcrest_score for only some of them). */
GOLDCREST_MUST_CHECK int goldcrest_step(goldcrest_engine *engine, int32_t *token);

/* Steps until done. Returns DONE. Errors: those of goldcrest_step. */
GOLDCREST_MUST_CHECK int goldcrest_run(goldcrest_engine *engine);

/* Stores the same sources again, and keeps what the encoder has made of them: the next steps only decode. Results are
 * those of giving the sources anew, with the options, samplings and lexicon of that time; prefixes, targets and streams
 * must be given again. Call it once the encoder's work is done, while the search goes on or after it.
 * Errors: ERROR_ARGUMENT (engine null), ERROR_STATE (no source is encoded). */
GOLDCREST_MUST_CHECK int goldcrest_search_again(goldcrest_engine *engine);

/* Forgets sources and results. */
void goldcrest_reset(goldcrest_engine *engine);

typedef struct goldcrest_result {
  const int32_t *tokens; /* [n_tokens], including the end token; in the arena until the next begin */
  uint32_t n_tokens;
  float log_prob;               /* sum over the tokens; 0 for greedy without GOLDCREST_SEARCH_SCORES */
  float score;                  /* the search ranks results by it */
  uint32_t was_cut;             /* 1: a limit of tokens ended the text, not the model's own end token; else 0 */
  uint64_t logits_hash;         /* 0 without GOLDCREST_SEARCH_HASH_LOGITS; FORMAT.md */
  const float *token_log_probs; /* [n_tokens]; their sum in this order is log_prob; a forced token has 0. As long in the
                                 * arena as `tokens`. Null without GOLDCREST_INSPECT_TOKEN_SCORES */
  uint32_t n_outputs;           /* ids that could be chosen: a shortlist's candidates, or the target's vocabulary */
  uint32_t n_prefix;            /* the first of `tokens` that no search chose: the file's prompt, the caller's prefix */
} goldcrest_result;

/* *result <- hypothesis `rank` (0 is the best, < n_best) of a sentence; call it after DONE.
 * Errors: ERROR_ARGUMENT (engine or result null; no such sentence or hypothesis), ERROR_STATE (not done). */
GOLDCREST_MUST_CHECK int goldcrest_get_result(
    const goldcrest_engine *engine, uint32_t sentence, uint32_t rank, goldcrest_result *result);

/* State of an incremental detokenization; start with all zeros. */
typedef struct goldcrest_text_state {
  uint8_t started;
  uint8_t n_pending; /* bytes of an incomplete UTF-8 character, or a space that waits for a further word */
  uint8_t pending[4];
} goldcrest_text_state;

/* Writes the text of n ids to out, continuing from *state, and returns its bytes. Writes no terminator, cuts no UTF-8
 * character: an incomplete one waits in the state. n = 0 flushes it (as U+FFFD). An error writes and changes nothing.
 * Errors: ERROR_ARGUMENT (a null pointer; a state that no call has left), ERROR_UNSUPPORTED (the model has no
 * detokenizer), ERROR_TOKEN_RANGE (an id outside the target vocabulary), ERROR_TRUNCATED (out too small). */
GOLDCREST_MUST_CHECK int64_t goldcrest_detokenize(const goldcrest_engine *engine, goldcrest_text_state *state,
    const int32_t *tokens, size_t n, char *out, size_t out_bytes);

/* Translates text to text: begin_text, run, detokenize the best hypothesis. Writes a terminating zero to out. Returns
 * the bytes of the text without it.
 * Errors: those of goldcrest_begin_text; ERROR_ARGUMENT (out null, or out_bytes 0), ERROR_UNSUPPORTED (the model has no
 * detokenizer), ERROR_TRUNCATED (out too small: the whole characters that fit are written and terminated). */
GOLDCREST_MUST_CHECK int64_t goldcrest_translate(
    goldcrest_engine *engine, const char *text, size_t text_bytes, char *out, size_t out_bytes);

/* Runs the file's own self-test: compares greedy ids and logits hashes of a few sources. Skips lines that exceed the
 * engine's limits. Ends any search under way; keeps the engine's search options. detail may be null.
 * Errors: ERROR_ARGUMENT (engine null), ERROR_SELF_TEST (detail.index: the first line that differs), ERROR_TOO_LONG (no
 * line fits the limits, or the file has no line). */
GOLDCREST_MUST_CHECK int goldcrest_self_test(goldcrest_engine *engine, goldcrest_detail *detail);

#ifdef __cplusplus
}
#endif

#endif
