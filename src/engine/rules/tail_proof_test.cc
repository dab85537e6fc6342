#include "engine/rules/tail_proof.h"

#include <gtest/gtest.h>

#include <array>

#include "base/bytes.h"
#include "base/crypto.h"

namespace interlock {
namespace {

const Ed25519KeyPair& pair_number(int number) {
    static const std::array<Ed25519KeyPair, 2> pairs{
        *ed25519_from_seed(std::string(32, 'a')), *ed25519_from_seed(std::string(32, 'b'))};
    return pairs.at(static_cast<std::size_t>(number));
}

SignText signer(int number) {
    return [number](std::string_view text) { return ed25519_sign(pair_number(number), text); };
}

std::vector<HeadLine> heads(int count) {
    std::vector<HeadLine> lines;
    for (int i = 0; i < count; ++i) {
        const std::string tenant = "t" + std::to_string(i);
        lines.push_back(
            {std::string(kLedgerBook), TenantId::trusted(tenant), {i + 1, sha256_hex(tenant)}});
    }
    return lines;
}

KeyLineage two_keys() {
    KeyLineage keys(pair_number(0).public_key);
    const std::string next = to_hex(pair_number(1).public_key);
    EXPECT_TRUE(keys.add({1, next, to_hex(signer(0)(key_step_text(1, next)))}));
    return keys;
}

TEST(TailProof, OneSignatureVouchesForEveryHeadOfABatch) {
    const KeyLineage keys = two_keys();
    for (const int count : {1, 2, 3, 8, 33}) {
        int signatures = 0;
        const auto lines = heads(count);
        const auto proofs = prove_tails(lines, 1, [&](std::string_view text) {
            ++signatures;
            return signer(1)(text);
        });
        EXPECT_EQ(signatures, 1);
        ASSERT_EQ(proofs.size(), lines.size());
        for (std::size_t i = 0; i < lines.size(); ++i) {
            EXPECT_EQ(proven_by(lines[i], proofs[i], keys), 1) << count << ": " << proofs[i];
        }
    }
    EXPECT_TRUE(prove_tails({}, 1, signer(1)).empty());
}

TEST(TailProof, IsOfThisHeadInThisBookAndNoOther) {
    const KeyLineage keys = two_keys();
    const auto lines = heads(3);
    const auto proofs = prove_tails(lines, 0, signer(0));
    EXPECT_EQ(proven_by(lines[0], proofs[0], keys), 0);
    EXPECT_FALSE(proven_by(lines[0], proofs[1], keys));
    HeadLine other = lines[0];
    other.head.seq += 1;
    EXPECT_FALSE(proven_by(other, proofs[0], keys));
    other = lines[0];
    other.head.hash = sha256_hex("another");
    EXPECT_FALSE(proven_by(other, proofs[0], keys));
    other = lines[0];
    other.book = kRelayBook;
    EXPECT_FALSE(proven_by(other, proofs[0], keys));
    other = lines[0];
    other.tenant_id = lines[1].tenant_id;
    EXPECT_FALSE(proven_by(other, proofs[0], keys));
}

TEST(TailProof, NeedsAKeyOfTheLineageUnderItsOwnNumber) {
    const KeyLineage keys = two_keys();
    const auto lines = heads(1);
    EXPECT_FALSE(proven_by(lines[0], prove_tails(lines, 0, signer(1))[0], keys));
    EXPECT_FALSE(proven_by(lines[0], prove_tails(lines, 1, signer(0))[0], keys));
    EXPECT_FALSE(proven_by(lines[0], prove_tails(lines, 2, signer(1))[0], keys));
    EXPECT_FALSE(proven_by(lines[0], prove_tails(lines, -1, signer(0))[0], keys));
    // The number is signed, too.
    std::string proof = prove_tails(lines, 0, signer(0))[0];
    proof[0] = '1';
    EXPECT_FALSE(proven_by(lines[0], proof, keys));
}

TEST(TailProof, RubbishIsNoProof) {
    const KeyLineage keys = two_keys();
    const auto lines = heads(2);
    const std::string good = prove_tails(lines, 0, signer(0))[0];
    for (const std::string& text :
         {std::string(),
          std::string("0"),
          std::string("0 1 0 zz"),
          good + " 00",
          good.substr(0, good.rfind(' ')),
          "x" + good,
          "0 2 5 " + good.substr(6)}) {
        EXPECT_FALSE(proven_by(lines[0], text, keys)) << text;
    }
    std::string endless = good;
    for (int i = 0; i < 100'000; ++i) {
        endless += " 00";
    }
    EXPECT_FALSE(proven_by(lines[0], endless, keys));
}

}  // namespace
}  // namespace interlock
