// The helpers of people around strategies (docs/contracts/control-decision.md#strategy-instances).
#include "trader/face/strategy_operations.h"

#include "codec/json_schema.h"
#include "host/face/answer_reply.h"
#include "host/face/call_arguments.h"

namespace interlock {
namespace {

constexpr Access kHumans{.human = true};

struct Text {
    std::string_view id;
    std::string_view path;  // Behind /api/{tenant_id}/.
    std::string_view summary;
    std::string_view description;
};

constexpr Text kCreate{
    "create_strategy",
    "instances",
    "Create a strategy instance for one market of an account.",
    "It starts off or observing; switch_strategy or an agent's decision makes it trade."};
constexpr Text kUpdate{
    "update_strategy",
    "instances/{strategy_id}",
    "Change an instance's name, config, state or, unless active, mode.",
    "A new config reloads it; state is carried over for keys the type knows. Lifts its error "
    "latch."};
constexpr Text kDelete{
    "delete_strategy",
    "instances/{strategy_id}/delete",
    "Delete an instance that is not active and has no open orders.",
    "What it did stays on the record."};
constexpr Text kControl{
    "control_strategy",
    "instances/{strategy_id}/control",
    "Start, pause, resume, stop or reconcile an instance.",
    "Start makes it the concern's active one when there is none; stop cancels its orders."};
constexpr Text kPolicy{
    "set_strategy_policy",
    "instances/{strategy_id}/policy",
    "Set risk posture, priority and metadata of an instance.",
    "Posture moves the type's own thresholds; a higher priority ticks more often."};
constexpr Text kSwitch{
    "switch_strategy",
    "instances/{strategy_id}/switch",
    "Make this instance the active one of its concern.",
    "The same procedure as an agent's switch: the old one's orders are cancelled and confirmed "
    "gone first, or everything is rolled back."};
constexpr Text kPause{
    "pause_strategy",
    "instances/{strategy_id}/pause",
    "Pause the active instance of a concern.",
    "No ticks and no new orders until resumed, also over a restart."};
constexpr Text kResume{
    "resume_strategy",
    "instances/{strategy_id}/resume",
    "Let a paused or latched active instance go on.",
    "Lifts its error latch too."};
constexpr Text kReconcile{
    "reconcile_instance",
    "instances/{strategy_id}/reconcile",
    "Make the running instance equal to its stored record.",
    "Loads, reloads or unloads it."};
constexpr Text kConcern{
    "set_concern",
    "concerns/{concern_id}",
    "Set a concern's status: active, paused or informational.",
    "An informational concern refuses every control decision and does not trade."};

LoopService::Caller caller_of(ApiCall& call, std::string hash) {
    return {std::move(call.principal), std::move(call.tenant_id), std::move(hash)};
}

// Stop and reconcile answer with the instance, the others with the result of the control decision
// that they are: the members of both, and only what both have is always there.
Json helper_answer_schema() {
    Json schema = strategy_schema();
    Json& properties = *schema.find("properties");
    const Json result = control_result_schema();
    for (const auto& [name, member] : result.find("properties")->members()) {
        if (properties.find(name) == nullptr) {
            properties.set(name, member);
        }
    }
    schema.set("required", Json::array({"status", "concern_id"}));
    return schema;
}

Json answer_schema_of(std::string_view id) {
    if (id == kControl.id) {
        return helper_answer_schema();
    }
    if (id == kSwitch.id || id == kPause.id || id == kResume.id) {
        return control_result_schema();
    }
    if (id == kConcern.id) {
        return schema::object({
            {"concern_id", schema::text()},
            {"status", schema::words({"active", "paused", "informational"})},
            {"audit_ref", schema::text()},
        });
    }
    return strategy_schema();
}

Operation shape(const Text& text) {
    return {
        .id = std::string(text.id),
        .method = "POST",
        .path = "/api/{tenant_id}/" + std::string(text.path),
        .summary = std::string(text.summary),
        .description = std::string(text.description),
        .access = kHumans,
        .query = {},
        .request_schema = strategy_request_schema(text.id),
        .answer_schema = answer_schema_of(text.id),
        .tool = std::nullopt,
        .handle = nullptr,
    };
}

// Decodes the request and hands it to `run` with the caller, the call and the answer's way back.
template <class Request, class Run>
Operation helper(const Text& text, Result<Request> (*decode)(const Json&), Run run) {
    Operation operation = shape(text);
    operation.handle = [decode, run, id = operation.id](ApiCall call, ApiReplyTo reply) {
        auto request = decode(call.body);
        if (!request) {
            reply(std::unexpected(std::move(request).error()));
            return;
        }
        // What the path names is part of the request: the key of one instance's pause does not
        // answer for another's.
        std::string subject = id;
        for (const auto& [name, value] : call.path) {
            subject += "/" + value;
        }
        auto hash = request_hash(call, subject);
        if (!hash) {
            reply(std::unexpected(std::move(hash).error()));
            return;
        }
        run(call, *std::move(request), *std::move(hash), std::move(reply));
    };
    return operation;
}

// The same for a call that names an instance in its path.
template <class Request, class Run>
Operation on_instance(const Text& text, Result<Request> (*decode)(const Json&), Run run) {
    return helper(
        text, decode, [run](ApiCall& call, Request request, std::string hash, ApiReplyTo reply) {
            auto id = StrategyId::parse(call.path["strategy_id"]);
            if (!id) {
                reply(std::unexpected(std::move(id).error()));
                return;
            }
            run(caller_of(call, std::move(hash)),
                *std::move(id),
                std::move(request),
                answer_to(std::move(reply)));
        });
}

Operation move_operation(StrategyService& strategies, const Text& text, ControlAction action) {
    return on_instance(
        text,
        &decode_move_strategy,
        [&strategies, action](
            LoopService::Caller caller,
            StrategyId id,
            MoveStrategyRequest request,
            LoopService::Reply reply) {
            strategies.move(
                std::move(caller),
                {.id = std::move(id), .action = action, .request = std::move(request)},
                std::move(reply));
        });
}

void register_changes(OperationTable& table, StrategyService& strategies) {
    table.add(helper(
        kCreate,
        &decode_create_strategy,
        [&strategies](
            ApiCall& call, CreateStrategyRequest request, std::string hash, ApiReplyTo reply) {
            strategies.create(
                caller_of(call, std::move(hash)), std::move(request), answer_to(std::move(reply)));
        }));
    table.add(on_instance(
        kUpdate,
        &decode_update_strategy,
        [&strategies](
            LoopService::Caller caller,
            StrategyId id,
            UpdateStrategyRequest request,
            LoopService::Reply reply) {
            strategies.update(
                std::move(caller), std::move(id), std::move(request), std::move(reply));
        }));
    table.add(on_instance(
        kDelete,
        &decode_delete_strategy,
        [&strategies](
            LoopService::Caller caller,
            StrategyId id,
            DeleteStrategyRequest request,
            LoopService::Reply reply) {
            strategies.remove(
                std::move(caller), std::move(id), std::move(request), std::move(reply));
        }));
    table.add(on_instance(
        kPolicy,
        &decode_strategy_policy_request,
        [&strategies](
            LoopService::Caller caller,
            StrategyId id,
            StrategyPolicyRequest request,
            LoopService::Reply reply) {
            strategies.set_policy(
                std::move(caller), std::move(id), std::move(request), std::move(reply));
        }));
}

}  // namespace

void register_strategy_operations(OperationTable& table, StrategyService& strategies) {
    register_changes(table, strategies);
    table.add(on_instance(
        kControl,
        &decode_control_strategy,
        [&strategies](
            LoopService::Caller caller,
            StrategyId id,
            ControlStrategyRequest request,
            LoopService::Reply reply) {
            strategies.control(
                std::move(caller), std::move(id), std::move(request), std::move(reply));
        }));
    table.add(move_operation(strategies, kSwitch, ControlAction::switch_strategy));
    Operation pause = move_operation(strategies, kPause, ControlAction::pause);
    pause.access.human_at_rest = true;
    table.add(std::move(pause));
    table.add(move_operation(strategies, kResume, ControlAction::resume));
    table.add(on_instance(
        kReconcile,
        &decode_move_strategy,
        [&strategies](
            LoopService::Caller caller,
            StrategyId id,
            MoveStrategyRequest request,
            LoopService::Reply reply) {
            strategies.reconcile(
                std::move(caller), std::move(id), std::move(request.call), std::move(reply));
        }));
    table.add(helper(
        kConcern,
        &decode_concern_request,
        [&strategies](ApiCall& call, ConcernRequest request, std::string hash, ApiReplyTo reply) {
            auto id = ConcernId::parse(call.path["concern_id"]);
            if (!id) {
                reply(std::unexpected(std::move(id).error()));
                return;
            }
            strategies.set_concern(
                caller_of(call, std::move(hash)),
                *std::move(id),
                std::move(request),
                answer_to(std::move(reply)));
        }));
}

}  // namespace interlock
