#include "bench/rounded.h"

#include <fmt/format.h>

namespace interlock {

Json rounded(double value, int digits) {
    return Json::number(fmt::format("{:.{}f}", value, digits));
}

}  // namespace interlock
