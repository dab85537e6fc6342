// The relay's delivery and inbound sides on a store in memory and a clock that tests turn, with
// sockets that only remember. Work runs when settle() is called, on the caller's thread.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/outbound_url.h"
#include "relay/memory/local_relay_bus.h"
#include "relay/memory/memory_media_folder.h"
#include "relay/memory/memory_relay_store.h"
#include "relay/service/relay_desk.h"
#include "relay/service/relay_inbound.h"
#include "relay/service/relay_wake.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"

namespace interlock {

// Remembers the frames that came down, as a client would read them.
class RecordingSocket final : public RelaySocket {
public:
    bool send(std::string message) override { return take(message, lines.size()); }
    bool send_urgent(std::string message) override {
        return take(message, is_slow ? 0 : lines.size());
    }
    void close(std::uint16_t code, std::string_view) override {
        if (close_code == 0) {
            close_code = code;
        }
    }

    // The frames since it was last asked.
    std::vector<ConnectorFrame> take_frames() {
        std::vector<ConnectorFrame> frames;
        for (const std::string& line : std::exchange(lines, {})) {
            auto frame = decode_connector_frame(std::string_view(line).substr(0, line.size() - 1));
            CHECK(frame.has_value());
            frames.push_back(*std::move(frame));
        }
        return frames;
    }
    // Texts of the messages among them, with their buffer ids.
    std::vector<std::pair<std::string, std::string>> take_inbound() {
        std::vector<std::pair<std::string, std::string>> texts;
        for (const ConnectorFrame& frame : take_frames()) {
            if (const auto* inbound = std::get_if<InboundFrame>(&frame)) {
                texts.emplace_back(inbound->event.text, inbound->buffer_id);
            }
        }
        return texts;
    }

    std::vector<std::string> lines;
    std::vector<std::size_t> message_bytes;  // Of all that came; each has one line or several.
    std::uint16_t close_code = 0;
    bool is_broken = false;
    bool is_slow = false;  // What nobody took yet waits unsent.

private:
    bool take(const std::string& message, std::size_t place) {
        if (is_broken || close_code != 0) {
            return false;
        }
        message_bytes.push_back(message.size());
        for (std::size_t at = 0; at < message.size();) {
            const std::size_t end = message.find('\n', at);
            CHECK(end != std::string::npos);  // A client would wait for the rest for ever.
            lines.insert(
                lines.begin() + static_cast<std::ptrdiff_t>(place++),
                message.substr(at, end + 1 - at));
            at = end + 1;
        }
        return true;
    }
};

class RecordingWaker final : public WakeCaller {
public:
    bool poke(WakeCall call, std::function<void(WakeOutcome)> done) override {
        calls.push_back(std::move(call));
        done({.is_reached = true, .detail = "204"});
        return true;
    }
    // As far as it goes without looking names up.
    Result<void> judge(const std::string& url) const override {
        TRY(judge_outbound_url(url, {}));
        return {};
    }
    std::vector<WakeCall> calls;
};

struct RelayWorld {
    explicit RelayWorld(
        MemoryRelayContents contents = {},
        DeliveryBounds bounds = {},
        Timestamp start = FakeClock::kNoon)
        : clock(start),
          store(std::move(contents)),
          lane(store, clock),
          state(store),
          media({lane, state, folder, workers, ids}),
          files(
              {.lane = lane,
               .media = media,
               .platform = [this](const BotKey& bot) { return platforms[bot]; },
               .run_blocking =
                   [this](std::function<void()> job) {
                       if (is_fetcher_busy) {
                           return false;
                       }
                       fetches.push_back(std::move(job));
                       return true;
                   },
               .look_again =
                   [this](RelayTurn& turn, const std::string& instance_id) {
                       delivery.look_again(turn, instance_id);
                   }}),
          delivery({
              .state = state,
              .clock = clock,
              .bus = bus,
              .descriptor =
                  [](const BotKey& bot) {
                      CapabilityDescriptor descriptor;
                      descriptor.platform = bot.platform;
                      descriptor.label = bot.platform;
                      return descriptor;
                  },
              .bounds = bounds,
              .files = &files,
          }),
          inbound({
              .lane = lane,
              .state = state,
              .delivery = delivery,
              .platform = [this](const BotKey& bot) { return platforms[bot]; },
              .run_blocking =
                  [this](std::function<void()> job) {
                      blocking.push_back(std::move(job));
                      return true;
                  },
              .answer_word =
                  [this](RelayTurn&, const Person& person, const PersonWord& word) {
                      words.emplace_back(person, word);
                      return std::string("Linked.");
                  },
              .meet =
                  [this](RelayTurn&, const Encounter& met) {
                      met_strangers.push_back(met);
                      return std::string("Send /link CODE.");
                  },
              .wish_for =
                  [this](RelayTurn&, const BotKey&, const std::string& user) {
                      return std::exchange(wishes[user], {});
                  },
              .move_chat =
                  [this](
                      RelayTurn&, const BotKey&, const ChatMove& move) { moves.push_back(move); },
              .bind_capability = [this](RelayTurn&, CapabilityDraft draft) -> Result<void> {
                  capabilities.push_back(std::move(draft));
                  return {};
              },
              .press = [this](RelayTurn& turn, const PressTry& press)
                  -> Result<std::optional<PressOutcome>> { return on_press(turn, press); },
              .notify =
                  [this](const BotKey&, const std::string& chat, std::string text) {
                      notices.emplace_back(chat, std::move(text));
                  },
              .is_own_bot = [](const std::string&,
                               const std::string& user) { return user == "our-bot"; },
          }),
          wake({.lane = lane, .state = state, .delivery = delivery, .caller = waker}),
          desk(
              {.lane = lane,
               .delivery = delivery,
               .clock = clock,
               .outbound = [this](RelayTurn&, const RelayDesk::Outbound& call) {
                   outbounds.push_back(call.frame);
               }}) {
        bus.subscribe([this](const RelayHint& hint) { delivery.take_hint(hint); });
        CHECK(lane.open().has_value());
        CHECK(state.load().has_value());
        CHECK(delivery.load().has_value());
        CHECK(media.load(clock.now()).has_value());
        wake.load(clock.now());
        lane.add_duty([this](RelayTurn& turn) { delivery.sweep(turn); });
        lane.add_duty([this](RelayTurn& turn) { wake.sweep(turn); });
        lane.add_duty([this](RelayTurn& turn) { media.sweep(turn); });
        lane.on_lost([this](const Error&) {
            delivery.close_all(kCloseTryLater, "lost");
            inbound.drop_waiting();
        });
    }

    // Does everything that waits, and what follows from it.
    void settle() {
        do {
            lane.run_round(std::chrono::microseconds(0));
        } while (lane.waiting() > 0 && !lane.is_lost());
    }
    // So much later, with the duties done.
    void pass(Duration span) {
        clock.advance(span);
        settle();
    }
    void run_blocking() {
        for (auto& job : std::exchange(blocking, {})) {
            job();
        }
        settle();
    }

    // Downloads the files that were asked for.
    void run_fetches() {
        for (auto& job : std::exchange(fetches, {})) {
            job();
        }
        settle();
    }

    void add_instance(const std::string& instance_id, const std::string& tenant = "t1") {
        CHECK(lane.submit([=, this](RelayTurn& turn) {
            InstanceRow row;
            row.instance_id = instance_id;
            row.tenant_id = TenantId::trusted(tenant);
            state.instances.put(turn, instance_id, row);
            GatewayRow gateway;
            gateway.gateway_id = "gw-" + instance_id;
            gateway.instance_id = instance_id;
            gateway.tenant_id = row.tenant_id;
            gateway.wake_url = "http://wake.example/" + instance_id;
            state.gateways.put(turn, gateway.gateway_id, gateway);
        }));
        settle();
    }
    void bind(
        const std::string& user, const std::string& instance_id, std::string platform = "local") {
        CHECK(lane.submit([=, this](RelayTurn& turn) {
            const InstanceRow* row = state.instances.get(instance_id);
            CHECK(row != nullptr);
            state.bind(
                turn,
                {.platform = platform,
                 .bot_id = "bot",
                 .user_id = user,
                 .instance_id = instance_id,
                 .tenant_id = row->tenant_id,
                 .user_name = {},
                 .made_by = "test",
                 .made_at = turn.now()});
        }));
        settle();
    }
    void change(const RelayWork& work) {
        CHECK(lane.submit(work));
        settle();
    }

    struct Gateway {
        RelaySessionPtr session;
        std::shared_ptr<RecordingSocket> socket;
    };
    Gateway dial(const std::string& instance_id) {
        Gateway gateway{std::make_shared<RelaySession>(), std::make_shared<RecordingSocket>()};
        const InstanceRow* row = state.instances.get(instance_id);
        gateway.session->caller = {
            row == nullptr ? TenantId() : row->tenant_id, instance_id, "gw-" + instance_id};
        gateway.session->socket = gateway.socket;
        CHECK(desk.open(gateway.session));
        settle();
        return gateway;
    }
    void say(const Gateway& gateway, GatewayFrame frame) {
        CHECK(desk.take(gateway.session, std::move(frame), [] {}));
        settle();
    }
    Gateway connect(const std::string& instance_id) {
        Gateway gateway = dial(instance_id);
        say(gateway, HelloFrame{"local", "bot", {}});
        return gateway;
    }
    void ack(const Gateway& gateway, const std::string& buffer_id) {
        say(gateway, InboundAckFrame{buffer_id});
    }
    void hang_up(const Gateway& gateway) {
        desk.closed(gateway.session);
        settle();
    }

    // A direct message of `user` to the bot, unless changed.
    static PlatformArrival message(const std::string& user, const std::string& id) {
        PlatformArrival arrival;
        arrival.bot = {"local", "bot"};
        arrival.event.event_id = id;
        arrival.event.is_dm = true;
        arrival.event.event.text = "text " + id;
        arrival.event.event.message_id = id;
        arrival.event.event.source.platform = "local";
        arrival.event.event.source.chat_id = "dm:" + user;
        arrival.event.event.source.chat_type = "dm";
        arrival.event.event.source.user_id = user;
        return arrival;
    }
    // Nothing while the answer has not come.
    std::shared_ptr<std::optional<InboxAnswer>> submit(PlatformArrival arrival) {
        auto answer = std::make_shared<std::optional<InboxAnswer>>();
        inbound.submit(std::move(arrival), [answer](InboxAnswer said) { *answer = said; });
        settle();
        return answer;
    }

    FakeClock clock;
    MemoryRelayStore store;
    RelayLane lane;
    LocalRelayBus bus;
    RelayState state;
    MemoryMediaFolder folder;
    WorkerPool workers{{.threads = 0, .waiting_max = 0}};
    FakeIdSource ids;
    std::map<BotKey, ChatPlatform*> platforms;
    std::vector<std::function<void()>> blocking;
    std::vector<std::function<void()>> fetches;
    bool is_fetcher_busy = false;
    RelayMedia media;
    RelayFiles files;
    RelayDelivery delivery;
    std::vector<std::pair<Person, PersonWord>> words;
    std::vector<Encounter> met_strangers;
    std::map<std::string, std::string> wishes;  // By user; told once.
    std::vector<ChatMove> moves;
    std::vector<CapabilityDraft> capabilities;
    std::vector<std::pair<std::string, std::string>> notices;
    std::vector<OutboundFrame> outbounds;
    std::function<Result<std::optional<PressOutcome>>(RelayTurn&, const PressTry&)> on_press =
        [](RelayTurn&, const PressTry&) -> Result<std::optional<PressOutcome>> {
        return std::optional<PressOutcome>();
    };
    RelayInbound inbound;
    RecordingWaker waker;
    RelayWake wake;
    RelayDesk desk;
};

}  // namespace interlock
