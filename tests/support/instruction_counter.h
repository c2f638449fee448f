// SPDX-License-Identifier: Apache-2.0
// Numbers of system calls that do not exist. A program makes them to tell the plugin what to count.
#pragma once

enum { kBeginCounting = 100001, kEndCounting = 100002 };
