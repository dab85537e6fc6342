// The relay's chains are signed, mirrored and walked as the ledger's are.
#include "relay/service/relay_chains.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/crypto.h"
#include "engine/memory/held_seal_keys.h"
#include "engine/wire/chain_bounds.h"
#include "relay/memory/memory_relay_store.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

const TenantId kAlice = TenantId::trusted("alice");
const TenantId kBob = TenantId::trusted("bob");

class MemoryHeadMirror final : public HeadMirror {
public:
    void publish(const std::map<TenantId, LedgerHead>& changed) override {
        for (const auto& [tenant_id, head] : changed) {
            heads_[tenant_id] = head;
        }
    }
    Result<std::map<TenantId, LedgerHead>> load() override { return heads_; }

private:
    std::map<TenantId, LedgerHead> heads_;
};

// One process with its lane; the store and the mirror outlive it.
struct Life {
    Life(MemoryRelayStore& store, FakeClock& clock, HeadMirror& mirror, SealKeys& keys)
        : lane(store, clock), chains({.lane = lane, .mirror = mirror, .keys = keys}) {
        EXPECT_TRUE(lane.open().has_value());
    }
    void append(const TenantId& tenant_id, int count) {
        lane.submit([=](RelayTurn& turn) {
            for (int i = 0; i < count; ++i) {
                turn.audit(relay_draft(tenant_id, "RELAY_TEST", "internal:relay"));
            }
        });
        round();
    }
    void round() { lane.run_round(std::chrono::microseconds(0)); }

    RelayLane lane;
    RelayChains chains;
};

struct RelayChainsTest : testing::Test {
    std::vector<Checkpoint> points(const TenantId& tenant_id) {
        return store.ledger().read_checkpoints(tenant_id).value();
    }
    std::vector<ChainReport> reports_of_a_start() {
        Life life(store, clock, mirror, keys);
        return life.chains.open(store.ledger(), {}, known()).value();
    }
    RelayChains::Known known() const { return {.keys = KeyLineage(keys.first_public_key())}; }
    FakeClock clock;
    MemoryRelayStore store;
    MemoryHeadMirror mirror;
    HeldSealKeys keys{std::string(32, 'k')};
};

TEST_F(RelayChainsTest, SignWhatIsAnHourOldAndOnlyWhatMoved) {
    Life life(store, clock, mirror, keys);
    life.append(kAlice, 3);
    EXPECT_TRUE(points(kAlice).empty());
    clock.advance(Duration::of_seconds(2));
    life.round();
    clock.advance(kSealPeriod);
    life.round();
    ASSERT_EQ(points(kAlice).size(), 1u);
    EXPECT_EQ(points(kAlice)[0].seq, 4);
    const KeyLineage lineage(keys.first_public_key());
    EXPECT_TRUE(find_seal(store.ledger(), points(kAlice)[0], &lineage)->has_value());
    clock.advance(kSealPeriod);
    life.round();
    EXPECT_EQ(points(kAlice).size(), 1u);
    life.append(kAlice, 1);
    clock.advance(kSealPeriod);
    life.round();
    EXPECT_EQ(points(kAlice).size(), 2u);
}

TEST_F(RelayChainsTest, SignALongChainAtOnce) {
    Life life(store, clock, mirror, keys);
    life.append(kAlice, static_cast<int>(kSealEvery));
    clock.advance(Duration::of_seconds(2));
    life.round();
    ASSERT_EQ(points(kAlice).size(), 1u);
    EXPECT_EQ(points(kAlice)[0].seq, kSealEvery + 1);
}

TEST_F(RelayChainsTest, SignEverythingAtTheEnd) {
    {
        Life life(store, clock, mirror, keys);
        life.append(kBob, 1);
        life.lane.start();
        for (int i = 0; i < 10; ++i) {
            EXPECT_TRUE(life.lane.submit([](RelayTurn& turn) {
                turn.audit(relay_draft(kAlice, "RELAY_TEST", "internal:relay"));
            }));
        }
        life.lane.stop();
    }
    ASSERT_EQ(points(kAlice).size(), 1u);
    EXPECT_EQ(points(kAlice)[0].seq, 11);
    EXPECT_EQ(points(kBob).size(), 1u);
}

TEST_F(RelayChainsTest, HeadsAreMirroredAfterTheCommitAndNotBefore) {
    Life life(store, clock, mirror, keys);
    life.append(kAlice, 2);
    EXPECT_EQ(mirror.load()->at(kAlice).seq, 2);
    EXPECT_EQ(mirror.load()->at(kAlice).hash, store.load_heads()->at(kAlice).hash);
    store.fail_next_commit();
    life.append(kAlice, 1);
    EXPECT_EQ(mirror.load()->at(kAlice).seq, 2);
}

TEST_F(RelayChainsTest, AStartWalksOnlyWhatCameAfterTheLastSignature) {
    {
        Life life(store, clock, mirror, keys);
        life.append(kAlice, 3);
        clock.advance(Duration::of_seconds(2));
        life.round();
        clock.advance(kSealPeriod);
        life.round();
        life.append(kAlice, 2);
    }
    const auto reports = reports_of_a_start();
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_FALSE(reports[0].fault.has_value());
    EXPECT_EQ(reports[0].first_seq, 5);
    EXPECT_EQ(reports[0].records, 2);
    EXPECT_EQ(reports[0].head.seq, 6);
}

TEST_F(RelayChainsTest, AStartFindsAChainThatWasCutOff) {
    MemoryRelayContents before;
    {
        Life life(store, clock, mirror, keys);
        life.append(kAlice, 3);
        before = store.take_contents();
    }
    {
        MemoryRelayStore whole(before);
        Life life(whole, clock, mirror, keys);
        life.append(kAlice, 1);  // Seen by the mirror; the file is then put back.
    }
    MemoryRelayStore cut(std::move(before));
    Life life(cut, clock, mirror, keys);
    const auto reports = life.chains.open(cut.ledger(), {}, known()).value();
    ASSERT_EQ(reports.size(), 1u);
    ASSERT_TRUE(reports[0].fault.has_value());
    EXPECT_EQ(reports[0].fault->seq, 4);
}

TEST_F(RelayChainsTest, AStartMissesAChainThatIsGone) {
    MemoryRelayStore empty;
    mirror.publish({{kAlice, {3, std::string(64, 'a')}}});
    Life life(empty, clock, mirror, keys);
    const auto reports = life.chains.open(empty.ledger(), {}, known()).value();
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_TRUE(reports[0].fault.has_value());
}

TEST_F(RelayChainsTest, ASignatureOfAnotherKeyIsAFault) {
    HeldSealKeys other(std::string(32, 'o'));
    {
        Life life(store, clock, mirror, other);
        life.append(kAlice, 1);
        life.lane.start();
        life.lane.stop();
    }
    const auto reports = reports_of_a_start();
    ASSERT_EQ(reports.size(), 1u);
    ASSERT_TRUE(reports[0].fault.has_value());
    EXPECT_EQ(reports[0].fault->reason, "bad_checkpoint");
}

// What does not hold is continued as what it is, and a later start finds it told.
TEST_F(RelayChainsTest, ABrokenChainGoesOnBehindItsBreak) {
    MemoryRelayContents before;
    {
        Life life(store, clock, mirror, keys);
        life.append(kAlice, 3);
        before = store.take_contents();
    }
    {
        MemoryRelayStore whole(before);
        Life life(whole, clock, mirror, keys);
        life.append(kAlice, 4);
    }
    MemoryRelayStore cut(std::move(before));
    {
        Life life(cut, clock, mirror, keys);
        ASSERT_TRUE(life.chains.open(cut.ledger(), {}, known())->front().fault);
        life.chains.settle();
        life.append(kAlice, 1);
    }
    KeyLineage lineage(keys.first_public_key());
    const auto reports =
        check_ledger({.store = cut.ledger(), .mirror = {}, .keys = lineage, .book = kRelayBook});
    ASSERT_TRUE(reports);
    EXPECT_FALSE(reports->front().fault) << reports->front().fault->detail;
    ASSERT_EQ(reports->front().breaks.size(), 1u);
    EXPECT_EQ(reports->front().breaks[0].seq, 8);  // Above all that the mirror had seen.
    EXPECT_EQ(reports->front().breaks[0].broken.bad_seq, 4);
    EXPECT_EQ(reports->front().head.seq, 9);
}

// A number that no chain can have is a fault of that chain, counts for nothing, and is in no list.
TEST_F(RelayChainsTest, AnAbsurdHeadBreaksItsChainAlone) {
    {
        Life life(store, clock, mirror, keys);
        life.append(kAlice, 3);
        life.append(kBob, 2);
        life.lane.start();
        life.lane.stop();
    }
    const std::int64_t last = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t number : {last, last - 1, kHeadSeqMax + 1}) {
        mirror.publish({{kAlice, {number, std::string(64, 'a')}}});
        Life life(store, clock, mirror, keys);
        const auto reports = life.chains.open(store.ledger(), {}, known()).value();
        ASSERT_EQ(reports.size(), 2u);
        EXPECT_EQ(reports[0].fault->reason, "head_mismatch");
        EXPECT_FALSE(reports[1].fault);
        for (const HeadLine& line : life.chains.heads()) {
            EXPECT_LT(line.head.seq, 100);
        }
        life.chains.settle();
        life.append(kAlice, 2);
        EXPECT_LT(mirror.load()->at(kAlice).seq, 100);
        life.lane.start();
        life.lane.stop();
    }
    KeyLineage lineage(keys.first_public_key());
    const auto reports = check_ledger(
        {.store = store.ledger(), .mirror = *mirror.load(), .keys = lineage, .book = kRelayBook});
    ASSERT_TRUE(reports);
    EXPECT_FALSE(reports->front().fault) << reports->front().fault->detail;
    EXPECT_EQ(reports->front().breaks.size(), 3u);
    EXPECT_TRUE(reports->back().ok());
}

TEST_F(RelayChainsTest, RowsThatGiveRightsHangOnTheChain) {
    {
        Life life(store, clock, mirror, keys);
        life.lane.submit([](RelayTurn& turn) {
            turn.rows().rows.push_back({"route", "discord/1", "{}"});
            turn.rows().rows.push_back({"cursor", "discord/1", "{}"});
        });
        life.lane.start();
        life.lane.stop();
    }
    RowSet rows;
    rows.set("route/discord/1", sha256_hex("{}"));
    const auto faults = [&](RowSet live) {
        Life life(store, clock, mirror, keys);
        return life.chains.open(store.ledger(), std::move(live), known())->front().rows;
    };
    EXPECT_TRUE(faults(rows).empty());
    rows.set("route/discord/1", sha256_hex("{\"tenant_id\":\"evil\"}"));
    ASSERT_EQ(faults(rows).size(), 1u);
    EXPECT_EQ(faults(rows)[0].key, "route/discord/1");
    EXPECT_EQ(faults(rows)[0].reason, "changed_row");
}

TEST_F(RelayChainsTest, ARestartDoesNotSignTheSameHeadTwice) {
    for (int i = 0; i < 3; ++i) {
        Life life(store, clock, mirror, keys);
        EXPECT_TRUE(life.chains.open(store.ledger(), {}, known()).has_value());
        if (i == 0) {
            life.append(kAlice, 1);
        }
        life.lane.start();
        life.lane.stop();
    }
    EXPECT_EQ(points(kAlice).size(), 1u);
}

}  // namespace
}  // namespace interlock
