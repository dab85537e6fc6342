// Who wrote and reached nobody: what an operator needs to let somebody in, and nothing of what was
// said. Lane only.
//
// - One entry for a user who writes to a bot, or who addresses it in a routed chat; one for a chat
//   that is not routed, whoever speaks there.
// - At most kStrangersPerBotMax of a tenant at a bot, and as many of none there: a crowd at one bot
//   hides nobody at another. The one that was not seen for longest goes first, and nobody stays
//   longer than kStrangerLife.
// - A number is given once and never again: who is let in by it is whom the list showed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/json.h"
#include "relay/service/relay_attempts.h"
#include "relay/service/relay_person.h"

namespace interlock {

inline constexpr std::size_t kStrangersPerBotMax = 500;
inline constexpr std::size_t kStrangersShownMax = 500;
inline constexpr Duration kStrangerLife = Duration::of_days(7);
// A further message within it changes nothing that is kept.
inline constexpr Duration kStrangerLook = Duration::of_minutes(1);
// How often somebody, or a chat, is told how to get in; and all of a bot together.
inline constexpr Duration kStrangerAnswerWindow = Duration::of_hours(1);
inline constexpr std::int64_t kStrangerAnswersPerBotMax = 120;
// Words to the connector, in a direct message; in a group they are among what the chat is told.
inline constexpr std::int64_t kStrangerWordsMax = 5;

class RelayStrangers {
public:
    explicit RelayStrangers(RelayState& state);

    void load();  // After the state's own.

    void note(RelayTurn& turn, const Encounter& met);
    // Whether he may be told now how to get in; counted when it is so.
    bool may_answer(RelayTurn& turn, const Encounter& met);
    // The same of a word of somebody who is linked to nothing.
    bool may_answer_word(RelayTurn& turn, const Person& person);
    // Somebody has been linked, or a chat routed: he is no stranger any more.
    void forget_user(RelayTurn& turn, const BotKey& bot, const std::string& user_id);
    void forget_place(RelayTurn& turn, const BotKey& bot, const std::string& discriminator);
    void sweep(RelayTurn& turn);

    // Last seen first; when there are too many, those whom their bot saw last. Empty, and 0: of
    // all.
    Json list(const TenantId& tenant_id, std::int64_t number = 0) const;

private:
    using Owner = std::pair<TenantId, BotKey>;
    static Owner owner_of(const StrangerRow& row);
    bool take_answer(RelayTurn& turn, const BotKey& bot, RelayAttempts& of, const std::string& who);
    void index(const std::string& key, const StrangerRow& row);
    void drop(RelayTurn& turn, const std::string& key);
    template <class Which>
    void drop_where(RelayTurn& turn, const Which& which);

    RelayState& state_;
    RelayAttempts told_;         // By user or chat.
    RelayAttempts words_;        // By user.
    RelayAttempts told_by_bot_;  // By bot.
    std::map<Owner, std::set<std::pair<Timestamp, std::string>>> by_seen_;
};

}  // namespace interlock
