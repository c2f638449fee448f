// SPDX-License-Identifier: Apache-2.0
// What the programs say: errors of the engine in full, which kernel tables there are. None of
// it throws where standard error or output cannot be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "goldcrest/goldcrest.h"

// "arena too small: arena: smaller than goldcrest_plan_memory says (43264 bytes)".
std::string describe_error(int64_t status, const goldcrest_detail& detail);

// The same of the goldcrest_model_info of a file's bytes, with what they look like instead of a model.
std::string describe_model_error(int64_t status, const goldcrest_detail& detail, const void* file, size_t file_bytes);

// What went wrong; out of memory names the model.
std::string describe_exception(const std::exception& error, const std::string& model);

// Why `name` (empty: what GOLDCREST_KERNELS says) cannot be had, with the tables that this build has and which of them
// this CPU does not run; empty where it can, where nothing is asked for and for a backend's names, which are Backend's.
std::string kernels_problem(const std::string& name);

// Flushes standard output. False after a message where something could not be written.
bool finish_output(const char* program);
