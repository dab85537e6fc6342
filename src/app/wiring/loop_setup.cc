#include "app/wiring/loop_setup.h"

#include "market/rules/synthetic_market.h"

namespace interlock {
namespace {

// Treasury transfers from this share of the deposit on need an approval.
constexpr Decimal kTransferShare = Decimal::from_units(10'000'000'000'000'000);

}  // namespace

Result<LoopConfig> loop_config_of(const Config& config, std::vector<Symbol> universe) {
    LoopConfig loop;
    TRY_ASSIGN(loop.quote, Asset::parse("USDT"));
    loop.paper_deposit = config.paper_deposit;
    loop.universe = std::move(universe);
    loop.shadow_available = true;
    Json limits = Json::object();
    for (const auto& [name, value] : config.limits) {
        limits.set(name, value);
    }
    TRY_ASSIGN(loop.limits, decode_limit_changes(limits));
    TRY_ASSIGN(loop.transfer_threshold, multiply_round_down(config.paper_deposit, kTransferShare));
    return loop;
}

Result<void> VenueSetup::lose_next_answer(const TenantId& tenant_id) {
    return paper->set_faults({{
        .kind = PaperFaultKind::lose_answer,
        .account = VenueAccount{tenant_id, default_account_id(), TradeMode::paper},
        .times_max = 1,
    }});
}

Result<VenueSetup> open_venues(const Config& config, const std::string& data_folder, Clock& clock) {
    SyntheticOptions market;
    market.seed = static_cast<std::uint64_t>(config.paper_seed);
    VenueSetup venues;
    TRY_ASSIGN(
        venues.paper,
        PaperVenue::open(
            std::make_unique<SyntheticMarket>(market),
            clock,
            {.journal_path = data_folder + "/paper.journal", .sync = config.paper_sync}));
    TRY_ASSIGN(
        venues.shadow,
        ShadowVenue::open(
            *venues.paper,
            clock,
            {.journal_path = data_folder + "/shadow.journal", .sync = config.paper_sync}));
    return venues;
}

std::map<TradeMode, Venue*> VenueSetup::all() const {
    return {{TradeMode::paper, paper.get()}, {TradeMode::shadow, shadow.get()}};
}

std::map<TradeMode, VenueMemory*> VenueSetup::memories() const {
    return {{TradeMode::paper, paper.get()}, {TradeMode::shadow, shadow.get()}};
}

}  // namespace interlock
