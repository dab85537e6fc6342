// Commands made from the operation table (docs/adr/0031): their options are the fields of the call,
// and all they do is make it and print the answer. One that is known by another name, names its
// fields otherwise, or shows a view of its own, says so in a TableWord; every other operation has
// its command by the rule of command_of().
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command/command.h"
#include "app/command/human_login.h"
#include "app/command/table_call.h"
#include "app/wiring/server_client.h"

namespace interlock {

// What a view may look at: the answer, and the fields as they were sent.
struct TableAnswer {
    const Json& answer;
    const Json& sent;
    ServerClient& server;
};
using DescribeAnswer = std::function<std::string(const TableAnswer&)>;
DescribeAnswer shown_by(std::string (*describe)(const Json&));
DescribeAnswer saying(std::string sentence);

struct FieldName {
    std::string_view field;
    std::string_view as = {};  // "--market", or "name" for an argument; empty: by the rule.
    // Never: `prepare` may fill it in. Hidden: it alone does.
    enum class Need { by_table, always, never, hidden };
    Need need = Need::by_table;
    std::string_view help = {};     // Empty: as the table describes it.
    std::string_view nothing = {};  // A word of a list that stands for an empty one.
};

// What was typed, before it is sent.
struct TableTyped {
    const GlobalOptions& global;
    std::string& tenant;  // Of --tenant; empty: not given.
    Json& fields;
};

// Whether a human logs in: when he wants to and may, always, or never.
enum class TableLogin { by_table, always, never };

struct TableWord {
    std::string_view operation;
    std::string_view command = {};  // "relay route add"; empty: by the rule.
    std::string_view help = {};     // Empty: the operation's summary.
    std::vector<FieldName> names = {};
    DescribeAnswer describe = nullptr;  // Null: answer_text().
    // Completes the fields or refuses them before anything is sent; a failure has been printed.
    std::function<std::optional<ExitCode>(const TableTyped&)> prepare = nullptr;
    TableLogin login = TableLogin::by_table;
    ExitCode (*judge)(const Json& answer) = nullptr;  // Set: an answer may be a refusal.
};

// Adds the command below its groups, which are made when they are missing.
CLI::App& add_table_word(CommandLine& line, TableWord word);

// Adds a command for every operation that has none yet. To be called last: what was added by hand
// goes before.
void add_table_commands(CommandLine& line);

// For commands with more to them: one call, by whom a command would make it; what went wrong has
// been printed.
struct TableAsk {
    std::string_view operation;
    Json fields = Json::object();
    std::string tenant = {};
    LoginOptions login = {};
    TableLogin by = TableLogin::by_table;
};
std::expected<Json, ExitCode> ask_table(const GlobalOptions& global, const TableAsk& ask);

// The answer as JSON or as the view has it; of a failure, which has been printed, its exit code.
ExitCode show_answer(
    const GlobalOptions& global,
    const std::expected<Json, ExitCode>& answer,
    std::string (*describe)(const Json&));

}  // namespace interlock
