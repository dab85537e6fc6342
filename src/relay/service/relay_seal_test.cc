#include "relay/service/relay_seal.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/errors.h"
#include "relay/memory/memory_relay_store.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"
#include "testing/vault_desk.h"

namespace interlock {
namespace {

struct SealDesk {
    FakeClock clock;
    FakeIdSource ids;
    FakeMasterKeys masters;
    MemoryRelayStore store;
    RelayLane lane{store, clock};

    RelaySeal made() { return RelaySeal({store, masters, ids, clock}); }
    RelaySeal loaded() {
        RelaySeal seal = made();
        CHECK(seal.load().has_value());
        return seal;
    }
    void change(const RelayWork& work) {
        CHECK(lane.submit(work));
        lane.run_round(std::chrono::microseconds(0));
    }
};

TEST(RelaySeal, OpensWhatItSealed) {
    SealDesk desk;
    const RelaySeal seal = desk.loaded();
    EXPECT_TRUE(rc::check([&](const std::string& plain, const std::string& bound) {
        const auto sealed = seal.seal(plain, bound);
        RC_ASSERT(sealed.has_value());
        const auto opened = seal.open(*sealed, bound);
        RC_ASSERT(opened.has_value());
        RC_ASSERT(opened->reveal() == plain);
    }));
}

TEST(RelaySeal, DoesNotOpenWhatBelongsElsewhere) {
    SealDesk desk;
    const RelaySeal seal = desk.loaded();
    const auto sealed = *seal.seal("secret", "gateway\na");
    const auto opened = seal.open(sealed, "gateway\nb");
    ASSERT_FALSE(opened.has_value());
    EXPECT_TRUE(opened.error() == errors::corrupt_data);
}

TEST(RelaySeal, DoesNotOpenWhatWasChanged) {
    SealDesk desk;
    const RelaySeal seal = desk.loaded();
    std::string sealed = *seal.seal("secret", "x");
    sealed[20] = sealed[20] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(seal.open(sealed, "x").has_value());
    EXPECT_FALSE(seal.open("not base64 at all", "x").has_value());
    EXPECT_FALSE(seal.open("", "x").has_value());
}

TEST(RelaySeal, NeverSealsTheSameTextAlike) {
    SealDesk desk;
    const RelaySeal seal = desk.loaded();
    EXPECT_NE(*seal.seal("secret", "x"), *seal.seal("secret", "x"));
}

TEST(RelaySeal, OpensAfterARestart) {
    SealDesk desk;
    const std::string sealed = *desk.loaded().seal("secret", "x");
    EXPECT_EQ(desk.loaded().open(sealed, "x")->reveal(), "secret");
}

TEST(RelaySeal, RefusesAnotherMasterKeyAndKeepsTheDataKey) {
    SealDesk desk;
    const std::string sealed = *desk.loaded().seal("secret", "x");
    const std::string right = std::exchange(desk.masters.current, std::string(32, 'z'));
    const auto loaded = desk.made().load();
    ASSERT_FALSE(loaded.has_value());
    EXPECT_TRUE(loaded.error() == errors::master_key_wrong);
    desk.masters.current = right;
    EXPECT_EQ(desk.loaded().open(sealed, "x")->reveal(), "secret");
}

TEST(RelaySeal, RefusesAMissingMasterKeyRatherThanMakingAnother) {
    SealDesk desk;
    desk.loaded();
    desk.masters.current.clear();
    const auto loaded = desk.made().load();
    ASSERT_FALSE(loaded.has_value());
    EXPECT_TRUE(loaded.error() == errors::master_key_missing);
    EXPECT_TRUE(desk.masters.current.empty());
}

TEST(RelaySeal, SurvivesTheEndOfARotationOnceResealed) {
    SealDesk desk;
    RelaySeal seal = desk.loaded();
    const std::string sealed = *seal.seal("secret", "x");
    CHECK(desk.masters.begin_rotation().has_value());
    desk.change([&](RelayTurn& turn) { EXPECT_TRUE(seal.reseal(turn).has_value()); });
    CHECK(desk.masters.end_rotation().has_value());
    EXPECT_EQ(desk.loaded().open(sealed, "x")->reveal(), "secret");
}

TEST(RelaySeal, OpensWithEitherKeyWhileARotationLasts) {
    SealDesk desk;
    const std::string sealed = *desk.loaded().seal("secret", "x");
    CHECK(desk.masters.begin_rotation().has_value());
    EXPECT_EQ(desk.loaded().open(sealed, "x")->reveal(), "secret");
}

TEST(RelaySeal, ResealsOnlyWhenThereIsANewKey) {
    SealDesk desk;
    RelaySeal seal = desk.loaded();
    desk.change([&](RelayTurn& turn) {
        EXPECT_TRUE(seal.reseal(turn).has_value());
        EXPECT_TRUE(turn.rows().empty());
    });
}

TEST(RelaySeal, KeepsNeitherKeyNorTextInTheStoredRow) {
    SealDesk desk;
    desk.loaded();
    const auto row = *desk.store.find_row(kRelayDataKeyKind, "relay");
    ASSERT_TRUE(row.has_value());
    EXPECT_EQ(row->json.find(desk.masters.current), std::string::npos);
    EXPECT_NE(row->json.find("sealed"), std::string::npos);
}

}  // namespace
}  // namespace interlock
