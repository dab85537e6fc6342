#include "app/command/bot_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace interlock {
namespace {

// Shorter than the rule would have them, and known so.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kShort{{
    {"update_exchange_keys", "keys"},
    {"account_login", "login"},
    {"account_status", "account"},
}};

bool is_in_path(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '/';
}

const BotEndpoint* endpoint_at(std::string_view path) {
    const auto all = bot_endpoints();
    const auto found = std::ranges::find(all, path, &BotEndpoint::path);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::string bot_word(const BotEndpoint& endpoint) {
    const auto* const known = std::ranges::find(
        kShort, endpoint.id, &std::pair<std::string_view, std::string_view>::first);
    if (known != kShort.end()) {
        return std::string(known->second);
    }
    std::string word;
    for (const std::string_view part : split(endpoint.id, '_')) {
        if (part != "bot") {
            word += (word.empty() ? "" : "-") + std::string(part);
        }
    }
    return word;
}

bool is_human_word(const BotEndpoint& endpoint) {
    return endpoint.agent == AgentUse::no || endpoint.agent == AgentUse::proposal_only;
}

std::string in_bot_words(std::string_view text) {
    std::string spoken;
    while (!text.empty()) {
        const bool begins = text.front() == '/' && (spoken.empty() || spoken.back() == ' ');
        const auto end = std::ranges::find_if_not(text, is_in_path);
        const std::string_view path =
            begins ? text.substr(0, static_cast<std::size_t>(end - text.begin())) : "";
        const BotEndpoint* const endpoint = path.empty() ? nullptr : endpoint_at(path);
        if (endpoint == nullptr) {
            spoken += text.front();
            text.remove_prefix(1);
            continue;
        }
        const std::string method = std::string(endpoint->method) + " ";
        if (spoken.ends_with(method)) {
            spoken.resize(spoken.size() - method.size());
        }
        spoken += "`interlock bot " + bot_word(*endpoint) + "`";
        text.remove_prefix(path.size());
    }
    return spoken;
}

}  // namespace interlock
