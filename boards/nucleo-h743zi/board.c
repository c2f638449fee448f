/* SPDX-License-Identifier: Apache-2.0
 *
 * ST NUCLEO-H743ZI: Cortex-M7 with caches, at its clock after reset, the internal oscillator of 64 MHz. The console is
 * USART3 on PD8 and PD9, which the ST-LINK shows as a USB serial port. Addresses and bits: RM0433.
 */
#include "board_api.h"
#include "common/cortexm/exceptions.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

#define RCC_AHB4ENR REGISTER(0x580244E0u)
#define RCC_APB1LENR REGISTER(0x580244E8u)
#define GPIOD_MODER REGISTER(0x58020C00u)
#define GPIOD_AFRH REGISTER(0x58020C24u)
#define USART3_CR1 REGISTER(0x40004800u)
#define USART3_BRR REGISTER(0x4000480Cu)
#define USART3_ISR REGISTER(0x4000481Cu)
#define USART3_ICR REGISTER(0x40004820u)
#define USART3_RDR REGISTER(0x40004824u)
#define USART3_TDR REGISTER(0x40004828u)

#define CONFIGURATION_CONTROL REGISTER(0xE000ED14u)
#define CACHE_SIZE REGISTER(0xE000ED80u)
#define CACHE_SELECTION REGISTER(0xE000ED84u)
#define INVALIDATE_ALL_INSTRUCTIONS REGISTER(0xE000EF50u)
#define INVALIDATE_BY_SET_AND_WAY REGISTER(0xE000EF60u)

enum { kClockHz = 64000000, kBaud = 115200 };

static void barrier(void) { __asm__ volatile("dsb\n\tisb" : : : "memory"); }

/* Arm DDI 0489, chapter 5.7: lines of 32 bytes, 4 ways. */
static void enable_caches(void) {
  INVALIDATE_ALL_INSTRUCTIONS = 0;
  CACHE_SELECTION = 0;
  barrier();
  const uint32_t last_set = (CACHE_SIZE >> 13) & 0x7FFFu, last_way = (CACHE_SIZE >> 3) & 0x3FFu;
  for (uint32_t set = 0; set <= last_set; ++set)
    for (uint32_t way = 0; way <= last_way; ++way) INVALIDATE_BY_SET_AND_WAY = way << 30 | set << 5;
  barrier();
  CONFIGURATION_CONTROL |= 1u << 17 | 1u << 16;
  barrier();
}

static void start_console(void) {
  RCC_AHB4ENR |= 1u << 3;   /* GPIOD */
  RCC_APB1LENR |= 1u << 18; /* USART3 */
  (void)RCC_APB1LENR;       /* the clock runs two cycles later */
  GPIOD_AFRH = (GPIOD_AFRH & ~0xFFu) | 0x77u;
  GPIOD_MODER = (GPIOD_MODER & ~(0xFu << 16)) | 0xAu << 16;
  USART3_BRR = (kClockHz + kBaud / 2) / kBaud;
  USART3_CR1 = 1u << 3 | 1u << 2 | 1u; /* transmitter, receiver, on */
}

void board_init(void) {
  enable_caches();
  start_console();
  systick_start();
}

void uart_write_byte(uint8_t byte) {
  while ((USART3_ISR & 1u << 7) == 0) {
  }
  USART3_TDR = byte;
}

uint8_t uart_read_byte(void) {
  while ((USART3_ISR & 1u << 5) == 0) USART3_ICR = 1u << 3; /* bytes lost in an overrun do not stop the rest */
  return (uint8_t)USART3_RDR;
}

const char *board_name(void) { return "nucleo-h743zi"; }

uint32_t board_ticks_per_second(void) { return kClockHz; }
