#include "host/wire/tenant.h"

#include <algorithm>

#include "base/canonical_json.h"
#include "base/check.h"
#include "base/crypto.h"
#include "codec/field_reader.h"
#include "host/wire/key_lock.h"

namespace interlock {
namespace {

constexpr std::size_t kNameLengthMax = 200;

// In a path it stands where a tenant would.
constexpr std::string_view kRelayPathWord = "relay";

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

Json words_of(const std::set<Scope>& scopes) {
    Json words = Json::array();
    for (const Scope scope : scopes) {
        words.push(to_word(scope));
    }
    return words;
}

std::set<Scope> read_scopes(FieldReader& in) {
    std::set<Scope> scopes;
    for (const Json& item : in.required_array("scopes", all_scopes().size())) {
        if (!item.is_string()) {
            in.add_problem("scopes", "must hold only strings");
            continue;
        }
        const auto scope = parse_scope(item.as_string());
        if (!scope) {
            in.add_problem("scopes", scope.error().message);
        } else if (!scopes.insert(*scope).second) {
            in.add_problem("scopes", "names \"" + item.as_string() + "\" twice");
        }
    }
    return scopes;
}

Json time_or_null(const std::optional<Timestamp>& at) {
    return at ? Json(to_text(*at)) : Json();
}

Json fields_of(const AccessKey& key) {
    return Json::object({
        {"key_id", key.key_id.text()},
        {"label", key.label},
        {"scopes", words_of(key.scopes)},
        {"hint", key.hint},
        {"created_at", to_text(key.created_at)},
        {"revoked_at", time_or_null(key.revoked_at)},
    });
}

Json encode_key_state(const AccessKey& key) {
    Json json = fields_of(key);
    json.set("key_hash", key.key_hash);
    return json;
}

AccessKey decode_key_state(FieldReader& in) {
    return {
        .key_id = in.required<KeyId>("key_id"),
        .label = in.required<std::string>("label"),
        .scopes = read_scopes(in),
        .key_hash = in.required<std::string>("key_hash"),
        .hint = in.required<std::string>("hint"),
        .created_at = in.required<Timestamp>("created_at"),
        .revoked_at = in.required_nullable<Timestamp>("revoked_at"),
    };
}

}  // namespace

Json encode_state(const Tenant& tenant) {
    Json humans = Json::array();
    for (const HumanId& human_id : tenant.human_ids) {
        humans.push(human_id.text());
    }
    Json keys = Json::array();
    for (const AccessKey& key : tenant.access_keys) {
        keys.push(encode_key_state(key));
    }
    return Json::object({
        {"tenant_id", tenant.tenant_id.text()},
        {"name", tenant.name},
        {"created_at", to_text(tenant.created_at)},
        {"human_ids", std::move(humans)},
        {"access_keys", std::move(keys)},
    });
}

Result<Tenant> decode_tenant_state(const Json& json) {
    FieldReader in(json);
    Tenant tenant{
        .tenant_id = in.required<TenantId>("tenant_id"),
        .name = in.required<std::string>("name"),
        .created_at = in.required<Timestamp>("created_at"),
        .human_ids = {},
        .access_keys = {},
    };
    for (const Json& item : in.required_array("human_ids", kHumansMax)) {
        if (item.is_string()) {
            tenant.human_ids.push_back(HumanId::trusted(item.as_string()));
        } else {
            in.add_problem("human_ids", "must hold only strings");
        }
    }
    for (const Json& item : in.required_array("access_keys", kActiveKeysMax + kRevokedKeysMax)) {
        FieldReader key(item, in.path_of("access_keys"));
        tenant.access_keys.push_back(decode_key_state(key));
        key.reject_unknown();
        if (auto read = key.finish(true); !read) {
            in.absorb(read.error());
        }
    }
    in.reject_unknown();
    return in.finish(std::move(tenant));
}

Json encode(const Tenant& tenant) {
    const auto active = std::count_if(
        tenant.access_keys.begin(), tenant.access_keys.end(), [](const AccessKey& key) {
            return key.is_active();
        });
    return Json::object({
        {"tenant_id", tenant.tenant_id.text()},
        {"name", tenant.name},
        {"created_at", to_text(tenant.created_at)},
        {"humans", tenant.human_ids.size()},
        {"active_keys", active},
    });
}

Json tenant_schema() {
    return schema_of(R"({
        "type": "object",
        "required": ["tenant_id", "name", "created_at", "humans", "active_keys"],
        "properties": {
            "tenant_id": {"type": "string"},
            "name": {"type": "string"},
            "created_at": {"type": "string", "format": "date-time"},
            "humans": {"type": "integer", "minimum": 0, "maximum": 100},
            "active_keys": {"type": "integer", "minimum": 0, "maximum": 100}
        }})");
}

Json encode_tenant_page(const std::vector<Tenant>& tenants, const std::optional<TenantId>& next) {
    Json list = Json::array();
    for (const Tenant& tenant : tenants) {
        list.push(encode(tenant));
    }
    return Json::object(
        {{"tenants", std::move(list)}, {"next_after", next ? Json(next->text()) : Json()}});
}

Json tenant_page_schema() {
    return Json::object({
        {"type", "object"},
        {"required", Json::array({"tenants", "next_after"})},
        {"properties",
         Json::object(
             {{"tenants", Json::object({{"type", "array"}, {"items", tenant_schema()}})},
              {"next_after", schema_of(R"({"type": ["string", "null"],
                   "description": "Give this as `after` to read on; null on the last page."})")}})},
    });
}

Json encode(const AccessKey& key) {
    Json json = fields_of(key);
    if (is_locked(key)) {
        json.set("locked", true);
    }
    return json;
}

Json access_key_schema() {
    return schema_of(R"({
        "type": "object",
        "required": ["key_id", "label", "scopes", "hint", "created_at", "revoked_at"],
        "properties": {
            "key_id": {"type": "string"},
            "label": {"type": "string"},
            "scopes": {"type": "array",
                "items": {"enum": ["planner", "supervisor", "bot", "read", "probe"]}},
            "hint": {"type": "string", "description": "The key's last four characters."},
            "created_at": {"type": "string", "format": "date-time"},
            "revoked_at": {"type": ["string", "null"], "format": "date-time"},
            "locked": {"const": true, "description":
                "There while a key that came back with a backup waits for a human's word."}
        }})");
}

Json encode_access_keys(const std::vector<AccessKey>& keys) {
    Json list = Json::array();
    for (const AccessKey& key : keys) {
        list.push(encode(key));
    }
    return Json::object({{"keys", std::move(list)}});
}

Json access_keys_schema() {
    return Json::object({
        {"type", "object"},
        {"required", Json::array({"keys"})},
        {"properties",
         Json::object(
             {{"keys", Json::object({{"type", "array"}, {"items", access_key_schema()}})}})},
    });
}

Json encode(const NewAccessKey& made, const SecretString* secret) {
    Json json = encode(made.key);
    json.set("access_key", secret != nullptr ? Json(secret->reveal()) : Json());
    json.set("audit_ref", made.audit_ref);
    return json;
}

Json new_access_key_schema() {
    Json schema = access_key_schema();
    Json& required = *schema.find("required");
    required.push("access_key");
    required.push("audit_ref");
    Json& properties = *schema.find("properties");
    properties.set(
        "access_key",
        Json::object(
            {{"type", Json::array({"string", "null"})},
             {"description",
              "The key itself, this once. Null when the same request is repeated with its "
              "idempotency key: keys are not kept, so a lost one is revoked and made anew."}}));
    properties.set("audit_ref", Json::object({{"type", "string"}}));
    return schema;
}

Result<CreateTenant> decode_create_tenant(const Json& json) {
    FieldReader in(json);
    CreateTenant request{
        .tenant_id = in.required<TenantId>("tenant_id"),
        .name = in.required_text("name", {.length_min = 1, .length_max = kNameLengthMax}),
    };
    if (!request.tenant_id.empty() && !is_tenant_text(request.tenant_id.text())) {
        in.add_problem(
            "tenant_id",
            "must be 1 to 64 characters of a-z, 0-9, '-' and '_', not starting with '_'");
    }
    if (request.tenant_id.text() == kRelayPathWord) {
        in.add_problem("tenant_id", "is taken: /api/relay is the operator's");
    }
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json create_tenant_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "required": ["tenant_id", "name"],
        "properties": {
            "tenant_id": {"type": "string", "pattern": "^[a-z0-9-][a-z0-9_-]{0,63}$"},
            "name": {"type": "string", "minLength": 1, "maxLength": 200}
        }})");
}

Result<CreateAccessKey> decode_create_access_key(const Json& json) {
    FieldReader in(json);
    CreateAccessKey request{
        .label = in.required_text("label", {.length_min = 1, .length_max = kNameLengthMax}),
        .scopes = read_scopes(in),
        .idempotency_key = in.optional<IdempotencyKey>("idempotency_key"),
    };
    if (in.ok() && request.scopes.empty()) {
        in.add_problem("scopes", "must name at least one scope");
    }
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json create_access_key_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "required": ["label", "scopes"],
        "properties": {
            "label": {"type": "string", "minLength": 1, "maxLength": 200,
                "description": "Whose key this is, for people."},
            "scopes": {"type": "array", "minItems": 1, "uniqueItems": true,
                "items": {"enum": ["planner", "supervisor", "bot", "read", "probe"]}},
            "idempotency_key": {"type": ["string", "null"], "minLength": 1, "maxLength": 128,
                "pattern": "^[!$&-.0->@-\\[\\]-~]+$",
                "description": "Reuse it when you repeat this request: no second key is made."}
        }})");
}

Result<std::string> request_hash_of(const CreateAccessKey& request) {
    TRY_ASSIGN(
        const std::string text,
        canonical_json(
            Json::object({{"label", request.label}, {"scopes", words_of(request.scopes)}})));
    return sha256_hex(text);
}

}  // namespace interlock
