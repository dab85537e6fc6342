// audit-ledger.md 5: what folds, when a fold ends, and what its record proves.
#include "engine/rules/fold.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/canonical_json.h"
#include "base/crypto.h"
#include "engine/rules/hash_chain.h"

namespace interlock {
namespace {

constexpr Timestamp kStart{1'700'000'000'000'000};
const TenantId kTenant = TenantId::trusted("demo");

AuditDraft idle_draft(std::int64_t second, const std::string& who = "a") {
    AuditDraft draft;
    draft.tenant_id = kTenant;
    draft.event = "BOT_PULSE";
    draft.principal = "internal:bot";
    draft.step = AuditStep::plan;
    draft.status = AuditStatus::skipped;
    draft.reason = "nothing to change";
    draft.detail = Json::object({{"quiet", who}, {"due_at", second}});
    draft.timestamp = kStart + Duration::of_seconds(second);
    return draft;
}

const Repeat kPulse{.subject = "pulse", .what = "idle pulse", .varying = {"due_at"}};

// A chain of one tenant with its row of folds, as a turn keeps them.
struct Book {
    // True: counted.
    bool add(const AuditDraft& draft, const Repeat& repeat = kPulse) {
        const Occurrence now = occurrence_of(draft, repeat, "").value();
        const FoldStep step = step_fold(row, now);
        if (step.closed) {
            close(*step.closed, FoldEnd::kind_changed);
        }
        if (step.counted_as) {
            return true;
        }
        const AuditRecord& record = write(draft);
        if (!now.kind.empty()) {
            const auto out =
                open_fold(row, now, repeat, {draft.event, audit_ref(record), record.hash});
            if (out) {
                close(*out, FoldEnd::room_needed);
            }
        }
        return false;
    }
    void close(const OpenFold& fold, FoldEnd end) {
        if (const auto draft = fold_draft(kTenant, fold, end)) {
            write(*draft);
        }
    }
    void close_all() {
        for (const OpenFold& fold : take_folds(row, std::nullopt)) {
            close(fold, FoldEnd::shutdown);
        }
    }
    const AuditRecord& write(AuditDraft draft) {
        draft.decision_id = DecisionId::trusted("sys_" + std::to_string(head.seq + 1));
        draft.tick_id = TickId::trusted("-");
        const SealedRecord sealed = *seal(head, std::move(draft));
        AuditRecord stored = *decode_audit_record(*parse_json(sealed.canonical));
        stored.hash = sealed.record.hash;
        records.push_back(std::move(stored));
        return records.back();
    }
    std::vector<std::string> events() const {
        std::vector<std::string> events;
        for (const AuditRecord& record : records) {
            events.push_back(record.draft.event);
        }
        return events;
    }

    FoldRow row;
    ChainHead head;
    std::vector<AuditRecord> records;
};

TEST(Fold, RecordsTheFirstAndCountsTheEqualOnesAfterIt) {
    Book book;
    EXPECT_FALSE(book.add(idle_draft(0)));
    for (int i = 1; i <= 36; ++i) {
        EXPECT_TRUE(book.add(idle_draft(i * 10)));
    }
    EXPECT_EQ(book.records.size(), 1U);
    book.close_all();
    ASSERT_EQ(book.events(), (std::vector<std::string>{"BOT_PULSE", "REPEATS_FOLDED"}));
    const OpenFold fold = decode_fold(book.records[1].draft.detail).value();
    EXPECT_EQ(fold.count, 36);
    EXPECT_EQ(fold.first, kStart + Duration::of_seconds(10));
    EXPECT_EQ(fold.last, kStart + Duration::of_seconds(360));
    EXPECT_EQ(fold.of_ref, audit_ref(book.records[0]));
    EXPECT_EQ(
        book.records[1].draft.reason,
        "36 equal idle pulses from 2023-11-14T22:13:30.000Z to 2023-11-14T22:19:20.000Z");
    EXPECT_EQ(fold_problem(book.records[1], &book.records[0]), "");
}

// Whoever kept the facts of each occurrence can prove that these and no others were counted.
TEST(Fold, ItsDigestCanBeReckonedFromTheFactsOfEachOccurrence) {
    Book book;
    book.add(idle_draft(0));
    std::string digest = book.records[0].hash;
    for (int i = 1; i <= 5; ++i) {
        book.add(idle_draft(i));
        const std::string facts = R"({"decision_id":"","detail":{"due_at":)" + std::to_string(i) +
                                  R"(},"request_hash":"","tick_id":""})";
        digest = sha256_hex(
            digest + "2023-11-14T22:13:2" + std::to_string(i) + ".000Z" + sha256_hex(facts));
    }
    book.close_all();
    EXPECT_EQ(decode_fold(book.records[1].draft.detail)->digest, digest);
}

TEST(Fold, AnotherKindClosesItBeforeItIsRecorded) {
    Book book;
    book.add(idle_draft(0));
    book.add(idle_draft(1));
    AuditDraft acting = idle_draft(2);
    acting.status = AuditStatus::passed;
    EXPECT_FALSE(book.add(acting));
    EXPECT_FALSE(book.add(idle_draft(3))) << "the first of its kind again";
    EXPECT_EQ(
        book.events(),
        (std::vector<std::string>{"BOT_PULSE", "REPEATS_FOLDED", "BOT_PULSE", "BOT_PULSE"}));
    EXPECT_EQ(book.records[2].draft.status, AuditStatus::passed);
}

TEST(Fold, WhatWasNotRepeatedLeavesNoRecord) {
    Book book;
    book.add(idle_draft(0));
    book.add(idle_draft(1, "b"));
    book.close_all();
    EXPECT_EQ(book.events(), (std::vector<std::string>{"BOT_PULSE", "BOT_PULSE"}));
}

TEST(Fold, NothingThatPassedOrAlertsFolds) {
    for (const AuditStatus status : {AuditStatus::passed, AuditStatus::started}) {
        AuditDraft draft = idle_draft(0);
        draft.status = status;
        EXPECT_FALSE(may_fold(draft));
    }
    AuditDraft alert = idle_draft(0);
    alert.status = AuditStatus::failed;
    EXPECT_TRUE(may_fold(alert));
    alert.severity = AuditSeverity::critical;
    EXPECT_FALSE(may_fold(alert));
}

TEST(Fold, StaysOpenForAnHourAtMost) {
    Book book;
    book.add(idle_draft(0));
    EXPECT_EQ(folds_due(book.row), kStart + kFoldLife);
    EXPECT_TRUE(book.add(idle_draft(3599)));
    EXPECT_FALSE(book.add(idle_draft(3600))) << "an hour after the record it repeats";
    EXPECT_EQ(
        book.events(), (std::vector<std::string>{"BOT_PULSE", "REPEATS_FOLDED", "BOT_PULSE"}));
    FoldRow row = book.row;
    EXPECT_TRUE(take_folds(row, kStart + Duration::of_seconds(7199)).empty());
    EXPECT_EQ(take_folds(row, kStart + Duration::of_seconds(7200)).size(), 1U);
    EXPECT_EQ(folds_due(row), std::nullopt);
}

TEST(Fold, AClockThatIsSetBackNeitherTurnsItsTimesAroundNorKeepsItOpen) {
    Book book;
    book.add(idle_draft(1000));
    EXPECT_TRUE(book.add(idle_draft(1010)));
    EXPECT_TRUE(book.add(idle_draft(500)));
    EXPECT_FALSE(book.add(idle_draft(-4000)));
    const OpenFold fold = decode_fold(book.records[1].draft.detail).value();
    EXPECT_EQ(fold.count, 2);
    EXPECT_EQ(fold.last, fold.first);
    EXPECT_EQ(fold_problem(book.records[1], &book.records[0]), "");
}

TEST(Fold, AFullRowLetsTheOneGoThatRestedLongest) {
    Book book;
    const auto subject = [](std::size_t i) {
        return Repeat{.subject = "s" + std::to_string(i), .what = "idle tick", .varying = {}};
    };
    for (std::size_t i = 0; i < kOpenFoldsMax; ++i) {
        const auto second = static_cast<std::int64_t>(i);
        book.add(idle_draft(second), subject(i));
        AuditDraft again = idle_draft(second);
        again.timestamp = kStart + Duration::of_seconds(10 + second);
        EXPECT_TRUE(book.add(again, subject(i)));
    }
    AuditDraft again = idle_draft(0);
    again.timestamp = kStart + Duration::of_seconds(20);
    EXPECT_TRUE(book.add(again, subject(0))) << "now the second rested longest";
    book.add(idle_draft(30), subject(kOpenFoldsMax));
    EXPECT_EQ(book.row.open.size(), kOpenFoldsMax);
    const OpenFold out = decode_fold(book.records.back().draft.detail).value();
    EXPECT_EQ(out.subject, "s1");
    EXPECT_EQ(*book.records.back().draft.detail.find("closed_by"), Json("room_needed"));
}

TEST(Fold, ARowIsReadBackAsItWasWritten) {
    Book book;
    book.add(idle_draft(0));
    book.add(idle_draft(1));
    EXPECT_EQ(decode_fold_row(encode(book.row)).value(), book.row);
    EXPECT_FALSE(decode_fold_row(Json::object()));
    EXPECT_LT(fold_slot("pulse"), kFoldRowsMax);
    EXPECT_EQ(fold_slot("pulse"), fold_slot("pulse"));
}

// Each member of a fold's record, changed alone, makes it a lie that can be told.
TEST(Fold, ARecordThatCannotBeTrueIsNamed) {
    Book book;
    book.add(idle_draft(0));
    book.add(idle_draft(1));
    book.add(idle_draft(2));
    book.close_all();
    const AuditRecord& whole = book.records[0];
    const AuditRecord& folded = book.records[1];
    ASSERT_EQ(fold_problem(folded, &whole), "");
    EXPECT_NE(fold_problem(folded, nullptr), "");
    EXPECT_NE(fold_problem(folded, &folded), "");
    const std::string other(64, 'a');
    const std::vector<std::pair<std::string, Json>> lies{
        {"count", Json(0)},
        {"count", Json(1)},
        {"first", Json("2024-01-01T00:00:00.000Z")},
        {"first", Json("2020-01-01T00:00:00.000Z")},
        {"last", Json("2023-11-14T22:13:29.000Z")},
        {"digest", Json(other)},
        {"digest", Json("short")},
        {"digest_before", Json(other)},
        {"digest_before", Json(whole.hash)},
        {"last_facts", Json(other)},
        {"kind", Json(other)},
        {"event", Json("FILL_BOOKED")},
        {"repeats", Json("7:0000000000000000")},
        {"varying", Json::array()},
    };
    for (const auto& [key, value] : lies) {
        AuditRecord lie = folded;
        lie.draft.detail.set(key, value);
        EXPECT_NE(fold_problem(lie, &whole), "") << key << " " << to_text(value);
    }
    AuditRecord empty = folded;
    empty.draft.detail = Json::object();
    EXPECT_NE(fold_problem(empty, &whole), "");
}

TEST(Fold, DecisionsOfCallersAreToldApartAndOursAreNot) {
    AuditDraft a = idle_draft(0);
    AuditDraft b = idle_draft(0);
    a.decision_id = DecisionId::trusted("auto.s1.7.buys");
    b.decision_id = DecisionId::trusted("auto.s1.8.buys");
    EXPECT_EQ(fold_kind(a).value(), fold_kind(b).value());
    b.decision_id = DecisionId::trusted("d1");
    EXPECT_NE(fold_kind(a).value(), fold_kind(b).value());
}

}  // namespace
}  // namespace interlock
