// What gateways do in the relay's world: read, acknowledge late or never, dial again and leave the
// old socket open, go idle, and ask for things that are not theirs.
#include <algorithm>
#include <charconv>

#include "relay/wire/action_target.h"
#include "sim/relay_simulation.h"

namespace interlock::sim {
namespace {

constexpr std::size_t kLinesMax = 24;

std::int64_t number_of(const std::string& buffer_id) {
    std::int64_t number = 0;
    std::from_chars(buffer_id.data(), buffer_id.data() + buffer_id.size(), number);
    return number;
}

}  // namespace

void RelaySimulation::dial(RelayGateway& gateway) {
    const RelayMember& member = *gateway.member;
    for (const RelayLinkPtr& older : gateway.links) {
        older->is_left = true;
    }
    auto link = std::make_shared<RelayLink>();
    link->session = std::make_shared<RelaySession>();
    link->facts = std::make_shared<RelaySocketFacts>(
        RelaySocketFacts{++sockets_, member.instance_id, 0, false});
    link->socket = std::make_shared<RelaySocketModel>(
        RelaySocketModel::Parts{watch_, power_, config_.plant, kLinesMax},
        [facts = link->facts, session = std::weak_ptr(link->session)] {
            RelaySocketFacts now = *facts;
            const auto held = session.lock();
            now.epoch = held ? held->epoch : 0;
            return now;
        });
    link->session->caller = {member.tenant_id, member.instance_id, "gw-" + member.instance_id};
    link->session->socket = link->socket;
    if (!server_->desk.open(link->session)) {
        return;
    }
    gateway.links.push_back(link);
    gateway.is_asleep = false;
    note("  " + member.instance_id + " dials socket " + std::to_string(sockets_));
    const std::size_t hellos = member.kind == GatewayKind::june ? 1 : cast_.bots.size();
    for (std::size_t i = 0; i < hellos; ++i) {
        say(link, HelloFrame{cast_.bots[i].platform, cast_.bots[i].bot_id, {}});
    }
}

void RelaySimulation::say(const RelayLinkPtr& link, GatewayFrame frame) {
    if (link->socket->is_gone || link->socket->loses || !power_.on) {
        return;
    }
    RelaySessionPtr session = link->session;
    if (config_.plant == RelayPlant::trust_old_socket &&
        std::holds_alternative<InboundAckFrame>(frame)) {
        const auto newest = current_.find(session->caller.instance_id);
        session = newest == current_.end() ? session : newest->second;
    }
    const std::uint64_t life = life_;
    const bool is_taken = server_->desk.take(session, frame, [this, link, frame, life] {
        if (life == life_) {
            said(link, frame);
        }
    });
    if (!is_taken) {
        link->socket->close(kCloseTryLater, "busy");
    }
}

// The connector has just dealt with it, in a batch that is not committed yet.
void RelaySimulation::said(const RelayLinkPtr& link, const GatewayFrame& frame) {
    const std::string& instance_id = link->session->caller.instance_id;
    RelaySessionPtr& newest = current_[instance_id];
    if (std::holds_alternative<HelloFrame>(frame)) {
        if (!link->session->is_over && newest != link->session) {
            fenced_ += newest ? 1 : 0;
            newest = link->session;
            watch_.set_connected(instance_id, true);
        }
    } else if (const auto* const ack = std::get_if<InboundAckFrame>(&frame)) {
        watch_.on_ack({instance_id, number_of(ack->buffer_id)}, newest == link->session);
    } else if (std::holds_alternative<GoingIdleFrame>(frame)) {
        link->facts->is_idle = newest == link->session;
        if (link->facts->is_idle && !link->socket->is_gone) {
            watch_.on_going_idle(link->facts->number);
        }
    } else if (const auto* const request = std::get_if<OutboundFrame>(&frame)) {
        watch_.judge_request(request->request_id);
    }
}

void RelaySimulation::deliver_lines(SeededRandom& random) {
    std::vector<std::pair<RelayGateway*, RelayLinkPtr>> ready;
    for (RelayGateway& gateway : gateways_) {
        for (const RelayLinkPtr& link : gateway.links) {
            if (!link->socket->lines.empty()) {
                ready.emplace_back(&gateway, link);
            }
        }
    }
    if (ready.empty()) {
        return;
    }
    const auto [gateway, link] = ready[random.below(ready.size())];
    const std::size_t count = 1 + random.below(6);
    for (std::size_t i = 0; i < count && !link->socket->lines.empty(); ++i) {
        read_line(*gateway, link, random);
    }
}

void RelaySimulation::read_line(
    RelayGateway& gateway, const RelayLinkPtr& link, SeededRandom& random) {
    const std::string line = std::move(link->socket->lines.front().text);
    link->socket->lines.pop_front();
    const auto frame = decode_connector_frame(std::string_view(line).substr(0, line.size() - 1));
    CHECK(frame.has_value());
    if (std::holds_alternative<GoingIdleAckFrame>(*frame)) {
        link->socket->is_gone = true;
        gateway.is_asleep = true;
        note("  " + gateway.member->instance_id + " sleeps");
    } else if (const auto* const result = std::get_if<OutboundResultFrame>(&*frame)) {
        if (!result->result.message_id.empty()) {
            gateway.messages.push_back(result->result.message_id);
        }
    } else if (
        std::holds_alternative<InboundFrame>(*frame) ||
        std::holds_alternative<PassthroughForwardFrame>(*frame)) {
        read_mail(gateway, link, *frame, random);
    }
}

void RelaySimulation::read_mail(
    RelayGateway& gateway,
    const RelayLinkPtr& link,
    const ConnectorFrame& frame,
    SeededRandom& random) {
    if (const auto* const forward = std::get_if<PassthroughForwardFrame>(&frame)) {
        if (gateway.member->kind == GatewayKind::newest) {
            gateway.owed.emplace_back(link, forward->buffer_id);
        }
        return;
    }
    const auto& inbound = std::get<InboundFrame>(frame);
    const SessionSource& source = inbound.event.source;
    const std::pair<BotKey, std::string> chat{
        {source.platform, inbound.event.bot_id}, source.chat_id};
    if (cast_.chat(chat.first, chat.second) != nullptr &&
        std::ranges::find(gateway.chats, chat) == gateway.chats.end()) {
        gateway.chats.push_back(chat);
    }
    auto& window = gateway.replay_window;
    const bool is_repeat = gateway.member->kind != GatewayKind::june &&
                           std::ranges::find(window, inbound.event.message_id) != window.end();
    const bool is_poison = inbound.event.text.contains("poison") && !is_calm_;
    if (is_poison && !is_repeat) {
        // Its handler throws: no ack, and a new socket beside the old one.
        note("  " + gateway.member->instance_id + " fails on " + inbound.buffer_id);
        if (random.chance(600)) {
            dial(gateway);
        }
        return;
    }
    window.push_back(inbound.event.message_id);
    if (window.size() > RelayGateway::kReplayWindow) {
        window.pop_front();
    }
    gateway.owed.emplace_back(link, inbound.buffer_id);
    if (is_calm_ || random.chance(650)) {
        send_acks(gateway, 1);
    }
}

void RelaySimulation::send_acks(RelayGateway& gateway, std::size_t count) {
    for (std::size_t i = 0; i < count && !gateway.owed.empty(); ++i) {
        const auto [link, buffer_id] = std::move(gateway.owed.front());
        gateway.owed.pop_front();
        say(link, InboundAckFrame{buffer_id});
    }
}

// Sockets that are over for one side or the other; in the end all of them are told.
void RelaySimulation::end_links(RelayGateway& gateway, SeededRandom* random) {
    std::erase_if(gateway.links, [&](const RelayLinkPtr& link) {
        const bool is_over = link->socket->is_gone || link->socket->close_code != 0;
        if (!is_over || (random != nullptr && random->chance(250))) {
            return false;
        }
        link->socket->is_gone = true;
        server_->desk.closed(link->session);
        watch_.socket_over(link->facts->number);
        const std::uint64_t life = life_;
        server_->lane.submit_internal([this, session = link->session, life](RelayTurn&) {
            const auto newest = current_.find(session->caller.instance_id);
            if (life == life_ && newest != current_.end() && newest->second == session) {
                watch_.set_connected(newest->first, false);
                current_.erase(newest);
            }
        });
        return true;
    });
}

void RelaySimulation::move_gateway(SeededRandom& random) {
    RelayGateway& gateway = gateways_[random.below(gateways_.size())];
    if (gateway.member->instance_id == cast_.away) {
        return;
    }
    end_links(gateway, &random);
    const RelayLinkPtr live = gateway.live();
    const bool is_woken = waker_.woken.erase(gateway.member->instance_id) > 0;
    if (!live) {
        if (!gateway.is_asleep || (is_woken && random.chance(700)) || random.chance(60)) {
            dial(gateway);
        }
        return;
    }
    const std::uint64_t luck = random.below(1000);
    if (luck < 120) {
        dial(gateway);  // The old one stays, and goes on answering.
    } else if (luck < 240) {
        live->socket->is_gone = true;
        note("  socket " + std::to_string(live->facts->number) + " is cut");
    } else if (luck < 300) {
        live->socket->loses = true;
        note("  socket " + std::to_string(live->facts->number) + " loses everything");
    } else if (luck < 520) {
        note("  " + gateway.member->instance_id + " goes idle");
        say(live, GoingIdleFrame{});
    } else if (live->socket->loses) {
        live->socket->is_gone = true;
    }
}

RelayAction RelaySimulation::some_action(
    RelayGateway& gateway, const RelayChat& chat, SeededRandom& random) {
    Json metadata = Json::object();
    if (random.chance(400)) {
        // Whatever it asserts must not count.
        const RelayChat& other = cast_.chats[random.below(cast_.chats.size())];
        const std::string guild = other.guild.empty() ? other.discriminator : other.guild;
        metadata.set("guild_id", guild);
        metadata.set("scope_id", guild);
        metadata.set("user_id", random.pick(cast_.users));
        metadata.set("tenant", gateway.member->tenant_id.text());
        if (random.chance(300)) {
            metadata.set("thread_id", other.chat_id);
        }
    }
    const std::string text =
        "rq" + std::to_string(requests_) + " of " + gateway.member->instance_id;
    const std::string message = !gateway.messages.empty() && random.chance(600)
                                    ? random.pick(gateway.messages)
                                    : chat.bot.platform + std::to_string(1 + random.below(30));
    switch (random.below(8)) {
        case 0:
            return EditAction{chat.chat_id, message, text, std::move(metadata)};
        case 1:
            return TypingAction{chat.chat_id, false, std::move(metadata)};
        case 2:
            return GetChatInfoAction{chat.chat_id};
        case 3:
            return ReactAction{chat.chat_id, message, "+1", random.chance(500), metadata};
        default:
            break;
    }
    if (random.chance(300)) {
        metadata.set("idempotency_key", "k" + std::to_string(requests_));
    }
    return SendAction{chat.chat_id, text, {}, std::move(metadata)};
}

OutboundFrame RelaySimulation::some_request(RelayGateway& gateway, SeededRandom& random) {
    if (!gateway.keyed.empty() && random.chance(150)) {
        OutboundFrame again = random.pick(gateway.keyed);
        again.request_id = "rq" + std::to_string(requests_);
        return again;
    }
    const RelayChat* chat = &cast_.chats[random.below(cast_.chats.size())];
    if (!gateway.chats.empty() && random.chance(650)) {
        const auto& [bot, chat_id] = gateway.chats[random.below(gateway.chats.size())];
        chat = cast_.chat(bot, chat_id);
    }
    OutboundFrame frame;
    frame.request_id = "rq" + std::to_string(requests_);
    frame.platform = chat->bot.platform;
    frame.bot_id = chat->bot.bot_id;
    frame.action = some_action(gateway, *chat, random);
    const auto* const send = std::get_if<SendAction>(&frame.action);
    if (send != nullptr && send->metadata.find("idempotency_key") != nullptr) {
        gateway.keyed.push_back(frame);
    }
    return frame;
}

void RelaySimulation::ask(SeededRandom& random) {
    RelayGateway& gateway = gateways_[random.below(gateways_.size())];
    const RelayLinkPtr live = gateway.live();
    if (!live || live->socket->is_gone || live->socket->loses || live->socket->close_code != 0) {
        return;
    }
    ++requests_;
    const OutboundFrame frame = some_request(gateway, random);
    const std::string chat_id = chat_of(frame.action);
    const auto* const send = std::get_if<SendAction>(&frame.action);
    const bool is_known_bot =
        gateway.member->kind != GatewayKind::june || frame.platform == cast_.bots[0].platform;
    watch_.on_request(
        frame.request_id,
        {.socket = live->facts->number,
         .instance_id = gateway.member->instance_id,
         .bot = {frame.platform, frame.bot_id},
         .op = std::string(op_of(frame.action)),
         .chat_id = chat_id,
         .token = send == nullptr ? frame.request_id : token_of(send->content),
         .at = clock_.now(),
         .is_plain =
             is_known_bot && send != nullptr && send->metadata.find("thread_id") == nullptr});
    note(
        "  " + gateway.member->instance_id + " asks " + frame.request_id + " " +
        std::string(op_of(frame.action)) + " " + chat_id);
    if (config_.plant == RelayPlant::egress_by_metadata && send != nullptr) {
        // As if the frame's word made our record of the chat.
        server_->lane.submit(
            [this, bot = BotKey{frame.platform, frame.bot_id}, chat_id, member = *gateway.member](
                RelayTurn& turn) {
                ChatRow row;
                row.platform = bot.platform;
                row.bot_id = bot.bot_id;
                row.chat_id = chat_id;
                row.tenant_id = member.tenant_id;
                server_->state.routes.for_each([&](const std::string&, const RouteRow& route) {
                    if (route.platform == bot.platform && route.tenant_id == member.tenant_id) {
                        row.guild_id = route.discriminator;
                    }
                });
                row.delivered_to = {member.instance_id};
                server_->state.chats.put(
                    turn, row_key({bot.platform, bot.bot_id, chat_id}), std::move(row));
            });
    }
    say(live, frame);
}

}  // namespace interlock::sim
