// The relay's outbound side whole, in memory: a lane that a test drives, platforms that it scripts,
// two tenants with a chat each, and restarts that keep only what was committed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "host/memory/held_master_keys.h"
#include "relay/memory/memory_media_folder.h"
#include "relay/memory/memory_relay_store.h"
#include "relay/service/relay_outbound.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"
#include "testing/scripted_platform.h"

namespace interlock {

class OutboundDesk {
public:
    // What one run of the process holds.
    struct Process {
        Process(OutboundDesk& desk, RelayEgress::Bounds bounds)
            : lane(*desk.store, desk.clock),
              state(*desk.store),
              seal({*desk.store, desk.masters, *desk.ids, desk.clock}),
              vault(state, seal),
              prompts(state),
              egress(
                  bounds,
                  [&desk](Duration span) {
                      desk.clock.advance(span);
                      return true;
                  }),
              workers({.threads = 0, .waiting_max = 0}),
              media({lane, state, desk.folder, workers, *desk.ids}),
              outbound(
                  {.lane = lane,
                   .state = state,
                   .vault = vault,
                   .prompts = prompts,
                   .egress = egress,
                   .media = media,
                   .clock = desk.clock,
                   .ids = *desk.ids,
                   .platform = [&desk](const BotKey& bot) { return desk.platform_of(bot); }}) {
            CHECK(lane.open().has_value());
            CHECK(state.load().has_value());
            CHECK(seal.load().has_value());
            CHECK(vault.load(desk.clock.now()).has_value());
            CHECK(media.load(desk.clock.now()).has_value());
            lane.submit_internal(
                [this](RelayTurn& turn) { CHECK(outbound.recover(turn).has_value()); });
            lane.run_round(std::chrono::microseconds(0));
        }

        RelayLane lane;
        RelayState state;
        RelaySeal seal;
        RelayVault vault;
        RelayPrompts prompts;
        RelayEgress egress;
        WorkerPool workers;
        RelayMedia media;
        RelayOutbound outbound;
    };

    explicit OutboundDesk(RelayEgress::Bounds bounds = {.threads = 0}) : bounds_(bounds) {
        restart();
        route("G1", "acme");
        route("G2", "rival");
        add_chat("c1", "G1", "acme", {"i1"});
        add_chat("c2", "G2", "rival", {"x1"});
    }

    // As after a crash: only what was committed is there.
    void restart() {
        process.reset();
        store = std::make_unique<MemoryRelayStore>(
            store ? store->take_contents() : MemoryRelayContents{});
        ids = std::make_unique<FakeIdSource>("run" + std::to_string(++runs_));
        process = std::make_unique<Process>(*this, bounds_);
    }

    ChatPlatform* platform_of(const BotKey& bot) {
        return bot == discord.bot() ? &discord : bot == telegram.bot() ? &telegram : nullptr;
    }

    // Work on the lane, committed.
    template <class Work>
    void change(Work work) {
        process->lane.submit([&work](RelayTurn& turn) { work(turn); });
        step();
    }
    bool step() { return process->lane.run_round(std::chrono::microseconds(0)); }
    // Until nothing waits any more.
    void run() {
        do {
            step();
        } while (process->egress.run_one() || process->lane.waiting() > 0);
    }

    void route(const std::string& discriminator, const std::string& tenant) {
        change([&](RelayTurn& turn) {
            process->state.routes.put(
                turn,
                row_key({"discord", "b1", discriminator}),
                {"discord", "b1", discriminator, TenantId::trusted(tenant), turn.now()});
        });
    }
    void add_chat(
        const std::string& chat_id,
        const std::string& guild,
        const std::string& tenant,
        std::vector<std::string> delivered_to) {
        ChatRow row;
        row.platform = "discord";
        row.bot_id = "b1";
        row.chat_id = chat_id;
        row.tenant_id = TenantId::trusted(tenant);
        row.guild_id = guild;
        row.chat_type = "group";
        row.name = "room " + chat_id;
        row.delivered_to = std::move(delivered_to);
        put_chat(std::move(row));
    }
    void put_chat(ChatRow row) {
        change([&](RelayTurn& turn) {
            const std::string key = row_key({row.platform, row.bot_id, row.chat_id});
            process->state.chats.put(turn, key, row);
        });
    }

    static RelayCaller caller(const std::string& instance = "i1") {
        const bool is_rival = instance.starts_with("x");
        return {TenantId::trusted(is_rival ? "rival" : "acme"), instance, "gw-" + instance};
    }
    static SendAction send_action(const std::string& chat_id, const std::string& text) {
        return {.chat_id = chat_id, .content = text, .reply_to = {}, .metadata = Json::object()};
    }

    struct Answer {
        std::vector<OutboundResult> results;  // One, if all is well.
        bool is_there() const { return results.size() == 1; }
        const OutboundResult& value() const {
            CHECK(is_there());
            return results.front();
        }
    };
    using AnswerPtr = std::shared_ptr<Answer>;

    OutboundRequest request(RelayAction action, const AnswerPtr& answer) const {
        OutboundRequest made;
        made.caller = caller();
        made.identities = {{"discord", "b1"}, {"telegram", "b2"}};
        made.frame.request_id = "r1";
        made.frame.action = std::move(action);
        made.received_at = FakeClock::kNoon;
        made.reply = [answer](OutboundResult result) {
            answer->results.push_back(std::move(result));
        };
        return made;
    }
    // Asks and leaves it there.
    AnswerPtr begin(RelayAction action, const std::string& instance = "i1") {
        const auto answer = std::make_shared<Answer>();
        OutboundRequest made = request(std::move(action), answer);
        made.caller = caller(instance);
        made.received_at = clock.now();
        begin(std::move(made));
        return answer;
    }
    void begin(OutboundRequest made) {
        const auto held = std::make_shared<OutboundRequest>(std::move(made));
        process->lane.submit(
            [this, held](RelayTurn& turn) { process->outbound.handle(turn, std::move(*held)); });
    }
    // Asks and runs until it is done.
    OutboundResult ask(RelayAction action, const std::string& instance = "i1") {
        const AnswerPtr answer = begin(std::move(action), instance);
        run();
        return answer->value();
    }

    std::vector<OutboundRow> log(const OutboundFilter& filter = {}) {
        return process->outbound.list(filter).value().rows;
    }
    // Events of a tenant's chain, oldest first.
    std::vector<std::string> events(const std::string& tenant = "acme") {
        std::vector<std::string> names;
        for (const AuditRecord& record : records(tenant)) {
            names.push_back(record.draft.event);
        }
        return names;
    }
    std::vector<AuditRecord> records(const std::string& tenant = "acme") {
        std::vector<AuditRecord> made;
        const auto entries =
            store->ledger().read_ledger(TenantId::trusted(tenant), 0, 100'000).value();
        for (const LedgerEntry& entry : entries) {
            made.push_back(decode_audit_record(parse_json(entry.canonical_json).value()).value());
        }
        return made;
    }

    FakeClock clock;
    HeldMasterKeys masters{
        MasterRing{SecretString(std::string(kMasterKeyBytes, 'k')), std::nullopt}};
    MemoryMediaFolder folder;
    ScriptedPlatform discord{{"discord", "b1"}};
    ScriptedPlatform telegram{{"telegram", "b2"}};
    std::unique_ptr<MemoryRelayStore> store;
    std::unique_ptr<FakeIdSource> ids;
    std::unique_ptr<Process> process;

private:
    const RelayEgress::Bounds bounds_;
    int runs_ = 0;
};

}  // namespace interlock
