// Runs every case of conformance/contracts/gates: facts and a plan against the verdicts that
// docs/contracts/agent-loop.md#gates demands.
//
// base.json is a healthy account with one small order. A case names its section, copies and sets
// parts of the base by path ("state.limits.max_leverage", "plan.intents.0.qty") and lists the
// blocking reasons it expects, all of them and in order; none means that the plan passes. It may
// also expect warnings, details of checks, projections and conflicts.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/text.h"
#include "loop/rules/dry_run/dry_run.h"
#include "loop/rules/gates/breach_codes.h"
#include "loop/rules/gates/gates.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

struct GateCase {
    std::string name;
    Json body;
    bool is_dry_run = false;
};

void PrintTo(const GateCase& given, std::ostream* out) {
    *out << given.name;
}

Json read_json(const fs::path& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    const auto json = parse_json(text.str());
    EXPECT_TRUE(json) << path << ": " << (json ? "" : json.error().message);
    return json ? *json : Json();
}

fs::path folder() {
    return fs::path(INTERLOCK_SOURCE_DIR) / "conformance/contracts/gates";
}

std::vector<GateCase> gate_cases() {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder())) {
        if (entry.path().extension() == ".json" && entry.path().filename() != "base.json") {
            paths.push_back(entry.path());
        }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<GateCase> cases;
    for (const fs::path& path : paths) {
        const Json file = read_json(path);
        const bool is_dry_run = file.find("tool") != nullptr;
        for (const Json& body : file.find("cases")->items()) {
            cases.push_back(
                {path.stem().string() + ": " + body.find("name")->as_string(), body, is_dry_run});
        }
    }
    return cases;
}

// The place a path names; one past the end of an array makes a new place there.
Json* place_of(Json& document, const std::string& path) {
    Json* place = &document;
    for (const std::string_view key : split(path, '.')) {
        if (place->is_array()) {
            const std::size_t at = std::stoul(std::string(key));
            if (at == place->items().size()) {
                place->push(Json());
            }
            EXPECT_LT(at, place->items().size()) << path;
            place = &place->items()[at];
        } else {
            Json* member = place->find(key);
            EXPECT_NE(member, nullptr) << "no such fact: " << path;
            if (member == nullptr) {
                return nullptr;
            }
            place = member;
        }
    }
    return place;
}

Json arranged(const Json& body) {
    Json document = read_json(folder() / "base.json");
    if (const Json* copies = body.find("copy")) {
        for (const auto& [to, from] : copies->members()) {
            const Json* source = place_of(document, from.as_string());
            const Json copied = source == nullptr ? Json() : *source;
            if (Json* target = place_of(document, to)) {
                *target = copied;
            }
        }
    }
    if (const Json* values = body.find("set")) {
        for (const auto& [path, value] : values->members()) {
            if (Json* target = place_of(document, path)) {
                *target = value;
            }
        }
    }
    return document;
}

TradeMode mode_of_word(const std::string& word) {
    for (const TradeMode mode : {TradeMode::paper, TradeMode::shadow, TradeMode::live}) {
        if (to_word(mode) == word) {
            return mode;
        }
    }
    ADD_FAILURE() << "no such mode: " << word;
    return TradeMode::paper;
}

// The encoded report; null when the facts cannot be read.
Json run_case(const GateCase& given) {
    const Json document = arranged(given.body);
    const auto state = decode_state_facts(*document.find("state"));
    const auto market = decode_market_set(*document.find("market"));
    const auto plan = decode_stored_plan(*document.find("plan"));
    EXPECT_TRUE(state) << (state ? "" : state.error().message);
    EXPECT_TRUE(market) << (market ? "" : market.error().message);
    EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
    if (!state || !market || !plan) {
        return {};
    }
    if (given.is_dry_run) {
        const Json& wanted = *document.find("dry_run");
        DryRunInput input{
            .state = *state,
            .market = *market,
            .plan = *plan,
            .slippage_bps = *Decimal::parse(wanted.find("slippage_bps")->as_string()),
            .fee_bps = *Decimal::parse(wanted.find("fee_bps")->as_string()),
            .conflicts = {},
        };
        for (const Json& id : wanted.find("conflicts")->items()) {
            input.conflicts.push_back(OrderClientId::trusted(id.as_string()));
        }
        return encode(run_dry_run(input));
    }
    const Json& request = *document.find("request");
    const auto decision_id = DecisionId::trusted(request.find("decision_id")->as_string());
    const auto tick_id = TickId::trusted(request.find("tick_id")->as_string());
    const GateReport report = run_gates({
        .state = *state,
        .market = *market,
        .plan = *plan,
        .decision_id = decision_id,
        .tick_id = tick_id,
        .has_idempotency_key = request.find("has_idempotency_key")->as_bool(),
        .wanted_mode = mode_of_word(request.find("wanted_mode")->as_string()),
        .from_outside = request.find("from_outside")->as_bool(),
    });
    return encode(report);
}

class GateTable : public testing::TestWithParam<GateCase> {};

TEST_P(GateTable, Holds) {
    const Json& body = GetParam().body;
    ASSERT_NE(body.find("section"), nullptr) << "a case cites the section it proves";
    const Json& expect = *body.find("expect");
    const Json report = run_case(GetParam());
    ASSERT_TRUE(report.is_object());

    const Json& reasons = *expect.find("reasons");
    EXPECT_EQ(to_text(*report.find("blocking_reasons")), to_text(reasons));
    EXPECT_EQ(report.find("pass")->as_bool(), reasons.items().empty());
    if (const Json* warnings = expect.find("warnings")) {
        EXPECT_EQ(to_text(*report.find("warnings")), to_text(*warnings));
    }
    if (const Json* projected = expect.find("projected")) {
        EXPECT_EQ(to_text(*report.find("projected")), to_text(*projected));
    }
    if (const Json* conflicts = expect.find("conflicts")) {
        EXPECT_EQ(to_text(*report.find("idempotency_conflicts")), to_text(*conflicts));
    }
    if (const Json* checks = expect.find("checks")) {
        for (const auto& [gate, detail] : checks->members()) {
            for (const Json& check : report.find("checks")->items()) {
                if (check.find("name")->as_string() == gate) {
                    EXPECT_EQ(check.find("detail")->as_string(), detail.as_string()) << gate;
                }
            }
        }
    }
}

// A failing gate is one that a reason names, and the five are always told in their order.
TEST_P(GateTable, ChecksAndReasonsAgree) {
    if (GetParam().is_dry_run) {
        return;
    }
    const Json report = run_case(GetParam());
    ASSERT_TRUE(report.is_object());
    std::set<std::string> blamed;
    for (const Json& reason : report.find("blocking_reasons")->items()) {
        blamed.insert(reason.as_string().substr(0, reason.as_string().find(':')));
    }
    const auto& checks = report.find("checks")->items();
    ASSERT_EQ(checks.size(), kGateCount);
    for (std::size_t i = 0; i < kGateCount; ++i) {
        const std::string& name = checks[i].find("name")->as_string();
        EXPECT_EQ(name, to_word(static_cast<Gate>(i)));
        EXPECT_EQ(checks[i].find("pass")->as_bool(), !blamed.contains(name)) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Contracts, GateTable, testing::ValuesIn(gate_cases()), [](const auto& given) {
        std::string name = given.param.name;
        for (char& c : name) {
            c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
        }
        return name;
    });

std::string code_of(const std::string& reason) {
    const std::size_t begin = reason.find(':') + 1;
    return reason.substr(begin, reason.find_first_of(":=", begin) - begin);
}

// Codes of shapes that no decoder lets through; the tests beside the gates show these.
const std::set<std::string_view> kOnlyInsideTheProcess{
    breach_codes::kMalformedIntent,
    breach_codes::kFactsInvalid,
    breach_codes::kTooManyIntents,
    breach_codes::kTooManyCancels};

TEST(GateTables, EveryCodeIsShownToRejectAndOnlyKnownCodesAppear) {
    std::set<std::string> shown;
    for (const GateCase& given : gate_cases()) {
        for (const Json& reason : given.body.find("expect")->find("reasons")->items()) {
            shown.insert(code_of(reason.as_string()));
        }
    }
    for (const BreachCode& known : kBreachCodes) {
        const bool is_shown = shown.erase(std::string(known.code)) > 0;
        EXPECT_NE(is_shown, kOnlyInsideTheProcess.contains(known.code)) << known.code;
    }
    EXPECT_TRUE(shown.empty()) << "unknown code " << *shown.begin();
}

TEST(GateTables, AreAsManyAsTheContractNeeds) {
    EXPECT_GE(gate_cases().size(), 250u);
}

}  // namespace
}  // namespace interlock
