/* SPDX-License-Identifier: Apache-2.0
 *
 * ST STM32F401xC: Cortex-M4F at its clock after reset, the 16 MHz internal oscillator. The console is USART1 on PA9
 * (out) and PA10 (in). Addresses and bits: RM0368.
 */
#include "board_api.h"
#include "common/cortexm/exceptions.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

#define RCC_AHB1ENR REGISTER(0x40023830u)
#define RCC_APB2ENR REGISTER(0x40023844u)
#define GPIOA_MODER REGISTER(0x40020000u)
#define GPIOA_AFRH REGISTER(0x40020024u)
#define USART1_SR REGISTER(0x40011000u)
#define USART1_DR REGISTER(0x40011004u)
#define USART1_BRR REGISTER(0x40011008u)
#define USART1_CR1 REGISTER(0x4001100Cu)

enum { kClockHz = 16000000, kBaud = 115200 };

void board_init(void) {
  RCC_AHB1ENR |= 1u << 0; /* GPIOA */
  RCC_APB2ENR |= 1u << 4; /* USART1 */
  (void)RCC_APB2ENR;      /* waits the two cycles until the clock runs */
  GPIOA_AFRH = (GPIOA_AFRH & ~0xFF0u) | 0x770u;
  GPIOA_MODER = (GPIOA_MODER & ~(0xFu << 18)) | 0xAu << 18;
  USART1_BRR = (kClockHz + kBaud / 2) / kBaud;
  USART1_CR1 = 1u << 13 | 1u << 3 | 1u << 2; /* on, transmitter, receiver */
  systick_start();
}

void uart_write_byte(uint8_t byte) {
  while ((USART1_SR & 1u << 7) == 0) {
  }
  USART1_DR = byte;
}

uint8_t uart_read_byte(void) {
  while ((USART1_SR & 1u << 5) == 0) {
  }
  return (uint8_t)USART1_DR;
}

const char *board_name(void) { return "own_board"; }

uint32_t board_ticks_per_second(void) { return kClockHz; }
