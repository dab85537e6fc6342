#include "app/command/replay_command.h"

#include <algorithm>
#include <iostream>

#include "app/command/audit_view.h"
#include "app/command/console.h"
#include "app/wiring/ledger_run.h"
#include "app/wiring/server_client.h"
#include "base/errors.h"
#include "trader/service/replay_service.h"

namespace interlock {
namespace {

struct Options {
    std::string decision;
    std::string tenant;
    std::string since;
    std::int64_t from_seq = 0;  // 0: not given.
    bool all = false;
};

// A decision's own tenant, or everyone's decisions.
Result<std::vector<TenantId>> chosen_tenants(LedgerStore& store, const Options& options) {
    if (options.decision.empty()) {
        return choose_chains(store, options.tenant);
    }
    TRY_ASSIGN(const TenantId tenant_id, choose_chain(store, options.tenant));
    return std::vector{tenant_id};
}

std::string where_of(const ReplayVerdict& verdict) {
    return verdict.seq == 0 ? "stored decision" : verdict.event + " " + std::to_string(verdict.seq);
}

std::string describe(const ReplayReport& report) {
    std::string text;
    if (!report.findings.empty()) {
        std::vector<std::vector<std::string>> rows;
        for (const ReplayVerdict& verdict : report.findings) {
            rows.push_back(
                {verdict.decision_id.text(),
                 std::string(to_word(verdict.outcome)),
                 where_of(verdict),
                 verdict.detail});
        }
        text += render_table({"DECISION", "OUTCOME", "WHERE", "FOUND"}, rows);
    }
    for (const ReplayReport::BadFold& bad : report.bad_folds) {
        text += "Record " + std::to_string(bad.seq) +
                " folds what it cannot: " + print_safe(bad.problem) + ".\n";
    }
    if (report.folds > 0) {
        text += count_text(report.folded, "equal repeat") + " in " +
                count_text(report.folds, "folded record") +
                ": counted, not kept one by one, so not replayed; their digests " +
                (report.bad_folds.empty() ? "hold" : "do not all hold") + ".\n";
    }
    return text + describe_fault(report.tenant_id, report.fault) +
           print_safe(report.tenant_id.text()) + ": " + (report.ok() ? "OK, " : "") +
           count_text(report.decisions, "decision") + " and " + count_text(report.steps, "step") +
           " replayed, " + std::to_string(report.differing) + " differing, " +
           std::to_string(report.not_replayable) + " not replayable" +
           (report.other_policy > 0
                ? ", " + std::to_string(report.other_policy) + " of another policy"
                : "") +
           ". Go on with --from " + std::to_string(report.next_from) + ".\n";
}

// What is wrong with the choice itself; nothing when it can be run.
std::optional<std::string> why_not(const Options& options) {
    const int choices = (options.decision.empty() ? 0 : 1) + (options.since.empty() ? 0 : 1) +
                        (options.all ? 1 : 0) + (options.from_seq > 0 ? 1 : 0);
    if (choices != 1) {
        return "Name one decision, or give one of --all, --since TIME and --from RECORD.";
    }
    if (options.from_seq > 0 && options.tenant.empty()) {
        return "Records are counted by tenant: --from needs --tenant.";
    }
    return std::nullopt;
}

Result<bool> replay(const GlobalOptions& global, const Options& options, LedgerStore& store) {
    ReplayCheck check{.store = store, .tenant_id = {}};
    if (!options.decision.empty()) {
        TRY_ASSIGN(check.decision_id, DecisionId::parse(options.decision));
    }
    if (!options.since.empty()) {
        TRY_ASSIGN(check.since, parse_timestamp(options.since));
    }
    check.from_seq = std::max<std::int64_t>(1, options.from_seq);
    TRY_ASSIGN(const std::vector<TenantId> tenants, chosen_tenants(store, options));
    bool ok = true;
    for (const TenantId& tenant_id : tenants) {
        ProgressLine progress(global.json);
        check.tenant_id = tenant_id;
        check.on_progress = [&](std::int64_t seq, std::int64_t decisions) {
            progress.show(
                "replaying " + tenant_id.text() + ", record " + std::to_string(seq) + ", " +
                count_text(decisions, "decision"));
        };
        auto report = replay_ledger(check);
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

ExitCode run_replay(const GlobalOptions& global, const Options& options) {
    if (const auto why = why_not(options)) {
        return report_usage(global, *why, "Run `interlock replay --help`.");
    }
    return run_on_ledger(
        global, [&](LedgerStore& store) { return replay(global, options, store); });
}

}  // namespace

void add_replay_command(CommandLine& line) {
    CLI::App* command = line.app.add_subcommand(
        "replay", "Re-run recorded decisions and compare; works with or without a server.");
    const auto options = std::make_shared<Options>();
    command->add_option("decision", options->decision, "Only this decision.")
        ->type_name("DECISION_ID");
    command
        ->add_option("--tenant", options->tenant, "Whose decisions; every tenant's when left out.")
        ->type_name("TENANT");
    command->add_flag("--all", options->all, "Every decision.");
    command
        ->add_option("--since", options->since, "Decisions planned from this time on (RFC 3339).")
        ->type_name("TIME");
    command
        ->add_option(
            "--from", options->from_seq, "Go on from this record, as an earlier replay named it.")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 53))
        ->type_name("RECORD");
    command->callback([&line, options] {
        line.run = [&line, options] { return run_replay(line.global, *options); };
    });
}

}  // namespace interlock
