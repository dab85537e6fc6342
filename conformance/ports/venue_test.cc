// Holds the paper venue, in memory and with a journal that is reopened in the middle, to the
// promises of account/ports/venue.h.
#include <utility>

#include "testing/fake_clock.h"
#include "testing/scripted_market.h"
#include "testing/temp_folder.h"
#include "venue_suite.h"
#include "venues/paper/paper_venue.h"

namespace interlock {
namespace {

class PaperVenueHarness final : public VenueHarness {
public:
    // A journal of so many bytes is compacted; zero: no journal.
    explicit PaperVenueHarness(std::int64_t journal_bytes_max)
        : journal_bytes_max_(journal_bytes_max) {
        open();
    }
    Venue& venue() override { return *venue_; }
    VenueAccount account() const override { return named("alice"); }
    VenueAccount other() const override { return named("bob"); }
    void reopen() override {
        if (journal_bytes_max_ > 0) {
            venue_.reset();
            open();
        }
    }
    void sell_into_bids(std::int64_t price, std::int64_t volume) override {
        MarketView view = calm_view();
        view.trades.push_back({{price}, {volume}, BookSide::sell});
        // A moment is a step: the trade of the next one reaches the venue at its next call.
        script_.emplace_back(step_of(clock_.now()) + 1, view);
        script_.emplace_back(step_of(clock_.now()) + 2, calm_view());
        market_->set(script_[script_.size() - 2].first, script_[script_.size() - 2].second);
        market_->set(script_.back().first, script_.back().second);
        clock_.advance(kMarketStep);
        ASSERT_TRUE(venue_->advance(clock_.now()).has_value());
    }

private:
    static VenueAccount named(const std::string& tenant) {
        return {TenantId::trusted(tenant), AccountId::trusted("main"), TradeMode::paper};
    }
    void open() {
        auto market = std::make_unique<ScriptedMarket>();
        market_ = market.get();
        for (const auto& [step, view] : script_) {
            market_->set(step, view);
        }
        PaperVenueOptions options{.sync = false};
        if (journal_bytes_max_ > 0) {
            options.journal_path = folder_ / "paper.journal";
            options.journal_bytes_max = journal_bytes_max_;
        }
        auto opened = PaperVenue::open(std::move(market), clock_, options);
        ASSERT_TRUE(opened.has_value()) << opened.error().message;
        venue_ = *std::move(opened);
        const std::vector<VenueBalance> balances{
            {Asset::parse("USDT").value(), Decimal(10'000), {}},
            {Asset::parse("ABC").value(), Decimal(50), {}}};
        for (const VenueAccount& account : {account(), other()}) {
            ASSERT_TRUE(venue_->open_account(account, balances).has_value());
        }
    }

    std::int64_t journal_bytes_max_;
    TempFolder folder_;
    FakeClock clock_;
    std::vector<std::pair<std::int64_t, MarketView>> script_;
    ScriptedMarket* market_ = nullptr;  // The venue owns it.
    std::unique_ptr<PaperVenue> venue_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    Venues,
    VenueSuite,
    ::testing::Values(
        VenueKind{"paper_memory", [] { return std::make_unique<PaperVenueHarness>(0); }},
        VenueKind{
            "paper_journal",
            [] { return std::make_unique<PaperVenueHarness>(kPaperJournalBytesMax); }},
        // Compacts after almost every change.
        VenueKind{"paper_compacting", [] { return std::make_unique<PaperVenueHarness>(1); }}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace interlock
