// Notices that a bot does not hear its platform, or that we take nothing of what it hears, and
// tells when that begins and when it ends: on the record, in the log, in status and metrics. Lane
// only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "relay/ports/chat_platform.h"
#include "relay/rules/hearing.h"
#include "relay/service/relay_inbound.h"

namespace interlock {

class RelayHearing {
public:
    struct Parts {
        Clock& clock;
        RelayInbound& inbound;
        std::vector<ChatPlatform*> bots;
    };
    explicit RelayHearing(Parts parts);

    void sweep(RelayTurn& turn);  // Once a second.

    struct View {
        const ChatPlatform* bot = nullptr;
        PlatformHealth health;
        std::optional<Timestamp> deaf_since;
    };
    std::vector<View> views() const;  // In the order of the bots.

private:
    struct Ear {
        ChatPlatform* bot;
        Hearing hearing;
        std::optional<Timestamp> deaf_since;
    };
    void tell(RelayTurn& turn, const Ear& ear, bool is_deaf);

    Parts parts_;
    std::vector<Ear> ears_;
    std::int64_t stored_ = 0;   // At the last look.
    std::int64_t refused_ = 0;  // Likewise.
};

}  // namespace interlock
