// What stands around maker bots and outlives the server: the master keys of its vault and the log
// of its PnL jobs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bots/ports/pnl_log.h"
#include "host/ports/master_keys.h"

namespace interlock::sim {

class MasterKeysModel final : public MasterKeys {
public:
    Result<std::optional<MasterRing>> load() override {
        return is_made_ ? std::optional(ring()) : std::optional<MasterRing>();
    }
    Result<MasterRing> create() override {
        is_made_ = true;
        return ring();
    }
    Result<MasterRing> begin_rotation() override { return ring(); }
    Result<MasterRing> end_rotation() override { return ring(); }

private:
    static MasterRing ring() {
        return {SecretString(std::string(kMasterKeyBytes, 'm')), std::nullopt};
    }
    bool is_made_ = false;
};

class PnlLogModel final : public PnlLog {
public:
    Result<void> append(const TenantId&, std::string_view) override { return {}; }
    Result<std::string> tail(const TenantId&, std::size_t) override { return std::string(); }
};

}  // namespace interlock::sim
