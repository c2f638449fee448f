/* SPDX-License-Identifier: Apache-2.0
 *
 * A library to preload: it adds RISC-V's bit V to AT_HWCAP, as Linux does on a CPU with vectors. QEMU 7.2 runs their
 * instructions but leaves out the bit.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/auxv.h>

unsigned long getauxval(unsigned long type) {
  unsigned long (*const next)(unsigned long) = (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");
  return next(type) | (type == AT_HWCAP ? 1ul << ('V' - 'A') : 0);
}
