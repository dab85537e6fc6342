// A gateway on the other end of the relay's sockets, as its world keeps it.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "relay/service/relay_delivery.h"
#include "sim/relay_models.h"

namespace interlock::sim {

struct RelayLink {
    RelaySessionPtr session;
    std::shared_ptr<RelaySocketModel> socket;
    std::shared_ptr<RelaySocketFacts> facts;
    bool is_left = false;  // The gateway has dialled again and only answers here.
};
using RelayLinkPtr = std::shared_ptr<RelayLink>;

struct RelayGateway {
    // How many message ids a client remembers to drop repeats.
    static constexpr std::size_t kReplayWindow = 512;

    const RelayMember* member = nullptr;
    std::vector<RelayLinkPtr> links;  // The newest last.
    bool is_asleep = false;
    std::deque<std::string> replay_window;
    std::deque<std::pair<RelayLinkPtr, std::string>> owed;  // Acks.
    std::vector<std::pair<BotKey, std::string>> chats;      // It has heard from.
    std::vector<std::string> messages;                      // It has sent, as it was told.
    std::vector<OutboundFrame> keyed;                       // To be repeated.

    RelayLinkPtr live() const {
        const bool is_live = !links.empty() && !links.back()->is_left;
        return is_live ? links.back() : nullptr;
    }
};

}  // namespace interlock::sim
