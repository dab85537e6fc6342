#include "app/command/notices_command.h"

#include <array>
#include <iostream>

#include "app/command/console.h"
#include "app/command/human_login.h"
#include "app/wiring/server_client.h"
#include "base/text.h"
#include "engine/wire/principal.h"
#include "host/wire/notice_settings.h"

namespace interlock {
namespace {

struct Options {
    std::string tenant;
    bool host = false;
    std::vector<std::string> kinds;
    std::string url;
    LoginOptions login;
};

// What a word asks for, behind /api/{tenant}/notices.
struct Call {
    std::string method;
    std::string path = {};
    Json body = Json::object();
};

Call show_call(const Options&) {
    return {.method = "GET"};
}

Call letters_call(const Options& options) {
    Json letters = Json::array();
    for (const std::string& kind : options.kinds) {
        if (kind != "none") {
            letters.push(kind);
        }
    }
    return {"PUT", "/letters", Json::object({{"letters", std::move(letters)}})};
}

Call set_call(const Options& options) {
    return {"PUT", "/webhook", Json::object({{"url", options.url}})};
}

Call remove_call(const Options&) {
    return {.method = "DELETE", .path = "/webhook"};
}

Call test_call(const Options&) {
    return {.method = "POST", .path = "/test"};
}

std::string kinds_in(const Json& answer) {
    std::string kinds;
    for (const char c : text_at(answer, "letters")) {
        kinds += c == ',' ? ", " : std::string(1, c);
    }
    return kinds;
}

std::string describe_letters(const Json& answer) {
    const std::string kinds = kinds_in(answer);
    return kinds == "-" ? "You get no letters about this tenant any more.\n"
                        : "You get letters about: " + print_safe(kinds) + ".\n";
}

std::string describe_webhook(const Json& answer) {
    return "Notices go to " + print_safe(text_at(answer, "host")) +
           ", signed with this secret, which is shown this once:\n\n    " +
           print_safe(text_at(answer, "secret")) + "\n\nTry it with `interlock notices test`.\n";
}

std::string describe_removed(const Json&) {
    return "Notices go to no webhook any more.\n";
}

std::string describe_test(const Json&) {
    return "A notice of kind test is on its way to you and to the webhook; `interlock notices "
           "show` "
           "tells what came of it.\n";
}

struct Word {
    const char* name;
    const char* help;
    Call (*call)(const Options&);
    std::string (*describe)(const Json&);
};
constexpr Word kShow{
    "show", "What you are told, where, and what has not left.", show_call, describe_notices};
constexpr Word kLetters{
    "letters", "Choose the kinds that you get letters about.", letters_call, describe_letters};
constexpr Word kTest{
    "test", "Send a notice to yourself and to the webhook.", test_call, describe_test};
constexpr Word kSet{
    "set",
    "Have notices posted to a URL, signed; in place of the one before.",
    set_call,
    describe_webhook};
constexpr Word kRemove{"remove", "Post notices nowhere any more.", remove_call, describe_removed};

Result<ServerAnswer> send(HumanLogin& login, const std::string& target, const Call& call) {
    if (call.method == "GET") {
        return login.get(target);
    }
    if (call.method == "DELETE") {
        return login.remove(target);
    }
    return call.method == "PUT" ? login.put(target, call.body) : login.post(target, call.body);
}

ExitCode run(const GlobalOptions& global, const Options& options, const Word& word) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    const Result<std::string> tenant = options.host ? Result<std::string>(system_tenant().text())
                                                    : chosen_tenant(server, options.tenant);
    if (!tenant) {
        return report_failure(global, tenant.error());
    }
    auto login = HumanLogin::start(global, *folder, options.login);
    if (!login) {
        return login.error();
    }
    const Call call = word.call(options);
    const std::string target = "/api/" + percent_encode(*tenant) + "/notices" + call.path;
    const auto answer = expect_ok(global, send(*login, target, call));
    if (!answer) {
        return answer.error();
    }
    if (global.json) {
        print_json(*answer);
    } else {
        std::cout << word.describe(*answer);
    }
    return ExitCode::ok;
}

CLI::App* add(
    CLI::App& above, CommandLine& line, const Word& word, std::shared_ptr<Options> options) {
    CLI::App* const command = above.add_subcommand(word.name, word.help);
    CLI::Option* const tenant =
        command
            ->add_option(
                "--tenant", options->tenant, "Whose; may be left out when there is one tenant.")
            ->type_name("TENANT");
    command->add_flag("--host", options->host, "What concerns the host.")->excludes(tenant);
    add_login_options(*command, options->login);
    command->callback([&line, options = std::move(options), &word] {
        line.run = [&line, options, &word] { return run(line.global, *options, word); };
    });
    return command;
}

void add_letters(CLI::App& notices, CommandLine& line) {
    const auto options = std::make_shared<Options>();
    std::vector<std::string> words{"none"};
    for (const NoticeKind kind : notice_choices()) {
        words.emplace_back(to_word(kind));
    }
    add(notices, line, kLetters, options)
        ->add_option("kinds", options->kinds, "Those you want; none turns letters off.")
        ->required()
        ->type_name("KIND")
        ->check(CLI::IsMember(words));
}

}  // namespace

std::string describe_notices(const Json& notices) {
    const Json* const webhook = notices.find("webhook");
    const bool has_webhook = webhook != nullptr && webhook->is_object();
    std::string text = render_fields(
        {{"letters about", kinds_in(notices)},
         {"webhook", has_webhook ? text_at(*webhook, "host") : "-"}});
    const Json* const outlets = notices.find("outlets");
    if (outlets == nullptr || outlets->items().empty()) {
        return text + "Nothing was told yet.\n";
    }
    std::vector<std::vector<std::string>> rows;
    for (const Json& outlet : outlets->items()) {
        rows.push_back(
            {text_at(outlet, "to"),
             text_at(outlet, "kind"),
             text_at(outlet, "waiting"),
             text_at(outlet, "sent_at"),
             text_at(outlet, "last_error")});
    }
    return text + "\n" +
           render_table({"receiver", "kind", "waiting", "last sent", "trouble"}, rows);
}

void add_notices_command(CommandLine& line) {
    CLI::App* const notices = line.app.add_subcommand(
        "notices", "What you are told by letter, and the tenant's webhook, as a human.");
    notices->require_subcommand(1);
    add(*notices, line, kShow, std::make_shared<Options>());
    add_letters(*notices, line);
    add(*notices, line, kTest, std::make_shared<Options>());
    CLI::App* const webhook =
        notices->add_subcommand("webhook", "Where this tenant's notices are posted, signed.");
    webhook->require_subcommand(1);
    const auto options = std::make_shared<Options>();
    add(*webhook, line, kSet, options)
        ->add_option("url", options->url, "Where to; https, unless the operator allowed it.")
        ->required()
        ->type_name("URL");
    add(*webhook, line, kRemove, std::make_shared<Options>());
}

}  // namespace interlock
