// Words, names and sentences as a JSON array.
#pragma once

#include <ranges>

#include "base/json.h"

namespace interlock {

// In the order they come; each item is anything a Json is made from.
template <std::ranges::input_range Items>
Json json_list(const Items& items) {
    Json list = Json::array();
    for (const auto& item : items) {
        list.push(Json(item));
    }
    return list;
}

}  // namespace interlock
