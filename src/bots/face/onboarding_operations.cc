#include "bots/face/onboarding_operations.h"

#include "bots/wire/bot_endpoints.h"
#include "host/face/peer.h"

namespace interlock {
namespace {

constexpr Access kAnyone{.place = Access::Place::host, .anyone = true};
constexpr Access kHuman{.human = true};
constexpr Access kOperator{.host_operator = true};
constexpr Access kKeepers{.host_operator = true, .human = true};
constexpr Access kUsers{.host_operator = true, .human = true, .agent = Scope::bot};

OnboardingService::Caller caller_of(ApiCall& call) {
    return {std::move(call.principal), std::move(call.tenant_id)};
}

template <class T>
OnboardingService::Reply<T> json_to(int status, ApiReplyTo reply) {
    return [status, reply = std::move(reply)](Result<T> value) {
        if (!value) {
            reply(std::unexpected(std::move(value).error()));
            return;
        }
        reply(json_reply(status, encode(*value)));
    };
}

OnboardingService::Reply<Json> document_to(ApiReplyTo reply) {
    return [reply = std::move(reply)](Result<Json> value) {
        if (!value) {
            reply(std::unexpected(std::move(value).error()));
            return;
        }
        reply(json_reply(200, *value));
    };
}

// What changes the account and answers with it: how its request is read and what then runs.
template <class Request>
struct AccountVerb {
    Result<Request> (*decode)(const Json&);
    void (OnboardingService::*run)(
        OnboardingService::Caller, Request, OnboardingService::Reply<BotAccountView>);
};

template <class Request>
auto handle_verb(OnboardingService& onboarding, AccountVerb<Request> verb) {
    return [&onboarding, verb](ApiCall call, ApiReplyTo reply) {
        auto request = verb.decode(call.body);
        if (!request) {
            reply(std::unexpected(std::move(request).error()));
            return;
        }
        (onboarding.*verb.run)(
            caller_of(call), *std::move(request), json_to<BotAccountView>(200, std::move(reply)));
    };
}

struct Words {
    std::string id;
    std::string path;
    std::string summary;
    std::string description;
};

// A POST of a tenant's account that answers with the account; to be completed.
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
        .answer_schema = account_view_schema(),
        .tool = std::nullopt,
        .handle = {},
    };
}

// Not offered over MCP: who can reach that has an account already, and the contract of a planner's
// key lists its tools.
void add_signup(OperationTable& table, OnboardingService& onboarding) {
    Operation signup = account_operation(
        {"signup",
         "/signup",
         "Make a tenant with an owner's default configuration and show its access key once.",
         "The owner gets a letter with an activation link, good for 24 hours. Everything works on "
         "the paper exchange at once, without waiting for the owner. The key is kept only as a "
         "hash: store it now. Not repeatable: an address that is known is 409. At most 10 signups "
         "an hour from one address, 1000 on the host: 429 with Retry-After."},
        kAnyone);
    signup.request_schema = signup_schema();
    signup.answer_schema = new_account_schema();
    signup.statuses = {201};
    signup.lane = AnonymousLane::entrance;
    signup.handle = [&onboarding](ApiCall call, ApiReplyTo reply) {
        auto request = decode_signup(call.body);
        if (!request) {
            reply(std::unexpected(std::move(request).error()));
            return;
        }
        OnboardingService::Peer peer;
        peer.principal = std::move(call.principal);
        if (call.http != nullptr) {
            peer.address = peer_of(*call.http);
            peer.is_loopback = call.http->peer_is_loopback;
        }
        onboarding.signup(
            std::move(peer), *std::move(request), json_to<NewAccount>(201, std::move(reply)));
    };
    table.add(std::move(signup));
}

void add_letter(OperationTable& table, OnboardingService& onboarding) {
    Operation ask = account_operation(
        {"ask_activation_letter",
         "/account/activation-letter",
         "Have the activation letter sent to an address once more.",
         "For an owner who lost it. Answers the same whether the address is known or not. At most "
         "ten an hour from one peer and three for one address: 429 with Retry-After."},
        kAnyone);
    ask.request_schema = activation_letter_schema();
    ask.answer_schema = Json::object(
        {{"type", "object"},
         {"required", Json::array({"message"})},
         {"properties", Json::object({{"message", Json::object({{"type", "string"}})}})}});
    ask.statuses = {202};
    ask.handle = [&onboarding](ApiCall call, ApiReplyTo reply) {
        auto request = decode_activation_letter(call.body);
        if (!request) {
            reply(std::unexpected(std::move(request).error()));
            return;
        }
        AttemptPeer peer;
        if (call.http != nullptr) {
            peer = {call.http->peer_address, call.http->peer_is_loopback};
        }
        onboarding.ask_letter(
            peer, request->email, [reply = std::move(reply)](Result<std::monostate> taken) {
                if (!taken) {
                    reply(std::unexpected(std::move(taken).error()));
                    return;
                }
                reply(json_reply(
                    202,
                    Json::object(
                        {{"message",
                          "If an account with this address waits for its owner, a letter is on "
                          "its way."}})));
            });
    };
    table.add(std::move(ask));
}

void add_status(OperationTable& table, OnboardingService& onboarding) {
    Operation status = account_operation(
        {"account_status",
         "/api/{tenant_id}/account/status",
         "Plan, whether the account is active, and when its trial ends.",
         "Read as committed, without waiting for anything. A tenant that the operator made has the "
         "plan `operator` and is always active."},
        kUsers);
    status.method = "GET";
    status.tool = ToolHints{
        .read_only = true,
        .idempotent = true,
        .name = bot_tool_name(*find_bot_endpoint("account_status"))};
    status.handle = [&onboarding](const ApiCall& call, const ApiReplyTo& reply) {
        ApiReply out;
        out.body = onboarding.status_text(call.tenant_id);
        reply(std::move(out));
    };
    table.add(std::move(status));
}

void add_plan_operations(OperationTable& table, OnboardingService& onboarding) {
    Operation plan = account_operation(
        {"set_plan",
         "/api/{tenant_id}/account/plan",
         "Confirm, renew or end the plan of an account.",
         "A confirmed plan has no end; `trial` is 14 days from now; null ends the plan at once and "
         "stops its bot."},
        kOperator);
    plan.request_schema = set_plan_schema();
    plan.handle = handle_verb<SetPlan>(onboarding, {decode_set_plan, &OnboardingService::set_plan});
    table.add(std::move(plan));

    Operation resend = account_operation(
        {"resend_activation",
         "/api/{tenant_id}/account/resend-activation",
         "Send the owner's activation letter again.",
         "With a new code; earlier letters' links are void. One a minute at most."},
        kKeepers);
    resend.handle = [&onboarding](ApiCall call, ApiReplyTo reply) {
        onboarding.resend_activation(
            caller_of(call), json_to<BotAccountView>(200, std::move(reply)));
    };
    table.add(std::move(resend));
}

void add_key_operations(OperationTable& table, OnboardingService& onboarding) {
    Operation regenerate = account_operation(
        {"regenerate_key",
         "/api/{tenant_id}/account/regenerate-key",
         "Replace the account's access key and show the new one once.",
         "The old key is refused everywhere from the moment this is answered, and the bot is "
         "restarted. The new one is held to the same asset list. Keys made with create_access_key "
         "are as they were."},
        kHuman);
    regenerate.answer_schema = regenerated_key_schema();
    regenerate.handle = [&onboarding](ApiCall call, ApiReplyTo reply) {
        onboarding.regenerate_key(caller_of(call), json_to<RegeneratedKey>(200, std::move(reply)));
    };
    table.add(std::move(regenerate));

    Operation grant = account_operation(
        {"grant_key_provisioning",
         "/api/{tenant_id}/account/key-grant",
         "Let an agent put exchange keys into the vault, once.",
         "Used up by the first update_exchange_keys of an agent that it covers, or by time: 24 "
         "hours unless said otherwise. A new grant takes the place of the one before. The paper "
         "exchange needs none."},
        kHuman);
    grant.request_schema = grant_keys_schema();
    grant.handle = handle_verb<GrantKeys>(
        onboarding, {decode_grant_keys, &OnboardingService::grant_key_provisioning});
    table.add(std::move(grant));

    Operation revoke = account_operation(
        {"revoke_key_provisioning",
         "/api/{tenant_id}/account/key-grant",
         "Take the grant to provision exchange keys back.",
         "Without one it changes nothing."},
        kHuman);
    revoke.method = "DELETE";
    revoke.access.human_at_rest = true;
    revoke.handle = [&onboarding](ApiCall call, ApiReplyTo reply) {
        onboarding.revoke_key_provisioning(
            caller_of(call), json_to<BotAccountView>(200, std::move(reply)));
    };
    table.add(std::move(revoke));
}

void add_asset_operations(OperationTable& table, OnboardingService& onboarding) {
    Operation set = account_operation(
        {"set_asset_list",
         "/api/{tenant_id}/account/asset-lists",
         "Say which markets an access key may name.",
         "A key without a list may name any market. Answers with the lists of all keys."},
        kHuman);
    set.request_schema = set_asset_list_schema();
    set.answer_schema = asset_lists_schema();
    set.handle = [&onboarding](ApiCall call, ApiReplyTo reply) {
        auto request = decode_set_asset_list(call.body);
        if (!request) {
            reply(std::unexpected(std::move(request).error()));
            return;
        }
        onboarding.set_asset_list(
            caller_of(call), *std::move(request), document_to(std::move(reply)));
    };
    table.add(std::move(set));

    Operation list = account_operation(
        {"list_asset_lists",
         "/api/{tenant_id}/account/asset-lists",
         "List which access keys may name which markets.",
         "Keys that are not in the answer may name any."},
        kKeepers);
    list.method = "GET";
    list.answer_schema = asset_lists_schema();
    list.handle = [&onboarding](ApiCall call, ApiReplyTo reply) {
        onboarding.list_asset_lists(caller_of(call), document_to(std::move(reply)));
    };
    table.add(std::move(list));
}

}  // namespace

void register_onboarding_operations(OperationTable& table, OnboardingService& onboarding) {
    add_signup(table, onboarding);
    add_letter(table, onboarding);
    add_status(table, onboarding);
    add_plan_operations(table, onboarding);
    add_key_operations(table, onboarding);
    add_asset_operations(table, onboarding);
}

}  // namespace interlock
