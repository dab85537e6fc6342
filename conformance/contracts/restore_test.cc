// docs/contracts/backup.md 3: a folder without its sealing key opens stopped, and nothing of it
// gives anybody a right until a human has looked.
#include <gtest/gtest.h>

#include "account/rules/recovery.h"
#include "api_world.h"
#include "base/bytes.h"
#include "base/crypto.h"
#include "engine/service/ledger_check.h"
#include "host/service/restore_state.h"
#include "host/service/test_lone_ledger.h"
#include "loop/service/loop_import.h"

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");
const VenueAccount kAccount{kDemo, default_account_id(), TradeMode::paper};
constexpr std::string_view kPassword = "correct horse battery";

std::string text_at(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

class RestoreServiceTest : public ::testing::Test {
protected:
    // The same bytes, opened without the key: what a backup brings.
    void restore() {
        world.plane_world().keys.lose();
        world.restart();
        world.plane_world().plane->runner.fire_timers(100);
    }
    std::string error_code(const ApiWorld::Sent& request) {
        const HttpResponse response = world.send(request);
        const auto json = parse_json(response.body);
        const Json* error = json ? json->find("error") : nullptr;
        return error == nullptr ? std::to_string(response.status) : text_at(*error, "code");
    }
    void log_in(const std::string& as, const std::string& email) {
        const Json login = world.send_json(
            {.method = "POST",
             .path = "/account/login",
             .body = to_text(
                 Json::object({{"email", email}, {"password", kPassword}, {"want_token", true}}))});
        world.know(as, text_at(login, "token"));
    }
    Json account() { return world.send_json({.as = "operator", .path = "/api/demo/account"}); }
    std::string phase() { return text_at(*account().find("recovery"), "phase"); }
    std::vector<std::string> events(const std::string& tenant) {
        std::vector<std::string> found;
        const auto records = world.plane_world().plane->ledger.read(
            TenantId::trusted(tenant), 0, LedgerService::kPageMax);
        for (const AuditRecord& record : records.value()) {
            found.push_back(record.draft.event);
        }
        return found;
    }
    bool has_event(const std::string& tenant, const std::string& event) {
        const auto all = events(tenant);
        return std::ranges::find(all, event) != all.end();
    }
    void open_account() {
        world.send_json({.as = "operator", .path = "/api/demo/account"});
        world.send(
            {.as = "planner",
             .method = "POST",
             .path = "/api/demo/tools/py_get_canonical_state",
             .body = R"({"decision_id":"dec_1","tick_id":"-","idempotency_key":"k1"})"});
        world.plane_world().run_effects();
    }
    // What the lost server sent after the backup was taken.
    void order_at_venue(const std::string& id, std::optional<std::string> price) {
        VenueOrderRequest order{
            .account = kAccount,
            .order_client_id = OrderClientId::trusted(id),
            .symbol = testing_symbol(),
            .side = Side::buy,
            .order_type = price ? OrderType::limit : OrderType::market,
            .time_in_force = price ? TimeInForce::gtc : TimeInForce::ioc,
            .qty = Decimal(1),
            .limit_price = {},
        };
        if (price) {
            order.limit_price = Decimal::parse(*price).value();
        }
        const auto ack = world.paper().submit(order);
        ASSERT_TRUE(ack) << ack.error().message;
    }
    // As the first start after a restore does it; gives how many orders were not known.
    std::int64_t import(const VenueHistory& history) {
        std::int64_t imported = -1;
        TurnRequest request;
        request.tenant_id = kDemo;
        request.principal = internal_principal("restore");
        request.function = "restore";
        request.decide = [&](Turn& turn) -> Result<TurnReply> {
            TRY_ASSIGN(
                imported,
                import_history(
                    turn, {*world.plane_world().plane->loop, world.paper(), kAccount, history}));
            return Answer{};
        };
        request.reply = [](const Result<Answer>& answer) { EXPECT_TRUE(answer); };
        std::vector<TurnRequest> batch;
        batch.push_back(std::move(request));
        world.plane_world().plane->runner.run_batch(std::move(batch));
        return imported;
    }
    static Symbol testing_symbol() { return Symbol::parse("ABCUSDT").value(); }

    ApiWorld world;
};

TEST_F(RestoreServiceTest, LocksEveryKeyUntilAHumanConfirmsIt) {
    ASSERT_EQ(world.send({.as = "reader", .path = "/api/demo/audit"}).status, 200);
    restore();
    for (const std::string as : {"reader", "agent", "planner"}) {
        EXPECT_EQ(error_code({.as = as, .path = "/api/demo/audit"}), "key_locked") << as;
    }
    EXPECT_EQ(error_code({.as = "revoked_agent", .path = "/api/demo/audit"}), "unauthenticated");
    EXPECT_EQ(error_code({.as = "bad_key", .path = "/api/demo/audit"}), "unauthenticated");
    EXPECT_TRUE(has_event("demo", "ACCESS_KEYS_LOCKED"));

    const Json keys = world.send_json({.as = "operator", .path = "/api/demo/keys"});
    std::string reader_id;
    for (const Json& key : keys.find("keys")->items()) {
        EXPECT_EQ(key.find("locked") != nullptr, key.find("revoked_at")->is_null());
        if (key.find("scopes")->items() == Json::Array{Json("read")}) {
            reader_id = text_at(key, "key_id");
        }
    }
    const std::string path = "/api/demo/keys/" + reader_id + "/confirm";
    EXPECT_EQ(
        error_code({.as = "operator", .method = "POST", .path = path, .body = "{}"}),
        "human_required");
    log_in("human", "one@example.com");
    EXPECT_EQ(
        error_code(
            {.as = "human",
             .method = "POST",
             .path = "/api/demo/keys/key_nobody/confirm",
             .body = "{}"}),
        "not_found");
    const Json confirmed =
        world.send_json({.as = "human", .method = "POST", .path = path, .body = "{}"});
    EXPECT_EQ(confirmed.find("locked"), nullptr);
    EXPECT_TRUE(has_event("demo", "ACCESS_KEY_CONFIRMED"));
    EXPECT_EQ(world.send({.as = "reader", .path = "/api/demo/audit"}).status, 200);
    EXPECT_EQ(error_code({.as = "agent", .path = "/api/demo/audit"}), "key_locked");
    world.restart();
    EXPECT_EQ(world.send({.as = "reader", .path = "/api/demo/audit"}).status, 200);
}

TEST_F(RestoreServiceTest, NeedsAFreshLoginToConfirmAKey) {
    restore();
    log_in("human", "one@example.com");
    const Json keys = world.send_json({.as = "human", .path = "/api/demo/keys"});
    world.advance(Duration::of_minutes(6));
    const std::string id = text_at(keys.find("keys")->items().front(), "key_id");
    EXPECT_EQ(
        error_code(
            {.as = "human",
             .method = "POST",
             .path = "/api/demo/keys/" + id + "/confirm",
             .body = "{}"}),
        "reauthentication_required");
}

TEST_F(RestoreServiceTest, EndsSessionsCodesAndRequests) {
    const Json invited = world.send_json(
        {.as = "human",
         .method = "POST",
         .path = "/api/demo/humans",
         .body = R"({"email":"late@example.com"})"});
    world.send(
        {.as = "human", .method = "POST", .path = "/api/demo/kill", .body = R"({"active":true})"});
    const Json wish = world.send_json(
        {.as = "human", .method = "POST", .path = "/api/demo/kill", .body = R"({"active":false})"});
    const std::string approval = text_at(wish, "release_approval_id");
    ASSERT_FALSE(approval.empty()) << to_text(wish);
    restore();
    for (const std::string as : {"human", "second_human", "foreign_human"}) {
        EXPECT_EQ(error_code({.as = as, .path = "/account/session"}), "unauthenticated") << as;
    }
    EXPECT_NE(
        world
            .send(
                {.method = "POST",
                 .path = "/account/activate",
                 .body = to_text(Json::object(
                     {{"code", text_at(invited, "one_time_code")},
                      {"password", kPassword},
                      {"want_token", true}}))})
            .status,
        200);
    const Json ended =
        world.send_json({.as = "operator", .path = "/api/demo/approvals/" + approval});
    EXPECT_EQ(text_at(ended, "state"), "expired");
    EXPECT_TRUE(has_event("demo", "APPROVAL_VOIDED"));
    EXPECT_TRUE(has_event("demo", "APPROVAL_EXPIRED"));
    EXPECT_TRUE(has_event("_system", "HUMAN_SIGNED_OUT"));
    EXPECT_TRUE(has_event("_system", "BACKUP_RESTORED"));
    // The password is good, and the stop stays: both switches are on.
    log_in("human", "one@example.com");
    EXPECT_TRUE(world.plane_world().plane->latch.is_raised_global());
}

TEST_F(RestoreServiceTest, ReleasesNothingBeforeAHumanAcceptedTheBreak) {
    restore();
    log_in("human", "one@example.com");
    const Json wish = world.send_json(
        {.as = "human",
         .method = "POST",
         .path = "/api/_system/kill",
         .body = R"({"active":false})"});
    const std::string path =
        "/api/_system/approvals/" + text_at(wish, "release_approval_id") + "/approve";
    EXPECT_EQ(
        error_code({.as = "human", .method = "POST", .path = path, .body = "{}"}),
        "release_blocked");
    world.send_json(
        {.as = "human",
         .method = "POST",
         .path = "/api/_system/audit/accept-break",
         .body = R"({"reason":"restored"})"});
    EXPECT_EQ(
        world.send({.as = "human", .method = "POST", .path = path, .body = "{}"}).status, 200);
    EXPECT_FALSE(world.plane_world().plane->latch.is_raised_global());
}

// The first start found a folder without its key and ended before its stop was on record.
TEST_F(RestoreServiceTest, AStartThatFailedLeavesTheNextOneStopped) {
    world.plane_world().keys.lose();
    const auto found = open_alone(world.plane_world());
    ASSERT_TRUE(found) << found.error().message;
    world.restart();
    EXPECT_TRUE(world.plane_world().plane->latch.is_raised_global());
    EXPECT_EQ(error_code({.as = "agent", .path = "/api/demo/audit"}), "key_locked");
    EXPECT_TRUE(has_event("_system", "BACKUP_RESTORED"));
    const Json status = world.send_json({.as = "operator", .path = "/api/_system/kill"});
    EXPECT_EQ(text_at(*status.find("blocked"), "code"), "chain_broken");
    world.restart();
    EXPECT_TRUE(world.plane_world().plane->latch.is_raised_global());
}

TEST_F(RestoreServiceTest, DoesItOnceAndOnlyAfterALostKey) {
    world.restart();
    EXPECT_EQ(world.send({.as = "reader", .path = "/api/demo/audit"}).status, 200);
    EXPECT_FALSE(has_event("_system", "BACKUP_RESTORED"));
    restore();
    log_in("human", "one@example.com");
    world.restart();
    EXPECT_EQ(world.send({.as = "human", .path = "/account/session"}).status, 200);
    EXPECT_EQ(std::ranges::count(events("_system"), "BACKUP_RESTORED"), 1);
}

TEST_F(RestoreServiceTest, ImportsOrdersThatOnlyTheVenueKnowsForAHuman) {
    open_account();
    const std::string filled = "h" + std::string(31, 'a');
    const std::string resting = "h" + std::string(31, 'b');
    order_at_venue(filled, std::nullopt);
    order_at_venue(resting, "90");
    order_at_venue("manual-order", "80");  // Of somebody else on the same account.
    restore();
    EXPECT_EQ(phase(), "escalated");
    const Json reasons = *account().find("recovery")->find("reasons");
    EXPECT_TRUE(to_text(reasons).contains("unexpected_order:" + filled)) << to_text(reasons);
    EXPECT_TRUE(to_text(reasons).contains("unexpected_order:" + resting));
    EXPECT_TRUE(has_event("demo", "VENUE_HISTORY_IMPORTED"));
    // Its id is used up: the row is there for ever.
    const auto rows = world.plane_world().plane->runner.stored_states("order/demo/paper/");
    EXPECT_EQ(rows->size(), 2);
    // The trade is booked, but without a human the account does not come back.
    world.pass(Duration::of_seconds(90));
    EXPECT_EQ(phase(), "escalated");
    EXPECT_TRUE(has_event("demo", "FILL_BOOKED"));
    log_in("human", "one@example.com");
    world.send_json(
        {.as = "human",
         .method = "POST",
         .path = "/api/demo/recovery/resume",
         .body = R"({"idempotency_key":"resume","reason":"seen"})"});
    world.pass(Duration::of_seconds(30));
    EXPECT_EQ(phase(), "normal") << to_text(account());
}

TEST_F(RestoreServiceTest, SaysWhenTheVenueForgotPartOfTheTimeSince) {
    open_account();
    order_at_venue("h" + std::string(31, 'a'), std::nullopt);
    order_at_venue("h" + std::string(31, 'b'), "90");
    const VenueHistory whole = world.paper().history(kAccount).value();
    ASSERT_EQ(whole.orders.size(), 2);
    ASSERT_EQ(import(whole), 2);
    const VenueOrder ended = whole.orders.front();  // Known here as ended.
    VenueOrder ended_since = whole.orders.back();   // Known here as resting.
    ended_since.state = OrderState::canceled;
    VenueOrder foreign = ended;
    foreign.order_client_id = OrderClientId::trusted("manual");
    const auto is_told = [&](std::vector<VenueOrder> orders) {
        const auto before = std::ranges::count(events("demo"), "VENUE_HISTORY_IMPORTED");
        EXPECT_EQ(import({.orders = std::move(orders), .is_whole = false}), 0);
        return std::ranges::count(events("demo"), "VENUE_HISTORY_IMPORTED") > before;
    };
    EXPECT_FALSE(is_told({ended, ended_since}));
    EXPECT_FALSE(is_told({foreign, ended}));
    // Whatever ended before these two is forgotten, and they tell nothing of the time before.
    EXPECT_TRUE(is_told({ended_since, ended}));
    EXPECT_TRUE(is_told({foreign}));
    EXPECT_TRUE(to_text(account()).contains("venue_history_incomplete"));
}

TEST_F(RestoreServiceTest, AsksNothingOfAnAccountWhoseVenueKnowsNoMore) {
    open_account();
    restore();
    EXPECT_NE(phase(), "escalated");
    EXPECT_FALSE(has_event("demo", "VENUE_HISTORY_IMPORTED"));
}

// docs/contracts/backup.md 1.5.
TEST_F(RestoreServiceTest, VouchesForABackupOnRecord) {
    const std::string digest(64, 'a');
    const Json seal = world.send_json(
        {.as = "operator",
         .method = "POST",
         .path = "/backups",
         .body = R"({"manifest_sha256":")" + digest + R"(","epoch":0,"files":3,"bytes":10})"});
    EXPECT_TRUE(ed25519_verify(
        from_hex(text_at(seal, "public_key")).value(),
        backup_text(digest),
        from_hex(text_at(seal, "signature")).value()));
    KeyLineage keys(world.plane_world().keys.first_public_key());
    const BackupSeal told = decode_backup_seal(seal).value();
    for (const KeyStep& step : told.keys) {
        EXPECT_TRUE(keys.add(step));
    }
    EXPECT_TRUE(keys.holds(seal.find("epoch")->as_int64().value(), text_at(seal, "public_key")));
    EXPECT_TRUE(has_event("_system", "BACKUP_TAKEN"));
    EXPECT_EQ(
        error_code(
            {.as = "operator",
             .method = "POST",
             .path = "/backups",
             .body = R"({"manifest_sha256":"x","epoch":0,"files":3,"bytes":10})"}),
        "invalid_request");
}

}  // namespace
}  // namespace interlock
