/* SPDX-License-Identifier: Apache-2.0
 *
 * Ends a program that caused a fault or got an interrupt without a handler.
 */
#ifndef GOLDCREST_BOARDS_FAULT_H_
#define GOLDCREST_BOARDS_FAULT_H_

/* Writes the exception's number, its address and the CPU's reason to the console, then ends the program with
 * 128 + number. */
void fault_handler(void);

/* These do the same, unless the program defines its own. External_Handler takes all external interrupts. */
void NMI_Handler(void);
void SVC_Handler(void);
void PendSV_Handler(void);
void External_Handler(void);

#endif /* GOLDCREST_BOARDS_FAULT_H_ */
