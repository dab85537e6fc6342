// The PnL log as files: `<folder>/<tenant>.log`, and `.log.1` with what was there before it grew
// too large; and `.trades`, which grows by a line a trade up to the trades that a job holds.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "bots/ports/pnl_log.h"

namespace interlock {

// Of one file; the next line that would exceed it begins a new one.
inline constexpr std::size_t kPnlLogBytesMax = std::size_t{1024} * 1024;

class FilePnlLog final : public PnlLog {
public:
    // Makes the folder (0700) when it is missing. `bytes_max` is smaller in tests only.
    static Result<FilePnlLog> open(
        const std::string& folder, std::size_t bytes_max = kPnlLogBytesMax);
    FilePnlLog(FilePnlLog&& other) noexcept
        : folder_(std::move(other.folder_)), bytes_max_(other.bytes_max_) {}

    Result<void> append(const TenantId& tenant_id, std::string_view line) override;
    Result<std::string> tail(const TenantId& tenant_id, std::size_t lines_max) override;
    Result<std::string> read_trades(
        const TenantId& tenant_id, std::size_t offset, std::size_t bytes_max) override;
    Result<void> write_trades(
        const TenantId& tenant_id, std::size_t offset, std::string_view text) override;

private:
    FilePnlLog(std::string folder, std::size_t bytes_max)
        : folder_(std::move(folder)), bytes_max_(bytes_max) {}
    Result<std::string> path_of(const TenantId& tenant_id, std::string_view ending = ".log") const;

    std::string folder_;
    std::size_t bytes_max_;
    std::mutex mutex_;  // A reader must not find the moment between two files.
};

}  // namespace interlock
