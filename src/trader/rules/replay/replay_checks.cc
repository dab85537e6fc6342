#include "trader/rules/replay/replay_checks.h"

#include "base/canonical_json.h"
#include "base/crypto.h"
#include "trader/rules/replay/replay_inputs.h"

namespace interlock {

std::unexpected<Error> differs(std::string sentence) {
    return fail(errors::replay_differs, std::move(sentence));
}

std::unexpected<Error> differs(
    std::string_view what, const std::string& recorded, const std::string& replayed) {
    return differs(
        std::string(what) + ": recorded " + (recorded.empty() ? "nothing" : recorded) +
        ", replayed " + (replayed.empty() ? "nothing" : replayed));
}

Result<void> require_equal(
    std::string_view what, const std::string& recorded, const std::string& replayed) {
    if (recorded != replayed) {
        return differs(what, recorded, replayed);
    }
    return {};
}

Result<void> require_count(const AuditRecord& record, std::size_t artifacts) {
    if (record.draft.artifacts.size() != artifacts) {
        return fail(errors::not_replayable, "The record does not name its inputs.");
    }
    return {};
}

std::string told_text(const Json& detail, std::string_view key) {
    const Json* value = detail.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

std::string status_word(AuditStatus status) {
    return std::string(to_word(status));
}

std::string hash_or_nothing(const Json& json) {
    if (json.is_null()) {
        return "";
    }
    const auto text = canonical_json(json);
    return text ? sha256_hex(*text) : "no canonical form";
}

}  // namespace interlock
