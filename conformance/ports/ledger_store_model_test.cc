// Random batches, legal and illegal, against the memory and SQLite stores: both must give the same
// answer to each and hold the same afterwards. The memory store is the model.
#include <rapidcheck.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ledger_store_kinds.h"

namespace interlock {

namespace {

using ledger_store_suite::answer;
using ledger_store_suite::answer_key;
using ledger_store_suite::effect;
using ledger_store_suite::entry;
using ledger_store_suite::kAlice;
using ledger_store_suite::kBob;
using ledger_store_suite::kNoon;
using ledger_store_suite::timer;
using ledger_store_suite::value_of;

// Few names, so that random writes meet.
std::string pick(const std::string& prefix, std::uint32_t dice) {
    return prefix + std::to_string(dice % 4);
}

// Draws turns that are legal more often than not: versions and sequence numbers mostly continue
// what the store and the turns before in the batch hold.
class TurnDrawer {
public:
    TurnDrawer(LedgerStore& store, std::vector<std::uint32_t> dice)
        : store_(store), dice_(std::move(dice)) {}

    std::vector<TurnCommit> draw_batch() {
        std::vector<TurnCommit> turns(1 + roll() % 3);
        for (TurnCommit& turn : turns) {
            for (std::uint32_t writes = roll() % 4; writes > 0; --writes) {
                add_write(turn);
            }
        }
        return turns;
    }

private:
    std::uint32_t roll() { return next_ < dice_.size() ? dice_[next_++] : 0; }

    void add_write(TurnCommit& turn) {
        switch (roll() % 8) {
            case 0:
                return add_state(turn);
            case 1:
            case 2:
                return add_entry(turn);
            case 3:
                return add_answer(turn);
            case 4:
                return add_effect(turn);
            case 5:
                turn.timers.push_back(
                    timer(pick("tmr_", roll()), kNoon + Duration{std::int64_t{roll() % 5}}));
                return;
            case 6:
                turn.timers_finished.push_back(TimerId::trusted(pick("tmr_", roll())));
                return;
            default:
                turn.artifacts.push_back({kAlice, pick("hash_", roll()), "bytes"});
                turn.checkpoints.push_back(
                    {kBob, std::int64_t{roll() % 6}, pick("h", roll()), kNoon, "s"});
        }
    }

    void add_state(TurnCommit& turn) {
        const std::string key = pick("m/", roll());
        const auto stored = store_.load_state(key).value();
        std::int64_t& version =
            versions_.try_emplace(key, stored ? stored->version : 0).first->second;
        const bool stale = roll() % 12 == 0;
        turn.states.push_back({key, stale ? version + 1 : version, pick("json", roll())});
        ++version;
    }

    void add_entry(TurnCommit& turn) {
        const TenantId& tenant_id = roll() % 2 == 0 ? kAlice : kBob;
        std::int64_t& seq =
            seqs_.try_emplace(tenant_id, store_.read_head(tenant_id).value().seq).first->second;
        seq += roll() % 15 == 0 ? 0 : 1;
        turn.audit.push_back(entry(tenant_id, seq));
    }

    void add_answer(TurnCommit& turn) {
        const std::string key = pick("key", roll());
        AnswerWrite write = answer(key, std::nullopt);
        if (roll() % 2 == 0) {
            write.answer.body = pick("body", roll());
        }
        if (roll() % 2 == 0) {
            write.answer.expires_at = kNoon + Duration{std::int64_t{roll() % 4}};
        }
        const auto stored = store_.find_answer(write.key).value();
        write.completes = stored.has_value() && !stored->body;
        turn.answers.push_back(write);
    }

    void add_effect(TurnCommit& turn) {
        const std::string id = pick("eff_", roll());
        switch (roll() % 3) {
            case 0:
                turn.outbox.push_back(effect(id));
                return;
            case 1:
                turn.outbox_unknown.push_back(EffectId::trusted(id));
                return;
            default:
                turn.outbox_finished.push_back(EffectId::trusted(id));
        }
    }

    LedgerStore& store_;
    std::vector<std::uint32_t> dice_;
    std::size_t next_ = 0;
    std::map<std::string, std::int64_t> versions_;
    std::map<TenantId, std::int64_t> seqs_;
};

// Everything a caller can see, as text.
std::string contents_of(LedgerStore& store) {
    std::string all;
    const auto add = [&all](const auto&... parts) { ((all += parts, all += '|'), ...); };
    for (const auto& [key, state] : value_of(store.load_states(""))) {
        add(key, std::to_string(state.version), state.json);
    }
    for (const auto& [tenant_id, head] : value_of(store.load_heads())) {
        add(tenant_id.text(), std::to_string(head.seq), head.hash);
    }
    for (const TenantId& tenant_id : {kAlice, kBob}) {
        add("chain", store.read_head(tenant_id).value().hash);
        for (const LedgerEntry& item : value_of(store.read_ledger(tenant_id, 0, 10'000))) {
            add(std::to_string(item.seq), item.canonical_json, item.hash);
        }
        for (const Checkpoint& item : value_of(store.read_checkpoints(tenant_id))) {
            add(std::to_string(item.seq), item.hash, item.signature);
        }
    }
    for (const OutboxItem& item : value_of(store.load_outbox())) {
        add(item.effect_id.text(), item.state == OutboxState::unknown ? "unknown" : "pending");
    }
    for (const TimerItem& item : value_of(store.load_timers())) {
        add(item.timer_id.text(), std::to_string(item.due_at.microseconds));
    }
    for (std::uint32_t n = 0; n < 4; ++n) {
        const auto found = store.find_answer(answer_key(pick("key", n))).value();
        add("answer", found ? found->body.value_or("running") : "none");
        if (found && found->expires_at) {
            add(std::to_string(found->expires_at->microseconds));
        }
        add("artifact", store.read_artifact(kAlice, pick("hash_", n)).value().value_or("none"));
    }
    return all;
}

struct Tally {
    int taken = 0;
    int refused = 0;
};

void check_same(LedgerStoreHarness& model, LedgerStoreHarness& subject, Tally& tally) {
    constexpr int kBatchesMax = 12;  // Each is a sync of the disk; a hundred cases run.
    const auto batches = *rc::gen::resize(
        kBatchesMax,
        rc::gen::container<std::vector<std::vector<std::uint32_t>>>(
            rc::gen::container<std::vector<std::uint32_t>>(
                40, rc::gen::resize(100, rc::gen::arbitrary<std::uint32_t>()))));
    for (const std::vector<std::uint32_t>& dice : batches) {
        const std::vector<TurnCommit> turns = TurnDrawer(model.store(), dice).draw_batch();
        const Result<void> expected = model.store().commit(turns);
        const Result<void> got = subject.store().commit(turns);
        RC_ASSERT(got.has_value() == expected.has_value());
        if (!expected) {
            RC_ASSERT(got.error().code() == expected.error().code());
        }
        ++(expected ? tally.taken : tally.refused);
        if (dice.front() % 5 == 0) {
            const Timestamp now = kNoon + Duration{std::int64_t{dice.back() % 5}};
            const std::int64_t bound = dice.back() % 3;
            RC_ASSERT(
                subject.store().purge_answers(now, bound).value() ==
                model.store().purge_answers(now, bound).value());
        }
        if (dice.front() % 11 == 0) {
            subject.reopen();
        }
        RC_ASSERT(contents_of(subject.store()) == contents_of(model.store()));
    }
}

TEST(LedgerStoreModel, MemoryAndSqliteHoldTheSameAfterAnyBatches) {
    Tally tally;
    EXPECT_TRUE(rc::check([&tally] {
        MemoryStoreHarness model;
        SqliteStoreHarness subject(false);
        check_same(model, subject, tally);
    }));
    // Without both kinds of batch the property would say little.
    EXPECT_GT(tally.taken, 30);
    EXPECT_GT(tally.refused, 30);
}

}  // namespace

}  // namespace interlock
