#include "engine/wire/principal.h"

#include <array>

#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 4> kKinds{"operator", "human", "agent", "internal"};
constexpr std::array<std::string_view, 5> kScopes{"planner", "supervisor", "bot", "read", "probe"};

}  // namespace

std::string_view to_word(PrincipalKind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

std::string_view to_word(Scope scope) {
    return kScopes[static_cast<std::size_t>(scope)];
}

Result<Scope> parse_scope(std::string_view word) {
    for (std::size_t i = 0; i < kScopes.size(); ++i) {
        if (kScopes[i] == word) {
            return static_cast<Scope>(i);
        }
    }
    return fail(
        errors::invalid_request,
        "\"" + std::string(word) +
            "\" is no scope; expected planner, supervisor, bot, read or probe");
}

const std::vector<Scope>& all_scopes() {
    static const std::vector<Scope> kAll{
        Scope::planner, Scope::supervisor, Scope::bot, Scope::read, Scope::probe};
    return kAll;
}

std::string to_text(const Principal& principal) {
    return std::string(to_word(principal.kind)) + ":" + principal.id;
}

AuditActor actor_of(const Principal& principal) {
    switch (principal.kind) {
        case PrincipalKind::agent:
            return AuditActor::codex;
        case PrincipalKind::human:
            return AuditActor::human;
        case PrincipalKind::host_operator:
        case PrincipalKind::internal:
            break;
    }
    return AuditActor::python;
}

Principal internal_principal(std::string rule) {
    Principal principal;
    principal.kind = PrincipalKind::internal;
    principal.id = std::move(rule);
    return principal;
}

}  // namespace interlock
