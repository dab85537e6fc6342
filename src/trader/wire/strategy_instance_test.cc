// Rows of instances and concerns survive their own JSON, and nothing else is taken for one.
#include "trader/wire/strategy_instance.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "trader/wire/strategy_text.h"

namespace interlock {
namespace {

template <class T>
T one_of(std::initializer_list<T> values) {
    return *rc::gen::elementOf(std::vector<T>(values));
}
bool any_bool() {
    return *rc::gen::arbitrary<bool>();
}
Timestamp any_time() {
    return {*rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000'000)};
}
std::string any_name() {
    return "n" + std::to_string(*rc::gen::arbitrary<std::uint16_t>());
}
std::int64_t any_count() {
    return *rc::gen::inRange<std::int64_t>(0, 1'000'000);
}
VenueAccount any_account() {
    return {
        TenantId::trusted(any_name()),
        AccountId::trusted(any_name()),
        one_of({TradeMode::paper, TradeMode::shadow, TradeMode::live})};
}
std::optional<StrategyId> any_strategy() {
    return any_bool() ? std::optional(StrategyId::trusted(any_name())) : std::nullopt;
}
RiskMode any_risk_mode() {
    return static_cast<RiskMode>(*rc::gen::inRange(0, 5));
}

StrategyInstance any_instance() {
    StrategyInstance instance{
        .strategy_id = StrategyId::trusted(any_name()),
        .strategy_type = one_of<std::string>({"idle", "grid_trader"}),
        .account = any_account(),
        .symbol = Symbol::parse("XRPUSD").value(),
        .base = Asset::parse("XRP").value(),
        .quote = Asset::parse("USD").value(),
        .created_at = any_time(),
        .mode = static_cast<InstanceMode>(*rc::gen::inRange(0, 3)),
        .paused = any_bool(),
        .config = Json::object({{"levels", 12}}),
        .memory = any_bool() ? Json::object({{"last", "1.5"}}) : Json(),
        .policy = {},
        .name = one_of<std::string>({"", "the slow one"}),
        .version = any_count(),
        .ticks = any_count(),
        .fail_count = any_count(),
        .last_error = std::string(*rc::gen::inRange<std::size_t>(0, 6000), 'e'),
        .is_latched = any_bool(),
        .updated_at = any_time(),
        .last_tick_at = any_bool() ? std::optional(any_time()) : std::nullopt,
        .last_transition = "observe -> active by dec_7",
    };
    instance.policy.priority = *rc::gen::inRange<std::int64_t>(kPriorityMin, kPriorityMax + 1);
    instance.policy.risk_posture = one_of<std::string>({"conservative", "balanced", "aggressive"});
    return instance;
}

Concern any_concern() {
    Concern concern{
        .concern_id = ConcernId::trusted("main:xrpusd"),
        .account = any_account(),
        .symbol = Symbol::parse("XRPUSD").value(),
        .status = static_cast<ConcernStatus>(*rc::gen::inRange(0, 3)),
        .risk_mode = any_risk_mode(),
        .active_strategy_id = any_strategy(),
        .quality = static_cast<ExecutionQuality>(*rc::gen::inRange(0, 3)),
        .quality_reasons = {},
        .clean_evaluations = any_count(),
        .activated_at = any_bool() ? std::optional(any_time()) : std::nullopt,
        .switching = std::nullopt,
        .version = any_count(),
    };
    if (any_bool()) {
        concern.quality_reasons = {"reject_rate", "unknown_order"};
    }
    if (any_bool()) {
        concern.switching = SwitchUnderWay{
            .decision_id = DecisionId::trusted(any_name()),
            .from = any_strategy(),
            .to = StrategyId::trusted(any_name()),
            .risk_mode = any_risk_mode(),
            .started_at = any_time(),
            .deadline = any_time(),
            .operation = any_bool() ? Json::object({{"seq", 3}}) : Json(),
            .request = Json::object({{"action", "switch"}}),
            .verdict = Json::object({{"concern_match", true}}),
        };
    }
    return concern;
}

StrategyInstance an_instance() {
    StrategyInstance instance;
    instance.strategy_id = StrategyId::trusted("s1");
    instance.strategy_type = "idle";
    instance.account = {TenantId::trusted("acme"), AccountId::trusted("main"), TradeMode::paper};
    instance.symbol = Symbol::parse("BTCUSDT").value();
    instance.base = Asset::parse("BTC").value();
    instance.quote = Asset::parse("USDT").value();
    instance.mode = InstanceMode::active;
    return instance;
}

Concern a_concern() {
    Concern concern;
    concern.concern_id = ConcernId::trusted("main:btcusdt");
    concern.account = an_instance().account;
    concern.symbol = an_instance().symbol;
    return concern;
}

TEST(StrategyInstance, ComesBackFromItsRow) {
    EXPECT_TRUE(rc::check([] {
        const StrategyInstance instance = any_instance();
        const auto text = parse_json(to_text(encode(instance)));
        RC_ASSERT(text.has_value());
        const auto back = decode_strategy_instance(*text);
        RC_ASSERT(back.has_value());
        RC_ASSERT((*back == instance));
    }));
}

// Texts that must be escaped, or are no UTF-8 at all.
std::string any_words() {
    return one_of<std::string>({"", "quote \" and \\", "line\nbreak\x01", "\xC3\xA4", "\xFF"});
}

TEST(StrategyText, TheRowOfAnInstanceIsTheTextOfItsJson) {
    EXPECT_TRUE(rc::check([] {
        StrategyInstance instance = any_instance();
        instance.name = any_words();
        instance.last_error = any_words();
        instance.last_transition = any_words();
        instance.config.set("words", any_words());
        instance.policy.metadata.set("words", any_words());
        instance.version = *rc::gen::arbitrary<std::int64_t>();
        instance.is_deleted = any_bool();
        RC_ASSERT(row_text(instance) == to_text(encode(instance)));
    }));
}

TEST(StrategyText, TheRowOfAConcernIsTheTextOfItsJson) {
    EXPECT_TRUE(rc::check([] {
        Concern concern = any_concern();
        if (any_bool()) {
            concern.quality_reasons.push_back(any_words());
        }
        concern.version = *rc::gen::arbitrary<std::int64_t>();
        RC_ASSERT(row_text(concern) == to_text(encode(concern)));
    }));
}

TEST(StrategyInstance, ARowWithoutAnyOneFieldIsRefusedByName) {
    const Json row = encode(an_instance());
    for (const auto& [key, value] : row.members()) {
        Json less = Json::object();
        for (const auto& [other, held] : row.members()) {
            if (other != key) {
                less.set(other, held);
            }
        }
        const auto decoded = decode_strategy_instance(less);
        ASSERT_FALSE(decoded) << key;
        EXPECT_EQ(decoded.error().problems.front().path, key);
    }
}

TEST(StrategyInstance, ARowWithAFieldMoreIsRefused) {
    Json row = encode(an_instance());
    row.set("colour", "red");
    EXPECT_FALSE(decode_strategy_instance(row));
}

TEST(StrategyInstance, AModeThatIsNoneIsRefused) {
    Json row = encode(an_instance());
    row.set("mode", "paused");
    EXPECT_FALSE(decode_strategy_instance(row));
}

TEST(StrategyStatus, FollowsTheOrderOfS1) {
    StrategyInstance instance = an_instance();
    EXPECT_EQ(status_of(instance, ExecutionQuality::good), "running");
    EXPECT_EQ(status_of(instance, ExecutionQuality::degraded), "degraded");
    EXPECT_EQ(status_of(instance, ExecutionQuality::stalled), "degraded");
    instance.is_latched = true;
    EXPECT_EQ(status_of(instance, ExecutionQuality::degraded), "error");
    instance.paused = true;
    EXPECT_EQ(status_of(instance, ExecutionQuality::degraded), "paused");
    instance.mode = InstanceMode::off;
    EXPECT_EQ(status_of(instance, ExecutionQuality::degraded), "stopped");
}

TEST(StrategyStatus, OfOneThatOnlyLooksOnIsObserving) {
    StrategyInstance instance = an_instance();
    instance.mode = InstanceMode::observe;
    EXPECT_EQ(status_of(instance, ExecutionQuality::good), "observing");
}

TEST(StrategyPolicy, MissingFieldsTakeTheirDefaults) {
    const auto policy = decode_strategy_policy(Json::object());
    ASSERT_TRUE(policy);
    EXPECT_EQ(*policy, StrategyPolicy{});
}

TEST(StrategyPolicy, PriorityIsAWholeNumberFromZeroToTen) {
    EXPECT_TRUE(decode_strategy_policy(Json::object({{"priority", 0}})));
    EXPECT_TRUE(decode_strategy_policy(Json::object({{"priority", 10}})));
    EXPECT_FALSE(decode_strategy_policy(Json::object({{"priority", -1}})));
    EXPECT_FALSE(decode_strategy_policy(Json::object({{"priority", 11}})));
    EXPECT_FALSE(decode_strategy_policy(Json::object({{"priority", "5"}})));
}

TEST(StrategyPolicy, AnUnknownPostureOrFieldIsRefusedByName) {
    const auto decoded =
        decode_strategy_policy(Json::object({{"risk_posture", "reckless"}, {"prioritty", 3}}));
    ASSERT_FALSE(decoded);
    ASSERT_EQ(decoded.error().problems.size(), 2U);
    EXPECT_EQ(decoded.error().problems[0].path, "policy.risk_posture");
    EXPECT_EQ(decoded.error().problems[1].path, "policy.prioritty");
}

TEST(StrategyPolicy, MetadataHoldsFourKilobytesAndNoMore) {
    const std::size_t frame = std::string_view(R"({"note":""})").size();
    const auto of_bytes = [frame](std::size_t bytes) {
        return Json::object(
            {{"metadata", Json::object({{"note", std::string(bytes - frame, 'x')}})}});
    };
    EXPECT_TRUE(decode_strategy_policy(of_bytes(kPolicyMetadataBytesMax)));
    EXPECT_FALSE(decode_strategy_policy(of_bytes(kPolicyMetadataBytesMax + 1)));
}

TEST(Concern, ComesBackFromItsRow) {
    EXPECT_TRUE(rc::check([] {
        const Concern concern = any_concern();
        const auto text = parse_json(to_text(encode(concern)));
        RC_ASSERT(text.has_value());
        const auto back = decode_concern(*text);
        RC_ASSERT(back.has_value());
        RC_ASSERT((*back == concern));
    }));
}

TEST(Concern, ABrokenSwitchIsRefusedRatherThanForgotten) {
    Json row = encode(a_concern());
    row.set("switching", Json::object({{"decision_id", "d1"}}));
    EXPECT_FALSE(decode_concern(row));
    row.set("switching", "d1");
    EXPECT_FALSE(decode_concern(row));
}

TEST(Concern, WithoutAnIdIsNeverWritten) {
    EXPECT_DEATH(encode(Concern{}), "concern_id");
}

TEST(ConcernId, IsTheAccountAsSpeltAndTheSymbolInLowerCase) {
    EXPECT_EQ(
        concern_id_of(AccountId::trusted("Qndd8o9"), Symbol::parse("XRP/USD").value()).text(),
        "Qndd8o9:xrpusd");
}

TEST(ConcernId, OfTheLongestAccountAndSymbolIsStillAnId) {
    const Symbol symbol = Symbol::parse(std::string(Symbol::kLengthMax, 'A')).value();
    const auto id =
        make_concern_id(AccountId::trusted(std::string(kConcernAccountLengthMax, 'a')), symbol);
    ASSERT_TRUE(id);
    EXPECT_EQ(id->text().size(), kIdLengthMax);
    EXPECT_TRUE(is_id_text(id->text()));
}

TEST(ConcernId, OfALongerAccountIsRefusedAndNeverCut) {
    const Symbol symbol = Symbol::parse("BTCUSDT").value();
    const auto account = AccountId::trusted(std::string(kConcernAccountLengthMax + 1, 'a'));
    EXPECT_FALSE(make_concern_id(account, symbol));
    EXPECT_TRUE(concern_id_of(account, symbol).empty());
}

TEST(ConcernId, DiffersWheneverAccountOrSymbolDiffer) {
    const auto id = [](const char* account, const char* symbol) {
        return concern_id_of(AccountId::trusted(account), Symbol::parse(symbol).value());
    };
    EXPECT_NE(id("a", "BTCUSDT"), id("A", "BTCUSDT"));
    EXPECT_NE(id("a:b", "C"), id("a", "BC"));
}

}  // namespace
}  // namespace interlock
