#include "app/command/decide_command.h"

#include <iostream>
#include <iterator>

#include "app/command/console.h"
#include "app/command/strategy_view.h"
#include "app/command/table_command.h"
#include "app/command/trader_call.h"
#include "engine/system/durable_file.h"

namespace interlock {
namespace {

constexpr std::size_t kPayloadBytesMax = 64 * 1024;

struct Options {
    std::string tenant;
    LoginOptions login;
    DecideFlags flags;
};

Result<std::string> read_all(std::istream& in) {
    std::string text(kPayloadBytesMax + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > kPayloadBytesMax) {
        return fail(
            errors::bad_usage,
            "The decision is larger than " + std::to_string(kPayloadBytesMax) + " bytes.");
    }
    return text;
}

Result<Json> payload_of(const Options& options) {
    const DecideFlags& flags = options.flags;
    if (flags.file.empty()) {
        return decision_payload(flags);
    }
    if (!flags.concern.empty() || !flags.action.empty()) {
        return fail(
            errors::bad_usage,
            "A decision comes from a file or from flags, not from both.",
            "Leave out the file, or everything but --tenant and the login.");
    }
    if (flags.file == "-" && options.login.password_stdin) {
        return fail(
            errors::bad_usage,
            "Standard input cannot hold both the password and the decision.",
            "Put the decision into a file.");
    }
    TRY_ASSIGN(
        const std::string text,
        flags.file == "-" ? read_all(std::cin) : read_small_file(flags.file, kPayloadBytesMax));
    auto payload = parse_json(text);
    if (!payload) {
        return fail(errors::bad_usage, "The decision is not JSON: " + payload.error().message);
    }
    if (!payload->is_object()) {
        return fail(errors::bad_usage, "The decision is no JSON object.");
    }
    return payload;
}

ExitCode run_decide(const GlobalOptions& global, const Options& options) {
    const auto payload = payload_of(options);
    if (!payload) {
        return report_failure(global, payload.error());
    }
    const auto answer = ask_table(
        global,
        {.operation = "apply_control_decision",
         .fields = *payload,
         .tenant = options.tenant,
         .login = options.login});
    const ExitCode shown = show_answer(global, answer, describe_control);
    return shown == ExitCode::ok ? exit_code_of(*answer) : shown;
}

void add_meaning(CLI::App& command, DecideFlags& flags) {
    command
        .add_option("--concern", flags.concern, "The market of an account, such as main:btcusdt.")
        ->type_name("CONCERN");
    command.add_option("--action", flags.action, "What to do.")
        ->check(CLI::IsMember({"switch", "pause", "resume", "set_risk_mode"}));
    command.add_option("--target", flags.target, "For switch: the strategy that takes over.")
        ->type_name("ID");
    command.add_option("--risk-mode", flags.risk_mode, "For set_risk_mode, or with a switch.")
        ->check(CLI::IsMember({"normal", "reduced", "defensive", "reduce_only", "halted"}));
    command.add_option("--reason", flags.reason, "Why, for the record.")->type_name("TEXT");
    command
        .add_option("--confidence", flags.confidence, "How sure you are, 0 to 1; 1 unless given.")
        ->type_name("NUMBER");
    command.add_option("--account", flags.account, "The account; the concern's unless given.")
        ->type_name("ACCOUNT");
    command.add_option("--market", flags.market, "The market; the concern's unless given.")
        ->type_name("SYMBOL");
}

}  // namespace

Result<Json> decision_payload(const DecideFlags& flags) {
    if (flags.concern.empty() || flags.action.empty() || flags.reason.empty()) {
        return fail(
            errors::bad_usage,
            "A decision needs --concern, --action and --reason, or a file.",
            "See `interlock concern list` for the concerns there are.");
    }
    if (!is_json_number(flags.confidence)) {
        return fail(errors::bad_usage, "--confidence must be a number from 0 to 1.");
    }
    const std::size_t colon = flags.concern.rfind(':');
    const bool is_pair = colon != std::string::npos;
    if (!is_pair && (flags.account.empty() || flags.market.empty())) {
        return fail(
            errors::bad_usage,
            "\"" + flags.concern + "\" does not name an account and a market.",
            "Write it like main:btcusdt, or give --account and --market.");
    }
    Json payload = Json::object({
        {"decision_id", flags.id.empty() ? new_call_id() : flags.id},
        {"concern_id", flags.concern},
        {"account_id", flags.account.empty() ? flags.concern.substr(0, colon) : flags.account},
        {"market_symbol", flags.market.empty() ? flags.concern.substr(colon + 1) : flags.market},
        {"action", flags.action},
        {"reason", flags.reason},
        {"confidence", Json::number(flags.confidence)},
        {"dry_run", flags.dry_run},
        {"override", flags.override_guards},
    });
    const std::pair<const char*, const std::string*> texts[] = {
        {"target_strategy_id", &flags.target}, {"risk_mode", &flags.risk_mode}};
    for (const auto& [key, value] : texts) {
        if (!value->empty()) {
            payload.set(key, *value);
        }
    }
    if (!flags.expected.empty()) {
        payload.set("expected_active_strategy_id", expected_active(flags.expected));
    }
    return payload;
}

void add_decide_command(CommandLine& line) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = line.app.add_subcommand(
        "decide",
        "Apply one control decision: switch, pause, resume or set_risk_mode. It is checked, "
        "applied "
        "at most once and recorded; try it with --dry-run first.");
    command
        ->add_option(
            "file", options->flags.file, "The whole decision as JSON, - for standard input.")
        ->type_name("FILE");
    add_meaning(*command, options->flags);
    command
        ->add_option(
            "--expect",
            options->flags.expected,
            "Only if this strategy is the active one right now, `none` for no one; recommended.")
        ->type_name("ID");
    command
        ->add_option(
            "--id",
            options->flags.id,
            "The decision's id; made anew when left out. Give the same one to repeat safely.")
        ->type_name("ID");
    command->add_flag("--dry-run", options->flags.dry_run, "Check everything, change nothing.");
    command->add_flag(
        "--override",
        options->flags.override_guards,
        "Go past the guards that may be gone past; it is recorded.");
    command
        ->add_option(
            "--tenant", options->tenant, "Whose; may be left out when there is one tenant.")
        ->type_name("TENANT");
    add_login_options(*command, options->login);
    command->footer(
        "Acts as the human who logs in, or as the agent whose key INTERLOCK_ACCESS_KEY holds.\n"
        "Example: interlock decide --concern main:btcusdt --action pause --reason \"odd fills\"");
    command->callback([&line, options] {
        line.run = [&line, options] { return run_decide(line.global, *options); };
    });
}

}  // namespace interlock
