// Tests of the sink's memory: once, never twice, never after a "no", over restarts and at its
// bound.
#include "engine/sink/effect_journal.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fstream>
#include <map>
#include <sstream>

#include "base/errors.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

constexpr EffectJournal::Arrival kArrival{{1'794'744'000'000'000}, {42}};

EffectId id_of(int number) {
    return EffectId::trusted("eff_" + std::to_string(number));
}

SinkPerform effect_of(int number, Delivery delivery = Delivery::at_most_once) {
    return {id_of(number), TenantId::trusted("demo"), "probe", R"({"probe_no":1})", delivery};
}

SinkStatus perform(EffectJournal& journal, int number) {
    const auto answer = journal.perform(effect_of(number), kArrival);
    return answer ? answer->status : SinkStatus::failed;
}

SinkStatus find(EffectJournal& journal, int number) {
    const auto answer = journal.find(id_of(number), kArrival);
    return answer ? answer->status : SinkStatus::failed;
}

EffectJournal open_journal(const std::string& path, std::size_t effects_max = kSinkEffectsMax) {
    auto journal = EffectJournal::open({.path = path, .effects_max = effects_max});
    EXPECT_TRUE(journal.has_value());
    return *std::move(journal);
}

std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

void append(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::app) << text;
}

TEST(EffectJournal, WritesAnEffectWithTheTimesOfItsArrival) {
    const TempFolder folder;
    EffectJournal journal = open_journal(folder / "journal");
    const auto answer = journal.perform(effect_of(1), kArrival);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->receipt, "sink:1");
    EXPECT_EQ(
        text_of(folder / "journal"),
        R"({"event":"performed","effect_id":"eff_1","monotonic_us":42,)"
        R"("at":"2026-11-15T12:00:00.000Z","tenant_id":"demo","kind":"probe",)"
        R"("json":"{\"probe_no\":1}"})"
        "\n");
}

TEST(EffectJournal, RefusesASecondArrivalAndCallsItADuplicate) {
    const TempFolder folder;
    EffectJournal journal = open_journal(folder / "journal");
    EXPECT_EQ(perform(journal, 1), SinkStatus::done);
    EXPECT_EQ(perform(journal, 1), SinkStatus::refused);
    EXPECT_EQ(journal.counts(), (SinkCounts{.performed = 1, .duplicates = 1}));
    EXPECT_NE(text_of(folder / "journal").find(R"("event":"duplicate")"), std::string::npos);
}

TEST(EffectJournal, AnswersARepeatableEffectAgainWithItsFirstReceipt) {
    const TempFolder folder;
    EffectJournal journal = open_journal(folder / "journal");
    EXPECT_EQ(perform(journal, 9), SinkStatus::done);
    const auto first = journal.perform(effect_of(1, Delivery::repeatable), kArrival);
    const auto again = journal.perform(effect_of(1, Delivery::repeatable), kArrival);
    ASSERT_TRUE(first && again);
    EXPECT_EQ(again->status, SinkStatus::done);
    EXPECT_EQ(again->receipt, first->receipt);
    EXPECT_EQ(journal.counts(), (SinkCounts{.performed = 2, .repeats = 1}));
}

TEST(EffectJournal, RefusesWhatWasAskedForBeforeItArrived) {
    const TempFolder folder;
    EffectJournal journal = open_journal(folder / "journal");
    EXPECT_EQ(find(journal, 1), SinkStatus::never_arrived);
    EXPECT_EQ(perform(journal, 1), SinkStatus::refused);
    EXPECT_EQ(find(journal, 1), SinkStatus::never_arrived);
    EXPECT_EQ(journal.counts(), (SinkCounts{.late = 1, .tombstones = 1}));
}

TEST(EffectJournal, RemembersEverythingOverARestart) {
    const TempFolder folder;
    SinkCounts before;
    {
        EffectJournal journal = open_journal(folder / "journal");
        perform(journal, 1);
        perform(journal, 2);
        perform(journal, 2);
        find(journal, 3);
        perform(journal, 3);
        before = journal.counts();
    }
    EffectJournal journal = open_journal(folder / "journal");
    EXPECT_EQ(journal.counts(), before);
    EXPECT_EQ(perform(journal, 1), SinkStatus::refused);
    EXPECT_EQ(perform(journal, 3), SinkStatus::refused);
    const auto second = journal.find(id_of(2), kArrival);
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(second->receipt, "sink:2");
}

TEST(EffectJournal, CutsOffALastLineWithoutItsEnd) {
    const TempFolder folder;
    {
        EffectJournal journal = open_journal(folder / "journal");
    }
    append(folder / "journal", R"({"event":"performed","effect_id":"eff_1")");
    EffectJournal journal = open_journal(folder / "journal");
    EXPECT_EQ(text_of(folder / "journal"), "");
    EXPECT_EQ(perform(journal, 1), SinkStatus::done);
}

TEST(EffectJournal, NamesTheLineThatIsDamaged) {
    const TempFolder folder;
    {
        EffectJournal journal = open_journal(folder / "journal");
        perform(journal, 1);
    }
    append(folder / "journal", "nonsense\n");
    const auto opened = EffectJournal::open({.path = folder / "journal"});
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().kind, &errors::corrupt_data);
    EXPECT_NE(opened.error().message.find("Line 2 of"), std::string::npos);
}

TEST(EffectJournal, RefusesNewIdsAtItsBoundAndStillKnowsTheOldOnes) {
    const TempFolder folder;
    EffectJournal journal = open_journal(folder / "journal", 2);
    EXPECT_EQ(perform(journal, 1), SinkStatus::done);
    EXPECT_EQ(find(journal, 2), SinkStatus::never_arrived);
    EXPECT_EQ(perform(journal, 3), SinkStatus::refused);
    EXPECT_EQ(find(journal, 4), SinkStatus::failed);
    EXPECT_EQ(find(journal, 1), SinkStatus::done);
    EXPECT_EQ(journal.counts(), (SinkCounts{.performed = 1, .tombstones = 1}));
}

TEST(EffectJournal, RefusesAJournalThatAnotherSinkHolds) {
    const TempFolder folder;
    const EffectJournal journal = open_journal(folder / "journal");
    const auto second = EffectJournal::open({.path = folder / "journal"});
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().kind, &errors::invalid_config);
}

// Whatever comes in whatever order, over any restarts: an effect happens at most once, and not at
// all once somebody was told that it never arrived.
TEST(EffectJournal, NoOrderOfArrivalsQuestionsAndRestartsMakesAnEffectHappenTwice) {
    EXPECT_TRUE(rc::check([] {
        const TempFolder folder;
        auto journal = std::make_unique<EffectJournal>(open_journal(folder / "journal"));
        std::map<int, bool> happened;  // Absent: nobody spoke of it yet.
        const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
            rc::gen::pair(rc::gen::inRange(0, 5), rc::gen::inRange(0, 4)));
        for (const auto& [what, number] : steps) {
            if (what == 0) {
                journal.reset();
                journal = std::make_unique<EffectJournal>(open_journal(folder / "journal"));
            } else if (what <= 2) {
                const bool is_first = happened.try_emplace(number, true).second;
                RC_ASSERT(
                    perform(*journal, number) ==
                    (is_first ? SinkStatus::done : SinkStatus::refused));
            } else {
                const auto [known, is_first] = happened.try_emplace(number, false);
                RC_ASSERT(
                    find(*journal, number) ==
                    (known->second ? SinkStatus::done : SinkStatus::never_arrived));
            }
        }
    }));
}

}  // namespace
}  // namespace interlock
