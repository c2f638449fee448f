/* SPDX-License-Identifier: Apache-2.0
 *
 * The clip, as samples of 16 bits, next to the model.
 */
    .syntax unified
    .section .model, "a", %progbits
    .balign 4
    .global clip, clip_end
clip:
    .incbin GOLDCREST_CLIP
clip_end:
