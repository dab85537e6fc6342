#include "host/wire/blocked.h"

#include "base/check.h"

namespace interlock {

std::string because(std::string sentence, const std::string& cause) {
    return cause.empty() ? sentence + "." : sentence + ": " + cause;
}

Json encode(const std::optional<Blocked>& blocked) {
    if (!blocked) {
        return Json();
    }
    return Json::object(
        {{"code", blocked->code}, {"reason", blocked->reason}, {"next", blocked->next}});
}

Json blocked_schema() {
    auto parsed = parse_json(R"({
        "type": ["object", "null"],
        "description": "Why nothing trades; null while it does.",
        "required": ["code", "reason", "next"],
        "properties": {
            "code": {"enum": ["store_failed", "chain_broken", "stopped_for_all", "stopped",
                              "disabled_for_all", "disabled", "account_disabled", "recovering",
                              "recovery_escalated", "risk_stop", "stalled", "informational",
                              "paused", "halted", "throttled", "below_minimum"]},
            "reason": {"type": "string"},
            "next": {"type": "string"}
        }})");
    CHECK(parsed.has_value());
    return *std::move(parsed);
}

}  // namespace interlock
