#include "engine/rules/hash_chain.h"

#include <gtest/gtest.h>

#include "base/canonical_json.h"
#include "base/crypto.h"
#include "engine/rules/chain_verifier.h"

namespace interlock {
namespace {

const TenantId kTenant = TenantId::trusted("demo");

AuditDraft draft(const std::string& reason) {
    AuditDraft draft;
    draft.tenant_id = kTenant;
    draft.event = "PROBE_ACCEPTED";
    draft.decision_id = DecisionId::trusted("dec_1");
    draft.tick_id = TickId::trusted("tick_1");
    draft.principal = "agent:key_1";
    draft.actor = AuditActor::codex;
    draft.reason = reason;
    draft.artifacts = {"sha256:00", "sha256:01"};
    draft.detail = Json::object({{"b", 2}, {"a", "é\n"}});
    draft.timestamp = Timestamp{1'700'000'000'123'456};
    return draft;
}

struct Entry {
    std::int64_t seq;
    std::string text;
    std::string hash;
};

std::vector<Entry> chain_of(int count) {
    std::vector<Entry> entries;
    ChainHead head;
    for (int i = 0; i < count; ++i) {
        const SealedRecord sealed = *seal(head, draft("r" + std::to_string(i)));
        entries.push_back({sealed.record.seq, sealed.canonical, sealed.record.hash});
    }
    return entries;
}

ChainVerifier verified(const std::vector<Entry>& entries) {
    ChainVerifier verifier(kTenant);
    for (const Entry& entry : entries) {
        verifier.add(entry.seq, entry.text, entry.hash);
    }
    return verifier;
}

// hash = SHA256(prev_hash || JCS(record without hash)), genesis 64 zeros.
TEST(HashChain, FirstHashIsOverGenesisAndTheCanonicalText) {
    const Entry first = chain_of(1).front();
    EXPECT_EQ(first.hash, sha256_hex(std::string(64, '0') + first.text));
    EXPECT_EQ(first.seq, 1);
}

// The hand-written canonical text must be the very bytes RFC 8785 gives.
TEST(HashChain, SealedTextIsCanonicalJson) {
    const Entry first = chain_of(1).front();
    const Json json = *parse_json(first.text);
    EXPECT_EQ(*canonical_json(json), first.text);
    EXPECT_EQ(json.find("hash"), nullptr);
}

TEST(HashChain, StoredTextDecodesToWhatWasSealed) {
    const Entry first = chain_of(1).front();
    AuditRecord record = *decode_audit_record(*parse_json(first.text));
    record.hash = first.hash;
    EXPECT_EQ(*canonical_text(record), first.text);
    EXPECT_EQ(audit_ref(record), "1:" + first.hash.substr(0, 16));
    EXPECT_EQ(audit_id(record), "demo.1");
}

TEST(HashChain, ADetailGivenAsCanonicalTextSealsToTheSameBytes) {
    AuditDraft with_text = draft("r0");
    with_text.detail_text = *canonical_json(with_text.detail);
    with_text.detail = Json::object();
    ChainHead head;
    EXPECT_EQ(seal(head, std::move(with_text))->canonical, chain_of(1).front().text);
}

TEST(HashChain, UntouchedChainVerifies) {
    const ChainVerifier verifier = verified(chain_of(20));
    EXPECT_FALSE(verifier.fault());
    EXPECT_EQ(verifier.count(), 20);
    EXPECT_EQ(verifier.head().seq, 20);
}

TEST(HashChain, ChangedTextIsNamedByItsSequence) {
    auto entries = chain_of(9);
    const std::size_t at = entries[4].text.find("r4");
    entries[4].text[at] = 'x';
    const ChainVerifier verifier = verified(entries);
    ASSERT_TRUE(verifier.fault());
    EXPECT_EQ(verifier.fault()->seq, 5);
    EXPECT_EQ(verifier.fault()->reason, "content_changed");
}

// Whoever changes a record and its hash is caught by the next record, which names the old one.
TEST(HashChain, ReHashedRecordBreaksTheNextLink) {
    auto entries = chain_of(9);
    entries[4].text[entries[4].text.find("r4")] = 'x';
    entries[4].hash = link_hash(entries[3].hash, entries[4].text);
    const ChainVerifier verifier = verified(entries);
    ASSERT_TRUE(verifier.fault());
    EXPECT_EQ(verifier.fault()->seq, 6);
    EXPECT_EQ(verifier.fault()->reason, "broken_link");
}

TEST(HashChain, DeletedRecordIsNamedAsMissing) {
    auto entries = chain_of(9);
    entries.erase(entries.begin() + 3);
    const ChainVerifier verifier = verified(entries);
    ASSERT_TRUE(verifier.fault());
    EXPECT_EQ(verifier.fault()->seq, 4);
    EXPECT_EQ(verifier.fault()->reason, "missing_record");
}

TEST(HashChain, SwappedRecordsAreNamedAtTheFirst) {
    auto entries = chain_of(9);
    std::swap(entries[2].text, entries[6].text);
    std::swap(entries[2].hash, entries[6].hash);
    const ChainVerifier verifier = verified(entries);
    ASSERT_TRUE(verifier.fault());
    EXPECT_EQ(verifier.fault()->seq, 3);
    EXPECT_EQ(verifier.fault()->reason, "misplaced_record");
}

TEST(HashChain, CutTailIsNoticedThroughAHeadKeptElsewhere) {
    const auto entries = chain_of(9);
    const ChainHead kept{9, entries[8].hash};
    ChainVerifier verifier = verified({entries.begin(), entries.begin() + 7});
    EXPECT_FALSE(verifier.fault());
    verifier.expect_at_least(kept, "the head file");
    ASSERT_TRUE(verifier.fault());
    EXPECT_EQ(verifier.fault()->seq, 8);
    EXPECT_EQ(verifier.fault()->reason, "truncated_tail");
}

// The head file may lag behind the store, never lead it.
TEST(HashChain, HeadThatLagsIsNoFault) {
    const auto entries = chain_of(9);
    ChainVerifier verifier = verified(entries);
    verifier.expect_at_least({5, entries[4].hash}, "the head file");
    EXPECT_FALSE(verifier.fault());
}

TEST(HashChain, RecordOfAnotherTenantIsMisplaced) {
    ChainHead head;
    AuditDraft foreign = draft("r");
    foreign.tenant_id = TenantId::trusted("other");
    const SealedRecord sealed = *seal(head, foreign);
    ChainVerifier verifier(kTenant);
    verifier.add(1, sealed.canonical, sealed.record.hash);
    ASSERT_TRUE(verifier.fault());
    EXPECT_EQ(verifier.fault()->reason, "misplaced_record");
}

TEST(HashChain, SignedPointWithAnotherHashIsAFault) {
    ChainVerifier verifier(kTenant);
    const auto entries = chain_of(3);
    for (const Entry& entry : entries) {
        verifier.add(entry.seq, entry.text, entry.hash);
    }
    verifier.expect_point(3, std::string(64, 'a'));
    ASSERT_TRUE(verifier.fault());
    EXPECT_EQ(verifier.fault()->reason, "bad_checkpoint");
}

}  // namespace
}  // namespace interlock
