#include "host/face/account_operations.h"

#include "host/face/authenticate.h"
#include "host/face/peer.h"
#include "host/rules/session_policy.h"

namespace interlock {
namespace {

// Two passwords of the longest kind.
constexpr std::size_t kAccountBodyBytesMax = 8 * 1024;
constexpr Access kAnyone{.place = Access::Place::host, .anyone = true};
constexpr Access kHuman{.place = Access::Place::host, .human = true};

constexpr std::int64_t kDeviceLifeSeconds = 365 * 24 * 3600;

struct Cookie {
    std::string_view name;
    std::string_view value;
    std::string_view path;
    std::int64_t max_age_seconds;
};

HttpHeader set_cookie(const Cookie& cookie, bool is_secure) {
    return {
        "Set-Cookie",
        std::string(cookie.name) + "=" + std::string(cookie.value) +
            "; HttpOnly; SameSite=Strict; Path=" + std::string(cookie.path) +
            "; Max-Age=" + std::to_string(cookie.max_age_seconds) + (is_secure ? "; Secure" : "")};
}

HttpHeader session_cookie(std::string_view value, std::int64_t max_age_seconds, bool is_secure) {
    return set_cookie({kSessionCookie, value, "/", max_age_seconds}, is_secure);
}

// A foreign page could log a browser in to an account of its own choosing and then read what the
// human does there. Programs send no Origin.
Result<void> check_login_origin(const ApiCall& call) {
    if (call.http != nullptr && call.http->header("Origin") && !call.is_own_page) {
        return fail(errors::cross_origin, "A login must come from a page of this server.");
    }
    return {};
}

PrincipalService::Reply<LoggedIn> session_reply(bool is_secure, bool want_token, ApiReplyTo reply) {
    return [is_secure, want_token, reply = std::move(reply)](Result<LoggedIn> logged_in) {
        if (!logged_in) {
            reply(std::unexpected(std::move(logged_in).error()));
            return;
        }
        constexpr std::int64_t kLifeSeconds = kSessionLife.microseconds / 1'000'000;
        ApiReply out = json_reply(200, encode(*logged_in, want_token));
        out.headers.push_back(session_cookie(logged_in->token.reveal(), kLifeSeconds, is_secure));
        if (logged_in->device) {
            // Sent back only where one logs in.
            out.headers.push_back(set_cookie(
                {kDeviceCookie, logged_in->device->reveal(), "/account", kDeviceLifeSeconds},
                is_secure));
        }
        reply(std::move(out));
    };
}

template <class T>
PrincipalService::Reply<T> json_to(ApiReplyTo reply) {
    return [reply = std::move(reply)](Result<T> value) {
        if (!value) {
            reply(std::unexpected(std::move(value).error()));
            return;
        }
        reply(json_reply(200, encode(*value)));
    };
}

void note_caller(LoginRequest& request, const HttpRequest& http) {
    request.peer = peer_group_of(http);
    if (auto device = cookie_of(http, kDeviceCookie)) {
        request.device.emplace(*std::move(device));
    }
}

void note_caller(ActivateRequest& request, const HttpRequest& http) {
    request.peer = peer_group_of(http);
}

// login and activate: anyone may call, and the answer carries a session.
template <class Request>
struct Entrance {
    Result<Request> (*decode)(const Json&);
    void (PrincipalService::*enter)(Request, PrincipalService::Reply<LoggedIn>);
};

template <class Request>
auto handle_entrance(PrincipalService& principals, Entrance<Request> entrance) {
    return [&principals, entrance](ApiCall call, ApiReplyTo reply) {
        if (const auto checked = check_login_origin(call); !checked) {
            reply(std::unexpected(checked.error()));
            return;
        }
        auto request = entrance.decode(call.body);
        if (!request) {
            reply(std::unexpected(std::move(request).error()));
            return;
        }
        if (call.http != nullptr) {
            note_caller(*request, *call.http);
        }
        const bool want_token = request->want_token;
        (principals.*entrance.enter)(
            *std::move(request), session_reply(call.is_secure, want_token, std::move(reply)));
    };
}

// Something a human asks of their own account, answered with the session as it then is.
template <class Request>
struct AccountVerb {
    Result<Request> (*decode)(const Json&);
    void (PrincipalService::*run)(Principal, Request, PrincipalService::Reply<SessionInfo>);
};

template <class Request>
auto handle_verb(PrincipalService& principals, AccountVerb<Request> verb) {
    return [&principals, verb](ApiCall call, ApiReplyTo reply) {
        auto request = verb.decode(call.body);
        if (!request) {
            reply(std::unexpected(std::move(request).error()));
            return;
        }
        (principals.*verb.run)(
            std::move(call.principal), *std::move(request), json_to<SessionInfo>(std::move(reply)));
    };
}

struct Words {
    std::string id;
    std::string path;
    std::string summary;
    std::string description;
};

// A POST of the account, to be completed with what it takes, gives and does.
Operation account_operation(Words words, const Access& access) {
    return {
        .id = std::move(words.id),
        .method = "POST",
        .path = std::move(words.path),
        .summary = std::move(words.summary),
        .description = std::move(words.description),
        .access = access,
        .query = {},
        .request_schema = {},
        .answer_schema = session_info_schema(),
        .tool = std::nullopt,
        .body_bytes_max = kAccountBodyBytesMax,
        .handle = {},
    };
}

void add_entrances(OperationTable& table, PrincipalService& principals) {
    Operation login = account_operation(
        {"login",
         "/account/login",
         "Log in as a human.",
         "Sets the session cookie, good for 12 hours. Whatever is wrong, the answer is the same "
         "401. After five failures the account is shut for a minute, then longer, up to fifteen "
         "minutes: 429 with Retry-After. A browser in which the human has logged in before is "
         "counted apart, by the cookie it was given then."},
        kAnyone);
    login.lane = AnonymousLane::entrance;
    login.request_schema = login_schema();
    login.answer_schema = logged_in_schema();
    login.handle =
        handle_entrance<LoginRequest>(principals, {decode_login, &PrincipalService::login});
    table.add(std::move(login));

    Operation activate = account_operation(
        {"activate",
         "/account/activate",
         "Accept an invitation: set the first password and log in.",
         "The code is used once and is good for 24 hours. The password has at least 12 "
         "characters. The answer shows ten recovery codes this once."},
        kAnyone);
    activate.lane = AnonymousLane::entrance;
    activate.request_schema = activate_schema();
    activate.answer_schema = logged_in_schema();
    activate.handle = handle_entrance<ActivateRequest>(
        principals, {decode_activate, &PrincipalService::activate});
    table.add(std::move(activate));
}

AttemptPeer peer_of(const ApiCall& call) {
    return call.http == nullptr ? AttemptPeer{}
                                : AttemptPeer{call.http->peer_address, call.http->peer_is_loopback};
}

void recover(PrincipalService& principals, const ApiCall& call, ApiReplyTo reply) {
    if (const auto checked = check_login_origin(call); !checked) {
        reply(std::unexpected(checked.error()));
        return;
    }
    auto request = decode_recover(call.body);
    if (!request) {
        reply(std::unexpected(std::move(request).error()));
        return;
    }
    const bool want_token = request->want_token;
    principals.recover(
        peer_of(call),
        *std::move(request),
        session_reply(call.is_secure, want_token, std::move(reply)));
}

void add_recovery_operations(OperationTable& table, PrincipalService& principals) {
    Operation back = account_operation(
        {"recover_login",
         "/account/recover",
         "Use a recovery code to set a new password, and log in.",
         "The code is one of yours, or one that a colleague or the operator had made for you. It "
         "is used up; all your sessions end, the second factor is dropped, and a new set of codes "
         "is shown this once. Your vote rests for 72 hours. Whatever is wrong, the answer is the "
         "same 401. Ten tries an hour from one address, five for one account: 429 with "
         "Retry-After."},
        kAnyone);
    back.request_schema = recover_schema();
    back.answer_schema = logged_in_schema();
    back.handle = [&principals](ApiCall call, ApiReplyTo reply) {
        recover(principals, call, std::move(reply));
    };
    table.add(std::move(back));

    Operation codes = account_operation(
        {"make_recovery_codes",
         "/account/recovery-codes",
         "Make a new set of recovery codes and show it once.",
         "The old set is void. Needs a login or proof of the last five minutes."},
        kHuman);
    codes.answer_schema = recovery_codes_schema();
    codes.handle = [&principals](ApiCall call, ApiReplyTo reply) {
        principals.make_recovery_codes(
            std::move(call.principal), json_to<RecoveryCodes>(std::move(reply)));
    };
    table.add(std::move(codes));
}

void logout(PrincipalService& principals, ApiCall call, ApiReplyTo reply) {
    const bool is_secure = call.is_secure;
    principals.logout(
        std::move(call.principal), [is_secure, reply = std::move(reply)](Result<SessionInfo> info) {
            if (!info) {
                reply(std::unexpected(std::move(info).error()));
                return;
            }
            ApiReply out = json_reply(200, encode(*info));
            out.headers.push_back(session_cookie("", 0, is_secure));
            reply(std::move(out));
        });
}

void add_session_operations(OperationTable& table, PrincipalService& principals) {
    Operation end = account_operation(
        {"logout",
         "/account/logout",
         "Log out.",
         "Ends this session at once and clears the cookie; shows the session as it was."},
        kHuman);
    end.handle = [&principals](ApiCall call, ApiReplyTo reply) {
        logout(principals, std::move(call), std::move(reply));
    };
    table.add(std::move(end));

    Operation show = account_operation(
        {"get_session",
         "/account/session",
         "Show who is logged in, where they belong and until when.",
         "Using a session does not prolong it."},
        kHuman);
    show.method = "GET";
    show.handle = [&principals](ApiCall call, ApiReplyTo reply) {
        principals.session(std::move(call.principal), json_to<SessionInfo>(std::move(reply)));
    };
    table.add(std::move(show));

    Operation again = account_operation(
        {"reauthenticate",
         "/account/reauthenticate",
         "Prove again that it is you, by password or one-time code.",
         "Some approvals need a proof of the last five minutes. Five wrong ones end the session."},
        kHuman);
    again.request_schema = reauthenticate_schema();
    again.handle = handle_verb<ReauthenticateRequest>(
        principals, {decode_reauthenticate, &PrincipalService::reauthenticate});
    table.add(std::move(again));

    Operation password = account_operation(
        {"change_password",
         "/account/password",
         "Change your password.",
         "Needs the old one, and ends all your other sessions."},
        kHuman);
    password.request_schema = change_password_schema();
    password.handle = handle_verb<ChangePasswordRequest>(
        principals, {decode_change_password, &PrincipalService::change_password});
    table.add(std::move(password));
}

void add_totp_operations(OperationTable& table, PrincipalService& principals) {
    Operation enrol = account_operation(
        {"enrol_totp",
         "/account/totp/enrol",
         "Begin to set up an authenticator app.",
         "Shows the key once, as text and as a URI for a QR code. It counts only after a code that "
         "it makes was confirmed. Needs a login or proof of the last five minutes."},
        kHuman);
    enrol.answer_schema = totp_enrolment_schema();
    enrol.handle = [&principals](ApiCall call, ApiReplyTo reply) {
        principals.enrol_totp(std::move(call.principal), json_to<TotpEnrolment>(std::move(reply)));
    };
    table.add(std::move(enrol));

    Operation confirm = account_operation(
        {"confirm_totp",
         "/account/totp/confirm",
         "Finish setting up the authenticator app.",
         "From now on a login needs a code as well; each code is good once."},
        kHuman);
    confirm.request_schema = confirm_totp_schema();
    confirm.handle = handle_verb<ConfirmTotpRequest>(
        principals, {decode_confirm_totp, &PrincipalService::confirm_totp});
    table.add(std::move(confirm));

    Operation disable = account_operation(
        {"disable_totp",
         "/account/totp/disable",
         "Stop asking for codes of the authenticator app.",
         "Needs the password."},
        kHuman);
    disable.request_schema = disable_totp_schema();
    disable.handle = handle_verb<DisableTotpRequest>(
        principals, {decode_disable_totp, &PrincipalService::disable_totp});
    table.add(std::move(disable));
}

}  // namespace

void register_account_operations(OperationTable& table, PrincipalService& principals) {
    add_entrances(table, principals);
    add_session_operations(table, principals);
    add_totp_operations(table, principals);
    add_recovery_operations(table, principals);
}

}  // namespace interlock
