// The bots of the configuration as platforms: the one place that knows every adapter.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapters/console/console_platform.h"
#include "bin/relay_config.h"
#include "ports/chat_platform.h"
#include "ports/clock.h"
#include "ports/id_source.h"

namespace interlock {

struct RelayBots {
    std::vector<std::unique_ptr<ChatPlatform>> all;
    ConsolePlatform* console = nullptr;  // One of them; null: none was configured.
};

struct RelayBotParts {
    Clock& clock;
    IdSource& ids;
    std::string site = {};  // Where this server is found, for platforms that want to know.
};
// `invalid_config` with the key that is wrong.
Result<RelayBots> make_relay_bots(
    const std::vector<RelayBotConfig>& configs, const RelayBotParts& parts);

}  // namespace interlock
