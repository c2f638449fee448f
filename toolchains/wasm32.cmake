# SPDX-License-Identifier: Apache-2.0
# WebAssembly with the distribution's clang, lld and wasi-libc. A module for web pages links only
# the C library's functions on bytes, so it imports nothing. Tests link more of it, and node runs them with WASI.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang)
set(CMAKE_CXX_COMPILER clang++)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
# Compiler checks link no program, because that would need the compiler's run-time library.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
find_program(CMAKE_AR NAMES llvm-ar llvm-ar-14 llvm-ar-16 llvm-ar-18 llvm-ar-19 REQUIRED)
find_program(CMAKE_RANLIB NAMES llvm-ranlib llvm-ranlib-14 llvm-ranlib-16 llvm-ranlib-18 llvm-ranlib-19 REQUIRED)
set(CMAKE_C_FLAGS_INIT "-msimd128 -mbulk-memory")
set(CMAKE_CXX_FLAGS_INIT "-msimd128 -mbulk-memory")
