#include "trader/rules/replay/json_difference.h"

#include <algorithm>
#include <optional>

namespace interlock {
namespace {

constexpr std::size_t kShownBytesMax = 120;

std::string shown(const Json* json) {
    if (json == nullptr) {
        return "nothing";
    }
    std::string text = to_text(*json);
    if (text.size() > kShownBytesMax) {
        std::size_t end = kShownBytesMax;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
            --end;  // Not in the middle of a character.
        }
        text = text.substr(0, end) + "…";
    }
    return text;
}

std::string difference(const std::string& path, const Json* recorded, const Json* replayed) {
    return (path.empty() ? "the document" : path) + ": recorded " + shown(recorded) +
           ", replayed " + shown(replayed);
}

std::string join(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
}

// Depth is bounded by the parser (kJsonDepthMax).
std::string compare(const std::string& path, const Json& recorded, const Json& replayed) {
    if (recorded.is_object() && replayed.is_object()) {
        for (const auto& [key, value] : recorded.members()) {
            const Json* other = replayed.find(key);
            if (other == nullptr) {
                return difference(join(path, key), &value, nullptr);
            }
            if (std::string found = compare(join(path, key), value, *other); !found.empty()) {
                return found;
            }
        }
        for (const auto& [key, value] : replayed.members()) {
            if (recorded.find(key) == nullptr) {
                return difference(join(path, key), nullptr, &value);
            }
        }
        return "";
    }
    if (recorded.is_array() && replayed.is_array()) {
        const std::size_t both = std::max(recorded.items().size(), replayed.items().size());
        for (std::size_t i = 0; i < both; ++i) {
            const Json* a = i < recorded.items().size() ? &recorded.items()[i] : nullptr;
            const Json* b = i < replayed.items().size() ? &replayed.items()[i] : nullptr;
            const std::string at = path + "[" + std::to_string(i) + "]";
            if (a == nullptr || b == nullptr) {
                return difference(at, a, b);
            }
            if (std::string found = compare(at, *a, *b); !found.empty()) {
                return found;
            }
        }
        return "";
    }
    return recorded == replayed ? "" : difference(path, &recorded, &replayed);
}

}  // namespace

std::string first_difference(const Json& recorded, const Json& replayed) {
    return compare("", recorded, replayed);
}

}  // namespace interlock
