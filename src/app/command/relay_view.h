// What the operator's commands of the relay print: one answer of the server each, as text for
// people, with the next step where there is one.
#pragma once

#include <string>

#include "base/json.h"

namespace interlock {

std::string describe_relay_status(const Json& status);
std::string describe_relay_instances(const Json& answer);
std::string describe_relay_buffer(const Json& answer);
std::string describe_relay_dead_letters(const Json& answer);
std::string describe_relay_events(const Json& answer);
std::string describe_relay_why(const Json& event);
std::string describe_relay_log(const Json& answer);
std::string describe_relay_gateways(const Json& answer);
std::string describe_relay_routes(const Json& answer);
std::string describe_relay_instance(const Json& instance);
std::string describe_relay_strangers(const Json& answer);
std::string describe_relay_link(const Json& link);

// `url` is where gateways dial; empty: not known.
// `status` names the bots that there are.
std::string describe_new_gateway(const Json& gateway, const std::string& url, const Json& status);
std::string describe_rotation(const Json& rotated);
std::string describe_enrollment(const Json& enrollment, const std::string& url);
std::string describe_tenant_token(const Json& token);

// The instances that an event went to, with commas; "-" when there are none.
std::string receivers_of(const Json& event);
// Whether a stranger is a chat that nobody has routed; else it is a user whom nobody has linked.
bool is_unrouted_chat(const Json& stranger);

}  // namespace interlock
