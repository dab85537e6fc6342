#include "bots/face/bot_operations.h"

#include <algorithm>

#include "base/check.h"
#include "base/errors.h"
#include "bots/wire/bot_endpoints.h"
#include "codec/field_reader.h"
#include "codec/json_schema.h"
#include "host/face/answer_reply.h"
#include "host/face/call_arguments.h"
#include "host/wire/call_key.h"

namespace interlock {
namespace {

using Handle = std::function<void(ApiCall, ApiReplyTo)>;

LoopService::Caller caller_of(const ApiCall& call) {
    return {call.principal, call.tenant_id, {}};
}

// A caller whose call can be repeated by its key, when it gave one. Exchange secrets are left out
// of the hash: nothing of them is stored, not even so.
LoopService::Caller keyed_caller(const ApiCall& call, std::string_view id) {
    LoopService::Caller caller = caller_of(call);
    const Json* key = call.body.find("idempotency_key");
    if (key == nullptr || !key->is_string()) {
        return caller;
    }
    ApiCall known;
    known.tenant_id = call.tenant_id;
    known.body = Json::object();
    for (const auto& [name, value] : call.body.members()) {
        if (name != "api_secret" && name != "api_password") {
            known.body.set(name, value);
        }
    }
    auto parsed = IdempotencyKey::parse(key->as_string());
    auto hash = request_hash(known, id);
    if (parsed && hash) {
        caller.key = *std::move(parsed);
        caller.request_hash = *std::move(hash);
    }
    return caller;
}

bool is_read(const BotEndpoint& endpoint) {
    return endpoint.method == "GET";
}

// A conditional or proposing call of an agent is judged by the service; a human's own call is
// refused here.
Access access_of(const BotEndpoint& endpoint) {
    Access access{.host_operator = true, .human = true};
    if (endpoint.agent != AgentUse::no) {
        access.agent = Scope::bot;
    }
    access.human_at_rest = endpoint.id == "stop";
    return access;
}

// A call that changes something and declares no body takes none but its key: a field that somebody
// believed in must not be passed over.
Handle with_nothing(Handle handle) {
    return [handle = std::move(handle)](ApiCall call, ApiReplyTo reply) {
        FieldReader in(call.body);
        take_idempotency_key(in);
        in.reject_unknown();
        if (const auto read = in.finish(true); !read) {
            reply(std::unexpected(read.error()));
            return;
        }
        handle(std::move(call), std::move(reply));
    };
}

// What its summary, the endpoint's own description, does not say.
std::string description_of(const BotEndpoint& endpoint) {
    std::string text;
    if (!endpoint.requires_state.empty() && endpoint.requires_state != "any") {
        text = "Needs the state " + std::string(endpoint.requires_state) + ".";
    }
    switch (endpoint.agent) {
        case AgentUse::proposal_only:
            text = "Proposes: nothing changes before a human approves.";
            break;
        case AgentUse::conditional:
            text = "For paper always, else with the owner's grant.";
            break;
        case AgentUse::yes:
        case AgentUse::no:
            break;
    }
    return text;
}

Json parameter_schema(const BotField& field) {
    Json schema = Json::object({{"type", field.type}});
    schema.set("minimum", 1);
    schema.set("maximum", 2000);
    schema.set("default", parse_json(field.otherwise).value());
    return schema;
}

void add(OperationTable& table, std::string_view id, Handle handle) {
    const BotEndpoint* endpoint = find_bot_endpoint(id);
    CHECK(endpoint != nullptr);
    std::vector<QueryParameter> query;
    for (const BotField& field : endpoint->parameters) {
        query.push_back(
            {std::string(field.name), "How many of the latest lines.", parameter_schema(field)});
    }
    const bool proposes = endpoint->agent == AgentUse::proposal_only;
    Json request = request_schema_of(*endpoint);
    if (takes_idempotency_key(*endpoint) && request.find("properties")->members().size() == 1) {
        handle = with_nothing(std::move(handle));
    }
    table.add({
        .id = std::string(endpoint->id),
        .method = std::string(endpoint->method),
        .path = "/api/{tenant_id}" + std::string(endpoint->path),
        .summary = std::string(endpoint->description),
        .description = description_of(*endpoint),
        .access = access_of(*endpoint),
        .query = std::move(query),
        .request_schema = std::move(request),
        .answer_schema = response_schema_of(*endpoint),
        .statuses = proposes ? std::vector<int>{200, 202} : std::vector<int>{200},
        .tool =
            ToolHints{
                .read_only = is_read(*endpoint),
                .destructive = false,
                .idempotent = is_read(*endpoint) || endpoint->idempotent,
                .name = bot_tool_name(*endpoint)},
        .handle = std::move(handle),
    });
}

// A read that is answered at once.
template <class Read>
Handle at_once(Read read) {
    return [read](const ApiCall& call, const ApiReplyTo& reply) {
        reply(json_reply(200, read(call)));
    };
}

void add_lifecycle(OperationTable& table, BotService& bots) {
    const auto call_of = [&bots](BotCall wanted, std::string_view id) -> Handle {
        return [&bots, wanted, id](const ApiCall& call, ApiReplyTo reply) {
            bots.call(keyed_caller(call, id), {.call = wanted}, answer_to(std::move(reply)));
        };
    };
    add(table, "initialize_bot", call_of(BotCall::initialize, "initialize_bot"));
    add(table, "start", call_of(BotCall::start, "start"));
    add(table, "restart", call_of(BotCall::restart, "restart"));
    add(table, "stop", [&bots](const ApiCall& call, ApiReplyTo reply) {
        FieldReader in(call.body);
        const auto cancel = in.optional<bool>("cancel_orders");
        take_idempotency_key(in);
        in.reject_unknown();
        if (const auto read = in.finish(true); !read) {
            reply(std::unexpected(read.error()));
            return;
        }
        bots.call(
            keyed_caller(call, "stop"),
            {.call = BotCall::stop, .cancel_orders = cancel},
            answer_to(std::move(reply)));
    });
}

void add_reads(OperationTable& table, BotService& bots) {
    add(table, "status", at_once([&bots](const ApiCall& call) {
            return bots.status(call.tenant_id);
        }));
    add(table, "config", [&bots](const ApiCall& call, const ApiReplyTo& reply) {
        reply(ApiReply{.status = 200, .body = bots.config(call.tenant_id), .headers = {}});
    });
    add(table, "balances", at_once([&bots](const ApiCall& call) {
            return bots.balances(call.tenant_id);
        }));
    add(table, "health", at_once([](const ApiCall&) { return Json::object({{"status", "ok"}}); }));
    add(table, "exchange_status", [&bots](const ApiCall& call, ApiReplyTo reply) {
        bots.exchange_status(caller_of(call), answer_to(std::move(reply)));
    });
    add(table, "positions", [&bots](const ApiCall& call, ApiReplyTo reply) {
        bots.positions(caller_of(call), answer_to(std::move(reply)));
    });
    add(table, "logs", [&bots](const ApiCall& call, const ApiReplyTo& reply) {
        auto logs = bots.logs(call.tenant_id, query_integer(call, "lines", 100));
        if (!logs) {
            reply(std::unexpected(std::move(logs).error()));
            return;
        }
        charge_records(call, logs->records_read);
        ApiReply text;
        text.body = std::move(logs->text);
        reply(std::move(text));
    });
}

// The body without the fields that these problems are of.
Json without(const Json& body, const std::vector<FieldProblem>& problems) {
    Json rest = Json::object();
    for (const auto& [name, value] : body.members()) {
        const bool is_wrong = std::ranges::any_of(problems, [&](const FieldProblem& one) {
            return one.path.substr(0, one.path.find_first_of(".[")) == name;
        });
        if (!is_wrong) {
            rest.set(name, value);
        }
    }
    return rest;
}

template <class Decode>
void add_update(OperationTable& table, BotService& bots, const std::string& id, Decode decode) {
    add(table, id, [&bots, id, decode](const ApiCall& call, ApiReplyTo reply) {
        auto update = decode(call.body);
        std::vector<FieldProblem> problems;
        if (!update && call.body.is_object()) {
            // What is wrong with the request does not hide what is wrong with the setting
            // (bot.md#1-where: all problems at once), as far as the rest can be read.
            problems = update.error().problems;
            if (auto rest = decode(without(call.body, problems))) {
                update = std::move(rest);
            }
        }
        if (!update) {
            reply(std::unexpected(std::move(update).error()));
            return;
        }
        bots.change(
            keyed_caller(call, id),
            {.operation = id, .update = *std::move(update), .problems = std::move(problems)},
            answer_to(std::move(reply)));
    });
}

void add_configuration(OperationTable& table, BotService& bots) {
    add_update(table, bots, "update_pnl", decode_update_pnl);
    add_update(table, bots, "update_symbol", decode_update_symbol);
    add_update(table, bots, "update_all_symbols", decode_update_all_symbols);
    add_update(table, bots, "update_bot_settings", decode_update_bot_settings);
    add(table, "reload_from_config", [&bots](const ApiCall& call, ApiReplyTo reply) {
        bots.reload(keyed_caller(call, "reload_from_config"), answer_to(std::move(reply)));
    });
    table.add({
        .id = "set_stop_policy",
        .method = "POST",
        .path = "/api/{tenant_id}/stop_policy",
        .summary = "Say what becomes of open orders when the bot is stopped.",
        .description = "By default a stop leaves them at the exchange and lists them.",
        .access = {.human = true},
        .request_schema = Json::object({
            {"type", "object"},
            {"properties",
             Json::object(
                 {{"cancel_on_stop", schema::boolean("A stop cancels open orders too.")}})},
            {"required", Json::array({"cancel_on_stop"})},
            {"additionalProperties", false},
        }),
        .answer_schema =
            schema::object({{"cancel_on_stop", schema::boolean()}, {"audit_ref", schema::text()}}),
        .handle =
            [&bots](const ApiCall& call, ApiReplyTo reply) {
                FieldReader in(call.body);
                const bool cancel = in.required<bool>("cancel_on_stop");
                in.reject_unknown();
                if (const auto read = in.finish(true); !read) {
                    reply(std::unexpected(read.error()));
                    return;
                }
                bots.set_stop_policy(caller_of(call), cancel, answer_to(std::move(reply)));
            },
    });
}

void add_connectivity(OperationTable& table, BotService& bots) {
    add(table, "update_exchange_keys", [&bots](const ApiCall& call, ApiReplyTo reply) {
        auto keys = decode_exchange_keys(call.body);
        if (!keys) {
            reply(std::unexpected(std::move(keys).error()));
            return;
        }
        bots.put_keys(
            keyed_caller(call, "update_exchange_keys"),
            *std::move(keys),
            answer_to(std::move(reply)));
    });
    add(table, "connect_exchange", [&bots](const ApiCall& call, ApiReplyTo reply) {
        bots.connect(keyed_caller(call, "connect_exchange"), answer_to(std::move(reply)));
    });
    add(table, "disconnect_exchange", [&bots](const ApiCall& call, ApiReplyTo reply) {
        bots.disconnect(keyed_caller(call, "disconnect_exchange"), answer_to(std::move(reply)));
    });
}

void add_pnl(OperationTable& table, BotService& bots) {
    add(table, "pnl_status", at_once([&bots](const ApiCall& call) {
            return encode(bots.pnl().status(call.tenant_id));
        }));
    add(table, "pnl_last_update", at_once([&bots](const ApiCall& call) {
            return pnl_last_update_json(bots.pnl().status(call.tenant_id));
        }));
    add(table, "pnl_snapshot", [&bots](const ApiCall& call, const ApiReplyTo& reply) {
        const auto lines = static_cast<std::size_t>(query_integer(call, "lines", 200));
        const auto log = bots.pnl().snapshot(call.tenant_id, lines);
        reply(
            log ? Result<ApiReply>(json_reply(200, Json::object({{"log", *log}})))
                : std::unexpected(log.error()));
    });
    add(table, "run_pnl", [&bots](const ApiCall& call, ApiReplyTo reply) {
        FieldReader in(call.body);
        const std::int64_t days = in.optional_integer_or(
            "lookback_days", kLookbackDaysMin, kLookbackDaysMax, kLookbackDaysDefault);
        take_idempotency_key(in);
        in.reject_unknown();
        if (const auto read = in.finish(true); !read) {
            reply(std::unexpected(read.error()));
            return;
        }
        bots.run_pnl(keyed_caller(call, "run_pnl"), days, answer_to(std::move(reply)));
    });
    add(table, "stop_pnl", [&bots](const ApiCall& call, ApiReplyTo reply) {
        bots.stop_pnl(keyed_caller(call, "stop_pnl"), answer_to(std::move(reply)));
    });
}

}  // namespace

void register_bot_operations(OperationTable& table, BotService& bots) {
    add_lifecycle(table, bots);
    add_reads(table, bots);
    add_configuration(table, bots);
    add_connectivity(table, bots);
    add_pnl(table, bots);
}

}  // namespace interlock
