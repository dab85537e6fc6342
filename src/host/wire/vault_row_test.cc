#include "host/wire/vault_row.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace interlock {
namespace {

VaultEntry entry_of(const std::string& exchange) {
    VaultEntry entry;
    entry.exchange = exchange;
    entry.api_key_hint = "wxyz";
    entry.sealed = std::string("\0\xff raw", 6);
    entry.stored_by = "human:hum_1";
    entry.stored_at = Timestamp{1'800'000'000'000'000};
    return entry;
}

VaultRow row_of(std::size_t entries) {
    VaultRow row;
    row.last_version = 3;
    row.data_key = SealedDataKey{3, "0123456789abcdef", "sealed", Timestamp{0}};
    for (std::size_t i = 0; i < entries; ++i) {
        row.entries.push_back(entry_of("venue" + std::to_string(i)));
    }
    return row;
}

TEST(VaultRow, SurvivesBeingWrittenAndRead) {
    EXPECT_TRUE(rc::check("vault row round trip", [] {
        VaultRow row = row_of(*rc::gen::inRange<std::size_t>(0, kVaultEntriesMax + 1));
        for (VaultEntry& entry : row.entries) {
            entry.sealed = *rc::gen::nonEmpty<std::string>();
            if (*rc::gen::arbitrary<bool>()) {
                entry.permissions = good_spot_permissions();
                entry.checked_at = entry.stored_at;
            }
        }
        if (*rc::gen::arbitrary<bool>()) {
            row.data_key.reset();
        }
        const Json written = encode(row);
        const auto again = decode_vault_row(written);
        RC_ASSERT(again.has_value());
        RC_ASSERT((encode(*again) == written));
    }));
}

TEST(VaultRow, HoldsNoMoreExchangesThanItsBound) {
    EXPECT_TRUE(decode_vault_row(encode(row_of(kVaultEntriesMax))));
    EXPECT_FALSE(decode_vault_row(encode(row_of(kVaultEntriesMax + 1))));
}

TEST(VaultRow, RefusesAnExchangeTwice) {
    VaultRow row = row_of(1);
    row.entries.push_back(row.entries.front());
    EXPECT_FALSE(decode_vault_row(encode(row)));
}

TEST(VaultRow, RefusesSealedTextThatIsNotBase64) {
    Json json = encode(row_of(1));
    json.find("data_key")->set("sealed", "not base64!");
    EXPECT_FALSE(decode_vault_row(json));
}

TEST(VaultRow, NamesItsMachineAfterTheTenant) {
    EXPECT_EQ(vault_machine(TenantId::trusted("demo")), "vault/demo");
}

}  // namespace
}  // namespace interlock
