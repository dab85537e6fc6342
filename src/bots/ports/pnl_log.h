// Where PnL jobs write what they found (docs/contracts/pnl.md#lines-of-the-log): one log of JSON
// lines for each tenant, read by `pnl_snapshot`. For reports only: nothing is decided from it, so
// it need not survive a power cut to the last line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/wire/ids.h"

namespace interlock {

// A longer line is refused: `body_too_large`.
inline constexpr std::size_t kPnlLineBytesMax = std::size_t{64} * 1024;
// More lines are not given at once.
inline constexpr std::size_t kPnlTailLinesMax = 2000;

class PnlLog {
public:
    virtual ~PnlLog() = default;
    // Any thread. `line` has no line end of its own.
    virtual Result<void> append(const TenantId& tenant_id, std::string_view line) = 0;
    // Any thread: the newest whole lines, oldest first, each with its line end; empty when there
    // are none.
    virtual Result<std::string> tail(const TenantId& tenant_id, std::size_t lines_max) = 0;

    // The trades that runs took out of the ledger, one JSON line each, so that the next run reads
    // only what is new. A copy: whoever reads it holds it to a hash, and a log that keeps none
    // costs a walk through the ledger. Any thread; one job of a tenant at a time. Up to `bytes_max`
    // bytes from `offset` on; empty at the end.
    virtual Result<std::string> read_trades(const TenantId&, std::size_t, std::size_t) {
        return std::string();
    }
    // Whatever stood from `offset` on is replaced.
    virtual Result<void> write_trades(const TenantId&, std::size_t, std::string_view) { return {}; }
};

}  // namespace interlock
