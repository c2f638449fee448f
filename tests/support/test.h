// SPDX-License-Identifier: Apache-2.0
// What every GoogleTest program includes.
#pragma once

#include <gtest/gtest.h>

#include "support/standard.h"
