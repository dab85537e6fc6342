#include "engine/wire/ids.h"

#include <algorithm>

namespace interlock {

bool is_tenant_text(std::string_view text) {
    constexpr std::size_t kTenantLengthMax = 64;
    return !text.empty() && text.size() <= kTenantLengthMax && text.front() != '_' &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
           });
}

}  // namespace interlock
