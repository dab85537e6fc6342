// Which build this is.
#pragma once

#include <string_view>

namespace interlock {

std::string_view interlock_version();
std::string_view interlock_commit();  // Short hash, or "unknown".

}  // namespace interlock
