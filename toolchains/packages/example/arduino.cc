// SPDX-License-Identifier: Apache-2.0
// Goldcrest in Arduino: prints how English words are pronounced, on the serial console.
#include <Arduino.h>
#include <Goldcrest.h>
#include "model_g2p_small.h"
#include "pronounce.h"

#if defined(ARDUINO_ARCH_ESP32) && defined(SET_LOOP_TASK_STACK_SIZE)
SET_LOOP_TASK_STACK_SIZE(8192);  // the engine's 4,096, and what the console needs
#elif defined(ARDUINO_ARCH_RP2040)
bool core1_separate_stack = true;  // gives each core 8 KB
#endif

static void print(const char* text) { Serial.print(text); }

void setup() {
  Serial.begin(115200);
  delay(2000);  // gives a USB console time to open
}

void loop() {
  pronounce_words(model_g2p_small, MODEL_G2P_SMALL_BYTES, nullptr, print);
  delay(5000);
}
