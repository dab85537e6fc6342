#include "market/wire/timeframe_signals.h"

#include <algorithm>
#include <array>
#include <limits>

#include "codec/field_reader.h"
#include "market/wire/market_fields.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 3> kRegimes{"low", "normal", "high"};
constexpr std::int64_t kCandlesCountMax = std::numeric_limits<std::int32_t>::max();

struct OptionalField {
    std::string_view key;
    std::optional<Decimal> TimeframeSignals::* member;
};
// The numbers that may be missing, as they are stored and read.
constexpr std::array<OptionalField, 12> kOptionalFields{{
    {"close", &TimeframeSignals::close},
    {"atr", &TimeframeSignals::atr},
    {"atr_pct", &TimeframeSignals::atr_pct},
    {"ema_fast", &TimeframeSignals::ema_fast},
    {"ema_slow", &TimeframeSignals::ema_slow},
    {"trend_strength", &TimeframeSignals::trend_strength},
    {"efficiency", &TimeframeSignals::efficiency},
    {"pullback_pct", &TimeframeSignals::pullback_pct},
    {"bollinger_mid", &TimeframeSignals::bollinger_mid},
    {"bollinger_upper", &TimeframeSignals::bollinger_upper},
    {"bollinger_lower", &TimeframeSignals::bollinger_lower},
    {"volatility", &TimeframeSignals::volatility},
}};
// Written only when they are there: records from before have none.
constexpr std::array<OptionalField, 2> kLaterFields{{
    {"bollinger_bandwidth", &TimeframeSignals::bollinger_bandwidth},
    {"bandwidth_quantile", &TimeframeSignals::bandwidth_quantile},
}};

}  // namespace

std::string_view to_word(VolatilityRegime regime) {
    return kRegimes[static_cast<std::size_t>(regime)];
}

Json encode(const TimeframeSignals& signals) {
    Json json = Json::object({
        {"timeframe", to_word(signals.timeframe)},
        {"candles", signals.candles},
        {"closed_at_us", signals.closed_at.microseconds},
    });
    for (const OptionalField& field : kOptionalFields) {
        const std::optional<Decimal>& value = signals.*field.member;
        json.members().emplace_back(field.key, value ? Json(to_text(*value)) : Json());
    }
    for (const OptionalField& field : kLaterFields) {
        if (const std::optional<Decimal>& value = signals.*field.member) {
            json.members().emplace_back(field.key, to_text(*value));
        }
    }
    json.members().emplace_back("regime", to_word(signals.regime));
    return json;
}

Result<TimeframeSignals> decode_timeframe_signals(const Json& json) {
    FieldReader in(json);
    TimeframeSignals signals;
    signals.timeframe = kTimeframes[in.required_word_index("timeframe", kTimeframeWords)];
    signals.candles = in.required_integer("candles", 0, kCandlesCountMax);
    signals.closed_at = read_stored_time(in, "closed_at_us");
    for (const OptionalField& field : kOptionalFields) {
        signals.*field.member = in.required_nullable<Decimal>(field.key);
    }
    for (const OptionalField& field : kLaterFields) {
        signals.*field.member = in.optional<Decimal>(field.key);
    }
    signals.regime = static_cast<VolatilityRegime>(in.required_word_index("regime", kRegimes));
    in.reject_unknown();
    return in.finish(std::move(signals));
}

const TimeframeSignals* MarketSignals::find(Timeframe timeframe) const {
    const auto found = std::find_if(list.begin(), list.end(), [&](const TimeframeSignals& at) {
        return at.timeframe == timeframe;
    });
    return found == list.end() ? nullptr : &*found;
}

void note_quantile(
    MarketSignals& signals, const BandwidthWish& wish, std::optional<Decimal> quantile) {
    for (TimeframeSignals& at : signals.list) {
        if (at.timeframe == wish.timeframe) {
            at.bandwidth_quantile = quantile;
        }
    }
}

Json encode(const MarketSignals& signals) {
    Json list = Json::array();
    for (const TimeframeSignals& at : signals.list) {
        list.push(encode(at));
    }
    return Json::object({{"timeframes", std::move(list)}});
}

Result<MarketSignals> decode_market_signals(const Json& json) {
    FieldReader in(json);
    MarketSignals signals;
    for (const Json& item : in.required_array("timeframes", kTimeframes.size())) {
        auto one = decode_timeframe_signals(item);
        if (!one) {
            in.absorb(one.error());
            continue;
        }
        if (!signals.list.empty() && signals.list.back().timeframe >= one->timeframe) {
            in.add_problem("timeframes", "must ascend by length");
        }
        signals.list.push_back(*std::move(one));
    }
    in.reject_unknown();
    return in.finish(std::move(signals));
}

}  // namespace interlock
