// What the planner's tools answer, as JSON schemas: every member of every answer, so that a
// program can be typed by them. A test holds real answers to them.
#pragma once

#include <string_view>

#include "base/json.h"

namespace interlock {

// Of one of the tools of loop_tool_schemas().
Json loop_answer_schema(std::string_view tool);

// `state` of py_get_canonical_state.
Json canonical_state_schema();
// What get_account answers: the state, with recovery, tier and strategies.
Json account_schema();
// What get_decision answers.
Json decision_schema();
// One entry of `errors` of a tool.
Json tool_error_schema();

}  // namespace interlock
