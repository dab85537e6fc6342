#include "bots/wire/onboarding_row.h"

#include "base/check.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 4> kMailWords = {"due", "sent", "failed", "not_needed"};
constexpr std::array<MailState, 4> kMailStates = {
    MailState::due, MailState::sent, MailState::failed, MailState::not_needed};

template <class T>
Json text_or_null(const std::optional<T>& value) {
    return value ? Json(to_text(*value)) : Json();
}

Json encode(const ActivationMail& mail) {
    return Json::object(
        {{"state", to_word(mail.state)},
         {"attempts", mail.attempts},
         {"serial", mail.serial},
         {"last_try_at", text_or_null(mail.last_try_at)},
         {"last_error", mail.last_error}});
}

ActivationMail decode_mail(FieldReader& outer) {
    ActivationMail mail;
    const Json* json = outer.required_object("mail");
    if (json == nullptr) {
        return mail;
    }
    FieldReader in(*json, "mail");
    mail.state = kMailStates[in.required_word_index("state", kMailWords)];
    mail.attempts = in.required<std::int64_t>("attempts");
    mail.serial = in.required<std::int64_t>("serial");
    mail.last_try_at = in.required_nullable<Timestamp>("last_try_at");
    mail.last_error = in.required<std::string>("last_error");
    in.reject_unknown();
    if (auto read = in.finish(true); !read) {
        outer.absorb(read.error());
    }
    return mail;
}

Json encode(const SignupFacts& signup) {
    return Json::object(
        {{"email", signup.email},
         {"human_id", signup.human_id.text()},
         {"requested_plan", to_word(signup.requested_plan)},
         {"agent_metadata", signup.agent_metadata},
         {"at", to_text(signup.at)},
         {"peer", signup.peer},
         {"plan", to_word(signup.plan)},
         {"trial_expires", text_or_null(signup.trial_expires)},
         {"is_active", signup.is_active},
         {"activated_at", text_or_null(signup.activated_at)},
         {"mail", encode(signup.mail)}});
}

Result<SignupFacts> decode_signup_facts(const Json& json) {
    FieldReader in(json, "signup");
    SignupFacts signup;
    signup.email = in.required<std::string>("email");
    signup.human_id = in.required<HumanId>("human_id");
    signup.requested_plan = kPlanNames[in.required_word_index("requested_plan", kPlanWords)];
    signup.agent_metadata = in.optional<Json>("agent_metadata").value_or(Json());
    signup.at = in.required<Timestamp>("at");
    signup.peer = in.required<std::string>("peer");
    signup.plan = kPlanNames[in.required_word_index("plan", kPlanWords)];
    signup.trial_expires = in.required_nullable<Timestamp>("trial_expires");
    signup.is_active = in.required<bool>("is_active");
    signup.activated_at = in.required_nullable<Timestamp>("activated_at");
    signup.mail = decode_mail(in);
    in.reject_unknown();
    return in.finish(std::move(signup));
}

Result<KeyGrant> decode_grant(const Json& json) {
    FieldReader in(json, "key_grant");
    KeyGrant grant;
    grant.exchange = in.required_nullable<std::string>("exchange");
    grant.granted_by = in.required<std::string>("granted_by");
    grant.granted_at = in.required<Timestamp>("granted_at");
    grant.expires_at = in.required<Timestamp>("expires_at");
    in.reject_unknown();
    return in.finish(std::move(grant));
}

Json encode_list(const KeyId& key_id, const std::vector<Symbol>& assets) {
    Json names = Json::array();
    for (const Symbol& symbol : assets) {
        names.push(symbol.text());
    }
    return Json::object({{"key_id", key_id.text()}, {"assets", std::move(names)}});
}

void decode_list(FieldReader& outer, const Json& json, OnboardingRow& row) {
    auto list = decode_set_asset_list(json);
    if (!list) {
        outer.absorb(list.error());
    } else if (!list->assets || row.asset_lists.contains(list->key_id)) {
        outer.add_problem("asset_lists", "must hold a key once, with its markets");
    } else {
        row.asset_lists[list->key_id] = *std::move(list->assets);
    }
}

}  // namespace

std::string_view to_word(MailState state) {
    return kMailWords[static_cast<std::size_t>(state)];
}

std::string onboarding_machine(const TenantId& tenant_id) {
    return std::string(kOnboardingPrefix) + tenant_id.text();
}

Json encode(const KeyGrant& grant) {
    return Json::object(
        {{"exchange", grant.exchange ? Json(*grant.exchange) : Json()},
         {"granted_by", grant.granted_by},
         {"granted_at", to_text(grant.granted_at)},
         {"expires_at", to_text(grant.expires_at)}});
}

Json encode_asset_lists(const OnboardingRow& row) {
    Json lists = Json::array();
    for (const auto& [key_id, assets] : row.asset_lists) {
        lists.push(encode_list(key_id, assets));
    }
    return Json::object({{"asset_lists", std::move(lists)}});
}

Json asset_lists_schema() {
    auto schema = parse_json(R"({
        "type": "object",
        "required": ["asset_lists"],
        "properties": {
            "asset_lists": {"type": "array",
                "description": "Keys that may name these markets only; others may name any.",
                "items": {"type": "object", "required": ["key_id", "assets"],
                    "properties": {
                        "key_id": {"type": "string"},
                        "assets": {"type": "array", "items": {"type": "string"}}}}}
        }})");
    CHECK(schema.has_value());
    return *std::move(schema);
}

Json encode(const OnboardingRow& row) {
    Json json = encode_asset_lists(row);
    json.set("signup", row.signup ? encode(*row.signup) : Json());
    json.set("key_id", row.key_id ? Json(row.key_id->text()) : Json());
    json.set("key_grant", row.key_grant ? encode(*row.key_grant) : Json());
    return json;
}

Result<OnboardingRow> decode_onboarding_row(const Json& json) {
    FieldReader in(json);
    OnboardingRow row;
    if (const Json* signup = in.optional_object("signup")) {
        if (auto decoded = decode_signup_facts(*signup)) {
            row.signup = *std::move(decoded);
        } else {
            in.absorb(decoded.error());
        }
    }
    row.key_id = in.required_nullable<KeyId>("key_id");
    if (const Json* grant = in.optional_object("key_grant")) {
        if (auto decoded = decode_grant(*grant)) {
            row.key_grant = *std::move(decoded);
        } else {
            in.absorb(decoded.error());
        }
    }
    for (const Json& item : in.required_array("asset_lists", kActiveKeysMax)) {
        decode_list(in, item, row);
    }
    in.reject_unknown();
    return in.finish(std::move(row));
}

}  // namespace interlock
