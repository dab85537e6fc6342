#include "engine/service/ledger_check.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "engine/memory/memory_ledger_store.h"
#include "engine/rules/tail_proof.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");
const TenantId kOther = TenantId::trusted("other");

// Of a folder whose first key is this one; each check walks its lineage anew.
KeyLineage& fresh_keys() {
    static KeyLineage keys("");
    keys = KeyLineage(ed25519_from_seed(std::string(32, 'k'))->public_key);
    return keys;
}

LedgerHead append(LedgerStore& store, const TenantId& tenant_id, int count) {
    ChainHead head;
    std::vector<TurnCommit> turns;
    for (int i = 1; i <= count; ++i) {
        AuditDraft draft;
        draft.tenant_id = tenant_id;
        draft.event = "PROBE";
        draft.decision_id = DecisionId::trusted("dec_" + std::to_string(i));
        draft.tick_id = TickId::trusted("-");
        draft.principal = "internal:test";
        draft.timestamp = FakeClock::kNoon;
        const SealedRecord sealed = *seal(head, draft);
        TurnCommit turn;
        turn.audit.push_back({tenant_id, head.seq, sealed.canonical, head.hash});
        turns.push_back(std::move(turn));
    }
    const HeadLine line{std::string(kLedgerBook), tenant_id, head};
    auto proofs = prove_tails({&line, 1}, 0, [](std::string_view text) {
        return ed25519_sign(*ed25519_from_seed(std::string(32, 'k')), text);
    });
    turns.back().proofs.push_back({tenant_id, std::move(proofs.front())});
    EXPECT_TRUE(store.commit(turns));
    return {head.seq, head.hash};
}

// A store whose disk cannot give one record back, as a damaged page would.
class DamagedStore final : public LedgerStore {
public:
    DamagedStore(LedgerStore& whole, std::int64_t bad_seq) : whole_(whole), bad_seq_(bad_seq) {}

    Result<std::vector<LedgerEntry>> read_ledger(
        const TenantId& tenant_id, std::int64_t after, std::int64_t count_max) override {
        if (after < bad_seq_ && after + count_max >= bad_seq_) {
            return fail(errors::corrupt_data, "a page is damaged");
        }
        return whole_.read_ledger(tenant_id, after, count_max);
    }
    Result<void> commit(std::span<const TurnCommit> turns) override { return whole_.commit(turns); }
    Result<std::optional<StoredState>> load_state(const std::string& key) override {
        return whole_.load_state(key);
    }
    Result<std::map<std::string, StoredState>> load_states(const std::string& prefix) override {
        return whole_.load_states(prefix);
    }
    Result<std::optional<StoredAnswer>> find_answer(const AnswerKey& key) override {
        return whole_.find_answer(key);
    }
    Result<std::optional<std::string>> find_claim(const std::string& name) override {
        return whole_.find_claim(name);
    }
    Result<std::int64_t> purge_answers(Timestamp now, std::int64_t count_max) override {
        return whole_.purge_answers(now, count_max);
    }
    Result<std::vector<OutboxItem>> load_outbox() override { return whole_.load_outbox(); }
    Result<std::vector<TimerItem>> load_timers() override { return whole_.load_timers(); }
    Result<std::map<TenantId, LedgerHead>> load_heads() override {
        return fail(errors::corrupt_data, "a page is damaged");
    }
    Result<LedgerHead> read_head(const TenantId& tenant_id) override {
        return whole_.read_head(tenant_id);
    }
    Result<std::vector<Checkpoint>> read_checkpoints(const TenantId& tenant_id) override {
        return whole_.read_checkpoints(tenant_id);
    }
    Result<std::optional<std::string>> read_artifact(
        const TenantId& tenant_id, const std::string& hash) override {
        return whole_.read_artifact(tenant_id, hash);
    }

private:
    LedgerStore& whole_;
    std::int64_t bad_seq_;
};

TEST(LedgerCheck, ReportsEveryChain) {
    MemoryLedgerStore store;
    const LedgerHead demo = append(store, kDemo, 3);
    append(store, kOther, 2);
    const auto reports = check_ledger(
        {.store = store, .mirror = {{kDemo, demo}}, .keys = fresh_keys(), .tenants = {}});
    ASSERT_TRUE(reports.has_value());
    ASSERT_EQ(reports->size(), 2u);
    EXPECT_EQ(reports->at(0).records, 3);
    EXPECT_FALSE(reports->at(0).fault.has_value());
    EXPECT_EQ(reports->at(1).records, 2);
    EXPECT_TRUE(reports->at(1).complete);
}

TEST(LedgerCheck, ReportsAChainThatOnlyTheHeadFileKnows) {
    MemoryLedgerStore store;
    append(store, kDemo, 1);
    const auto reports = check_ledger(
        {.store = store,
         .mirror = {{kOther, {7, std::string(64, 'a')}}},
         .keys = fresh_keys(),
         .tenants = {}});
    ASSERT_TRUE(reports.has_value());
    ASSERT_EQ(reports->size(), 2u);
    ASSERT_TRUE(reports->at(1).fault.has_value());
    EXPECT_EQ(reports->at(1).fault->reason, "truncated_tail");
    EXPECT_EQ(reports->at(1).fault->seq, 1);
}

TEST(LedgerCheck, FindsARewrittenChainThatHasOutgrownTheHeadFile) {
    MemoryLedgerStore store;
    append(store, kDemo, 5);
    const auto reports = check_ledger(
        {.store = store,
         .mirror = {{kDemo, {3, std::string(64, 'a')}}},
         .keys = fresh_keys(),
         .tenants = {}});
    ASSERT_TRUE(reports.has_value());
    ASSERT_TRUE(reports->at(0).fault.has_value());
    EXPECT_EQ(reports->at(0).fault->reason, "head_mismatch");
    EXPECT_EQ(reports->at(0).fault->seq, 3);
}

TEST(LedgerCheck, DoesNotVouchForATenantThatHasNoChain) {
    MemoryLedgerStore store;
    append(store, kDemo, 1);
    const auto reports = check_ledger(
        {.store = store,
         .mirror = {},
         .keys = fresh_keys(),
         .tenants = {TenantId::trusted("nobody")}});
    ASSERT_TRUE(reports.has_value());
    ASSERT_TRUE(reports->at(0).fault.has_value());
    EXPECT_EQ(reports->at(0).fault->reason, "missing_record");
    EXPECT_FALSE(reports->at(0).complete);
}

TEST(LedgerCheck, NamesTheFirstRecordThatCannotBeRead) {
    MemoryLedgerStore whole;
    const LedgerHead head = append(whole, kDemo, 9);
    DamagedStore store(whole, 6);
    const auto reports = check_ledger(
        {.store = store, .mirror = {{kDemo, head}}, .keys = fresh_keys(), .tenants = {}});
    ASSERT_TRUE(reports.has_value());
    ASSERT_TRUE(reports->at(0).fault.has_value());
    EXPECT_EQ(reports->at(0).fault->reason, "unreadable_record");
    EXPECT_EQ(reports->at(0).fault->seq, 6);
    EXPECT_EQ(reports->at(0).records, 5);
}

TEST(LedgerCheck, FailsWhenNobodyKnowsWhichChainsThereAre) {
    MemoryLedgerStore whole;
    DamagedStore store(whole, 1);
    const auto reports =
        check_ledger({.store = store, .mirror = {}, .keys = fresh_keys(), .tenants = {}});
    ASSERT_FALSE(reports.has_value());
    EXPECT_EQ(reports.error().code(), "corrupt_data");
}

TEST(LedgerCheck, TellsHowFarItGot) {
    MemoryLedgerStore store;
    append(store, kDemo, 3);
    std::int64_t seen = 0;
    const auto reports = check_ledger(
        {.store = store,
         .mirror = {},
         .keys = fresh_keys(),
         .tenants = {kDemo},
         .on_progress = [&](const TenantId&, std::int64_t seq) { seen = seq; }});
    ASSERT_TRUE(reports.has_value());
    EXPECT_EQ(seen, 3);
}

}  // namespace
}  // namespace interlock
