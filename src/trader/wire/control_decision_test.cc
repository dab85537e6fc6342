// A control decision is read strictly, its problems are all told, and the order of the checks gives
// the code.
#include "trader/wire/control_decision.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "base/canonical_json.h"
#include "base/crypto.h"

namespace interlock {
namespace {

Json a_request() {
    return Json::object({
        {"decision_id", "dec_1"},
        {"concern_id", "main:xrpusd"},
        {"account_id", "main"},
        {"market_symbol", "xrpusd"},
        {"action", "pause"},
        {"reason", "spread is too wide"},
        {"confidence", Json::number("0.83")},
    });
}

Json with(std::string key, Json value) {
    Json request = a_request();
    request.set(std::move(key), std::move(value));
    return request;
}

Json without(std::string_view key) {
    Json request = a_request();
    std::erase_if(request.members(), [key](const auto& member) { return member.first == key; });
    return request;
}

std::string code_of(const Json& request) {
    const auto decision = decode_control_decision(request);
    return decision ? "none" : std::string(decision.error().code());
}

bool has_problem(const Json& request, std::string_view path) {
    const auto decision = decode_control_decision(request);
    if (decision) {
        return false;
    }
    const auto& problems = decision.error().problems;
    return std::any_of(problems.begin(), problems.end(), [path](const FieldProblem& problem) {
        return problem.path == path;
    });
}

std::string confidence_text(Json confidence) {
    const auto decision = decode_control_decision(with("confidence", std::move(confidence)));
    return decision ? to_text(decision->confidence) : std::string(decision.error().code());
}

ControlDecision any_decision() {
    const auto any_bool = [] { return *rc::gen::arbitrary<bool>(); };
    const auto any_name = [] { return "n" + std::to_string(*rc::gen::arbitrary<std::uint16_t>()); };
    ControlDecision decision{
        .decision_id = DecisionId::trusted(any_name()),
        .concern_id = ConcernId::trusted(any_name() + ":xrpusd"),
        .account_id = AccountId::trusted(any_name()),
        .market_symbol = any_bool() ? "xrpusd" : "XRP/USD",
        .action = static_cast<ControlAction>(*rc::gen::inRange(0, 4)),
        .target_strategy_id = StrategyId::trusted(any_name()),
        .expected_active_strategy_id =
            any_bool() ? std::optional(StrategyId::trusted(any_name())) : std::nullopt,
        .risk_mode = static_cast<RiskMode>(*rc::gen::inRange(0, 5)),
        .reason = "because " + any_name(),
        .confidence = Decimal::from_units(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000)),
        .dry_run = any_bool(),
        .override_guards = any_bool(),
        .requested_at = any_bool() ? std::optional(Timestamp{1'776'370'500'000'000}) : std::nullopt,
    };
    return decision;
}

TEST(ControlDecision, ComesBackFromItsOwnText) {
    EXPECT_TRUE(rc::check([] {
        const ControlDecision decision = any_decision();
        const auto text = parse_json(to_text(encode(decision)));
        RC_ASSERT(text.has_value());
        const auto back = decode_control_decision(*text);
        RC_ASSERT(back.has_value());
        RC_ASSERT((*back == decision));
    }));
}

TEST(ControlDecision, EachRequiredFieldIsMissedByName) {
    for (const char* key :
         {"decision_id",
          "concern_id",
          "account_id",
          "market_symbol",
          "action",
          "reason",
          "confidence"}) {
        EXPECT_EQ(code_of(without(key)), "invalid_payload") << key;
        EXPECT_TRUE(has_problem(without(key), key)) << key;
    }
}

TEST(ControlDecision, AnUnknownFieldIsRefusedByName) {
    EXPECT_EQ(code_of(with("overide", true)), "invalid_payload");
    EXPECT_TRUE(has_problem(with("overide", true), "overide"));
}

TEST(ControlDecision, EveryFieldOfAnotherTypeIsRefusedByName) {
    for (const char* key :
         {"decision_id",
          "concern_id",
          "account_id",
          "market_symbol",
          "action",
          "target_strategy_id",
          "expected_active_strategy_id",
          "risk_mode",
          "reason",
          "dry_run",
          "override",
          "requested_at"}) {
        EXPECT_EQ(code_of(with(key, 7)), "invalid_payload") << key;
        EXPECT_TRUE(has_problem(with(key, 7), key)) << key;
    }
}

TEST(ControlDecision, SomethingElseThanAnObjectIsRefused) {
    EXPECT_EQ(code_of(Json::array({1})), "invalid_payload");
    EXPECT_EQ(code_of(Json()), "invalid_payload");
}

TEST(ControlDecision, OptionalFieldsMayBeLeftOutOrNull) {
    for (const char* key : {"target_strategy_id", "risk_mode", "requested_at"}) {
        EXPECT_EQ(
            decode_control_decision(with(key, Json())).value(),
            decode_control_decision(a_request()).value());
    }
}

TEST(ControlDecision, NothingExpectedActiveAndNoExpectationAreKeptApart) {
    const auto absent = decode_control_decision(without("expected_active_strategy_id")).value();
    const auto none = decode_control_decision(with("expected_active_strategy_id", Json())).value();
    EXPECT_FALSE(absent.expected_active_strategy_id.has_value());
    ASSERT_TRUE(none.expected_active_strategy_id.has_value());
    EXPECT_FALSE(none.expected_active_strategy_id->has_value());
    EXPECT_EQ(decode_control_decision(encode(absent)).value(), absent);
    EXPECT_EQ(decode_control_decision(encode(none)).value(), none);
    EXPECT_NE(fingerprint(absent), fingerprint(none));
}

TEST(ControlDecision, NullIsNoAnswerToDryRunOrOverride) {
    EXPECT_EQ(code_of(with("dry_run", Json())), "invalid_payload");
    EXPECT_EQ(code_of(with("override", Json())), "invalid_payload");
}

TEST(ControlDecision, KeepIsRefusedWithWhatToDoInstead) {
    const auto decision = decode_control_decision(with("action", "keep"));
    ASSERT_FALSE(decision);
    EXPECT_EQ(decision.error().code(), "unsupported_action");
    EXPECT_NE(decision.error().message.find("record it on your own side"), std::string::npos);
}

TEST(ControlDecision, AnActionNobodyKnowsIsUnsupported) {
    EXPECT_EQ(code_of(with("action", "liquidate")), "unsupported_action");
    EXPECT_EQ(code_of(with("action", "Pause")), "unsupported_action");
}

TEST(ControlDecision, ConfidenceIsANumberOrADecimalString) {
    EXPECT_EQ(confidence_text(Json::number("0.83")), "0.83");
    EXPECT_EQ(confidence_text(Json::number("8.3e-1")), "0.83");
    EXPECT_EQ(confidence_text("0.83"), "0.83");
    EXPECT_EQ(confidence_text(0), "0");
    EXPECT_EQ(confidence_text(1), "1");
    EXPECT_EQ(confidence_text(Json::number("1.0")), "1");
}

TEST(ControlDecision, ConfidenceOutsideZeroToOneIsInvalid) {
    for (const char* number :
         {"1.0001", "-0.0001", "1e30", "-1", "2", "1.0000000000000000000001"}) {
        EXPECT_EQ(confidence_text(Json::number(number)), "invalid_confidence") << number;
    }
}

TEST(ControlDecision, ConfidenceThatIsNoNumberIsInvalid) {
    for (const char* text : {"", "high", "NaN", "Infinity", " 0.5", "0,5", "50%"}) {
        EXPECT_EQ(confidence_text(text), "invalid_confidence") << text;
    }
    EXPECT_EQ(confidence_text(true), "invalid_confidence");
    EXPECT_EQ(confidence_text(Json()), "invalid_confidence");
    EXPECT_EQ(confidence_text(std::string(101, '0')), "invalid_confidence");
}

TEST(ControlDecision, ConfidenceMayHaveMoreDigitsThanADecimal) {
    EXPECT_EQ(confidence_text(Json::number("0.12345678901234567891")), "0.123456789012345678");
    EXPECT_EQ(confidence_text(Json::number("0.99999999999999999999")), "0.999999999999999999");
    EXPECT_EQ(confidence_text(Json::number("1.2345678901234567e-3")), "0.001234567890123456");
    EXPECT_EQ(confidence_text(Json::number("1e-30")), "0");
    EXPECT_EQ(confidence_text("1e-99999999999999999999"), "0");
    EXPECT_EQ(confidence_text("1e99999999999999999999"), "invalid_confidence");
}

TEST(ControlDecision, ReasonHasOneToTwoThousandCharacters) {
    EXPECT_EQ(code_of(with("reason", std::string(kControlReasonMax, 'r'))), "none");
    EXPECT_EQ(code_of(with("reason", std::string(kControlReasonMax + 1, 'r'))), "invalid_payload");
    EXPECT_EQ(code_of(with("reason", "")), "invalid_payload");
    EXPECT_EQ(code_of(with("reason", " \t\n")), "invalid_payload");
    std::string umlauts;
    for (std::size_t i = 0; i < kControlReasonMax; ++i) {
        umlauts += "ü";
    }
    EXPECT_EQ(code_of(with("reason", umlauts)), "none");
    EXPECT_EQ(code_of(with("reason", umlauts + "ü")), "invalid_payload");
}

TEST(ControlDecision, RiskModesHaveTheirAliases) {
    const auto mode_of = [](const char* word) {
        return decode_control_decision(with("risk_mode", word)).value().risk_mode.value();
    };
    EXPECT_EQ(mode_of("cautious"), RiskMode::reduced);
    EXPECT_EQ(mode_of("observe_only"), RiskMode::halted);
    EXPECT_EQ(mode_of("reduce_only"), RiskMode::reduce_only);
}

TEST(ControlDecision, AnUnknownRiskModeIsInvalidOnEveryAction) {
    for (const char* action : {"switch", "pause", "resume", "set_risk_mode"}) {
        Json request = with("risk_mode", "yolo");
        request.set("action", action);
        request.set("target_strategy_id", "s2");
        EXPECT_EQ(code_of(request), "invalid_risk_mode") << action;
    }
}

TEST(ControlDecision, SwitchNeedsItsTarget) {
    EXPECT_TRUE(has_problem(with("action", "switch"), "target_strategy_id"));
    Json request = with("action", "switch");
    request.set("target_strategy_id", Json());
    EXPECT_EQ(code_of(request), "invalid_payload");
    request.set("target_strategy_id", "s2");
    EXPECT_EQ(code_of(request), "none");
}

TEST(ControlDecision, SetRiskModeNeedsItsMode) {
    EXPECT_TRUE(has_problem(with("action", "set_risk_mode"), "risk_mode"));
    Json request = with("action", "set_risk_mode");
    request.set("risk_mode", "halted");
    EXPECT_EQ(code_of(request), "none");
}

TEST(ControlDecision, RequestedAtIsRfc3339) {
    EXPECT_EQ(code_of(with("requested_at", "2026-04-16T20:15:00Z")), "none");
    EXPECT_EQ(code_of(with("requested_at", "2026-04-16T22:15:00+02:00")), "none");
    EXPECT_EQ(code_of(with("requested_at", "yesterday")), "invalid_payload");
}

TEST(ControlDecision, AllProblemsAreToldAndTheFirstKindGivesTheCode) {
    Json request = with("action", "keep");
    request.set("confidence", 2);
    request.set("risk_mode", "yolo");
    EXPECT_EQ(code_of(request), "unsupported_action");
    request.set("colour", "red");
    EXPECT_EQ(code_of(request), "invalid_payload");
    const auto decision = decode_control_decision(request);
    std::vector<std::string> paths;
    for (const FieldProblem& problem : decision.error().problems) {
        paths.push_back(problem.path);
    }
    EXPECT_EQ(paths, (std::vector<std::string>{"colour", "action", "confidence", "risk_mode"}));
    request = with("confidence", 2);
    request.set("risk_mode", "yolo");
    EXPECT_EQ(code_of(request), "invalid_confidence");
}

TEST(ControlFingerprint, LeavesOnlyTheRequestTimeOut) {
    EXPECT_TRUE(rc::check([] {
        const ControlDecision decision = any_decision();
        ControlDecision later = decision;
        later.requested_at = Timestamp{1'800'000'000'000'000};
        RC_ASSERT(fingerprint(later) == fingerprint(decision));
        const ControlDecision other = any_decision();
        ControlDecision timeless = other;
        timeless.requested_at = decision.requested_at;
        RC_ASSERT((fingerprint(other) == fingerprint(decision)) == (timeless == decision));
    }));
}

TEST(ControlFingerprint, IsTakenOfTheCanonicalDecision) {
    EXPECT_TRUE(rc::check([] {
        ControlDecision decision = any_decision();
        decision.reason = *rc::gen::element<std::string>("a \"quoted\" one", "b\n\x01", "\xC3\xA4");
        if (*rc::gen::arbitrary<bool>()) {
            decision.risk_mode = std::nullopt;
            decision.target_strategy_id = std::nullopt;
        }
        const std::string found = fingerprint(decision);
        decision.requested_at = std::nullopt;
        RC_ASSERT(found == sha256_hex(canonical_json(encode(decision)).value()));
    }));
}

TEST(ControlFingerprint, ChangesWithEveryOtherField) {
    const ControlDecision decision = decode_control_decision(a_request()).value();
    const auto changed = [&](auto change) {
        ControlDecision other = decision;
        change(other);
        return fingerprint(other) != fingerprint(decision);
    };
    EXPECT_TRUE(changed([](auto& d) { d.decision_id = DecisionId::trusted("x"); }));
    EXPECT_TRUE(changed([](auto& d) { d.concern_id = ConcernId::trusted("x"); }));
    EXPECT_TRUE(changed([](auto& d) { d.account_id = AccountId::trusted("x"); }));
    EXPECT_TRUE(changed([](auto& d) { d.market_symbol = "x"; }));
    EXPECT_TRUE(changed([](auto& d) { d.action = ControlAction::resume; }));
    EXPECT_TRUE(changed([](auto& d) { d.target_strategy_id = StrategyId::trusted("x"); }));
    EXPECT_TRUE(changed([](auto& d) { d.expected_active_strategy_id = StrategyId::trusted("x"); }));
    EXPECT_TRUE(changed([](auto& d) { d.risk_mode = RiskMode::halted; }));
    EXPECT_TRUE(changed([](auto& d) { d.reason = "x"; }));
    EXPECT_TRUE(changed([](auto& d) { d.confidence = Decimal(1); }));
    EXPECT_TRUE(changed([](auto& d) { d.dry_run = true; }));
    EXPECT_TRUE(changed([](auto& d) { d.override_guards = true; }));
}

TEST(ControlFingerprint, OfNumberAndStringAndOfAbsentAndNullAreOne) {
    const auto of = [](const Json& request) {
        return fingerprint(decode_control_decision(request).value());
    };
    EXPECT_EQ(of(with("confidence", "0.830")), of(a_request()));
    EXPECT_EQ(of(with("risk_mode", Json())), of(a_request()));
    EXPECT_EQ(of(with("dry_run", false)), of(a_request()));
}

TEST(ControlResult, OkIsTrueForAppliedAndNoopOnly) {
    const auto ok_of = [](ControlStatus status) {
        ControlResult result;
        result.status = status;
        return encode(result).find("ok")->as_bool();
    };
    EXPECT_TRUE(ok_of(ControlStatus::applied));
    EXPECT_TRUE(ok_of(ControlStatus::noop));
    EXPECT_FALSE(ok_of(ControlStatus::rejected));
    EXPECT_FALSE(ok_of(ControlStatus::failed));
}

TEST(ControlResult, AnErrorTellsCodeSentenceRetryAndNextStep) {
    ControlResult result;
    result.errors.push_back({&errors::execution_degraded, "Rejects pile up.", {}, {}});
    EXPECT_EQ(
        to_text(*encode(result).find("errors")),
        R"([{"code":"execution_degraded","message":"Rejects pile up.","retryable":true,)"
        R"("next_step":"Wait until execution is good again, or override."}])");
}

TEST(ControlRefusal, RepeatsOnlyWhatIsAnIdOrAKnownWord) {
    const Json request = Json::object({
        {"decision_id", "dec_1"},
        {"concern_id", "no id because of spaces"},
        {"action", "sk_live_secret"},
        {"dry_run", true},
    });
    const ControlResult result = control_refusal(request, decode_control_decision(request).error());
    EXPECT_EQ(result.status, ControlStatus::rejected);
    EXPECT_EQ(result.decision_id, "dec_1");
    EXPECT_EQ(result.concern_id, "");
    EXPECT_EQ(result.action, "");
    EXPECT_TRUE(result.dry_run);
    EXPECT_EQ(result.validation, ControlValidation{});
    EXPECT_EQ(result.errors.size(), 1U);
}

TEST(ControlRefusal, OfKeepSaysKeep) {
    const Json request = with("action", "keep");
    EXPECT_EQ(control_refusal(request, decode_control_decision(request).error()).action, "keep");
}

TEST(ControlRefusal, OfSomethingThatIsNoObjectIsStillAnAnswer) {
    const ControlResult result =
        control_refusal(Json("hm"), decode_control_decision(Json("hm")).error());
    EXPECT_EQ(encode(result).find("status")->as_string(), "rejected");
}

TEST(ControlSchema, NamesExactlyTheFieldsThatAreRead) {
    const Json schema = control_decision_schema();
    std::vector<std::string> names;
    for (const auto& [key, value] : schema.find("properties")->members()) {
        names.push_back(key);
    }
    std::vector<std::string> fields;
    const Json decision =
        encode(decode_control_decision(with("expected_active_strategy_id", Json())).value());
    for (const auto& [key, value] : decision.members()) {
        fields.push_back(key);
    }
    EXPECT_EQ(names, fields);
    for (const Json& key : schema.find("required")->items()) {
        EXPECT_EQ(code_of(without(key.as_string())), "invalid_payload") << key.as_string();
    }
}

TEST(ControlSchema, OfTheAnswerNamesExactlyTheFieldsThatAreTold) {
    const Json schema = control_result_schema();
    std::vector<std::string> told;
    const Json answer = encode(ControlResult{});
    for (const auto& [key, value] : answer.members()) {
        told.push_back(key);
    }
    std::vector<std::string> required;
    for (const Json& key : schema.find("required")->items()) {
        required.push_back(key.as_string());
    }
    EXPECT_EQ(required, told);
}

}  // namespace
}  // namespace interlock
