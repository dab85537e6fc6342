#include "app/command/backtest_chart.h"

#include <algorithm>
#include <functional>

#include "app/command/backtest_text.h"

namespace interlock {
namespace {

constexpr std::int64_t kTenths = 10;
constexpr std::int64_t kTop = 10;
constexpr std::int64_t kBottom = 8;
constexpr std::int64_t kTimeAxis = 22;
constexpr int kLinesWanted = 5;

std::string tenths(std::int64_t value) {
    const bool is_negative = value < 0;
    const std::int64_t positive = is_negative ? -value : value;
    std::string text = (is_negative ? "-" : "") + std::to_string(positive / kTenths);
    if (positive % kTenths != 0) {
        text += "." + std::to_string(positive % kTenths);
    }
    return text;
}

// One panel: a range of time and of values on a rectangle.
struct Panel {
    std::string name;
    std::int64_t height = 0;
    Timestamp first;
    Timestamp last;
    Decimal low;
    Decimal high;
    bool has_time_axis = false;
    bool hangs = false;  // Larger values lie lower.
    std::function<std::string(Decimal)> label;

    std::int64_t bottom() const { return height - kBottom - (has_time_axis ? kTimeAxis : 0); }
    std::int64_t x_of(Timestamp at) const {
        const std::int64_t width = (kChartWidth - kChartLeft - kChartRight) * kTenths;
        const std::int64_t span = std::max<std::int64_t>(1, (last - first).microseconds);
        const auto offset = static_cast<__int128>((at - first).microseconds) * width / span;
        return kChartLeft * kTenths + static_cast<std::int64_t>(offset);
    }
    std::int64_t y_of(Decimal value) const {
        const std::int64_t room = (bottom() - kTop) * kTenths;
        // Less digits than a decimal has, or the product would not fit.
        constexpr __int128 kCut = 1'000'000;
        const __int128 range = std::max<__int128>(1, (high.units() - low.units()) / kCut);
        const auto up = (value.units() - low.units()) / kCut * room / range;
        const auto away = static_cast<std::int64_t>(up);
        return hangs ? kTop * kTenths + away : bottom() * kTenths - away;
    }
    std::string point(Timestamp at, Decimal value) const {
        return tenths(x_of(at)) + " " + tenths(y_of(value));
    }
};

// A round distance between the lines of an axis: 1, 2 or 5 times a power of ten.
__int128 round_step(__int128 range) {
    const __int128 wanted = std::max<__int128>(1, range / kLinesWanted);
    __int128 step = 1;
    while (step * 10 <= wanted) {
        step *= 10;
    }
    for (const int factor : {1, 2, 5, 10}) {
        if (step * factor * 5 >= wanted * 4) {
            return step * factor;
        }
    }
    return step * 10;
}

std::string value_axis(const Panel& panel) {
    std::string out;
    const __int128 low = panel.low.units();
    const __int128 high = panel.high.units();
    const __int128 step = round_step(high - low);
    __int128 at = low / step * step;
    at += at < low ? step : 0;
    for (; at <= high; at += step) {
        const Decimal value = Decimal::from_units(at);
        const std::string y = tenths(panel.y_of(value));
        out += "<line class=\"grid\" x1=\"" + std::to_string(kChartLeft) + "\" x2=\"" +
               std::to_string(kChartWidth - kChartRight) + "\" y1=\"" + y + "\" y2=\"" + y +
               "\"/><text class=\"axis\" x=\"" + std::to_string(kChartWidth - kChartRight + 6) +
               "\" y=\"" + y + "\" dy=\"4\">" + panel.label(value) + "</text>";
    }
    return out;
}

std::string time_axis(const Panel& panel) {
    std::string out;
    const Duration span = panel.last - panel.first;
    constexpr int kMarks = 6;
    for (int i = 0; i <= kMarks; ++i) {
        const Timestamp at = panel.first + Duration{span.microseconds / kMarks * i};
        std::string text = moment_text(at);
        text = span >= Duration::of_days(12)  ? text.substr(0, 10)
               : span >= Duration::of_days(1) ? text.substr(5)
                                              : text.substr(11);
        const char* anchor = i == 0 ? "start" : i == kMarks ? "end" : "middle";
        out += "<text class=\"axis\" text-anchor=\"" + std::string(anchor) + "\" x=\"" +
               tenths(panel.x_of(at)) + "\" y=\"" + std::to_string(panel.height - kBottom) + "\">" +
               text + "</text>";
    }
    return out;
}

std::string path(std::string_view css, const std::string& d) {
    return "<path class=\"" + std::string(css) + "\" d=\"" + d + "\"/>";
}

using Pick = Decimal CurvePoint::*;

std::string line_of(const BacktestResult& result, const Panel& panel, Pick pick) {
    std::string d;
    for (const CurvePoint& point : result.curve) {
        d += (d.empty() ? "M" : "L") + panel.point(point.at, point.*pick);
    }
    return d;
}

// Between a line and a value.
std::string area_of(const BacktestResult& result, const Panel& panel, Pick pick, Decimal base) {
    if (result.curve.empty()) {
        return {};
    }
    return line_of(result, panel, pick) + "L" + panel.point(result.curve.back().at, base) + "L" +
           panel.point(result.curve.front().at, base) + "Z";
}

std::string band_of(const BacktestResult& result, const Panel& panel) {
    std::string d = line_of(result, panel, &CurvePoint::high);
    for (auto point = result.curve.rbegin(); point != result.curve.rend(); ++point) {
        d += "L" + panel.point(point->at, point->low);
    }
    return d.empty() ? d : d + "Z";
}

// Smaller ones where there are many.
std::string triangles_of(const BacktestResult& result, const Panel& panel, Side side) {
    constexpr std::size_t kManyFills = 250;
    const bool is_small = result.drawn.size() > kManyFills;
    const std::string up = is_small ? "l-2.5 5h5z" : "l-4 8h8z";
    const std::string down = is_small ? "l-2.5-5h5z" : "l-4-8h8z";
    std::string d;
    for (const DrawnFill& fill : result.drawn) {
        if (fill.side == side) {
            d += "M" + panel.point(fill.at, fill.price) + (side == Side::buy ? up : down);
        }
    }
    return d;
}

std::string framed(const Panel& panel, const std::string& inside) {
    return "<figure><figcaption>" + panel.name + "</figcaption><svg viewBox=\"0 0 " +
           std::to_string(kChartWidth) + " " + std::to_string(panel.height) +
           "\" role=\"img\" aria-label=\"" + panel.name + "\">" + value_axis(panel) +
           (panel.has_time_axis ? time_axis(panel) : "") + inside + "<line class=\"cursor\" y1=\"" +
           std::to_string(kTop) + "\" y2=\"" + std::to_string(panel.bottom()) +
           "\" x1=\"-9\" x2=\"-9\"/></svg></figure>\n";
}

// A little air above and below; a flat line lies in the middle.
void set_range(Panel& panel, Decimal low, Decimal high) {
    const __int128 range = high.units() - low.units();
    const __int128 air = range > 0 ? range / 20 : std::max<__int128>(1, high.units() / 100);
    panel.low = Decimal::from_units(low.units() - air);
    panel.high = Decimal::from_units(high.units() + air);
}

int places_for(Decimal high) {
    if (high >= Decimal(1000)) {
        return high >= Decimal(10'000) ? 0 : 1;
    }
    return high >= Decimal(1) ? 3 : 8;
}

Panel panel_of(const BacktestResult& result, std::string name, std::int64_t height) {
    Panel panel;
    panel.name = std::move(name);
    panel.height = height;
    if (!result.curve.empty()) {
        panel.first = result.curve.front().at;
        panel.last = result.curve.back().at;
    }
    return panel;
}

Panel fraction_panel(const BacktestResult& result, std::string name, Pick pick) {
    Panel panel = panel_of(result, std::move(name), 110);
    Decimal high = Decimal::from_units(Decimal(1).units() / 1000);
    for (const CurvePoint& point : result.curve) {
        high = std::max(high, point.*pick);
    }
    panel.low = Decimal();
    panel.high = Decimal::from_units(high.units() / 20 * 21);
    panel.label = [](Decimal value) { return percent_text(value); };
    return panel;
}

}  // namespace

std::string price_chart(const BacktestResult& result) {
    const MarketRules& rules = result.options.rules;
    Panel panel = panel_of(
        result,
        "Price of " + std::string(rules.base.text()) + " in " + std::string(rules.quote.text()) +
            " and fills",
        320);
    if (result.curve.empty()) {
        return {};
    }
    Decimal low = result.curve.front().low;
    Decimal high = result.curve.front().high;
    for (const CurvePoint& point : result.curve) {
        low = std::min(low, point.low);
        high = std::max(high, point.high);
    }
    for (const DrawnFill& fill : result.drawn) {
        low = std::min(low, fill.price);
        high = std::max(high, fill.price);
    }
    set_range(panel, low, high);
    panel.label = [places = places_for(high)](Decimal value) { return fixed_text(value, places); };
    return framed(
        panel,
        path("band", band_of(result, panel)) +
            path("price", line_of(result, panel, &CurvePoint::price)) +
            path("buys", triangles_of(result, panel, Side::buy)) +
            path("sells", triangles_of(result, panel, Side::sell)));
}

std::string equity_chart(const BacktestResult& result) {
    if (result.curve.empty()) {
        return {};
    }
    Panel panel =
        panel_of(result, "Equity in " + std::string(result.options.rules.quote.text()), 200);
    Decimal low = result.figures.equity_first;
    Decimal high = low;
    for (const CurvePoint& point : result.curve) {
        low = std::min(low, point.equity);
        high = std::max(high, point.equity);
    }
    set_range(panel, low, high);
    const int places = Decimal::from_units(high.units() - low.units()) < Decimal(20) ? 2 : 0;
    panel.label = [places](Decimal value) { return fixed_text(value, places); };
    const std::string start = tenths(panel.y_of(result.figures.equity_first));
    return framed(
        panel,
        path("equity-area", area_of(result, panel, &CurvePoint::equity, panel.low)) +
            "<line class=\"start\" x1=\"" + std::to_string(kChartLeft) + "\" x2=\"" +
            std::to_string(kChartWidth - kChartRight) + "\" y1=\"" + start + "\" y2=\"" + start +
            "\"/>" + path("equity", line_of(result, panel, &CurvePoint::equity)));
}

std::string drawdown_chart(const BacktestResult& result) {
    Panel panel = fraction_panel(result, "Drawdown from the highest equity", &CurvePoint::drawdown);
    panel.hangs = true;
    return framed(
        panel,
        path("drawdown-area", area_of(result, panel, &CurvePoint::drawdown, {})) +
            path("drawdown", line_of(result, panel, &CurvePoint::drawdown)));
}

std::string exposure_chart(const BacktestResult& result) {
    Panel panel = fraction_panel(result, "Exposure, share of equity", &CurvePoint::exposure);
    panel.has_time_axis = true;
    panel.height += kTimeAxis;
    return framed(
        panel,
        path("exposure-area", area_of(result, panel, &CurvePoint::exposure, {})) +
            path("exposure", line_of(result, panel, &CurvePoint::exposure)));
}

std::string chart_data(const BacktestResult& result) {
    const Panel panel = panel_of(result, "", 100);
    Json rows = Json::array();
    Decimal high;
    for (const CurvePoint& point : result.curve) {
        high = std::max(high, point.high);
    }
    const int places = std::max(2, places_for(high));
    for (const CurvePoint& point : result.curve) {
        rows.push(Json::array(
            {panel.x_of(point.at),
             moment_text(point.at),
             fixed_text(point.price, places),
             fixed_text(point.equity, 2),
             percent_text(point.drawdown),
             percent_text(point.exposure)}));
    }
    return to_text(rows);
}

}  // namespace interlock
