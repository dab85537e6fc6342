#include "app/command/trader_call.h"

#include "app/command/backtest_command.h"
#include "app/wiring/server_client.h"
#include "engine/system/durable_file.h"
#include "engine/system/random_id_source.h"
#include "trader/wire/strategy_requests.h"

namespace interlock {

Json expected_active(const std::string& word) {
    return word == "none" ? Json() : Json(word);
}

std::string new_call_id() {
    return RandomIdSource().new_id("cli");
}

Result<Json> read_config_file(const std::string& path) {
    if (!path.ends_with(".json")) {
        return read_strategy_config(path);
    }
    TRY_ASSIGN(const std::string text, read_small_file(path, kConfigBytesMax));
    auto config = parse_json(text);
    if (!config || !config->is_object()) {
        return fail(
            errors::bad_usage,
            path + " does not hold a JSON object" + (config ? "." : ": " + config.error().message));
    }
    return config;
}

Result<void> set_pairs(Json& config, const std::vector<std::string>& pairs) {
    for (const std::string& pair : pairs) {
        const std::size_t equals = pair.find('=');
        if (equals == 0 || equals == std::string::npos) {
            return fail(errors::bad_usage, "--set takes KEY=VALUE, found \"" + pair + "\".");
        }
        const std::string key = pair.substr(0, equals);
        const std::string value = pair.substr(equals + 1);
        if (value == "true" || value == "false") {
            config.set(key, value == "true");
        } else if (is_json_number(value)) {
            config.set(key, Json::number(value));
        } else {
            config.set(key, value);
        }
    }
    return {};
}

}  // namespace interlock
