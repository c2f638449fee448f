/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a program that did what the CPU cannot do, or got an interrupt that it has no handler for.
 */
#ifndef GOLDCREST_BOARDS_FAULT_H_
#define GOLDCREST_BOARDS_FAULT_H_

/* Writes the exception's number, where it happened and the CPU's reason to the console, then ends the program with
 * 128 + number. */
void fault_handler(void);

/* The same, unless the program defines them. External_Handler takes all external interrupts. */
void NMI_Handler(void);
void SVC_Handler(void);
void PendSV_Handler(void);
void External_Handler(void);

#endif /* GOLDCREST_BOARDS_FAULT_H_ */
