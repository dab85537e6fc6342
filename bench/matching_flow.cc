#include "bench/matching_flow.h"

#include <algorithm>
#include <utility>

namespace interlock {
namespace {

constexpr std::int64_t kStartTicks = 100'000;
constexpr std::int64_t kLowestTicks = 1'000;
constexpr std::uint32_t kOwners = 64;

// splitmix64: small, and the same everywhere.
class FlowRandom {
public:
    explicit FlowRandom(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t mixed = (state_ += 0x9E3779B97F4A7C15u);
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
        return mixed ^ (mixed >> 31);
    }
    std::uint64_t below(std::uint64_t bound) {
        return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
    }
    bool percent(std::uint32_t share) { return below(100) < share; }

private:
    std::uint64_t state_;
};

class FlowMaker {
public:
    FlowMaker(const MatchingMix& mix, std::size_t calls, std::uint64_t seed)
        : mix_(mix), calls_(calls), random_(seed) {}

    std::vector<MatchingCall> make() {
        std::vector<MatchingCall> stream;
        stream.reserve(calls_);
        while (stream.size() < calls_) {
            move_mid(stream.size());
            stream.push_back(next_call());
        }
        return stream;
    }

private:
    void move_mid(std::size_t at) {
        if (mix_.path == FlowPath::still) {
            return;
        }
        const auto step = static_cast<std::uint64_t>(2 * mix_.step_ticks + 1);
        std::int64_t change = static_cast<std::int64_t>(random_.below(step)) - mix_.step_ticks;
        // A crash loses half of the price within a tenth of the stream and gets it back within the
        // three tenths after that.
        if (mix_.path == FlowPath::crashing) {
            change += path_at(at + 1) - path_at(at);
        }
        mid_ = std::max(kLowestTicks, mid_ + change);
    }

    std::int64_t path_at(std::size_t at) const {
        const auto tenth = static_cast<std::int64_t>(std::max<std::size_t>(calls_ / 10, 1));
        const auto now = static_cast<std::int64_t>(at);
        const std::int64_t fallen = std::clamp<std::int64_t>(now - 4 * tenth, 0, tenth);
        const std::int64_t risen = std::clamp<std::int64_t>(now - 5 * tenth, 0, 3 * tenth);
        return kStartTicks - kStartTicks / 2 * fallen / tenth +
               kStartTicks / 2 * risen / (3 * tenth);
    }

    MatchingCall next_call() {
        if (!open_.empty() && random_.percent(mix_.amends_percent)) {
            MatchingCall call = any_open(MatchingCall::Kind::amend);
            call.order.price = near_mid(call.order.side);
            call.order.quantity = any_quantity();
            return call;
        }
        // Below the wanted number new orders prevail, above it cancels.
        if (!open_.empty() && random_.percent(open_.size() < mix_.open_orders ? 30 : 60)) {
            const MatchingCall call = any_open(MatchingCall::Kind::cancel);
            return call;
        }
        return new_order();
    }

    MatchingCall new_order() {
        MatchingCall call;
        BookOrder& order = call.order;
        order.id = BookOrderId{++ids_};
        order.owner = BookOwner{static_cast<std::uint32_t>(1 + random_.below(kOwners))};
        order.self_trade = BookSelfTrade::expire_maker;
        order.side = random_.percent(50) ? BookSide::buy : BookSide::sell;
        order.quantity = any_quantity();
        if (!random_.percent(mix_.takers_percent)) {
            order.price = near_mid(order.side);
            open_.push_back({order.id, order.side});
            return call;
        }
        const bool market = random_.percent(50);
        order.kind = market ? BookOrderKind::market : BookOrderKind::limit;
        order.time_in_force = BookTimeInForce::ioc;
        const std::int64_t reach =
            order.side == BookSide::buy ? mix_.depth_ticks : -mix_.depth_ticks;
        order.price = {std::max<std::int64_t>(1, mid_ + reach)};
        return call;
    }

    MatchingCall any_open(MatchingCall::Kind kind) {
        Open& one = open_[random_.below(open_.size())];
        MatchingCall call{{.id = one.id, .side = one.side}, kind};
        if (kind == MatchingCall::Kind::cancel) {
            one = open_.back();
            open_.pop_back();
        }
        return call;
    }

    Lots any_quantity() { return {static_cast<std::int64_t>(1 + random_.below(100))}; }

    // Half of the orders within the depth, a quarter within the same again, and so on: the book of
    // a real market thins out like that.
    Ticks near_mid(BookSide side) {
        const auto depth = static_cast<std::uint64_t>(mix_.depth_ticks);
        std::int64_t away = 1 + static_cast<std::int64_t>(random_.below(depth));
        while (random_.percent(50)) {
            away += mix_.depth_ticks;
        }
        return {std::max<std::int64_t>(1, side == BookSide::buy ? mid_ - away : mid_ + away)};
    }

    struct Open {
        BookOrderId id{};
        BookSide side = BookSide::buy;
    };

    MatchingMix mix_;
    std::size_t calls_;
    FlowRandom random_;
    std::int64_t mid_ = kStartTicks;
    std::uint64_t ids_ = 0;
    std::vector<Open> open_;  // As the senders believe; some are filled already.
};

}  // namespace

std::optional<MatchingMix> matching_mix(std::string_view name) {
    const auto at =
        std::find_if(kMatchingMixes.begin(), kMatchingMixes.end(), [&](const auto& mix) {
            return mix.name == name;
        });
    return at == kMatchingMixes.end() ? std::nullopt : std::optional(*at);
}

std::vector<MatchingCall> make_matching_flow(
    const MatchingMix& mix, std::size_t calls, std::uint64_t seed) {
    return FlowMaker(mix, calls, seed).make();
}

}  // namespace interlock
