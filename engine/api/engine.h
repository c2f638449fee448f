// SPDX-License-Identifier: Apache-2.0
// The engine object, which lives at the start of the caller's arena, and its state machine.
#pragma once

#include "base/status.h"
#include "decoding/search/search.h"

namespace goldcrest {
constexpr uint32_t kEngineBytes = 2048;  // reserved for the engine object, the same on every machine

// The states decide which calls are allowed next. kSourcesEncoded: the encoder's work on the stored sources is done.
enum class EngineState : uint32_t {
  kIdle,
  kSourcesStored,
  kSourcesEncoded,
  kEncoding,
  kDecoding,
  kLastTokenGiven,
  kDone
};

// The stages of a search, in this order. All rows of the batch pass one stage before the next begins.
// Encoding: with a frontend, what must be measured of whole clips; the embeddings, or the frontend's rows; for each
// encoder layer its keys and values, then the rest of the layer; for each decoder layer its keys and values of the
// source; with a shortlist, the candidates of each sentence. Decoding, for each target position: each decoder layer
// (the first also embeds); then the output layer, which also chooses the next tokens.
enum class Stage : uint32_t {
  kEmbed,
  kEncoderKeys,
  kEncoderRest,
  kSourceKeys,
  kCandidates,
  kDecoderLayer,
  kOutput,
  kMeasure
};

struct Progress {
  Stage stage;
  uint32_t layer;      // in the stage's stack
  uint32_t first_row;  // encoding: of the next block; kCandidates: the next sentence
};

// The effect of the chosen languages of a file's table on a source. All zeros without a table.
struct ChosenLanguages {
  uint32_t ids[3];  // ids of the source's vocabulary: [n_before] before a text, and from 2 on [n_behind] after it
  uint8_t n_before;
  bool n_behind;
  bool lacks_for_text;  // some side is not chosen
  bool lacks_for_ids;   // the target is not, and acts on sources of ids
  TargetLanguage target;
};
}  // namespace goldcrest

struct goldcrest_engine {
  uint32_t magic;
  goldcrest::EngineState state;
  goldcrest::Runtime runtime;
  goldcrest::Batch batch;
  goldcrest::EncoderRefs encoder;
  goldcrest::DecoderRefs decoder;
  goldcrest::SearchOptions options;  // the current search's
  goldcrest::SearchBuffers buffers;
  goldcrest::SearchStep step;
  goldcrest::Progress progress;
  goldcrest::BufferRef text_scratch;  // for the tokenizer
  size_t model_bytes;
  goldcrest_search next_search;
  uint32_t step_size;
  goldcrest::Draft draft;    // for the next search
  uint32_t language;         // the entry of the texts' target language; kNoEntry: none
  goldcrest_detail* detail;  // the caller's, or `unwanted`
  goldcrest_detail unwanted;
  goldcrest::Sampler sampling;           // search.sampling points here, or is null
  goldcrest::ChosenLanguages languages;  // for the next sources; only with GOLDCREST_TEXT
  goldcrest_lexicon lexicon;             // search.lexicon points here, or is null
  goldcrest_sequences sequences;         // the file's or the caller's; search.sequences points here, or is null
};

namespace goldcrest {
static_assert(sizeof(goldcrest_engine) <= kEngineBytes, "the engine object must fit its slot");

constexpr uint32_t kEngineMagic = 0x476f6c64;  // set while an engine is usable

inline bool usable(const goldcrest_engine* engine) { return engine != nullptr && engine->magic == kEngineMagic; }

// ERROR_ARGUMENT unless beam_size is 1, as sampling needs.
int need_one_beam(const goldcrest_engine& engine, uint32_t beam_size);

// Returns whether sources are stored and no step has begun.
inline bool awaits_step(const goldcrest_engine& engine) {
  return engine.state == EngineState::kSourcesStored || engine.state == EngineState::kSourcesEncoded;
}

// Sets the sequences of the next searches.
void use_sequences(goldcrest_engine& engine, const goldcrest_sequences& sequences);

// Runs one bounded piece of work; see goldcrest_step.
int engine_step(goldcrest_engine& engine, int32_t* token);

// *follows <- whether the targets of the stored sources replace the search. ERROR_STATE if only some sources have a
// target.
int choose_targets(const goldcrest_engine& engine, bool* follows);

// Makes room for one more source. If `fresh`, forgets the others first.
int open_source(goldcrest_engine* engine, bool fresh);

// Checks that a sentence is stored and that no step has begun. ERROR_STATE or ERROR_ARGUMENT.
int find_new_source(const goldcrest_engine& engine, uint32_t sentence);

// Takes what the caller said of a stored source's target back.
void forget_target(goldcrest_engine& engine, uint32_t sentence);

// Appends a sentence of n rows, whose source is stored. Returns its index.
int append_sentence(goldcrest_engine& engine, uint32_t n);

// *chosen <- the languages of sources and of targets with these indices; kNoId: none.
void choose_languages(const LanguagesView& table, const uint32_t (&indices)[2], ChosenLanguages* chosen);

// Restricts searches to the file's lexicon, or to none if it has none. Only in builds with GOLDCREST_SHORTLIST.
void take_default_lexicon(goldcrest_engine* engine);

// Forgets the sources and starts over.
void engine_clear(goldcrest_engine& engine);
}  // namespace goldcrest
