// A chat platform whose answers a test writes down. It notes every call, and whether two calls of
// one chat ever overlapped, which the port forbids its callers.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "relay/ports/chat_platform.h"
#include "relay/service/relay_outbound.h"

namespace interlock {

class ScriptedPlatform final : public ChatPlatform {
public:
    struct Seen {
        std::string op;
        std::string chat_id;
        std::string content;
        std::string reply_to;
        std::string thread_id;
        std::string nonce;
        std::string capability;
        bool edits_original = false;
        std::string media_bytes;
        std::string media_type;
    };

    explicit ScriptedPlatform(BotKey key) : key_(std::move(key)) {
        described.platform = key_.platform;
        described.label = key_.platform;
        described.markdown_dialect = "discord";
    }

    // Before anything is called.
    CapabilityDescriptor described;
    LengthUnit unit = LengthUnit::code_points;
    // Empty: everything is sent. Called without a lock.
    std::function<PlatformReply(const PlatformCall&)> on_call;

    static PlatformReply sent(std::string message_id) {
        PlatformReply reply;
        reply.outcome = CallOutcome::sent;
        reply.message_id = std::move(message_id);
        return reply;
    }
    static PlatformReply not_sent(std::string code) {
        PlatformReply reply;
        reply.code = std::move(code);
        reply.error = "the platform said no";
        return reply;
    }
    static PlatformReply unknown() {
        PlatformReply reply;
        reply.outcome = CallOutcome::unknown;
        reply.error = "no answer came";
        return reply;
    }

    std::vector<Seen> calls() const {
        const std::lock_guard lock(mutex_);
        return calls_;
    }
    std::vector<std::string> contents() const {
        std::vector<std::string> texts;
        for (const Seen& seen : calls()) {
            texts.push_back(seen.content);
        }
        return texts;
    }
    bool has_overlapped() const {
        const std::lock_guard lock(mutex_);
        return has_overlapped_;
    }
    std::string next_message_id() {
        const std::lock_guard lock(mutex_);
        return "m" + std::to_string(++last_message_);
    }

    const BotKey& bot() const override { return key_; }
    BotIdentity identity() const override { return {key_.bot_id, "bot"}; }
    CapabilityDescriptor descriptor() const override { return described; }
    LengthUnit length_unit() const override { return unit; }
    PlatformHealth health() const override { return {true, false, {}}; }
    void start(PlatformInbox&, std::string) override {}
    void stop() override {}
    WebhookAnswer receive(const WebhookRequest&) override { return {}; }
    std::optional<bool> cached_view(const ViewQuestion&) const override { return true; }
    std::optional<bool> find_view(const ViewQuestion&) override { return true; }

    PlatformReply call(const PlatformCall& call) override {
        Seen seen = seen_of(call);
        const std::string chat_id = seen.chat_id;
        {
            const std::lock_guard lock(mutex_);
            has_overlapped_ = !busy_.insert(chat_id).second || has_overlapped_;
            calls_.push_back(std::move(seen));
        }
        PlatformReply reply = on_call ? on_call(call) : sent(next_message_id());
        const std::lock_guard lock(mutex_);
        busy_.erase(chat_id);
        return reply;
    }

private:
    static Seen seen_of(const PlatformCall& call) {
        Seen seen;
        seen.op = op_of(call.action);
        seen.chat_id = chat_of(call.action);
        std::visit(
            [&seen](const auto& action) {
                if constexpr (requires { action.content; }) {
                    seen.content = action.content;
                }
                if constexpr (requires { action.reply_to; }) {
                    seen.reply_to = action.reply_to;
                }
            },
            call.action);
        seen.thread_id = call.thread_id;
        seen.nonce = call.nonce;
        seen.capability = std::string(call.capability.reveal());
        seen.edits_original = call.edits_original;
        seen.media_bytes = call.media_bytes;
        seen.media_type = call.media_type;
        return seen;
    }

    const BotKey key_;
    mutable std::mutex mutex_;  // Guards all below.
    std::vector<Seen> calls_;
    std::set<std::string> busy_;
    bool has_overlapped_ = false;
    int last_message_ = 0;
};

}  // namespace interlock
