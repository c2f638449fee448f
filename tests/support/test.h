// SPDX-License-Identifier: Apache-2.0
// The headers of every GoogleTest program.
#pragma once

#include <gtest/gtest.h>

#include "support/standard.h"
