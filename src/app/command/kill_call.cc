#include "app/command/kill_call.h"

#include <algorithm>
#include <cstdlib>

#include "app/command/console.h"
#include "app/wiring/config.h"
#include "app/wiring/data_path.h"
#include "base/errors.h"
#include "base/text.h"
#include "engine/system/file_kill_flag.h"

namespace interlock {
namespace {

constexpr std::string_view kNoReason = "stopped from the command line";

constexpr std::size_t kReasonBytesMax = 500;  // What the server takes; a stop must not fail on it.

// At most `bytes_max` bytes, ending between two characters.
std::string cut(std::string_view text, std::size_t bytes_max) {
    std::size_t size = std::min(text.size(), bytes_max);
    while (size > 0 && size < text.size() &&
           (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) {
        --size;
    }
    return std::string(text.substr(0, size));
}

bool is_true(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    return value != nullptr && value->is_bool() && value->as_bool();
}

std::string problem_of(const Result<ServerAnswer>& answer) {
    if (!answer) {
        return answer.error().message;
    }
    return "The server answered " + std::to_string(answer->status) + " " + answer->error_code() +
           ".";
}

void stop_by_file(const StopCall& call, const std::string& reason, StopOutcome& outcome) {
    const auto raised = FileKillFlag(call.data_folder).raise(reason);
    outcome.by_file = raised.has_value();
    outcome.stopped = raised.has_value();
    outcome.reason = reason;
    if (!raised) {
        outcome.problem += " The file could not be written either: " + raised.error().message + ".";
        outcome.exit_code = ExitCode::environment;
    }
}

}  // namespace

std::string kill_path(const TenantId& tenant_id) {
    return "/api/" + percent_encode(tenant_id.text()) + "/kill";
}

StopOutcome stop(const StopCall& call) {
    const KillChoice& choice = call.choice;
    const std::string reason =
        choice.reason.empty() ? std::string(kNoReason) : cut(choice.reason, kReasonBytesMax);
    const TenantId place =
        choice.means_everything() ? system_tenant() : TenantId::trusted(choice.tenant);
    StopOutcome outcome;
    outcome.where = place.text();
    outcome.data_folder = call.data_folder;
    ServerClient server(call.data_folder, call.wait);
    const auto answer =
        server.post(kill_path(place), Json::object({{"active", true}, {"reason", reason}}));
    if (answer && answer->ok() && is_true(answer->body, "active")) {
        outcome.stopped = true;
        outcome.audit_ref = text_at(answer->body, "audit_ref");
        outcome.reason = text_at(answer->body, "reason");
        return outcome;
    }
    outcome.problem = problem_of(answer);
    if (choice.means_everything()) {
        stop_by_file(call, reason, outcome);
    } else {
        outcome.exit_code = answer ? ExitCode::refused : ExitCode::unreachable;
    }
    return outcome;
}

std::string describe(const StopOutcome& outcome) {
    const bool everything = outcome.where == system_tenant().text();
    const std::string what = everything ? "everything on this host" : "tenant " + outcome.where;
    if (!outcome.stopped) {
        return "NOT STOPPED: " + print_safe(what) + ". " + print_safe(outcome.problem) + "\n" +
               (everything ? "  Check the data folder " + print_safe(outcome.data_folder) +
                                 ", or end the server process.\n"
                           : "  Run `interlock kill on --global`: it works without the server.\n");
    }
    std::vector<std::pair<std::string, std::string>> fields{{"reason", outcome.reason}};
    if (outcome.by_file) {
        fields.emplace_back("by file", outcome.data_folder + "/KILL");
        fields.emplace_back("server", outcome.problem);
        fields.emplace_back("release", "remove the file, then interlock kill off --global");
    } else {
        fields.emplace_back("record", outcome.where + " " + outcome.audit_ref);
        fields.emplace_back(
            "release",
            everything ? "interlock kill off --global"
                       : "interlock kill off --tenant " + outcome.where);
    }
    return "STOPPED: " + print_safe(what) + ".\n" + render_fields(fields);
}

Json encode(const StopOutcome& outcome) {
    return Json::object({
        {"stopped", outcome.stopped},
        {"tenant_id", outcome.where},
        {"by_file", outcome.by_file},
        {"reason", outcome.reason},
        {"audit_ref", outcome.audit_ref.empty() ? Json() : Json(outcome.audit_ref)},
        {"problem", outcome.problem.empty() ? Json() : Json(outcome.problem)},
        {"data_folder", outcome.data_folder},
    });
}

std::expected<std::string, ExitCode> kill_folder(const GlobalOptions& global) {
    const auto loaded = load_config(global);
    if (loaded) {
        return loaded->config.data_folder;
    }
    // Stopping the wrong folder and saying "stopped" would be worse than saying no: only when the
    // broken file cannot be what names the folder do we go on without it.
    const bool named_elsewhere = !global.data.empty() || std::getenv("INTERLOCK_DATA") != nullptr;
    const ExitCode code = report(global, loaded.error());
    if (!named_elsewhere) {
        return std::unexpected(code);
    }
    return data_folder_of(global);
}

std::expected<TenantId, ExitCode> place_to_release(
    const GlobalOptions& global, ServerClient& server, const KillChoice& choice) {
    if (choice.global) {
        return system_tenant();
    }
    if (!choice.tenant.empty()) {
        return TenantId::trusted(choice.tenant);
    }
    const auto statuses = kill_statuses(server, choice);
    if (!statuses) {
        return std::unexpected(report_failure(global, statuses.error()));
    }
    std::vector<TenantId> stopped;
    for (const auto& [tenant_id, status] : *statuses) {
        if (tenant_id == system_tenant() && is_true(status, "global_active")) {
            return system_tenant();
        }
        if (is_true(status, "tenant_active")) {
            stopped.push_back(tenant_id);
        }
    }
    if (stopped.size() <= 1) {
        return stopped.empty() ? TenantId() : stopped.front();
    }
    std::string names;
    for (const TenantId& tenant_id : stopped) {
        names += (names.empty() ? "" : ", ") + tenant_id.text();
    }
    return std::unexpected(report_usage(
        global, "Several tenants are stopped: " + names + ".", "Name one with --tenant."));
}

Result<KillStatuses> kill_statuses(ServerClient& server, const KillChoice& choice) {
    std::vector<TenantId> places;
    if (!choice.tenant.empty()) {
        places.push_back(TenantId::trusted(choice.tenant));
    } else {
        places.push_back(system_tenant());
    }
    if (choice.tenant.empty() && !choice.global) {
        TRY_ASSIGN(const std::vector<TenantId> tenants, list_tenants(server));
        places.insert(places.end(), tenants.begin(), tenants.end());
    }
    KillStatuses statuses;
    for (const TenantId& place : places) {
        TRY_ASSIGN(ServerAnswer answer, server.get(kill_path(place)));
        if (!answer.ok()) {
            return fail(
                errors::not_found,
                "The server does not tell the state of " + place.text() + ": " +
                    answer.error_code() + ".",
                "See `interlock tenant list` for the tenants there are.");
        }
        statuses.emplace_back(place, std::move(answer.body));
    }
    return statuses;
}

std::string blocked_code(const Json& status) {
    const Json* const blocked = status.find("blocked");
    return blocked == nullptr || blocked->is_null() ? "" : text_at(*blocked, "code");
}

Result<std::vector<HeldStrategies>> held_strategies(
    ServerClient& server, const TenantId& tenant_id) {
    TRY_ASSIGN(
        const ServerAnswer answer,
        server.get("/api/" + percent_encode(tenant_id.text()) + "/instances"));
    const Json* const list = answer.body.find("strategies");
    const Json::Array none;
    std::vector<HeldStrategies> held;
    for (const Json& one : list == nullptr ? none : list->items()) {
        const Json* const why = one.find("blocked");
        if (why == nullptr || why->is_null()) {
            continue;
        }
        const std::string reason = text_at(*why, "reason");
        auto same = std::ranges::find(held, reason, &HeldStrategies::reason);
        if (same == held.end()) {
            held.push_back({.ids = {}, .reason = reason, .next = text_at(*why, "next")});
            same = held.end() - 1;
        }
        same->ids.push_back(text_at(one, "strategy_id"));
    }
    return held;
}

std::string describe(const TenantId& tenant_id, const HeldStrategies& held) {
    std::string names;
    for (const std::string& id : held.ids) {
        names += (names.empty() ? "" : ", ") + id;
    }
    return tenant_id.text() +
           (held.ids.size() == 1 ? "'s strategy " + names + " does not trade. "
                                 : "'s strategies " + names + " do not trade. ") +
           held.reason;
}

std::string describe_statuses(const KillStatuses& statuses) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [tenant_id, status] : statuses) {
        const bool global = tenant_id == system_tenant();
        const bool own = is_true(status, global ? "global_active" : "tenant_active");
        const bool active = is_true(status, "active");
        const Json* const why = status.find("blocked");
        const bool blocked = why != nullptr && !why->is_null();
        rows.push_back(
            {global ? "(global)" : tenant_id.text(),
             own ? "STOPPED"
                 : (active ? "stopped globally" : (blocked ? "not trading" : "trading")),
             active ? text_at(status, "since") : "-",
             active ? text_at(status, "by") : "-",
             own ? text_at(status, "release_approval_id") : "-",
             blocked ? text_at(*why, "reason") + (active ? "" : " " + text_at(*why, "next"))
                     : sentences_at(status, "warnings")});
    }
    return render_table({"TENANT", "STATE", "SINCE", "BY", "RELEASE", "REASON"}, rows);
}

}  // namespace interlock
