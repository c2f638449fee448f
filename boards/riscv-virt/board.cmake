# SPDX-License-Identifier: Apache-2.0
# QEMU's machine "virt" with a 32-bit RISC-V hart, without an FPU if the compiler's flags have none.
goldcrest_board_sources()
set(cpu rv32)
if(NOT CMAKE_C_FLAGS MATCHES "-march=rv32[a-z]*f")
  set(cpu rv32,f=false,d=false)
endif()
set(GOLDCREST_BOARD_RUN qemu-system-riscv32 -M virt -cpu ${cpu} -bios none ${goldcrest_console} -kernel)
