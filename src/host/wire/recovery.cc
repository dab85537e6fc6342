#include "host/wire/recovery.h"

#include "base/check.h"
#include "base/crypto.h"
#include "base/text.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::string_view kPrefix = "ilr";
constexpr std::size_t kCharacters = 20;  // 100 bits.
constexpr std::size_t kGroup = 4;
constexpr std::size_t kTypedMax = 64;
constexpr std::size_t kEmailMax = 254;
constexpr std::size_t kPasswordMax = 1024;
constexpr std::size_t kPrincipalMax = 200;

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

Json time_or_null(const std::optional<Timestamp>& at) {
    return at ? Json(to_text(*at)) : Json();
}

Json encode_case(const RecoveryCase& open) {
    return Json::object({
        {"started_by", open.started_by},
        {"reason", open.reason},
        {"started_at", to_text(open.started_at)},
        {"good_from", to_text(open.good_from)},
        {"expires_at", to_text(open.expires_at)},
        {"code_hash", open.code_hash ? Json(*open.code_hash) : Json()},
    });
}

void read_case(FieldReader& in, LoginRecovery& state) {
    const Json* json = in.optional_object("open");
    if (json == nullptr) {
        return;
    }
    FieldReader open(*json, in.path_of("open"));
    state.open = RecoveryCase{
        .started_by = open.required<std::string>("started_by"),
        .reason = open.required<std::string>("reason"),
        .started_at = open.required<Timestamp>("started_at"),
        .good_from = open.required<Timestamp>("good_from"),
        .expires_at = open.required<Timestamp>("expires_at"),
        .code_hash = open.required_nullable<std::string>("code_hash"),
    };
    open.reject_unknown();
    if (auto read = open.finish(true); !read) {
        in.absorb(read.error());
    }
}

std::vector<std::string> read_texts(FieldReader& in, std::string_view key, std::size_t count_max) {
    std::vector<std::string> texts;
    for (const Json& item : in.required_array(key, count_max)) {
        if (item.is_string() && item.as_string().size() <= kPrincipalMax) {
            texts.push_back(item.as_string());
        } else {
            in.add_problem(key, "must hold only short strings");
        }
    }
    return texts;
}

template <class Texts>
Json list_of(const Texts& texts) {
    Json list = Json::array();
    for (const std::string& text : texts) {
        list.push(text);
    }
    return list;
}

bool is_code_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7');
}

std::string read_email(FieldReader& in) {
    return to_lower(in.required_text("email", {.length_min = 1, .length_max = kEmailMax}));
}

}  // namespace

Json encode_state(const LoginRecovery& state) {
    return Json::object({
        {"code_hashes", list_of(state.code_hashes)},
        {"open", state.open ? encode_case(*state.open) : Json()},
        {"last_started_at", time_or_null(state.last_started_at)},
        {"recovered_at", time_or_null(state.recovered_at)},
        {"vote_rests_until", time_or_null(state.vote_rests_until)},
        {"second_factor_due", state.second_factor_due},
        {"helpers", list_of(state.helpers)},
        {"failed_tries", state.tries.failed},
        {"quiet_until", to_text(state.tries.quiet_until)},
    });
}

Result<LoginRecovery> decode_login_recovery(const Json& json) {
    FieldReader in(json);
    LoginRecovery state;
    state.code_hashes = read_texts(in, "code_hashes", kRecoveryCodesMax);
    read_case(in, state);
    state.last_started_at = in.required_nullable<Timestamp>("last_started_at");
    state.recovered_at = in.required_nullable<Timestamp>("recovered_at");
    state.vote_rests_until = in.required_nullable<Timestamp>("vote_rests_until");
    state.second_factor_due = in.required<bool>("second_factor_due");
    for (std::string& helper : read_texts(in, "helpers", kHelpersMax)) {
        state.helpers.insert(std::move(helper));
    }
    state.tries.failed = in.required<std::int64_t>("failed_tries");
    state.tries.quiet_until = in.required<Timestamp>("quiet_until");
    in.reject_unknown();
    return in.finish(std::move(state));
}

SecretString recovery_code_from(const SecretString& secret) {
    const std::string_view random = secret.reveal().substr(secret.reveal().find('_') + 1);
    CHECK(random.size() >= kCharacters);
    std::string text(kPrefix);
    for (std::size_t at = 0; at < kCharacters; at += kGroup) {
        text += '-';
        text += random.substr(at, kGroup);
    }
    return SecretString(std::move(text));
}

std::optional<SecretString> read_recovery_code(std::string_view typed) {
    std::string code;
    for (const char c : to_lower(typed)) {
        if (is_code_character(c)) {
            code += c;
        } else if (c != '-' && c != ' ' && c != '_') {
            return std::nullopt;
        }
    }
    if (code.size() == kCharacters + kPrefix.size() && code.starts_with(kPrefix)) {
        code.erase(0, kPrefix.size());
    }
    return code.size() == kCharacters ? std::optional(SecretString(std::move(code))) : std::nullopt;
}

std::string recovery_code_hash(const HumanId& human_id, const SecretString& code) {
    return sha256_hex("recovery/" + human_id.text() + "/" + std::string(code.reveal()));
}

Result<RecoverRequest> decode_recover(const Json& json) {
    FieldReader in(json);
    RecoverRequest request;
    request.email = read_email(in);
    request.code =
        SecretString(in.required_text("code", {.length_min = 1, .length_max = kTypedMax}));
    request.password =
        SecretString(in.required_text("password", {.length_min = 1, .length_max = kPasswordMax}));
    request.want_token = in.optional_or<bool>("want_token", false);
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json recover_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "required": ["email", "code", "password"],
        "properties": {
            "email": {"type": "string", "minLength": 1, "maxLength": 254},
            "code": {"type": "string", "minLength": 1, "maxLength": 64, "writeOnly": true,
                "description": "One of your recovery codes (ilr-...), or the one you were given."},
            "password": {"type": "string", "format": "password", "writeOnly": true,
                "minLength": 12, "maxLength": 1024,
                "description": "The new one: at least 12 characters, at most 1024 bytes."},
            "want_token": {"type": ["boolean", "null"],
                "description": "True: the session token stands in the answer as well."}
        }})");
}

Result<StartRecovery> decode_start_recovery(const Json& json) {
    FieldReader in(json);
    StartRecovery request{
        .reason = in.optional_text("reason", {.length_min = 0, .length_max = kRecoveryReasonMax})
                      .value_or(""),
        .show_code = in.optional_or<bool>("show_code", false),
    };
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json start_recovery_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "reason": {"type": ["string", "null"], "maxLength": 200,
                "description": "Told to everybody of the tenant."},
            "show_code": {"type": ["boolean", "null"],
                "description": "True: the code is shown, to hand over. Otherwise by letter."}
        }})");
}

Result<ActivationLetterRequest> decode_activation_letter(const Json& json) {
    FieldReader in(json);
    ActivationLetterRequest request{.email = read_email(in)};
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json activation_letter_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "required": ["email"],
        "properties": {"email": {"type": "string", "minLength": 1, "maxLength": 254}}})");
}

Json encode(const RecoveryNotice& notice) {
    return Json::object({
        {"tenant_id", notice.tenant_id.text()},
        {"human_id", notice.human_id.text()},
        {"email", notice.email},
        {"state", notice.state},
        {"started_by", notice.started_by},
        {"reason", notice.reason},
        {"started_at", time_or_null(notice.started_at)},
        {"good_from", time_or_null(notice.good_from)},
        {"expires_at", time_or_null(notice.expires_at)},
        {"vote_rests_until", time_or_null(notice.vote_rests_until)},
    });
}

Json recovery_notice_schema() {
    return schema_of(R"({
        "type": "object",
        "required": ["tenant_id", "human_id", "email", "state", "started_by", "reason",
                     "started_at", "good_from", "expires_at", "vote_rests_until"],
        "properties": {
            "tenant_id": {"type": "string",
                "description": "One that you share with the person."},
            "human_id": {"type": "string"},
            "email": {"type": "string"},
            "state": {"enum": ["waiting", "ready", "recovered"],
                "description": "Its code is not good yet; it is; it was used and the vote rests."},
            "started_by": {"type": "string"},
            "reason": {"type": "string"},
            "started_at": {"type": ["string", "null"], "format": "date-time"},
            "good_from": {"type": ["string", "null"], "format": "date-time"},
            "expires_at": {"type": ["string", "null"], "format": "date-time"},
            "vote_rests_until": {"type": ["string", "null"], "format": "date-time"}
        }})");
}

Json encode(const StartedRecovery& started) {
    Json json = encode(started.notice);
    json.set("code", started.code ? Json(started.code->reveal()) : Json());
    json.set("audit_ref", started.audit_ref);
    return json;
}

Json started_recovery_schema() {
    Json schema = recovery_notice_schema();
    for (const char* name : {"code", "audit_ref"}) {
        schema.find("required")->push(name);
    }
    Json& properties = *schema.find("properties");
    properties.set("code", schema_of(R"({"type": ["string", "null"],
        "description": "Shown this once, when it was asked for."})"));
    properties.set("audit_ref", schema_of(R"({"type": "string"})"));
    return schema;
}

Json encode(const RecoveryCodes& codes) {
    Json list = Json::array();
    for (const SecretString& code : codes.codes) {
        list.push(Json(code.reveal()));
    }
    return Json::object({{"recovery_codes", std::move(list)}});
}

Json recovery_codes_schema() {
    return schema_of(R"({
        "type": "object",
        "required": ["recovery_codes"],
        "properties": {"recovery_codes": {"type": "array", "items": {"type": "string"},
            "description": "Shown this once. Each is good once, to set a new password."}}})");
}

}  // namespace interlock
