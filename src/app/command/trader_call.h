// What the commands around strategies share: ids, what is expected to be active, configurations.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace interlock {

// What `--expect` says is active: `none` is null, which no instance's id can be mistaken for.
Json expected_active(const std::string& word);

// An id for a call or decision of this command line.
std::string new_call_id();

// A strategy's configuration from a file, JSON when it is called .json and TOML otherwise.
Result<Json> read_config_file(const std::string& path);
// Sets KEY=VALUE pairs; numbers and booleans are taken as such.
Result<void> set_pairs(Json& config, const std::vector<std::string>& pairs);

}  // namespace interlock
