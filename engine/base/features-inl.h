// SPDX-License-Identifier: Apache-2.0
// The parts that a build of the engine may leave out, and the bits of features (schema/model.fbs, Feature). Define both
// macros, then include this file. features.cmake reads the options too, so each must stay one line.
// clang-format off

// Name, CMake option, its help. Every build compiles all sources: what an option leaves out, no other code calls.
GOLDCREST_OPTION(Float32, GOLDCREST_FLOAT32, "Run files with float32 weights")
GOLDCREST_OPTION(Accuracy, GOLDCREST_ACCURACY, "Run files in which some inputs, matrices, keys or values have 16 bits, attention weights are integers, or weights have 4 bits")
GOLDCREST_OPTION(Layers, GOLDCREST_LAYERS, "Run files with recurrent layers (SSRU), gates, RMS norms, biases by distance or rotary positions")
GOLDCREST_OPTION(Speech, GOLDCREST_SPEECH, "Run files that take samples or feature rows; turns on GOLDCREST_LAYERS, GOLDCREST_PROMPT and GOLDCREST_ACCURACY")
GOLDCREST_OPTION(Text, GOLDCREST_TEXT, "Run files with added tokens, a table of languages, or merges of subword-nmt")
GOLDCREST_OPTION(AddedWords, GOLDCREST_ADDED_WORDS, "Added tokens that take white space or are words of their own; turns on GOLDCREST_TEXT")
GOLDCREST_OPTION(Prompt, GOLDCREST_PROMPT, "Begin results with a file's prompt or a caller's prefix")
GOLDCREST_OPTION(Search, GOLDCREST_SEARCH, "Rules of the search, such as no_repeat_ngram; sampling; sequences of ids that are suppressed or biased")
GOLDCREST_OPTION(Shortlist, GOLDCREST_SHORTLIST, "Run files with a lexical shortlist or a lexicon; allow only texts of a lexicon")
GOLDCREST_OPTION(Inspection, GOLDCREST_INSPECTION, "Token scores, scores of given targets, alignments")

// Name, bit, the option of a build that runs files with it.
GOLDCREST_FEATURE(Float32, 1, Float32)
GOLDCREST_FEATURE(RmsNorm, 2, Layers)
GOLDCREST_FEATURE(Gated, 4, Layers)
GOLDCREST_FEATURE(AttentionBias, 8, Layers)
GOLDCREST_FEATURE(Rotary, 16, Layers)
GOLDCREST_FEATURE(Recurrent, 32, Layers)
GOLDCREST_FEATURE(Frontend, 64, Speech)
GOLDCREST_FEATURE(LogMel, 128, Speech)
GOLDCREST_FEATURE(Prompt, 256, Prompt)
GOLDCREST_FEATURE(Shortlist, 512, Shortlist)
GOLDCREST_FEATURE(Packed, 1024, Accuracy)
GOLDCREST_FEATURE(Refined, 2048, Accuracy)
GOLDCREST_FEATURE(RefinedWeights, 4096, Accuracy)
GOLDCREST_FEATURE(Rules, 8192, Search)
GOLDCREST_FEATURE(FineAttention, 16384, Accuracy)
GOLDCREST_FEATURE(IntegerAttention, 32768, Accuracy)
GOLDCREST_FEATURE(Subword, 131072, Text)
GOLDCREST_FEATURE(Languages, 262144, Text)
GOLDCREST_FEATURE(Sequences, 524288, Search)
GOLDCREST_FEATURE(Lexicon, 1048576, Shortlist)
GOLDCREST_FEATURE(Voice, 16777216, Speech)
GOLDCREST_FEATURE(AddedTokens, 33554432, Text)
GOLDCREST_FEATURE(Timestamps, 134217728, Search)
GOLDCREST_FEATURE(Image, 268435456, Speech)
// clang-format on
