#include "relay/service/relay_views.h"

#include <algorithm>
#include <array>
#include <map>

#include "codec/json_list.h"
#include "relay/rules/delivery_gate.h"

namespace interlock {
namespace {

Json time_or_null(const std::optional<Timestamp>& at) {
    return at ? Json(to_text(*at)) : Json();
}

std::string_view word_of(EntryKind kind) {
    return kind == EntryKind::inbound ? "inbound" : "passthrough";
}

Json shed_json(const RelayDelivery::InstanceView& view) {
    if (!view.shedding) {
        return {};
    }
    return Json::object(
        {{"since", to_text(view.shedding->since)},
         {"laid_aside", view.shedding->laid_aside},
         {"dropped", view.shedding->dropped}});
}

Json json_of(const RelayDelivery::InstanceView& view) {
    Json identities = Json::array();
    for (const BotKey& bot : view.identities) {
        identities.push(Json::object({{"platform", bot.platform}, {"bot_id", bot.bot_id}}));
    }
    return Json::object(
        {{"instance_id", view.instance_id},
         {"tenant_id", view.tenant_id.text()},
         {"health", view.health},
         {"waiting", view.waiting},
         {"bytes", view.bytes},
         {"outstanding", view.outstanding},
         {"dead_letters", view.dead_letters},
         {"dead_bytes", view.dead_bytes},
         {"shedding", shed_json(view)},
         {"epoch", view.epoch},
         {"oldest", time_or_null(view.oldest)},
         {"seen_at", time_or_null(view.seen_at)},
         {"identities", std::move(identities)}});
}

Json entry_json(const BufferEntry& entry) {
    return Json::object(
        {{"buffer_id", std::to_string(entry.seq)},
         {"kind", word_of(entry.kind)},
         {"event", entry.event_key},
         {"at", to_text(entry.at)},
         {"attempts", entry.attempts},
         {"bytes", entry.text.size()}});
}

bool names(const Json& why, std::string_view key, const Json& instance) {
    const Json* const list = why.find(key);
    return list != nullptr && std::ranges::any_of(list->items(), [&](const Json& name) {
               return name.as_string() == instance.as_string();
           });
}

// What happened, which is not always what the gate allowed: a press may be for somebody else, or
// for nobody. Of events before it was kept, the gate's word stands for it.
std::string_view outcome_of(const Json& why, const Json& decision) {
    const Json& instance = *decision.find("instance_id");
    if (names(why, "laid_aside", instance)) {
        return "laid_aside";
    }
    const bool is_delivered = why.find("delivered") != nullptr
                                  ? names(why, "delivered", instance)
                                  : decision.find("delivers")->as_bool();
    return is_delivered ? "delivered" : "not_delivered";
}

struct Note {
    std::string_view note;
    std::string_view because;
};
constexpr std::array<Note, 6> kNotes = {{
    {"no_route", "The chat is routed to no tenant."},
    {"unbound_author", "The author is linked to no instance at this bot."},
    {"prompt_closed",
     "The question was answered already, is over, or was asked by somebody who may not hear him."},
    {"person_word", "It was said to the connector itself, which answered it."},
    {"link_command", "It was a link code, which never reaches an agent."},
    {"chat_moved", "The platform gave the chat another id; its route and channels follow."},
}};

std::string_view reason_of(std::string_view note) {
    const auto* const found = std::ranges::find(kNotes, note, &Note::note);
    return found == kNotes.end() ? std::string_view() : found->because;
}

// The stored codes with the sentences behind them.
Json explained(const RelayEventRow& row) {
    Json json = Json::object(
        {{"event", row.event_key},
         {"tenant_id", row.tenant_id.empty() ? Json() : Json(row.tenant_id.text())},
         {"at", to_text(row.at)},
         {"digest", row.digest}});
    auto why = parse_json(row.why);
    if (!why) {
        return json;
    }
    if (const Json* decisions = why->find("decisions")) {
        Json list = Json::array();
        for (const Json& decision : decisions->items()) {
            Json steps = Json::array();
            for (const Json& code : decision.find("steps")->items()) {
                steps.push(Json::object(
                    {{"code", code.as_string()}, {"reason", gate_reason(code.as_string())}}));
            }
            list.push(Json::object(
                {{"instance_id", *decision.find("instance_id")},
                 {"delivers", *decision.find("delivers")},
                 {"outcome", outcome_of(*why, decision)},
                 {"steps", std::move(steps)}}));
        }
        json.set("decisions", std::move(list));
    }
    for (const char* const key : {"delivered", "laid_aside", "user_id", "chat_id", "note"}) {
        if (const Json* const found = why->find(key)) {
            json.set(key, *found);
        }
    }
    if (const Json* const note = why->find("note")) {
        json.set("because", reason_of(note->as_string()));
    }
    return json;
}

Json json_of(const OutboundRow& row) {
    return Json::object(
        {{"outbound_id", row.outbound_id},
         {"tenant_id", row.tenant_id.text()},
         {"instance_id", row.instance_id},
         {"platform", row.platform},
         {"bot_id", row.bot_id},
         {"chat_id", row.chat_id},
         {"op", row.op},
         {"state", row.state},
         {"digest", row.digest},
         {"message_ids", json_list(row.message_ids)},
         {"can_replay", !row.action.empty() && (row.state == "unknown" || row.state == "not_sent")},
         {"replay_of", row.replay_of.empty() ? Json() : Json(row.replay_of)},
         {"asked_at", to_text(row.asked_at)},
         {"settled_at", time_or_null(row.settled_at)}});
}

// Prometheus' text form, where one family's samples stand together.
class MetricText {
public:
    void begin(std::string_view name, std::string_view type, std::string_view help) {
        name_ = name;
        text_ += "# HELP " + name_ + " " + std::string(help) + "\n# TYPE " + name_ + " " +
                 std::string(type) + "\n";
    }
    using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;
    template <class Number>
    void add(Labels labels, Number value) {
        text_ += name_;
        char separator = '{';
        for (const auto& [label, text] : labels) {
            text_ += separator;
            text_ += label;
            text_ += "=";
            append_json_string(text_, text);  // Escapes what the form wants escaped.
            separator = ',';
        }
        text_ += (separator == '{' ? " " : "} ") + std::to_string(value) + "\n";
    }
    std::string take() { return std::move(text_); }

private:
    std::string name_;
    std::string text_;
};

// How bots and instances are now.
void add_gauges(
    MetricText& text,
    const std::vector<RelayHearing::View>& ears,
    const std::vector<RelayDelivery::InstanceView>& views) {
    text.begin("interlock_relay_bot_connected", "gauge", "1 while a bot hears its platform.");
    const auto add_ears = [&](auto is_one) {
        for (const RelayHearing::View& ear : ears) {
            text.add(
                {{"platform", ear.bot->bot().platform}, {"bot", ear.bot->bot().bot_id}},
                is_one(ear) ? 1 : 0);
        }
    };
    add_ears([](const RelayHearing::View& ear) { return ear.health.is_connected; });
    text.begin("interlock_relay_bot_deaf", "gauge", "1 while a bot does not hear its platform.");
    add_ears([](const RelayHearing::View& ear) { return ear.deaf_since.has_value(); });
    text.begin("interlock_relay_waiting", "gauge", "Messages that wait, by instance.");
    for (const auto& view : views) {
        text.add({{"tenant", view.tenant_id.text()}, {"instance", view.instance_id}}, view.waiting);
    }
    text.begin("interlock_relay_dead_letters", "gauge", "Dead letters, by instance.");
    for (const auto& view : views) {
        text.add(
            {{"tenant", view.tenant_id.text()}, {"instance", view.instance_id}}, view.dead_letters);
    }
    text.begin("interlock_relay_shedding", "gauge", "1 while an instance's buffer is full.");
    for (const auto& view : views) {
        text.add(
            {{"tenant", view.tenant_id.text()}, {"instance", view.instance_id}},
            view.shedding ? 1 : 0);
    }
}

}  // namespace

Json RelayViews::status_json() const {
    Json bots = Json::array();
    for (const RelayHearing::View& ear : parts_.hearing.views()) {
        bots.push(Json::object(
            {{"platform", ear.bot->bot().platform},
             {"bot_id", ear.bot->bot().bot_id},
             {"state",
              ear.health.is_broken      ? "broken"
              : ear.deaf_since          ? "deaf"
              : ear.health.is_connected ? "connected"
                                        : "connecting"},
             {"detail", ear.health.detail},
             {"deaf_since", time_or_null(ear.deaf_since)}}));
    }
    std::map<std::string_view, std::int64_t> by_health;
    std::int64_t waiting = 0;
    std::size_t dead = 0;
    Json shedding = Json::array();
    for (const auto& view : parts_.delivery.views()) {
        ++by_health[view.health];
        waiting += static_cast<std::int64_t>(view.waiting);
        dead += view.dead_letters;
        if (view.shedding && std::cmp_less(shedding.items().size(), kRelayListMax)) {
            Json one = shed_json(view);
            one.set("instance_id", view.instance_id);
            one.set("tenant_id", view.tenant_id.text());
            shedding.push(std::move(one));
        }
    }
    Json instances = Json::object();
    for (const auto& [health, count] : by_health) {
        instances.set(std::string(health), count);
    }
    return Json::object(
        {{"bots", std::move(bots)},
         {"sockets", parts_.delivery.sockets()},
         {"instances", std::move(instances)},
         {"waiting", waiting},
         {"dead_letters", dead},
         {"shedding", std::move(shedding)},
         {"sleepers_without_wake_url", parts_.wake.counters().without_url},
         {"waiting_for_facts", parts_.inbound.waiting_for_facts()},
         {"files_under_way", parts_.files.running()},
         {"outbounds_pending", parts_.outbound.pending()}});
}

void RelayViews::status(RelayReply reply) {
    ask_lane(
        parts_.lane,
        [this](RelayTurn&) -> Result<Json> { return status_json(); },
        std::move(reply));
}

void RelayViews::instances(TenantId tenant_id, RelayReply reply) {
    ask_lane(
        parts_.lane,
        [this, tenant_id = std::move(tenant_id)](RelayTurn&) -> Result<Json> {
            Json list = Json::array();
            for (const auto& view : parts_.delivery.views()) {
                if (tenant_id.empty() || view.tenant_id == tenant_id) {
                    list.push(json_of(view));
                }
            }
            return Json::object({{"instances", std::move(list)}});
        },
        std::move(reply));
}

void RelayViews::buffer(std::string instance_id, std::int64_t after, RelayReply reply) {
    ask_lane(
        parts_.lane,
        [this, instance_id = std::move(instance_id), after](RelayTurn&) -> Result<Json> {
            constexpr std::int64_t kBytesMax = std::int64_t{16} * 1024 * 1024;
            const InstanceRow* row = parts_.state.instances.get(instance_id);
            if (row == nullptr) {
                return fail(errors::not_found, "there is no instance of that name");
            }
            TRY_ASSIGN(
                const auto entries,
                parts_.state.store().read_entries(instance_id, after, kRelayListMax, kBytesMax));
            Json list = Json::array();
            for (const BufferEntry& entry : entries) {
                list.push(entry_json(entry));
            }
            return Json::object(
                {{"instance", json_of(parts_.delivery.view(*row))}, {"entries", std::move(list)}});
        },
        std::move(reply));
}

void RelayViews::dead_letters(std::string instance_id, RelayReply reply) {
    ask_lane(
        parts_.lane,
        [this, instance_id = std::move(instance_id)](RelayTurn&) -> Result<Json> {
            TRY_ASSIGN(
                const auto letters,
                parts_.state.store().read_dead_letters(instance_id, {}, kRelayListMax));
            Json list = Json::array();
            for (const DeadLetter& letter : letters) {
                Json json = entry_json(letter.entry);
                json.set("instance_id", letter.entry.instance_id);
                json.set("tenant_id", letter.tenant_id.text());
                json.set("reason", letter.reason);
                json.set("dead_at", to_text(letter.dead_at));
                list.push(std::move(json));
            }
            return Json::object({{"dead_letters", std::move(list)}});
        },
        std::move(reply));
}

namespace {

Result<Json> letters_answer(
    const RelayDelivery::Letters& letters, const RelayDelivery::LettersDone& done) {
    if (letters.seq && done.done == 0) {
        if (done.no_room > 0) {
            return fail(
                errors::conflict, "the instance's buffer is full", "Wait until it has drained.");
        }
        return fail(errors::not_found, "there is no such dead letter");
    }
    if (letters.seq) {
        return Json::object({{"ok", true}, {"principal", letters.principal}});
    }
    return Json::object({{"done", done.done}, {"left", done.left}, {"no_room", done.no_room}});
}

}  // namespace

void RelayViews::requeue(RelayDelivery::Letters letters, RelayReply reply) {
    ask_lane(
        parts_.lane,
        [this, letters = std::move(letters)](RelayTurn& turn) -> Result<Json> {
            TRY_ASSIGN(const auto done, parts_.delivery.requeue_dead(turn, letters));
            return letters_answer(letters, done);
        },
        std::move(reply));
}

void RelayViews::discard(RelayDelivery::Letters letters, RelayReply reply) {
    ask_lane(
        parts_.lane,
        [this, letters = std::move(letters)](RelayTurn& turn) -> Result<Json> {
            return letters_answer(letters, parts_.delivery.discard_dead(turn, letters));
        },
        std::move(reply));
}

void RelayViews::why(std::string event, RelayReply reply) {
    ask_lane(
        parts_.lane,
        [this, event = std::move(event)](RelayTurn&) -> Result<Json> {
            TRY_ASSIGN(const auto row, parts_.state.store().find_event(event));
            if (!row) {
                return fail(
                    errors::not_found,
                    "no event of that name is kept",
                    "Name it as platform/bot/id; `interlock relay events` lists the latest.");
            }
            return explained(*row);
        },
        std::move(reply));
}

void RelayViews::events(std::int64_t count_max, RelayReply reply) {
    ask_lane(
        parts_.lane,
        [this, count_max](RelayTurn&) -> Result<Json> {
            TRY_ASSIGN(
                const auto rows,
                parts_.state.store().read_events(
                    std::clamp<std::int64_t>(count_max, 1, kRelayListMax)));
            Json list = Json::array();
            for (const RelayEventRow& row : rows) {
                list.push(explained(row));
            }
            return Json::object({{"events", std::move(list)}});
        },
        std::move(reply));
}

void RelayViews::outbounds(OutboundFilter filter, RelayReply reply) {
    ask_lane(
        parts_.lane,
        [this, filter = std::move(filter)](RelayTurn&) -> Result<Json> {
            TRY_ASSIGN(const OutboundPage page, parts_.outbound.list(filter));
            Json list = Json::array();
            for (const OutboundRow& row : page.rows) {
                list.push(json_of(row));
            }
            return Json::object({{"outbounds", std::move(list)}, {"next", page.next}});
        },
        std::move(reply));
}

void RelayViews::replay(std::string outbound_id, std::string principal, RelayReply reply) {
    ask_lane(
        parts_.lane,
        [this, outbound_id = std::move(outbound_id), principal = std::move(principal)](
            RelayTurn& turn) -> Result<Json> {
            TRY_ASSIGN(
                std::string id,
                parts_.outbound.replay(
                    turn,
                    {.outbound_id = outbound_id,
                     .principal = principal,
                     .reply = [](const OutboundResult&) {}}));
            return Json::object({{"ok", true}, {"outbound_id", std::move(id)}});
        },
        std::move(reply));
}

void RelayViews::interrupt(
    TenantId tenant_id, std::string session_key, std::string principal, RelayReply reply) {
    ask_lane(
        parts_.lane,
        [this,
         tenant_id = std::move(tenant_id),
         session_key = std::move(session_key),
         principal = std::move(principal)](RelayTurn& turn) -> Result<Json> {
            TRY(parts_.delivery.interrupt_session(turn, tenant_id, session_key, principal));
            return Json::object({{"ok", true}});
        },
        std::move(reply));
}

std::string RelayViews::metrics_text() const {
    MetricText text;
    text.begin("interlock_relay_inbound_total", "counter", "Events of platforms, by fate.");
    for (const auto& [platform, count] : parts_.inbound.counters()) {
        const auto add = [&](std::string_view what, std::int64_t value) {
            text.add({{"platform", platform}, {"what", what}}, value);
        };
        add("stored", count.stored);
        add("duplicate", count.duplicates);
        add("delivered", count.delivered);
        add("no_route", count.no_route);
        add("nobody", count.nobody);
        add("laid_aside", count.laid_aside);
        add("without_facts", count.without_facts);
        add("link", count.links);
    }
    text.begin("interlock_relay_refused_total", "counter", "Events that we could not take.");
    text.add({}, parts_.inbound.refused());
    text.begin("interlock_relay_waiting_for_facts", "gauge", "Events that wait for a platform.");
    text.add({}, parts_.inbound.waiting_for_facts());
    text.begin("interlock_relay_files_total", "counter", "Files of messages, by fate.");
    text.add({{"what", "fetched"}}, parts_.files.counters().fetched);
    text.add({{"what", "missing"}}, parts_.files.counters().missing);
    text.add({{"what", "late"}}, parts_.files.counters().late);
    const DeliveryCounters& delivery = parts_.delivery.counters();
    text.begin("interlock_relay_delivery_total", "counter", "What happened to buffered messages.");
    text.add({{"what", "written"}}, delivery.written);
    text.add({{"what", "written_again"}}, delivery.written_again);
    text.add({{"what", "acknowledged"}}, delivery.acknowledged);
    text.add({{"what", "settled"}}, delivery.settled);
    text.add({{"what", "dead"}}, delivery.dead);
    text.add({{"what", "overflowed"}}, delivery.overflowed);
    text.add({{"what", "dropped"}}, delivery.dropped);
    text.add({{"what", "ended"}}, delivery.ended);
    text.add({{"what", "fenced"}}, delivery.fenced);
    text.add({{"what", "overdue"}}, delivery.overdue);
    text.add({{"what", "interrupt"}}, delivery.interrupts);
    const auto sends = parts_.outbound.counters();
    text.begin("interlock_relay_outbound_total", "counter", "Sends that gateways asked for.");
    text.add({{"what", "asked"}}, sends.asked);
    text.add({{"what", "declined"}}, sends.declined);
    text.add({{"what", "overloaded"}}, sends.overloaded);
    text.add({{"what", "sent"}}, sends.sent);
    text.add({{"what", "not_sent"}}, sends.not_sent);
    text.add({{"what", "unknown"}}, sends.unknown);
    text.add({{"what", "late"}}, sends.late);
    text.begin("interlock_relay_wake_total", "counter", "Pokes of sleeping gateways.");
    text.add({{"what", "poked"}}, parts_.wake.counters().poked);
    text.add({{"what", "failed"}}, parts_.wake.counters().failed);
    text.add({{"what", "given_up"}}, parts_.wake.counters().given_up);
    text.begin("interlock_relay_sockets", "gauge", "Sockets of gateways.");
    text.add({}, parts_.delivery.sockets());
    add_gauges(text, parts_.hearing.views(), parts_.delivery.views());
    return text.take();
}

}  // namespace interlock
