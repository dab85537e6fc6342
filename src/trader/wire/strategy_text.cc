#include "trader/wire/strategy_text.h"

#include <array>
#include <charconv>

#include "base/check.h"
#include "codec/canonical_writer.h"

namespace interlock {
namespace {

constexpr std::size_t kRowBytesExpected = 800;

// A row's number comes back as it was, however large; a canonical one might not have a form.
void append_number(CanonicalWriter& out, std::string_view key, std::int64_t value) {
    std::array<char, 24> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    out.raw(key, {buffer.data(), end.ptr});
}

void append_time(CanonicalWriter& out, std::string_view key, const std::optional<Timestamp>& at) {
    if (at) {
        append_number(out, key, at->microseconds);
    } else {
        out.raw(key, "null");
    }
}

void append_id(CanonicalWriter& out, std::string_view key, const std::optional<StrategyId>& id) {
    if (id) {
        out.text(key, id->text());
    } else {
        out.raw(key, "null");
    }
}

void append_account(CanonicalWriter& out, const VenueAccount& account) {
    out.key("account");
    out.open_object();
    out.text("tenant_id", account.tenant_id.text());
    out.text("account_id", account.account_id.text());
    out.text("mode", to_word(account.mode));
    out.close_object();
}

void append_policy(CanonicalWriter& out, const StrategyPolicy& policy) {
    out.key("policy");
    out.open_object();
    out.text("risk_posture", policy.risk_posture);
    append_number(out, "priority", policy.priority);
    out.raw("metadata", to_text(policy.metadata));
    out.close_object();
}

}  // namespace

std::string row_text(const StrategyInstance& instance) {
    std::string text;
    text.reserve(kRowBytesExpected);
    CanonicalWriter out(text);
    out.open_object();
    out.text("strategy_id", instance.strategy_id.text());
    out.text("strategy_type", instance.strategy_type);
    append_account(out, instance.account);
    out.text("symbol", instance.symbol.text());
    out.text("base", instance.base.text());
    out.text("quote", instance.quote.text());
    append_number(out, "created_at", instance.created_at.microseconds);
    out.text("mode", to_word(instance.mode));
    out.flag("paused", instance.paused);
    out.raw("config", to_text(instance.config));
    out.raw("memory", to_text(instance.memory));
    append_policy(out, instance.policy);
    out.text("name", instance.name);
    append_number(out, "version", instance.version);
    append_number(out, "ticks", instance.ticks);
    append_number(out, "fail_count", instance.fail_count);
    out.text("last_error", instance.last_error);
    out.flag("is_latched", instance.is_latched);
    append_number(out, "updated_at", instance.updated_at.microseconds);
    append_time(out, "last_tick_at", instance.last_tick_at);
    out.text("last_transition", instance.last_transition);
    out.flag("is_deleted", instance.is_deleted);
    out.close_object();
    return text;
}

std::string row_text(const Concern& concern) {
    CHECK(!concern.concern_id.empty());
    std::string text;
    text.reserve(kRowBytesExpected);
    CanonicalWriter out(text);
    out.open_object();
    out.text("concern_id", concern.concern_id.text());
    append_account(out, concern.account);
    out.text("symbol", concern.symbol.text());
    out.text("status", to_word(concern.status));
    out.text("risk_mode", to_word(concern.risk_mode));
    append_id(out, "active_strategy_id", concern.active_strategy_id);
    out.text("quality", to_word(concern.quality));
    out.key("quality_reasons");
    out.open_array();
    for (const std::string& reason : concern.quality_reasons) {
        out.item(reason);
    }
    out.close_array();
    append_number(out, "clean_evaluations", concern.clean_evaluations);
    append_time(out, "activated_at", concern.activated_at);
    if (concern.switching) {
        out.raw("switching", to_text(*encode(concern).find("switching")));  // Rare and short-lived.
    } else {
        out.raw("switching", "null");
    }
    append_number(out, "version", concern.version);
    out.close_object();
    return text;
}

}  // namespace interlock
