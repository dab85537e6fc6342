#include "sim/command.h"

#include <array>

#include "loop/wire/loop_tools.h"
#include "sim/seeded.h"

namespace interlock::sim {

std::string_view to_word(Command::Kind kind) {
    constexpr std::array<std::string_view, 12> kWords{
        "probe",
        "kill_on",
        "kill_off",
        "kill_status",
        "list_approvals",
        "get_approval",
        "approve",
        "reject",
        "tool",
        "control",
        "helper",
        "bot"};
    return kWords[static_cast<std::size_t>(kind)];
}

namespace {

// The tools whose answers are kept for days, and whether a body means anything to them.
bool is_kept(const Command& command) {
    if (command.tool == "py_validate_plan") {
        return decode_validate_plan_request(command.body).has_value();
    }
    if (command.tool == "py_dry_run_plan") {
        return decode_dry_run_plan_request(command.body).has_value();
    }
    if (command.tool == "py_execute_plan") {
        return decode_execute_plan_request(command.body).has_value();
    }
    return command.tool == "py_record_decision" &&
           decode_record_decision_request(command.body).has_value();
}

std::optional<AnswerKey> tool_key_of(const Command& command) {
    const Json* key = command.body.find("idempotency_key");
    if (key == nullptr || !key->is_string() || !is_kept(command)) {
        return std::nullopt;
    }
    return AnswerKey{command.tenant_id, command.tool, IdempotencyKey::trusted(key->as_string())};
}

// Helpers keep their answer under their key. control_strategy hands some actions on, key and all.
std::optional<AnswerKey> helper_key_of(const Command& command) {
    const Json* key = command.body.find("idempotency_key");
    if (key == nullptr || !key->is_string()) {
        return std::nullopt;
    }
    const Json* named = command.body.find("action");
    const std::string action =
        named != nullptr && named->is_string() ? named->as_string() : std::string();
    std::string function = command.tool;
    if (action == "pause" || action == "resume") {
        function = action + "_strategy";
    } else if (action == "reconcile") {
        function = "reconcile_instance";
    }
    return AnswerKey{
        command.tenant_id, std::move(function), IdempotencyKey::trusted(key->as_string())};
}

}  // namespace

std::optional<AnswerKey> answer_key_of(const Command& command) {
    switch (command.kind) {
        case Command::Kind::probe:
            return AnswerKey{command.tenant_id, "submit_probe", command.probe.idempotency_key};
        case Command::Kind::kill_on:
        case Command::Kind::kill_off:
            if (command.kill.idempotency_key) {
                const bool py = command.form == KillSwitchService::Form::py_tool;
                return AnswerKey{
                    command.tenant_id,
                    py ? "py_set_kill_switch" : "set_kill_switch",
                    *command.kill.idempotency_key};
            }
            break;
        case Command::Kind::tool:
            return tool_key_of(command);
        case Command::Kind::helper:
            return helper_key_of(command);
        default:
            break;
    }
    return std::nullopt;
}

std::string to_text(const Command& command) {
    std::string text(to_word(command.kind));
    text += " " + command.tenant_id.text() + " by " + to_text(command.principal);
    if (const auto key = answer_key_of(command)) {
        text += " key " + key->key.text();
    }
    switch (command.kind) {
        case Command::Kind::probe:
            text += command.probe.effect ? (command.probe.wait ? " effect wait" : " effect") : "";
            text += " \"" + command.probe.note + "\"";
            break;
        case Command::Kind::kill_on:
        case Command::Kind::kill_off:
            text += " \"" + command.kill.reason + "\"";
            break;
        case Command::Kind::get_approval:
        case Command::Kind::approve:
        case Command::Kind::reject:
            text += " " + command.approval_id.text();
            break;
        case Command::Kind::tool:
        case Command::Kind::control:
        case Command::Kind::helper:
        case Command::Kind::bot:
            text += " " + command.tool + (command.strategy_id.empty() ? "" : " ") +
                    command.strategy_id + " " + interlock::to_text(command.body);
            break;
        default:
            break;
    }
    return text;
}

const TenantId* People::home_of(std::string_view principal_text) const {
    for (const auto* side : {&agents, &humans}) {
        for (const auto& [tenant_id, members] : *side) {
            for (const Principal& member : members) {
                if (to_text(member) == principal_text) {
                    return &tenant_id;
                }
            }
        }
    }
    return nullptr;
}

People make_people(std::uint64_t seed, std::uint64_t humans_min) {
    SeededRandom random(seed);
    People people;
    // '-' never occurs in a generated id, so these words cannot turn up by accident.
    people.tenants = {
        TenantId::trusted("t-ash"), TenantId::trusted("t-birch"), TenantId::trusted("t-cedar")};
    people.tenants.resize(2 + random.below(2));
    const auto member = [](PrincipalKind kind, const std::string& id, const TenantId& home) {
        Principal principal;
        principal.kind = kind;
        principal.id = id;
        principal.tenants = {home};
        principal.authenticated_at = SimClock::kStart;
        return principal;
    };
    for (const TenantId& tenant_id : people.tenants) {
        const std::uint64_t agents = 1 + random.below(2);
        for (std::uint64_t i = 0; i < agents; ++i) {
            Principal agent = member(
                PrincipalKind::agent, "key-" + tenant_id.text() + std::to_string(i), tenant_id);
            agent.scopes = {all_scopes().begin(), all_scopes().end()};
            people.agents[tenant_id].push_back(std::move(agent));
        }
        const std::uint64_t humans = humans_min + random.below(3);
        for (std::uint64_t i = 0; i < humans; ++i) {
            people.humans[tenant_id].push_back(member(
                PrincipalKind::human, "hum-" + tenant_id.text() + std::to_string(i), tenant_id));
        }
    }
    const std::uint64_t host_humans = humans_min + random.below(3);
    for (std::uint64_t i = 0; i < host_humans; ++i) {
        people.humans[system_tenant()].push_back(
            member(PrincipalKind::human, "hum-host" + std::to_string(i), system_tenant()));
    }
    people.host_operator.kind = PrincipalKind::host_operator;
    people.host_operator.id = "local";
    return people;
}

}  // namespace interlock::sim
