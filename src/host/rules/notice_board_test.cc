// Which records are told, to whom, how often, and where it ends. docs/contracts/notices.md
#include "host/rules/notice_board.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crypto.h"
#include "engine/rules/notice_rules.h"
#include "host/rules/notice_letter.h"

namespace interlock {
namespace {

constexpr Timestamp kStart{1'800'000'000'000'000};

AuditRecord record_of(std::string event, AuditSeverity severity = AuditSeverity::info) {
    AuditRecord record;
    record.draft.tenant_id = TenantId::trusted("demo");
    record.draft.event = std::move(event);
    record.draft.severity = severity;
    record.draft.principal = "agent:key_1";
    record.draft.reason = "words of an agent";
    record.draft.timestamp = kStart;
    record.seq = 7;
    record.hash = std::string(64, 'a');
    return record;
}

Notice notice_at(NoticeKind kind, int number = 0, std::string asked_by = "agent:key_1") {
    return {
        .notice_id = NoticeId::trusted("ntc_" + std::to_string(number)),
        .kind = kind,
        .event = "EVENT",
        .tenant_id = TenantId::trusted("demo"),
        .audit_id = "demo." + std::to_string(number),
        .subject = {},
        .at = kStart,
        .asked_by = std::move(asked_by)};
}

NoticePerson person(std::string id, bool may_vote = true) {
    NoticePerson made{.human_id = std::move(id), .may_vote = may_vote, .wants = {}};
    for (std::size_t i = 0; i < kNoticeWords.size(); ++i) {
        made.wants.insert(static_cast<NoticeKind>(i));
    }
    return made;
}

NoticeOutcome sent(const NoticeDelivery& delivery, std::string error = "") {
    return {
        .to = delivery.to,
        .kind = delivery.kind,
        .serial = delivery.serial,
        .upto = delivery.upto,
        .error = std::move(error)};
}

std::vector<std::string> receivers(NoticeRow row) {
    std::vector<std::string> names;
    for (const NoticeDelivery& delivery : begin_due(row, kStart)) {
        names.push_back(delivery.to);
    }
    return names;
}

using Names = std::vector<std::string>;

TEST(NoticeRules, FollowFromTheRecordAlone) {  // 1.1
    const std::vector<std::pair<std::string, NoticeKind>> told = {
        {"APPROVAL_REQUESTED", NoticeKind::approval},
        {"TRADING_BLOCKED", NoticeKind::blocked},
        {"TRADING_BLOCK_CHANGED", NoticeKind::blocked},
        {"TRADING_UNBLOCKED", NoticeKind::blocked},
        {"CHAIN_BROKEN", NoticeKind::chain_broken},
        {"OTHER_CHAIN_BROKEN", NoticeKind::chain_broken},
        {"WITNESS_DISAGREES", NoticeKind::chain_broken},
        {"PLAN_EXPIRES_SOON", NoticeKind::trial},
        {"PLAN_EXPIRED", NoticeKind::trial},
        {"PLAN_ENDED", NoticeKind::trial},
        {"NOTICE_TEST", NoticeKind::test}};
    for (const auto& [event, kind] : told) {
        const auto notice = notice_of(record_of(event));
        ASSERT_TRUE(notice) << event;
        EXPECT_EQ(notice->kind, kind) << event;
        EXPECT_EQ(notice->audit_id, "demo.7");
        EXPECT_EQ(notice->at, kStart);
    }
    EXPECT_EQ(
        notice_of(record_of("SAFE_RECOVERY_TRIGGERED", AuditSeverity::critical))->kind,
        NoticeKind::critical);
    EXPECT_FALSE(notice_of(record_of("PLAN_CREATED")));
}

TEST(NoticeRules, AStallAndItsEndAreOneKind) {  // 1.1
    for (const char* event :
         {"BOT_STALLED", "BOT_RESUMED", "BOT_FAILED", "BOT_DISCONNECTED", "BOT_CONNECTED"}) {
        const auto notice = notice_of(record_of(event, AuditSeverity::critical));
        ASSERT_TRUE(notice) << event;
        EXPECT_EQ(notice->kind, NoticeKind::blocked) << event;
        EXPECT_FALSE(notice_of(record_of(event))) << event;  // A start, or a person's own call.
    }
}

TEST(NoticeRules, WhoHeardThatExecutionGotWorseHearsThatItGotBetter) {  // 1.1
    for (const AuditSeverity severity : {AuditSeverity::critical, AuditSeverity::info}) {
        const auto notice = notice_of(record_of("EXECUTION_QUALITY", severity));
        ASSERT_TRUE(notice);
        EXPECT_EQ(notice->kind, NoticeKind::critical);
    }
}

TEST(NoticeRules, ANameThatIsNoPlainIdIsLeftOut) {  // 1.3: a gateway names itself.
    AuditRecord record = record_of("RELAY_SHEDDING", AuditSeverity::critical);
    record.draft.detail.set("instance_id", "agent-1");
    EXPECT_EQ(notice_of(record)->subject, "agent-1");
    for (const std::string& name : {std::string("buy now: evil"), std::string(129, 'a')}) {
        record.draft.detail.set("instance_id", name);
        EXPECT_EQ(notice_of(record)->subject, "");
    }
}

TEST(NoticeRules, AFailureToTellIsNotTold) {  // 2.5: it would be the cause of the next.
    EXPECT_FALSE(notice_of(record_of("NOTICES_UNDELIVERED", AuditSeverity::critical)));
}

TEST(NoticeRules, OneRecordAlwaysHasTheSameId) {  // 1.3
    const auto first = notice_of(record_of("APPROVAL_REQUESTED"));
    EXPECT_EQ(first->notice_id, notice_of(record_of("APPROVAL_REQUESTED"))->notice_id);
    AuditRecord other = record_of("APPROVAL_REQUESTED");
    other.hash = std::string(64, 'b');
    EXPECT_NE(first->notice_id, notice_of(other)->notice_id);
}

TEST(NoticeRules, CarryTheIdOfWhatTheyAreAbout) {  // 1.3
    AuditRecord record = record_of("APPROVAL_REQUESTED");
    record.draft.detail.set("approval_id", "apr_1");
    record.draft.detail.set("comment", "words of an agent");
    const auto notice = notice_of(record);
    EXPECT_EQ(notice->subject, "apr_1");
    EXPECT_EQ(to_text(encode(*notice)).find("words"), std::string::npos);
}

TEST(NoticeBoard, TellsAnApprovalToWhoMayVoteButNotToWhoAsked) {  // 1.2
    NoticeRow row;
    note(row, notice_at(NoticeKind::approval, 1, "human:hum_asker"));
    route(row, {{person("hum_asker"), person("hum_voter"), person("hum_resting", false)}, true});
    EXPECT_EQ(receivers(row), (Names{"webhook", "hum_voter"}));
}

TEST(NoticeBoard, TellsATestToWhoAskedAlone) {  // 3.5
    NoticeRow row;
    note(row, notice_at(NoticeKind::test, 1, "human:hum_asker"));
    route(row, {{person("hum_asker"), person("hum_other")}, true});
    EXPECT_EQ(receivers(row), (Names{"webhook", "hum_asker"}));
}

TEST(NoticeBoard, ARecoveryHasItsLettersAlready) {  // 1.2
    NoticeRow row;
    Notice started = notice_at(NoticeKind::critical);
    started.event = "HUMAN_RECOVERY_STARTED";
    note(row, started);
    route(row, {{person("hum_1")}, true});
    EXPECT_EQ(receivers(row), (Names{"webhook"}));
}

TEST(NoticeBoard, LettersThatAreNotWantedAreNotSent) {  // 3.1
    NoticeRow row;
    NoticePerson quiet = person("hum_quiet");
    quiet.wants = {NoticeKind::approval};
    note(row, notice_at(NoticeKind::critical));
    route(row, {{quiet}, false});
    EXPECT_TRUE(receivers(row).empty());
    EXPECT_TRUE(row.held.empty());  // Nobody is still to be told.
}

TEST(NoticeBoard, WhatCameWhileALetterRestsIsInTheNextOne) {  // 2.3
    NoticeRow row;
    const NoticeAudience audience{{person("hum_1")}, false};
    note(row, notice_at(NoticeKind::critical, 1));
    route(row, audience);
    const auto first = begin_due(row, kStart);
    ASSERT_EQ(first.size(), 1u);
    settle(row, sent(first[0]), kStart);
    note(row, notice_at(NoticeKind::critical, 2));
    note(row, notice_at(NoticeKind::critical, 3));
    route(row, audience);
    const Timestamp before = kStart + kLetterPause - Duration{1};
    EXPECT_TRUE(begin_due(row, before).empty());
    EXPECT_EQ(next_due(row), kStart + kLetterPause);
    const auto second = begin_due(row, kStart + kLetterPause);
    ASSERT_EQ(second.size(), 1u);
    ASSERT_EQ(second[0].notices.size(), 2u);
    EXPECT_EQ(second[0].notices[0].notice_id.text(), "ntc_2");
    EXPECT_EQ(second[0].more, 0);
}

// 2.3: the release of a stop lives fifteen minutes, of which a letter may not take five.
TEST(NoticeBoard, AnApprovalThatEndsSoonDoesNotWait) {
    NoticeRow row;
    const NoticeAudience audience{{person("hum_1")}, false};
    note(row, notice_at(NoticeKind::approval, 1));
    route(row, audience);
    settle(row, sent(begin_due(row, kStart).at(0)), kStart);
    note(row, notice_at(NoticeKind::approval, 2));
    route(row, audience);
    EXPECT_EQ(next_due(row), kStart + Duration::of_minutes(1));
    EXPECT_TRUE(begin_due(row, kStart + kApprovalLetterPause - Duration{1}).empty());
    NoticeRow later = row;
    EXPECT_EQ(begin_due(later, kStart + kApprovalLetterPause).size(), 1u);
    for (int more = 3; more <= 2 + kApprovalsSoonMax; ++more) {
        note(row, notice_at(NoticeKind::approval, more));
    }
    route(row, audience);  // A flood waits like all others.
    EXPECT_EQ(next_due(row), kStart + kLetterPause);
    EXPECT_TRUE(begin_due(row, kStart + kLetterPause - Duration{1}).empty());
}

TEST(NoticeBoard, AnotherKindDoesNotWaitForTheFirst) {  // 2.3
    NoticeRow row;
    const NoticeAudience audience{{person("hum_1")}, false};
    note(row, notice_at(NoticeKind::critical, 1));
    route(row, audience);
    settle(row, sent(begin_due(row, kStart).at(0)), kStart);
    note(row, notice_at(NoticeKind::approval, 2));
    route(row, audience);
    EXPECT_EQ(begin_due(row, kStart).size(), 1u);
}

TEST(NoticeBoard, HoldsAtMostItsBoundAndCountsTheRest) {  // 2.2
    NoticeRow row;
    const NoticeAudience audience{{person("hum_1")}, true};
    constexpr int kMore = 3;
    constexpr int kAll = static_cast<int>(kNoticesHeldMax) + kMore;
    for (int i = 1; i <= kAll; ++i) {
        note(row, notice_at(NoticeKind::critical, i));
        if (i == 10) {
            route(row, audience);
        }
        EXPECT_LE(row.held.size(), kNoticesHeldMax);
    }
    route(row, audience);
    const auto due = begin_due(row, kStart);
    ASSERT_EQ(due.size(), 2u);
    for (const NoticeDelivery& delivery : due) {
        EXPECT_EQ(delivery.notices.size(), kNoticesHeldMax) << delivery.to;
        EXPECT_EQ(delivery.notices.front().notice_id.text(), "ntc_4");  // The oldest went.
        EXPECT_EQ(delivery.more, kMore) << delivery.to;
        settle(row, sent(delivery), kStart);
    }
    EXPECT_TRUE(row.held.empty());
    EXPECT_EQ(next_due(row), std::nullopt);
}

TEST(NoticeBoard, AtTheBoundIsNothingFolded) {  // 2.2
    NoticeRow row;
    for (std::size_t i = 1; i <= kNoticesHeldMax; ++i) {
        note(row, notice_at(NoticeKind::critical, static_cast<int>(i)));
    }
    route(row, {{}, true});
    EXPECT_EQ(begin_due(row, kStart).at(0).more, 0);
}

TEST(NoticeBoard, WhoComesLaterIsToldWhatComesLater) {
    NoticeRow row;
    for (int i = 0; i < 5; ++i) {
        note(row, notice_at(NoticeKind::critical, i));
    }
    route(row, {{}, true});  // The webhook is down; all five are held for it.
    const auto call = begin_due(row, kStart);
    settle(row, sent(call.at(0), "webhook_failed"), kStart);
    note(row, notice_at(NoticeKind::critical, 6));
    route(row, {{person("hum_new")}, true});
    const auto letters = begin_due(row, kStart);
    ASSERT_EQ(letters.size(), 1u);
    EXPECT_EQ(letters[0].notices.size(), 1u);
    EXPECT_EQ(letters[0].more, 0);
}

TEST(NoticeBoard, RepeatsAFailureWithTheSameIdsAndThenEnds) {  // 2.4, 2.5
    NoticeRow row;
    note(row, notice_at(NoticeKind::critical, 1));
    route(row, {{}, true});
    Timestamp now = kStart;
    for (std::int64_t attempt = 1; attempt <= kNoticeAttemptsMax; ++attempt) {
        const auto due = begin_due(row, now);
        ASSERT_EQ(due.size(), 1u) << attempt;
        EXPECT_EQ(due[0].attempt, attempt);
        EXPECT_EQ(due[0].notices.at(0).notice_id.text(), "ntc_1");
        const auto lost = settle(row, sent(due[0], "webhook_failed"), now);
        EXPECT_EQ(lost.has_value(), attempt == kNoticeAttemptsMax);
        if (lost) {
            EXPECT_EQ(lost->count, 1);
            EXPECT_EQ(lost->to, "webhook");
            EXPECT_EQ(lost->error, "webhook_failed");
            break;
        }
        const Timestamp again = now + notice_retry_delay(attempt);
        EXPECT_TRUE(begin_due(row, again - Duration{1}).empty()) << attempt;
        now = again;
    }
    EXPECT_EQ(row.outlets.at(0).given_up, 1);
    EXPECT_TRUE(row.held.empty());
    note(row, notice_at(NoticeKind::critical, 2));  // The next one is told as ever.
    route(row, {{}, true});
    EXPECT_EQ(begin_due(row, now + kWebhookPause).size(), 1u);
}

TEST(NoticeBoard, WaitsLongerAfterEachFailureUpToSixHours) {  // 2.4
    EXPECT_EQ(notice_retry_delay(1), Duration::of_minutes(1));
    EXPECT_EQ(notice_retry_delay(2), Duration::of_minutes(5));
    EXPECT_EQ(notice_retry_delay(4), Duration::of_minutes(125));
    EXPECT_EQ(notice_retry_delay(5), Duration::of_hours(6));
    EXPECT_EQ(notice_retry_delay(1000), Duration::of_hours(6));
}

TEST(NoticeBoard, WhatWouldBeRefusedAgainEndsAtOnce) {  // 2.5
    NoticeRow row;
    note(row, notice_at(NoticeKind::critical, 1));
    route(row, {{person("hum_1")}, false});
    NoticeOutcome refused = sent(begin_due(row, kStart).at(0), "mail_refused");
    refused.is_final = true;
    EXPECT_TRUE(settle(row, refused, kStart));
}

TEST(NoticeBoard, AnAttemptThatNobodyWasFreeForDoesNotCount) {
    NoticeRow row;
    note(row, notice_at(NoticeKind::critical, 1));
    route(row, {{}, true});
    NoticeOutcome untried = sent(begin_due(row, kStart).at(0), "overloaded");
    untried.was_tried = false;
    EXPECT_FALSE(settle(row, untried, kStart));
    EXPECT_EQ(row.outlets.at(0).attempts, 0);
    EXPECT_LT(*next_due(row), kStart + notice_retry_delay(1));
}

TEST(NoticeBoard, OneOutcomeOfTwoAttemptsCounts) {  // 2.4: the first one's answer came too late.
    NoticeRow row;
    note(row, notice_at(NoticeKind::critical, 1));
    route(row, {{}, true});
    const auto first = begin_due(row, kStart).at(0);
    const auto second = begin_due(row, kStart + notice_retry_delay(1)).at(0);
    EXPECT_FALSE(settle(row, sent(first, "webhook_failed"), kStart));
    EXPECT_EQ(row.outlets.at(0).last_error, "");
    settle(row, sent(second), kStart);
    EXPECT_TRUE(row.held.empty());
}

TEST(NoticeBoard, WhoFailedOrWasSlowWaitsForItsLike) {  // 2.6
    NoticeRow row;
    note(row, notice_at(NoticeKind::critical, 1));
    route(row, {{}, true});
    const auto first = begin_due(row, kStart).at(0);
    EXPECT_FALSE(first.is_suspect);
    settle(row, sent(first, "webhook_failed"), kStart);
    const auto again = begin_due(row, kStart + notice_retry_delay(1)).at(0);
    EXPECT_TRUE(again.is_suspect);
    NoticeOutcome slow = sent(again);
    slow.call_took = Duration{kSlowCall.microseconds + 1};
    settle(row, slow, kStart);
    note(row, notice_at(NoticeKind::critical, 2));
    const auto third = begin_due(row, kStart + kWebhookPause).at(0);
    EXPECT_TRUE(third.is_suspect);
    NoticeOutcome quick = sent(third);
    quick.call_took = kSlowCall;
    settle(row, quick, kStart);
    note(row, notice_at(NoticeKind::critical, 3));
    EXPECT_FALSE(begin_due(row, kStart + kWebhookPause).at(0).is_suspect);
}

TEST(NoticeBoard, SomebodyWhoLeftIsTakenOff) {
    NoticeRow row;
    note(row, notice_at(NoticeKind::critical, 1));
    route(row, {{person("hum_1")}, false});
    route(row, {{}, false});
    EXPECT_TRUE(row.outlets.empty());
    EXPECT_TRUE(row.held.empty());
}

TEST(NoticeBoard, OneTurnBeginsABoundedNumber) {
    NoticeRow row;
    NoticeAudience audience;
    for (std::size_t i = 0; i <= kDeliveriesPerTurn; ++i) {
        audience.people.push_back(person("hum_" + std::to_string(i)));
    }
    note(row, notice_at(NoticeKind::critical, 1));
    route(row, audience);
    EXPECT_EQ(begin_due(row, kStart).size(), kDeliveriesPerTurn);
    EXPECT_EQ(next_due(row), Timestamp{});  // One is due still.
    EXPECT_EQ(begin_due(row, kStart).size(), 1u);
}

TEST(NoticeBoard, ARowSurvivesBeingStored) {
    NoticeRow row;
    note(row, notice_at(NoticeKind::approval, 1));
    note(row, notice_at(NoticeKind::blocked, 2));
    row.wake_at = kStart;
    route(row, {{person("hum_1")}, true});
    begin_due(row, kStart);
    const std::string stored = to_text(encode(row));
    const auto read = decode_notice_row(*parse_json(stored));
    ASSERT_TRUE(read);
    EXPECT_EQ(to_text(encode(*read)), stored);
}

TEST(NoticeLetter, HoldsIdsAndALinkAndNothingElse) {  // 1.3
    NoticeDelivery delivery{.to = "hum_1", .kind = NoticeKind::approval};
    delivery.notices.push_back(notice_at(NoticeKind::approval, 1));
    delivery.notices.back().subject = "apr_1";
    delivery.more = 4;
    const Mail mail = notice_letter(
        "ann@example.org", delivery, {TenantId::trusted("demo"), "https://desk.example/"});
    EXPECT_TRUE(check_mail(mail));
    EXPECT_EQ(mail.subject, "Interlock: 5 approvals wait (demo)");
    for (const char* part : {"apr_1", "ntc_1", "demo.1", "and 4 more", "https://desk."}) {
        EXPECT_NE(mail.text.find(part), std::string::npos) << part;
    }
}

TEST(NoticeLetter, TheLongestOneFits) {  // host/wire: kMailTextBytesMax
    for (std::size_t kind = 0; kind < kNoticeWords.size(); ++kind) {
        NoticeDelivery delivery{.to = "hum_1", .kind = static_cast<NoticeKind>(kind)};
        for (std::size_t i = 0; i < kNoticesHeldMax; ++i) {
            Notice notice = notice_at(delivery.kind, 1);
            notice.subject = std::string(128, 's');
            notice.event = std::string(64, 'E');
            notice.audit_id = std::string(64, 't') + ".1000000000";
            delivery.notices.push_back(std::move(notice));
        }
        const std::string tenant(64, 't');
        EXPECT_TRUE(check_mail(notice_letter(
            "ann@example.org", delivery, {TenantId::trusted(tenant), std::string(2000, 'l')})))
            << kind;
    }
}

TEST(NoticeLetter, SignsTimeAndBody) {  // 4.2
    const std::string signature = notice_signature("secret", kStart, "{}");
    EXPECT_EQ(signature, "t=1800000000,v1=" + to_hex(hmac_sha256("secret", "1800000000.{}")));
    EXPECT_NE(signature, notice_signature("secret", kStart, "{ }"));
    EXPECT_NE(signature, notice_signature("secret", kStart + Duration::of_seconds(1), "{}"));
}

}  // namespace
}  // namespace interlock
