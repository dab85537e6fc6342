#include "relay/ports/media_folder.h"

#include <algorithm>

namespace interlock {

bool is_media_id(std::string_view text) {
    constexpr std::string_view kPrefix = "med_";
    return text.size() == kPrefix.size() + 26 && text.starts_with(kPrefix) &&
           std::ranges::all_of(text.substr(kPrefix.size()), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7');
           });
}

}  // namespace interlock
