#include "app/command/admin_commands.h"

#include <iostream>

#include "app/command/answer_text.h"
#include "app/command/console.h"
#include "app/command/human_login.h"
#include "app/command/recovery_command.h"
#include "app/command/table_command.h"
#include "app/wiring/server_client.h"
#include "base/text.h"

namespace interlock {
namespace {

struct Options {
    std::string tenant;
    std::string key_id;
    std::string code;
    bool password_stdin = false;
    bool all = false;
    LoginOptions login;
};

std::string tenant_path(const Options& options, std::string_view rest) {
    return "/api/" + percent_encode(options.tenant) + std::string(rest);
}

// The objects in the list at `key` as a table of the named fields.
std::string table_of(
    const Json& answer, std::string_view key, const std::vector<std::string>& fields) {
    std::vector<std::string> header = fields;
    for (std::string& name : header) {
        for (char& c : name) {
            c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : (c == '_' ? ' ' : c));
        }
    }
    const std::string table = table_at(answer, key, fields, header);
    return table.empty() ? "None.\n" : table;
}

void add_tenant_option(CLI::App& command, Options& options) {
    command
        .add_option(
            "--tenant",
            options.tenant,
            "The tenant; may be left out when there is one, or on the demo.")
        ->type_name("TENANT");
}

ExitCode run_tenants(const GlobalOptions& global) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    const auto answer = expect_ok(global, fetch_tenants(server));
    if (!answer) {
        return answer.error();
    }
    if (global.json) {
        print_json(*answer);
    } else {
        std::cout << table_of(
            *answer, "tenants", {"tenant_id", "name", "created_at", "humans", "active_keys"});
    }
    return ExitCode::ok;
}

void add_tenant_commands(CommandLine& line) {
    CLI::App* tenant = line.app.add_subcommand("tenant", "Make and list tenants.");
    tenant->require_subcommand(1);
    add_table_word(
        line,
        {.operation = "create_tenant",
         .names =
             {{.field = "tenant_id", .as = "tenant_id", .help = "Its id: a-z, 0-9, '-' and '_'."},
              {.field = "name",
               .need = FieldName::Need::never,
               .help = "Its name for people; the id when left out."}},
         .describe =
             [](const TableAnswer& shown) {
                 const std::string id = text_at(shown.answer, "tenant_id");
                 return "Tenant " + print_safe(id) + " is there.\n" +
                        render_fields(
                            {{"first human", "interlock human invite EMAIL --tenant " + id},
                             {"access key",
                              "interlock key create --tenant " + id +
                                  " --label NAME --scope planner"}});
             },
         .prepare = [](const TableTyped& typed) -> std::optional<ExitCode> {
             if (typed.fields.find("name") == nullptr) {
                 typed.fields.set("name", *typed.fields.find("tenant_id"));
             }
             return std::nullopt;
         }});
    CLI::App* list = tenant->add_subcommand("list", "List the tenants.");
    list->callback([&line] { line.run = [&line] { return run_tenants(line.global); }; });
}

void add_key_creation(CommandLine& line) {
    add_table_word(
        line,
        {.operation = "create_access_key",
         .names =
             {{.field = "scopes", .as = "--scope", .help = "What it may do; may be repeated."}},
         .describe = [](const TableAnswer& shown) {
             return "This is the only time the key is shown; store it now.\n" +
                    render_fields(
                        {{"access key", text_at(shown.answer, "access_key")},
                         {"key id", text_at(shown.answer, "key_id")},
                         {"label", text_at(shown.answer, "label")},
                         {"scopes", text_at(shown.answer, "scopes")}});
         }});
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
    add_key_creation(line);
    add_key_confirmation(*key, line, options);
    add_table_word(
        line, {.operation = "list_access_keys", .describe = [](const TableAnswer& shown) {
                   return table_of(
                       shown.answer,
                       "keys",
                       {"key_id", "label", "scopes", "hint", "created_at", "revoked_at", "locked"});
               }});
    add_table_word(
        line, {.operation = "revoke_access_key", .describe = [](const TableAnswer& shown) {
                   return "Revoked " + print_safe(text_at(shown.sent, "key_id")) + ".\n";
               }});
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

std::string describe_invited(const Json& made) {
    std::vector<std::pair<std::string, std::string>> fields{
        {"human", text_at(made, "human_id")}, {"email", text_at(made, "email")}};
    if (text_at(made, "one_time_code") != "-") {
        fields.emplace_back("one-time code", text_at(made, "one_time_code"));
        fields.emplace_back("in a browser", text_at(made, "activation_path"));
        fields.emplace_back("or here", "interlock human activate");
        fields.emplace_back("expires", text_at(made, "invitation_expires_at"));
    }
    return render_fields(fields);
}

void add_human_commands(CommandLine& line, const std::shared_ptr<Options>& options) {
    CLI::App* human = line.app.add_subcommand("human", "Invite and list the people who approve.");
    human->require_subcommand(1);
    add_table_word(
        line,
        {.operation = "invite_human",
         .help = "Invite a tenant's first human; later ones are invited by a human.",
         .names =
             {{.field = "email", .as = "whom", .help = "Their email address."},
              {.field = "system_member",
               .as = "--system",
               .help = "Also a human of this host (global kill switch)."}},
         .describe = shown_by(describe_invited)});
    add_activation(*human, line, options);
    add_recovery_commands(*human, line);
    add_table_word(line, {.operation = "list_humans", .describe = [](const TableAnswer& shown) {
                              return table_of(
                                  shown.answer,
                                  "humans",
                                  {"human_id", "email", "state", "two_factor", "created_at"});
                          }});
}

}  // namespace

void add_admin_commands(CommandLine& line) {
    const auto options = std::make_shared<Options>();
    add_tenant_commands(line);
    add_key_commands(line, options);
    add_human_commands(line, options);
}

}  // namespace interlock
