// A PnL log that a test can read: lines by tenant, in memory.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "bots/ports/pnl_log.h"

namespace interlock {

class MemoryPnlLog final : public PnlLog {
public:
    Result<void> append(const TenantId& tenant_id, std::string_view line) override {
        if (is_broken) {
            return fail(errors::io_failed, "The disk is gone.");
        }
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
    Result<std::string> read_trades(
        const TenantId& tenant_id, std::size_t offset, std::size_t bytes_max) override {
        const std::string& all = trades[tenant_id];
        return offset < all.size() ? all.substr(offset, bytes_max) : std::string();
    }
    Result<void> write_trades(
        const TenantId& tenant_id, std::size_t offset, std::string_view text) override {
        std::string& all = trades[tenant_id];
        all.resize(offset);
        all += text;
        return {};
    }
    std::map<TenantId, std::vector<std::string>> lines;
    std::map<TenantId, std::string> trades;
    bool is_broken = false;
};

}  // namespace interlock
