// A PnL log that a test can read: lines by tenant, in memory.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ports/pnl_log.h"

namespace interlock {

class MemoryPnlLog final : public PnlLog {
public:
    Result<void> append(const TenantId& tenant_id, std::string_view line) override {
        lines[tenant_id].emplace_back(line);
        return {};
    }
    Result<std::string> tail(const TenantId& tenant_id, std::size_t lines_max) override {
        std::string text;
        const auto& all = lines[tenant_id];
        for (std::size_t i = all.size() - std::min(all.size(), lines_max); i < all.size(); ++i) {
            text += all[i] + "\n";
        }
        return text;
    }
    std::map<TenantId, std::vector<std::string>> lines;
};

}  // namespace interlock
