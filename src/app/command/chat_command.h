// `interlock chat`: a person at the terminal who talks to an agent through the console platform of
// a running server. Lines in, the bot's messages out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/command/command.h"
#include "base/json.h"

namespace interlock {

void add_chat_command(CommandLine& line);

// What a terminal shows of messages as they come, and which question `/press` answers.
class ChatScreen {
public:
    // The lines for a message of the bot that is new or changed; empty for one of a person.
    std::string show(const Json& message);

    struct Button {
        std::string message_id;
        std::string option_id;
    };
    // The n-th button of the latest question; nothing when there is none.
    std::optional<Button> button(std::size_t number) const;

private:
    std::string prompt_;
    std::vector<std::string> options_;
};

// The number behind "/press"; 0 when the line is none.
std::size_t press_number(const std::string& line);

}  // namespace interlock
