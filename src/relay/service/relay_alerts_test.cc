// What is critical in the relay reaches the people of its tenant, at least once, with no words of
// anybody's: docs/contracts/notices.md, 1.4.
#include "relay/service/relay_alerts.h"

#include <gtest/gtest.h>

#include <memory>

#include "testing/principal_desk.h"
#include "testing/relay_world.h"

namespace interlock {
namespace {

constexpr const char* kAnn = "ann@example.org";
constexpr const char* kBob = "bob@example.org";
constexpr const char* kHost = "host@example.org";

// The relay beside the ledger that its alerts go to. restart() is a crash of the relay: what it
// had asked for and not yet heard of is gone.
struct RelayAlertsTest : testing::Test {
    RelayAlertsTest() {
        desk.add_tenant_with_human("t1", kAnn);
        desk.add_tenant_with_human("t2", kBob);
        add_host_human();
        desk.pass(kNoticeGather);
        desk.notice_mailer.sent.clear();
        begin(std::make_unique<RelayWorld>());
    }
    void add_host_human() {
        auto invitation = desk.ask<Invitation>(
            &PrincipalService::invite_human,
            PrincipalService::Caller{PrincipalDesk::host_operator(), system_tenant()},
            InviteHuman{kHost, false});
        ASSERT_TRUE(invitation);
        ASSERT_TRUE(desk.ask<LoggedIn>(
            &PrincipalService::activate,
            ActivateRequest{
                std::move(*invitation->code),
                SecretString(std::string(PrincipalDesk::kPassword)),
                false}));
    }
    void begin(std::unique_ptr<RelayWorld> next) {
        relay = std::move(next);
        alerts = std::make_unique<RelayAlerts>(
            RelayAlerts::Parts{.lane = relay->lane, .state = relay->state, .clock = relay->clock});
        alerts->begin([this](const AlertRow& row, std::function<void(bool)> done) {
            if (is_ledger_away) {
                done(false);
                return;
            }
            desk.engine().submit_turn()(relay_alert_turn(
                row, [this, done](bool is_told) { is_relay_dying ? void() : done(is_told); }));
        });
    }
    void restart() {
        alerts.reset();
        begin(std::make_unique<RelayWorld>(
            relay->store.take_contents(), DeliveryBounds{}, relay->clock.now()));
        is_relay_dying = false;
    }
    // A critical record of the relay, with words that must not leave it.
    void record(
        const TenantId& tenant_id, const std::string& event, const Json& detail, int times = 1) {
        relay->change([&](RelayTurn& turn) {
            for (int i = 0; i < times; ++i) {
                AuditDraft draft = relay_draft(tenant_id, event, "internal:relay");
                draft.severity = AuditSeverity::critical;
                draft.status = AuditStatus::failed;
                draft.reason = "words of a message: visit evil.example";
                draft.detail = detail;
                turn.audit(std::move(draft));
            }
        });
    }
    void pass(Duration time) {
        relay->pass(time);
        desk.pass(time);
    }
    std::vector<AuditRecord> told(const std::string& event, const TenantId& tenant_id = kT1) {
        std::vector<AuditRecord> found;
        for (const LedgerEntry& entry : *desk.store().read_ledger(tenant_id, 0, 10'000)) {
            auto one = decode_audit_record(parse_json(entry.canonical_json).value());
            if (one->draft.event == event) {
                EXPECT_EQ(one->draft.severity, AuditSeverity::critical);
                EXPECT_FALSE(entry.canonical_json.contains("evil"));
                found.push_back(*std::move(one));
            }
        }
        return found;
    }
    std::vector<std::string> letters_to(const std::string& address) {
        std::vector<std::string> texts;
        for (const Mail& mail : desk.notice_mailer.sent) {
            EXPECT_FALSE(mail.text.contains("evil"));
            if (mail.to == address) {
                texts.push_back(mail.text);
            }
        }
        return texts;
    }
    static std::string text_at(const AuditRecord& record, std::string_view key) {
        const Json* const value = record.draft.detail.find(key);
        return value == nullptr ? std::string() : to_text(*value);
    }

    static inline const TenantId kT1 = TenantId::trusted("t1");
    static constexpr Duration kSecond = Duration::of_seconds(1);
    const Json full = Json::object({{"instance_id", "i-1"}, {"text", "evil"}});
    PrincipalDesk desk;
    std::unique_ptr<RelayWorld> relay;
    std::unique_ptr<RelayAlerts> alerts;
    bool is_ledger_away = false;
    bool is_relay_dying = false;  // The ledger has it, and the relay does not hear so.
};

TEST_F(RelayAlertsTest, ACriticalRecordIsToldToItsTenantAlone) {
    record(kT1, "RELAY_SHEDDING", full);
    pass(kSecond);
    pass(kSecond);
    const auto alert = told("RELAY_SHEDDING");
    ASSERT_EQ(alert.size(), 1u);
    EXPECT_EQ(alert[0].draft.status, AuditStatus::failed);
    EXPECT_EQ(text_at(alert[0], "record"), "\"relay:t1.1\"");
    EXPECT_EQ(text_at(alert[0], "instance_id"), "\"i-1\"");
    EXPECT_EQ(text_at(alert[0], "count"), "1");
    ASSERT_EQ(letters_to(kAnn).size(), 1u);
    EXPECT_NE(letters_to(kAnn)[0].find("RELAY_SHEDDING  i-1"), std::string::npos);
    EXPECT_TRUE(letters_to(kBob).empty());
    EXPECT_TRUE(letters_to(kHost).empty());
    EXPECT_EQ(relay->state.alerts.held(), 0u);
}

TEST_F(RelayAlertsTest, ADeafBotIsToldToTheHostsPeople) {
    record(
        system_tenant(),
        "RELAY_PLATFORM_DEAF",
        Json::object({{"platform", "telegram"}, {"bot_id", "777"}}));
    pass(kSecond);
    pass(kSecond);
    ASSERT_EQ(letters_to(kHost).size(), 1u);
    EXPECT_NE(letters_to(kHost)[0].find("RELAY_PLATFORM_DEAF  telegram/777"), std::string::npos);
    EXPECT_TRUE(letters_to(kAnn).empty());
}

TEST_F(RelayAlertsTest, OnceThoughTheServerDiedBetween) {
    is_relay_dying = true;
    record(kT1, "RELAY_DEAD_LETTER", full);
    pass(kSecond);
    EXPECT_EQ(told("RELAY_DEAD_LETTER").size(), 1u);
    EXPECT_EQ(relay->state.alerts.held(), 1u);
    restart();
    pass(kSecond);
    pass(kSecond);
    EXPECT_EQ(told("RELAY_DEAD_LETTER").size(), 1u);
    EXPECT_EQ(letters_to(kAnn).size(), 1u);
    EXPECT_EQ(relay->state.alerts.held(), 0u);
}

TEST_F(RelayAlertsTest, WhatTheServerDiedWithoutTellingIsToldAtTheNextStart) {
    is_ledger_away = true;
    record(kT1, "RELAY_WAKE_GIVEN_UP", full);
    pass(kSecond);
    EXPECT_TRUE(told("RELAY_WAKE_GIVEN_UP").empty());
    is_ledger_away = false;
    restart();
    pass(kSecond);
    EXPECT_EQ(told("RELAY_WAKE_GIVEN_UP").size(), 1u);
}

TEST_F(RelayAlertsTest, ALedgerThatTakesNothingIsAskedAgainLater) {
    is_ledger_away = true;
    record(kT1, "RELAY_SHEDDING", full);
    pass(kSecond);
    is_ledger_away = false;
    pass(kSecond);
    EXPECT_TRUE(told("RELAY_SHEDDING").empty());
    pass(kAlertRetry);
    EXPECT_EQ(told("RELAY_SHEDDING").size(), 1u);
}

// docs/contracts/notices.md, 1.4
TEST_F(RelayAlertsTest, AFloodIsOneTurnAMinuteThatSaysHowManyThereWere) {
    record(kT1, "RELAY_DEAD_LETTER", full);
    pass(kSecond);
    record(kT1, "RELAY_DEAD_LETTER", full, 500);
    record(kT1, "RELAY_DEAD_LETTER", Json::object({{"instance_id", "i-2"}}));
    EXPECT_EQ(relay->state.alerts.held(), 2u);
    pass(kSecond);
    EXPECT_EQ(told("RELAY_DEAD_LETTER").size(), 2u);  // Another instance waits for nobody.
    pass(kAlertPause);
    pass(kSecond);
    const auto all = told("RELAY_DEAD_LETTER");
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(text_at(all[2], "count"), "500");
    EXPECT_EQ(text_at(all[2], "record"), "\"relay:t1.501\"");
    EXPECT_EQ(relay->state.alerts.held(), 0u);
}

TEST_F(RelayAlertsTest, ANameThatIsNoPlainIdIsInNoLetter) {
    record(kT1, "RELAY_SHEDDING", Json::object({{"instance_id", "visit evil.example"}}));
    pass(kSecond);
    pass(kSecond);
    ASSERT_EQ(letters_to(kAnn).size(), 1u);  // letters_to() looks for the words.
}

}  // namespace
}  // namespace interlock
