// The form of order_identity.h's ids (agent-loop.md#order-ids), for those who meet an order and ask
// whose it is.
#pragma once

#include <string_view>

#include "engine/wire/ids.h"

namespace interlock {

// An order that bears an id of this form is ours, known or not.
inline bool has_our_form(const OrderClientId& id) {
    constexpr std::size_t kLength = 32;
    const std::string_view text = id.text();
    return text.size() == kLength && text.front() == 'h' &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567") == std::string_view::npos;
}

}  // namespace interlock
