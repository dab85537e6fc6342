#include "host/wire/human.h"

#include <algorithm>

#include "base/check.h"
#include "base/errors.h"
#include "base/text.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

Json text_or_null(const std::optional<std::string>& text) {
    return text ? Json(*text) : Json();
}

Json time_or_null(const std::optional<Timestamp>& at) {
    return at ? Json(to_text(*at)) : Json();
}

Json encode_session(const HumanSession& session) {
    return Json::object({
        {"session_id", session.session_id.text()},
        {"token_hash", session.token_hash},
        {"created_at", to_text(session.created_at)},
        {"authenticated_at", to_text(session.authenticated_at)},
        {"expires_at", to_text(session.expires_at)},
        {"failed_proofs", session.failed_proofs},
    });
}

void read_sessions(FieldReader& in, Human& human) {
    for (const Json& item : in.required_array("sessions", kSessionsMax)) {
        FieldReader session(item, in.path_of("sessions"));
        human.sessions.push_back({
            .session_id = session.required<SessionId>("session_id"),
            .token_hash = session.required<std::string>("token_hash"),
            .created_at = session.required<Timestamp>("created_at"),
            .authenticated_at = session.required<Timestamp>("authenticated_at"),
            .expires_at = session.required<Timestamp>("expires_at"),
            .failed_proofs = session.required<std::int64_t>("failed_proofs"),
        });
        session.reject_unknown();
        if (auto read = session.finish(true); !read) {
            in.absorb(read.error());
        }
    }
}

Json encode_device(const KnownDevice& device) {
    return Json::object({
        {"token_hash", device.token_hash},
        {"used_at", to_text(device.used_at)},
        {"failed_logins", device.logins.failed},
        {"locked_until", to_text(device.logins.locked_until)},
    });
}

// Absent in what was stored before there were any.
void read_devices(FieldReader& in, Human& human) {
    const Json::Array* stored = in.optional_array("devices", kDevicesMax);
    if (stored == nullptr) {
        return;
    }
    for (const Json& item : *stored) {
        FieldReader device(item, in.path_of("devices"));
        human.devices.push_back({
            .token_hash = device.required<std::string>("token_hash"),
            .used_at = device.required<Timestamp>("used_at"),
            .logins =
                {.failed = device.required<std::int64_t>("failed_logins"),
                 .locked_until = device.required<Timestamp>("locked_until")},
        });
        device.reject_unknown();
        if (auto read = device.finish(true); !read) {
            in.absorb(read.error());
        }
    }
}

void read_memberships(FieldReader& in, Human& human) {
    for (const Json& item : in.required_array("memberships", kMembershipsMax)) {
        if (item.is_string()) {
            human.memberships.insert(TenantId::trusted(item.as_string()));
        } else {
            in.add_problem("memberships", "must hold only strings");
        }
    }
}

void read_recovery(FieldReader& in, Human& human) {
    const Json* json = in.optional_object("recovery");
    if (json == nullptr) {
        return;
    }
    if (auto state = decode_login_recovery(*json)) {
        human.recovery = *std::move(state);
    } else {
        in.absorb(state.error());
    }
}

bool is_email_character(char c) {
    constexpr std::string_view kForbidden = "\"(),:;<>[\\]%/?#&'`";
    return c > ' ' && c < 0x7F && kForbidden.find(c) == std::string_view::npos;
}

}  // namespace

Json encode_state(const Human& human) {
    Json memberships = Json::array();
    for (const TenantId& tenant_id : human.memberships) {
        memberships.push(tenant_id.text());
    }
    Json sessions = Json::array();
    for (const HumanSession& session : human.sessions) {
        sessions.push(encode_session(session));
    }
    Json devices = Json::array();
    for (const KnownDevice& device : human.devices) {
        devices.push(encode_device(device));
    }
    const auto& code = human.one_time_code;
    return Json::object({
        {"human_id", human.human_id.text()},
        {"email", human.email},
        {"memberships", std::move(memberships)},
        {"password_hash", text_or_null(human.password_hash)},
        {"totp_key", text_or_null(human.totp_key)},
        {"totp_key_offered", text_or_null(human.totp_key_offered)},
        {"totp_last_step", human.totp_last_step},
        {"one_time_code_hash", code ? Json(code->code_hash) : Json()},
        {"one_time_code_expires_at", code ? Json(to_text(code->expires_at)) : Json()},
        {"failed_logins", human.logins.failed},
        {"locked_until", to_text(human.logins.locked_until)},
        {"sessions", std::move(sessions)},
        {"devices", std::move(devices)},
        {"recovery", encode_state(human.recovery)},
        {"created_at", to_text(human.created_at)},
    });
}

Result<Human> decode_human_state(const Json& json) {
    FieldReader in(json);
    Human human;
    human.human_id = in.required<HumanId>("human_id");
    human.email = in.required<std::string>("email");
    read_memberships(in, human);
    human.password_hash = in.required_nullable<std::string>("password_hash");
    human.totp_key = in.required_nullable<std::string>("totp_key");
    human.totp_key_offered = in.required_nullable<std::string>("totp_key_offered");
    human.totp_last_step = in.required<std::int64_t>("totp_last_step");
    const auto code_hash = in.required_nullable<std::string>("one_time_code_hash");
    const auto code_expiry = in.required_nullable<Timestamp>("one_time_code_expires_at");
    if (code_hash && code_expiry) {
        human.one_time_code = {*code_hash, *code_expiry};
    }
    human.logins.failed = in.required<std::int64_t>("failed_logins");
    human.logins.locked_until = in.required<Timestamp>("locked_until");
    read_sessions(in, human);
    read_devices(in, human);
    read_recovery(in, human);
    human.created_at = in.required<Timestamp>("created_at");
    in.reject_unknown();
    return in.finish(std::move(human));
}

Json encode(const Human& human) {
    const auto& code = human.one_time_code;
    return Json::object({
        {"human_id", human.human_id.text()},
        {"email", human.email},
        {"state", human.is_activated() ? "active" : "invited"},
        {"two_factor", human.totp_key.has_value()},
        {"created_at", to_text(human.created_at)},
        {"invitation_expires_at", code ? Json(to_text(code->expires_at)) : Json()},
        {"recovered_at", time_or_null(human.recovery.recovered_at)},
        {"vote_rests_until", time_or_null(human.recovery.vote_rests_until)},
    });
}

Json human_schema() {
    return schema_of(R"({
        "type": "object",
        "required": ["human_id", "email", "state", "two_factor", "created_at",
                     "invitation_expires_at", "recovered_at", "vote_rests_until"],
        "properties": {
            "human_id": {"type": "string"},
            "email": {"type": "string"},
            "state": {"enum": ["active", "invited"]},
            "two_factor": {"type": "boolean"},
            "created_at": {"type": "string", "format": "date-time"},
            "invitation_expires_at": {"type": ["string", "null"], "format": "date-time"},
            "recovered_at": {"type": ["string", "null"], "format": "date-time"},
            "vote_rests_until": {"type": ["string", "null"], "format": "date-time",
                "description": "Set by a recovery; past it the vote counts again."}
        }})");
}

Json encode_humans(const std::vector<Human>& humans) {
    Json list = Json::array();
    for (const Human& human : humans) {
        list.push(encode(human));
    }
    return Json::object({{"humans", std::move(list)}});
}

Json humans_schema() {
    return Json::object({
        {"type", "object"},
        {"required", Json::array({"humans"})},
        {"properties",
         Json::object({{"humans", Json::object({{"type", "array"}, {"items", human_schema()}})}})},
    });
}

Result<std::string> parse_email(std::string_view text) {
    const std::size_t at = text.find('@');
    const bool plausible = text.size() <= kEmailLengthMax && at != std::string_view::npos &&
                           at > 0 && at + 1 < text.size() &&
                           text.find('@', at + 1) == std::string_view::npos &&
                           text[at + 1] != '.' && text.back() != '.' &&
                           std::all_of(text.begin(), text.end(), is_email_character);
    if (!plausible) {
        return fail(
            errors::invalid_request,
            "must be an email address of at most " + std::to_string(kEmailLengthMax) +
                " plain characters, such as owner@example.com");
    }
    return to_lower(text);
}

Result<InviteHuman> decode_invite_human(const Json& json) {
    FieldReader in(json);
    const std::string email = in.required<std::string>("email");
    InviteHuman request{
        .email = {},
        .system_member = in.optional_or<bool>("system_member", false),
    };
    if (in.ok()) {
        if (auto parsed = parse_email(email)) {
            request.email = *std::move(parsed);
        } else {
            in.add_problem("email", std::move(parsed.error().message));
        }
    }
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json invite_human_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "required": ["email"],
        "properties": {
            "email": {"type": "string", "format": "email", "maxLength": 254},
            "system_member": {"type": ["boolean", "null"],
                "description": "Also a human of `_system`; needs the same right there as here."}
        }})");
}

Json encode(const Invitation& invitation) {
    Json json = encode(invitation.human);
    Json code;
    Json path;
    if (invitation.code) {
        code = Json(invitation.code->reveal());
        path = Json("/activate?code=" + std::string(invitation.code->reveal()));
    }
    json.set("one_time_code", std::move(code));
    json.set("activation_path", std::move(path));
    json.set("audit_ref", invitation.audit_ref);
    return json;
}

Json invitation_schema() {
    Json schema = human_schema();
    Json& required = *schema.find("required");
    for (const char* name : {"one_time_code", "activation_path", "audit_ref"}) {
        required.push(name);
    }
    Json& properties = *schema.find("properties");
    properties.set("one_time_code", schema_of(R"({"type": ["string", "null"],
        "description": "Shown this once. Null when the person is active already."})"));
    properties.set("activation_path", schema_of(R"({"type": ["string", "null"]})"));
    properties.set("audit_ref", schema_of(R"({"type": "string"})"));
    return schema;
}

}  // namespace interlock
