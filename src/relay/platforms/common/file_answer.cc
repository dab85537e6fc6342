#include "relay/platforms/common/file_answer.h"

#include "base/json.h"
#include "base/text.h"

namespace interlock {

std::string header_of(const PlatformHttpAnswer& answer, std::string_view name) {
    for (const auto& [key, value] : answer.headers) {
        if (equal_ignoring_case(key, name)) {
            return value;
        }
    }
    return {};
}

std::string disposition_name(std::string_view header) {
    for (const std::string_view part : split(header, ';')) {
        constexpr std::string_view kKey = "filename=";
        std::string_view item = trim(part);
        if (item.size() < kKey.size() || !equal_ignoring_case(item.substr(0, kKey.size()), kKey)) {
            continue;
        }
        item = trim(item.substr(kKey.size()));
        if (item.size() >= 2 && item.front() == '"' && item.back() == '"') {
            item = item.substr(1, item.size() - 2);
        }
        return is_valid_utf8(item) ? std::string(item) : std::string();
    }
    return {};
}

}  // namespace interlock
