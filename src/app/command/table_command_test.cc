#include "app/command/table_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "app/command/all_commands.h"
#include "app/command/answer_text.h"
#include "app/command/command_tree.h"
#include "base/errors.h"

namespace interlock {
namespace {

std::string command_called(std::string_view id) {
    const TableCall* const call = find_table_call(id);
    return call == nullptr ? "(no such operation)" : command_of(*call);
}

const CallField& field_of_call(std::string_view id, std::string_view field) {
    return *find_table_call(id)->find(field);
}

class TableCommands : public ::testing::Test {
protected:
    TableCommands() { add_all_commands(line); }
    bool parses(std::vector<std::string> words) {
        line.run = nullptr;
        std::ranges::reverse(words);
        try {
            line.app.parse(words);
        } catch (const CLI::ParseError&) {
            return false;
        }
        return static_cast<bool>(line.run);
    }
    CommandLine line;
};

TEST(TableCall, IsCalledByTheRuleOrAsItAlwaysWas) {
    EXPECT_EQ(command_called("suppress_alert"), "alert suppress");
    EXPECT_EQ(command_called("get_limits"), "limit show");
    EXPECT_EQ(command_called("list_strategies"), "strategy list");
    EXPECT_EQ(command_called("add_relay_route"), "relay route add");
    EXPECT_EQ(command_called("market_candles"), "market candles");
    EXPECT_EQ(command_called("orders"), "order list");
    EXPECT_EQ(command_called("exposure"), "exposure show");
    EXPECT_EQ(command_called("py_validate_plan"), "tool validate-plan");
    EXPECT_EQ(command_called("run_pnl"), "bot run-pnl");
    EXPECT_EQ(command_called("create_access_key"), "key create");
}

TEST(TableCall, IsNoCommandWhenAnyoneMayCallItOrASecretWouldShow) {
    for (const char* id : {"readyz", "openapi", "login", "change_password", "logout"}) {
        EXPECT_EQ(command_called(id), "") << id;
    }
}

TEST(TableCall, ReadsWhatWasTypedAsTheFieldWantsIt) {
    const auto typed = [](const char* id, const char* field, std::vector<std::string> texts) {
        const auto value = typed_value(field_of_call(id, field), texts);
        return value ? to_text(*value) : value.error().message;
    };
    EXPECT_EQ(typed("book_cost", "amount", {"0.10"}), R"("0.10")");
    EXPECT_EQ(typed("suppress_alert", "hours", {"4"}), "4");
    EXPECT_EQ(typed("change_universe", "add", {"A, B", "C"}), R"(["A","B","C"])");
    EXPECT_EQ(typed("change_limits", "changes", {R"({"a":"1"})"}), R"({"a":"1"})");
    EXPECT_EQ(typed("change_limits", "changes", {"a=1,b=true"}), R"({"a":"1","b":true})");
    EXPECT_EQ(typed("set_trading", "enabled", {"true"}), "true");
    EXPECT_EQ(typed("suppress_alert", "hours", {"four"}), "--hours takes a whole number.");
    EXPECT_TRUE(typed("change_limits", "changes", {"{"}).starts_with("--changes takes JSON"));
    EXPECT_EQ(
        typed("change_limits", "changes", {"a"}),
        "--changes takes JSON, @FILE, or pairs such as BTCUSDT=0.1,ETHUSDT=2.");
}

TEST_F(TableCommands, HaveOneForEveryOperationThatCanBeOne) {
    std::set<std::string> there;
    for (const CommandEntry& entry : command_tree(line.app)) {
        EXPECT_TRUE(there.insert(entry.path_text()).second) << entry.path_text();
        EXPECT_TRUE(entry.path.empty() || !entry.description.empty()) << entry.path_text();
        for (const OptionEntry& option : entry.options) {
            EXPECT_NE(option.description, "") << entry.path_text();
        }
    }
    int commands = 0;
    for (const TableCall& call : table_calls()) {
        const std::string command = command_of(call);
        commands += command.empty() ? 0 : 1;
        EXPECT_TRUE(command.empty() || there.contains(command)) << call.id << ": " << command;
    }
    EXPECT_GT(commands, 140);
}

TEST_F(TableCommands, TakeTheFieldsOfTheCall) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"alert", "suppress", "--event", "X", "--hours", "2", "--tenant", "demo"},
             {"limit", "show", "--account", "main"},
             {"limit", "change", "--changes", "{}", "--reason", "r", "--key", "k"},
             {"market", "candles", "BTCUSDT", "--timeframe", "1m", "--limit", "3"},
             {"mode", "set", "--mode", "shadow", "--email", "a@b.example"},
             {"tool", "validate-plan", "--decision", "d", "--tick-id", "t", "--plan", "{}"},
             {"strategy", "enable", "--strategy", "s"},
             {"strategy", "create", "--type", "idle", "--market", "X", "--set", "a=1"},
             {"strategy", "stop", "str_1"},
             {"concern", "set", "main:x", "paused"},
             {"account"},
             {"account", "open", "second", "--reason", "r"},
             {"decision", "dec_1"},
             {"key", "create", "--label", "l", "--scope", "read,probe"},
             {"human", "invite", "a@b.example", "--system"},
             {"tenant", "create", "t"},
             {"bot", "stop-policy", "--cancel-on-stop", "true"}}) {
        EXPECT_TRUE(parses(words)) << words[0] << " " << words.back();
    }
}

TEST_F(TableCommands, RefuseWhatTheSchemaDoesNotKnow) {
    EXPECT_FALSE(parses({"mode", "set", "--mode", "real"}));
    EXPECT_FALSE(parses({"mode", "set"}));
    EXPECT_FALSE(parses({"market", "candles"}));
    EXPECT_FALSE(parses({"key", "create", "--label", "l", "--scope", "root"}));
    EXPECT_FALSE(parses({"strategy", "create", "--type", "idle"}));
}

TEST(AnswerText, TellsMessageFieldsAndLists) {
    const std::string text = answer_text(*parse_json(
        R"({"message":"It is so.","equity":"10","is_on":true,"none":null,"tags":["a","b"],
            "pnl":{"today":"1"},"orders":[{"id":"o1","qty":"2"},{"id":"o2",
            "note":"\u001b[2J"}]})"));
    for (const char* said :
         {"It is so.\n",
          "equity     10\n",
          "tags       a,b\n",
          "pnl today  1\n",
          "orders\n",
          "o1"}) {
        EXPECT_NE(text.find(said), std::string::npos) << said << "\n" << text;
    }
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(AnswerText, SaysDoneWhenThereIsNothingToTell) {
    EXPECT_EQ(answer_text(Json::object()), "Done.\n");
}

}  // namespace
}  // namespace interlock
