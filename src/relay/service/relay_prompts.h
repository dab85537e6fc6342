// Prompts that wait for a press: a message with buttons, whose first press goes back to the
// instance that asked. Later presses are dropped and said to be late.
//
// Lane only. Whether a press counts is decided here, from the platform's own word on who pressed;
// the gateway is merely told.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "relay/service/relay_socket.h"
#include "relay/service/relay_state.h"
#include "relay/wire/message_event.h"

namespace interlock {

inline constexpr Duration kPromptLifeDefault = Duration::of_hours(1);
inline constexpr Duration kPromptLifeMax = Duration::of_hours(24);

struct PromptPlace {
    BotKey bot;
    std::string chat_id;
    std::string prompt_id;
};

struct PromptPress {
    enum class Verdict {
        first,        // Deliver it.
        late,         // Somebody pressed before.
        not_allowed,  // The hook said that this user may not decide it; it stays open.
    };
    Verdict verdict = Verdict::first;
    std::string instance_id;
    TenantId tenant_id;
    std::string prompt_kind;
    std::string answered_by;  // Who was first.
    PromptResponse response;  // With the label filled in.
};

class RelayPrompts {
public:
    explicit RelayPrompts(RelayState& state) : state_(state) {}

    // Asked about the first press of every prompt whose kind is `kind`: true lets it count. Before
    // the lane starts.
    using Hook = std::function<bool(const PromptRow& row, const std::string& user_id)>;
    void set_hook(std::string kind, Hook hook);

    // `conflict`: the id waits for a press in that chat already. `out_of_range`: the timeout.
    Result<void> open(
        RelayTurn& turn, const BotKey& bot, const RelayCaller& caller, const PromptAction& action);
    // Where it is to be seen, once that is known.
    void set_message(RelayTurn& turn, const PromptPlace& place, const std::string& message_id);
    // It was certainly not sent: nobody can press it.
    void withdraw(RelayTurn& turn, const PromptPlace& place);

    struct Presser {
        BotKey bot;
        std::string chat_id;
        std::string user_id;
        // Instances that may hear from this user here: a press for any other counts for nothing.
        std::vector<std::string> allowed;
    };
    // Nothing: no prompt of ours that waits or waited, no such option, an instance that may not
    // hear of it, or a button of an older message under the same id.
    std::optional<PromptPress> press(
        RelayTurn& turn, const Presser& presser, const PromptResponse& response);

private:
    RelayState& state_;
    std::map<std::string, Hook> hooks_;
};

}  // namespace interlock
