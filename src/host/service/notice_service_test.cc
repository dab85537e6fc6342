// Notices leave: committed with their records, sent after the commit, again after a failure or a
// crash, never for ever, and never at another's expense. docs/contracts/notices.md
#include "host/service/notice_service.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "host/rules/notice_letter.h"
#include "testing/principal_desk.h"

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");
constexpr const char* kAnn = "ann@example.org";

Principal planner() {
    Principal principal;
    principal.kind = PrincipalKind::agent;
    principal.id = "key_1";
    return principal;
}

// A record that people are told of.
void put_on_record(
    PrincipalDesk& desk,
    const std::string& event,
    const TenantId& tenant_id = kDemo,
    const Principal& by = planner()) {
    ASSERT_TRUE(desk.in_turn(tenant_id, by, [&](Turn& turn) -> Result<void> {
        AuditDraft draft = turn.draft(event);
        draft.reason = "words of an agent: visit evil.example";
        draft.detail.set("approval_id", "apr_1");
        TRY(turn.audit(std::move(draft)));
        return {};
    }));
}

// Long enough for a notice to be worked out and sent.
constexpr Duration kMoment = kNoticeGather;

Principal add_ann(PrincipalDesk& desk) {
    const LoggedIn ann = desk.add_tenant_with_human("demo", kAnn);
    Principal principal = *desk.holder_of(ann.token.reveal());
    desk.pass(kMoment);
    desk.notice_mailer.sent.clear();
    return principal;
}

Result<Answer> set_webhook(PrincipalDesk& desk, const Principal& by, const std::string& url) {
    return desk.ask_notices(
        &NoticeService::set_webhook, NoticeService::Caller{by, kDemo}, SetNoticeWebhook{url});
}

NoticeRow row_of(PrincipalDesk& desk, const TenantId& tenant_id = kDemo) {
    const auto stored = *desk.store().load_state(notice_machine(tenant_id));
    return stored ? *decode_notice_row(*parse_json(stored->json)) : NoticeRow{};
}

std::string text_of(const Json& json, std::string_view key) {
    return json.find(key)->as_string();
}

int records_of(PrincipalDesk& desk, const std::string& event) {
    int count = 0;
    for (const LedgerEntry& entry : *desk.store().read_ledger(kDemo, 0, 10'000)) {
        count += entry.canonical_json.contains("\"event\":\"" + event + "\"") ? 1 : 0;
    }
    return count;
}

TEST(Notices, ReachAPersonByLetterWithIdsAndALinkAlone) {  // 1.3
    PrincipalDesk desk;
    add_ann(desk);
    put_on_record(desk, "APPROVAL_REQUESTED");
    EXPECT_TRUE(desk.notice_mailer.sent.empty());  // Not from the turn itself.
    desk.pass(kMoment);
    ASSERT_EQ(desk.notice_mailer.sent.size(), 1u);
    const Mail& mail = desk.notice_mailer.sent[0];
    EXPECT_EQ(mail.to, kAnn);
    EXPECT_NE(mail.text.find("apr_1"), std::string::npos);
    EXPECT_NE(mail.text.find("https://desk.example/"), std::string::npos);
    EXPECT_EQ(mail.text.find("evil"), std::string::npos);
    EXPECT_TRUE(row_of(desk).held.empty());
    desk.pass(Duration::of_days(2));
    EXPECT_EQ(desk.notice_mailer.sent.size(), 1u);
}

TEST(Notices, ARecordThatIsNotCommittedIsNotTold) {  // 1.1
    PrincipalDesk desk;
    add_ann(desk);
    EXPECT_FALSE(desk.in_turn(kDemo, planner(), [](Turn& turn) -> Result<void> {
        TRY(turn.audit(turn.draft("APPROVAL_REQUESTED")));
        return fail(errors::invalid_request, "No.");
    }));
    desk.pass(kMoment);
    EXPECT_TRUE(desk.notice_mailer.sent.empty());
    EXPECT_EQ(row_of(desk).noted.all, 0);
}

TEST(Notices, ACrashBeforeAnythingIsSentLosesNothing) {  // 2.1
    PrincipalDesk desk;
    add_ann(desk);
    put_on_record(desk, "APPROVAL_REQUESTED");
    desk.restart();
    EXPECT_TRUE(desk.notices().metrics_text().contains("interlock_notices_waiting 1\n"));
    desk.pass(kMoment);
    EXPECT_EQ(desk.notice_mailer.sent.size(), 1u);
    EXPECT_TRUE(desk.notices().metrics_text().contains("interlock_notices_waiting 0\n"));
}

TEST(Notices, ACrashBetweenSendingAndRecordingSendsTheSameIdAgain) {  // 2.1, 1.3
    PrincipalDesk desk;
    const Principal ann = add_ann(desk);
    ASSERT_TRUE(set_webhook(desk, ann, "https://hooks.example/x"));
    desk.webhooks.while_calling = [&] { desk.crash(); };
    put_on_record(desk, "APPROVAL_REQUESTED");
    desk.pass(kMoment);
    desk.webhooks.while_calling = nullptr;
    desk.restart();
    desk.pass(notice_retry_delay(1));
    ASSERT_EQ(desk.webhooks.posts.size(), 2u);
    std::vector<std::string> ids;
    for (const WebhookPost& post : desk.webhooks.posts) {
        const Json body = *parse_json(post.body);
        ids.push_back(text_of(body.find("notices")->items().at(0), "notice_id"));
    }
    EXPECT_EQ(ids[0], ids[1]);
    desk.pass(Duration::of_days(1));
    EXPECT_EQ(desk.webhooks.posts.size(), 2u);
}

TEST(Notices, AreSignedAndHoldNoTokenAndNoAgentsWords) {  // 1.3, 4.2
    PrincipalDesk desk;
    const Principal ann = add_ann(desk);
    const auto set = set_webhook(desk, ann, "https://hooks.example/hidden-part?token=abc");
    ASSERT_TRUE(set);
    const Json answer = *parse_json(set->body);
    EXPECT_EQ(text_of(answer, "host"), "hooks.example");
    const std::string secret = text_of(answer, "secret");
    put_on_record(desk, "APPROVAL_REQUESTED");
    desk.pass(kMoment);
    ASSERT_EQ(desk.webhooks.posts.size(), 1u);
    const WebhookPost& post = desk.webhooks.posts[0];
    EXPECT_EQ(post.signature, notice_signature(secret, desk.clock.now(), post.body));
    EXPECT_EQ(post.signature_header, "Interlock-Signature");
    for (const char* never : {"evil", "hidden-part", "token=", "ils_", "ilk_", "ilw_"}) {
        EXPECT_EQ(post.body.find(never), std::string::npos) << never;
    }
    // Nor does the record or a later read hold it.
    for (const LedgerEntry& entry : *desk.store().read_ledger(kDemo, 0, 10'000)) {
        EXPECT_FALSE(entry.canonical_json.contains(secret));
        EXPECT_FALSE(entry.canonical_json.contains("hidden-part"));
    }
    const auto read = desk.ask_notices(&NoticeService::get, NoticeService::Caller{ann, kDemo});
    EXPECT_FALSE(read->body.contains(secret));
    EXPECT_FALSE(read->body.contains("hidden-part"));
}

TEST(Notices, TheRowOfTheWebhookHangsOnTheChain) {  // 4.4: it says where facts go.
    PrincipalDesk desk;
    ASSERT_TRUE(set_webhook(desk, add_ann(desk), "https://hooks.example/x"));
    const auto entries = *desk.store().read_ledger(kDemo, 0, 10'000);
    EXPECT_TRUE(entries.back().canonical_json.contains("NOTICE_WEBHOOK_SET"));
    EXPECT_TRUE(entries.back().canonical_json.contains("notify/demo"));
}

TEST(Notices, AnAddressInsideIsRefusedWhenItIsSet) {  // notices.md 4.1
    PrincipalDesk desk;
    const Principal ann = add_ann(desk);
    for (const char* url :
         {"http://127.0.0.1:9/",
          "http://10.1.2.3/",
          "http://[::1]/",
          "http://localhost/",
          "http://169.254.169.254/latest",
          "ftp://hooks.example/",
          "not a url"}) {
        const auto set = set_webhook(desk, ann, url);
        ASSERT_FALSE(set) << url;
        EXPECT_EQ(set.error(), errors::url_not_allowed) << url;
    }
    EXPECT_EQ(desk.store().load_state("notify/demo")->has_value(), false);
}

TEST(Notices, AnAddressThatMovedInsideIsGivenUpOnRecord) {  // 4.1, 2.5
    PrincipalDesk desk;
    ASSERT_TRUE(set_webhook(desk, add_ann(desk), "https://hooks.example/x"));
    desk.webhooks.failure = &errors::url_not_allowed;
    put_on_record(desk, "APPROVAL_REQUESTED");
    desk.pass(kMoment);
    EXPECT_EQ(desk.webhooks.tries, 1);
    EXPECT_EQ(records_of(desk, "NOTICES_UNDELIVERED"), 1);
    desk.pass(Duration::of_days(2));
    EXPECT_EQ(desk.webhooks.tries, 1);
}

TEST(Notices, AFailureIsRepeatedAndEndsOnRecord) {  // 2.4, 2.5
    PrincipalDesk desk;
    add_ann(desk);
    desk.notice_mailer.failure = &errors::mail_unavailable;
    put_on_record(desk, "APPROVAL_REQUESTED");
    desk.pass(kMoment);
    for (std::int64_t attempt = 1; attempt < kNoticeAttemptsMax; ++attempt) {
        EXPECT_EQ(desk.notice_mailer.tries, attempt);
        EXPECT_EQ(records_of(desk, "NOTICES_UNDELIVERED"), 0);
        desk.pass(notice_retry_delay(attempt));
    }
    EXPECT_EQ(desk.notice_mailer.tries, kNoticeAttemptsMax);
    EXPECT_EQ(records_of(desk, "NOTICES_UNDELIVERED"), 1);
    EXPECT_TRUE(desk.notices().metrics_text().contains("interlock_notices_given_up_total 1\n"));
    desk.notice_mailer.failure = nullptr;
    desk.pass(Duration::of_days(2));
    EXPECT_TRUE(desk.notice_mailer.sent.empty());  // Its end is an end,
    put_on_record(desk, "APPROVAL_REQUESTED");
    desk.pass(kMoment);
    EXPECT_EQ(desk.notice_mailer.sent.size(), 1u);  // and the next one leaves.
}

TEST(Notices, AFloodFillsNoMailboxAndNothingIsForgotten) {  // 2.2, 2.3
    PrincipalDesk desk;
    add_ann(desk);
    constexpr int kFlood = 500;
    int letters = 0;
    for (int i = 0; i < kFlood; ++i) {
        put_on_record(desk, "APPROVAL_REQUESTED");
        desk.pass(kMoment);
    }
    letters = static_cast<int>(desk.notice_mailer.sent.size());
    EXPECT_EQ(letters, 2);  // At once, and after five of the eight minutes.
    desk.pass(kLetterPause);
    ASSERT_EQ(desk.notice_mailer.sent.size(), 3u);
    EXPECT_NE(desk.notice_mailer.sent[1].text.find("more, earlier"), std::string::npos);
    std::int64_t told = 0;
    for (const Mail& mail : desk.notice_mailer.sent) {
        told += std::stoll(mail.subject.substr(mail.subject.find(' ') + 1));
    }
    EXPECT_EQ(told, kFlood);
    EXPECT_LE(row_of(desk).held.size(), kNoticesHeldMax);
}

TEST(Notices, ATenantWhoseReceiverIsGoneHoldsUpNobodyElse) {  // 2.6
    PrincipalDesk desk;
    ASSERT_TRUE(set_webhook(desk, add_ann(desk), "https://hooks.example/x"));
    desk.add_tenant_with_human("other", "bob@example.org");
    desk.webhooks.failure = &errors::webhook_failed;
    for (std::size_t i = 0; i < 2 * kNoticesHeldMax; ++i) {
        put_on_record(desk, "APPROVAL_REQUESTED");
    }
    put_on_record(desk, "APPROVAL_REQUESTED", TenantId::trusted("other"));
    desk.pass(kMoment);
    const auto& sent = desk.notice_mailer.sent;
    EXPECT_EQ(std::ranges::count(sent, "bob@example.org", &Mail::to), 1);
    EXPECT_EQ(row_of(desk).held.size(), kNoticesHeldMax);
    EXPECT_TRUE(row_of(desk, TenantId::trusted("other")).held.empty());
}

TEST(Notices, ABrokenChainIsToldToTheHostToo) {  // 1.2
    PrincipalDesk desk;
    add_ann(desk);
    put_on_record(desk, "CHAIN_BROKEN");
    EXPECT_EQ(row_of(desk).noted.all, 1);
    EXPECT_EQ(row_of(desk, system_tenant()).noted.all, 1);
    put_on_record(desk, "TRADING_BLOCKED");
    EXPECT_EQ(row_of(desk, system_tenant()).noted.all, 1);
}

TEST(Notices, SomebodyWithoutAPasswordGetsNone) {  // 1.2: nobody has shown whose address it is.
    PrincipalDesk desk;
    add_ann(desk);
    ASSERT_TRUE(desk.ask<Invitation>(
        &PrincipalService::invite_human,
        PrincipalService::Caller{PrincipalDesk::host_operator(), system_tenant()},
        InviteHuman{"stranger@example.org", false}));
    put_on_record(desk, "CHAIN_BROKEN", system_tenant());
    desk.pass(kMoment);
    EXPECT_EQ(std::ranges::count(desk.notice_mailer.sent, "stranger@example.org", &Mail::to), 0);
}

TEST(Notices, APersonChoosesKindsAndTurnsMailOff) {  // 3.1
    PrincipalDesk desk;
    const Principal ann = add_ann(desk);
    const NoticeService::Caller caller{ann, kDemo};
    ASSERT_TRUE(desk.ask_notices(&NoticeService::set, caller, SetNotices{{NoticeKind::approval}}));
    put_on_record(desk, "TRADING_BLOCKED");
    put_on_record(desk, "APPROVAL_REQUESTED");
    desk.pass(kMoment);
    ASSERT_EQ(desk.notice_mailer.sent.size(), 1u);
    EXPECT_NE(desk.notice_mailer.sent[0].subject.find("approval"), std::string::npos);
    ASSERT_TRUE(desk.ask_notices(&NoticeService::set, caller, SetNotices{}));
    desk.restart();
    put_on_record(desk, "APPROVAL_REQUESTED");
    desk.pass(kLetterPause);
    EXPECT_EQ(desk.notice_mailer.sent.size(), 1u);
}

TEST(Notices, ATestGoesToWhoAskedAndToTheWebhook) {  // 3.5
    PrincipalDesk desk;
    const Principal ann = add_ann(desk);
    ASSERT_TRUE(set_webhook(desk, ann, "https://hooks.example/x"));
    const auto asked = desk.ask_notices(&NoticeService::test, NoticeService::Caller{ann, kDemo});
    EXPECT_EQ(asked->http_status, 202);
    desk.pass(kMoment);
    EXPECT_EQ(desk.notice_mailer.sent.size(), 1u);
    EXPECT_EQ(desk.webhooks.posts.size(), 1u);
}

TEST(Notices, AnotherWebhookGetsWhatTheOneBeforeDidNot) {  // 4.3
    PrincipalDesk desk;
    const Principal ann = add_ann(desk);
    ASSERT_TRUE(set_webhook(desk, ann, "https://gone.example/x"));
    desk.webhooks.failure = &errors::webhook_failed;
    put_on_record(desk, "TRADING_BLOCKED");
    desk.pass(kMoment);
    EXPECT_TRUE(desk.webhooks.posts.empty());
    desk.webhooks.failure = nullptr;
    ASSERT_TRUE(set_webhook(desk, ann, "https://there.example/x"));
    desk.pass(Duration{});
    ASSERT_EQ(desk.webhooks.posts.size(), 1u);
    EXPECT_EQ(desk.webhooks.posts[0].url, "https://there.example/x");
}

TEST(Notices, AWebhookThatIsRemovedIsCalledNoMore) {  // 4.3
    PrincipalDesk desk;
    const Principal ann = add_ann(desk);
    const NoticeService::Caller caller{ann, kDemo};
    EXPECT_EQ(desk.ask_notices(&NoticeService::delete_webhook, caller).error(), errors::not_found);
    ASSERT_TRUE(set_webhook(desk, ann, "https://hooks.example/x"));
    desk.webhooks.failure = &errors::webhook_failed;
    put_on_record(desk, "TRADING_BLOCKED");
    desk.pass(kMoment);
    ASSERT_TRUE(desk.ask_notices(&NoticeService::delete_webhook, caller));
    desk.pass(Duration::of_days(1));
    EXPECT_EQ(desk.webhooks.tries, 1);
    EXPECT_TRUE(row_of(desk).held.empty());
}

TEST(Notices, AskedToSentIsMeasured) {  // 5.1
    PrincipalDesk desk;
    add_ann(desk);
    desk.notice_mailer.failure = &errors::mail_unavailable;
    put_on_record(desk, "APPROVAL_REQUESTED");
    desk.pass(kMoment);
    desk.notice_mailer.failure = nullptr;
    desk.pass(notice_retry_delay(1));
    const std::string text = desk.notices().metrics_text();
    EXPECT_TRUE(text.contains("interlock_notice_asked_to_sent_seconds_sum 61.000\n")) << text;
    EXPECT_TRUE(text.contains("interlock_notice_asked_to_sent_seconds_count 1\n")) << text;
    EXPECT_TRUE(text.contains("interlock_notice_asked_to_sent_seconds_max 61.000\n")) << text;
    EXPECT_TRUE(text.contains("interlock_notice_failures_total 1\n")) << text;
    const auto status = desk.ask_notices(&NoticeService::status, PrincipalDesk::host_operator());
    const Json first = parse_json(status->body)->find("tenants")->items().at(0);
    EXPECT_EQ(text_of(first, "tenant_id"), "demo");
    EXPECT_EQ(first.find("took_ms")->number_text(), "61000");
}

TEST(Notices, ARowThatCannotBeReadStopsNoTurn) {  // 2.7
    PrincipalDesk desk;
    add_ann(desk);
    ASSERT_TRUE(desk.in_turn(kDemo, planner(), [](Turn& turn) -> Result<void> {
        turn.save(notice_machine(kDemo), Json::object({{"held", "broken"}}));
        return {};
    }));
    desk.restart();
    put_on_record(desk, "APPROVAL_REQUESTED");
    desk.pass(kMoment);
    EXPECT_EQ(desk.notice_mailer.sent.size(), 1u);
}

TEST(Notices, WhatIsLeftWhenTheServerStopsLeavesAfterTheNextStart) {
    PrincipalDesk desk;
    add_ann(desk);
    desk.notices().stop();
    put_on_record(desk, "APPROVAL_REQUESTED");
    desk.pass(kMoment);
    EXPECT_TRUE(desk.notice_mailer.sent.empty());
    desk.restart();
    desk.pass(notice_retry_delay(1));
    EXPECT_EQ(desk.notice_mailer.sent.size(), 1u);
}

}  // namespace
}  // namespace interlock
