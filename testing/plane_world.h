// A whole plane over a memory store, driven by hand: turns run when submitted, effects when asked.
// rebuild() is a restart: everything but the store, the flag and the sink is made anew.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/plane/plane.h"
#include "base/errors.h"
#include "engine/memory/held_seal_keys.h"
#include "engine/memory/held_segments.h"
#include "engine/memory/memory_head_log.h"
#include "engine/memory/memory_ledger_store.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"
#include "testing/inline_engine.h"
#include "testing/null_head_mirror.h"
#include "testing/null_turn_observer.h"

namespace interlock {

// A kill flag that a test raises by hand and that can fail.
class FakeKillFlag final : public KillFlag {
public:
    bool is_raised() override { return raised; }
    std::string reason() override { return why; }
    Result<void> raise(std::string_view text) override {
        raised = true;
        why = text;
        return {};
    }
    Result<void> lower() override {
        raised = false;
        return {};
    }
    bool raised = false;
    std::string why;
};

// Remembers what arrived, and fails as told.
class FakeSink final : public EffectSink {
public:
    Result<EffectReceipt> perform(const OutboxItem& effect) override {
        if (refuse) {
            return fail(errors::effect_refused, "The sink refused.");
        }
        performed.push_back(effect);
        if (lose_answer) {
            return fail(errors::timed_out, "The sink did not answer in time.");
        }
        return EffectReceipt{"receipt " + effect.effect_id.text()};
    }
    Result<std::optional<EffectReceipt>> find(const EffectId& effect_id) override {
        if (silent) {
            return fail(errors::unavailable, "The sink cannot be reached.");
        }
        for (const OutboxItem& effect : performed) {
            if (effect.effect_id == effect_id) {
                return std::optional(EffectReceipt{"found"});
            }
        }
        return std::optional<EffectReceipt>();
    }
    bool refuse = false;
    bool lose_answer = false;
    bool silent = false;
    std::vector<OutboxItem> performed;
};

// Passes on to a store until told to fail.
class BreakableStore final : public LedgerStore {
public:
    explicit BreakableStore(LedgerStore& inner) : inner_(inner) {}
    Result<void> commit(std::span<const TurnCommit> turns) override {
        ++commits;
        if (broken) {
            return fail(errors::io_failed, "The disk is gone.");
        }
        return inner_.commit(turns);
    }
    Result<std::optional<StoredState>> load_state(const std::string& key) override {
        return inner_.load_state(key);
    }
    Result<std::map<std::string, StoredState>> load_states(const std::string& prefix) override {
        return inner_.load_states(prefix);
    }
    Result<std::optional<StoredAnswer>> find_answer(const AnswerKey& key) override {
        return inner_.find_answer(key);
    }
    Result<std::optional<std::string>> find_claim(const std::string& name) override {
        return inner_.find_claim(name);
    }
    Result<std::int64_t> purge_answers(Timestamp now, std::int64_t count_max) override {
        return inner_.purge_answers(now, count_max);
    }
    Result<std::vector<OutboxItem>> load_outbox() override { return inner_.load_outbox(); }
    Result<std::vector<TimerItem>> load_timers() override { return inner_.load_timers(); }
    Result<std::map<TenantId, LedgerHead>> load_heads() override { return inner_.load_heads(); }
    Result<std::vector<LedgerEntry>> read_ledger(
        const TenantId& tenant_id, std::int64_t after, std::int64_t count_max) override {
        auto page = inner_.read_ledger(tenant_id, after, count_max);
        records_given += page ? std::ssize(*page) : 0;
        return page;
    }
    Result<LedgerHead> read_head(const TenantId& tenant_id) override {
        return inner_.read_head(tenant_id);
    }
    Result<std::vector<Checkpoint>> read_checkpoints(const TenantId& tenant_id) override {
        return inner_.read_checkpoints(tenant_id);
    }
    Result<std::optional<std::string>> read_artifact(
        const TenantId& tenant_id, const std::string& hash) override {
        return inner_.read_artifact(tenant_id, hash);
    }
    bool broken = false;
    int commits = 0;
    std::int64_t records_given = 0;  // By read_ledger.

private:
    LedgerStore& inner_;
};

// What a world that trades brings along; all of it outlives the plane.
struct PlaneVenues {
    const MarketFeed* feed = nullptr;
    LoopService::OnAccount on_account = nullptr;
    EffectSink* sink = nullptr;  // In front of the world's own; null: that one alone.
};

class PlaneWorld {
public:
    using OpenVenues = std::function<PlaneVenues(PlaneWorld&)>;
    explicit PlaneWorld(
        PlaneConfig config = {.two_person_rule = false, .has_sink = true},
        OpenVenues open_venues = nullptr)
        : config_(std::move(config)), open_venues_(std::move(open_venues)) {
        rebuild();
    }

    void rebuild() {
        engine.reset();
        plane.reset();
        ++life_;
        ids = std::make_unique<FakeIdSource>("life" + std::to_string(life_));
        waiting_effects.clear();
        const PlaneVenues venues = open_venues_ ? open_venues_(*this) : PlaneVenues{};
        plane = std::make_unique<Plane>(
            Plane::Parts{
                .store = store,
                .clock = clock,
                .ids = *ids,
                .mirror = mirror,
                .observer = observer,
                .sink = venues.sink == nullptr ? sink : *venues.sink,
                .flag = flag,
                .keys = keys,
                .head_log = head_log,
                .submit = [this](TurnRequest request) { submit(std::move(request)); },
                .dispatch =
                    [this](std::vector<OutboxItem> effects) {
                        for (OutboxItem& effect : effects) {
                            waiting_effects.push_back(std::move(effect));
                        }
                    },
                .feed = venues.feed,
                .on_account = venues.on_account,
                .segment_bytes = [this](
                                     const std::string&,
                                     const std::string& file) { return segments.bytes_of(file); }},
            config_);
        engine = std::make_unique<InlineEngine>(plane->runner);
        publish_directory();
        recovery = *plane->open();
    }

    void submit(TurnRequest request) { engine->submit_turn()(std::move(request)); }

    // Runs what waits in the outbox and records the outcomes.
    void run_effects() {
        for (OutboxItem& effect : std::exchange(waiting_effects, {})) {
            submit(plane->runner.outcome_turn(plane->outbox.run_one(effect)));
        }
    }

    // Two tenants; `demo` has `humans` people, `_system` one.
    void publish_directory() {
        auto snapshot = std::make_shared<PrincipalDirectory::Snapshot>();
        snapshot->humans = {
            {TenantId::trusted("demo"), humans},
            {TenantId::trusted("other"), 1},
            {system_tenant(), 1}};
        plane->directory.publish(snapshot);
    }

    static Principal agent(const std::string& tenant = "demo") {
        Principal principal;
        principal.kind = PrincipalKind::agent;
        principal.id = "key_" + tenant;
        principal.tenants = {TenantId::trusted(tenant)};
        principal.scopes = {all_scopes().begin(), all_scopes().end()};
        return principal;
    }
    Principal human(const std::string& id = "hum_1") {
        Principal principal;
        principal.kind = PrincipalKind::human;
        principal.id = id;
        principal.tenants = {TenantId::trusted("demo"), system_tenant()};
        principal.authenticated_at = clock.now();
        return principal;
    }

    // One probe, answered or not: nothing while it waits for its effect.
    std::optional<Result<Answer>> probe(
        const std::string& key, bool effect = false, bool wait = false, std::string note = "n") {
        const ProbeRequest request{
            .decision_id = DecisionId::trusted("dec_" + key),
            .tick_id = TickId::trusted("tick_1"),
            .idempotency_key = IdempotencyKey::trusted(key),
            .note = note,
            .effect = effect,
            .wait = wait};
        const auto answer = std::make_shared<std::optional<Result<Answer>>>();
        plane->probes.run(
            {agent(), TenantId::trusted("demo"), note}, request, [answer](Result<Answer> result) {
                *answer = std::move(result);
            });
        last_answer = answer;
        return *answer;
    }

    std::vector<std::string> events(const std::string& tenant = "demo") {
        std::vector<std::string> events;
        const auto records = *plane->ledger.read(TenantId::trusted(tenant), 0, 1000);
        for (const AuditRecord& record : records) {
            events.push_back(record.draft.event);
        }
        return events;
    }

    HeldSealKeys keys{std::string(32, 's')};
    MemoryHeadLog head_log;
    FakeClock clock;
    std::unique_ptr<FakeIdSource> ids;
    HeldSegments segments;
    MemoryLedgerStore memory;
    BreakableStore store{memory};
    NullHeadMirror mirror;
    NullTurnObserver observer;
    FakeSink sink;
    FakeKillFlag flag;
    std::int64_t humans = 1;
    std::unique_ptr<Plane> plane;
    std::unique_ptr<InlineEngine> engine;
    Plane::Recovery recovery;
    std::vector<OutboxItem> waiting_effects;
    std::shared_ptr<std::optional<Result<Answer>>> last_answer;

private:
    PlaneConfig config_;
    OpenVenues open_venues_;
    int life_ = 0;
};

}  // namespace interlock
