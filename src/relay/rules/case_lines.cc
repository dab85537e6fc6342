#include "relay/rules/case_lines.h"

#include <optional>

#include "base/bytes.h"
#include "base/errors.h"
#include "relay/rules/discord_permissions.h"
#include "relay/rules/session_key.h"
#include "relay/rules/wecom_crypt.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::size_t kSecretsMax = 32;
constexpr std::size_t kCaseTextBytesMax = std::size_t{8} << 20;
constexpr std::size_t kCaseRolesMax = 1000;
constexpr std::size_t kCaseHeadersMax = 200;

bool flag_or(WireReader& in, const Json& json, std::string_view key, bool otherwise) {
    const Json* const value = json.find(key);
    return value == nullptr || value->is_null() ? otherwise : in.flag(key);
}

SessionKeyOptions read_options(WireReader& outer, const Json& json) {
    WireReader in(json);
    SessionKeyOptions options{
        .group_sessions_per_user = flag_or(in, json, "group_sessions_per_user", true),
        .thread_sessions_per_user = in.flag("thread_sessions_per_user"),
        .profile = in.text("profile"),
        .revision = ClientRevision::newest};
    const std::string revision = in.text("revision");
    if (revision == "2026-06-24") {
        options.revision = ClientRevision::june;
    } else if (revision == "2026-08-22") {
        options.revision = ClientRevision::august;
    } else if (!revision.empty()) {
        in.add_problem("revision", "must be 2026-06-24 or 2026-08-22, or left out");
    }
    if (!in.ok()) {
        outer.add_problem("options:", in.problem());
    }
    return options;
}

void read_headers(WireReader& in, const Json& json, WebhookRequest& request) {
    const Json* const headers = json.find("headers");
    if (headers == nullptr || headers->is_null()) {
        return;
    }
    if (!headers->is_object() || headers->members().size() > kCaseHeadersMax) {
        in.add_problem("headers", "must be an object of bounded size");
        return;
    }
    for (const auto& [name, value] : headers->members()) {
        if (value.is_string()) {
            request.headers.emplace_back(name, value.as_string());
            continue;
        }
        if (!value.is_array()) {
            in.add_problem("headers", "must hold texts, or lists of them");
            return;
        }
        for (const Json& item : value.items()) {
            request.headers.emplace_back(name, item.is_string() ? item.as_string() : "");
        }
    }
}

WebhookRequest read_request(WireReader& in, const Json& json) {
    WebhookRequest request;
    if (std::string method = in.text("method"); !method.empty()) {
        request.method = std::move(method);
    }
    request.url = in.text("url", kRelayUrlBytesMax);
    request.now_seconds = in.integer("now");
    read_headers(in, json, request);
    const auto body = from_base64(in.text("body_b64", kCaseTextBytesMax));
    if (!body) {
        in.add_problem("body_b64", "must be base64");
    }
    request.body = body.value_or("");
    return request;
}

WebhookVerdict judge_wecom(WireReader& in, const Json& json) {
    const WecomSecrets secrets{
        .token = in.text("token"),
        .encoding_aes_key = in.text("encoding_aes_key"),
        .receive_id = in.text("receive_id")};
    WecomCallback callback;
    callback.now_seconds = in.integer("now");
    if (const Json* const query = in.object("query")) {
        WireReader fields(*query);
        callback.msg_signature = fields.text("msg_signature");
        callback.timestamp = fields.text("timestamp");
        callback.nonce = fields.text("nonce");
        if (!fields.ok()) {
            in.add_problem("query:", fields.problem());
        }
    }
    // The body as it came decides; a case without one gives the ciphertext itself.
    std::optional<std::string> encrypt = in.text("encrypt", kCaseTextBytesMax);
    if (json.find("body_xml") != nullptr) {
        encrypt = wecom_encrypted(in.text("body_xml", kCaseTextBytesMax));
    }
    if (!encrypt) {
        return {false, std::to_string(static_cast<int>(WecomCode::bad_xml))};
    }
    callback.encrypt = *std::move(encrypt);
    const WecomMessage message = open_wecom(secrets, callback);
    return message.code == WecomCode::ok
               ? WebhookVerdict{true, {}}
               : WebhookVerdict{false, std::to_string(static_cast<int>(message.code))};
}

std::uint64_t permissions_at(WireReader& in, std::string_view key) {
    const auto value = read_permissions(in.text(key));
    if (!value) {
        in.add_problem(key, "must be a decimal number as text");
    }
    return value.value_or(0);
}

template <class Read>
void read_each(WireReader& in, std::string_view key, Read read) {
    const Json::Array* const items = in.array(key, kCaseRolesMax);
    if (items == nullptr) {
        in.add_problem(key, "is required");
        return;
    }
    for (const Json& item : *items) {
        WireReader inner(item);
        read(inner);
        if (!inner.ok()) {
            in.add_problem(std::string(key) + ":", inner.problem());
        }
    }
}

}  // namespace

Result<std::string> session_key_of_case(const Json& json) {
    WireReader in(json);
    const Json* const source = in.object("source");
    const Json* const options = in.object("options");
    if (source == nullptr) {
        in.add_problem("source", "is required");
        return in.finish(std::string());
    }
    auto decoded = decode_session_source(*source);
    if (!decoded) {
        return std::unexpected(std::move(decoded.error()));
    }
    const SessionKeyOptions read =
        options == nullptr ? SessionKeyOptions{} : read_options(in, *options);
    return in.finish(build_session_key(*decoded, read));
}

Result<TokenCase> token_of_case(const Json& json) {
    WireReader in(json);
    const std::string text = in.text("token", kUpgradeTokenBytesMax * 2);
    const auto now = in.integer("now");
    if (!now) {
        in.add_problem("now", "is required");
    }
    std::vector<std::string> secrets;
    const Json::Array* const items = in.array("secrets", kSecretsMax);
    if (items == nullptr) {
        in.add_problem("secrets", "is required");
    } else {
        for (const Json& item : *items) {
            secrets.push_back(item.is_string() ? item.as_string() : std::string());
        }
    }
    TokenCase result;
    if (const auto token = read_upgrade_token(text)) {
        result.verdict = verify_upgrade_token(
            *token, secrets, {.now_seconds = now.value_or(0), .skew_seconds = 0});
        result.payload = result.verdict == TokenVerdict::accepted ? token->gateway_id : "";
    }
    return in.finish(std::move(result));
}

std::string_view to_word(TokenVerdict verdict) {
    switch (verdict) {
        case TokenVerdict::accepted:
            return "accept";
        case TokenVerdict::expired:
            return "expired";
        case TokenVerdict::rejected:
            break;
    }
    return "bad_token";
}

Result<WebhookVerdict> webhook_of_case(const Json& json) {
    WireReader in(json);
    const std::string scheme = in.required_text("scheme");
    if (scheme == "wecom-bizmsgcrypt") {
        const WebhookVerdict verdict = judge_wecom(in, json);
        return in.finish(verdict);
    }
    const WebhookRequest request = read_request(in, json);
    WebhookVerdict verdict;
    if (scheme == "discord-ed25519") {
        verdict = verify_discord(request, in.text("public_key_hex"));
    } else if (scheme == "telegram-secret-token") {
        verdict = verify_telegram(request, in.text("configured_secret"));
    } else if (scheme == "twilio-hmac-sha1") {
        verdict = verify_twilio(request, in.text("auth_token"));
    } else if (scheme == "slack-v0") {
        verdict = verify_slack(request, in.text("signing_secret"));
    } else {
        in.add_problem(
            "scheme",
            "must be one of discord-ed25519, telegram-secret-token, twilio-hmac-sha1, "
            "wecom-bizmsgcrypt, slack-v0");
    }
    return in.finish(std::move(verdict));
}

Result<Json> permissions_of_case(const Json& json) {
    WireReader in(json);
    DiscordMember member;
    member.guild_id = in.required_text("guild_id");
    member.owner_id = in.text("owner_id");
    member.user_id = in.required_text("user_id");
    if (const Json::Array* const roles = in.array("member_roles", kCaseRolesMax)) {
        for (const Json& role : *roles) {
            member.role_ids.push_back(id_text(role).value_or(""));
        }
    }
    read_each(in, "roles", [&member](WireReader& role) {
        member.roles.push_back(
            {.id = role.required_text("id"), .permissions = permissions_at(role, "permissions")});
    });
    read_each(in, "channel_overwrites", [&member](WireReader& overwrite) {
        const auto type = overwrite.integer("type");
        if (!type || *type < 0 || *type > 1) {
            overwrite.add_problem("type", "must be 0 (role) or 1 (member)");
        }
        member.overwrites.push_back(
            {.id = overwrite.required_text("id"),
             .is_member = type == 1,
             .allow = permissions_at(overwrite, "allow"),
             .deny = permissions_at(overwrite, "deny")});
    });
    const std::uint64_t permissions = effective_permissions(member);
    return in.finish(Json::object({
        {"view_channel", (permissions & kDiscordViewChannel) != 0},
        {"permissions", std::to_string(permissions)},
    }));
}

}  // namespace interlock
