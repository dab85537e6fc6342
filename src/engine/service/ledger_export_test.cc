#include "engine/service/ledger_export.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <sstream>

#include "base/bytes.h"
#include "base/text.h"
#include "engine/memory/memory_ledger_store.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

const TenantId kTenant = TenantId::trusted("demo");

Ed25519KeyPair key_of(char seed) {
    return *ed25519_from_seed(std::string(32, seed));
}

// As chains were vouched for before seals were records.
Checkpoint sign_checkpoint(
    const Ed25519KeyPair& key, const TenantId& tenant_id, const ChainHead& head, Timestamp at) {
    return sign_head(
        [&](std::string_view text) { return ed25519_sign(key, text); }, tenant_id, head, at);
}

// A store with one chain of `count` records and a checkpoint after every fifth.
class ChainedStore {
public:
    explicit ChainedStore(int count) {
        std::vector<TurnCommit> turns;
        ChainHead head;
        for (int i = 1; i <= count; ++i) {
            AuditDraft draft;
            draft.tenant_id = kTenant;
            draft.event = "PROBE";
            draft.decision_id = DecisionId::trusted("dec_" + std::to_string(i));
            draft.tick_id = TickId::trusted("-");
            draft.principal = "agent:key_1";
            draft.reason = "record \"" + std::to_string(i) + "\" é";
            draft.detail = Json::object({{"n", i}});
            draft.timestamp = FakeClock::kNoon + Duration::of_seconds(i);
            const SealedRecord sealed = *seal(head, draft);
            TurnCommit turn;
            turn.audit.push_back({kTenant, sealed.record.seq, sealed.canonical, head.hash});
            if (i % 5 == 0) {
                turn.checkpoints.push_back(sign_checkpoint(key, kTenant, head, draft.timestamp));
            }
            turns.push_back(std::move(turn));
        }
        EXPECT_TRUE(store.commit(turns));
        head_ = {head.seq, head.hash};
    }

    std::string exported(const LedgerHead* mirror = nullptr) {
        std::ostringstream out;
        const auto report = write_export(
            {.store = store,
             .mirror_head = mirror,
             .signer = {key.public_key, 0, key},
             .created_at = FakeClock::kNoon},
            kTenant,
            out);
        EXPECT_TRUE(report.has_value());
        last_report = *report;
        return out.str();
    }

    const Ed25519KeyPair key = key_of('k');
    MemoryLedgerStore store;
    LedgerHead head_;
    ChainReport last_report;
};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (const std::string_view line : split(text, '\n')) {
        lines.emplace_back(line);
    }
    lines.pop_back();  // After the last newline.
    return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    return text;
}

ExportReport verified(const std::string& text, std::optional<std::string> public_key) {
    std::istringstream in(text);
    const auto report = verify_export(in, {.public_key = std::move(public_key)});
    EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message);
    return report ? *report : ExportReport{};
}

ExportReport verified(const std::string& text) {
    return verified(text, key_of('k').public_key);
}

// Where the record with this seq stands; checkpoints follow every fifth one.
std::size_t line_of_record(const std::vector<std::string>& lines, int seq) {
    const std::string mark = "\"seq\":" + std::to_string(seq) + ",\"severity\"";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].starts_with("{\"record\"") && lines[i].contains(mark)) {
            return i;
        }
    }
    ADD_FAILURE() << "no record " << seq;
    return 0;
}

TEST(LedgerExport, VerifiesWhatItWrote) {
    ChainedStore chained(12);
    const ExportReport report = verified(chained.exported());
    EXPECT_TRUE(report.ok());
    EXPECT_TRUE(report.authorship_proven);
    EXPECT_EQ(report.chain.records, 12);
    EXPECT_EQ(report.chain.checkpoints, 2);
    EXPECT_EQ(report.chain.head.hash, chained.head_.hash);
    EXPECT_EQ(report.created_at, FakeClock::kNoon);
}

TEST(LedgerExport, ProvesNoAuthorshipWithTheKeyInsideTheFile) {
    ChainedStore chained(3);
    const ExportReport report = verified(chained.exported(), std::nullopt);
    EXPECT_TRUE(report.ok());
    EXPECT_FALSE(report.authorship_proven);
}

TEST(LedgerExport, WritesChainsOfMoreThanOnePage) {
    ChainedStore chained(2345);
    const ExportReport report = verified(chained.exported());
    EXPECT_TRUE(report.ok());
    EXPECT_EQ(report.chain.records, 2345);
}

TEST(LedgerExport, RefusesAChainThatDoesNotExist) {
    ChainedStore chained(1);
    std::ostringstream out;
    const auto report = write_export(
        {.store = chained.store,
         .signer = {chained.key.public_key, 0, chained.key},
         .created_at = FakeClock::kNoon},
        TenantId::trusted("nobody"),
        out);
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().code(), "not_found");
}

TEST(LedgerExport, SignsNoHeadBehindWhichTheHeadFileKnowsMore) {
    ChainedStore chained(3);
    const LedgerHead further{4, std::string(64, 'a')};
    const std::vector<std::string> lines = lines_of(chained.exported(&further));
    ASSERT_TRUE(chained.last_report.fault.has_value());
    EXPECT_EQ(chained.last_report.fault->reason, "truncated_tail");
    EXPECT_EQ(chained.last_report.fault->seq, 4);
    EXPECT_FALSE(lines.back().contains("\"head\""));
}

TEST(LedgerExport, SignsNoChainWhoseMiddleTheHeadFileKnowsOtherwise) {
    ChainedStore chained(3);
    const LedgerHead other{2, std::string(64, 'a')};
    chained.exported(&other);
    ASSERT_TRUE(chained.last_report.fault.has_value());
    EXPECT_EQ(chained.last_report.fault->reason, "head_mismatch");
    EXPECT_EQ(chained.last_report.fault->seq, 2);
}

TEST(LedgerExport, FindsTheRecordWhoseTextChanged) {
    ChainedStore chained(12);
    std::vector<std::string> lines = lines_of(chained.exported());
    std::string& line = lines[line_of_record(lines, 7)];
    line.replace(line.find("dec_7"), 5, "dec_9");
    const ExportReport report = verified(text_of(lines));
    ASSERT_TRUE(report.chain.fault.has_value());
    EXPECT_EQ(report.chain.fault->seq, 7);
    EXPECT_EQ(report.chain.fault->reason, "content_changed");
    EXPECT_FALSE(report.authorship_proven);
}

TEST(LedgerExport, FindsTheRecordThatIsMissing) {
    ChainedStore chained(12);
    std::vector<std::string> lines = lines_of(chained.exported());
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(line_of_record(lines, 7)));
    const ExportReport report = verified(text_of(lines));
    ASSERT_TRUE(report.chain.fault.has_value());
    EXPECT_EQ(report.chain.fault->seq, 7);
    EXPECT_EQ(report.chain.fault->reason, "missing_record");
}

TEST(LedgerExport, FindsTheFirstOfTwoRecordsThatChangedPlaces) {
    ChainedStore chained(12);
    std::vector<std::string> lines = lines_of(chained.exported());
    std::swap(lines[line_of_record(lines, 7)], lines[line_of_record(lines, 8)]);
    const ExportReport report = verified(text_of(lines));
    ASSERT_TRUE(report.chain.fault.has_value());
    EXPECT_EQ(report.chain.fault->seq, 7);
}

TEST(LedgerExport, FindsTheEndThatWasCutOffBelowTheSignedHead) {
    ChainedStore chained(12);
    std::vector<std::string> lines = lines_of(chained.exported());
    lines.erase(lines.end() - 3, lines.end() - 1);
    const ExportReport report = verified(text_of(lines));
    ASSERT_TRUE(report.chain.fault.has_value());
    EXPECT_EQ(report.chain.fault->seq, 11);
    EXPECT_EQ(report.chain.fault->reason, "truncated_tail");
}

TEST(LedgerExport, IsIncompleteWithoutItsHead) {
    ChainedStore chained(12);
    std::vector<std::string> lines = lines_of(chained.exported());
    lines.pop_back();
    const ExportReport report = verified(text_of(lines));
    EXPECT_FALSE(report.ok());
    EXPECT_FALSE(report.chain.fault.has_value());
    EXPECT_FALSE(report.authorship_proven);
    EXPECT_NE(report.incomplete_because, "");
    EXPECT_EQ(encode(report).find("problem")->as_string(), "incomplete");
}

TEST(LedgerExport, FindsAFileThatEndsInsideALine) {
    ChainedStore chained(12);
    const std::vector<std::string> lines = lines_of(chained.exported());
    std::string text = text_of({lines.begin(), lines.begin() + 4});
    text.resize(text.size() - 10);
    const ExportReport report = verified(text);
    ASSERT_TRUE(report.chain.fault.has_value());
    EXPECT_EQ(report.chain.fault->seq, 3);
    EXPECT_EQ(report.chain.fault->reason, "truncated_tail");
}

TEST(LedgerExport, RefusesAnythingAfterTheHead) {
    ChainedStore chained(2);
    std::vector<std::string> lines = lines_of(chained.exported());
    lines.push_back(lines.back());
    const ExportReport report = verified(text_of(lines));
    ASSERT_TRUE(report.chain.fault.has_value());
    EXPECT_EQ(report.chain.fault->reason, "malformed_line");
    EXPECT_FALSE(report.ok());
}

TEST(LedgerExport, RefusesAHeadSignedByAnotherKey) {
    ChainedStore chained(4);
    std::vector<std::string> lines = lines_of(chained.exported());
    const Checkpoint forged = sign_checkpoint(
        key_of('x'), kTenant, {chained.head_.seq, chained.head_.hash}, FakeClock::kNoon);
    lines.back() = to_text(Json::object({{"head", encode(forged)}}));
    const ExportReport report = verified(text_of(lines));
    ASSERT_TRUE(report.chain.fault.has_value());
    EXPECT_EQ(report.chain.fault->reason, "bad_checkpoint");
    EXPECT_EQ(report.chain.fault->seq, 4);
}

TEST(LedgerExport, RefusesAFileThatNamesAnotherKeyThanTheGivenOne) {
    ChainedStore chained(4);
    const ExportReport report = verified(chained.exported(), key_of('x').public_key);
    ASSERT_TRUE(report.chain.fault.has_value());
    EXPECT_EQ(report.chain.fault->reason, "wrong_key");
}

TEST(LedgerExport, RefusesACheckpointInAnotherPlace) {
    ChainedStore chained(7);
    std::vector<std::string> lines = lines_of(chained.exported());
    ASSERT_TRUE(lines[6].starts_with("{\"checkpoint\""));
    std::swap(lines[6], lines[7]);
    const ExportReport report = verified(text_of(lines));
    ASSERT_TRUE(report.chain.fault.has_value());
    EXPECT_EQ(report.chain.fault->reason, "bad_checkpoint");
    EXPECT_EQ(report.chain.fault->seq, 6);
}

TEST(LedgerExport, RefusesALineThatIsNothingOfOurs) {
    ChainedStore chained(2);
    std::vector<std::string> lines = lines_of(chained.exported());
    lines.insert(lines.begin() + 2, "{}");
    const ExportReport report = verified(text_of(lines));
    ASSERT_TRUE(report.chain.fault.has_value());
    EXPECT_EQ(report.chain.fault->reason, "malformed_line");
    EXPECT_EQ(report.chain.fault->seq, 2);
}

TEST(LedgerExport, StopsAtALineBeyondTheBound) {
    ChainedStore chained(2);
    const std::vector<std::string> lines = lines_of(chained.exported());
    std::string text = text_of({lines.begin(), lines.begin() + 2});
    text += std::string(kExportLineBytesMax + 1, ' ') + "\n" + lines[2] + "\n" + lines[3] + "\n";
    const ExportReport report = verified(text);
    ASSERT_TRUE(report.chain.fault.has_value());
    EXPECT_EQ(report.chain.fault->seq, 2);
}

TEST(LedgerExport, CallsAFileWithoutHeaderNoExport) {
    std::istringstream in("{\"record\":{}}\n");
    const auto report = verify_export(in, {});
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().code(), "invalid_request");
}

// Whatever single byte changes, the file no longer passes as the one that was written, and the
// first bad record is never past the line that was changed.
TEST(LedgerExport, NoticesEveryChangedByte) {
    ChainedStore chained(6);
    const std::string original = chained.exported();
    const bool held = rc::check([&] {
        const auto at = *rc::gen::inRange<std::size_t>(0, original.size());
        const char bits = *rc::gen::inRange<char>(1, 127);
        std::string changed = original;
        changed[at] = static_cast<char>(changed[at] ^ bits);
        std::istringstream in(changed);
        const auto report = verify_export(in, {.public_key = chained.key.public_key});
        if (!report) {
            return;  // The header itself was hit.
        }
        // The file's own date is not signed by itself; nothing else may pass.
        RC_ASSERT(!report->ok() || report->created_at != FakeClock::kNoon);
        if (report->chain.fault) {
            const auto line = std::count(
                original.begin(), original.begin() + static_cast<std::ptrdiff_t>(at), '\n');
            RC_ASSERT(report->chain.fault->seq <= std::max<std::int64_t>(1, line));
        }
    });
    EXPECT_TRUE(held);
}

}  // namespace
}  // namespace interlock
