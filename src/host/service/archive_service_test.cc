// Records leave the store only for a file that was read back, piece by piece, and what is left
// still proves itself (ADR 0025).
#include "host/service/archive_service.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/crypto.h"
#include "engine/service/ledger_check.h"
#include "engine/service/ledger_export.h"
#include "host/service/archive_cut.h"
#include "testing/plane_world.h"

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");
const TenantId kOther = TenantId::trusted("other");
using Contents = MemoryLedgerContents;

Principal host() {
    Principal principal;
    principal.kind = PrincipalKind::host_operator;
    principal.id = "local";
    return principal;
}

class ArchiveServiceTest : public ::testing::Test {
protected:
    // Two tenants with a past of 40 days ago and a few records of today.
    ArchiveServiceTest() {
        with_artifact(system_tenant(), "host facts");
        world.plane->ledger.sign_all();
        with_artifact(system_tenant(), "more host facts");
        for (int i = 0; i < 200; ++i) {
            world.probe("old" + std::to_string(i));
            if (i == 100) {
                world.plane->ledger.sign_all();  // A seal inside the segment.
            }
        }
        with_artifact(kDemo, "old facts");
        with_artifact(kDemo, "facts of both days");
        with_artifact(kOther, "other facts");
        world.plane->ledger.sign_all();
        world.clock.advance(Duration::of_days(40));
        world.probe("new");
        with_artifact(kDemo, "facts of both days");
        with_artifact(kOther, "new facts");
        world.plane->ledger.sign_all();
        world.memory.tamper([this](Contents& all) { before = all; });
    }

    void with_artifact(const TenantId& tenant_id, const std::string& bytes) {
        TurnRequest request;
        request.tenant_id = tenant_id;
        request.principal = internal_principal("test");
        request.function = "test";
        request.decide = [bytes](Turn& turn) -> Result<TurnReply> {
            AuditDraft draft = turn.draft("FACTS");
            draft.artifacts.push_back(turn.put_artifact(bytes));
            TRY(turn.audit(std::move(draft)));
            return Answer{};
        };
        world.submit(std::move(request));
    }

    ArchivedSegment write(const TenantId& tenant_id) {
        const auto chosen =
            choose_segment(world.memory, tenant_id, world.clock.now() - Duration::of_days(30));
        EXPECT_TRUE(chosen && *chosen);
        ArchivedSegment segment = **chosen;
        std::ostringstream out;
        const auto written = write_export(
            {.store = world.memory,
             .signer =
                 {world.keys.first_public_key(), world.keys.current().epoch, world.keys.pair()},
             .created_at = world.clock.now(),
             .segment = SegmentRange{segment.from, segment.to}},
            tenant_id,
            out);
        EXPECT_TRUE(written && !written->fault);
        std::istringstream in(out.str());
        const auto good = confirm_segment(
            in, {world.keys.first_public_key(), world.plane->ledger.lineage(), tenant_id}, segment);
        EXPECT_TRUE(good) << good.error().message;
        segment.bytes = std::ssize(out.str());
        segment.sha256 = sha256_hex(out.str());
        world.segments.files[segment.file] = out.str();
        return segment;
    }

    Result<Answer> ask(const TenantId& tenant_id, const ArchivedSegment& segment) {
        Result<Answer> got = fail(errors::internal, "no answer");
        world.plane->archive.archive(
            host(), {tenant_id, "", segment}, [&](Result<Answer> answer) { got = answer; });
        return got;
    }

    void archive(const TenantId& tenant_id) {
        const auto answer = ask(tenant_id, write(tenant_id));
        ASSERT_TRUE(answer) << answer.error().message;
    }

    void finish() {
        for (int i = 0; i < 1000 && world.plane->archive.has_work(); ++i) {
            world.plane->archive.duty();
        }
        EXPECT_FALSE(world.plane->archive.has_work());
    }

    std::int64_t to_of(const TenantId& tenant_id) {
        return world.plane->archive.archive_of(tenant_id).to();
    }

    std::vector<ChainReport> verify(SegmentSource* segments) {
        KeyLineage keys(world.keys.first_public_key());
        auto reports = check_ledger(
            {.store = world.memory,
             .mirror = {},
             .keys = keys,
             .head_log = world.head_log.lines,
             .segments = segments,
             .check_artifacts = true});
        EXPECT_TRUE(reports) << reports.error().message;
        return *reports;
    }
    std::string first_fault(SegmentSource* segments) {
        for (const ChainReport& report : verify(segments)) {
            if (report.fault) {
                return report.tenant_id.text() + " " + report.fault->reason + ": " +
                       report.fault->detail;
            }
        }
        return "";
    }
    std::string fault_of(const TenantId& tenant_id, SegmentSource* segments) {
        for (const ChainReport& report : verify(segments)) {
            if (report.tenant_id == tenant_id && report.fault) {
                return report.fault->reason;
            }
        }
        return "";
    }
    std::vector<std::int64_t> live(const TenantId& tenant_id) {
        std::vector<std::int64_t> seqs;
        const auto page = world.memory.read_ledger(tenant_id, 0, 1'000'000).value();
        for (const LedgerEntry& entry : page) {
            seqs.push_back(entry.seq);
        }
        return seqs;
    }

    PlaneWorld world;
    Contents before;
};

TEST_F(ArchiveServiceTest, RecordsLeaveTheStoreAndAreInTheFile) {
    archive(kDemo);
    archive(system_tenant());
    finish();
    const std::int64_t to = to_of(kDemo);
    ASSERT_GT(to, 200);
    EXPECT_EQ(live(kDemo).front(), to);
    EXPECT_EQ(first_fault(nullptr), "");
    EXPECT_EQ(first_fault(&world.segments), "");
    // With the files it is one chain, as it was.
    JoinedLedger joined(world.memory, world.segments);
    for (const auto& [place, entry] : before.ledger) {
        const auto read = joined.read_ledger(place.first, place.second - 1, 1);
        ASSERT_TRUE(read) << read.error().message;
        ASSERT_EQ(read->size(), 1u);
        EXPECT_EQ(read->front(), entry);
    }
    EXPECT_EQ(joined.read_ledger(kDemo, 0, 100'000)->size(), live(kDemo).size() + to - 1);
    // What only old records refer to is in the file; what a live one needs is in the store.
    EXPECT_EQ(*world.memory.read_artifact(kDemo, sha256_hex("old facts")), std::nullopt);
    EXPECT_EQ(*joined.read_artifact(kDemo, sha256_hex("old facts")), "old facts");
    EXPECT_EQ(
        *world.memory.read_artifact(kDemo, sha256_hex("facts of both days")), "facts of both days");
    // Seals of `_system` stay as records, for heads.log and witnesses.
    for (const auto& [place, point] : before.checkpoints) {
        if (place.first == system_tenant()) {
            EXPECT_EQ(
                world.memory.read_ledger(place.first, place.second - 1, 1)->front().seq,
                place.second);
        }
    }
}

TEST_F(ArchiveServiceTest, TheFileProvesItselfAndBeginsWhereTheLastOneEnded) {
    archive(kDemo);
    finish();
    world.clock.advance(Duration::of_days(40));
    world.probe("later");
    world.plane->ledger.sign_all();
    archive(kDemo);
    finish();
    const ArchiveState state = world.plane->archive.archive_of(kDemo);
    ASSERT_EQ(state.segments.size(), 2u);
    EXPECT_EQ(state.segments[1].from, state.segments[0].to);
    for (const ArchivedSegment& segment : state.segments) {
        std::string bytes = world.segments.files.at(segment.file);
        std::istringstream in(bytes);
        const auto report = verify_export(in, {.public_key = world.keys.first_public_key()});
        ASSERT_TRUE(report) << report.error().message;
        EXPECT_TRUE(report->ok()) << report->chain.fault->detail;
        EXPECT_TRUE(report->authorship_proven);
        // Any byte of a record, an artifact or a seal that is another is found.
        for (std::size_t at = bytes.find('\n') + 1; at < bytes.size(); at += 977) {
            std::string changed = bytes;
            changed[at] = changed[at] == '1' ? '2' : '1';
            std::istringstream other(changed);
            const auto bad = verify_export(other, {.public_key = world.keys.first_public_key()});
            EXPECT_TRUE(!bad || !bad->ok()) << at;
        }
    }
    EXPECT_EQ(first_fault(nullptr), "");
    EXPECT_EQ(first_fault(&world.segments), "");
    // The first file alone is of no use: the walk begins behind the one that is not there.
    world.segments.files.erase(state.segments[1].file);
    EXPECT_EQ(first_fault(&world.segments), "");
}

TEST_F(ArchiveServiceTest, ACrashAfterAnyPieceIsGoneOnFrom) {
    archive(kDemo);
    archive(system_tenant());
    int lives = 0;
    while (world.plane->archive.has_work() && lives < 100) {
        world.rebuild();
        EXPECT_EQ(first_fault(nullptr), "") << lives;
        EXPECT_EQ(first_fault(&world.segments), "") << lives;
        world.plane->archive.duty();
        ++lives;
    }
    EXPECT_GT(lives, 2);
    EXPECT_EQ(live(kDemo).front(), to_of(kDemo));
    for (const ChainReport& report : world.recovery.chains) {
        EXPECT_TRUE(report.ok()) << report.fault->detail;
    }
}

TEST_F(ArchiveServiceTest, ReadersAreToldWhereTheRecordsAre) {
    archive(kDemo);
    finish();
    const auto gone = world.plane->ledger.read(kDemo, 0, 10);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code(), "archived");
    EXPECT_NE(gone.error().message.find("demo-1-"), std::string::npos);
    EXPECT_EQ(gone.error().kind->http_status, 410);
    const std::int64_t to = to_of(kDemo);
    EXPECT_EQ(world.plane->ledger.read(kDemo, to - 1, 10)->front().seq, to);
    EXPECT_EQ(world.plane->ledger.tail(kDemo, 1000)->front().seq, to);
    HeldSegments none;
    JoinedLedger joined(world.memory, none);
    EXPECT_EQ(joined.read_ledger(kDemo, 5, 10).error().code(), "archived");
}

TEST_F(ArchiveServiceTest, RefusesWhatMustStay) {
    const ArchivedSegment good = write(kDemo);
    const auto refuses = [&](ArchivedSegment segment) {
        const auto answer = ask(kDemo, segment);
        return answer ? "" : std::string(answer.error().code());
    };
    const auto points = *world.memory.read_checkpoints(kDemo);
    ArchivedSegment last = good;
    last.to = points.back().seq;
    last.hash = points.back().hash;
    last.at = points.back().at;
    EXPECT_EQ(refuses(last), "cannot_archive");
    ArchivedSegment hash = good;
    hash.hash = std::string(64, 'a');
    EXPECT_EQ(refuses(hash), "cannot_archive");
    ArchivedSegment root = good;
    root.seals_root = std::string(64, 'a');
    EXPECT_EQ(refuses(root), "cannot_archive");
    ArchivedSegment from = good;
    from.from = 2;
    EXPECT_EQ(refuses(from), "cannot_archive");
    ArchivedSegment size = good;
    size.bytes += 1;
    EXPECT_EQ(refuses(size), "cannot_archive");
    ArchivedSegment file = good;
    file.file = "elsewhere.jsonl";
    EXPECT_EQ(refuses(file), "cannot_archive");
    EXPECT_EQ(refuses(good), "");
    EXPECT_EQ(refuses(good), "cannot_archive");  // Not twice.
}

TEST_F(ArchiveServiceTest, NothingOfABrokenChainIsArchived) {
    const ArchivedSegment good = write(kDemo);
    world.memory.tamper([](Contents& all) {
        const std::int64_t head = all.heads.at(kDemo).seq;
        std::string& text = all.ledger.at({kDemo, head}).canonical_json;
        text.replace(text.find("\"reason\":\"") + 10, 0, "x");
    });
    world.rebuild();
    const auto answer = ask(kDemo, good);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), "cannot_archive");
}

struct ArchiveTampering {
    std::string name;
    std::function<void(PlaneWorld&)> edit;
    std::string with_files;
    std::string without_files;
};
std::ostream& operator<<(std::ostream& out, const ArchiveTampering& tampering) {
    return out << tampering.name;
}

class ArchiveTamperTest : public ArchiveServiceTest,
                          public ::testing::WithParamInterface<ArchiveTampering> {};

TEST_P(ArchiveTamperTest, IsNamed) {
    archive(kDemo);
    archive(kOther);
    finish();
    ASSERT_EQ(first_fault(&world.segments), "");
    ASSERT_EQ(first_fault(nullptr), "");
    GetParam().edit(world);
    EXPECT_EQ(fault_of(kDemo, &world.segments), GetParam().with_files);
    EXPECT_EQ(fault_of(kDemo, nullptr), GetParam().without_files);
}

std::string& file_of(PlaneWorld& world, const std::string& tenant) {
    for (auto& [name, bytes] : world.segments.files) {
        if (name.starts_with(tenant + "-1-")) {
            return bytes;
        }
    }
    std::abort();
}

void edit_row(PlaneWorld& world, const std::string& from, const std::string& to) {
    world.memory.tamper([&](Contents& all) {
        std::string& json = all.states.at("archive/demo").json;
        const std::size_t at = json.find(from);
        ASSERT_NE(at, std::string::npos);
        json.replace(at, from.size(), to);
    });
}

const std::vector<ArchiveTampering> kArchiveTamperings{
    {"edit_the_file",
     [](PlaneWorld& world) {
         std::string& bytes = file_of(world, "demo");
         const std::size_t at = bytes.find("\"reason\":\"", bytes.size() / 2);
         bytes.insert(at + 10, "x");
     },
     "changed_segment",
     ""},
    {"cut_the_file",
     [](PlaneWorld& world) {
         std::string& bytes = file_of(world, "demo");
         bytes.resize(bytes.size() / 2);
     },
     "changed_segment",
     ""},
    {"swap_the_files_of_two_tenants",
     [](PlaneWorld& world) { std::swap(file_of(world, "demo"), file_of(world, "other")); },
     "changed_segment",
     ""},
    {"edit_the_row",
     [](PlaneWorld& world) { edit_row(world, "\"sha256\":\"", "\"sha256\":\"0"); },
     "missing_record",
     "missing_record"},
    {"edit_the_row_so_that_it_reads",
     [](PlaneWorld& world) { edit_row(world, "\"file\":\"demo-", "\"file\":\"demo_"); },
     "changed_row",
     "changed_row"},
    {"remove_the_row",
     [](PlaneWorld& world) {
         world.memory.tamper([](Contents& all) { all.states.erase("archive/demo"); });
     },
     "missing_record",
     "missing_record"},
    {"forget_a_seal_that_was_archived",
     [](PlaneWorld& world) {
         const std::int64_t to = world.plane->archive.archive_of(kDemo).to();
         world.memory.tamper([to](Contents& all) {
             const auto first = all.checkpoints.lower_bound({kDemo, 0});
             ASSERT_LT(first->first.second, to);
             all.checkpoints.erase(first);
         });
     },
     "missing_checkpoint",
     "bad_checkpoint"},
    {"remove_the_seal_at_the_cut",
     [](PlaneWorld& world) {
         const std::int64_t to = world.plane->archive.archive_of(kDemo).to();
         world.memory.tamper([to](Contents& all) { all.ledger.erase({kDemo, to}); });
     },
     "missing_record",
     "missing_checkpoint"},
};
INSTANTIATE_TEST_SUITE_P(
    All, ArchiveTamperTest, ::testing::ValuesIn(kArchiveTamperings), [](const auto& one) {
        return one.param.name;
    });

TEST_F(ArchiveServiceTest, RecordsThatGoWithoutAWordAreMissed) {
    const auto points = *world.memory.read_checkpoints(kDemo);
    ASSERT_GT(points.size(), 1u);
    const std::int64_t to = points[1].seq;
    world.memory.tamper([to](Contents& all) {
        std::erase_if(all.ledger, [to](const auto& item) {
            return item.first.first == kDemo && item.first.second < to;
        });
    });
    EXPECT_EQ(fault_of(kDemo, nullptr), "missing_record");
    EXPECT_EQ(fault_of(kDemo, &world.segments), "missing_record");
}

}  // namespace
}  // namespace interlock
