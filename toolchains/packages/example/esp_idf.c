/* SPDX-License-Identifier: Apache-2.0
 *
 * Goldcrest in ESP-IDF: prints how English words are pronounced. `idf.py menuconfig` chooses where the model is stored.
 */
#include <stdio.h>
#include "esp_partition.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"
#include "model_g2p_small.h"
#include "pronounce.h"
#include "sdkconfig.h"

enum { kStackBytes = 8192 /* the engine's 4,096, and printf */ };

/* The work that the second core shares, and who waits for it. */
static struct {
  void (*task)(void *context, size_t i);
  void *context;
  TaskHandle_t caller;
} work;
static TaskHandle_t helper;

static void help(void *unused) {
  (void)unused;
  for (;;) {
    ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
    work.task(work.context, 1);
    xTaskNotifyGive(work.caller);
  }
}

static void on_two_cores(void *context, void (*task)(void *task_context, size_t i), void *task_context, size_t n) {
  (void)context;
  work.task = task;
  work.context = task_context;
  work.caller = xTaskGetCurrentTaskHandle();
  if (n > 1) xTaskNotifyGive(helper);
  task(task_context, 0);
  if (n > 1) ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
}

static void print(const char *text) { fputs(text, stdout); }

#if CONFIG_EXAMPLE_MODEL_IN_RAM
static _Alignas(GOLDCREST_ALIGN) uint8_t model_in_ram[MODEL_G2P_SMALL_BYTES];

static int read_piece(void *partition, size_t offset, void *to, size_t n) {
  return esp_partition_read(partition, offset, to, n);
}
#endif

/* Returns the model, or null after a message. */
static const void *find_model(void) {
#if CONFIG_EXAMPLE_MODEL_IN_RODATA
  return model_g2p_small;
#else
  const esp_partition_t *partition =
      esp_partition_find_first(ESP_PARTITION_TYPE_DATA, ESP_PARTITION_SUBTYPE_ANY, "model");
  const void *model = NULL;
  esp_err_t error = ESP_ERR_NOT_FOUND;
#if CONFIG_IDF_TARGET_LINUX
  /* No `idf.py flash` has written the emulated flash. */
  if (partition != NULL) error = esp_partition_erase_range(partition, 0, partition->size);
  if (partition != NULL && error == ESP_OK)
    error = esp_partition_write(partition, 0, model_g2p_small, MODEL_G2P_SMALL_BYTES);
  if (error != ESP_OK) printf("the emulated partition cannot be written\n");
#endif
#if CONFIG_EXAMPLE_MODEL_MAPPED
  /* Partitions begin at multiples of 4 KB, which are aligned to GOLDCREST_ALIGN. */
  esp_partition_mmap_handle_t handle;
  if (partition != NULL)
    error = esp_partition_mmap(partition, 0, MODEL_G2P_SMALL_BYTES, ESP_PARTITION_MMAP_DATA, &model, &handle);
#else
  if (partition != NULL) error = read_model_by_pieces(read_piece, (void *)partition, model_in_ram, sizeof model_in_ram);
  model = model_in_ram;
#endif
  if (error != ESP_OK) printf("partition \"model\": error 0x%x\n", (unsigned)error);
  return error == ESP_OK ? model : NULL;
#endif
}

static void pronounce_task(void *unused) {
  (void)unused;
  const void *model = find_model();
  if (model != NULL) pronounce_words(model, MODEL_G2P_SMALL_BYTES, on_two_cores, print);
  fflush(stdout);
  vTaskDelete(NULL);
}

/* The main task has 3,584 bytes of stack by default, which is too little: the engine gets a task of its own. */
void app_main(void) {
  xTaskCreatePinnedToCore(help, "helper", kStackBytes, NULL, 5, &helper, portNUM_PROCESSORS - 1);
  xTaskCreatePinnedToCore(pronounce_task, "pronounce", kStackBytes, NULL, 5, NULL, 0);
}
