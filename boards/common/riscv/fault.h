/* SPDX-License-Identifier: Apache-2.0
 *
 * Interrupts of a RISC-V hart in machine mode. Faults, and interrupts without a handler, are reported on the console as
 * "fault: exception CAUSE" and end the program with 128 + the cause. Bit 31 of CAUSE is set for interrupts.
 */
#ifndef GOLDCREST_BOARDS_RISCV_FAULT_H_
#define GOLDCREST_BOARDS_RISCV_FAULT_H_

/* Your program defines those that it enables. The start-up code saves and restores all registers that a function may
 * change, those of the FPU too. */
void Software_Handler(void);
void Timer_Handler(void);
void External_Handler(void);

#endif /* GOLDCREST_BOARDS_RISCV_FAULT_H_ */
