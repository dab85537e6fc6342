// What a language model reads before it calls anything: the agent schema, /llms.txt, and the
// catalogues of tools and errors, made from the tables that the server itself goes by.
#pragma once

#include <string>

#include "host/face/operation.h"

namespace interlock {

// After the operations it is to list. `base_url` is where callers reach this server, without a
// slash at the end.
void register_agent_operations(OperationTable& table, const std::string& base_url);

// {"tools": [...]}: every call that an agent may make, and those of the agent schema that are a
// human's alone.
Json tool_catalog(const OperationTable& table);

}  // namespace interlock
