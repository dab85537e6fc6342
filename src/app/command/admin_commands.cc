#include "app/command/admin_commands.h"

#include <functional>
#include <iostream>

#include "app/command/console.h"
#include "app/command/human_login.h"
#include "app/command/recovery_command.h"
#include "app/wiring/server_client.h"
#include "base/text.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

struct Options {
    std::string tenant;
    std::string name;
    std::string label;
    std::vector<std::string> scopes;
    std::string key_id;
    std::string email;
    bool system_member = false;
    std::string code;
    bool password_stdin = false;
    bool all = false;
    LoginOptions login;
};

std::string tenant_path(const Options& options, std::string_view rest) {
    return "/api/" + percent_encode(options.tenant) + std::string(rest);
}

// What most of these are: one call, then its answer as JSON or as text.
struct AdminCall {
    std::function<Result<ServerAnswer>(ServerClient&)> send;
    std::function<std::string(const Json&)> describe;
    std::shared_ptr<Options> of_tenant = nullptr;  // Null: it is about no tenant, or about all.
};

ExitCode run(const GlobalOptions& global, const AdminCall& call) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    if (call.of_tenant != nullptr) {
        auto tenant = chosen_tenant(server, call.of_tenant->tenant);
        if (!tenant) {
            return report_failure(global, tenant.error());
        }
        call.of_tenant->tenant = *std::move(tenant);
    }
    const auto answer = expect_ok(global, call.send(server));
    if (!answer) {
        return answer.error();
    }
    if (global.json) {
        print_json(*answer);
    } else {
        std::cout << call.describe(*answer);
    }
    return ExitCode::ok;
}

void on_chosen(CLI::App& command, CommandLine& line, AdminCall call) {
    command.callback([&line, call = std::move(call)] {
        line.run = [&line, call] { return run(line.global, call); };
    });
}

// The objects in the list at `key` as a table of the named fields.
std::string table_of(
    const Json& answer, std::string_view key, const std::vector<std::string>& fields) {
    std::vector<std::vector<std::string>> rows;
    if (const Json* list = answer.find(key); list != nullptr && list->is_array()) {
        for (const Json& item : list->items()) {
            std::vector<std::string> row;
            for (const std::string& field : fields) {
                row.push_back(text_at(item, field));
            }
            rows.push_back(std::move(row));
        }
    }
    if (rows.empty()) {
        return "None.\n";
    }
    std::vector<std::string> header;
    for (const std::string& field : fields) {
        header.push_back(field);
        for (char& c : header.back()) {
            c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : (c == '_' ? ' ' : c));
        }
    }
    return render_table(header, rows);
}

void add_tenant_option(CLI::App& command, Options& options) {
    command
        .add_option(
            "--tenant",
            options.tenant,
            "The tenant; may be left out when there is one, or on the demo.")
        ->type_name("TENANT");
}

void add_tenant_commands(CommandLine& line, const std::shared_ptr<Options>& options) {
    CLI::App* tenant = line.app.add_subcommand("tenant", "Make and list tenants.");
    tenant->require_subcommand(1);
    CLI::App* create = tenant->add_subcommand("create", "Make a tenant.");
    create->add_option("tenant_id", options->tenant, "Its id: a-z, 0-9, '-' and '_'.")
        ->required()
        ->type_name("ID");
    create->add_option("--name", options->name, "Its name for people; the id when left out.")
        ->type_name("TEXT");
    on_chosen(
        *create,
        line,
        {.send =
             [options](ServerClient& server) {
                 return server.post(
                     "/tenants",
                     Json::object(
                         {{"tenant_id", options->tenant},
                          {"name", options->name.empty() ? options->tenant : options->name}}));
             },
         .describe =
             [](const Json& made) {
                 const std::string id = text_at(made, "tenant_id");
                 return "Tenant " + print_safe(id) + " is there.\n" +
                        render_fields(
                            {{"first human", "interlock human invite EMAIL --tenant " + id},
                             {"access key",
                              "interlock key create --tenant " + id +
                                  " --label NAME --scope planner"}});
             }});
    CLI::App* list = tenant->add_subcommand("list", "List the tenants.");
    on_chosen(*list, line, {.send = fetch_tenants, .describe = [](const Json& answer) {
                                return table_of(
                                    answer,
                                    "tenants",
                                    {"tenant_id", "name", "created_at", "humans", "active_keys"});
                            }});
}

void add_key_creation(CLI::App& key, CommandLine& line, const std::shared_ptr<Options>& options) {
    CLI::App* create = key.add_subcommand("create", "Make an access key; it is shown this once.");
    add_tenant_option(*create, *options);
    create->add_option("--label", options->label, "Whose key this is.")
        ->required()
        ->type_name("TEXT");
    create->add_option("--scope", options->scopes, "What it may do; may be repeated.")
        ->required()
        ->delimiter(',')
        ->check(CLI::IsMember({"planner", "supervisor", "bot", "read", "probe"}));
    on_chosen(
        *create,
        line,
        {.send =
             [options](ServerClient& server) {
                 return server.post(
                     tenant_path(*options, "/keys"),
                     Json::object(
                         {{"label", options->label}, {"scopes", json_list(options->scopes)}}));
             },
         .describe =
             [](const Json& made) {
                 return "This is the only time the key is shown; store it now.\n" +
                        render_fields(
                            {{"access key", text_at(made, "access_key")},
                             {"key id", text_at(made, "key_id")},
                             {"label", text_at(made, "label")},
                             {"scopes", text_at(made, "scopes")}});
             },
         .of_tenant = options});
}

// The keys meant: the one named, or all that wait.
std::expected<std::vector<std::string>, ExitCode> keys_to_confirm(
    const GlobalOptions& global, const Options& options, HumanLogin& login) {
    if (!options.all) {
        return std::vector<std::string>{options.key_id};
    }
    const auto listed = expect_ok(global, login.get(tenant_path(options, "/keys")));
    if (!listed) {
        return std::unexpected(listed.error());
    }
    std::vector<std::string> ids;
    for (const Json& key : listed->find("keys")->items()) {
        if (key.find("locked") != nullptr) {
            ids.push_back(text_at(key, "key_id"));
        }
    }
    return ids;
}

ExitCode run_confirmation(const GlobalOptions& global, const Options& given) {
    if (given.all != given.key_id.empty()) {
        return report_usage(global, "Name one key, or give --all.", "`interlock key list` shows.");
    }
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    Options options = given;
    auto tenant = chosen_tenant(server, given.tenant);
    if (!tenant) {
        return report_failure(global, tenant.error());
    }
    options.tenant = *std::move(tenant);
    auto login = HumanLogin::start(global, *folder, options.login);
    if (!login) {
        return login.error();
    }
    const auto ids = keys_to_confirm(global, options, *login);
    if (!ids) {
        return ids.error();
    }
    Json confirmed = Json::array();
    for (const std::string& id : *ids) {
        auto answer = expect_ok(
            global,
            login->post(
                tenant_path(options, "/keys/" + percent_encode(id) + "/confirm"), Json::object()));
        if (!answer) {
            return answer.error();
        }
        if (!global.json) {
            std::cout << "Confirmed " << print_safe(id) << " (" << text_at(*answer, "label")
                      << ").\n";
        }
        confirmed.push(*std::move(answer));
    }
    if (global.json) {
        print_json(Json::object({{"keys", std::move(confirmed)}}));
    } else if (ids->empty()) {
        std::cout << "No key of this tenant waits.\n";
    }
    return ExitCode::ok;
}

void add_key_confirmation(
    CLI::App& key, CommandLine& line, const std::shared_ptr<Options>& options) {
    CLI::App* confirm = key.add_subcommand(
        "confirm", "Let a key work again that came back with a backup, as a human.");
    add_tenant_option(*confirm, *options);
    confirm->add_option("key_id", options->key_id, "The key's id (key_...).")->type_name("ID");
    confirm->add_flag("--all", options->all, "Every key of the tenant that waits.");
    add_login_options(*confirm, options->login);
    confirm->callback([&line, options] {
        line.run = [&line, options] { return run_confirmation(line.global, *options); };
    });
}

void add_key_commands(CommandLine& line, const std::shared_ptr<Options>& options) {
    CLI::App* key =
        line.app.add_subcommand("key", "Make, list, confirm and revoke agents' access keys.");
    key->require_subcommand(1);
    add_key_creation(*key, line, options);
    add_key_confirmation(*key, line, options);
    CLI::App* list =
        key->add_subcommand("list", "List a tenant's keys; never the keys themselves.");
    add_tenant_option(*list, *options);
    on_chosen(
        *list,
        line,
        {.send =
             [options](ServerClient& server) { return server.get(tenant_path(*options, "/keys")); },
         .describe =
             [](const Json& answer) {
                 return table_of(
                     answer,
                     "keys",
                     {"key_id", "label", "scopes", "hint", "created_at", "revoked_at", "locked"});
             },
         .of_tenant = options});
    CLI::App* revoke = key->add_subcommand("revoke", "Revoke a key at once and for good.");
    add_tenant_option(*revoke, *options);
    revoke->add_option("key_id", options->key_id, "The key's id (key_...).")
        ->required()
        ->type_name("ID");
    on_chosen(
        *revoke,
        line,
        {.send =
             [options](ServerClient& server) {
                 return server.remove(
                     tenant_path(*options, "/keys/" + percent_encode(options->key_id)));
             },
         .describe =
             [options](const Json&) { return "Revoked " + print_safe(options->key_id) + ".\n"; },
         .of_tenant = options});
}

// Makes an invited human's account from the terminal, for hosts that nobody reaches with a browser.
ExitCode run_activation(const GlobalOptions& global, const Options& options) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    const auto code = options.code.empty() ? ask_secret("One-time code: ")
                                           : Result<SecretString>(SecretString(options.code));
    if (!code) {
        return report_failure(global, code.error());
    }
    const auto password = new_password(options.password_stdin);
    if (!password) {
        return report_failure(global, password.error());
    }
    ServerClient server(*folder);
    auto made = expect_ok(
        global,
        server.post(
            "/account/activate",
            Json::object(
                {{"code", Json(code->reveal())},
                 {"password", Json(password->reveal())},
                 {"want_token", true}})));
    if (!made) {
        return made.error();
    }
    print_new_login(
        global, server, *made, "The account of " + text_at(*made, "email") + " is ready.");
    return ExitCode::ok;
}

void add_activation(CLI::App& human, CommandLine& line, const std::shared_ptr<Options>& options) {
    CLI::App* activate =
        human.add_subcommand("activate", "Accept an invitation: set the first password.");
    activate->add_option("--code", options->code, "The one-time code; asked for when left out.")
        ->type_name("CODE");
    activate->add_flag(
        "--password-stdin",
        options->password_stdin,
        "Read the new password from the first line of standard input.");
    activate->callback([&line, options] {
        line.run = [&line, options] { return run_activation(line.global, *options); };
    });
}

void add_human_commands(CommandLine& line, const std::shared_ptr<Options>& options) {
    CLI::App* human = line.app.add_subcommand("human", "Invite and list the people who approve.");
    human->require_subcommand(1);
    CLI::App* invite = human->add_subcommand(
        "invite", "Invite a tenant's first human; later ones are invited by a human.");
    add_tenant_option(*invite, *options);
    invite->add_option("email", options->email, "Their email address.")
        ->required()
        ->type_name("EMAIL");
    invite->add_flag(
        "--system", options->system_member, "Also a human of this host (global kill switch).");
    on_chosen(
        *invite,
        line,
        {.send =
             [options](ServerClient& server) {
                 Json body = Json::object({{"email", options->email}});
                 if (options->system_member) {
                     body.set("system_member", true);
                 }
                 return server.post(tenant_path(*options, "/humans"), body);
             },
         .describe =
             [](const Json& made) {
                 std::vector<std::pair<std::string, std::string>> fields{
                     {"human", text_at(made, "human_id")}, {"email", text_at(made, "email")}};
                 if (text_at(made, "one_time_code") != "-") {
                     fields.emplace_back("one-time code", text_at(made, "one_time_code"));
                     fields.emplace_back("in a browser", text_at(made, "activation_path"));
                     fields.emplace_back("or here", "interlock human activate");
                     fields.emplace_back("expires", text_at(made, "invitation_expires_at"));
                 }
                 return render_fields(fields);
             },
         .of_tenant = options});
    add_activation(*human, line, options);
    add_recovery_commands(*human, line);
    CLI::App* list = human->add_subcommand("list", "List a tenant's humans.");
    add_tenant_option(*list, *options);
    on_chosen(
        *list,
        line,
        {.send = [options](
                     ServerClient& server) { return server.get(tenant_path(*options, "/humans")); },
         .describe =
             [](const Json& answer) {
                 return table_of(
                     answer, "humans", {"human_id", "email", "state", "two_factor", "created_at"});
             },
         .of_tenant = options});
}

}  // namespace

void add_admin_commands(CommandLine& line) {
    const auto options = std::make_shared<Options>();
    add_tenant_commands(line, options);
    add_key_commands(line, options);
    add_human_commands(line, options);
}

}  // namespace interlock
