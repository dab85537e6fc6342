// The checks of `interlock doctor` that concern trading: limits that can say no, and the venue.
#include "app/command/approval_call.h"
#include "app/command/console.h"
#include "app/command/doctor_checks.h"
#include "app/command/kill_call.h"
#include "app/wiring/server_client.h"
#include "loop/rules/gates/limit_proof.h"
#include "market/rules/synthetic_market.h"
#include "venues/paper/paper_venue.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kLoopPatience{2'000};
constexpr std::size_t kApprovalsNamedMax = 5;
constexpr std::int64_t kSkewMax = 1000;  // Milliseconds; beyond it execution counts as degraded.

// The limits a new account gets, as the server makes them.
Result<RiskLimits> configured_limits(const Config& config) {
    TRY_ASSIGN(RiskLimits limits, default_limits(config.paper_deposit));
    Json wanted = Json::object();
    for (const auto& [name, value] : config.limits) {
        wanted.set(name, value);
    }
    TRY_ASSIGN(const std::vector<LimitChange> changes, decode_limit_changes(wanted));
    for (const LimitChange& change : changes) {
        limits.*change.spec->member = change.value;
    }
    return limits;
}

void add_name(std::string& names, std::string_view name) {
    names += (names.empty() ? "" : ", ") + std::string(name);
}

// Strategies that are held up while the rest of their tenant trades.
Result<void> find_held(
    ServerClient& server, const TenantId& tenant_id, std::vector<DoctorFinding>& findings) {
    TRY_ASSIGN(const std::vector<HeldStrategies> all, held_strategies(server, tenant_id));
    for (const HeldStrategies& held : all) {
        findings.push_back({"trading", Health::warning, describe(tenant_id, held), held.next});
    }
    return {};
}

// What blocks nothing and makes orders smaller.
void add_smaller(
    const TenantId& tenant_id, const Json& status, std::vector<DoctorFinding>& findings) {
    const Json* const warnings = status.find("warnings");
    const Json::Array none;
    const bool is_list = warnings != nullptr && warnings->is_array();
    for (const Json& one : is_list ? warnings->items() : none) {
        findings.push_back(
            {"trading",
             Health::note,
             tenant_id.text() + " trades with less. " +
                 (one.is_string() ? one.as_string() : std::string()),
             "It is judged anew every 20 seconds and ends by itself; see the log and the "
             "exchange."});
    }
}

}  // namespace

std::vector<DoctorFinding> check_trading(const std::string& data_folder) {
    ServerClient server(data_folder, kLoopPatience);
    const auto statuses = kill_statuses(server, {});
    if (!statuses) {
        return {};  // check_server() has said why.
    }
    std::vector<DoctorFinding> blocked;
    std::vector<DoctorFinding> smaller;
    for (const auto& [tenant_id, status] : *statuses) {
        const Json* const why = status.find("blocked");
        if (why == nullptr || why->is_null()) {
            add_smaller(tenant_id, status, smaller);
            if (tenant_id != system_tenant() && !find_held(server, tenant_id, blocked)) {
                break;  // The server went away meanwhile.
            }
            continue;
        }
        blocked.push_back(
            {"trading",
             Health::warning,
             tenant_id.text() + " does not trade. " + text_at(*why, "reason"),
             text_at(*why, "next")});
        if (tenant_id == system_tenant()) {
            return blocked;  // The same is true of everybody.
        }
    }
    if (blocked.empty()) {
        const auto tenants = static_cast<std::int64_t>(statuses->size()) - 1;
        blocked = {{"trading", Health::good, count_text(tenants, "tenant") + " may trade", {}}};
    }
    blocked.insert(blocked.end(), smaller.begin(), smaller.end());
    return blocked;
}

std::vector<DoctorFinding> check_approvals(const std::string& data_folder) {
    ServerClient server(data_folder, kLoopPatience);
    const auto pending = list_approvals(server, {.tenant = {}, .state = "pending"});
    if (!pending || pending->empty()) {
        return {};  // check_server() says what keeps the server from answering.
    }
    std::string names;
    for (std::size_t i = 0; i < std::min(pending->size(), kApprovalsNamedMax); ++i) {
        add_name(
            names,
            text_at((*pending)[i], "approval_id") + " (" + text_at((*pending)[i], "tenant_id") +
                ": " + text_at((*pending)[i], "summary") + ")");
    }
    return {
        {"approvals",
         Health::note,
         count_text(static_cast<std::int64_t>(pending->size()), "request") +
             " waiting for a human: " + names + (pending->size() > kApprovalsNamedMax ? ", …" : ""),
         "See `interlock approvals list --state pending`; a human approves or rejects each."}};
}

DoctorFinding check_limits(const Config& config, std::span<const MarketRules> markets) {
    const auto limits = configured_limits(config);
    if (!limits) {
        return {
            "limits",
            Health::bad,
            limits.error().message,
            "Correct the limits; `interlock config show` lists their names."};
    }
    std::string failed;
    std::string off;
    std::string idle;
    std::int64_t proven = 0;
    for (const LimitProof& proof : prove_limits(*limits, markets)) {
        if (!proof.can_reject) {
            add_name(failed, proof.name);
        } else if (proof.is_idle) {
            add_name(idle, proof.name);
        } else if (proof.is_off) {
            add_name(off, proof.name);
        } else {
            ++proven;
        }
    }
    if (!failed.empty()) {
        return {
            "limits",
            Health::bad,
            "nothing would be rejected by " + failed,
            "Set these limits inside their ranges before trading."};
    }
    std::string text = count_text(proven, "limit") + ", each shown to reject";
    if (!off.empty()) {
        text += "; switched off: " + off;
    }
    if (!idle.empty()) {
        return {
            "limits",
            Health::note,
            text +
                "; cannot reject in this configuration, since no market here states what they "
                "are about: " +
                idle,
            "Do not rely on these limits with this venue."};
    }
    return {"limits", Health::good, std::move(text), {}};
}

DoctorFinding check_paper_venue(const Config& config, Clock& clock) {
    SyntheticOptions market;
    market.seed = static_cast<std::uint64_t>(config.paper_seed);
    const auto venue =
        PaperVenue::open(std::make_unique<SyntheticMarket>(market), clock, {.sync = false});
    if (!venue) {
        return {"paper venue", Health::bad, venue.error().message, "Report this."};
    }
    const auto skew = (*venue)->clock_skew_ms();
    const std::vector<Symbol> symbols = (*venue)->symbols();
    if (!skew || symbols.empty()) {
        return {"paper venue", Health::bad, "it does not answer", "Report this."};
    }
    const std::string text = count_text(static_cast<std::int64_t>(symbols.size()), "market") +
                             ", clock skew " + std::to_string(*skew) + " ms";
    if (*skew > kSkewMax || *skew < -kSkewMax) {
        return {"paper venue", Health::bad, text, "Set the clock of this machine."};
    }
    return {"paper venue", Health::good, text, {}};
}

}  // namespace interlock
