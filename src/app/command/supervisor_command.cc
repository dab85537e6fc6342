#include "app/command/supervisor_command.h"

#include <deque>
#include <iostream>
#include <map>

#include "app/command/audit_view.h"
#include "app/command/console.h"
#include "app/wiring/ledger_run.h"
#include "base/errors.h"
#include "trader/service/supervisor_replay.h"

namespace interlock {
namespace {

constexpr std::int64_t kShownMax = 1000;

struct Options {
    std::string tenant;
    std::string since;
    bool only_changed = false;
    bool only_actions = false;
    std::int64_t limit = 20;
};

// Empty when it is null or absent.
std::string word_at(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

std::string action_of(const RecordedRound& round) {
    const std::string target = word_at(round.decision, "target_strategy_id");
    const std::string mode = word_at(round.decision, "risk_mode");
    return word_at(round.decision, "action") + (target.empty() ? "" : " to " + target) +
           (mode.empty() ? "" : " " + mode);
}

std::string regime_of(const RecordedRound& round) {
    const Json* narrative = round.decision.find("narrative");
    return narrative == nullptr ? "-" : text_at(*narrative, "regime");
}

std::string describe(const SupervisorReplayReport& report) {
    std::string text;
    if (!report.verdicts.empty()) {
        std::vector<std::vector<std::string>> rows;
        for (const RoundVerdict& verdict : report.verdicts) {
            rows.push_back(
                {verdict.round.decision_id.text(),
                 to_text(verdict.round.at),
                 action_of(verdict.round),
                 std::string(to_word(verdict.outcome)),
                 verdict.detail});
        }
        text += render_table({"DECISION", "AT", "RECORDED", "NOW", "WHAT CHANGED"}, rows);
    }
    return text + describe_fault(report.tenant_id, report.fault) +
           print_safe(report.tenant_id.text()) + ": " + (report.ok() ? "OK, " : "") +
           count_text(report.decisions, "decision") + " replayed with " +
           std::string(kSelectorVersion) + ", " + std::to_string(report.changed) + " changed, " +
           std::to_string(report.not_replayable) + " not replayable.\n";
}

std::string describe(const std::deque<RecordedRound>& rounds) {
    std::vector<std::vector<std::string>> rows;
    for (const RecordedRound& round : rounds) {
        rows.push_back(
            {to_text(round.at),
             round.concern_id,
             regime_of(round),
             action_of(round),
             text_at(round.decision, "confidence"),
             round.dispatch,
             round.blocked.is_null() ? "yes" : text_at(round.blocked, "code"),
             text_at(round.decision, "reason")});
    }
    return rows.empty() ? "No decisions of the supervisor.\n"
                        : render_table(
                              {"AT",
                               "CONCERN",
                               "MARKET",
                               "DECISION",
                               "SURE",
                               "DISPATCH",
                               "TRADES",
                               "REASON"},
                              rows);
}

// One tenant's ledger with the line that shows how far it was read.
Result<SupervisorLedger> ledger_of(
    LedgerStore& store, const TenantId& tenant_id, const Options& options, ProgressLine& progress) {
    SupervisorLedger ledger{.store = store, .tenant_id = tenant_id};
    if (!options.since.empty()) {
        TRY_ASSIGN(ledger.since, parse_timestamp(options.since));
    }
    ledger.on_progress = [&progress, tenant_id](std::int64_t seq, std::int64_t decisions) {
        progress.show(
            "reading " + tenant_id.text() + ", record " + std::to_string(seq) + ", " +
            count_text(decisions, "decision"));
    };
    return ledger;
}

// Whose decisions are asked for; an empty answer is told, not shown as silence.
Result<std::vector<TenantId>> tenants_of(
    const GlobalOptions& global, LedgerStore& store, const Options& options) {
    TRY_ASSIGN(std::vector<TenantId> tenants, choose_chains(store, options.tenant));
    if (tenants.empty() && !global.json) {
        std::cout << "There are no tenants yet; see `interlock tenant create`.\n";
    }
    return tenants;
}

Result<bool> replay(const GlobalOptions& global, const Options& options, LedgerStore& store) {
    TRY_ASSIGN(const std::vector<TenantId> tenants, tenants_of(global, store, options));
    bool ok = true;
    for (const TenantId& tenant_id : tenants) {
        ProgressLine progress(global.json);
        TRY_ASSIGN(const SupervisorLedger ledger, ledger_of(store, tenant_id, options, progress));
        auto report = replay_supervisor(ledger, options.only_changed);
        progress.clear();
        TRY(report);
        ok = ok && report->ok();
        if (global.json) {
            print_json(encode(*report));
        } else {
            std::cout << describe(*report) << std::flush;
        }
    }
    return ok;
}

// The last ones of a tenant, or the last one of each of its concerns.
Result<std::deque<RecordedRound>> last_rounds(
    const SupervisorLedger& ledger, const Options& options, bool per_concern) {
    std::deque<RecordedRound> last;
    std::map<std::string, RecordedRound> by_concern;
    TRY_ASSIGN(const auto fault, walk_rounds(ledger, [&](RecordedRound round) -> Result<void> {
                   if (options.only_actions && round.dispatch == "none") {
                       return {};
                   }
                   if (per_concern) {
                       by_concern.insert_or_assign(round.concern_id, std::move(round));
                       return {};
                   }
                   last.push_back(std::move(round));
                   if (std::ssize(last) > options.limit) {
                       last.pop_front();
                   }
                   return {};
               }));
    if (fault) {
        return fail(errors::corrupt_data, describe_fault(ledger.tenant_id, fault));
    }
    for (auto& [concern, round] : by_concern) {
        last.push_back(std::move(round));
    }
    return last;
}

Result<bool> show(
    const GlobalOptions& global, const Options& options, LedgerStore& store, bool per_concern) {
    TRY_ASSIGN(const std::vector<TenantId> tenants, tenants_of(global, store, options));
    for (const TenantId& tenant_id : tenants) {
        ProgressLine progress(global.json);
        TRY_ASSIGN(const SupervisorLedger ledger, ledger_of(store, tenant_id, options, progress));
        auto rounds = last_rounds(ledger, options, per_concern);
        progress.clear();
        TRY(rounds);
        if (!global.json) {
            std::cout << print_safe(tenant_id.text()) << ":\n" << describe(*rounds) << std::flush;
            continue;
        }
        Json list = Json::array();
        for (const RecordedRound& round : *rounds) {
            list.push(encode(round));
        }
        print_json(Json::object({{"tenant_id", tenant_id.text()}, {"decisions", std::move(list)}}));
    }
    return true;
}

using Run = std::function<Result<bool>(const GlobalOptions&, const Options&, LedgerStore&)>;

struct Spec {
    std::string name;
    std::string help;
    Run run;
};

CLI::App* add(
    CLI::App* parent, CommandLine& line, const std::shared_ptr<Options>& options, Spec spec) {
    CLI::App* command = parent->add_subcommand(spec.name, spec.help);
    command
        ->add_option("--tenant", options->tenant, "Whose decisions; every tenant's when left out.")
        ->type_name("TENANT");
    command->add_option("--since", options->since, "Decisions from this time on (RFC 3339).")
        ->type_name("TIME");
    command->callback([&line, options, run = std::move(spec.run)] {
        line.run = [&line, options, run] {
            return run_on_ledger(
                line.global, [&](LedgerStore& store) { return run(line.global, *options, store); });
        };
    });
    return command;
}

}  // namespace

void add_supervisor_command(CommandLine& line) {
    CLI::App* parent = line.app.add_subcommand(
        "supervisor", "What the built-in supervisor decided; works with or without a server.");
    parent->require_subcommand(1);
    const auto options = std::make_shared<Options>();
    add(parent,
        line,
        options,
        {"status",
         "The latest decision of each concern.",
         [](const GlobalOptions& global, const Options& chosen, LedgerStore& store) {
             return show(global, chosen, store, true);
         }});
    CLI::App* decisions =
        add(parent,
            line,
            options,
            {"decisions",
             "The latest decisions, oldest first.",
             [](const GlobalOptions& global, const Options& chosen, LedgerStore& store) {
                 return show(global, chosen, store, false);
             }});
    decisions->add_option("--limit", options->limit, "At most this many of each tenant.")
        ->check(CLI::Range(std::int64_t{1}, kShownMax))
        ->type_name("COUNT");
    decisions->add_flag("--actions", options->only_actions, "Leave out those that keep.");
    CLI::App* again =
        add(parent,
            line,
            options,
            {"replay", "Decide stored decisions again with the selector of this version.", replay});
    again->add_flag(
        "--only-changed", options->only_changed, "Leave out those that came out the same.");
}

}  // namespace interlock
