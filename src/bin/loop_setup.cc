#include "bin/loop_setup.h"

namespace interlock {
namespace {

// Treasury transfers from this share of the deposit on need an approval.
constexpr Decimal kTransferShare = Decimal::from_units(10'000'000'000'000'000);

}  // namespace

Result<LoopConfig> loop_config(const Config& config, const PaperVenue& paper) {
    LoopConfig loop;
    TRY_ASSIGN(loop.quote, Asset::parse("USDT"));
    loop.paper_deposit = config.paper_deposit;
    loop.universe = paper.symbols();
    loop.shadow_available = true;
    Json limits = Json::object();
    for (const auto& [name, value] : config.limits) {
        limits.set(name, value);
    }
    TRY_ASSIGN(loop.limits, decode_limit_changes(limits));
    TRY_ASSIGN(loop.transfer_threshold, multiply_round_down(config.paper_deposit, kTransferShare));
    return loop;
}

}  // namespace interlock
