// The bots of the configuration as platforms: the one place that knows every adapter.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/wiring/relay_config.h"
#include "engine/ports/clock.h"
#include "engine/ports/id_source.h"
#include "relay/platforms/console/console_platform.h"
#include "relay/ports/chat_platform.h"

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
