#include "trader/rules/supervisor/market_narrative.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

// How far the mean persistence of a trend must go to be evidence without doubt.
constexpr Decimal kPersistenceFull = percent(80);
// What an hour that goes the other way takes from it.
constexpr Decimal kHourDoubt = percent(15);

TimeframeReading read(const SupervisorFacts& facts, Timeframe timeframe) {
    TimeframeReading reading;
    reading.timeframe = timeframe;
    const TimeframeSignals* signals = facts.signals.find(timeframe);
    if (signals == nullptr || !signals->trend_strength || !signals->efficiency) {
        return reading;
    }
    const Duration age_max{length_of(timeframe).microseconds * kSignalAgeCandlesMax};
    if (facts.now - signals->closed_at > age_max) {
        return reading;  // Old news is no news (I5).
    }
    reading.is_known = true;
    const Decimal strength = *signals->trend_strength;
    reading.direction = strength.is_positive() ? 1 : strength.is_negative() ? -1 : 0;
    const Decimal strong = share_of(size_of(strength), kStrengthFull);
    reading.persistence =
        sum_of(part_of(strong, 50), part_of(clamp_share(*signals->efficiency), 50));
    reading.pullback_pct = signals->pullback_pct;
    reading.is_wild = signals->regime == VolatilityRegime::high;
    return reading;
}

Decimal signed_persistence(const TimeframeReading& reading) {
    return Decimal::from_units(reading.persistence.units() * reading.direction);
}

class Telling {
public:
    explicit Telling(const SupervisorFacts& facts) : before_(facts.memory.regime) {
        for (const Timeframe timeframe : kSupervisedTimeframes) {
            told_.readings.push_back(read(facts, timeframe));
        }
    }

    MarketNarrative run() {
        describe_readings();
        if (!minute().is_known || !five().is_known || !quarter().is_known) {
            settle(MarketRegime::unclear, {}, "Too little is known of the shorter timeframes.");
            return std::move(told_);
        }
        const __int128 weighed = signed_persistence(minute()).units() +
                                 2 * signed_persistence(five()).units() +
                                 2 * signed_persistence(quarter()).units();
        told_.consensus = Decimal::from_units(weighed / 5);
        if (!is_wild() && !is_trend() && !is_range()) {
            settle(MarketRegime::unclear, {}, "The timeframes do not agree on anything.");
        }
        return std::move(told_);
    }

private:
    const TimeframeReading& minute() const { return told_.readings[0]; }
    const TimeframeReading& five() const { return told_.readings[1]; }
    const TimeframeReading& quarter() const { return told_.readings[2]; }
    const TimeframeReading& hour() const { return told_.readings[3]; }

    void settle(MarketRegime regime, Decimal evidence, std::string sentence) {
        told_.regime = regime;
        told_.evidence = told(clamp_share(evidence));
        told_.sentences.push_back(std::move(sentence));
    }

    void describe_readings() {
        for (const TimeframeReading& reading : told_.readings) {
            std::string text(to_word(reading.timeframe));
            if (!reading.is_known) {
                told_.sentences.push_back(text + ": no fresh signals.");
                continue;
            }
            text += reading.direction > 0 ? ": up" : reading.direction < 0 ? ": down" : ": level";
            text += " with persistence " + to_text(told(reading.persistence));
            if (reading.pullback_pct) {
                text += ", deepest pullback " + to_text(*reading.pullback_pct);
            }
            told_.sentences.push_back(text + (reading.is_wild ? ", volatility high." : "."));
        }
    }

    bool is_wild() {
        const std::int64_t wild = (five().is_wild ? 1 : 0) + (quarter().is_wild ? 1 : 0) +
                                  (hour().is_known && hour().is_wild ? 1 : 0);
        const bool stays = before_ == MarketRegime::wild;
        if (wild < (stays ? kWildStay : kWildEnter)) {
            return false;
        }
        settle(
            MarketRegime::wild,
            wild >= 3   ? kWhole
            : wild == 2 ? percent(85)
                        : percent(70),
            "Volatility is high on " + std::to_string(wild) + " of 5m, 15m and 1h" +
                (wild < kWildEnter ? ", which keeps the market volatile." : "."));
        return true;
    }

    bool is_trend() {
        const int direction = five().direction;
        if (direction == 0 || quarter().direction != direction) {
            return false;
        }
        const MarketRegime regime =
            direction > 0 ? MarketRegime::trend_up : MarketRegime::trend_down;
        const bool goes_on = before_ == regime;
        const Decimal least = goes_on ? kPersistenceStay : kPersistenceConfirm;
        const bool confirmed = five().persistence >= least && quarter().persistence >= least;
        const bool first = goes_on || (minute().direction == direction &&
                                       minute().persistence >= kPersistenceFirst);
        if (!confirmed || !first) {
            return false;
        }
        const bool minute_agrees = minute().direction == direction;
        const __int128 sum = (minute_agrees ? minute().persistence.units() : 0) +
                             five().persistence.units() + quarter().persistence.units();
        Decimal evidence = share_of(Decimal::from_units(sum / 3), kPersistenceFull);
        std::string sentence =
            std::string(direction > 0 ? "Up" : "Down") +
            (goes_on && !(minute_agrees && minute().persistence >= kPersistenceFirst)
                 ? " still: 5m and 15m go on."
                 : ": the minute is persistent and 5m and 15m confirm it.");
        const bool hour_differs = hour().is_known && hour().direction == -direction &&
                                  hour().persistence >= kPersistenceConfirm;
        if (hour_differs) {
            evidence = Decimal::from_units(evidence.units() - kHourDoubt.units());
            sentence += " The hour goes the other way.";
        }
        settle(regime, evidence, std::move(sentence));
        return true;
    }

    bool is_range() {
        const Decimal most = std::max(five().persistence, quarter().persistence);
        if (most >= kPersistenceConfirm) {
            return false;
        }
        settle(MarketRegime::range, rest_of(most), "To and fro: neither 5m nor 15m is persistent.");
        return true;
    }

    MarketRegime before_;
    MarketNarrative told_;
};

}  // namespace

const TimeframeReading& MarketNarrative::of(Timeframe timeframe) const {
    const auto found = std::find_if(
        readings.begin(), readings.end(), [timeframe](const TimeframeReading& reading) {
            return reading.timeframe == timeframe;
        });
    CHECK(found != readings.end());
    return *found;
}

std::optional<Decimal> MarketNarrative::deepest_pullback() const {
    Decimal deepest;
    for (const Timeframe timeframe : {Timeframe::m1, Timeframe::m5, Timeframe::m15}) {
        const TimeframeReading& reading = of(timeframe);
        if (!reading.is_known || !reading.pullback_pct) {
            return std::nullopt;
        }
        deepest = std::max(deepest, *reading.pullback_pct);
    }
    return deepest;
}

MarketNarrative narrate(const SupervisorFacts& facts) {
    return Telling(facts).run();
}

Json encode(const MarketNarrative& narrative) {
    Json readings = Json::array();
    for (const TimeframeReading& reading : narrative.readings) {
        readings.push(Json::object({
            {"timeframe", to_word(reading.timeframe)},
            {"is_known", reading.is_known},
            {"direction", reading.direction},
            {"persistence", to_text(told(reading.persistence))},
            {"pullback_pct", reading.pullback_pct ? Json(to_text(*reading.pullback_pct)) : Json()},
            {"is_volatile", reading.is_wild},
        }));
    }
    return Json::object({
        {"regime", to_word(narrative.regime)},
        {"evidence", to_text(narrative.evidence)},
        {"consensus", to_text(told(narrative.consensus))},
        {"readings", std::move(readings)},
        {"sentences", json_list(narrative.sentences)},
    });
}

}  // namespace interlock
