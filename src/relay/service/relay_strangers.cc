#include "relay/service/relay_strangers.h"

#include <algorithm>
#include <ranges>
#include <vector>

namespace interlock {
namespace {

constexpr std::string_view kStrangerNumbers = "stranger";

bool is_chat_alone(const Encounter& met) {
    return !met.is_dm && met.tenant_id.empty();
}

std::string key_of(const Encounter& met) {
    return row_key(
        {met.bot.platform,
         met.bot.bot_id,
         met.chat_id,
         is_chat_alone(met) ? std::string_view() : std::string_view(met.user_id)});
}

Json json_of(const StrangerRow& row) {
    return Json::object(
        {{"number", row.number},
         {"tenant", row.tenant_id.empty() ? Json() : Json(row.tenant_id.text())},
         {"platform", row.platform},
         {"botId", row.bot_id},
         {"userId", row.user_id},
         {"userName", row.user_name},
         {"chatId", row.chat_id},
         {"chatName", row.chat_name},
         {"chatType", row.chat_type},
         {"discriminator", row.discriminator},
         {"firstSeen", to_text(row.first_seen)},
         {"lastSeen", to_text(row.last_seen)}});
}

}  // namespace

RelayStrangers::RelayStrangers(RelayState& state)
    : state_(state),
      told_(state, {.name = "stranger_told", .count_max = 1, .window = kStrangerAnswerWindow}),
      words_(
          state,
          {.name = "stranger_words",
           .count_max = kStrangerWordsMax,
           .window = kStrangerAnswerWindow}),
      told_by_bot_(
          state,
          {.name = "strangers_told",
           .count_max = kStrangerAnswersPerBotMax,
           .window = kStrangerAnswerWindow}) {}

void RelayStrangers::load() {
    state_.strangers.for_each(
        [this](const std::string& key, const StrangerRow& row) { index(key, row); });
}

RelayStrangers::Owner RelayStrangers::owner_of(const StrangerRow& row) {
    return {row.tenant_id, {row.platform, row.bot_id}};
}

void RelayStrangers::index(const std::string& key, const StrangerRow& row) {
    by_seen_[owner_of(row)].emplace(row.last_seen, key);
}

void RelayStrangers::drop(RelayTurn& turn, const std::string& key) {
    const StrangerRow* const row = state_.strangers.get(key);
    if (row == nullptr) {
        return;
    }
    const std::string kept = key;  // It may live in the index.
    const auto found = by_seen_.find(owner_of(*row));
    found->second.erase({row->last_seen, kept});
    if (found->second.empty()) {
        by_seen_.erase(found);
    }
    state_.strangers.erase(turn, kept);
}

void RelayStrangers::note(RelayTurn& turn, const Encounter& met) {
    const std::string key = key_of(met);
    const StrangerRow* const known = state_.strangers.get(key);
    if (known != nullptr && known->tenant_id == met.tenant_id &&
        turn.now() < known->last_seen + kStrangerLook) {
        return;
    }
    StrangerRow row{
        .number = 0,
        .tenant_id = met.tenant_id,
        .platform = met.bot.platform,
        .bot_id = met.bot.bot_id,
        .user_id = met.user_id,
        .user_name = met.user_name,
        .chat_id = met.chat_id,
        .chat_name = met.chat_name,
        .chat_type = met.chat_type,
        .discriminator = met.is_dm ? std::string() : met.discriminator,
        .first_seen = turn.now(),
        .last_seen = turn.now()};
    if (known != nullptr) {
        row.number = known->number;
        row.first_seen = known->first_seen;
        drop(turn, key);
    } else {
        const std::string counter(kStrangerNumbers);
        const NumberRow* const given = state_.numbers.get(counter);
        row.number = (given == nullptr ? 0 : given->reserved) + 1;
        state_.numbers.put(turn, counter, {row.number});
    }
    if (const auto held = by_seen_.find(owner_of(row));
        held != by_seen_.end() && held->second.size() >= kStrangersPerBotMax) {
        drop(turn, held->second.begin()->second);
    }
    index(key, row);
    state_.strangers.put(turn, key, std::move(row), turn.now() + kStrangerLife);
}

bool RelayStrangers::may_answer(RelayTurn& turn, const Encounter& met) {
    return (met.is_dm || met.addresses_bot) &&
           take_answer(turn, met.bot, told_, met.is_dm ? met.user_id : met.chat_id);
}

bool RelayStrangers::may_answer_word(RelayTurn& turn, const Person& person) {
    return person.is_dm ? take_answer(turn, person.bot, words_, person.user_id)
                        : take_answer(turn, person.bot, told_, person.chat_id);
}

bool RelayStrangers::take_answer(
    RelayTurn& turn, const BotKey& bot, RelayAttempts& of, const std::string& who) {
    const std::string bot_key = row_key({bot.platform, bot.bot_id});
    return !told_by_bot_.is_spent(bot_key, turn.now()) &&
           of.take(turn, row_key({bot.platform, bot.bot_id, who})) &&
           told_by_bot_.take(turn, bot_key);
}

template <class Which>
void RelayStrangers::drop_where(RelayTurn& turn, const Which& which) {
    std::vector<std::string> keys;
    state_.strangers.for_each([&](const std::string& key, const StrangerRow& row) {
        if (which(row)) {
            keys.push_back(key);
        }
    });
    for (const std::string& key : keys) {
        drop(turn, key);
    }
}

void RelayStrangers::forget_user(RelayTurn& turn, const BotKey& bot, const std::string& user_id) {
    drop_where(turn, [&](const StrangerRow& row) {
        const bool is_user = row.discriminator.empty() || !row.tenant_id.empty();
        return is_user && BotKey{row.platform, row.bot_id} == bot && row.user_id == user_id;
    });
}

void RelayStrangers::forget_place(
    RelayTurn& turn, const BotKey& bot, const std::string& discriminator) {
    drop_where(turn, [&](const StrangerRow& row) {
        return row.tenant_id.empty() && BotKey{row.platform, row.bot_id} == bot &&
               !discriminator.empty() && row.discriminator == discriminator;
    });
}

void RelayStrangers::sweep(RelayTurn& turn) {
    std::vector<std::string> keys;
    for (const auto& [owner, seen] : by_seen_) {
        for (const auto& [at, key] : seen) {
            if (turn.now() < at + kStrangerLife) {
                break;
            }
            keys.push_back(key);
        }
    }
    for (const std::string& key : keys) {
        drop(turn, key);
    }
}

Json RelayStrangers::list(const TenantId& tenant_id, std::int64_t number) const {
    struct Shown {
        std::size_t place;  // Among those of its bot.
        const StrangerRow* row;
    };
    std::vector<Shown> shown;
    for (const auto& [owner, seen] : by_seen_) {
        std::size_t place = 0;
        for (const auto& [at, key] : seen | std::views::reverse) {
            const StrangerRow* const row = state_.strangers.get(key);
            if (row != nullptr && (tenant_id.empty() || row->tenant_id == tenant_id) &&
                (number == 0 || row->number == number)) {
                shown.push_back({place++, row});
            }
        }
    }
    const auto is_later = [](const StrangerRow& a, const StrangerRow& b) {
        return std::pair(b.last_seen, b.number) < std::pair(a.last_seen, a.number);
    };
    const bool is_cut = shown.size() > kStrangersShownMax;
    if (is_cut) {
        std::ranges::sort(shown, [&](const Shown& a, const Shown& b) {
            return a.place != b.place ? a.place < b.place : is_later(*a.row, *b.row);
        });
        shown.resize(kStrangersShownMax);
    }
    std::ranges::sort(
        shown, is_later, [](const Shown& one) -> const StrangerRow& { return *one.row; });
    Json list = Json::array();
    for (const Shown& one : shown) {
        list.push(json_of(*one.row));
    }
    return Json::object({{"strangers", std::move(list)}, {"isCut", is_cut}});
}

}  // namespace interlock
