// Runs every case of conformance/contracts/control: requests on the facts of a concern against the
// answers that docs/contracts/control-decision.md#rules demands. Codec and judgement only; what
// needs the running service stands in control/cases.
//
// base.json is the contract's example of a request, on a concern where it can be carried out. A
// case sets and removes parts of it by path ("request.confidence", "concerns.0.quality") and names
// what it expects by path in the answer; `verdict.attempt` and `verdict.is_duplicate` stand beside
// it. `answer` is the whole answer, in its order. A history is that of the base request under its
// id.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/text.h"
#include "trader/rules/control_step.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

struct ControlCase {
    std::string name;
    Json body;
};

void PrintTo(const ControlCase& given, std::ostream* out) {
    *out << given.name;
}

fs::path folder() {
    return fs::path(INTERLOCK_SOURCE_DIR) / "conformance/contracts/control";
}

Json read_json(const fs::path& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    const auto json = parse_json(text.str());
    EXPECT_TRUE(json) << path << ": " << (json ? "" : json.error().message);
    return json ? *json : Json();
}

std::vector<ControlCase> control_cases() {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder())) {
        if (entry.path().extension() == ".json" && entry.path().filename() != "base.json") {
            paths.push_back(entry.path());
        }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<ControlCase> cases;
    for (const fs::path& path : paths) {
        const Json file = read_json(path);
        for (const Json& body : file.find("cases")->items()) {
            cases.push_back({path.stem().string() + ": " + body.find("name")->as_string(), body});
        }
    }
    return cases;
}

const Json* part_of(const Json& document, const std::string& path) {
    const Json* part = &document;
    for (const std::string_view key : split(path, '.')) {
        if (part != nullptr && part->is_array()) {
            const std::size_t at = std::stoul(std::string(key));
            part = at < part->items().size() ? &part->items()[at] : nullptr;
        } else if (part != nullptr) {
            part = part->find(key);
        }
    }
    return part;
}

// The object that holds the last key of a path, and that key.
std::pair<Json*, std::string> holder_of(Json& document, const std::string& path) {
    Json* holder = &document;
    const auto keys = split(path, '.');
    for (std::size_t i = 0; i + 1 < keys.size() && holder != nullptr; ++i) {
        holder = holder->is_array() ? &holder->items().at(std::stoul(std::string(keys[i])))
                                    : holder->find(keys[i]);
    }
    EXPECT_TRUE(holder != nullptr && holder->is_object()) << "no such part: " << path;
    return {holder, std::string(keys.back())};
}

Json arranged(const Json& body) {
    Json document = read_json(folder() / "base.json");
    if (const Json* values = body.find("set")) {
        for (const auto& [path, value] : values->members()) {
            const auto [holder, key] = holder_of(document, path);
            holder->set(key, value);
        }
    }
    if (const Json* gone = body.find("remove")) {
        for (const Json& path : gone->items()) {
            const auto [holder, key] = holder_of(document, path.as_string());
            const std::size_t removed = std::erase_if(
                holder->members(),
                [&key](const Json::Member& member) { return member.first == key; });
            EXPECT_EQ(removed, 1U) << "nothing to remove at " << path.as_string();
        }
    }
    return document;
}

// A row with the members that a case gives and the rest as a fresh one has it.
template <class Row>
Json row_of(const Row& fresh, const Json& given) {
    Json row = encode(fresh);
    for (const auto& [key, value] : given.members()) {
        EXPECT_NE(row.find(key), nullptr) << "no such member of a row: " << key;
        row.set(key, value);
    }
    return row;
}

// The stored world of a case.
struct World {
    std::map<std::string, Concern> concerns;
    std::map<std::string, StrategyInstance> instances;

    explicit World(const Json& document) {
        Concern fresh_concern;
        fresh_concern.concern_id = ConcernId::trusted("none");
        for (const Json& given : document.find("concerns")->items()) {
            const auto concern = decode_concern(row_of(fresh_concern, given));
            EXPECT_TRUE(concern) << (concern ? "" : concern.error().message);
            concerns.emplace(concern.value().concern_id.text(), *concern);
        }
        for (const Json& given : document.find("instances")->items()) {
            const auto instance = decode_strategy_instance(row_of(StrategyInstance{}, given));
            EXPECT_TRUE(instance) << (instance ? "" : instance.error().message);
            instances.emplace(instance.value().strategy_id.text(), *instance);
        }
    }

    const StrategyInstance* find(const std::optional<StrategyId>& id) const {
        const auto found = id ? instances.find(id->text()) : instances.end();
        return found == instances.end() ? nullptr : &found->second;
    }
};

ControlStatus status_of_word(std::string_view word) {
    for (const ControlStatus status :
         {ControlStatus::applied,
          ControlStatus::rejected,
          ControlStatus::noop,
          ControlStatus::failed}) {
        if (to_word(status) == word) {
            return status;
        }
    }
    ADD_FAILURE() << "no such status: " << word;
    return ControlStatus::failed;
}

ControlFacts facts_of(const Json& document, const ControlDecision& decision, const World& world) {
    const Json& given = *document.find("facts");
    ControlFacts facts;
    facts.now = parse_timestamp(given.find("now")->as_string()).value();
    const auto concern = world.concerns.find(decision.concern_id.text());
    if (concern != world.concerns.end()) {
        facts.concern = &concern->second;
        facts.active = world.find(concern->second.active_strategy_id);
    }
    facts.target = world.find(decision.target_strategy_id);
    facts.target_problem = given.find("target_problem")->as_string();
    facts.kill_switch_active = given.find("kill_switch_active")->as_bool();
    facts.stop = given.find("stop")->as_string();
    if (const Json* least = given.find("min_confidence"); !least->is_null()) {
        facts.guards.min_confidence = Decimal::parse(least->as_string()).value();
    }
    if (const Json* hold = given.find("minimum_hold_minutes"); !hold->is_null()) {
        facts.guards.minimum_hold = Duration::of_minutes(hold->as_int64().value());
    }
    if (const Json* history = given.find("history"); !history->is_null()) {
        const Json base = read_json(folder() / "base.json");
        facts.history = ControlHistory{
            fingerprint(decode_control_decision(*base.find("request")).value()),
            status_of_word(history->find("status")->as_string()),
            history->find("attempts")->as_int64().value(),
        };
    }
    return facts;
}

Json answer_of(const Json& document) {
    const Json& request = *document.find("request");
    const auto decision = decode_control_decision(request);
    if (!decision) {
        return encode(control_refusal(request, decision.error()));
    }
    const World world(document);
    const ControlFacts facts = facts_of(document, *decision, world);
    const ControlVerdict verdict = judge_control(*decision, facts);
    const bool is_changed = verdict.status == ControlStatus::applied && !decision->dry_run;
    ControlResult result{
        .status = verdict.status,
        .decision_id = decision->decision_id.text(),
        .concern_id = decision->concern_id.text(),
        .action = std::string(to_word(decision->action)),
        .from_strategy_id = verdict.from,
        .to_strategy_id = verdict.to,
        .risk_mode = verdict.risk_mode,
        .dry_run = decision->dry_run,
        .validation = verdict.validation,
        .warnings = verdict.warnings,
        .errors = verdict.errors,
        .result = is_changed ? *document.find("result")
                             : Json::object({{"mode_change", "none"}, {"reconciled", false}}),
        .applied_at = is_changed ? std::optional(facts.now) : std::nullopt,
    };
    Json answer = encode(result);
    answer.set(
        "verdict",
        Json::object({{"attempt", verdict.attempt}, {"is_duplicate", verdict.is_duplicate}}));
    return answer;
}

class ControlTable : public testing::TestWithParam<ControlCase> {};

TEST_P(ControlTable, Holds) {
    const Json& body = GetParam().body;
    Json answer = answer_of(arranged(body));
    const Json::Object& expected = body.find("expect")->members();
    ASSERT_FALSE(expected.empty());
    for (const auto& [path, value] : expected) {
        const Json* found = part_of(answer, path);
        ASSERT_NE(found, nullptr) << path << " in " << to_text(answer);
        EXPECT_EQ(to_text(*found), to_text(value)) << path << " in " << to_text(answer);
    }
    if (const Json* whole = body.find("answer")) {
        std::erase_if(
            answer.members(), [](const Json::Member& member) { return member.first == "verdict"; });
        // The same moment: our times always have their milliseconds.
        Json wanted = *whole;
        if (const Json* at = wanted.find("applied_at"); at->is_string()) {
            wanted.set("applied_at", to_text(parse_timestamp(at->as_string()).value()));
        }
        EXPECT_EQ(to_text(answer), to_text(wanted));
    }
}

INSTANTIATE_TEST_SUITE_P(Seed000, ControlTable, testing::ValuesIn(control_cases()));

std::vector<std::string> keys_of(const Json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.members()) {
        keys.push_back(key);
    }
    return keys;
}

TEST(ControlContract, AsksForExactlyTheFieldsOfTheSeedsRequest) {
    const Json base = read_json(folder() / "base.json");
    EXPECT_EQ(
        keys_of(*control_decision_schema().find("properties")), keys_of(*base.find("request")));
}

TEST(ControlContract, AnswersExactlyTheFieldsOfTheSeedsResponse) {
    const Json file = read_json(folder() / "response_shape.json");
    const Json& seeds = *file.find("cases")->items().front().find("answer");
    EXPECT_EQ(keys_of(encode(ControlResult{})), keys_of(seeds));
    EXPECT_EQ(keys_of(*control_result_schema().find("properties")), keys_of(seeds));
    EXPECT_EQ(keys_of(encode(ControlValidation{})), keys_of(*seeds.find("validation")));
}

TEST(ControlContract, EveryCaseHasItsOwnName) {
    std::set<std::string> names;
    for (const ControlCase& given : control_cases()) {
        EXPECT_TRUE(names.insert(given.name).second) << given.name;
    }
    EXPECT_GE(names.size(), 90U);
}

TEST(ControlContract, EveryRefusalIsTriedInATable) {
    std::set<std::string> seen;
    for (const ControlCase& given : control_cases()) {
        const Json answer = answer_of(arranged(given.body));
        for (const Json& error : answer.find("errors")->items()) {
            seen.insert(error.find("code")->as_string());
        }
    }
    for (const char* code :
         {"invalid_payload",    "unsupported_action",      "invalid_confidence",
          "invalid_risk_mode",  "decision_id_conflict",    "concern_mismatch",
          "account_mismatch",   "market_mismatch",         "concern_informational",
          "target_missing",     "target_concern_mismatch", "target_not_runnable",
          "target_not_active",  "no_active_strategy",      "expected_active_mismatch",
          "kill_switch_active", "trading_stopped",         "execution_degraded",
          "switch_in_progress", "confidence_too_low",      "minimum_hold"}) {
        EXPECT_TRUE(seen.contains(code)) << code;
    }
}

}  // namespace
}  // namespace interlock
