// A chat platform that says nothing and does nothing; tests answer the one question they are about.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "relay/ports/chat_platform.h"

namespace interlock {

class SilentPlatform : public ChatPlatform {
public:
    explicit SilentPlatform(BotKey bot) : bot_(std::move(bot)) {}

    const BotKey& bot() const override { return bot_; }
    BotIdentity identity() const override { return {}; }
    CapabilityDescriptor descriptor() const override { return {}; }
    LengthUnit length_unit() const override { return LengthUnit::code_points; }
    PlatformHealth health() const override { return {}; }
    void start(PlatformInbox&, std::string) override {}
    void stop() override {}
    PlatformReply call(const PlatformCall&) override { return {}; }
    WebhookAnswer receive(const WebhookRequest&) override { return {}; }
    std::optional<bool> cached_view(const ViewQuestion&) const override { return true; }
    std::optional<bool> find_view(const ViewQuestion&) override { return true; }

private:
    const BotKey bot_;
};

}  // namespace interlock
