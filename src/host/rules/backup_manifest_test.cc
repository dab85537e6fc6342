#include "host/rules/backup_manifest.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crypto.h"

namespace interlock {
namespace {

Ed25519KeyPair pair_of(char letter) {
    return ed25519_from_seed(std::string(32, letter)).value();
}

// Of the key of an epoch.
char letter_of(std::int64_t epoch) {
    return static_cast<char>('1' + epoch);
}

class BackupManifestTest : public ::testing::Test {
protected:
    BackupManifestTest() {
        sealed_.manifest = {
            .created_at = Timestamp{1'700'000'000'000'000},
            .program = "1.2.3",
            .public_key = to_hex(first_.public_key),
            .chains = {{"ledger", TenantId::trusted("demo"), {7, std::string(64, 'a')}}},
            .files =
                {{"heads/demo.head", 85, std::string(64, 'b')},
                 {"interlock.db", 4096, std::string(64, 'c')}},
        };
        seal_by(first_, 0);
    }
    void seal_by(const Ed25519KeyPair& key, std::int64_t epoch) {
        sealed_.seal.epoch = epoch;
        sealed_.seal.public_key = to_hex(key.public_key);
        sealed_.seal.signature =
            to_hex(ed25519_sign(key, backup_text(digest_of(sealed_.manifest).value())));
    }
    std::string verdict() const { return why_not_sealed(sealed_, KeyLineage(first_.public_key)); }

    Ed25519KeyPair first_ = pair_of('1');
    SealedManifest sealed_;
};

TEST_F(BackupManifestTest, ReadsWhatItWrote) {
    const auto read = decode_sealed_manifest(encode(sealed_));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->manifest, sealed_.manifest);
    EXPECT_EQ(read->seal, sealed_.seal);
    EXPECT_EQ(verdict(), "");
}

TEST_F(BackupManifestTest, NoticesEveryChangeAfterTheSeal) {
    const SealedManifest whole = sealed_;
    for (const auto& change : std::vector<std::function<void(BackupManifest&)>>{
             [](BackupManifest& m) { m.files[1].sha256[0] = 'd'; },
             [](BackupManifest& m) { m.files[1].bytes += 1; },
             [](BackupManifest& m) { m.files.pop_back(); },
             [](BackupManifest& m) { m.chains[0].head.seq -= 1; },
             [](BackupManifest& m) { m.chains.clear(); },
             [](BackupManifest& m) { m.created_at.microseconds += 1'000; },
             [](BackupManifest& m) { m.program = "9"; }}) {
        sealed_ = whole;
        change(sealed_.manifest);
        EXPECT_EQ(verdict(), "The manifest was changed after it was sealed.");
    }
}

TEST_F(BackupManifestTest, IsSealedOnlyByKeysThatFollowFromTheFirst) {
    const Ed25519KeyPair second = pair_of('2');
    seal_by(second, 1);
    EXPECT_EQ(verdict(), "The manifest is sealed by a key that the chain does not know.");
    const std::string hex = to_hex(second.public_key);
    sealed_.seal.keys = {{1, hex, to_hex(ed25519_sign(second, key_step_text(1, hex)))}};
    EXPECT_EQ(
        verdict(), "The key that sealed the manifest does not follow from those of the chain.");
    sealed_.seal.keys = {{1, hex, to_hex(ed25519_sign(first_, key_step_text(1, hex)))}};
    EXPECT_EQ(verdict(), "");
    sealed_.manifest.public_key = hex;
    EXPECT_EQ(verdict(), "The manifest names another first key than ledger.pub.");
}

// Old keys are destroyed; one that was stolen before must not vouch for what came later.
TEST_F(BackupManifestTest, IsNotSealedByAKeyThatWasGivenUpLongBefore) {
    KeyLineage keys(first_.public_key);
    for (std::int64_t epoch = 1; epoch <= 2; ++epoch) {
        EXPECT_EQ(why_not_sealed(sealed_, keys), "") << epoch;
        const std::string hex = to_hex(pair_of(letter_of(epoch)).public_key);
        const Ed25519KeyPair before = pair_of(letter_of(epoch - 1));
        ASSERT_TRUE(
            keys.add({epoch, hex, to_hex(ed25519_sign(before, key_step_text(epoch, hex)))}));
    }
    EXPECT_EQ(
        why_not_sealed(sealed_, keys),
        "The manifest is sealed by a key that was given up before the cut.");
    seal_by(pair_of(letter_of(2)), 2);
    EXPECT_EQ(why_not_sealed(sealed_, keys), "");
}

TEST_F(BackupManifestTest, TakesNoKeyNoTokenAndNoWayOut) {
    for (const std::string_view name :
         {"interlock.db",
          "relay.db",
          "heads.log",
          "ledger.pub",
          "paper.journal",
          "shadow.journal",
          "heads/_system.head",
          "relay_heads/demo.head",
          "pnl/demo.log",
          "quarantine/demo-7-1700000000/report.json"}) {
        EXPECT_TRUE(is_backup_name(name)) << name;
    }
    for (const std::string_view name :
         {"",
          "ledger.key",
          "ledger.key.next",
          "operator.token",
          "master.key",
          "KILL",
          "LOCK",
          "backup.json",
          "media/file",
          "outbox/letter.eml",
          "heads",
          "heads/",
          "heads//x",
          "heads/../ledger.key",
          "../interlock.db",
          "/etc/passwd",
          "heads/.hidden",
          "quarantine/demo/ledger.key",
          "receipts/operator.token",
          "pnl/master.key.next",
          "quarantine/ledger.key/x",
          "heads/a/b/c/d",
          "heads/a\nb"}) {
        EXPECT_FALSE(is_backup_name(name)) << name;
    }
    EXPECT_FALSE(is_backup_name("heads/" + std::string(300, 'x')));
    sealed_.manifest.files[1].name = "ledger.key";
    EXPECT_FALSE(decode_sealed_manifest(encode(sealed_)));
}

TEST_F(BackupManifestTest, RefusesFilesTwiceAndWhatItDoesNotKnow) {
    Json extra = encode(sealed_);
    extra.set("more", 1);
    EXPECT_FALSE(decode_sealed_manifest(extra));
    sealed_.manifest.files.push_back(sealed_.manifest.files.back());
    EXPECT_FALSE(decode_sealed_manifest(encode(sealed_)));
}

}  // namespace
}  // namespace interlock
