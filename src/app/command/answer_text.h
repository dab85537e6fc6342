// Any answer of the server as text for people, for commands without a view of their own: what it
// says first, then its fields, then a table for each of its lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace interlock {

std::string answer_text(const Json& answer);

// The objects in the list at `key`; none when there is no such list.
const Json::Array& objects_at(const Json& answer, std::string_view key);
// The list at `key` as a table of these fields; empty without any. `header` stands for their names.
std::string table_at(
    const Json& answer,
    std::string_view key,
    const std::vector<std::string>& fields,
    const std::vector<std::string>& header = {});

}  // namespace interlock
