// JSON Schemas of what the relay's operations take and answer.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace interlock {

struct RelayField {
    std::string name;  // One of those that relay_schemas.cc describes.
    bool is_required = true;
};
// An object of these and nothing else.
Json relay_request_schema(const std::vector<RelayField>& fields);
Json relay_principal_request_schema();

Json relay_ok_schema();
// {name: [item]}, and with `is_cut` when it may be cut.
Json relay_list_schema(const std::string& name, Json item);
Json relay_cut_list_schema(const std::string& name, Json item);

Json relay_status_schema();
Json relay_instance_schema();
Json relay_instance_detail_schema();
Json relay_buffer_schema();
Json relay_dead_letter_schema();
Json relay_letters_schema();
Json relay_event_schema();
Json relay_outbounds_schema();
Json relay_replay_schema();
Json relay_gateway_schema();
Json relay_new_gateway_schema();
Json relay_rotation_schema();
Json relay_revoked_schema();
Json relay_enrollment_schema();
Json relay_token_schema();
Json relay_route_schema();
Json relay_stranger_schema();
Json relay_link_schema();
Json console_said_schema();
Json console_messages_schema();

}  // namespace interlock
