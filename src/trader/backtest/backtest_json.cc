// The stable document of a backtest. Nothing in it depends on the machine or the hour: no clock, no
// paths, no speed.
#include "codec/json_list.h"
#include "trader/backtest/backtest_run.h"

namespace interlock {
namespace {

Json counted(const std::map<std::string, std::int64_t>& counts) {
    Json json = Json::object();
    for (const auto& [word, count] : counts) {
        json.set(word, count);
    }
    return json;
}

Json time_or_null(Timestamp at) {
    return at == Timestamp{} ? Json() : Json(to_text(at));
}

std::string file_name(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

Json encode_parameters(const BacktestOptions& options) {
    Json limits = Json::object();
    for (const LimitChange& change : options.limits) {
        limits.set(std::string(change.spec->name), to_text(change.value));
    }
    return Json::object({
        {"strategy", options.strategy_type},
        {"config", options.config},
        {"risk_posture", to_word(options.posture)},
        {"tick_every_seconds", options.strategy->tick_every().microseconds / 1'000'000},
        {"symbol", options.rules.symbol.text()},
        {"base", options.rules.base.text()},
        {"quote", options.rules.quote.text()},
        {"tick_size", to_text(options.rules.tick_size)},
        {"step_size", to_text(options.rules.step_size)},
        {"notional_min", to_text(options.rules.notional_min)},
        {"deposit", to_text(options.deposit)},
        {"base_deposit", to_text(options.base_deposit)},
        {"maker_fee_ppm", options.fees.maker_ppm},
        {"taker_fee_ppm", options.fees.taker_ppm},
        {"spread_bps_e2", options.assumptions.spread_bps_e2},
        {"depth_quote", options.assumptions.depth_quote},
        {"seed", options.assumptions.seed},
        {"limits", std::move(limits)},
    });
}

Json encode_data(const BacktestResult& result) {
    Json files = Json::array();
    for (const std::string& path : result.options.paths) {
        files.push(file_name(path));
    }
    Json gaps = Json::array();
    for (const BacktestGap& gap : result.data.named_gaps) {
        gaps.push(Json::object({
            {"file", gap.file},
            {"line", gap.line},
            {"from", to_text(gap.from)},
            {"to", to_text(gap.to)},
        }));
    }
    return Json::object({
        {"files", std::move(files)},
        {"layout", to_word(result.data.layout)},
        {"rows", result.data.rows},
        {"events", result.events},
        {"warmup_events", result.warmup_events},
        {"bad_rows", result.data.bad_rows},
        {"bad", json_list(result.data.bad)},
        {"gaps", result.data.gaps},
        {"gap_seconds", result.data.gaps_length.microseconds / 1'000'000},
        {"first_gaps", std::move(gaps)},
    });
}

Json encode_figures(const BacktestFigures& figures) {
    return Json::object({
        {"from", time_or_null(figures.first_at)},
        {"to", time_or_null(figures.last_at)},
        {"seconds", (figures.last_at - figures.first_at).microseconds / 1'000'000},
        {"equity_first", to_text(figures.equity_first)},
        {"equity_last", to_text(figures.equity_last)},
        {"return", to_text(figures.total_return)},
        {"hold_return", to_text(figures.hold_return)},
        {"max_drawdown", to_text(figures.drawdown.fraction)},
        {"max_drawdown_from", time_or_null(figures.drawdown.peak_at)},
        {"max_drawdown_to", time_or_null(figures.drawdown.trough_at)},
        {"sharpe", figures.sharpe ? Json(to_text(*figures.sharpe)) : Json()},
        {"sharpe_of", figures.sharpe_of},
        {"sharpe_returns", figures.sharpe_returns},
        {"exposure_mean", to_text(figures.exposure_mean)},
        {"exposure_max", to_text(figures.exposure_max)},
        {"fills", figures.fills},
        {"maker_fills", figures.maker_fills},
        {"fees", to_text(figures.fees)},
        {"turnover", to_text(figures.turnover)},
        {"realized", to_text(figures.realized)},
        {"round_trips", figures.round_trips},
        {"round_trips_won", figures.round_trips_won},
    });
}

Json encode_loop(const BacktestResult& result) {
    const BacktestCounts& counts = result.counts;
    Json stops = Json::array();
    for (const BacktestStop& stop : result.stops) {
        stops.push(
            Json::object({{"at", to_text(stop.at)}, {"code", stop.code}, {"detail", stop.detail}}));
    }
    return Json::object({
        {"ticks", counts.ticks},
        {"ticks_failed", counts.ticks_failed},
        {"failed_by", counted(counts.failed_by)},
        {"last_error", result.last_error.empty() ? Json() : Json(result.last_error)},
        {"last_word", result.last_word},
        {"decisions", counts.decisions},
        {"executed", counts.executed},
        {"adjusted", counts.adjusted},
        {"refused", counts.refused},
        {"refused_by", counted(counts.refused_by)},
        {"orders", counts.orders},
        {"rejected_by", counted(counts.rejected_by)},
        {"cancels", counts.cancels},
        {"stop_count", result.stop_count},
        {"stops", std::move(stops)},
        {"tier", result.tier},
        {"position", to_text(result.position)},
        {"open_orders", result.open_orders},
        {"drift", json_list(result.drift)},
    });
}

Json encode_curve(const std::vector<CurvePoint>& curve) {
    Json rows = Json::array();
    for (const CurvePoint& point : curve) {
        rows.push(Json::object({
            {"at", to_text(point.at)},
            {"price", to_text(point.price)},
            {"low", to_text(point.low)},
            {"high", to_text(point.high)},
            {"equity", to_text(point.equity)},
            {"drawdown", to_text(point.drawdown)},
            {"exposure", to_text(point.exposure)},
        }));
    }
    return rows;
}

Json encode_drawn(const std::vector<DrawnFill>& drawn) {
    Json rows = Json::array();
    for (const DrawnFill& fill : drawn) {
        rows.push(Json::object({
            {"at", to_text(fill.at)},
            {"side", to_word(fill.side)},
            {"price", to_text(fill.price)},
            {"qty", to_text(fill.qty)},
            {"fee_quote", to_text(fill.fee_quote)},
            {"realized", to_text(fill.realized)},
        }));
    }
    return rows;
}

}  // namespace

Json encode(const BacktestResult& result) {
    return Json::object({
        {"format", "interlock-backtest-1"},
        {"parameters", encode_parameters(result.options)},
        {"data", encode_data(result)},
        {"result", encode_figures(result.figures)},
        {"loop", encode_loop(result)},
        {"curve", encode_curve(result.curve)},
        {"fills_drawn_every", result.drawn_every},
        {"fills", encode_drawn(result.drawn)},
    });
}

}  // namespace interlock
