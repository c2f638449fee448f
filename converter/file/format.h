// SPDX-License-Identifier: Apache-2.0
// The door to FlatBuffers: the tables of a file's metadata. Only sources that build or read tables include it; headers
// forward-declare the tables that they name.
#pragma once

#include "model_generated.h"
