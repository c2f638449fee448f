/* SPDX-License-Identifier: Apache-2.0 */
/* A table of the rules of goldcrest_search, for programs and bindings that offer all of them. Define
 * GOLDCREST_RULE(kind, field, ...), then include this file, which undefines it. After a field:
 *   FLAG    value of files without rules, option, help, help of --no-option, text if the value is another
 *   WORD    enumeration, its last value, option, help, {word, value, text}...
 *   COUNT   option, help, text; 0 is none for options and files
 *   NUMBER  none, least, largest, error, option, help, text; none is that of files; if it is 0, searches have INFINITY
 * Each text describes what the rule changes; a {} in it stands for the value. */
/* clang-format off */
GOLDCREST_RULE(FLAG, renormalize, 0, "renormalize", "run the soft-max only over the tokens that may be chosen",
    "run the soft-max over all tokens", "soft-max of what may be chosen")
GOLDCREST_RULE(FLAG, force_end, 1, "force-end", "end a text of the most tokens with the end token",
    "leave such a text without an end token", "no forced end")
GOLDCREST_RULE(WORD, early_stopping, goldcrest_early_stopping, GOLDCREST_STOP_NEVER, "early-stopping WORD",
    "stop beams true or 1: once as many results are finished, never: when no better one is possible, false or 0: when "
    "none is likely",
    {"false", 1, ""}, {"true", 2, "early stopping"}, {"never", 3, "early stopping never"}, {"0", 1, ""}, {"1", 2, ""})
GOLDCREST_RULE(WORD, length_penalty_kind, goldcrest_length_penalty, GOLDCREST_LENGTH_WU, "length-penalty-kind KIND",
    "take power: length^X, or wu: ((5 + length) / 6)^X, of Wu et al.",
    {"power", 1, ""}, {"wu", 2, "length penalty of ((5 + n) / 6)"})
GOLDCREST_RULE(COUNT, no_repeat_ngram, "no-repeat-ngram N", "repeat no run of N tokens; 0: all may come twice",
    "no {}-gram twice")
GOLDCREST_RULE(COUNT, max_extra_tokens, "max-extra N",
    "write at most N tokens more than the source has; 0: no such limit", "at most {} tokens more than the source")
GOLDCREST_RULE(NUMBER, max_length_factor, 0.0f, 1.0f / 1024, 1024.0f, "below 2^-10", "max-length-factor X",
    "write at most X times as many tokens as the source has; 0: no such limit", "at most {} times the source's tokens")
GOLDCREST_RULE(NUMBER, repetition_penalty, 1.0f, 1.0f / 1024, 1024.0f, "outside [2^-10, 2^10]", "repetition-penalty X",
    "make tokens that a result already has less likely (above 1) or more likely (below 1)", "repetition penalty {}")
/* clang-format on */
#undef GOLDCREST_RULE
