// SPDX-License-Identifier: Apache-2.0
// Calls of the system that do not exist: a program tells the plugin by them what to count.
#pragma once

enum { kBeginCounting = 100001, kEndCounting = 100002 };
