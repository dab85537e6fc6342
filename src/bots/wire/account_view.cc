#include "bots/wire/account_view.h"

#include "base/check.h"

namespace interlock {

std::string_view to_word(AccountStanding standing) {
    switch (standing) {
        case AccountStanding::pending_activation:
            return "pending_activation";
        case AccountStanding::active:
            return "active";
        case AccountStanding::inactive:
            break;
    }
    return "inactive";
}

AccountStanding BotAccountView::standing() const {
    if (!active) {
        return AccountStanding::inactive;
    }
    return plan && !email_verified ? AccountStanding::pending_activation : AccountStanding::active;
}

std::string_view BotAccountView::plan_word() const {
    return plan ? to_word(*plan) : "operator";
}

Json encode(const BotAccountView& view) {
    Json grant;
    if (view.key_grant) {
        grant = Json::object(
            {{"exchange", view.key_grant->exchange ? Json(*view.key_grant->exchange) : Json()},
             {"expires_at", to_text(view.key_grant->expires_at)}});
    }
    return Json::object({
        {"tenant_id", view.tenant_id.text()},
        {"plan", view.plan_word()},
        {"active", view.active},
        {"trial_expires", view.trial_expires ? Json(to_text(*view.trial_expires)) : Json()},
        {"status", to_word(view.standing())},
        {"email_verified", view.email_verified},
        {"activation_mail", view.activation_mail ? Json(to_word(*view.activation_mail)) : Json()},
        {"symbols_max", view.symbols_max},
        {"key_grant", std::move(grant)},
    });
}

Json account_view_schema() {
    auto schema = parse_json(R"({
        "type": "object",
        "required": ["tenant_id", "plan", "active", "trial_expires", "status", "email_verified",
                     "activation_mail", "symbols_max", "key_grant"],
        "properties": {
            "tenant_id": {"type": "string"},
            "plan": {"type": "string", "enum": ["trial", "standard", "pro", "operator"]},
            "active": {"type": "boolean", "description": "False: the plan is over, no bot trades."},
            "trial_expires": {"type": ["string", "null"], "format": "date-time",
                "description": "Null: the plan is confirmed."},
            "status": {"type": "string", "enum": ["pending_activation", "active", "inactive"]},
            "email_verified": {"type": "boolean",
                "description": "The owner has set a password by the link in the letter."},
            "activation_mail": {"type": ["string", "null"],
                "enum": ["due", "sent", "failed", "not_needed", null]},
            "symbols_max": {"type": "integer", "description": "Markets a bot of this plan trades."},
            "key_grant": {"type": ["object", "null"],
                "description": "The owner lets an agent provision exchange keys, once.",
                "properties": {
                    "exchange": {"type": ["string", "null"], "description": "Null: any one."},
                    "expires_at": {"type": "string", "format": "date-time"}}}
        }})");
    CHECK(schema.has_value());
    return *std::move(schema);
}

}  // namespace interlock
