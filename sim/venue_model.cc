#include "sim/venue_model.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/errors.h"
#include "market/rules/synthetic_market.h"

namespace interlock::sim {
namespace {

// Few markets, so that an account meets its limits.
std::vector<SyntheticSymbol> some_markets(std::uint64_t seed) {
    std::vector<SyntheticSymbol> all = default_symbols();
    SeededRandom random(mix_seeds(seed, 40));
    while (all.size() > 3) {
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(random.below(all.size())));
    }
    return all;
}

std::unique_ptr<PaperVenue> open_paper(std::uint64_t seed, Clock& clock) {
    SyntheticOptions market;
    market.seed = mix_seeds(seed, 41);
    market.symbols = some_markets(seed);
    PaperVenueOptions options;
    options.sync = false;
    options.fault_seed = mix_seeds(seed, 42);
    auto opened = PaperVenue::open(std::make_unique<SyntheticMarket>(market), clock, options);
    CHECK(opened.has_value());
    return *std::move(opened);
}

std::unexpected<Error> off() {
    return fail(errors::venue_timeout, "the simulated machine is off");
}

}  // namespace

VenueModel::VenueModel(Parts parts) : parts_(parts), paper_(open_paper(parts.seed, parts.clock)) {}

void VenueModel::open_account(const VenueAccount& account) {
    if (!parts_.power.on) {
        return;
    }
    const std::vector<PaperFault> faults = paper_->faults();
    CHECK(paper_->set_faults({}).has_value());
    const VenueBalance deposit{*Asset::parse("USDT"), Decimal(kDeposit), {}};
    CHECK(paper_->open_account(account, {&deposit, 1}).has_value());
    CHECK(paper_->set_faults(faults).has_value());
}

std::string VenueModel::trouble(SeededRandom& random) {
    constexpr std::array<PaperFaultKind, 11> kKinds{
        PaperFaultKind::reject,
        PaperFaultKind::time_out,
        PaperFaultKind::lose_answer,
        PaperFaultKind::late_arrival,
        PaperFaultKind::late_fill,
        PaperFaultKind::duplicate_report,
        PaperFaultKind::out_of_order_fills,
        PaperFaultKind::disconnect,
        PaperFaultKind::clock_skew,
        PaperFaultKind::cancel_lost,
        PaperFaultKind::cancel_answer_lost};
    std::vector<PaperFault> faults;
    std::string said;
    for (std::uint64_t i = 0; i <= random.below(3); ++i) {
        PaperFault fault;
        fault.kind = kKinds[random.below(kKinds.size())];
        fault.chance_ppm = random.chance(500) ? 1'000'000 : 400'000;
        fault.times_max = 1 + static_cast<std::int64_t>(random.below(6));
        // Some orders arrive after every proof that they never would.
        fault.delay = Duration::of_milliseconds(
            static_cast<std::int64_t>(100 + random.below(random.chance(700) ? 4000 : 60'000)));
        if (fault.kind == PaperFaultKind::clock_skew) {
            fault.delay =
                Duration::of_milliseconds(static_cast<std::int64_t>(random.below(8000)) - 4000);
        }
        said += " " + std::string(to_word(fault.kind));
        faults.push_back(std::move(fault));
    }
    CHECK(paper_->set_faults(std::move(faults)).has_value());
    return said;
}

void VenueModel::heal() {
    CHECK(paper_->set_faults({}).has_value());
}

Result<VenueReport> VenueModel::truth(const VenueAccount& account) {
    const std::vector<PaperFault> faults = paper_->faults();
    CHECK(paper_->set_faults({}).has_value());
    auto told = paper_->report(account, 0);
    while (told && told->has_more_fills) {
        auto more = paper_->report(account, told->fills_cursor);
        if (!more) {
            told = std::move(more);
            break;
        }
        told->fills.insert(told->fills.end(), more->fills.begin(), more->fills.end());
        told->fills_cursor = more->fills_cursor;
        told->has_more_fills = more->has_more_fills;
    }
    CHECK(paper_->set_faults(faults).has_value());
    return told;
}

std::vector<VenueFill> VenueModel::new_fills(const VenueAccount& account, std::int64_t& cursor) {
    const std::vector<PaperFault> faults = paper_->faults();
    CHECK(paper_->set_faults({}).has_value());
    std::vector<VenueFill> fills;
    for (bool has_more = true; has_more;) {
        auto told = paper_->report(account, cursor);
        if (!told) {
            break;  // The venue does not know this account yet.
        }
        fills.insert(fills.end(), told->fills.begin(), told->fills.end());
        cursor = told->fills_cursor;
        has_more = told->has_more_fills;
    }
    CHECK(paper_->set_faults(faults).has_value());
    return fills;
}

std::vector<VenueOrder> VenueModel::open_orders(const VenueAccount& account) {
    const std::vector<PaperFault> faults = paper_->faults();
    CHECK(paper_->set_faults({}).has_value());
    auto told = paper_->report(account, 0);
    CHECK(paper_->set_faults(faults).has_value());
    return told ? std::move(told->open_orders) : std::vector<VenueOrder>();
}

VenueModel::Word VenueModel::word_of(const VenueAccount& account, const OrderClientId& id) const {
    const auto found = words_.find({account, id});
    return found == words_.end() ? Word{} : found->second;
}

Result<VenueAck> VenueModel::submit(const VenueOrderRequest& request) {
    VenueOrderRequest sent = request;
    constexpr std::uint64_t kReuseEvery = 3;
    if (parts_.plant == Plant::reuse_order_id && ++submits_ % kReuseEvery == 0 &&
        last_id_.contains(request.account)) {
        sent.order_client_id = last_id_.at(request.account);
    }
    last_id_[request.account] = sent.order_client_id;
    auto ack = send(sent);
    if (parts_.plant == Plant::resend_unknown && !ack && ack.error() != errors::venue_rejected) {
        ack = send(sent);
    }
    return ack;
}

Result<VenueAck> VenueModel::send(const VenueOrderRequest& request) {
    if (!parts_.power.on) {
        return off();
    }
    if (on_submit) {
        on_submit(request);
    }
    Word& word = words_[{request.account, request.order_client_id}];
    word.was_sent = true;
    auto ack = paper_->submit(spoil(request));
    if (!ack) {
        word.was_refused = ack.error() == errors::venue_rejected;
        return ack;
    }
    spoil(ack->fills);
    return ack;
}

Result<VenueOrder> VenueModel::cancel(
    const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) {
    if (!parts_.power.on) {
        return off();
    }
    return paper_->cancel(account, symbol, id);
}

Result<std::vector<VenueOrder>> VenueModel::cancel_all(const VenueAccount& account) {
    if (!parts_.power.on) {
        return off();
    }
    return paper_->cancel_all(account);
}

Result<std::optional<VenueOrder>> VenueModel::find_order(
    const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) {
    if (!parts_.power.on) {
        return off();
    }
    auto found = paper_->find_order(account, symbol, id);
    if (found && !*found) {
        ++words_[{account, id}].absences;
    }
    return found;
}

Result<VenueReport> VenueModel::report(const VenueAccount& account, std::int64_t fills_cursor) {
    if (!parts_.power.on) {
        return off();
    }
    auto told = paper_->report(account, fills_cursor);
    if (told) {
        spoil(told->fills);
    }
    return told;
}

Result<std::vector<VenueFill>> VenueModel::fills_of(
    const VenueAccount& account, const Symbol& symbol, const OrderClientId& id) {
    if (!parts_.power.on) {
        return off();
    }
    auto fills = paper_->fills_of(account, symbol, id);
    if (fills) {
        spoil(*fills);
    }
    return fills;
}

Result<std::int64_t> VenueModel::clock_skew_ms() {
    if (!parts_.power.on) {
        return off();
    }
    return paper_->clock_skew_ms();
}

// The plant take_liquidity: a venue adapter that forgets the flag and is generous with the price.
VenueOrderRequest VenueModel::spoil(VenueOrderRequest request) const {
    if (parts_.plant != Plant::take_liquidity || !request.post_only || !request.limit_price) {
        return request;
    }
    const bool is_buy = request.side == Side::buy;
    const MarketSet market = paper_->facts(std::vector<Symbol>{request.symbol});
    const MarketFacts* facts = market.find(request.symbol);
    if (facts != nullptr && facts->best_bid && facts->best_ask) {
        request.limit_price = is_buy ? *facts->best_ask : *facts->best_bid;
        request.post_only = false;
    }
    return request;
}

// The mistakes of an adapter that reads fills wrongly.
void VenueModel::spoil(std::vector<VenueFill>& fills) {
    constexpr std::int64_t kLoseEvery = 4;
    if (parts_.plant == Plant::lose_fill) {
        std::erase_if(fills, [](const VenueFill& fill) { return fill.trade_id % kLoseEvery == 1; });
    }
    if (parts_.plant == Plant::double_fee) {
        for (VenueFill& fill : fills) {
            if (const auto twice = add(fill.fee, fill.fee)) {
                fill.fee = *twice;
            }
        }
    }
}

}  // namespace interlock::sim
