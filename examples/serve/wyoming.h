// SPDX-License-Identifier: Apache-2.0
// Serves Wyoming, the protocol of Home Assistant's voice.
#pragma once

#include "loop.h"
#include "serve.h"

ProtocolMaker wyoming_protocol(Service& service);
