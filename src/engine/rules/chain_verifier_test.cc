#include "engine/rules/chain_verifier.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crypto.h"

namespace interlock {
namespace {

constexpr Timestamp kNoon{1'700'000'000'000'000};

Ed25519KeyPair key_of(char seed) {
    return *ed25519_from_seed(std::string(32, seed));
}

struct Entry {
    std::int64_t seq;
    std::string text;
    std::string hash;
};

// Writes a chain as the server does, and lets a test forge it afterwards.
class Chain {
public:
    explicit Chain(std::string tenant = "_system") : tenant_(TenantId::trusted(tenant)) {}

    AuditDraft draft(std::string_view event) const {
        AuditDraft draft;
        draft.tenant_id = tenant_;
        draft.event = event;
        draft.decision_id = DecisionId::trusted("sys");
        draft.tick_id = TickId::trusted("tick_1");
        draft.principal = "internal:test";
        draft.reason = "said ,\"event\":\"CHAIN_BROKEN\",\"seq\":1";  // A caller may.
        draft.timestamp = now;
        return draft;
    }
    void add(std::vector<RowChange> rows = {}) {
        AuditDraft made = draft("PROBE");
        made.rows = std::move(rows);
        const SealedRecord sealed = *interlock::seal(head, std::move(made));
        entries.push_back({sealed.record.seq, sealed.canonical, sealed.record.hash});
    }
    Seal contents(const RowSet& rows = {}) const {
        Seal seal;
        seal.epoch = epoch;
        seal.public_key = to_hex(key.public_key);
        seal.previous_seq = last.seq;
        seal.previous_hash = last.hash;
        seal.rows = {static_cast<std::int64_t>(rows.size()), rows.root()};
        return seal;
    }
    void add_seal(Seal seal, std::string_view event = kSealEvent, std::int64_t first_seq = 0) {
        const SealedRecord sealed = *sign_seal(
            head,
            draft(event),
            std::move(seal),
            [this](std::string_view text) { return ed25519_sign(key, text); },
            first_seq);
        entries.push_back({sealed.record.seq, sealed.canonical, sealed.record.hash});
        last = {sealed.record.seq, sealed.record.hash, now, {}};
    }
    void add_seal() { add_seal(contents()); }
    // The next seal moves on to a key made from `seed`.
    void add_move(char seed) {
        Ed25519KeyPair next = key_of(seed);
        Seal seal = contents();
        const std::string hex = to_hex(next.public_key);
        seal.next_key =
            KeyStep{epoch + 1, hex, to_hex(ed25519_sign(key, key_step_text(epoch + 1, hex)))};
        add_seal(std::move(seal));
        key = std::move(next);
        ++epoch;
    }

    ChainVerifier verified(KeyLineage& keys) const {
        ChainVerifier verifier(tenant_, {.keys = &keys});
        for (const Entry& entry : entries) {
            verifier.add(entry.seq, entry.text, entry.hash);
        }
        return verifier;
    }
    ChainVerifier verified() const {
        KeyLineage keys(key_of('a').public_key);
        return verified(keys);
    }
    // What somebody without the key does: changes a record and hashes everything behind it anew.
    void rewrite_from(std::size_t index, const std::string& from, const std::string& to) {
        std::string before = index == 0 ? std::string(kGenesisHash) : entries[index - 1].hash;
        for (std::size_t i = index; i < entries.size(); ++i) {
            Entry& entry = entries[i];
            if (i == index) {
                entry.text.replace(entry.text.find(from), from.size(), to);
            } else {
                const std::size_t at = entry.text.find("\"prev_hash\":\"") + 13;
                entry.text.replace(at, 64, before);
            }
            entry.hash = link_hash(before, entry.text);
            before = entry.hash;
        }
    }

    TenantId tenant_;
    Timestamp now = kNoon;
    Ed25519KeyPair key = key_of('a');
    std::int64_t epoch = 0;
    SealPoint last;
    ChainHead head;
    std::vector<Entry> entries;
};

std::string reason_of(const ChainVerifier& verifier) {
    return verifier.fault() ? verifier.fault()->reason : "";
}

TEST(ChainVerifier, ASealedChainHolds) {
    Chain chain;
    chain.add();
    chain.add_seal();
    chain.add();
    chain.add_move('b');
    chain.add();
    chain.add_seal();
    const ChainVerifier verifier = chain.verified();
    EXPECT_EQ(reason_of(verifier), "");
    EXPECT_EQ(verifier.seals(), 3);
    EXPECT_EQ(verifier.last_seal().seq, 6);
    EXPECT_EQ(verifier.unsealed(), 0);
}

// Without a key nobody can hash a sealed chain anew.
TEST(ChainVerifier, AChainThatWasHashedAnewHasABadSeal) {
    Chain chain;
    chain.add();
    chain.add();
    chain.add_seal();
    chain.rewrite_from(0, "internal:test", "internal:evil");
    const ChainVerifier verifier = chain.verified();
    EXPECT_EQ(reason_of(verifier), "bad_checkpoint");
    EXPECT_EQ(verifier.fault()->seq, 3);
}

// The seals deleted, the rest hashed anew: a chain may not go that long without one.
TEST(ChainVerifier, AnHourOfRecordsWithoutASealIsNamed) {
    Chain chain;
    chain.add_seal();
    chain.add();
    chain.now = kNoon + Duration::of_minutes(61);
    chain.add();
    EXPECT_EQ(reason_of(chain.verified()), "");
    chain.now = kNoon + Duration::of_minutes(61) + Duration::of_milliseconds(1);
    chain.add();
    EXPECT_EQ(reason_of(chain.verified()), "missing_checkpoint");
    EXPECT_EQ(chain.verified().fault()->seq, 4);
}

TEST(ChainVerifier, TooManyRecordsWithoutASealAreNamed) {
    Chain chain;
    chain.add_seal();
    for (std::int64_t i = 0; i < kUnsealedMax; ++i) {
        chain.add();
    }
    EXPECT_EQ(reason_of(chain.verified()), "");
    chain.add();
    EXPECT_EQ(reason_of(chain.verified()), "missing_checkpoint");
}

TEST(ChainVerifier, AChainThatNeverHadASealSaysWhereOneWasDue) {
    Chain chain;
    chain.add();
    chain.now = kNoon + Duration::of_hours(3);
    chain.add();
    const ChainVerifier verifier = chain.verified();
    EXPECT_EQ(reason_of(verifier), "");
    ASSERT_TRUE(verifier.overdue());
    EXPECT_EQ(verifier.overdue()->seq, 2);
    // A seal that does not adopt what stands before it does not make it good.
    chain.add_seal();
    EXPECT_EQ(reason_of(chain.verified()), "bad_checkpoint");
}

TEST(ChainVerifier, AnAdoptingSealTakesOnWhatWasThere) {
    Chain chain;
    chain.add();
    chain.now = kNoon + Duration::of_hours(3);
    chain.add();
    Seal seal = chain.contents();
    seal.adopted = 2;
    chain.add_seal(std::move(seal));
    chain.add();
    const ChainVerifier verifier = chain.verified();
    EXPECT_EQ(reason_of(verifier), "");
    EXPECT_EQ(verifier.adopted(), 2);
}

TEST(ChainVerifier, AnAdoptionLaterInAChainIsNone) {
    Chain chain;
    chain.add_seal();
    chain.add();
    Seal seal = chain.contents();
    seal.adopted = 2;
    chain.add_seal(std::move(seal));
    EXPECT_EQ(reason_of(chain.verified()), "bad_checkpoint");
}

// Whoever steals today's key cannot sign yesterday: a seal of an earlier epoch needs that epoch's
// key, and one of today's key is no seal of before.
TEST(ChainVerifier, TodaysKeySignsNothingOfBefore) {
    Chain real;
    real.add();
    real.add_move('b');
    real.add();
    real.add_seal();

    Chain forged;  // With key b, pretending to be epoch 0.
    forged.key = key_of('b');
    forged.add();
    forged.add_seal();
    EXPECT_EQ(reason_of(forged.verified()), "bad_checkpoint");

    Chain early;  // With key b, used before anybody vouched for it.
    early.key = key_of('b');
    early.epoch = 1;
    early.add();
    early.add_seal();
    EXPECT_EQ(reason_of(early.verified()), "bad_checkpoint");
}

TEST(ChainVerifier, OnlyTheSystemSaysWhichKeyIsNext) {
    Chain chain("demo");
    chain.add();
    chain.add_move('b');
    EXPECT_EQ(reason_of(chain.verified()), "bad_checkpoint");
}

TEST(ChainVerifier, ASealOfAnotherBookIsNotTaken) {
    Chain chain;
    chain.add();
    Seal seal = chain.contents();
    seal.book = kRelayBook;
    chain.add_seal(std::move(seal));
    EXPECT_EQ(reason_of(chain.verified()), "bad_checkpoint");
}

TEST(ChainVerifier, ASealThatSkipsTheOneBeforeIsNamed) {
    Chain chain;
    chain.add_seal();
    const SealPoint first = chain.last;
    chain.add();
    chain.add_seal();
    chain.last = first;
    chain.add();
    chain.add_seal();
    const ChainVerifier verifier = chain.verified();
    EXPECT_EQ(reason_of(verifier), "bad_checkpoint");
    EXPECT_EQ(verifier.fault()->seq, 5);
}

TEST(ChainVerifier, RowsAddUpToTheRootOfTheSeal) {
    const std::string one(64, '1');
    const std::string two(64, '2');
    Chain chain;
    chain.add({{"kill/demo", "", one}});
    chain.add({{"kill/demo", one, two}, {"vault/demo", "", one}});
    RowSet rows;
    rows.set("kill/demo", two);
    rows.set("vault/demo", one);
    chain.add_seal(chain.contents(rows));
    EXPECT_EQ(reason_of(chain.verified()), "");
    EXPECT_EQ(chain.verified().rows().root(), rows.root());
    // One that does not say what was before.
    chain.add({{"kill/demo", one, two}});
    EXPECT_EQ(reason_of(chain.verified()), "changed_row");
}

TEST(ChainVerifier, ARootOverOtherRowsIsNamed) {
    Chain chain;
    chain.add({{"kill/demo", "", std::string(64, '1')}});
    chain.add_seal();
    EXPECT_EQ(reason_of(chain.verified()), "bad_checkpoint");
}

TEST(ChainVerifier, AWalkFromASealKnowsTheChangesSince) {
    const std::string one(64, '1');
    const std::string two(64, '2');
    Chain chain;
    chain.add({{"kill/demo", "", one}, {"vault/demo", "", one}});
    RowSet then;
    then.set("kill/demo", one);
    then.set("vault/demo", one);
    chain.add_seal(chain.contents(then));
    SealPoint start = chain.last;
    start.rows = {2, then.root()};
    chain.add({{"kill/demo", one, two}});

    KeyLineage keys(key_of('a').public_key);
    ChainVerifier verifier(chain.tenant_, {.keys = &keys}, start);
    verifier.add(3, chain.entries[2].text, chain.entries[2].hash);
    EXPECT_EQ(reason_of(verifier), "");
    EXPECT_FALSE(verifier.knows_all_rows());

    RowSet live = then;
    live.set("kill/demo", two);
    EXPECT_EQ(rows_before(live, verifier.changes())->root(), start.rows.root);
    live.set("vault/demo", two);  // Edited in the database.
    EXPECT_NE(rows_before(live, verifier.changes())->root(), start.rows.root);
    live.set("kill/demo", one);
    EXPECT_FALSE(rows_before(live, verifier.changes()));
}

TEST(ChainVerifier, CompareNamesEveryRowThatDiffers) {
    RowSet expected;
    expected.set("kill/a", std::string(64, '1'));
    expected.set("kill/b", std::string(64, '1'));
    RowSet live;
    live.set("kill/a", std::string(64, '2'));
    live.set("kill/c", std::string(64, '1'));
    const auto faults = compare_rows(expected, live);
    ASSERT_EQ(faults.size(), 3U);
    EXPECT_EQ(faults[0].reason, "changed_row");
    EXPECT_EQ(faults[1].reason, "missing_row");
    EXPECT_EQ(faults[2].reason, "unknown_row");
}

Seal break_of(const Chain& chain, std::int64_t bad_seq, std::int64_t good_seq) {
    Seal seal = chain.contents();
    seal.broken = ChainBreak{bad_seq, "truncated_tail", "cut", good_seq, {}};
    return seal;
}

// A cut chain goes on behind a gap, and the break is told for ever.
TEST(ChainVerifier, ABreakIsWalkedOverAndTold) {
    Chain chain;
    chain.add();
    chain.add_seal();
    chain.add();
    chain.add_seal(break_of(chain, 4, 3), kBreakEvent, 60);
    chain.add();
    const ChainVerifier verifier = chain.verified();
    EXPECT_EQ(reason_of(verifier), "");
    ASSERT_EQ(verifier.breaks().size(), 1U);
    EXPECT_EQ(verifier.breaks()[0].seq, 60);
    EXPECT_EQ(verifier.breaks()[0].broken.bad_seq, 4);
    EXPECT_EQ(verifier.head().seq, 61);
}

TEST(ChainVerifier, ABreakThatNamesAnotherFaultHealsNothing) {
    Chain chain;
    chain.add();
    chain.add_seal();
    chain.add();
    chain.add_seal(break_of(chain, 5, 3), kBreakEvent, 60);
    const ChainVerifier verifier = chain.verified();
    EXPECT_EQ(reason_of(verifier), "missing_record");
    EXPECT_EQ(verifier.fault()->seq, 4);
}

TEST(ChainVerifier, ABreakThatIsNotSignedHealsNothing) {
    Chain chain("demo");
    chain.add();
    chain.add_seal();
    chain.add();
    chain.key = key_of('z');
    chain.add_seal(break_of(chain, 4, 3), kBreakEvent, 60);
    EXPECT_EQ(reason_of(chain.verified()), "missing_record");
}

// A restored folder has no key; its new one is nobody's heir, and that is a break.
TEST(ChainVerifier, ANewFirstKeyComesOnlyWithABreak) {
    const auto begin = [](Chain& chain) {
        chain.add();
        chain.add_seal();
        chain.key = key_of('n');
        chain.epoch = 1;
    };
    Chain silent;
    begin(silent);
    silent.add_seal();
    EXPECT_EQ(reason_of(silent.verified()), "bad_checkpoint");

    Chain chain;
    begin(chain);
    chain.add_seal(break_of(chain, 2, 2), kBreakEvent);
    const ChainVerifier verifier = chain.verified();
    EXPECT_EQ(reason_of(verifier), "");
    EXPECT_EQ(verifier.breaks().size(), 1U);
}

TEST(ChainVerifier, AcceptingABreakNamesTheHuman) {
    Chain chain;
    chain.add_seal();
    chain.add_seal(break_of(chain, 1, 1), kBreakEvent);
    AuditDraft accept = chain.draft(kBreakAcceptedEvent);
    accept.principal = "human:hum_1";
    const SealedRecord sealed = *interlock::seal(chain.head, std::move(accept));
    chain.entries.push_back({sealed.record.seq, sealed.canonical, sealed.record.hash});
    EXPECT_EQ(chain.verified().breaks().front().accepted_by, "human:hum_1");
}

TEST(ChainVerifier, ArtifactsOfEveryRecordAreTold) {
    Chain chain;
    AuditDraft draft = chain.draft("PROBE");
    draft.artifacts = {"sha256:aa", "sha256:bb"};
    const SealedRecord sealed = *interlock::seal(chain.head, std::move(draft));
    std::vector<std::string> told;
    ChainVerifier verifier(
        chain.tenant_,
        {.on_artifact = [&](std::int64_t, const std::string& ref) { told.push_back(ref); }});
    verifier.add(1, sealed.canonical, sealed.record.hash);
    EXPECT_EQ(told, (std::vector<std::string>{"sha256:aa", "sha256:bb"}));
}

TEST(Seal, ItsTextSurvivesARoundTrip) {
    Chain chain;
    Seal seal = chain.contents();
    seal.heads = SealedHeads{3, std::string(64, 'c')};
    seal.adopted = 7;
    seal.broken = ChainBreak{1, "missing_record", "gone", 0, {"kill/demo"}};
    seal.next_key = KeyStep{1, std::string(64, 'd'), std::string(128, 'e')};
    seal.signature = std::string(128, 'f');
    EXPECT_EQ(*decode_seal(encode(seal)), seal);
}

TEST(Seal, AListOfHeadsIsReadBack) {
    const HeadLine line{"ledger", TenantId::trusted("demo"), {17, std::string(64, 'a')}};
    const auto lines = parse_head_list(to_text(line) + "\n");
    ASSERT_TRUE(lines);
    EXPECT_EQ(lines->front(), line);
    EXPECT_FALSE(parse_head_list("ledger/demo 17\n"));
    EXPECT_FALSE(parse_head_list("ledger/demo x aa\n"));
    EXPECT_FALSE(parse_head_list(to_text(line)));  // Cut short.
}

TEST(KeyLineage, AStepNeedsTheVoucherOfTheKeyBefore) {
    const Ed25519KeyPair first = key_of('a');
    const std::string next = to_hex(key_of('b').public_key);
    KeyLineage keys(first.public_key);
    KeyStep step{1, next, to_hex(ed25519_sign(key_of('z'), key_step_text(1, next)))};
    EXPECT_FALSE(keys.add(step));
    step.signature = to_hex(ed25519_sign(first, key_step_text(1, next)));
    EXPECT_TRUE(keys.add(step));
    EXPECT_TRUE(keys.holds(1, next));
    EXPECT_FALSE(keys.holds(0, next));
    EXPECT_FALSE(keys.add(step));  // Once.
}

}  // namespace
}  // namespace interlock
