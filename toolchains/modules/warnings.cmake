# SPDX-License-Identifier: Apache-2.0
# goldcrest_warnings(target): the warnings that all of our own code passes. They stay private to the target.
option(GOLDCREST_WERROR "Treat warnings as errors" OFF)
function(goldcrest_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion -Wvla
    $<$<BOOL:${GOLDCREST_WERROR}>:-Werror>)
endfunction()
