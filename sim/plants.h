// Mistakes put in on purpose, to prove that the simulator can fail. Each breaks one promise in the
// wiring around the production code, or through a wrapper; production knows nothing of them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "engine/memory/memory_ledger_store.h"
#include "engine/ports/effect_sink.h"
#include "engine/ports/forwarding_store.h"
#include "sim/command.h"
#include "sim/power.h"
#include "sim/world.h"

namespace interlock::sim {

enum class Plant {
    none,
    act_before_commit,
    drop_head,
    forget_answer,
    resend_unknown,
    latch_ignored,
    release_without_human,
    cross_tenant_answer,
    torn_batch,
    ack_before_sync,
    reuse_seq,
    trust_unreadable_flag,
    agent_approves,
    lose_reply,
    skip_gate,
    lose_fill,
    double_fee,
    forget_kill,
    reuse_order_id,
    drop_worst_case,
    loosen_limits,
    keep_secret,
    hand_over_early,
    keep_switching,
    apply_again,
    drop_refusal,
    tick_observer,
    forget_pause,
    forget_claim,
    forget_running,
    take_liquidity,
    forget_inventory,
    forget_stop,
    forget_bot,
    sweep_at_start,
    plan_while_looking,
    act_unasked,
    agent_applies,
    keep_version,
    forget_folds,
    trust_tampered,
    forget_break,
    archive_too_much,
    blur_touch,
    shut_exit,
    skip_book,
    forget_blocked,
    show_trading,
};

struct PlantInfo {
    Plant plant;
    std::string_view name;
    std::string_view does;        // One sentence.
    std::string_view invariants;  // Those that may be the first to notice, separated by spaces.
    // Which store it is about; nothing: both.
    enum class Store { any, memory, disk } store = Store::any;
    bool needs_venue = false;   // It shows only where there is something to trade.
    bool needs_trader = false;  // It shows only where strategies are supervised.
    bool needs_bots = false;    // It shows only where there are maker bots.
};
std::span<const PlantInfo> all_plants();
std::optional<Plant> find_plant(std::string_view name);
const PlantInfo& info_of(Plant plant);

// The mistakes that lie between the plane and its store.
class PlantedStore final : public ForwardingStore {
public:
    struct Parts {
        LedgerStore& inner;
        Plant plant = Plant::none;
        Power& power;
        const People& people;
        EffectSink& sink;
    };
    explicit PlantedStore(Parts parts) : ForwardingStore(parts.inner), parts_(parts) {}

    Result<void> commit(std::span<const TurnCommit> turns) override;
    Result<std::optional<StoredAnswer>> find_answer(const AnswerKey& key) override;
    Result<std::vector<std::optional<StoredAnswer>>> find_answers(
        std::span<const AnswerKey> keys) override;

private:
    Parts parts_;
    std::uint64_t batches_ = 0;
};

// The plant resend_unknown: no answer, so it asks again.
class ResendingSink final : public EffectSink {
public:
    explicit ResendingSink(EffectSink& inner) : inner_(inner) {}
    Result<EffectReceipt> perform(const OutboxItem& effect) override;
    Result<std::optional<EffectReceipt>> find(const EffectId& effect_id) override {
        return inner_.find(effect_id);
    }

private:
    EffectSink& inner_;
};

// The plant trust_unreadable_flag: a KILL file that cannot be read counts as none.
class TrustingFlag final : public KillFlag {
public:
    explicit TrustingFlag(FlagModel& inner) : inner_(inner) {}
    bool is_raised() override { return inner_.file_is_there(); }
    std::string reason() override { return inner_.reason(); }
    Result<void> raise(std::string_view reason) override { return inner_.raise(reason); }
    Result<void> lower() override { return inner_.lower(); }

private:
    FlagModel& inner_;
};

// The mistakes a restart makes with what it finds (drop_head, reuse_seq); memory store only.
void spoil_at_restart(Plant plant, MemoryLedgerContents& contents, MirrorModel& mirror);

}  // namespace interlock::sim
