/* SPDX-License-Identifier: Apache-2.0
 *
 * Prefixes: the ids with which a result begins. Agreement: the tokens of a result that are certain while the search
 * goes on. Sampling: tokens drawn at random. Sequences: ids that must not follow each other, or should. Lexicons: the
 * only texts that may come out. Builds without the CMake options GOLDCREST_PROMPT, GOLDCREST_SEARCH and
 * GOLDCREST_SHORTLIST return ERROR_UNSUPPORTED.
 */
#ifndef GOLDCREST_DECODING_H_
#define GOLDCREST_DECODING_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The prefix counts in lengths (of the score, the minimum, the maximum and the rules), as in CTranslate2. Without the
 * flag it does not, as in transformers; limits.max_target_tokens bounds both together. */
#define GOLDCREST_PREFIX_IN_LENGTHS 1u
/* The prefix follows the file's own prompt or forced first id. Without the flag it replaces them. */
#define GOLDCREST_PREFIX_BEHIND_PROMPT 2u
/* The first id stands in place of the start token and is no part of the result: Whisper's earlier text, for example,
 * begins with its <|startofprev|>, and the start token follows it. It stays in place until the next begin, also for
 * goldcrest_score and after goldcrest_search_again. Not together with GOLDCREST_PREFIX_BEHIND_PROMPT. */
#define GOLDCREST_PREFIX_REPLACES_START 4u

/* Gives a stored source n ids with which its results begin; the search chooses the ids after them. Call it before the
 * first step. Each source of a batch has a prefix of its own or none. A new prefix replaces an earlier one, n = 0 takes
 * it back, and the next begin discards all. A prefix costs no output layer, except for logits hashes, which cover it.
 * Its ids are part of the result (goldcrest_result.n_prefix) and of its alignments, and rules see them as ids of the
 * text. They add 0 to the score. Suppressed ids are kept. Steps that return TOKEN return the prefix too.
 * A prefix is never cut: if a length leaves no room after it, the end token follows. goldcrest_score ignores it.
 * Errors: ERROR_ARGUMENT (engine null, or ids null and n not 0; no such sentence; an unknown flag; an id that ends a
 * text, detail.index: which), ERROR_STATE (no source was given, or the steps have begun), ERROR_TOO_LONG (n above
 * limits.max_prefix_tokens, or no position left behind prompt and prefix), ERROR_TOKEN_RANGE (detail.index: which id),
 * ERROR_UNSUPPORTED (this build lacks GOLDCREST_PROMPT). */
GOLDCREST_MUST_CHECK int goldcrest_set_prefix(
    goldcrest_engine *engine, uint32_t sentence, const int32_t *ids, size_t n, uint32_t flags);

/* Gives the only stored source a guess of its result: n ids, without those of a prompt or prefix. Greedy search checks
 * many of them in one step, up to limits.batch * limits.beam_size and 15 rows, and takes what it would have chosen
 * itself; results, scores and alignments stay the same. Where the guess is wrong, it goes on after the changed id, or
 * where the text's last two ids stand in the rest of the guess (at first its last one). Other searches, batches, hashes
 * of logits, lexicons, sequences and models with recurrent layers ignore it. Call it before the first step. The ids
 * must stay in place until the search ends. A new draft replaces an earlier one, n = 0 takes it back, and the next
 * begin or goldcrest_search_again forgets it. Errors: ERROR_ARGUMENT (engine null, or ids null and n not 0; both limits
 * are 1), ERROR_STATE (no source was given, or the steps have begun), ERROR_TOO_LONG (n above 2^31 - 1),
 * ERROR_TOKEN_RANGE (detail.index: which id), ERROR_UNSUPPORTED (this build lacks GOLDCREST_PROMPT, or is firmware). */
GOLDCREST_MUST_CHECK int goldcrest_set_draft(goldcrest_engine *engine, const int32_t *ids, size_t n);

/* ids [capacity] <- the tokens with which the best result of a sentence begins, whatever the next steps find: those in
 * which all live hypotheses and the best finished one agree. Call it between steps: the tokens of one call begin those
 * of every later call and goldcrest_get_result's at rank 0, which are all of them after DONE. With greedy search every
 * token is certain at once. Returns their number; 0 while the source is encoded. Work: a few loads for each position.
 * To stop a search, call no further step; goldcrest_reset or the next begin discards it.
 * Errors: ERROR_ARGUMENT (engine null, or ids null and capacity not 0; no such sentence), ERROR_TRUNCATED (capacity too
 * small: the ids that fit were written). */
GOLDCREST_MUST_CHECK int goldcrest_get_agreed(
    const goldcrest_engine *engine, uint32_t sentence, int32_t *ids, size_t capacity);

/* Draws each token at random. A draw is made among the top_k best tokens that may be chosen, by transformers' rules in
 * this order: temperature, top_k, top_p, min_p. Ties at the end of the top_k go to the lower ids. */
typedef struct goldcrest_sampling {
  uint64_t seed;
  float temperature;  /* 2^-10..2^10: divides the logits */
  uint32_t top_k;     /* 1..limits.max_sampled */
  float top_p;        /* above 0, at most 1: an id stays while the share of all ids above it is smaller; 1: all stay */
  float min_p;        /* 0..1: an id stays if it is at least min_p times as likely as the best */
  uint32_t n_samples; /* of each source, at most limits.n_best; they share its encoder run. 0: 1 */
  uint32_t first_sample; /* the number of the first: samples 2 and 3 are those of a later call with first_sample 2 */
} goldcrest_sampling;

/* Sets how the tokens of the following sources are drawn; null: they are searched, as before. Needs search.beam_size 1,
 * in which rules and GOLDCREST_SEARCH_SCORES work as in greedy search: log_prob is the model's, without temperature.
 * Sample i is the result of rank i. goldcrest_get_agreed returns the tokens of sample 0. A draw depends on the seed,
 * the stream, the number of the sample, the position and the logits: not on the batch, the threads, the step size or
 * the machine. engine/DECODING.md has its formula. Not while a search is under way. Errors: ERROR_ARGUMENT (engine
 * null; a value outside its range or not a number, detail.index: 0 temperature, 1 top_k, 2 top_p, 3 min_p, 4 n_samples;
 * together with beams or with the target of a stored source), ERROR_STATE (a search is under way), ERROR_UNSUPPORTED
 * (limits.max_sampled is 0). An error leaves the engine's options as they were. While sampling is set,
 * goldcrest_set_search and goldcrest_score return ERROR_ARGUMENT for beams and for targets. */
GOLDCREST_MUST_CHECK int goldcrest_set_sampling(goldcrest_engine *engine, const goldcrest_sampling *sampling);

/* Sets that each following source has n results that begin with its n best first tokens, which are no ends, each with
 * the best text after it, as greedy search finds it; 0: searched as before. Results have the order of these tokens.
 * After a prefix its next token counts as the first. A token less likely than min_prob (0..1) has no result, except
 * the best one. A score is the log-probability of the first token plus the score of the tokens after it, as in
 * CTranslate2's return_alternatives. Takes the place of sampling, with its memory, conditions and errors:
 * n <= limits.max_sampled and limits.n_best (detail.index 1 or 4), min_prob in its range (detail.index 3). */
GOLDCREST_MUST_CHECK int goldcrest_set_alternatives(goldcrest_engine *engine, uint32_t n, float min_prob);

/* Chooses the stream of random numbers of a stored source, instead of its index in the batch. Call it before the first
 * step. Sources with different streams are drawn independently of each other.
 * Errors: ERROR_ARGUMENT (engine null; no such sentence), ERROR_STATE (no source was given, or the steps have begun),
 * ERROR_UNSUPPORTED (limits.max_sampled is 0). */
GOLDCREST_MUST_CHECK int goldcrest_set_stream(goldcrest_engine *engine, uint32_t sentence, uint32_t stream);

/* Sequences of ids that are suppressed or biased, and ids that would repeat the source. A sequence is completed where
 * the ids before its last one are the last of a text, with its start token. There the bias is added to the value of the
 * last id: to the logit, or with beams to the log-probability. As transformers' bad_words_ids and sequence_bias. */
typedef struct goldcrest_sequences {
  const int32_t *ids;  /* [n_ids]: of each sequence the number of its ids, at least 1, then the ids */
  const float *biases; /* [n]: -65536..65536, or -HUGE_VALF: the sequence never appears; null: none ever appears */
  uint32_t n_ids, n;   /* n: sequences */
  uint32_t no_repeat_source_ngram; /* no result repeats a run of this many ids of its source, as transformers'
                                      encoder_no_repeat_ngram_size; needs a vocabulary that both share. 0: it may */
} goldcrest_sequences;

/* Sets the sequences of the following sources, instead of the file's; null: the file's again. The arrays must stay
 * unchanged until the next call of this function or the last use of the engine, but for ids and biases between two
 * steps, which the next step then reads (a number 0 ends them): a caller follows a greedy search so. They cost no
 * memory of the engine, and in each step a few instructions for each sequence, hypothesis and 256 outputs. In greedy
 * search sequences change log-probabilities as biases do: the soft-max is taken over the changed values. An id that a
 * prefix or a length forces is not suppressed. Not while a search is under way.
 * Errors: ERROR_ARGUMENT (engine null; ids null and n_ids not 0; a bad sequence, detail.index: which, n: n_ids is not
 * the length of n sequences; no_repeat_source_ngram for a model that takes clips), ERROR_STATE (a search is under way),
 * ERROR_UNSUPPORTED (this build lacks GOLDCREST_SEARCH). An error leaves the sequences as they were. */
GOLDCREST_MUST_CHECK int goldcrest_set_sequences(goldcrest_engine *engine, const goldcrest_sequences *sequences);

#define GOLDCREST_LEXICON_END 0xffffffffu  /* the token of an edge: an entry ends here */
#define GOLDCREST_LEXICON_STOP 0xffffffffu /* the node after an end: no further entry follows */

typedef struct goldcrest_lexicon_edge {
  uint32_t token; /* an id of the target, or GOLDCREST_LEXICON_END */
  uint32_t child; /* the node after it, above its own node; after an end: GOLDCREST_LEXICON_STOP or 0 */
} goldcrest_lexicon_edge;

/* A tree of the token ids of entries. A text begins at node 0 and goes on along an edge with each token. It may end,
 * with any id that ends a text, where its node has an edge GOLDCREST_LEXICON_END. If node 0 is after that edge,
 * another entry may follow there: entries are words. If a token leads on both inside an entry and from node 0, the
 * entry goes on. */
typedef struct goldcrest_lexicon {
  const uint32_t *first_edge; /* [n_nodes + 1], from 0 to n_edges: the edges of node i end where those of i + 1 begin */
  const goldcrest_lexicon_edge *edges; /* [n_edges]; at least one at each node; ascending by token within a node */
  uint32_t n_nodes, n_edges;           /* at most 2^26 */
} goldcrest_lexicon;

/* Checks that a lexicon keeps the rules above for a target vocabulary of this size. Then an end is reached from each
 * node. Work: a few loads for each edge. Returns OK. Errors: ERROR_ARGUMENT (a null pointer, a size, edges that do not
 * ascend, an id outside the vocabulary, a child that is not above its node; detail.index: the node), ERROR_UNSUPPORTED
 * (this build lacks GOLDCREST_SHORTLIST). detail may be null. */
GOLDCREST_MUST_CHECK int goldcrest_check_lexicon(
    const goldcrest_lexicon *lexicon, uint32_t vocab_size, goldcrest_detail *detail);

/* Restricts the results of the following sources to a lexicon, which it checks. null: the file's own, or none. n_nodes
 * 0: none, even if the file has a lexicon. The engine copies the struct and reads its arrays during the searches, so
 * keep them. If they change meanwhile, results are undefined, but the engine reads no byte outside them.
 * The soft-max runs over the allowed ids. If the hypotheses of a source have at most limits.max_candidates of them
 * together, only these outputs are computed; otherwise all, with the same results. (With a repetition penalty, beams
 * compute all.) A logits hash covers what was computed. Rules and suppressed ids apply; a text for which they leave
 * nothing ends. A shortlist does not apply. The file's prompt and forced first id stand before the entry, and so does a
 * caller's prefix in place of a prompt; another prefix begins it. A text that reaches its greatest length is cut.
 * goldcrest_score and goldcrest_self_test ignore the lexicon. Not while a search is under way. Errors: those of
 * goldcrest_check_lexicon; ERROR_ARGUMENT (engine null), ERROR_STATE (a search is under way), ERROR_UNSUPPORTED
 * (limits.lexicon is 0). An error changes nothing. */
GOLDCREST_MUST_CHECK int goldcrest_set_lexicon(goldcrest_engine *engine, const goldcrest_lexicon *lexicon);

#ifdef __cplusplus
}
#endif

#endif
