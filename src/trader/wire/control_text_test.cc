// What is written by hand is held to the bytes of what it stands in for.
#include "trader/wire/control_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/canonical_json.h"
#include "base/errors.h"

namespace interlock {
namespace {

bool any_bool() {
    return *rc::gen::arbitrary<bool>();
}

std::string any_words() {
    return *rc::gen::element<std::string>(
        "", "plain", "quote \" and \\", "line\nbreak\x01", "\xC3\xA4\xF0\x9F\x98\x80");
}

std::optional<StrategyId> any_strategy() {
    return any_bool() ? std::optional(StrategyId::trusted("str_1")) : std::nullopt;
}

Json any_change() {
    return *rc::gen::element<Json>(
        Json::object(),
        Json::object({{"mode_change", "applied"}, {"reconciled", true}}),
        Json::object(
            {{"mode_change", "none"}, {"original", Json::object({{"z", 1}, {"a", "b\"c"}})}}));
}

Error any_error() {
    Error error{&errors::invalid_payload, any_words(), {}, {}};
    if (any_bool()) {
        error.problems.push_back({"reason", any_words()});
    }
    return error;
}

ControlResult any_result() {
    ControlResult result;
    result.status = static_cast<ControlStatus>(*rc::gen::inRange(0, 4));
    result.decision_id = any_words();
    result.concern_id = any_words();
    result.action = any_words();
    result.from_strategy_id = any_strategy();
    result.to_strategy_id = any_strategy();
    if (any_bool()) {
        result.risk_mode = static_cast<RiskMode>(*rc::gen::inRange(0, 5));
    }
    result.dry_run = any_bool();
    result.validation = {
        .concern_match = any_bool(),
        .account_match = any_bool(),
        .market_match = any_bool(),
        .expected_active_match = any_bool(),
        .target_exists = any_bool(),
        .target_runnable = any_bool()};
    while (result.warnings.size() < 3 && any_bool()) {
        result.warnings.push_back(any_words());
    }
    while (result.errors.size() < 3 && any_bool()) {
        result.errors.push_back(any_error());
    }
    result.result = any_change();
    if (any_bool()) {
        result.applied_at = Timestamp{*rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000'000)};
    }
    return result;
}

// What detail_text() writes by hand, as a tree; `payload` is parsed.
Json encode(const ControlAttemptRecord& record, Json payload) {
    const Json answer = encode(record.result);
    return Json::object({
        {"payload", std::move(payload)},
        {"validation", *answer.find("validation")},
        {"status", to_word(record.result.status)},
        {"from_strategy_id", *answer.find("from_strategy_id")},
        {"to_strategy_id", *answer.find("to_strategy_id")},
        {"risk_mode", *answer.find("risk_mode")},
        {"warnings", *answer.find("warnings")},
        {"errors", *answer.find("errors")},
        {"result", record.result.result},
        {"override", record.override_guards},
        {"dry_run", record.result.dry_run},
        {"attempt", record.attempt},
        {"received_at", to_text(record.received_at)},
        {"applied_at", *answer.find("applied_at")},
    });
}

TEST(ControlText, TheAnswerIsTheTextOfItsJson) {
    EXPECT_TRUE(rc::check([] {
        ControlResult result = any_result();
        if (any_bool()) {
            result.warnings.push_back("\xFF");  // Replaced, as everywhere.
        }
        RC_ASSERT(answer_text(result) == to_text(encode(result)));
    }));
}

// A switch under way keeps the answer that it owes.
TEST(ControlText, AnAnswerWithoutErrorsComesBackFromItsJson) {
    EXPECT_TRUE(rc::check([] {
        ControlResult result = any_result();
        result.errors.clear();
        const Json json = encode(result);
        const auto back = decode_control_result(json);
        RC_ASSERT(back.has_value());
        RC_ASSERT(encode(*back) == json);
    }));
}

TEST(ControlText, AnAnswerWithErrorsIsNoneThatIsOwed) {
    ControlResult result;
    result.errors.push_back({&errors::invalid_payload, "one", {}, {}});
    EXPECT_FALSE(decode_control_result(encode(result)));
    EXPECT_FALSE(decode_control_result(Json()));
}

TEST(ControlText, TheDetailOfARecordIsItsCanonicalJson) {
    EXPECT_TRUE(rc::check([] {
        const ControlResult result = any_result();
        const Json payload = Json::object({{"reason", any_words()}, {"confidence", 1}});
        const std::string canonical = canonical_json(payload).value();
        const ControlAttemptRecord record{
            .result = result,
            .payload = canonical,
            .override_guards = any_bool(),
            .attempt = *rc::gen::inRange<std::int64_t>(1, 1000),
            .received_at = Timestamp{*rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000'000)}};
        RC_ASSERT(detail_text(record).value() == canonical_json(encode(record, payload)).value());
    }));
}

TEST(ControlText, TheRecordTellsTheWholeAnswer) {
    EXPECT_TRUE(rc::check([] {
        ControlResult result = any_result();
        for (Error& error : result.errors) {
            error.problems.clear();
        }
        result.result = *rc::gen::element<Json>(
            Json::object({{"mode_change", "applied"}, {"reconciled", true}}),
            Json::object(
                {{"mode_change", "applied"},
                 {"reconciled", true},
                 {"open_orders",
                  Json::array(
                      {Json::object({{"order_client_id", "o1"}, {"cancel_requested", true}})})}}));
        const Json payload = Json::object({
            {"decision_id", result.decision_id},
            {"concern_id", result.concern_id},
            {"action", result.action},
        });
        const std::string canonical = canonical_json(payload).value();
        const std::string detail =
            detail_text({.result = result, .payload = canonical, .received_at = {}}).value();
        const auto answer = answer_from_detail(parse_json(detail).value());
        RC_ASSERT(answer.has_value());
        RC_ASSERT(to_text(*answer) == answer_text(result));
    }));
}

TEST(ControlText, ADetailWithoutAPartTellsNoAnswer) {
    EXPECT_FALSE(answer_from_detail(Json::object({{"status", "applied"}})));
    EXPECT_FALSE(answer_from_detail(Json("no object")));
}

TEST(ControlText, ADetailThatIsNoUtf8HasNoText) {
    ControlResult result;
    result.warnings = {"\xFF"};
    EXPECT_FALSE(detail_text({.result = result, .payload = "{}", .received_at = {}}));
}

}  // namespace
}  // namespace interlock
