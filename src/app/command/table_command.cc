#include "app/command/table_command.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "app/command/answer_text.h"
#include "app/command/console.h"
#include "app/command/human_login.h"
#include "app/command/trader_call.h"
#include "base/check.h"
#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

using Kind = CallField::Kind;
using Place = CallField::Place;

// Some calls wait for an exchange; longer than any turn.
constexpr std::chrono::milliseconds kAnswerWait{120'000};
constexpr const char* kAgentKey = "INTERLOCK_ACCESS_KEY";
constexpr std::string_view kKeyField = "idempotency_key";
// What a group that the table made is for, with the words below it behind.
constexpr std::string_view kMadeGroup = "Calls of the server:";
// Options that the command has itself: a field of this name is an argument.
constexpr std::array<std::string_view, 4> kTaken{"--tenant", "--email", "--totp", "--key"};

// One command as it was described and then typed.
struct Chosen {
    TableWord word = {};
    const TableCall* call = nullptr;
    std::string tenant = {};
    std::string key = {};
    LoginOptions login = {};
    // By field.
    std::map<std::string, std::string> texts = {};
    std::map<std::string, std::vector<std::string>> lists = {};
    std::map<std::string, CLI::Option*> options = {};
};
using ChosenPtr = std::shared_ptr<Chosen>;

enum class Caller { host, human, agent };

Result<Caller> caller_of(const Chosen& chosen) {
    const TableCall& call = *chosen.call;
    const char* const key = std::getenv(kAgentKey);
    const bool wants_human = chosen.word.login == TableLogin::always ||
                             !chosen.login.email.empty() || chosen.login.password_stdin;
    if (call.by_operator && !wants_human) {
        return Caller::host;
    }
    if (call.by_agent && !wants_human && key != nullptr && *key != '\0') {
        return Caller::agent;
    }
    if (call.by_human) {
        return Caller::human;
    }
    return fail(
        errors::invalid_request,
        "This is an agent's call alone.",
        "Put its access key into INTERLOCK_ACCESS_KEY.");
}

const FieldName* name_of(const TableWord& word, std::string_view field) {
    const auto found = std::ranges::find(word.names, field, &FieldName::field);
    return found == word.names.end() ? nullptr : &*found;
}

// Every field that was typed, by its name in the call.
Result<Json> fields_of(const Chosen& chosen) {
    Json fields = Json::object();
    for (const CallField& field : chosen.call->fields) {
        const auto option = chosen.options.find(field.name);
        if (option == chosen.options.end() || option->second->count() == 0) {
            continue;
        }
        std::vector<std::string> typed{"true"};
        if (const auto text = chosen.texts.find(field.name); text != chosen.texts.end()) {
            typed = {text->second};
        } else if (const auto list = chosen.lists.find(field.name); list != chosen.lists.end()) {
            typed = list->second;
        }
        if (field.place == Place::path && typed.back().empty()) {
            return fail(errors::bad_usage, "The " + field.name + " is empty.", "Name one.");
        }
        const FieldName* const named = name_of(chosen.word, field.name);
        const bool is_nothing =
            named != nullptr && typed.size() == 1 && typed.back() == named->nothing;
        TRY_ASSIGN(
            Json value,
            is_nothing && field.kind == Kind::list ? Json::array() : typed_value(field, typed));
        fields.set(field.name, std::move(value));
    }
    const CallField* const key = chosen.call->find(kKeyField);
    if (key != nullptr && (key->is_required || !chosen.key.empty())) {
        fields.set(std::string(kKeyField), chosen.key.empty() ? new_call_id() : chosen.key);
    }
    return fields;
}

std::string text_of(const Json& value) {
    return percent_encode(value.is_string() ? value.as_string() : to_text(value));
}

std::string target_of(const Chosen& chosen, const std::string& tenant, const Json& fields) {
    std::string target;
    for (const std::string_view part : split(chosen.call->path, '/')) {
        if (part.empty()) {
            continue;
        }
        const bool is_field = part.starts_with('{');
        const Json* const value = is_field ? fields.find(part.substr(1, part.size() - 2)) : nullptr;
        target += "/" + (value != nullptr        ? text_of(*value)
                         : part == "{tenant_id}" ? percent_encode(tenant)
                                                 : std::string(part));
    }
    char before = '?';
    for (const CallField& field : chosen.call->fields) {
        const Json* const value = field.place == Place::query ? fields.find(field.name) : nullptr;
        if (value != nullptr) {
            target += before + field.name + "=" + text_of(*value);
            before = '&';
        }
    }
    return target;
}

Json body_of(const Chosen& chosen, const Json& fields) {
    Json body = Json::object();
    for (const auto& [name, value] : fields.members()) {
        const CallField* const field = chosen.call->find(name);
        if (field == nullptr || field->place == Place::body) {
            body.set(name, value);
        }
    }
    return body;
}

// An answer that was lost leaves open whether the change was made; the same id settles it.
Error with_way_to_repeat(Error error, const TableCall& call, const Json& fields) {
    const bool has_key = fields.find(kKeyField) != nullptr;
    const std::string id = text_at(fields, has_key ? kKeyField : "decision_id");
    if (id != "-" && call.method != "GET") {
        error.message += " It is not known whether the change was made.";
        error.next_step = "Run the same command again with " +
                          std::string(has_key ? "--key " : "--id ") + id +
                          ": what was done already is not done again.";
    }
    return error;
}

template <class Sender>
Result<ServerAnswer> send(
    Sender& sender, const std::string& method, const std::string& target, const Json& body) {
    if (method == "GET") {
        return sender.get(target);
    }
    if (method == "DELETE") {
        return sender.remove(target);
    }
    return method == "PUT" ? sender.put(target, body) : sender.post(target, body);
}

std::expected<Json, ExitCode> answer_of(
    const GlobalOptions& global, const Chosen& chosen, const Json& fields, ServerClient& server) {
    const auto caller = caller_of(chosen);
    if (!caller) {
        return std::unexpected(report_failure(global, caller.error()));
    }
    const auto tenant = chosen.call->is_of_tenant() ? chosen_tenant(server, chosen.tenant)
                                                    : Result<std::string>(std::string());
    if (!tenant) {
        return std::unexpected(report_failure(global, tenant.error()));
    }
    const std::string& method = chosen.call->method;
    const std::string target = target_of(chosen, *tenant, fields);
    const Json body = body_of(chosen, fields);
    Result<ServerAnswer> answer = ServerAnswer();
    if (*caller == Caller::human) {
        auto login = HumanLogin::start(global, server.data_folder(), chosen.login);
        if (!login) {
            return std::unexpected(login.error());
        }
        answer = send(*login, method, target, body);
    } else {
        if (*caller == Caller::agent) {
            server.act_as(SecretString(std::string(std::getenv(kAgentKey))));
        }
        answer = send(server, method, target, body);
    }
    if (!answer) {
        return std::unexpected(
            report_failure(global, with_way_to_repeat(answer.error(), *chosen.call, fields)));
    }
    return expect_ok(global, answer);
}

ExitCode run(const GlobalOptions& global, Chosen chosen) {
    auto fields = fields_of(chosen);
    if (!fields) {
        return report_failure(global, fields.error());
    }
    if (chosen.word.prepare) {
        if (const auto refused = chosen.word.prepare({global, chosen.tenant, *fields})) {
            return *refused;
        }
    }
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder, kAnswerWait);
    const auto answer = answer_of(global, chosen, *fields, server);
    if (!answer) {
        return answer.error();
    }
    if (global.json) {
        print_json(*answer);
    } else if (chosen.word.describe) {
        std::cout << chosen.word.describe({*answer, *fields, server});
    } else {
        std::cout << answer_text(*answer);
    }
    return chosen.word.judge == nullptr ? ExitCode::ok : chosen.word.judge(*answer);
}

// "--instance-id,--instance", or the name of an argument.
std::string spelling(const TableWord& word, const CallField& field) {
    const FieldName* const named = name_of(word, field.name);
    const std::string own = field.flag();
    if (named != nullptr && !named->as.empty()) {
        return named->as.starts_with("--") && named->as != own ? std::string(named->as) + "," + own
                                                               : std::string(named->as);
    }
    if (field.place == Place::path || std::ranges::find(kTaken, own) != kTaken.end()) {
        return field.name;
    }
    constexpr std::string_view kId = "-id";
    return own.ends_with(kId) ? own.substr(0, own.size() - kId.size()) + "," + own : own;
}

std::string type_of(const CallField& field) {
    switch (field.kind) {
        case Kind::integer:
        case Kind::number:
            return "NUMBER";
        case Kind::list:
            return field.has_object_items ? "JSON" : "A,B";
        case Kind::object:
            return "JSON";
        case Kind::text:
        case Kind::flag:
            break;
    }
    return field.name.ends_with("_id") ? "ID" : "TEXT";
}

std::string help_of(const TableWord& word, const CallField& field) {
    const FieldName* const named = name_of(word, field.name);
    if (named != nullptr && !named->help.empty()) {
        return std::string(named->help);
    }
    return field.help.empty() ? "The field " + field.name + " of the call." : field.help;
}

bool is_needed(const TableWord& word, const CallField& field) {
    const FieldName* const named = name_of(word, field.name);
    const auto need = named == nullptr ? FieldName::Need::by_table : named->need;
    return need == FieldName::Need::by_table ? field.is_required : need == FieldName::Need::always;
}

void add_field(CLI::App& command, Chosen& chosen, const CallField& field) {
    const std::string name = spelling(chosen.word, field);
    const std::string help = help_of(chosen.word, field);
    CLI::Option*& option = chosen.options[field.name];
    if (field.kind == Kind::flag && !field.is_required) {
        option = command.add_flag(name, help);
        return;
    }
    if (field.kind == Kind::list) {
        option = command.add_option(name, chosen.lists[field.name], help);
        option->allow_extra_args(!name.starts_with("--"));
        if (!field.words.empty()) {
            option->delimiter(',');
        }
    } else {
        option = command.add_option(name, chosen.texts[field.name], help);
    }
    option->type_name(type_of(field));
    option->required(is_needed(chosen.word, field));
    if (field.kind == Kind::flag) {
        option->check(CLI::IsMember({"true", "false"}));
    } else if (!field.words.empty()) {
        std::vector<std::string> words = field.words;
        const FieldName* const named = name_of(chosen.word, field.name);
        if (named != nullptr && !named->nothing.empty()) {
            words.emplace_back(named->nothing);
        }
        option->check(CLI::IsMember(words));
    }
}

void add_fields(CLI::App& command, const ChosenPtr& chosen) {
    const TableCall& call = *chosen->call;
    if (call.is_of_tenant()) {
        command
            .add_option(
                "--tenant", chosen->tenant, "Whose; may be left out when there is one tenant.")
            ->type_name("TENANT");
    }
    for (const CallField& field : call.fields) {
        const FieldName* const named = name_of(chosen->word, field.name);
        const bool is_hidden = named != nullptr && named->need == FieldName::Need::hidden;
        if (!is_hidden && !is_never_typed(field.name)) {
            add_field(command, *chosen, field);
        }
    }
    if (call.find(kKeyField) != nullptr) {
        command
            .add_option(
                "--key,--idempotency-key",
                chosen->key,
                "Idempotency key. Give the one of a call whose answer was lost to repeat it "
                "safely.")
            ->type_name("KEY");
    }
    if (call.by_human && chosen->word.login != TableLogin::never) {
        add_login_options(command, chosen->login);
    }
}

CLI::App* child_of(CLI::App& app, const std::string& name) {
    const auto children =
        app.get_subcommands([&](const CLI::App* child) { return child->get_name() == name; });
    return children.empty() ? nullptr : children.front();
}

CLI::App& group_at(CommandLine& line, const std::vector<std::string>& path) {
    CLI::App* app = &line.app;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        CLI::App* const known = child_of(*app, path[i]);
        if (known == nullptr) {
            app = app->add_subcommand(path[i], std::string(kMadeGroup));
            app->require_subcommand(1);
        } else {
            app = known;
        }
    }
    return *app;
}

std::vector<std::string> words_of(std::string_view command) {
    std::vector<std::string> words;
    for (const std::string_view word : split(command, ' ')) {
        words.emplace_back(word);
    }
    return words;
}

bool is_there(CommandLine& line, const std::vector<std::string>& path) {
    CLI::App* app = &line.app;
    for (const std::string& word : path) {
        app = child_of(*app, word);
        if (app == nullptr) {
            return false;
        }
    }
    return true;
}

}  // namespace

DescribeAnswer shown_by(std::string (*describe)(const Json&)) {
    return [describe](const TableAnswer& shown) { return describe(shown.answer); };
}

DescribeAnswer saying(std::string sentence) {
    return [sentence = std::move(sentence)](const TableAnswer&) {
        return print_safe(sentence) + "\n";
    };
}

CLI::App& add_table_word(CommandLine& line, TableWord word) {
    const auto chosen = std::make_shared<Chosen>();
    chosen->call = find_table_call(word.operation);
    CHECK(chosen->call != nullptr);
    const auto path =
        words_of(word.command.empty() ? command_of(*chosen->call) : std::string(word.command));
    const std::string help = word.help.empty() ? chosen->call->summary : std::string(word.help);
    chosen->word = std::move(word);
    CLI::App& group = group_at(line, path);
    if (const std::string told = group.get_description(); told.starts_with(kMadeGroup)) {
        const bool is_first = told.size() == kMadeGroup.size();
        group.description(told + (is_first ? " " : ", ") + path.back());
    }
    CLI::App* const command = group.add_subcommand(path.back(), help);
    command->footer(chosen->call->description);
    add_fields(*command, chosen);
    command->callback([&line, command, chosen] {
        if (command->get_subcommands().empty()) {  // Else a word below it was chosen.
            line.run = [&line, chosen] { return run(line.global, *chosen); };
        }
    });
    return *command;
}

std::expected<Json, ExitCode> ask_table(const GlobalOptions& global, const TableAsk& ask) {
    Chosen chosen{.call = find_table_call(ask.operation), .tenant = ask.tenant, .login = ask.login};
    CHECK(chosen.call != nullptr);
    chosen.word.login = ask.by;
    const CallField* const key = chosen.call->find(kKeyField);
    Json fields = ask.fields;
    if (key != nullptr && key->is_required && fields.find(kKeyField) == nullptr) {
        fields.set(std::string(kKeyField), new_call_id());
    }
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return std::unexpected(folder.error());
    }
    ServerClient server(*folder, kAnswerWait);
    return answer_of(global, chosen, fields, server);
}

ExitCode show_answer(
    const GlobalOptions& global,
    const std::expected<Json, ExitCode>& answer,
    std::string (*describe)(const Json&)) {
    if (!answer) {
        return answer.error();
    }
    if (global.json) {
        print_json(*answer);
    } else {
        std::cout << describe(*answer);
    }
    return ExitCode::ok;
}

void add_table_commands(CommandLine& line) {
    for (const TableCall& call : table_calls()) {
        const std::string command = command_of(call);
        if (!command.empty() && !is_there(line, words_of(command))) {
            add_table_word(line, {.operation = call.id});
        }
    }
}

}  // namespace interlock
