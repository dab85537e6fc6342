#include "app/command/doctor_checks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/wiring/test_ledger.h"
#include "app/wiring/test_server.h"
#include "market/rules/synthetic_market.h"

namespace interlock {
namespace {

Health worst(const std::vector<DoctorFinding>& findings) {
    Health health = Health::good;
    for (const DoctorFinding& finding : findings) {
        health = std::max(health, finding.health);
    }
    return health;
}

TEST(Doctor, FindsAHealthyFolderHealthy) {
    TestLedger ledger;
    ledger.append("demo", 5, true);
    EXPECT_EQ(worst(check_data_folder(ledger.path())), Health::good);
    EXPECT_EQ(worst(check_ledger_files(ledger.path())), Health::good);
    FakeClock clock;
    EXPECT_EQ(check_clock(clock).health, Health::good);
    EXPECT_EQ(check_sync(ledger.path(), clock).health, Health::good);
    EXPECT_EQ(check_kill_file(ledger.path()).health, Health::good);
}

TEST(Doctor, NamesTheStopListenerAndRefusesPlainTextBeyondThisMachine) {
    const TempFolder folder;
    Config config;
    config.data_folder = folder.path().string();
    EXPECT_EQ(check_stop(config).health, Health::good);
    EXPECT_NE(check_stop(config).detail.find("127.0.0.1 port 8421"), std::string::npos);
    config.stop_port = 9000;
    EXPECT_NE(check_stop(config).detail.find("port 9000"), std::string::npos);
    config.stop_address = "0.0.0.0";
    EXPECT_EQ(check_stop(config).health, Health::bad);
    config.http_tls_certificate = "certificate.pem";
    EXPECT_EQ(check_stop(config).health, Health::good);
    config.stop_address = "";
    EXPECT_EQ(check_stop(config).health, Health::note);
}

TEST(Doctor, SaysThatAPlatformIsDeafAndNamesFullBuffers) {
    const auto judged = [](const char* status) { return judge_relay(parse_json(status).value()); };
    EXPECT_TRUE(judged(R"({"bots":[],"shedding":[]})").empty());
    const auto good = judged(R"({"bots":[{"state":"connected"},{"state":"connecting"}]})");
    EXPECT_EQ(worst(good), Health::good);
    const auto deaf = judged(
        R"({"bots":[{"platform":"discord","bot_id":"9","state":"deaf","detail":"refused"}]})");
    ASSERT_EQ(worst(deaf), Health::bad);
    EXPECT_TRUE(deaf[0].detail.contains("discord 9 is deaf")) << deaf[0].detail;
    const auto full = judged(R"({"bots":[],"shedding":[{"instance_id":"i1","tenant_id":"demo"}]})");
    ASSERT_EQ(worst(full), Health::note);
    EXPECT_TRUE(full[0].detail.contains("i1 (demo)")) << full[0].detail;
}

TEST(Doctor, WarnsWhenPeopleAreNotTold) {  // notices.md 5
    const auto judged = [](const char* status) {
        return judge_notices(parse_json(status).value());
    };
    EXPECT_EQ(worst(judged(R"({"tenants":[]})")), Health::good);
    const auto good = judged(
        R"({"tenants":[{"tenant_id":"demo","waiting":2,"given_up":1,"failing":"",
            "sent_at":"2026-11-19T10:00:00.000Z","took_ms":1041}]})");
    EXPECT_EQ(worst(good), Health::good);
    EXPECT_TRUE(good[0].detail.contains("1041 ms")) << good[0].detail;
    const auto failing = judged(
        R"({"tenants":[{"tenant_id":"demo","waiting":2,"given_up":0,"failing":"mail_unavailable",
            "sent_at":null,"took_ms":null}]})");
    ASSERT_EQ(worst(failing), Health::warning);
    EXPECT_TRUE(failing[0].detail.contains("demo (mail_unavailable)")) << failing[0].detail;
    EXPECT_TRUE(failing[0].detail.contains("2 notices")) << failing[0].detail;
}

TEST(Doctor, LeavesNothingBehind) {
    const TempFolder folder;
    FakeClock clock;
    check_sync(folder.path().string(), clock);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Doctor, FindsAFolderThatOthersMayRead) {
    TestLedger ledger;
    std::filesystem::permissions(
        ledger.path(), std::filesystem::perms::others_read, std::filesystem::perm_options::add);
    EXPECT_EQ(worst(check_data_folder(ledger.path())), Health::bad);
}

TEST(Doctor, FindsAKeyThatOthersMayRead) {
    TestLedger ledger;
    std::filesystem::permissions(
        ledger.path() + "/ledger.key",
        std::filesystem::perms::group_read,
        std::filesystem::perm_options::add);
    EXPECT_EQ(worst(check_data_folder(ledger.path())), Health::bad);
}

TEST(Doctor, FindsAPublicKeyThatIsNotOurs) {
    TestLedger ledger;
    std::ofstream(ledger.path() + "/ledger.pub") << std::string(64, 'a') << "\n";
    EXPECT_EQ(worst(check_data_folder(ledger.path())), Health::bad);
}

TEST(Doctor, OnlyNotesAFolderThatIsNotThereYet) {
    const TempFolder folder;
    EXPECT_EQ(worst(check_data_folder(folder / "later")), Health::note);
}

TEST(Doctor, FindsABrokenChain) {
    TestLedger ledger;
    ledger.append("demo", 5);
    ledger.close_store();
    ledger.run_sql("DELETE FROM ledger WHERE seq = 3");
    const std::vector<DoctorFinding> findings = check_ledger_files(ledger.path());
    EXPECT_EQ(worst(findings), Health::bad);
    EXPECT_FALSE(is_healthy(findings));
    EXPECT_TRUE(describe(findings, false).contains("demo is broken at record 3"));
}

// The walk goes on behind a break that is on record, so the row has to be asked.
TEST(Doctor, FindsABreakThatNobodyAccepted) {
    TestLedger ledger;
    ledger.append("demo", 5, true);
    const auto put = [&](const std::string& tenant, const std::string& by) {
        const BreakState state{
            .newest = {.seq = 4, .bad_seq = 3, .reason = "changed_row"}, .accepted_by = by};
        ledger.run_sql(
            "REPLACE INTO machine_state (machine_key, version, json) VALUES ('break/" + tenant +
            "', 1, '" + to_text(encode(state)) + "')");
    };
    put("demo", "human:hum_1");
    EXPECT_EQ(
        describe(check_ledger_files(ledger.path()), false).find("accept-break"), std::string::npos);
    put("demo", "");
    put("_system", "");
    const std::string told = describe(check_ledger_files(ledger.path()), false);
    EXPECT_TRUE(told.contains("Not fit to run")) << told;
    EXPECT_TRUE(told.contains("chain of demo broken: changed_row at record 3")) << told;
    EXPECT_TRUE(told.contains("`interlock audit accept-break --tenant demo`")) << told;
    EXPECT_TRUE(told.contains("`interlock kill off --tenant demo`")) << told;
    EXPECT_TRUE(told.contains("`interlock kill off --global`")) << told;
    EXPECT_TRUE(told.contains("everybody is stopped")) << told;
}

TEST(Doctor, FindsAClockOfAnotherCentury) {
    FakeClock clock(Timestamp{0});
    EXPECT_EQ(check_clock(clock).health, Health::bad);
}

TEST(Doctor, WarnsOfTheKillFile) {
    const TempFolder folder;
    std::ofstream(folder / "KILL") << "odd fills\n";
    const DoctorFinding finding = check_kill_file(folder.path().string());
    EXPECT_EQ(finding.health, Health::warning);
    EXPECT_TRUE(finding.detail.contains("odd fills"));
    std::ofstream(folder / "KILL").flush();
    EXPECT_TRUE(check_kill_file(folder.path().string()).detail.contains("it gives no reason"));
}

TEST(Doctor, NotesThatNoServerRuns) {
    const TempFolder folder;
    EXPECT_EQ(worst(check_server(folder.path().string())), Health::note);
}

TEST(Doctor, FindsAServerThatHoldsTheFolderInSilence) {
    TestLedger ledger;  // Holds the lock and has no socket.
    EXPECT_EQ(worst(check_server(ledger.path())), Health::bad);
}

TEST(Doctor, FindsAServerThatIsNotReady) {
    const TempFolder folder;
    const TestServer server(folder.path().string(), [](const HttpRequest& request) {
        return request.path() == "/healthz"
                   ? json_answer(200, "{}")
                   : json_answer(
                         503, R"({"error":{"code":"unavailable","message":"It is full."}})");
    });
    const auto findings = check_server(folder.path().string());
    ASSERT_EQ(worst(findings), Health::bad);
    EXPECT_TRUE(findings[0].detail.ends_with(": It is full.")) << findings[0].detail;
}

TEST(Doctor, FindsASinkThatIsNotThere) {
    const TempFolder folder;
    Config config;
    EXPECT_EQ(check_sink(config).health, Health::good);
    config.effects_sink = folder / "sink.sock";
    EXPECT_EQ(check_sink(config).health, Health::bad);
}

TEST(Doctor, FindsTlsFilesThatCannotBeRead) {
    FakeClock clock;
    Config config;
    EXPECT_EQ(check_tls(config, clock).health, Health::good);
    config.http_tls_certificate = "/nowhere/cert.pem";
    config.http_tls_key = "/nowhere/key.pem";
    EXPECT_EQ(check_tls(config, clock).health, Health::bad);
}

TEST(Doctor, SaysWhatToDoAboutEveryTrouble) {
    const TempFolder folder;
    GlobalOptions global;
    global.data = folder / "none";
    global.config_path = folder / "none.toml";
    FakeClock clock(Timestamp{0});
    const std::vector<DoctorFinding> findings = examine(global, clock);
    EXPECT_FALSE(is_healthy(findings));
    EXPECT_FALSE(encode(findings).find("ok")->as_bool());
    for (const DoctorFinding& finding : findings) {
        EXPECT_EQ(finding.health == Health::good, finding.next_step.empty()) << finding.name;
    }
}

TEST(Doctor, ShowsForEachConfiguredLimitThatItCanReject) {
    Config config;
    config.limits["max_leverage"] = "0.5";
    const DoctorFinding finding = check_limits(config, SyntheticMarket().markets());
    EXPECT_EQ(finding.health, Health::good) << finding.detail;
    EXPECT_EQ(
        finding.detail,
        "28 limits, each shown to reject; switched off: max_order_qty, infra_cost_per_day, "
        "data_cost_per_day, ops_cost_per_day, enforce_edge");
}

// A limit that is off was proven with another value than the configured one: that is no proof.
TEST(Doctor, CountsALimitThatIsSwitchedOnAndLeavesOutOneThatIsOff) {
    Config config;
    config.limits["max_order_qty"] = "2";
    const DoctorFinding finding = check_limits(config, SyntheticMarket().markets());
    EXPECT_TRUE(finding.detail.starts_with(
        "29 limits, each shown to reject; switched off: infra_cost_per_day,"))
        << finding.detail;
}

TEST(Doctor, NamesTheLimitsThatTheVenueGivesNothingToActOn) {
    const DoctorFinding finding = check_limits(Config{}, std::vector<MarketRules>(1));
    EXPECT_EQ(finding.health, Health::note);
    EXPECT_TRUE(finding.detail.starts_with("27 limits, each shown to reject; switched off: max_"))
        << finding.detail;
    EXPECT_TRUE(finding.detail.ends_with(
        "; cannot reject in this configuration, since no market here states what they are about: "
        "order_rate_share"))
        << finding.detail;
}

TEST(Doctor, RefusesALimitThatDoesNotExist) {
    Config config;
    config.limits["max_leverag"] = "0.5";
    const DoctorFinding finding = check_limits(config, SyntheticMarket().markets());
    EXPECT_EQ(finding.health, Health::bad);
    EXPECT_NE(finding.detail.find("max_leverag"), std::string::npos) << finding.detail;
}

TEST(Doctor, ReachesThePaperVenue) {
    FakeClock clock;
    const DoctorFinding finding = check_paper_venue(Config{}, clock);
    EXPECT_EQ(finding.health, Health::good) << finding.detail;
    EXPECT_NE(finding.detail.find("9 markets"), std::string::npos) << finding.detail;
}

// What runs and trades nothing is not "fit": a warning with the next step, and an end that says so.
TEST(Doctor, WarnsWhileNothingTrades) {
    const TempFolder folder;
    const auto status = [](const char* blocked) {
        return std::string(R"({"active":false,"blocked":)") + blocked + "}";
    };
    std::string host = status("null");
    std::string more = R"({"strategy_id":"a","blocked":null})";
    std::string demo = status(R"({"code":"disabled","reason":"Off.","next":"Enable it."})");
    const TestServer server(folder.path().string(), [&](const HttpRequest& request) {
        if (request.path() == "/tenants") {
            return json_answer(200, R"({"tenants":[{"tenant_id":"demo"}],"next_after":null})");
        }
        if (request.path() == "/api/demo/instances") {
            return json_answer(
                200,
                R"({"strategies":[{"strategy_id":"b",)"
                R"("blocked":{"code":"paused","reason":"Held up.","next":"Let it go."}},)" +
                    more + "]}");
        }
        return json_answer(200, request.path() == "/api/_system/kill" ? host : demo);
    });
    const auto found = check_trading(folder.path().string());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].health, Health::warning);
    EXPECT_EQ(found[0].detail, "demo does not trade. Off.");
    EXPECT_EQ(found[0].next_step, "Enable it.");
    EXPECT_TRUE(is_healthy(found));
    const std::string text = describe(found, false);
    EXPECT_FALSE(text.contains("Fit to run.")) << text;
    EXPECT_TRUE(text.contains("WARN")) << text;
    EXPECT_TRUE(text.contains("Runs, but does not trade")) << text;

    demo = status("null");
    const auto held = check_trading(folder.path().string());
    ASSERT_EQ(held.size(), 1U);
    EXPECT_EQ(held[0].health, Health::warning);
    EXPECT_EQ(held[0].detail, "demo's strategy b does not trade. Held up.");
    EXPECT_EQ(held[0].next_step, "Let it go.");

    // A bot's strategies that share a reason are one line.
    more = R"({"strategy_id":"c","blocked":{"code":"paused","reason":"Held up.","next":"x"}},)"
           R"({"strategy_id":"d","blocked":{"code":"stalled","reason":"Silent.","next":"Wait."}})";
    const auto several = check_trading(folder.path().string());
    ASSERT_EQ(several.size(), 2U);
    EXPECT_EQ(several[0].detail, "demo's strategies b, c do not trade. Held up.");
    EXPECT_EQ(several[1].detail, "demo's strategy d does not trade. Silent.");

    host = status(R"({"code":"stopped_for_all","reason":"All off.","next":"Release."})");
    EXPECT_EQ(check_trading(folder.path().string())[0].detail, "_system does not trade. All off.");
    EXPECT_TRUE(describe({}, false).contains("Fit to run."));
}

// Degraded execution makes orders smaller: a note beside what trades, and still fit to run.
TEST(Doctor, NotesWhatTradesWithLess) {
    const TempFolder folder;
    const TestServer server(folder.path().string(), [&](const HttpRequest& request) {
        if (request.path() == "/tenants") {
            return json_answer(200, R"({"tenants":[{"tenant_id":"demo"}],"next_after":null})");
        }
        if (request.path() == "/api/demo/instances") {
            return json_answer(200, R"({"strategies":[]})");
        }
        const char* const warnings = request.path() == "/api/demo/kill" ? R"(["Smaller."])" : "[]";
        return json_answer(
            200, R"({"active":false,"blocked":null,"warnings":)" + std::string(warnings) + "}");
    });
    const auto found = check_trading(folder.path().string());
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].health, Health::good);
    EXPECT_EQ(found[0].detail, "1 tenant may trade");
    EXPECT_EQ(found[1].health, Health::note);
    EXPECT_EQ(found[1].detail, "demo trades with less. Smaller.");
    EXPECT_TRUE(describe(found, false).contains("Fit to run."));
}

TEST(Doctor, NotesWhatWaitsForAHuman) {
    const TempFolder folder;
    std::string waiting =
        R"({"approval_id":"apr_1","tenant_id":"demo","summary":"Release","created_at":"1"})";
    const TestServer server(folder.path().string(), [&](const HttpRequest& request) {
        if (request.path() == "/tenants") {
            return json_answer(200, R"({"tenants":[{"tenant_id":"demo"}],"next_after":null})");
        }
        const bool is_demo = request.path() == "/api/demo/approvals";
        return json_answer(200, R"({"approvals":[)" + (is_demo ? waiting : "") + "]}");
    });
    const auto found = check_approvals(folder.path().string());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].health, Health::note);
    EXPECT_EQ(found[0].detail, "1 request waiting for a human: apr_1 (demo: Release)");
    waiting.clear();
    EXPECT_TRUE(check_approvals(folder.path().string()).empty());
}

}  // namespace
}  // namespace interlock
