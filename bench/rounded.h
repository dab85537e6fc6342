// A measured value as it stands in a report.
#pragma once

#include "base/json.h"

namespace interlock {

// With so many digits after the point.
Json rounded(double value, int digits);

}  // namespace interlock
