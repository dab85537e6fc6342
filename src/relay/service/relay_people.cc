#include "relay/service/relay_people.h"

#include <algorithm>
#include <charconv>

namespace interlock {
namespace {

std::string named(const BindingRow* link, std::string_view example) {
    return link == nullptr ? "This names none of your agents; send /whoami to see them."
                           : "Say which, by its number or id, as in " + std::string(example) + ": ";
}

}  // namespace

RelayPeople::RelayPeople(Parts parts)
    : parts_(std::move(parts)),
      words_(
          parts_.state,
          {.name = "person_word", .count_max = kPersonWordsMax, .window = kPersonWindow}) {}

std::string RelayPeople::answer(RelayTurn& turn, const Person& person, const PersonWord& word) {
    if (person.user_id.empty() ||
        !words_.take(turn, row_key({person.bot.platform, person.bot.bot_id, person.user_id}))) {
        return {};
    }
    const auto is_linked = [&] {
        return !parts_.state.bindings_of(person.bot, person.user_id).empty();
    };
    const bool was_linked = is_linked();
    std::string sentence = obey(turn, person, word);
    const bool is_stranger = !was_linked && !is_linked();
    const bool is_heard = !is_stranger || (answers_strangers(person.bot) &&
                                           parts_.strangers.may_answer_word(turn, person));
    return is_heard ? sentence : std::string();
}

bool RelayPeople::answers_strangers(const BotKey& bot) const {
    return !parts_.answers_strangers || parts_.answers_strangers(bot);
}

std::string RelayPeople::obey(RelayTurn& turn, const Person& person, const PersonWord& word) {
    switch (word.kind) {
        case PersonWordKind::link:
            return parts_.management
                .redeem_link(
                    turn,
                    {.bot = person.bot,
                     .user_id = person.user_id,
                     .user_name = person.user_name,
                     .code = word.argument,
                     .is_dm = person.is_dm})
                .sentence;
        case PersonWordKind::unlink:
            return unlink(turn, person, word.argument);
        case PersonWordKind::dm_default:
            return choose(turn, person, word.argument);
        case PersonWordKind::whoami:
            break;
    }
    return who_is(person);
}

std::string RelayPeople::agents_of(const Person& person) const {
    const std::string choice = parts_.state.dm_choice_of(person.bot, person.user_id);
    const DmDefaultRow* const held =
        parts_.state.dm_defaults.get(RelayState::person_key(person.bot, person.user_id));
    std::string list;
    int number = 0;
    for (const BindingRow& link : parts_.state.bindings_of(person.bot, person.user_id)) {
        ++number;
        list += (number == 1 ? "" : "; ") + std::to_string(number) + ". " +
                parts_.management.shown_name(link.instance_id);
        if (link.instance_id == choice) {
            list += ", which gets your direct messages";
        } else if (held != nullptr && held->wish_instance == link.instance_id) {
            list += ", which asks for them";
        }
    }
    return list;
}

std::string RelayPeople::who_is(const Person& person) const {
    const std::string agents = agents_of(person);
    const std::string you = "Your id here is " + person.user_id + ". ";
    return agents.empty() ? you +
                                "You are linked to no agent; ask yours for a code and send "
                                "/link CODE."
                          : you + "You are linked to " + agents + ".";
}

// Finds a link by the agent's id or by its place in the list. Null when it is none of his, or when
// he names none and has several.
const BindingRow* RelayPeople::link_named(const Person& person, const std::string& agent) const {
    const auto& links = parts_.state.bindings_of(person.bot, person.user_id);
    const auto found = std::ranges::find(links, agent, &BindingRow::instance_id);
    if (found != links.end()) {
        return &*found;
    }
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(agent.data(), agent.data() + agent.size(), number);
    const bool is_number = error == std::errc() && end == agent.data() + agent.size();
    return is_number && number >= 1 && number <= links.size() ? &links[number - 1] : nullptr;
}

std::string RelayPeople::unlink(RelayTurn& turn, const Person& person, const std::string& agent) {
    const auto& links = parts_.state.bindings_of(person.bot, person.user_id);
    if (links.empty()) {
        return who_is(person);
    }
    const BindingRow* const link =
        agent.empty() && links.size() == 1 ? &links.front() : link_named(person, agent);
    if (link == nullptr) {
        return agent.empty() ? named(&links.front(), "/unlink 2") + agents_of(person) + "."
                             : named(nullptr, {});
    }
    const std::string name = parts_.management.shown_name(link->instance_id);
    parts_.management.leave(turn, *link);
    return "You are no longer linked to " + name + "; it hears nothing more of you here.";
}

std::string RelayPeople::choose(RelayTurn& turn, const Person& person, const std::string& agent) {
    const auto& links = parts_.state.bindings_of(person.bot, person.user_id);
    if (links.empty()) {
        return who_is(person);
    }
    const BindingRow* const link = agent.empty() ? nullptr : link_named(person, agent);
    if (link == nullptr) {
        return agent.empty() ? named(&links.front(), "/default 2") + agents_of(person) + "."
                             : named(nullptr, {});
    }
    parts_.management.choose_dm(turn, *link);
    return "Your direct messages go to " + parts_.management.shown_name(link->instance_id) +
           " now.";
}

std::string RelayPeople::meet(RelayTurn& turn, const Encounter& met) {
    // A person of a routed chat who does not speak to the bot is not noted.
    if (!met.is_dm && !met.addresses_bot && !met.tenant_id.empty()) {
        return {};
    }
    parts_.strangers.note(turn, met);
    return answers_strangers(met.bot) && parts_.strangers.may_answer(turn, met) ? way_in(met)
                                                                                : std::string();
}

std::string RelayPeople::wish_for(RelayTurn& turn, const BotKey& bot, const std::string& user_id) {
    const std::string key = RelayState::person_key(bot, user_id);
    const DmDefaultRow* const held = parts_.state.dm_defaults.get(key);
    if (held == nullptr || held->wish_instance.empty() || held->is_wish_told ||
        turn.now() >= held->wish_at + kDmWishLife) {
        return {};
    }
    DmDefaultRow told = *held;
    told.is_wish_told = true;
    const std::string sentence =
        parts_.management.shown_name(told.wish_instance) +
        " asks to get your direct messages, which go to " +
        parts_.management.shown_name(parts_.state.dm_choice_of(bot, user_id)) +
        "; to allow it send /default " + told.wish_instance + ", else do nothing.";
    parts_.state.dm_defaults.put(turn, key, std::move(told));
    return sentence;
}

}  // namespace interlock
