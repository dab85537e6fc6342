// Witnesses get every seal of `_system` once, in order, whatever happens to them and to us; and
// what they have tells a folder that was put back (ADR 0024).
#include "host/service/witness_service.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "engine/service/ledger_check.h"
#include "host/service/witness_check.h"
#include "testing/plane_world.h"

namespace interlock {
namespace {

// Outlives the adapter, as a file on another disk does.
struct FakeWitnessDisk {
    std::vector<std::string> lines;
    std::string failure;
    int calls = 0;
};

class FakeWitness final : public Witness {
public:
    explicit FakeWitness(FakeWitnessDisk& disk) : disk_(disk) {}
    std::string name() const override { return "fake"; }
    Result<std::optional<WitnessedHead>> newest() override {
        if (disk_.lines.empty()) {
            return std::nullopt;
        }
        TRY_ASSIGN(WitnessedHead head, read_head_line(disk_.lines.back()));
        return head;
    }
    Result<void> push(const WitnessedHead& head) override {
        ++disk_.calls;
        if (!disk_.failure.empty()) {
            return fail(errors::unavailable, disk_.failure);
        }
        disk_.lines.push_back(head.line);
        return {};
    }

private:
    FakeWitnessDisk& disk_;
};

class WitnessTest : public ::testing::Test {
protected:
    WitnessTest() { renew(); }

    // A start of the server: what the pusher knew is gone.
    void renew() {
        pusher = std::make_unique<WitnessPusher>(WitnessPusher::Parts{
            .witness = std::make_unique<FakeWitness>(disk),
            .head_log = world.head_log,
            .store = world.memory,
            .clock = world.clock,
            .on_late = [this](const std::string&, const std::string& problem) {
                late.push_back(problem);
            }});
    }
    void seal(int count = 1) {
        for (int i = 0; i < count; ++i) {
            world.probe("k" + std::to_string(++probes_));
            world.plane->ledger.sign_all();
        }
    }
    // The whole data folder, keys and head log included.
    struct Folder {
        MemoryLedgerContents contents;
        std::vector<std::string> heads;
        std::int64_t epoch = 0;  // Of the sealing key, which follows from the seed.
    };
    Folder copy_folder() {
        MemoryLedgerContents contents;
        world.memory.tamper([&](const MemoryLedgerContents& all) { contents = all; });
        return {std::move(contents), world.head_log.lines, world.keys.current().epoch};
    }
    void put_back(const Folder& folder) {
        world.memory.tamper([&](MemoryLedgerContents& all) { all = folder.contents; });
        world.head_log.lines = folder.heads;
        world.keys.begin_with(std::string(32, 's'));
        while (world.keys.current().epoch < folder.epoch) {
            world.keys.advance();
        }
    }
    // As the service does it on the engine's thread.
    void settle() {
        if (const auto fault = pusher->dispute()) {
            world.plane->ledger.note_break(system_tenant(), kWitnessBook, *fault);
            if (!world.plane->ledger.chain_problem(system_tenant()).empty()) {
                pusher->settle_dispute();
            }
        }
    }
    Result<WitnessReport> check(
        const std::vector<std::string>& lines, std::int64_t known = 0, Timestamp before = {}) {
        WitnessEvidence evidence{"w", {}};
        for (const std::string& line : lines) {
            evidence.lines.push_back({line});
        }
        KeyLineage keys(world.keys.first_public_key());
        EXPECT_TRUE(load_lineage(world.memory, keys));
        return check_witness(
            {.store = world.memory,
             .keys = keys,
             .evidence = evidence,
             .known_break = known,
             .known_before = before});
    }
    std::string problem(const std::vector<std::string>& lines) {
        const auto report = check(lines);
        EXPECT_TRUE(report.has_value());
        return report->fault ? report->fault->reason : "";
    }

    PlaneWorld world;
    FakeWitnessDisk disk;
    std::unique_ptr<WitnessPusher> pusher;
    std::vector<std::string> late;

private:
    int probes_ = 0;
};

TEST_F(WitnessTest, ANewWitnessBeginsWithTheLastSealAndGetsEveryLaterOne) {
    seal(3);
    pusher->round();
    ASSERT_EQ(disk.lines.size(), 1u);
    EXPECT_EQ(disk.lines.back(), world.head_log.lines.back());
    seal(5);
    EXPECT_GT(pusher->round().microseconds, 0);
    EXPECT_EQ(disk.lines.size(), 6u);
    EXPECT_TRUE(pusher->has_all());
    const std::vector<std::string> tail(world.head_log.lines.end() - 6, world.head_log.lines.end());
    EXPECT_EQ(disk.lines, tail);
    const auto report = check(disk.lines);
    ASSERT_TRUE(report.has_value());
    EXPECT_TRUE(report->ok());
    EXPECT_EQ(report->confirmed, 6);
    EXPECT_EQ(pusher->state().pushed, 6);
}

TEST_F(WitnessTest, WhatWasNotPushedIsPushedAfterARestart) {
    seal();
    pusher->round();
    disk.failure = "no route to host";
    seal(4);
    pusher->round();
    EXPECT_EQ(pusher->state().pending, 4);
    EXPECT_EQ(pusher->state().problem, "no route to host");
    renew();
    disk.failure.clear();
    pusher->round();
    EXPECT_EQ(disk.lines.size(), 5u);
    EXPECT_EQ(problem(disk.lines), "");
    renew();
    pusher->round();
    EXPECT_EQ(disk.lines.size(), 5u) << "a line was given twice";
}

TEST_F(WitnessTest, GivesABoundedNumberAtATime) {
    seal();
    pusher->round();
    disk.failure = "busy";
    seal(static_cast<int>(kWitnessBatchMax) + 10);
    pusher->round();
    disk.failure.clear();
    EXPECT_EQ(pusher->round().microseconds, 0) << "more is due at once";
    EXPECT_EQ(disk.lines.size(), 1 + kWitnessBatchMax);
    pusher->round();
    EXPECT_TRUE(pusher->has_all());
}

TEST_F(WitnessTest, TriesAgainEverMoreSeldomAndAlertsOnce) {
    seal();
    disk.failure = "it answered 503";
    Duration wait = pusher->round();
    EXPECT_EQ(wait.microseconds, kWitnessRetryFirst.microseconds);
    EXPECT_EQ(pusher->round().microseconds, 2 * kWitnessRetryFirst.microseconds);
    for (int i = 0; i < 20; ++i) {
        world.clock.advance(wait);
        wait = pusher->round();
    }
    EXPECT_EQ(wait.microseconds, kWitnessRetryMax.microseconds);
    EXPECT_EQ(late, (std::vector<std::string>{"it answered 503"}));
    EXPECT_EQ(pusher->state().failures, 22);
    disk.failure.clear();
    pusher->round();
    EXPECT_EQ(late, (std::vector<std::string>{"it answered 503", ""}));
    EXPECT_EQ(pusher->state().problem, "");
}

TEST_F(WitnessTest, AFolderThatWasPutBackAsAWholeIsNamed) {
    seal(2);
    pusher->round();
    const Folder before = copy_folder();
    seal(3);
    pusher->round();
    ASSERT_EQ(problem(disk.lines), "");
    const std::string missing = disk.lines[1];

    // Everything back, head log included: of one piece, as far as the folder itself can tell.
    put_back(before);
    KeyLineage keys(world.keys.first_public_key());
    const auto plain = check_ledger(
        {.store = world.memory, .mirror = {}, .keys = keys, .head_log = world.head_log.lines});
    ASSERT_TRUE(plain.has_value());
    for (const ChainReport& chain : *plain) {
        EXPECT_FALSE(chain.fault.has_value()) << chain.fault->detail;
    }
    const auto report = check(disk.lines);
    ASSERT_TRUE(report.has_value());
    ASSERT_TRUE(report->fault.has_value());
    EXPECT_EQ(report->fault->reason, "rolled_back");
    EXPECT_EQ(report->missing, 3);
    EXPECT_EQ(report->missing_heads.front(), short_text(read_head_line(missing)->head));
    EXPECT_TRUE(report->fault->detail.contains(report->missing_heads.front()))
        << report->fault->detail;
}

TEST_F(WitnessTest, TheServerItselfNoticesAtItsStartAndSaysSoOnce) {
    seal(2);
    pusher->round();
    const Folder before = copy_folder();
    seal(3);
    pusher->round();
    const std::size_t given = disk.lines.size();
    put_back(before);
    world.rebuild();
    renew();
    pusher->round();
    EXPECT_FALSE(pusher->state().disagreement.empty());
    EXPECT_EQ(disk.lines.size(), given) << "nothing may follow before the record is there";
    settle();
    const auto disagreements = [&] {
        return std::ranges::count(world.events("_system"), "WITNESS_DISAGREES");
    };
    EXPECT_EQ(disagreements(), 1);
    EXPECT_NE(world.plane->ledger.chain_problem(system_tenant()), "");
    // It goes on, behind the evidence; the next start finds its own line and says nothing again.
    pusher->round();
    seal();
    pusher->round();
    EXPECT_GT(disk.lines.size(), given);
    world.rebuild();
    renew();
    pusher->round();
    EXPECT_EQ(disagreements(), 1);
    EXPECT_EQ(pusher->state().disagreement, "");
    // Nobody takes it back: the old lines stay missing.
    EXPECT_NE(problem(disk.lines), "");
    EXPECT_NE(world.plane->ledger.chain_problem(system_tenant()), "");
}

TEST_F(WitnessTest, WhatCouldNotBeRecordedIsToldAgain) {
    seal(2);
    pusher->round();
    const Folder before = copy_folder();
    seal();
    pusher->round();
    const std::size_t given = disk.lines.size();
    put_back(before);
    world.rebuild();
    renew();
    world.store.broken = true;
    pusher->round();
    settle();
    pusher->round();
    EXPECT_EQ(disk.lines.size(), given) << "nothing may follow before the record is there";
    world.store.broken = false;
    world.rebuild();
    renew();
    pusher->round();
    settle();
    EXPECT_EQ(std::ranges::count(world.events("_system"), "WITNESS_DISAGREES"), 1);
}

TEST_F(WitnessTest, AHistoryWrittenAnewWithTheStolenKeyIsNamed) {
    seal(2);
    pusher->round();
    const Folder before = copy_folder();
    seal(2);
    pusher->round();
    // Somebody with today's key goes back to its turn and lets another history follow.
    put_back(before);
    world.rebuild();
    world.probe("another");
    world.plane->ledger.sign_all();
    seal(4);
    EXPECT_EQ(problem(disk.lines), "other_history");
}

TEST_F(WitnessTest, AnotherLedgersSealsAreOfAnotherKey) {
    seal(2);
    PlaneWorld other;
    other.keys.begin_with(std::string(32, 't'));
    other.memory.tamper([](MemoryLedgerContents& all) { all = {}; });
    other.head_log.lines.clear();
    other.rebuild();
    other.probe("k");
    other.plane->ledger.sign_all();
    EXPECT_EQ(problem({other.head_log.lines.front()}), "wrong_key");
    EXPECT_EQ(problem({}), "unwitnessed");
    EXPECT_EQ(problem({"junk"}), "unwitnessed");
    const auto torn = check({world.head_log.lines.back(), "{\"rec"});
    ASSERT_TRUE(torn.has_value());
    EXPECT_TRUE(torn->ok());
    EXPECT_EQ(torn->malformed, 1);
}

TEST_F(WitnessTest, HeadsBehindAnAcceptedBreakAreKnown) {
    seal(2);
    pusher->round();
    const Folder before = copy_folder();
    seal(2);
    pusher->round();
    put_back(before);
    EXPECT_EQ(problem(disk.lines), "rolled_back");
    const std::int64_t last = read_head_line(disk.lines.back())->head.seq;
    const auto report = check(disk.lines, last + 1);
    ASSERT_TRUE(report.has_value());
    EXPECT_TRUE(report->ok());
    EXPECT_EQ(report->known, 2);
}

// A restored chain uses numbers of the lost server again: what counts is the moment.
TEST_F(WitnessTest, HeadsOfBeforeTheMomentOfAnAcceptedBreakAreKnownWhateverTheirNumber) {
    seal(2);
    pusher->round();
    const Folder before = copy_folder();
    seal();
    world.clock.advance(Duration::of_seconds(1));
    seal();
    pusher->round();
    put_back(before);
    const Timestamp last = read_head_line(disk.lines.back())->at;
    const auto restored = check(disk.lines, 1, {last.microseconds + 1});
    ASSERT_TRUE(restored.has_value());
    EXPECT_TRUE(restored->ok());
    EXPECT_EQ(restored->known, 2);
    // A server that goes on elsewhere after the break is another history.
    const auto twin = check(disk.lines, 1, last);
    ASSERT_TRUE(twin.has_value());
    EXPECT_EQ(twin->missing, 1);
    EXPECT_FALSE(twin->ok());
}

TEST_F(WitnessTest, TheServiceRunsEachOnAThreadOfItsOwnAndWaitsForTheLastSeal) {
    FakeWitnessDisk dead;
    dead.failure = "gone";
    std::vector<std::unique_ptr<Witness>> witnesses;
    witnesses.push_back(std::make_unique<FakeWitness>(dead));
    witnesses.push_back(std::make_unique<FakeWitness>(disk));
    WitnessService service(
        {.head_log = world.head_log,
         .store = world.memory,
         .clock = world.clock,
         .submit = [](TurnRequest) {},
         .note_disagreement = [](const ChainFault&) { return true; }},
        std::move(witnesses));
    seal();  // Before the threads: the memory head log is for one at a time.
    service.start();
    service.ring();
    service.stop();
    EXPECT_EQ(disk.lines.size(), 1u);
    EXPECT_EQ(dead.lines.size(), 0u);
    const std::string text = service.metrics_text();
    EXPECT_TRUE(text.contains("interlock_witness_pending{witness=\"fake\"} 1")) << text;
    EXPECT_TRUE(text.contains("interlock_witness_failures_total{witness=\"fake\"} 1")) << text;
}

}  // namespace
}  // namespace interlock
