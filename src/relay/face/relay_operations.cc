#include "relay/face/relay_operations.h"

#include <charconv>

#include "host/face/call_arguments.h"
#include "relay/face/relay_registrar.h"
#include "relay/face/relay_schemas.h"

namespace interlock {
namespace {

QueryParameter number_query(
    const char* name, const char* description, std::int64_t min, std::int64_t max) {
    return {
        name, description, Json::object({{"type", "integer"}, {"minimum", min}, {"maximum", max}})};
}

constexpr std::int64_t kNumberMax = std::int64_t{1} << 53U;

void add_views(RelayRegistrar& to, RelayViews& views) {
    to.add(
        {.id = "relay_status",
         .method = "GET",
         .path = "/api/relay/status",
         .summary = "How the relay is: bots, sockets, what waits.",
         .description =
             "Numbers over all instances. `bots` says of each whether it hears its platform: "
             "`connected`, `connecting`, `deaf` (for a minute or longer) or `broken` (it will not "
             "come back by itself). `shedding` names the instances whose buffer is full: what "
             "comes for them is laid aside.",
         .answer = relay_status_schema()},
        [&views](const ApiCall&, const RelayReply& reply) -> Result<void> {
            views.status(reply);
            return {};
        });
    to.add(
        {.id = "list_relay_instances",
         .method = "GET",
         .path = "/api/relay/instances",
         .summary = "List instances with their health and what waits for them.",
         .description =
             "Health: `live`, `draining`, `idle` (said so, still there), `asleep` (said so, gone), "
             "`dead` (gone without a word), `new` (never seen). `shedding` is not null while its "
             "buffer is full: since when, how many messages were laid aside, and how many dead "
             "letters made room for them.",
         .query = {tenant_query()},
         .answer = relay_list_schema("instances", relay_instance_schema())},
        [&views](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(TenantId tenant_id, query_tenant(call));
            views.instances(std::move(tenant_id), reply);
            return {};
        });
    to.add(
        {.id = "read_relay_buffer",
         .method = "GET",
         .path = "/api/relay/buffer",
         .summary = "List what waits for an instance, oldest first.",
         .description = "Ids, sizes and times; never the text. At most 500; read on with `after`.",
         .query =
             {text_query("instance_id", "Whose; required."),
              number_query("after", "Only entries behind this buffer id.", 0, kNumberMax)},
         .answer = relay_buffer_schema()},
        [&views](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(std::string instance_id, needed_query(call, "instance_id"));
            views.buffer(std::move(instance_id), query_integer(call, "after", 0), reply);
            return {};
        });
}

void add_events(RelayRegistrar& to, RelayViews& views) {
    to.add(
        {.id = "list_relay_events",
         .method = "GET",
         .path = "/api/relay/events",
         .summary = "List the latest events of platforms and who got them, newest first.",
         .description =
             "Each with the decision for every instance that was considered, who got it, and for "
             "whom it was laid aside because the buffer was full.",
         .query = {number_query("limit", "At most this many; 50 unless told.", 1, kRelayListMax)},
         .answer = relay_list_schema("events", relay_event_schema())},
        [&views](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            constexpr std::int64_t kEventsDefault = 50;
            views.events(query_integer(call, "limit", kEventsDefault), reply);
            return {};
        });
    to.add(
        {.id = "explain_relay_event",
         .method = "GET",
         .path = "/api/relay/why",
         .summary = "Say why an event went where it went.",
         .description = "Every layer of the delivery gate for every instance of the tenant, or why "
                        "there was no tenant at all.",
         .query = {text_query("event", "Its key, platform/bot/id; required.")},
         .answer = relay_event_schema()},
        [&views](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(std::string event, needed_query(call, "event"));
            views.why(std::move(event), reply);
            return {};
        });
}

Result<RelayDelivery::Letters> decode_letter(const ApiCall& call) {
    FieldReader in(call.body);
    RelayDelivery::Letters letters;
    letters.principal = to_text(call.principal);
    letters.instance_id = needed_id(in, "instance_id");
    const std::string text = needed_id(in, "buffer_id");
    std::int64_t seq = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
    if (!text.empty() && (error != std::errc() || end != text.data() + text.size())) {
        in.add_problem("buffer_id", "must be the number that the list shows, as text");
    }
    letters.seq = seq;
    return finish(in, std::move(letters));
}

// A caller that means all letters has to say so.
Result<RelayDelivery::Letters> decode_letters(const ApiCall& call) {
    FieldReader in(call.body);
    RelayDelivery::Letters letters;
    letters.principal = to_text(call.principal);
    letters.instance_id = optional_id(in, "instance_id");
    letters.tenant_id = in.optional<TenantId>("tenant_id").value_or(TenantId());
    const bool means_all = in.optional_or("all", false);
    letters.older_than = Duration::of_seconds(
        in.optional_integer_or("older_than_seconds", 0, kOlderThanSecondsMax, 0));
    if (letters.instance_id.empty() && letters.tenant_id.empty() && !means_all) {
        in.add_problem("instance_id", "give this, tenant_id, or `all` as true");
    }
    return finish(in, std::move(letters));
}

void add_many_letters(RelayRegistrar& to, RelayViews& views) {
    const auto request = [] {
        return relay_request_schema(
            {{"instance_id", false},
             {"tenant_id", false},
             {"all", false},
             {"older_than_seconds", false}});
    };
    to.add(
        {.id = "requeue_relay_dead_letters",
         .method = "POST",
         .path = "/api/relay/dead_letters/requeue_many",
         .summary = "Have many dead letters delivered after all.",
         .description = "Those of an instance, of a tenant, or all; in their order, behind what "
                        "waits, under new buffer ids. At most 500 a call: call again while `left` "
                        "exceeds `no_room`, which counts those whose buffer is full.",
         .request = request(),
         .answer = relay_letters_schema()},
        [&views](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(RelayDelivery::Letters letters, decode_letters(call));
            views.requeue(std::move(letters), reply);
            return {};
        });
    to.add(
        {.id = "discard_relay_dead_letters",
         .method = "POST",
         .path = "/api/relay/dead_letters/discard_many",
         .summary = "Throw many dead letters away for good.",
         .description = "Those of an instance, of a tenant, or all. Their texts are gone; ids and "
                        "digests of the events stay in the audit ledger. At most 500 a call: call "
                        "again while `left` is not 0.",
         .request = request(),
         .answer = relay_letters_schema()},
        [&views](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(RelayDelivery::Letters letters, decode_letters(call));
            views.discard(std::move(letters), reply);
            return {};
        });
}

void add_dead_letters(RelayRegistrar& to, RelayViews& views) {
    to.add(
        {.id = "list_relay_dead_letters",
         .method = "GET",
         .path = "/api/relay/dead_letters",
         .summary = "List messages that are not delivered any more, and why.",
         .description =
             "A message comes here when three sockets, apart in time, had it and none acknowledged "
             "it, when the buffer was full, or when it grew too old. At most 500.",
         .query = {text_query("instance_id", "Only of this instance.")},
         .answer = relay_list_schema("dead_letters", relay_dead_letter_schema())},
        [&views](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            views.dead_letters(query_text(call, "instance_id"), reply);
            return {};
        });
    to.add(
        {.id = "requeue_relay_dead_letter",
         .method = "POST",
         .path = "/api/relay/dead_letters/requeue",
         .summary = "Have a dead letter delivered after all.",
         .description = "It goes behind everything that waits, under a new buffer id.",
         .request = relay_request_schema({{"instance_id", true}, {"buffer_id", true}}),
         .answer = relay_ok_schema()},
        [&views](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(RelayDelivery::Letters letter, decode_letter(call));
            views.requeue(std::move(letter), reply);
            return {};
        });
    to.add(
        {.id = "discard_relay_dead_letter",
         .method = "POST",
         .path = "/api/relay/dead_letters/discard",
         .summary = "Throw a dead letter away for good.",
         .description = "Its text is gone; the event's ids and digest stay in the audit ledger.",
         .request = relay_request_schema({{"instance_id", true}, {"buffer_id", true}}),
         .answer = relay_ok_schema()},
        [&views](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(RelayDelivery::Letters letter, decode_letter(call));
            views.discard(std::move(letter), reply);
            return {};
        });
}

void add_outbounds(RelayRegistrar& to, RelayViews& views) {
    to.add(
        {.id = "list_relay_outbounds",
         .method = "GET",
         .path = "/api/relay/outbounds",
         .summary = "List what instances asked to be sent, newest first.",
         .description = "State: `pending`, `sent`, `not_sent`, `unknown`. Read on with `after` "
                        "while `next` is not empty.",
         .query =
             {text_query("instance_id", "Only of this instance."),
              {"state",
               "Only in this state.",
               Json::object(
                   {{"type", "string"},
                    {"enum", Json::array({"pending", "sent", "not_sent", "unknown"})}})},
              text_query("after", "The `next` of the page before."),
              number_query("limit", "At most this many; 50 unless told.", 1, kOutboundPageMax)},
         .answer = relay_outbounds_schema()},
        [&views](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            OutboundFilter filter;
            filter.instance_id = query_text(call, "instance_id");
            filter.state = query_text(call, "state");
            filter.after = query_text(call, "after");
            filter.count_max = query_integer(call, "limit", filter.count_max);
            views.outbounds(std::move(filter), reply);
            return {};
        });
    to.add(
        {.id = "replay_relay_outbound",
         .method = "POST",
         .path = "/api/relay/outbounds/replay",
         .summary = "Send again what was not sent, or may not have been.",
         .description = "As a new one under the same rules. The text moves to it, so that one "
                        "message cannot be replayed twice. What is `unknown` may be seen twice.",
         .request = relay_request_schema({{"outbound_id", true}}),
         .answer = relay_replay_schema()},
        [&views](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            FieldReader in(call.body);
            TRY_ASSIGN(std::string id, finish(in, needed_id(in, "outbound_id")));
            views.replay(std::move(id), to_text(call.principal), reply);
            return {};
        });
    to.add(
        {.id = "interrupt_relay_session",
         .method = "POST",
         .path = "/api/relay/interrupt",
         .summary = "Stop the turn that a session is running.",
         .description = "Reaches exactly the instance that runs it, when it is connected.",
         .request = relay_request_schema({{"tenant_id", true}, {"session_key", true}}),
         .answer = relay_ok_schema()},
        [&views](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            FieldReader in(call.body);
            const auto tenant_id = in.required<TenantId>("tenant_id");
            const std::string session = in.required_text("session_key");
            TRY(finish(in, true));
            views.interrupt(tenant_id, session, to_text(call.principal), reply);
            return {};
        });
}

std::string snake_case(std::string_view key) {
    std::string out;
    for (const char c : key) {
        if (c >= 'A' && c <= 'Z') {
            out += '_';
            out += static_cast<char>(c - 'A' + 'a');
        } else {
            out += c;
        }
    }
    // What gateways know as `tenant` is a tenant_id everywhere else.
    return out == "tenant" ? "tenant_id" : out;
}

}  // namespace

Json operator_answer(const Json& answer) {
    if (answer.is_array()) {
        Json list = Json::array();
        for (const Json& item : answer.items()) {
            list.push(operator_answer(item));
        }
        return list;
    }
    if (!answer.is_object()) {
        return answer;
    }
    Json object = Json::object();
    for (const auto& [key, value] : answer.members()) {
        object.set(snake_case(key), operator_answer(value));
    }
    return object;
}

void register_relay_operations(OperationTable& table, RelayPlane& plane) {
    RelayRegistrar to(table, plane);
    add_views(to, plane.views);
    add_events(to, plane.views);
    add_dead_letters(to, plane.views);
    add_many_letters(to, plane.views);
    add_outbounds(to, plane.views);
    add_relay_admin_operations(to, plane);
}

}  // namespace interlock
