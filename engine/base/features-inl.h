// SPDX-License-Identifier: Apache-2.0
// The features that a build of the engine may leave out, one line each: name, bit in a file's features
// (schema/model.fbs, Feature; 0: files do not need it), CMake option, its help, further sources. Define
// GOLDCREST_FEATURE, then include this file. features.cmake reads the lines too, so each must stay one line.
// clang-format off
GOLDCREST_FEATURE(Float32, 1, GOLDCREST_FLOAT32, "Run files with float32 weights", "kernels/reference/float32.cc")
GOLDCREST_FEATURE(RmsNorm, 2, GOLDCREST_RMS_NORM, "Run files whose norms subtract no mean", "")
GOLDCREST_FEATURE(Gated, 4, GOLDCREST_GATED, "Run files whose feed-forward blocks have a gate", "")
GOLDCREST_FEATURE(AttentionBias, 8, GOLDCREST_ATTENTION_BIAS, "Run files whose attention has biases by distance", "")
GOLDCREST_FEATURE(Rotary, 16, GOLDCREST_ROTARY, "Run files whose queries and keys turn by their position", "")
GOLDCREST_FEATURE(Recurrent, 32, GOLDCREST_SSRU, "Run files with recurrent layers (SSRU) in the decoder", "")
GOLDCREST_FEATURE(Frontend, 64, GOLDCREST_SPEECH, "Run files that take samples or feature rows (speech); turns on GOLDCREST_REFINED", "layers/frontend.cc layers/stem.cc model/frontend_view.cc model/validate/speech.cc")
GOLDCREST_FEATURE(LogMel, 128, GOLDCREST_LOG_MEL, "Run files that make log-mel features of samples; needs GOLDCREST_SPEECH", "layers/log_mel.cc")
GOLDCREST_FEATURE(Prompt, 256, GOLDCREST_PROMPT, "Run files with a prompt; turns on GOLDCREST_PREFIX", "model/validate/prompt.cc")
GOLDCREST_FEATURE(Shortlist, 512, GOLDCREST_SHORTLIST, "Run files with a lexical shortlist", "decoding/shortlist.cc model/validate/lists.cc")
GOLDCREST_FEATURE(Refined, 2048, GOLDCREST_REFINED, "Run files in which inputs of some linear layers have 16 bits", "")
GOLDCREST_FEATURE(RefinedWeights, 4096, GOLDCREST_REFINED_WEIGHTS, "Run files in which some matrices have a second int8 matrix; turns on GOLDCREST_REFINED", "")
GOLDCREST_FEATURE(FineAttention, 16384, GOLDCREST_FINE_ATTENTION, "Run int8 files whose queries, keys and values have 16 bits", "kernels/reference/fine_attention.cc")
GOLDCREST_FEATURE(Rules, 8192, GOLDCREST_RULES, "Run files with rules of their own for the search, such as no_repeat_ngram", "")
GOLDCREST_FEATURE(Subword, 131072, GOLDCREST_SUBWORD, "Run files whose texts subword-nmt's merges cut", "")
GOLDCREST_FEATURE(AddedTokens, 33554432, GOLDCREST_ADDED_TOKENS, "Run files whose tokenizer was given tokens of its own, as by add_tokens", "text/added_tokens.cc")
GOLDCREST_FEATURE(AddedWords, 0, GOLDCREST_ADDED_WORDS, "Added tokens that take white space or are words of their own; turns on GOLDCREST_ADDED_TOKENS", "text/added_words.cc")
GOLDCREST_FEATURE(Languages, 262144, GOLDCREST_LANGUAGES, "Run files with a table of languages, of which each source has two", "")
GOLDCREST_FEATURE(Sequences, 524288, GOLDCREST_SEQUENCES, "Suppress or bias sequences of ids, and ids that would repeat the source", "decoding/sequences.cc")
GOLDCREST_FEATURE(Lexicon, 1048576, GOLDCREST_LEXICON, "Allow only texts of a lexicon, and run files with one; turns on GOLDCREST_SHORTLIST", "decoding/lexicon.cc")
GOLDCREST_FEATURE(Prefix, 0, GOLDCREST_PREFIX, "Begin results with a caller's prefix", "decoding/prefix.cc decoding/prompt_mask.cc")
GOLDCREST_FEATURE(Sampling, 0, GOLDCREST_SAMPLING, "Draw tokens at random, with the same results on every machine", "decoding/draw.cc")
GOLDCREST_FEATURE(Inspection, 0, GOLDCREST_INSPECTION, "Token scores, scores of given targets, alignments", "")
GOLDCREST_FEATURE(UnequalCores, 0, GOLDCREST_UNEQUAL_CORES, "Threads take their work in pieces, so that a slow core does not hold up the others", "")
