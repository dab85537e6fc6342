#include "host/wire/account.h"

#include "base/check.h"
#include "base/crypto.h"
#include "base/text.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::size_t kCodeLengthMax = 128;
constexpr TextBounds kTotpBounds{.length_min = 6, .length_max = 6};
constexpr TextBounds kPasswordBounds{.length_min = 1, .length_max = kPasswordBytesMax};

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

SecretString required_secret(FieldReader& in, std::string_view key) {
    return SecretString(in.required_text(key, kPasswordBounds));
}

constexpr std::string_view kTotpSchema =
    R"({"type": ["string", "null"], "minLength": 6, "maxLength": 6,
        "description": "The six digits of the authenticator app, when one is set up."})";
constexpr std::string_view kPasswordSchema =
    R"({"type": "string", "format": "password", "writeOnly": true, "minLength": 1,
        "maxLength": 1024})";
constexpr std::string_view kNewPasswordSchema =
    R"({"type": "string", "format": "password", "writeOnly": true, "minLength": 12,
        "maxLength": 1024, "description": "At least 12 characters, at most 1024 bytes."})";
constexpr std::string_view kWantTokenSchema =
    R"({"type": ["boolean", "null"],
        "description": "True: the session token stands in the answer as well as in the cookie."})";

// A request of the named properties; `required` of them in front.
Json request_schema(
    std::initializer_list<std::pair<const char*, std::string_view>> properties,
    std::size_t required) {
    Json names = Json::array();
    Json described = Json::object();
    for (const auto& [name, schema] : properties) {
        if (names.items().size() < required) {
            names.push(name);
        }
        described.set(name, schema_of(schema));
    }
    Json schema = Json::object({{"type", "object"}, {"additionalProperties", false}});
    if (required > 0) {
        schema.set("required", std::move(names));
    }
    schema.set("properties", std::move(described));
    return schema;
}

}  // namespace

Result<LoginRequest> decode_login(const Json& json) {
    FieldReader in(json);
    LoginRequest request;
    request.email =
        to_lower(in.required_text("email", {.length_min = 1, .length_max = kEmailLengthMax}));
    request.password = required_secret(in, "password");
    request.totp = in.optional_text("totp", kTotpBounds);
    request.want_token = in.optional_or<bool>("want_token", false);
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json login_schema() {
    return request_schema(
        {{"email", R"({"type": "string", "minLength": 1, "maxLength": 254})"},
         {"password", kPasswordSchema},
         {"totp", kTotpSchema},
         {"want_token", kWantTokenSchema}},
        2);
}

Result<ActivateRequest> decode_activate(const Json& json) {
    FieldReader in(json);
    ActivateRequest request;
    request.code =
        SecretString(in.required_text("code", {.length_min = 1, .length_max = kCodeLengthMax}));
    request.password = required_secret(in, "password");
    request.want_token = in.optional_or<bool>("want_token", false);
    request.grant_key_provisioning = in.optional_or<bool>("grant_key_provisioning", false);
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json activate_schema() {
    return request_schema(
        {{"code",
          R"({"type": "string", "minLength": 1, "maxLength": 128, "writeOnly": true,
              "description": "The one-time code of the invitation (ilc_...)."})"},
         {"password", kNewPasswordSchema},
         {"want_token", kWantTokenSchema},
         {"grant_key_provisioning",
          R"({"type": ["boolean", "null"],
              "description": "True: an agent may provision exchange keys, once, for 24 hours."})"}},
        2);
}

Result<ReauthenticateRequest> decode_reauthenticate(const Json& json) {
    FieldReader in(json);
    ReauthenticateRequest request;
    if (auto password = in.optional_text("password", kPasswordBounds)) {
        request.password = SecretString(*std::move(password));
    }
    request.totp = in.optional_text("totp", kTotpBounds);
    if (in.ok() && request.password.has_value() == request.totp.has_value()) {
        in.add_problem("password", "give either password or totp, exactly one of them");
    }
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json reauthenticate_schema() {
    Json schema = request_schema({{"password", kPasswordSchema}, {"totp", kTotpSchema}}, 0);
    schema.set("minProperties", 1);
    return schema;
}

Result<ChangePasswordRequest> decode_change_password(const Json& json) {
    FieldReader in(json);
    ChangePasswordRequest request;
    request.old_password = required_secret(in, "old_password");
    request.new_password = required_secret(in, "new_password");
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json change_password_schema() {
    return request_schema(
        {{"old_password", kPasswordSchema}, {"new_password", kNewPasswordSchema}}, 2);
}

Result<ConfirmTotpRequest> decode_confirm_totp(const Json& json) {
    FieldReader in(json);
    ConfirmTotpRequest request{.totp = in.required_text("totp", kTotpBounds)};
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json confirm_totp_schema() {
    return request_schema(
        {{"totp",
          R"({"type": "string", "minLength": 6, "maxLength": 6,
              "description": "A code that the new key makes now."})"}},
        1);
}

Result<DisableTotpRequest> decode_disable_totp(const Json& json) {
    FieldReader in(json);
    DisableTotpRequest request{.password = required_secret(in, "password")};
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json disable_totp_schema() {
    return request_schema({{"password", kPasswordSchema}}, 1);
}

SessionInfo session_info_of(const Human& human, const HumanSession& session) {
    return {
        .human_id = human.human_id,
        .email = human.email,
        .tenants = human.memberships,
        .session_id = session.session_id,
        .authenticated_at = session.authenticated_at,
        .expires_at = session.expires_at,
        .two_factor = human.totp_key.has_value(),
        .recovery_codes_left = static_cast<std::int64_t>(human.recovery.code_hashes.size()),
        .vote_rests_until = human.recovery.vote_rests_until,
        .second_factor_due = human.recovery.second_factor_due,
        .recoveries = {},
    };
}

Json encode(const SessionInfo& info) {
    Json tenants = Json::array();
    for (const TenantId& tenant_id : info.tenants) {
        tenants.push(tenant_id.text());
    }
    Json recoveries = Json::array();
    for (const RecoveryNotice& notice : info.recoveries) {
        recoveries.push(encode(notice));
    }
    return Json::object({
        {"human_id", info.human_id.text()},
        {"email", info.email},
        {"tenants", std::move(tenants)},
        {"session_id", info.session_id.text()},
        {"authenticated_at", to_text(info.authenticated_at)},
        {"expires_at", to_text(info.expires_at)},
        {"two_factor", info.two_factor},
        {"recovery_codes_left", info.recovery_codes_left},
        {"vote_rests_until",
         info.vote_rests_until ? Json(to_text(*info.vote_rests_until)) : Json()},
        {"second_factor_due", info.second_factor_due},
        {"recoveries", std::move(recoveries)},
    });
}

Json session_info_schema() {
    Json schema = schema_of(R"({
        "type": "object",
        "required": ["human_id", "email", "tenants", "session_id", "authenticated_at",
                     "expires_at", "two_factor", "recovery_codes_left", "vote_rests_until",
                     "second_factor_due", "recoveries"],
        "properties": {
            "human_id": {"type": "string"},
            "email": {"type": "string"},
            "tenants": {"type": "array", "items": {"type": "string"},
                "description": "Where this person belongs; `_system` is the host itself."},
            "session_id": {"type": "string"},
            "authenticated_at": {"type": "string", "format": "date-time",
                "description": "When the password or a one-time code was last given."},
            "expires_at": {"type": "string", "format": "date-time"},
            "two_factor": {"type": "boolean"},
            "recovery_codes_left": {"type": "integer"},
            "vote_rests_until": {"type": ["string", "null"], "format": "date-time",
                "description": "After a recovery: until then this human approves nothing."},
            "second_factor_due": {"type": "boolean",
                "description": "The vote also rests until an authenticator app is set up again."}
        }})");
    schema.find("properties")
        ->set("recoveries", Json::object({{"type", "array"}, {"items", recovery_notice_schema()}}));
    return schema;
}

Json encode(const LoggedIn& logged_in, bool with_token) {
    Json json = encode(logged_in.info);
    if (with_token) {
        json.set("token", Json(logged_in.token.reveal()));
    }
    if (!logged_in.codes.codes.empty()) {
        const Json codes = encode(logged_in.codes);
        json.set("recovery_codes", *codes.find("recovery_codes"));
    }
    return json;
}

Json logged_in_schema() {
    Json schema = session_info_schema();
    schema.find("properties")->set("token", schema_of(R"({"type": "string",
        "description": "Only when want_token was true: send it as `Authorization: Bearer`."})"));
    const Json codes = recovery_codes_schema();
    schema.find("properties")
        ->set("recovery_codes", *codes.find("properties")->find("recovery_codes"));
    return schema;
}

TotpEnrolment enrolment_of(std::string_view email, SecretString key_text) {
    SecretString uri(
        "otpauth://totp/Interlock:" + percent_encode(email) + "?secret=" +
        std::string(key_text.reveal()) + "&issuer=Interlock&algorithm=SHA1&digits=6&period=30");
    return {std::move(key_text), std::move(uri)};
}

Json encode(const TotpEnrolment& enrolment) {
    return Json::object(
        {{"key", Json(enrolment.key_text.reveal())}, {"uri", Json(enrolment.uri.reveal())}});
}

Json totp_enrolment_schema() {
    return schema_of(R"({
        "type": "object",
        "required": ["key", "uri"],
        "properties": {
            "key": {"type": "string", "description": "Base32, shown this once."},
            "uri": {"type": "string", "description": "The same key for a QR code (otpauth://)."}
        }})");
}

}  // namespace interlock
