#include "sim/relay_server.h"

namespace interlock::sim {
namespace {

constexpr std::int64_t kPurgeRowsMax = 2000;

}  // namespace

RelayServer::RelayServer(Parts parts)
    : parts_(std::move(parts)),
      workers({.threads = 0, .waiting_max = 0}),
      lane(parts_.store, parts_.clock),
      state(parts_.store),
      holdings(state),
      strangers(state),
      management(
          {.lane = lane,
           .state = state,
           .holdings = holdings,
           .strangers = strangers,
           .ids = parts_.ids,
           .bot = [this](const BotKey& key) { return bot(key); },
           .bots = {},
           .run_blocking = [this](std::function<void()> job) { return run_later(std::move(job)); },
           .tenant_exists = {}}),
      people({.state = state, .management = management, .strangers = strangers}),
      seal({parts_.store, parts_.masters, parts_.ids, parts_.clock}),
      vault(state, seal),
      prompts(state),
      media({lane, state, parts_.folder, workers, parts_.ids}),
      egress(
          {.threads = 0},
          [this](Duration span) {
              parts_.pass_time(span);
              return true;
          }),
      files(
          {.lane = lane,
           .media = media,
           .platform = [this](const BotKey& key) { return bot(key); },
           .run_blocking = [this](std::function<void()> job) { return run_later(std::move(job)); },
           .look_again =
               [this](RelayTurn& turn, const std::string& instance_id) {
                   delivery.look_again(turn, instance_id);
               }}),
      delivery({
          .state = state,
          .clock = parts_.clock,
          .bus = parts_.bus,
          .descriptor =
              [this](const BotKey& key) {
                  const ChatPlatform* const platform = bot(key);
                  return platform == nullptr ? CapabilityDescriptor{} : platform->descriptor();
              },
          .bounds = kSimDeliveryBounds,
          .files = &files,
      }),
      inbound(inbound_parts()),
      outbound(
          {.lane = lane,
           .state = state,
           .vault = vault,
           .prompts = prompts,
           .egress = egress,
           .media = media,
           .clock = parts_.clock,
           .ids = parts_.ids,
           .platform = [this](const BotKey& key) { return bot(key); }}),
      wake({.lane = lane, .state = state, .delivery = delivery, .caller = parts_.waker}),
      desk(
          {.lane = lane,
           .delivery = delivery,
           .clock = parts_.clock,
           .outbound = [this](RelayTurn& turn, RelayDesk::Outbound call) {
               take_outbound(turn, std::move(call));
           }}) {
    parts_.bus.subscribe([this](const RelayHint& hint) { delivery.take_hint(hint); });
    lane.add_duty([this](RelayTurn& turn) { delivery.sweep(turn); });
    lane.add_duty([this](RelayTurn& turn) { wake.sweep(turn); });
    lane.add_duty([this](RelayTurn& turn) { strangers.sweep(turn); });
    lane.add_duty([this](RelayTurn& turn) {
        if (turn.now() >= next_purge_) {
            next_purge_ = turn.now() + Duration::of_seconds(10);
            CHECK(parts_.store.purge(turn.now(), kPurgeRowsMax).has_value());
        }
    });
    lane.on_lost([this](const Error&) {
        delivery.close_all(kCloseTryLater, "the store failed");
        inbound.drop_waiting();
    });
    CHECK(lane.open().has_value());
    CHECK(state.load().has_value());
    CHECK(holdings.load().has_value());
    strangers.load();
    CHECK(seal.load().has_value());
    CHECK(delivery.load().has_value());
    wake.load(parts_.clock.now());
    CHECK(vault.load(parts_.clock.now()).has_value());
    CHECK(media.load(parts_.clock.now()).has_value());
    lane.submit([this](RelayTurn& turn) { CHECK(outbound.recover(turn).has_value()); });
}

ChatPlatform* RelayServer::bot(const BotKey& key) const {
    const auto found = parts_.bots.find(key);
    return found == parts_.bots.end() ? nullptr : found->second;
}

bool RelayServer::run_later(std::function<void()> job) {
    if (jobs_.size() >= kSimFactJobsMax) {
        return false;
    }
    jobs_.push_back(std::move(job));
    return true;
}

RelayInbound::Parts RelayServer::inbound_parts() {
    return {
        .lane = lane,
        .state = state,
        .delivery = delivery,
        .platform = [this](const BotKey& key) { return bot(key); },
        .run_blocking = [this](std::function<void()> job) { return run_later(std::move(job)); },
        .answer_word =
            [this](RelayTurn& turn, const Person& person, const PersonWord& word) {
                return people.answer(turn, person, word);
            },
        .meet = [this](RelayTurn& turn, const Encounter& met) { return people.meet(turn, met); },
        .wish_for =
            [this](RelayTurn& turn, const BotKey& key, const std::string& user_id) {
                return people.wish_for(turn, key, user_id);
            },
        .move_chat = [](RelayTurn&, const BotKey&, const ChatMove&) {},
        .bind_capability =
            [this](RelayTurn& turn, CapabilityDraft draft) {
                return vault.bind(
                    turn,
                    {.tenant_id = std::move(draft.tenant_id),
                     .instance_id = std::move(draft.instance_id),
                     .bot = std::move(draft.bot),
                     .session_keys = std::move(draft.session_keys),
                     .kind = std::move(draft.kind),
                     .value = std::move(draft.value),
                     .chat_id = std::move(draft.chat_id),
                     .expires_at = draft.expires_at});
            },
        .press = [](RelayTurn&, const PressTry&) -> Result<std::optional<PressOutcome>> {
            return std::optional<PressOutcome>();
        },
        .notify = [](const BotKey&, const std::string&, const std::string&) {},
        .is_own_bot = [](const std::string&,
                         const std::string& user) { return user == kRelayOwnBotUser; },
    };
}

void RelayServer::take_outbound(RelayTurn& turn, RelayDesk::Outbound call) {
    const RelaySessionPtr session = call.session;
    const std::string request_id = call.frame.request_id;
    outbound.handle(
        turn,
        {.caller = session->caller,
         .identities = session->identities,
         .frame = std::move(call.frame),
         .received_at = call.received_at,
         .reply = [session, request_id](OutboundResult result) {
             session->socket->send_urgent(
                 encode_line(ConnectorFrame(OutboundResultFrame{request_id, std::move(result)})));
         }});
}

bool RelayServer::run_job() {
    if (jobs_.empty()) {
        return false;
    }
    const auto job = std::move(jobs_.front());
    jobs_.pop_front();
    job();
    return true;
}

}  // namespace interlock::sim
