#include "relay/service/relay_inbound.h"

#include <algorithm>

#include "base/crypto.h"
#include "base/log.h"
#include "codec/json_list.h"
#include "relay/rules/session_key.h"
#include "relay/rules/waiting_files.h"

namespace interlock {
namespace {

constexpr std::string_view kNotHeard = "No agent here hears this, so nobody will answer.";
constexpr std::string_view kLaidAside =
    "The agent has more unread messages than it may keep, so this one was put aside.";

// What instances get, and what the record has the digest of.
std::string arrival_text(const PlatformArrival& arrival) {
    if (!arrival.forward && !arrival.event.files.empty()) {
        return encode_waiting(
            {.platform = arrival.bot.platform,
             .bot_id = arrival.bot.bot_id,
             .files = arrival.event.files,
             .event = arrival.event.event});
    }
    return to_text(arrival.forward ? encode(*arrival.forward) : encode(arrival.event.event));
}

bool needs_sight(const PlatformArrival& arrival) {
    return arrival.bot.platform == "discord" && !arrival.event.is_dm;
}

// Codes alone; gate_reason() has their sentences.
Json why_json(const GateDecision& decision) {
    Json steps = Json::array();
    for (const GateStep& step : decision.steps) {
        steps.push(step.code);
    }
    return Json::object(
        {{"instance_id", decision.instance_id},
         {"delivers", decision.delivers},
         {"steps", std::move(steps)}});
}

Json why_note(std::string_view note) {
    return Json::object({{"note", note}});
}

// Whether the author is heard only after a link or a route. Bots are never told so: they might
// answer.
bool is_stranger(const GateEvent& event, const TenantId& tenant_id) {
    return !event.is_author_bot && !event.is_own_bot && !event.author_id.empty() &&
           (tenant_id.empty() || !event.is_author_linked);
}

// Notes ids alone, so that whoever reads why nobody got it knows whom to link and what to route.
void note_author(Json& why, const PlatformArrival& arrival) {
    why.set("user_id", arrival.event.event.source.user_id);
    why.set("chat_id", arrival.event.event.source.chat_id);
}

// Whether the platform itself tells its user what came of it, as for interactions and presses.
bool shows_notices(const PlatformArrival& arrival) {
    return arrival.forward || arrival.event.event.prompt_response ||
           !arrival.event.prompt_button.empty() || arrival.bot.platform == "local";
}

}  // namespace

std::string chat_key_of(const PlatformArrival& arrival) {
    return row_key({arrival.bot.platform, arrival.bot.bot_id, arrival.event.event.source.chat_id});
}

std::string event_key_of(const BotKey& bot, std::string_view event_id) {
    return row_key({bot.platform, bot.bot_id, event_id});
}

RelayInbound::RelayInbound(Parts parts) : parts_(std::move(parts)) {}

void RelayInbound::submit(PlatformArrival arrival, std::function<void(InboxAnswer)> done) {
    // The work is copyable, a secret is not: both live behind a pointer until the lane has them.
    auto held = std::make_shared<PlatformArrival>(std::move(arrival));
    held->event.event.bot_id = held->bot.bot_id;
    auto slot = std::make_shared<Slot>(std::move(done), refused_);
    // When the lane does not take the work, the slot is dropped with it and says so.
    parts_.lane.submit_event(
        event_key_of(held->bot, held->event.event_id), [this, held, slot](RelayTurn& turn) {
            slots_[held->bot].push_back(slot);
            take(
                turn,
                Pending{
                    .arrival = std::move(*held), .slot = slot, .is_stored = turn.knows_event()});
        });
}

void RelayInbound::note_cursor(const BotKey& bot, std::string cursor) {
    // A lost cursor only makes the platform repeat events that we know already.
    parts_.lane.submit([this, bot, cursor = std::move(cursor)](RelayTurn& turn) {
        parts_.state.cursors.put(turn, row_key({bot.platform, bot.bot_id}), CursorRow{cursor});
    });
}

// An event that was stored since the lane asked the store is among the recent ones, which remember
// more than the lane's queue holds.
bool RelayInbound::is_known(const Pending& pending, const std::string& event_key) {
    if (recent_.contains(event_key)) {
        return true;
    }
    if (pending.is_stored) {
        return *pending.is_stored;
    }
    const auto known = parts_.state.store().known_events({event_key});
    // A store that cannot be read will not commit either; the batch then fails as a whole.
    return known && !known->empty();
}

void RelayInbound::remember(const std::string& event_key) {
    if (recent_.insert(event_key).second) {
        recent_order_.push_back(event_key);
        if (recent_order_.size() > kRecentEventsMax) {
            recent_.erase(recent_order_.front());
            recent_order_.pop_front();
        }
    }
}

void RelayInbound::answer(
    RelayTurn& turn, const BotKey& bot, const SlotPtr& slot, InboxAnswer answer) {
    turn.after([this, bot, slot, answer = std::move(answer)](bool is_committed) {
        slot->answer = is_committed ? answer : InboxAnswer{};
        release(bot);
    });
}

void RelayInbound::release(const BotKey& bot) {
    const auto found = slots_.find(bot);
    while (found != slots_.end() && !found->second.empty() && found->second.front()->answer) {
        const SlotPtr slot = std::move(found->second.front());
        found->second.pop_front();
        slot->finish(*std::move(slot->answer));
    }
}

void RelayInbound::drop_waiting() {
    chats_waiting_.clear();
    waiting_ = 0;
    for (auto& [bot, slots] : std::exchange(slots_, {})) {
        for (const SlotPtr& slot : slots) {
            slot->finish({});
        }
    }
}

void RelayInbound::take(RelayTurn& turn, Pending pending) {
    const PlatformArrival& arrival = pending.arrival;
    InboundCounters& counters = counters_[arrival.bot.platform];
    if (is_known(pending, event_key_of(arrival.bot, arrival.event.event_id))) {
        ++counters.duplicates;
        answer(
            turn,
            arrival.bot,
            pending.slot,
            {.is_stored = true, .is_delivered = true, .notice = {}});
        return;
    }
    if (!arrival.event.moved_to.empty()) {
        take_move(turn, pending);
        return;
    }
    if (const auto word = read_person_word(arrival.event.event.text);
        word && !arrival.event.is_own_bot && parts_.answer_word &&
        (arrival.event.is_dm || word->kind == PersonWordKind::link)) {
        take_word(turn, pending, *word);
        return;
    }
    const std::string chat = chat_key_of(arrival);
    const auto waiting = chats_waiting_.find(chat);
    if (waiting == chats_waiting_.end()) {
        decide(turn, std::move(pending));
        return;
    }
    // The chat's order is kept: it waits behind one whose facts are being asked for.
    const std::size_t ahead = waiting->second.size();
    if (ahead >= kWaitingFactsPerChatMax ||
        (waiting_ >= kWaitingFactsMax && ahead >= kWaitingFactsFloor)) {
        ++counters.without_facts;
        pending.is_without_facts = true;
        decide(turn, std::move(pending));
        return;
    }
    ++waiting_;
    waiting->second.push_back(std::move(pending));
}

// Words to the connector, codes above all, never reach an agent, wherever they were typed.
void RelayInbound::take_word(RelayTurn& turn, Pending& pending, const PersonWord& word) {
    const PlatformArrival& arrival = pending.arrival;
    const SessionSource& source = arrival.event.event.source;
    ++counters_[arrival.bot.platform].links;
    const std::string notice = parts_.answer_word(
        turn,
        {.bot = arrival.bot,
         .user_id = source.user_id,
         .user_name = source.user_name,
         .chat_id = source.chat_id,
         .is_dm = arrival.event.is_dm},
        word);
    pending.text = arrival_text(arrival);
    Json why = why_note("person_word");
    note_author(why, arrival);
    store_event(turn, pending, TenantId(), why);
    tell(turn, arrival, notice);
    answer(
        turn,
        arrival.bot,
        pending.slot,
        {.is_stored = true, .is_delivered = false, .notice = notice});
}

// What was routed, claimed and written in the chat goes on under its new id.
void RelayInbound::take_move(RelayTurn& turn, Pending& pending) {
    const PlatformArrival& arrival = pending.arrival;
    const ChatMove move{arrival.event.discriminator, arrival.event.moved_to};
    const TenantId tenant_id = parts_.state.route_of(arrival.bot, move.from);
    if (parts_.move_chat) {
        parts_.move_chat(turn, arrival.bot, move);
    }
    pending.text = arrival_text(arrival);
    store_event(turn, pending, tenant_id, why_note("chat_moved"));
    answer(
        turn, arrival.bot, pending.slot, {.is_stored = true, .is_delivered = true, .notice = {}});
}

// In the chat, unless the platform shows the answer to him alone.
void RelayInbound::tell(
    RelayTurn& turn, const PlatformArrival& arrival, const std::string& sentence) {
    if (!shows_notices(arrival)) {
        say(turn, arrival, sentence);
    }
}

void RelayInbound::say(
    RelayTurn& turn, const PlatformArrival& arrival, const std::string& sentence) {
    if (sentence.empty()) {
        return;
    }
    turn.after([this, bot = arrival.bot, chat = arrival.event.event.source.chat_id, sentence](
                   bool is_committed) {
        if (is_committed) {
            parts_.notify(bot, chat, sentence);
        }
    });
}

GateEvent RelayInbound::gate_event(
    const PlatformArrival& arrival, const TenantId& tenant_id) const {
    const PlatformEvent& event = arrival.event;
    const SessionSource& source = event.event.source;
    GateEvent gate{
        .tenant = tenant_id,
        .platform = arrival.bot.platform,
        .is_dm = event.is_dm,
        .channel_id = source.chat_id,
        .parent_channel_id = source.parent_chat_id,
        .author_id = source.user_id,
        .is_author_linked = false,
        .is_author_bot = event.is_author_bot,
        .is_own_bot = event.is_own_bot || parts_.is_own_bot(arrival.bot.platform, source.user_id),
        .addresses_bot = event.addresses_bot || event.event.prompt_response.has_value()};
    for (const BindingRow& row : parts_.state.bindings_of(arrival.bot, source.user_id)) {
        gate.is_author_linked = gate.is_author_linked || row.tenant_id == tenant_id;
    }
    return gate;
}

GateInstance RelayInbound::gate_instance(
    const InstanceRow& row, const PlatformArrival& arrival) const {
    const std::string& platform = arrival.bot.platform;
    const SessionSource& source = arrival.event.event.source;
    const std::string& guild =
        source.scope_id.empty() ? arrival.event.discriminator : source.scope_id;
    const auto holds = [&](const std::string& channel) {
        const ScopeRow* scope =
            channel.empty() ? nullptr : parts_.state.scope_of(platform, guild, channel);
        return scope != nullptr && scope->instance_id == row.instance_id;
    };
    GateInstance instance;
    instance.instance_id = row.instance_id;
    instance.tenant = row.tenant_id;
    for (const BindingRow& bound : parts_.state.bindings_of(arrival.bot, source.user_id)) {
        instance.is_author_owner = instance.is_author_owner || bound.instance_id == row.instance_id;
    }
    instance.holds_scope = holds(source.chat_id) || holds(source.parent_chat_id);
    instance.speaks_as_bot = !instance.holds_scope || parts_.state.speaks_as(row, arrival.bot);
    instance.principal = RelayState::principal_of(row, platform);
    instance.relevance = RelayState::relevance_of(row, platform);
    if (std::ranges::find(row.relevance, platform, &RelevancePolicy::platform) ==
        row.relevance.end()) {
        instance.relevance.require_address = require_address_.contains(platform);
    }
    return instance;
}

RelayInbound::Candidates RelayInbound::dm_candidates(const PlatformArrival& arrival) const {
    Candidates candidates;
    const std::string choice =
        parts_.state.dm_choice_of(arrival.bot, arrival.event.event.source.user_id);
    const InstanceRow* row = choice.empty() ? nullptr : parts_.state.instances.get(choice);
    if (row == nullptr) {
        candidates.note = "unbound_author";
        return candidates;
    }
    candidates.tenant_id = row->tenant_id;
    GateInstance instance = gate_instance(*row, arrival);
    instance.is_dm_choice = true;
    candidates.instances.push_back(std::move(instance));
    return candidates;
}

RelayInbound::Candidates RelayInbound::candidates_for(const PlatformArrival& arrival) const {
    if (arrival.event.is_dm) {
        return dm_candidates(arrival);
    }
    const SessionSource& source = arrival.event.event.source;
    Candidates candidates;
    candidates.tenant_id = parts_.state.route_of(arrival.bot, arrival.event.discriminator);
    if (candidates.tenant_id.empty()) {
        candidates.note = "no_route";
        return candidates;
    }
    const auto add = [&](const std::string& instance_id) {
        const InstanceRow* row = parts_.state.instances.get(instance_id);
        const bool is_there = std::ranges::any_of(candidates.instances, [&](const auto& held) {
            return held.instance_id == instance_id;
        });
        if (row == nullptr || is_there || row->tenant_id != candidates.tenant_id) {
            return;
        }
        candidates.instances.push_back(gate_instance(*row, arrival));
        if (candidates.instances.back().is_author_owner) {
            candidates.viewer[instance_id] = source.user_id;
        } else if (const auto owners = parts_.state.owners_of(instance_id, arrival.bot);
                   !owners.empty()) {
            candidates.viewer[instance_id] = owners.front().user_id;
        }
    };
    for (const BindingRow& row : parts_.state.bindings_of(arrival.bot, source.user_id)) {
        add(row.instance_id);
    }
    const std::string& guild =
        source.scope_id.empty() ? arrival.event.discriminator : source.scope_id;
    for (const std::string& channel : {source.chat_id, source.parent_chat_id}) {
        if (const ScopeRow* scope = parts_.state.scope_of(arrival.bot.platform, guild, channel)) {
            add(scope->instance_id);
        }
    }
    return candidates;
}

std::optional<bool> RelayInbound::view_of(
    const PlatformArrival& arrival, const std::string& user, const Pending* pending) const {
    if (pending != nullptr) {
        if (const auto found = pending->views.find(user); found != pending->views.end()) {
            return found->second;
        }
    }
    const ChatPlatform* platform = parts_.platform(arrival.bot);
    const SessionSource& source = arrival.event.event.source;
    return platform == nullptr ? std::nullopt
                               : platform->cached_view(
                                     {.guild_id = source.scope_id,
                                      .channel_id = source.chat_id,
                                      .parent_channel_id = source.parent_chat_id,
                                      .user_id = user});
}

// True when the decision has to wait: somebody is asking the platform who can see the channel.
bool RelayInbound::ask_facts(Pending& pending, const Candidates& candidates) {
    const PlatformArrival& arrival = pending.arrival;
    ChatPlatform* platform = parts_.platform(arrival.bot);
    if (!needs_sight(arrival) || platform == nullptr) {
        return false;
    }
    std::vector<std::string> unknown;
    for (const auto& [instance_id, user] : candidates.viewer) {
        if (!view_of(arrival, user, &pending) && !pending.views.contains(user) &&
            std::ranges::find(unknown, user) == unknown.end()) {
            unknown.push_back(user);
        }
    }
    if (unknown.empty() || pending.is_without_facts) {
        return false;
    }
    const std::string chat = chat_key_of(arrival);
    const SessionSource source = arrival.event.event.source;
    const auto held = std::make_shared<Pending>(std::move(pending));
    const bool is_asked = parts_.run_blocking([this, platform, unknown, source, chat, held] {
        for (const std::string& user : unknown) {
            held->views[user] = platform->find_view(
                {.guild_id = source.scope_id,
                 .channel_id = source.chat_id,
                 .parent_channel_id = source.parent_chat_id,
                 .user_id = user});
        }
        parts_.lane.submit_internal(
            [this, chat, held](RelayTurn& turn) { facts_arrived(turn, chat, std::move(*held)); });
    });
    if (!is_asked) {
        pending = std::move(*held);
        for (const std::string& user : unknown) {
            pending.views[user] = std::nullopt;  // I5: not known counts as no.
        }
        return false;
    }
    chats_waiting_.try_emplace(chat);
    return true;
}

void RelayInbound::facts_arrived(RelayTurn& turn, const std::string& chat, Pending pending) {
    auto waiting = std::move(chats_waiting_[chat]);
    chats_waiting_.erase(chat);
    decide(turn, std::move(pending));
    while (!waiting.empty()) {
        if (const auto again = chats_waiting_.find(chat); again != chats_waiting_.end()) {
            again->second = std::move(waiting);  // One of them needs facts of its own.
            return;
        }
        Pending next = std::move(waiting.front());
        waiting.pop_front();
        --waiting_;
        next.is_stored.reset();  // The store was asked long ago.
        take(turn, std::move(next));
    }
}

// A press is for whoever asked, once. False: it is for nobody.
bool RelayInbound::take_press(
    RelayTurn& turn, PlatformArrival& arrival, std::vector<std::string>& targets) {
    MessageEvent& event = arrival.event.event;
    const auto pressed = parts_.press(
        turn,
        {.bot = arrival.bot,
         .chat_id = event.source.chat_id,
         .user_id = event.source.user_id,
         .response = *event.prompt_response,
         .allowed = targets});
    targets.clear();
    if (!pressed || !*pressed || !(*pressed)->is_first) {
        return false;
    }
    event.prompt_response = (*pressed)->response;
    targets.push_back((*pressed)->instance_id);
    return true;
}

void RelayInbound::decide(RelayTurn& turn, Pending pending) {
    Candidates candidates = candidates_for(pending.arrival);
    if (ask_facts(pending, candidates)) {
        return;
    }
    PlatformArrival& arrival = pending.arrival;
    InboundCounters& counters = counters_[arrival.bot.platform];
    const GateEvent event = gate_event(arrival, candidates.tenant_id);
    Json decisions = Json::array();
    std::vector<std::string> targets;
    for (GateInstance& instance : candidates.instances) {
        if (const auto viewer = candidates.viewer.find(instance.instance_id);
            needs_sight(arrival) && viewer != candidates.viewer.end()) {
            // Without facts it must not overtake those that wait for them, whatever is known.
            instance.owner_can_view = pending.is_without_facts
                                          ? std::nullopt
                                          : view_of(arrival, viewer->second, &pending);
        }
        const GateDecision decision = judge_delivery(event, instance);
        decisions.push(why_json(decision));
        if (decision.delivers) {
            targets.push_back(instance.instance_id);
        }
    }
    InboxAnswer said{.is_stored = true, .is_delivered = false, .notice = {}};
    Json why = Json::object({{"decisions", std::move(decisions)}});
    note_author(why, arrival);
    if (arrival.event.event.prompt_response && !targets.empty() &&
        !take_press(turn, arrival, targets)) {
        candidates.note = "prompt_closed";
        said.notice = "This question was answered already, or nobody waits for it any more.";
    }
    if (!candidates.note.empty()) {
        why.set("note", candidates.note);
    }
    pending.text = arrival_text(arrival);
    const Reached reached = deliver(turn, pending, targets);
    why.set("delivered", json_list(reached.delivered));
    if (!reached.laid_aside.empty()) {
        why.set("laid_aside", json_list(reached.laid_aside));
        said.notice = kLaidAside;
    } else if (reached.delivered.empty()) {
        ++(candidates.tenant_id.empty() ? counters.no_route : counters.nobody);
        if (said.notice.empty()) {
            said.notice = is_stranger(event, candidates.tenant_id)
                              ? meet_stranger(turn, pending, candidates.tenant_id)
                              : std::string(kNotHeard);
        }
    } else if (arrival.event.is_dm && parts_.wish_for) {
        // The question answers no act of his, so no platform shows it by itself.
        say(turn, arrival, parts_.wish_for(turn, arrival.bot, event.author_id));
    }
    store_event(turn, pending, candidates.tenant_id, why);
    said.is_delivered = !reached.delivered.empty();
    answer(turn, arrival.bot, pending.slot, std::move(said));
}

// Gives the sentence for a platform that shows it to him alone; in the chat he is told when it is
// time.
std::string RelayInbound::meet_stranger(
    RelayTurn& turn, const Pending& pending, const TenantId& tenant_id) {
    const PlatformArrival& arrival = pending.arrival;
    const SessionSource& source = arrival.event.event.source;
    const Encounter met{
        .bot = arrival.bot,
        .tenant_id = tenant_id,
        .discriminator = arrival.event.discriminator,
        .chat_id = source.chat_id,
        .chat_name = source.chat_name,
        .chat_type = source.chat_type,
        .user_id = source.user_id,
        .user_name = source.user_name,
        .is_dm = arrival.event.is_dm,
        .addresses_bot = arrival.event.addresses_bot};
    if (parts_.meet) {
        tell(turn, arrival, parts_.meet(turn, met));
    }
    return way_in(met);
}

void RelayInbound::store_event(
    RelayTurn& turn, Pending& pending, const TenantId& tenant_id, const Json& why) {
    const PlatformArrival& arrival = pending.arrival;
    const Duration life = arrival.bot.platform == "sms" ? kSmsEventLife : kEventLife;
    RelayEventRow row{
        .event_key = event_key_of(arrival.bot, arrival.event.event_id),
        .tenant_id = tenant_id,
        .at = turn.now(),
        .digest = sha256_hex(pending.text),
        .why = to_text(why),
        .expires_at = turn.now() + life};
    remember(row.event_key);
    if (!tenant_id.empty()) {
        turn.note_event(tenant_id, row);
    }
    turn.rows().events.push_back(std::move(row));
    if (!arrival.cursor.empty()) {
        parts_.state.cursors.put(
            turn, row_key({arrival.bot.platform, arrival.bot.bot_id}), CursorRow{arrival.cursor});
    }
    ++counters_[arrival.bot.platform].stored;
}

RelayInbound::Reached RelayInbound::deliver(
    RelayTurn& turn, const Pending& pending, const std::vector<std::string>& instances) {
    const PlatformArrival& arrival = pending.arrival;
    InboundCounters& counters = counters_[arrival.bot.platform];
    Reached reached;
    std::vector<std::string> known;  // Instances that now or later get it; they may write there.
    const EntryKind kind = arrival.forward ? EntryKind::passthrough : EntryKind::inbound;
    TenantId tenant_id;
    for (const std::string& instance_id : instances) {
        const auto appended = parts_.delivery.append(
            turn,
            {.instance_id = instance_id,
             .kind = kind,
             .event_key = event_key_of(arrival.bot, arrival.event.event_id),
             .text = pending.text});
        if (appended == RelayDelivery::Appended::gone) {
            continue;
        }
        tenant_id = parts_.state.instances.get(instance_id)->tenant_id;
        note_session(turn, arrival, tenant_id, instance_id);
        keep_capability(turn, arrival, tenant_id, instance_id);
        known.push_back(instance_id);
        const bool is_buffered = appended == RelayDelivery::Appended::buffered;
        ++(is_buffered ? counters.delivered : counters.laid_aside);
        (is_buffered ? reached.delivered : reached.laid_aside).push_back(instance_id);
    }
    if (!known.empty()) {
        note_chat(turn, arrival, tenant_id, known);
    }
    return reached;
}

}  // namespace interlock
