#include "relay/service/relay_plane.h"

#include <algorithm>

#include "base/check.h"
#include "base/errors.h"
#include "base/log.h"

namespace interlock {
namespace {

constexpr std::int64_t kPurgeRowsMax = 2000;
constexpr Duration kPurgePeriod = Duration::of_seconds(10);
constexpr Duration kMetricsPeriod = Duration::of_seconds(5);

std::string_view label_of(std::string_view platform) {
    return platform.empty() ? std::string_view("relay") : platform;
}

}  // namespace

CapabilityDescriptor generic_descriptor(const BotKey& bot) {
    CapabilityDescriptor descriptor;
    descriptor.platform = bot.platform.empty() ? "relay" : bot.platform;
    descriptor.label = label_of(bot.platform);
    return descriptor;
}

RelayPlane::RelayPlane(Parts parts)
    : parts_(std::move(parts)),
      workers(parts_.workers),
      fetchers(parts_.fetchers),
      lane(parts_.store, parts_.clock, parts_.lane),
      state(parts_.store),
      seal({parts_.store, parts_.masters, parts_.ids, parts_.clock}),
      holdings(state),
      strangers(state),
      issuers({parts_.issuers, parts_.fetch_keys, workers, parts_.clock}),
      credentials(
          {.lane = lane,
           .state = state,
           .holdings = holdings,
           .seal = seal,
           .issuers = issuers,
           .ids = parts_.ids,
           .clock = parts_.clock,
           .tenant_exists = parts_.tenant_exists,
           .judge_url =
               [this](std::string url, std::function<void(Result<void>)> done) {
                   const auto judge = [this, url = std::move(url), done] {
                       done(parts_.waker.judge(url));
                   };
                   if (!workers.try_run(judge)) {
                       done(fail(errors::overloaded, "Too many URLs wait to be looked up."));
                   }
               }},
          {.drop_instance =
               [this](RelayTurn& turn, const std::string& instance_id) {
                   delivery.drop_instance(turn, instance_id);
               },
           .publish = [this](const RelayHint& hint) { parts_.bus.publish(hint); }}),
      management(
          {.lane = lane,
           .state = state,
           .holdings = holdings,
           .strangers = strangers,
           .ids = parts_.ids,
           .bot = [this](const BotKey& key) { return bot(key); },
           .bots =
               [this] {
                   std::vector<BotKey> keys;
                   for (const auto& [key, platform] : bots_) {
                       keys.push_back(key);
                   }
                   return keys;
               },
           .run_blocking =
               [this](std::function<void()> job) { return workers.try_run(std::move(job)); },
           .tenant_exists = parts_.tenant_exists}),
      people(
          {.state = state,
           .management = management,
           .strangers = strangers,
           .answers_strangers =
               [this](const BotKey& key) { return !parts_.silent_to_strangers.contains(key); }}),
      vault(state, seal),
      prompts(state),
      media({lane, state, parts_.media, workers, parts_.ids}),
      egress(parts_.egress),
      files(
          {.lane = lane,
           .media = media,
           .platform = [this](const BotKey& key) { return bot(key); },
           .run_blocking =
               [this](std::function<void()> job) { return fetchers.try_run(std::move(job)); },
           .look_again =
               [this](RelayTurn& turn, const std::string& instance_id) {
                   delivery.look_again(turn, instance_id);
               }}),
      delivery({
          .state = state,
          .clock = parts_.clock,
          .bus = parts_.bus,
          .descriptor = [this](const BotKey& key) { return descriptor_of(key); },
          .is_open = [this](const std::string& id) { return credentials.is_open(id); },
          .bounds = parts_.delivery,
          .files = &files,
      }),
      inbound({
          .lane = lane,
          .state = state,
          .delivery = delivery,
          .platform = [this](const BotKey& key) { return bot(key); },
          .run_blocking =
              [this](std::function<void()> job) { return workers.try_run(std::move(job)); },
          .answer_word =
              [this](RelayTurn& turn, const Person& person, const PersonWord& word) {
                  return people.answer(turn, person, word);
              },
          .meet = [this](RelayTurn& turn, const Encounter& met) { return people.meet(turn, met); },
          .wish_for =
              [this](RelayTurn& turn, const BotKey& key, const std::string& user_id) {
                  return people.wish_for(turn, key, user_id);
              },
          .move_chat =
              [this](RelayTurn& turn, const BotKey& key, const ChatMove& move) {
                  management.move_chat(turn, key, move);
              },
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
          .press = [this](RelayTurn& turn, const PressTry& tried) { return press(turn, tried); },
          .notify =
              [this](const BotKey& key, const std::string& chat_id, std::string text) {
                  outbound.notify(
                      {.bot = key, .chat_id = chat_id, .thread_id = {}, .text = std::move(text)});
              },
          .is_own_bot = [this](
                            const std::string& platform,
                            const std::string& user_id) { return is_own_bot(platform, user_id); },
      }),
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
           .outbound =
               [this](RelayTurn& turn, RelayDesk::Outbound call) {
                   const RelaySessionPtr session = call.session;
                   const std::string request_id = call.frame.request_id;
                   outbound.handle(
                       turn,
                       {.caller = session->caller,
                        .identities = session->identities,
                        .frame = std::move(call.frame),
                        .received_at = call.received_at,
                        .reply = [session, request_id](OutboundResult result) {
                            session->socket->send_urgent(encode_line(ConnectorFrame(
                                OutboundResultFrame{request_id, std::move(result)})));
                        }});
               }}),
      hearing({.clock = parts_.clock, .inbound = inbound, .bots = parts_.bots}),
      views(
          {.lane = lane,
           .state = state,
           .delivery = delivery,
           .inbound = inbound,
           .outbound = outbound,
           .wake = wake,
           .files = files,
           .hearing = hearing}),
      alerts({.lane = lane, .state = state, .clock = parts_.clock}) {
    inbound.set_require_address(parts_.require_address);
    for (ChatPlatform* platform : parts_.bots) {
        CHECK(bots_.emplace(platform->bot(), platform).second);
    }
    parts_.bus.subscribe([this](const RelayHint& hint) {
        if (lane.runs_here()) {
            delivery.take_hint(hint);
        } else {
            lane.submit_internal([this, hint](RelayTurn&) { delivery.take_hint(hint); });
        }
    });
    lane.add_duty([this](RelayTurn& turn) { delivery.sweep(turn); });
    lane.add_duty([this](RelayTurn& turn) { wake.sweep(turn); });
    lane.add_duty([this](RelayTurn& turn) { hearing.sweep(turn); });
    lane.add_duty([this](RelayTurn& turn) { strangers.sweep(turn); });
    lane.add_duty([this](RelayTurn& turn) {
        if (turn.now() < next_purge_) {
            return;
        }
        next_purge_ = turn.now() + kPurgePeriod;
        if (const auto purged = parts_.store.purge(turn.now(), kPurgeRowsMax); !purged) {
            log_error("relay_purge_failed", {{"message", purged.error().message}});
        }
    });
    lane.add_duty([this](RelayTurn& turn) {
        if (turn.now() >= next_metrics_) {
            next_metrics_ = turn.now() + kMetricsPeriod;
            metrics_.store(std::make_shared<const std::string>(views.metrics_text()));
        }
    });
    lane.on_lost([this](const Error&) {
        delivery.close_all(kCloseTryLater, "the connector's store failed");
        inbound.drop_waiting();
    });
}

RelayPlane::~RelayPlane() {
    stop();
}

ChatPlatform* RelayPlane::bot(const BotKey& key) const {
    const auto found = bots_.find(key);
    return found == bots_.end() ? nullptr : found->second;
}

std::string RelayPlane::metrics_text() const {
    const auto text = metrics_.load();
    return text == nullptr ? std::string() : *text;
}

CapabilityDescriptor RelayPlane::descriptor_of(const BotKey& key) const {
    const ChatPlatform* platform = bot(key);
    return platform == nullptr ? generic_descriptor(key) : platform->descriptor();
}

bool RelayPlane::is_own_bot(const std::string& platform, const std::string& user_id) const {
    return std::ranges::any_of(bots_, [&](const auto& held) {
        return held.first.platform == platform && held.second->identity().bot_id == user_id;
    });
}

// A press counts only where its user may be heard by whoever asked.
Result<std::optional<PressOutcome>> RelayPlane::press(RelayTurn& turn, const PressTry& tried) {
    const auto pressed = prompts.press(
        turn,
        {.bot = tried.bot,
         .chat_id = tried.chat_id,
         .user_id = tried.user_id,
         .allowed = tried.allowed},
        tried.response);
    if (!pressed) {
        return std::optional<PressOutcome>();
    }
    return std::optional(PressOutcome{
        .instance_id = pressed->instance_id,
        .response = pressed->response,
        .is_first = pressed->verdict == PromptPress::Verdict::first});
}

Result<void> RelayPlane::open() {
    TRY(lane.open());
    TRY(state.load());
    TRY(seal.load());
    TRY(holdings.load());
    strangers.load();
    TRY(credentials.load());
    TRY(delivery.load());
    wake.load(parts_.clock.now());
    TRY(vault.load(parts_.clock.now()));
    TRY(media.load(parts_.clock.now()));
    lane.submit([this](RelayTurn& turn) { management.adopt_links(turn); });
    lane.submit([this](RelayTurn& turn) {
        if (const auto recovered = outbound.recover(turn); !recovered) {
            log_error("relay_recovery_failed", {{"message", recovered.error().message}});
        }
    });
    is_open_.store(true);
    return {};
}

void RelayPlane::start() {
    std::map<BotKey, std::string> cursors;  // Read before the lane may change them.
    for (const auto& [key, platform] : bots_) {
        const CursorRow* row = state.cursors.get(row_key({key.platform, key.bot_id}));
        cursors[key] = row == nullptr ? std::string() : row->cursor;
    }
    issuers.prefetch();
    lane.start();
    for (const auto& [key, platform] : bots_) {
        platform->start(inbound, std::move(cursors[key]));
    }
}

void RelayPlane::stop() {
    if (std::exchange(has_stopped_, true)) {
        return;
    }
    is_open_.store(false);
    for (const auto& [key, platform] : bots_) {
        platform->stop();
    }
    egress.stop();
    workers.stop();
    fetchers.stop();
    lane.stop();
    inbound.drop_waiting();
}

}  // namespace interlock
