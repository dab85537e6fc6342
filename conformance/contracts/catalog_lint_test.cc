// The catalogue as a model reads it: no sentence twice, short titles, every field described with
// its unit or range, answers declared whole, and a budget of tokens for each scope.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "api_world.h"
#include "app/mcp/operation_catalog.h"
#include "app/mcp/operation_tool.h"
#include "bot_api.h"
#include "declared_answers.h"

namespace interlock {
namespace {

constexpr std::size_t kTitleMax = 40;

// Documents whose form is given elsewhere: OpenAPI's own, and the agent schema, which has a test of
// its own.
const std::set<std::string>& untyped() {
    static const std::set<std::string> ids{"agent_schema", "openapi"};
    return ids;
}

bool is_alnum(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

int class_of(char c) {
    if (c >= '0' && c <= '9') {
        return 1;
    }
    if (is_alnum(c)) {
        return 2;
    }
    return c == ' ' || c == '\n' ? 0 : 3;
}

// At least what o200k makes of it: 3 to 10 % more on the listings of this server. A run of letters
// counts one for every nine begun, of digits and of other signs one for every three; blanks belong
// to the word behind them. docs/contracts/mcp-tools.md 2.6 says how that was compared.
std::size_t tokens_at_most(std::string_view text) {
    std::size_t tokens = 0;
    while (!text.empty()) {
        const int kind = class_of(text.front());
        std::size_t length = 1;
        while (length < text.size() && class_of(text[length]) == kind) {
            ++length;
        }
        constexpr std::array<std::size_t, 4> kPerToken{0, 3, 9, 3};
        const std::size_t per = kPerToken[static_cast<std::size_t>(kind)];
        tokens += per == 0 ? 0 : (length + per - 1) / per;
        text.remove_prefix(length);
    }
    return tokens;
}

std::set<std::string> sentences_of(std::string_view text) {
    std::set<std::string> sentences;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(". "), text.size());
        std::string sentence(text.substr(0, end));
        if (sentence.ends_with('.')) {
            sentence.pop_back();
        }
        sentences.insert(std::move(sentence));
        text.remove_prefix(std::min(end + 2, text.size()));
    }
    return sentences;
}

std::size_t count_sentences(std::string_view text) {
    std::size_t count = 0;
    for (std::size_t at = text.find(". "); at != std::string_view::npos;
         at = text.find(". ", at + 2)) {
        ++count;
    }
    return text.empty() ? 0 : count + 1;
}

bool has(const Json& schema, std::string_view key) {
    return schema.is_object() && schema.find(key) != nullptr;
}

// A number, or a text that stands for one.
bool is_number(const Json& schema) {
    const Json* type = schema.find("type");
    const std::string types = type == nullptr ? "" : to_text(*type);
    return types.find("number") != std::string::npos || types.find("integer") != std::string::npos;
}

bool says_unit_or_range(const Json& schema) {
    if (has(schema, "minimum") && has(schema, "maximum")) {
        return true;
    }
    const Json* description = schema.find("description");
    const std::string text = description == nullptr ? "" : description->as_string();
    constexpr std::array<std::string_view, 15> kUnits{
        "ercent",
        "basis points",
        "econds",
        "Days",
        "Base units",
        "Quote",
        "quote",
        "a symbol",
        "record",
        "From",
        "from 0",
        "above 0",
        "0 to",
        "next_before",
        "As validated"};
    return std::ranges::any_of(
        kUnits, [&](std::string_view unit) { return text.find(unit) != std::string::npos; });
}

bool says_bounds(const Json& schema) {
    for (const char* key :
         {"enum",
          "maxLength",
          "format",
          "pattern",
          "maxItems",
          "maxProperties",
          "properties",
          "additionalProperties"}) {
        if (has(schema, key)) {
            return true;
        }
    }
    const Json* type = schema.find("type");
    return type != nullptr && to_text(*type).find("boolean") != std::string::npos;
}

class InputLint {
public:
    void field(const Json& schema, const std::string& path) {
        const Json* description = schema.find("description");
        if (description == nullptr || description->as_string().size() < 5) {
            found.push_back(path + " is not described");
        }
        if (is_number(schema)) {
            if (!says_unit_or_range(schema)) {
                found.push_back(path + " has no unit or range");
            }
        } else if (!says_bounds(schema)) {
            found.push_back(path + " has no bounds");
        }
        inside(schema, path);
    }
    void inside(const Json& schema, const std::string& path) {
        if (const Json* properties = schema.find("properties")) {
            for (const auto& [name, property] : properties->members()) {
                field(property, path + "." + name);
            }
        }
        if (const Json* items = schema.find("items"); items != nullptr && items->is_object()) {
            inside(*items, path + "[]");
        }
    }
    std::vector<std::string> found;
};

bool is_agents(const Operation& operation) {
    return operation.tool.has_value();
}

class CatalogLint : public ::testing::Test {
protected:
    ApiWorld world;
};

TEST_F(CatalogLint, NoToolSaysASentenceTwice) {
    for (const Operation& operation : world.table().all()) {
        if (!is_agents(operation)) {
            continue;
        }
        const McpTool tool = tool_of(operation);
        EXPECT_EQ(sentences_of(tool.description).size(), count_sentences(tool.description))
            << tool.name << ": " << tool.description;
        EXPECT_EQ(tool.description.find(tool.title + "."), std::string::npos) << tool.name;
        EXPECT_FALSE(tool.description.empty()) << tool.name;
        EXPECT_LE(tool.title.size(), kTitleMax) << tool.title;
        EXPECT_EQ(tool.annotations.find("title"), nullptr) << tool.name;
    }
}

TEST_F(CatalogLint, EveryInputFieldOfAToolIsDescribedWithUnitOrRange) {
    int fields = 0;
    for (const Operation& operation : world.table().all()) {
        if (!is_agents(operation)) {
            continue;
        }
        InputLint lint;
        lint.inside(
            operation.request_schema.is_null() ? Json::object() : operation.request_schema,
            operation.id);
        for (const QueryParameter& parameter : operation.query) {
            Json schema = parameter.schema;
            schema.set("description", parameter.description);
            lint.field(schema, operation.id + "?" + parameter.name);
            ++fields;
        }
        for (const std::string& problem : lint.found) {
            ADD_FAILURE() << problem;
        }
        const Json* properties = operation.request_schema.find("properties");
        fields += properties == nullptr ? 0 : static_cast<int>(properties->members().size());
    }
    EXPECT_GT(fields, 120);
}

TEST_F(CatalogLint, EveryAnswerIsDeclaredWhole) {
    std::set<std::string> with_holes;
    for (const Operation& operation : world.table().all()) {
        if (operation.answer_schema.is_null()) {
            EXPECT_FALSE(operation.tool.has_value()) << operation.id;
            EXPECT_FALSE(operation.answer_content_types.empty()) << operation.id << " answers JSON";
            continue;
        }
        const std::vector<std::string> found = holes(operation.answer_schema);
        if (found.empty()) {
            continue;
        }
        with_holes.insert(operation.id);
        EXPECT_FALSE(operation.tool.has_value()) << operation.id << ": a model sees a hole";
        EXPECT_TRUE(untyped().contains(operation.id)) << operation.id << ": " << found.front();
    }
    EXPECT_EQ(with_holes, untyped());
}

TEST_F(CatalogLint, WhatAKeySeesStaysWithinItsBudget) {
    struct Budget {
        Scope scope;
        std::size_t tokens;
    };
    for (const Budget& budget :
         {Budget{Scope::planner, 3'500},
          Budget{Scope::bot, 4'000},
          Budget{Scope::read, 3'500},
          Budget{Scope::supervisor, 2'000},
          Budget{Scope::probe, 1'000}}) {
        Json tools = Json::array();
        for (const Operation& operation : world.table().all()) {
            const Access& access = operation.access;
            if (is_agents(operation) &&
                (access.agent_with_any_scope || access.agent == budget.scope)) {
                tools.push(encode(tool_of(operation)));
            }
        }
        const std::size_t tokens = tokens_at_most(to_text(tools));
        std::cout << to_word(budget.scope) << ": " << tools.items().size() << " tools, at most "
                  << tokens << " tokens\n";
        EXPECT_LT(tokens, budget.tokens) << to_word(budget.scope);
        EXPECT_GT(tools.items().size(), 1u);
    }
}

// The key that an owner hands to an agent is the one that signing up gave, or that regenerating put
// in its place: what counts is what the server lists for that one, with all of its scopes.
TEST(SignupKey, SeesItsBotWithinTheBudgetAndNothingElse) {
    BotApi api;
    const BotApi::Owner owner = api.sign_up("budget");
    const HttpResponse made = api.as_human(owner, {"POST", "/account/regenerate-key"});
    ASSERT_EQ(made.status, 200) << made.body;
    const PrincipalDirectory& directory = api.world.plane_world().plane->directory;
    OperationCatalog catalog({
        .table = api.world.table(),
        .tenant_exists = [&](const TenantId& id) { return directory.tenant_exists(id); },
    });
    for (const std::string& key : {api.sign_up("other").key, BotApi::word(made, "access_key")}) {
        const auto agent = directory.by_access_key(key);
        ASSERT_TRUE(agent);
        Json tools = Json::array();
        for (const McpTool& tool : catalog.tools(*agent)) {
            tools.push(encode(tool));
            EXPECT_TRUE(tool.name.starts_with("bot_") || tool.name == "py_set_kill_switch")
                << tool.name;
        }
        const std::size_t tokens = tokens_at_most(to_text(tools));
        std::cout << "signup: " << tools.items().size() << " tools, at most " << tokens
                  << " tokens\n";
        EXPECT_LT(tokens, 4'000u);
        EXPECT_GT(tools.items().size(), 20u);
    }
}

// Beside other servers' tools: no bare `start`; the endpoint's own name works and is listed
// nowhere.
TEST_F(CatalogLint, BotToolsAreListedOnceUnderTheirServersName) {
    std::set<std::string> names;
    for (const Operation& operation : world.table().all()) {
        if (!is_agents(operation)) {
            continue;
        }
        EXPECT_TRUE(names.insert(tool_of(operation).name).second) << operation.id;
        EXPECT_EQ(world.table().find_tool(operation.id), &operation);
        EXPECT_EQ(world.table().find_tool(tool_name(operation)), &operation);
        if (operation.access.agent == Scope::bot) {
            EXPECT_TRUE(tool_name(operation).starts_with("bot_")) << operation.id;
        }
    }
    EXPECT_TRUE(names.contains("bot_start"));
    EXPECT_FALSE(names.contains("start"));
}

// Section 2.2 of mcp-tools.md, a line for each tool: its scope, and whether it reads or destroys.
std::map<std::string, std::string> tools_on_the_page() {
    std::ifstream in(std::string(INTERLOCK_SOURCE_DIR) + "/docs/contracts/mcp-tools.md");
    std::map<std::string, std::string> found;
    bool is_there = false;
    for (std::string line; std::getline(in, line);) {
        is_there = line.starts_with("2.2 ") || (is_there && !line.starts_with("2.3 "));
        if (!is_there || !line.starts_with("| `") || line.starts_with("| `bot_`")) {
            continue;
        }
        const std::size_t names_end = line.find(" | ", 2);
        std::string rest = line.substr(names_end + 3);
        std::erase(rest, '`');
        const std::string scope = rest.substr(0, rest.find(' '));
        const bool reads = rest.find("read-only") != std::string::npos;
        const bool destroys = rest.find("destructive") != std::string::npos;
        for (std::size_t at = line.find('`'); at < names_end; at = line.find('`', at)) {
            const std::size_t end = line.find('`', at + 1);
            const std::string name = line.substr(at + 1, end - at - 1);
            EXPECT_TRUE(
                found.emplace(name, scope + (reads ? " reads" : "") + (destroys ? " destroys" : ""))
                    .second)
                << name << " stands there twice";
            at = end + 1;
        }
    }
    return found;
}

TEST_F(CatalogLint, ThePageListsEveryToolAndNothingElse) {
    std::map<std::string, std::string> wanted;
    for (const Operation& operation : world.table().all()) {
        const Access& access = operation.access;
        if (!is_agents(operation) || access.agent == Scope::bot) {
            continue;  // Those of a bot stand on bot.md, which a test of its own holds.
        }
        const ToolHints& hints = *operation.tool;
        wanted[tool_name(operation)] =
            (access.agent_with_any_scope ? "any" : std::string(to_word(*access.agent))) +
            (hints.read_only ? " reads" : "") + (hints.destructive ? " destroys" : "");
    }
    EXPECT_EQ(tools_on_the_page(), wanted);
}

TEST(Tokens, AreCountedOnTheSafeSide) {
    // What o200k makes of them, counted once with gpt-tokenizer 4.0.0.
    EXPECT_GE(tokens_at_most("{\"type\":\"object\",\"properties\":{}}"), 9u);
    EXPECT_GE(tokens_at_most("Your id of this decision, the same through all tools."), 12u);
    EXPECT_GE(tokens_at_most("expected_active_strategy_id"), 4u);
}

TEST(DeclaredAnswers, SeeWhatIsNotDeclared) {
    const Json schema = *parse_json(
        R"({"type":"object","required":["a"],"properties":{"a":{"type":"string"},
            "b":{"type":["array","null"],"items":{"type":"integer"}}}})");
    EXPECT_TRUE(undeclared(*parse_json(R"({"a":"x","b":[1]})"), schema).empty());
    EXPECT_TRUE(undeclared(*parse_json(R"({"a":"x","b":null})"), schema).empty());
    EXPECT_EQ(undeclared(*parse_json(R"({"a":1})"), schema).size(), 1u);
    EXPECT_EQ(undeclared(*parse_json(R"({"a":"x","c":1})"), schema).size(), 1u);
    EXPECT_EQ(undeclared(*parse_json(R"({"b":["x"]})"), schema).size(), 2u);
    EXPECT_TRUE(holes(schema).empty());
    EXPECT_EQ(holes(*parse_json(R"({"type":"object"})")).size(), 1u);
    EXPECT_EQ(holes(*parse_json(R"({"type":"array"})")).size(), 1u);
}

}  // namespace
}  // namespace interlock
