# SPDX-License-Identifier: Apache-2.0
# Tests of a cross build: on emulated CPUs (the toolchain file names the emulator), and with models of a host build.

# goldcrest_chooses(CPU TABLE...): an emulated CPU runs these tables, best first, and the reference.
function(goldcrest_chooses cpu)
  string(JOIN "\n" tables ${ARGN} reference)
  goldcrest_command_test(kernels_of_${cpu} fast ${GOLDCREST_QEMU} -cpu ${cpu} $<TARGET_FILE:list_kernels>
    PROPERTIES PASS_REGULAR_EXPRESSION "^${tables}\n$")
  if(NOT cpu MATCHES "^(max|rv64)$")  # contract_test itself runs there
    goldcrest_command_test(contract_test_${cpu} fast ${GOLDCREST_QEMU} -cpu ${cpu} $<TARGET_FILE:contract_test>)
  endif()
endfunction()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(dot_tables arm_dotprod arm_dotprod_a55 arm_neon arm_neon_a53)
  goldcrest_chooses(max arm_i8mm ${dot_tables})
  goldcrest_chooses(neoverse-n1 ${dot_tables})
  goldcrest_chooses(cortex-a76 ${dot_tables})
  goldcrest_chooses(cortex-a72 arm_neon arm_neon_a53)
  goldcrest_chooses(cortex-a53 arm_neon arm_neon_a53)
  goldcrest_script_test(kernels_of_in_order_cores fast in_order_cores.sh qemu-aarch64 $<TARGET_FILE:list_kernels>)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "armv7l")
  goldcrest_chooses(max arm_neon32)
  goldcrest_chooses(cortex-a7 arm_neon32)
  goldcrest_chooses(cortex-r5f)  # no NEON
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "riscv64")
  goldcrest_chooses(rv64 riscv_scalar)
  add_library(vectors_in_hwcap MODULE vectors_in_hwcap.c)
  goldcrest_warnings(vectors_in_hwcap)
  # goldcrest_with_vectors(NAME BITS COMMAND...): runs COMMAND on a CPU with vectors of BITS bits.
  function(goldcrest_with_vectors name bits)
    goldcrest_command_test(${name}_rvv${bits} fast ${GOLDCREST_QEMU} -cpu rv64,v=true,vext_spec=v1.0,vlen=${bits}
      -E LD_PRELOAD=$<TARGET_FILE:vectors_in_hwcap> ${ARGN})
  endfunction()
  foreach(bits 128 256 512)
    goldcrest_with_vectors(kernels_of ${bits} $<TARGET_FILE:list_kernels>)
    set_tests_properties(kernels_of_rvv${bits} PROPERTIES
      PASS_REGULAR_EXPRESSION "^riscv_rvv\nriscv_scalar\nreference\n$")
    goldcrest_with_vectors(contract_test ${bits} $<TARGET_FILE:contract_test>)
    if(GOLDCREST_GOLDEN_FOLDER)
      goldcrest_with_vectors(golden_hash_g2p ${bits} $<TARGET_FILE:golden_hash> "${GOLDCREST_GOLDEN_FOLDER}/g2p.gcst"
        "${CMAKE_SOURCE_DIR}/tests/data/g2p/valid.tsv" "${GOLDCREST_GOLDEN_FOLDER}/g2p.hash")
    endif()
  endforeach()
endif()

# With models and hashes of a host build (golden.cmake), every emulated table gives the host's bits.
if(GOLDCREST_GOLDEN_FOLDER)
  foreach(task enfr g2p g2p-bytes g2p_refined student student_listed t5)
    set(lines "${CMAKE_SOURCE_DIR}/tests/data/${task}/valid.tsv")
    if(task MATCHES "^student")
      set(lines "${CMAKE_SOURCE_DIR}/tests/data/enfr/valid.tsv")
    elseif(task MATCHES "^(t5|g2p-bytes|g2p_refined)$")
      set(lines "${CMAKE_SOURCE_DIR}/tests/data/g2p/valid.tsv")
    endif()
    set(files "${GOLDCREST_GOLDEN_FOLDER}/${task}")
    goldcrest_command_test(golden_hash_${task} fast golden_hash "${files}.gcst" "${lines}" "${files}.hash")
  endforeach()
  foreach(task speech speech_whisper speech_integers)
    set(files "${GOLDCREST_GOLDEN_FOLDER}/${task}")
    goldcrest_command_test(golden_hash_${task} fast golden_speech --compare "${files}.gcst" "${files}.raw" "${files}")
  endforeach()
  set(files "${GOLDCREST_GOLDEN_FOLDER}/g2p")
  set(lines "${CMAKE_SOURCE_DIR}/tests/data/g2p/valid.tsv")
  goldcrest_command_test(golden_inspection_g2p fast golden_inspection "${files}.gcst" "${lines}" "${files}.inspection")
  goldcrest_command_test(golden_rules_g2p fast golden_inspection --searches "${files}_rules.gcst" "${lines}"
    "${files}_rules.hash")
  goldcrest_command_test(golden_samples_g2p fast golden_inspection --samples "${files}.gcst" "${lines}"
    "${files}.samples")
endif()
