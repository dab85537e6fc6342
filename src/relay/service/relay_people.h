// What people do in chats beside talking to their agents: words to the connector itself, and the
// first words of somebody whom it does not know. Lane only.
// docs/contracts/relay-management.md#6-people-in-chats
//
// What is answered is one sentence, and never tells what belongs to somebody else.
#pragma once

#include <functional>
#include <string>

#include "relay/service/relay_management.h"
#include "relay/service/relay_person.h"
#include "relay/service/relay_strangers.h"

namespace interlock {

inline constexpr std::int64_t kPersonWordsMax = 30;  // Answered, of one user at a bot.
inline constexpr Duration kPersonWindow = Duration::of_minutes(10);

class RelayPeople {
public:
    // All of these outlive it.
    struct Parts {
        RelayState& state;
        RelayManagement& management;
        RelayStrangers& strangers;
        // Whether this bot tells strangers how to get in. Empty: every bot does.
        std::function<bool(const BotKey&)> answers_strangers = {};
    };
    explicit RelayPeople(Parts parts);

    // Empty: he has asked too often, or is a stranger to a bot that tells strangers nothing, or
    // nothing more for this hour.
    std::string answer(RelayTurn& turn, const Person& person, const PersonWord& word);

    // Somebody wrote whom nobody hears: he is noted, and told how to get in. Empty: not now.
    std::string meet(RelayTurn& turn, const Encounter& met);

    // Another agent asks for this user's direct messages, and he has not been told. Once.
    std::string wish_for(RelayTurn& turn, const BotKey& bot, const std::string& user_id);

private:
    std::string obey(RelayTurn& turn, const Person& person, const PersonWord& word);
    bool answers_strangers(const BotKey& bot) const;
    std::string who_is(const Person& person) const;
    std::string unlink(RelayTurn& turn, const Person& person, const std::string& agent);
    std::string choose(RelayTurn& turn, const Person& person, const std::string& agent);
    const BindingRow* link_named(const Person& person, const std::string& agent) const;
    std::string agents_of(const Person& person) const;

    Parts parts_;
    RelayAttempts words_;  // By user.
};

}  // namespace interlock
