// How services reach the engine without knowing whether it is a thread or the simulator.
#pragma once

#include <functional>

#include "engine/service/turn.h"

namespace interlock {

using SubmitTurn = std::function<void(TurnRequest)>;

}  // namespace interlock
