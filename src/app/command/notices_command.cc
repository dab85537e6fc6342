#include "app/command/notices_command.h"

#include <memory>

#include "app/command/console.h"
#include "app/command/table_command.h"
#include "engine/wire/principal.h"

namespace interlock {
namespace {

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

// A call of the human who logs in, about a tenant or, with --host, about the host.
void add(CommandLine& line, TableWord word) {
    const auto is_host = std::make_shared<bool>(false);
    word.login = TableLogin::always;
    word.prepare = [is_host](const TableTyped& typed) -> std::optional<ExitCode> {
        typed.tenant = *is_host ? system_tenant().text() : typed.tenant;
        return std::nullopt;
    };
    CLI::App& command = add_table_word(line, std::move(word));
    command.add_flag("--host", *is_host, "What concerns the host.")
        ->excludes(command.get_option("--tenant"));
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
    add(line, {.operation = "get_notices", .describe = shown_by(describe_notices)});
    add(line,
        {.operation = "set_notices",
         .names =
             {{.field = "letters",
               .as = "kinds",
               .help = "Those you want; none turns letters off.",
               .nothing = "none"}},
         .describe = shown_by(describe_letters)});
    add(line, {.operation = "test_notices", .describe = shown_by(describe_test)});
    CLI::App* const webhook =
        notices->add_subcommand("webhook", "Where this tenant's notices are posted, signed.");
    webhook->require_subcommand(1);
    add(line,
        {.operation = "set_notice_webhook",
         .names =
             {{.field = "url",
               .as = "url",
               .help = "Where to; https, unless the operator allowed it."}},
         .describe = shown_by(describe_webhook)});
    add(line, {.operation = "delete_notice_webhook", .describe = shown_by(describe_removed)});
}

}  // namespace interlock
