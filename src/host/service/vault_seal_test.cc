// Sealing and opening: what went in comes out, and nothing that was changed or moved opens.
#include "host/service/vault_seal.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/errors.h"
#include "codec/error_json.h"
#include "testing/fake_id_source.h"

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");
const TenantId kOther = TenantId::trusted("other");
constexpr Timestamp kNow{1'800'000'000'000'000};

MasterKeyring ring_of(char current, std::optional<char> next = std::nullopt) {
    MasterRing ring{SecretString(std::string(kMasterKeyBytes, current)), std::nullopt};
    if (next) {
        ring.next.emplace(std::string(kMasterKeyBytes, *next));
    }
    return *MasterKeyring::of(std::move(ring));
}

ExchangeKeys keys_of(std::string key, std::string secret, std::optional<std::string> password) {
    ExchangeKeys keys;
    keys.exchange = "paper";
    keys.api_key = SecretString(std::move(key));
    keys.api_secret = SecretString(std::move(secret));
    if (password) {
        keys.api_password.emplace(*std::move(password));
    }
    return keys;
}

VaultEntry sealed_entry(IdSource& ids, const DataKey& data_key, const ExchangeKeys& keys) {
    VaultEntry entry;
    entry.exchange = keys.exchange;
    entry.sealed =
        *seal_exchange_keys({.tenant_id = kDemo, .data_key = data_key, .ids = ids}, keys);
    return entry;
}

bool opens(const TenantId& tenant_id, const DataKey& data_key, const VaultEntry& entry) {
    const auto keys = open_exchange_keys(tenant_id, data_key, entry);
    if (!keys) {
        EXPECT_EQ(keys.error(), errors::corrupt_data);
    }
    return keys.has_value();
}

class VaultSeal : public ::testing::Test {
protected:
    FakeIdSource ids;
    DataKey data_key = make_data_key(ids, 1);
    VaultEntry entry = sealed_entry(ids, data_key, keys_of("the key", "the secret", std::nullopt));
};

TEST_F(VaultSeal, WhatIsSealedOpensToTheSame) {
    EXPECT_TRUE(rc::check("seal and open", [this] {
        const auto key = *rc::gen::arbitrary<std::string>();
        const auto secret = *rc::gen::arbitrary<std::string>();
        std::optional<std::string> password;
        if (*rc::gen::arbitrary<bool>()) {
            password = *rc::gen::arbitrary<std::string>();
        }
        const VaultEntry sealed = sealed_entry(ids, data_key, keys_of(key, secret, password));
        const auto opened = open_exchange_keys(kDemo, data_key, sealed);
        RC_ASSERT(opened.has_value());
        RC_ASSERT((opened->api_key.reveal() == key));
        RC_ASSERT((opened->api_secret.reveal() == secret));
        RC_ASSERT((opened->api_password.has_value() == password.has_value()));
        RC_ASSERT((!password || opened->api_password->reveal() == *password));
        RC_ASSERT((opened->exchange == "paper"));
    }));
}

TEST_F(VaultSeal, OneChangedBitAnywhereKeepsItShut) {
    ASSERT_TRUE(opens(kDemo, data_key, entry));
    for (std::size_t bit = 0; bit < entry.sealed.size() * 8; ++bit) {
        VaultEntry changed = entry;
        changed.sealed[bit / 8] = static_cast<char>(changed.sealed[bit / 8] ^ (1 << (bit % 8)));
        EXPECT_FALSE(opens(kDemo, data_key, changed)) << bit;
    }
}

TEST_F(VaultSeal, NoBeginningOfATextOpens) {
    for (std::size_t size = 0; size < entry.sealed.size(); ++size) {
        VaultEntry cut = entry;
        cut.sealed.resize(size);
        EXPECT_FALSE(opens(kDemo, data_key, cut)) << size;
    }
}

TEST_F(VaultSeal, AnEntryOpensForItsTenantExchangeAndVersionOnly) {
    EXPECT_FALSE(opens(kOther, data_key, entry));
    VaultEntry elsewhere = entry;
    elsewhere.exchange = "binance";
    EXPECT_FALSE(opens(kDemo, data_key, elsewhere));
    const DataKey later{2, data_key.key.clone()};
    EXPECT_FALSE(opens(kDemo, later, entry));
    EXPECT_FALSE(opens(kDemo, make_data_key(ids, 1), entry));
}

TEST_F(VaultSeal, SealingTwiceGivesTwoTexts) {
    EXPECT_NE(
        sealed_entry(ids, data_key, keys_of("k", "s", "p")).sealed,
        sealed_entry(ids, data_key, keys_of("k", "s", "p")).sealed);
}

TEST_F(VaultSeal, ADataKeyOpensWithItsMasterKeyForItsTenantOnly) {
    const MasterKeyring ring = ring_of('a');
    const auto sealed = seal_data_key({kDemo, ring, ids, kNow}, data_key);
    ASSERT_TRUE(sealed);
    EXPECT_EQ(open_data_key(ring, kDemo, *sealed)->key.reveal(), data_key.key.reveal());
    EXPECT_EQ(open_data_key(ring, kOther, *sealed).error(), errors::corrupt_data);
    EXPECT_EQ(open_data_key(ring_of('b'), kDemo, *sealed).error(), errors::master_key_wrong);
    SealedDataKey newer = *sealed;
    newer.version = 2;
    EXPECT_EQ(open_data_key(ring, kDemo, newer).error(), errors::corrupt_data);
}

// Someone who renames the master key a row asks for gets no further than someone who does not.
TEST_F(VaultSeal, ADataKeyThatClaimsAnotherMasterKeyStaysShut) {
    auto sealed = seal_data_key({kDemo, ring_of('a'), ids, kNow}, data_key);
    const MasterKeyring both = ring_of('a', 'b');
    sealed->master_key_id = both.sealing_id();
    EXPECT_EQ(open_data_key(both, kDemo, *sealed).error(), errors::corrupt_data);
}

TEST_F(VaultSeal, WhileAMasterKeyIsReplacedBothOpenAndTheNewOneSeals) {
    const MasterKeyring old_ring = ring_of('a');
    const MasterKeyring both = ring_of('a', 'b');
    const auto before = seal_data_key({kDemo, old_ring, ids, kNow}, data_key);
    const auto during = seal_data_key({kDemo, both, ids, kNow}, data_key);
    EXPECT_TRUE(open_data_key(both, kDemo, *before));
    EXPECT_TRUE(open_data_key(both, kDemo, *during));
    EXPECT_TRUE(open_data_key(ring_of('b'), kDemo, *during));
    EXPECT_FALSE(open_data_key(old_ring, kDemo, *during));
}

TEST_F(VaultSeal, AMasterKeyHas32Bytes) {
    EXPECT_FALSE(MasterKeyring::of({SecretString(std::string(31, 'a')), std::nullopt}));
    EXPECT_FALSE(MasterKeyring::of(
        {SecretString(std::string(32, 'a')), SecretString(std::string(33, 'b'))}));
}

TEST_F(VaultSeal, ErrorsHoldNothingOfTheKeys) {
    const ExchangeKeys keys = keys_of("CANARYMARK", "CANARYMARK", "CANARYMARK");
    const VaultEntry sealed = sealed_entry(ids, data_key, keys);
    const auto shut = open_exchange_keys(kOther, data_key, sealed);
    ASSERT_FALSE(shut);
    EXPECT_EQ(to_text(encode(shut.error())).find("CANARYMARK"), std::string::npos);
    EXPECT_EQ(sealed.sealed.find("CANARYMARK"), std::string::npos);
}

}  // namespace
}  // namespace interlock
