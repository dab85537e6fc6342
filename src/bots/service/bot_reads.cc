// What everybody may ask of a bot (docs/contracts/bot.md#1-where). Answers come from the board or
// the ledger's read side; only positions that have moved cost a turn.
#include <algorithm>

#include "base/errors.h"
#include "bots/rules/bot_money.h"
#include "bots/service/bot_service.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

// More than the seconds between two texts of one version that are kept.
constexpr std::int64_t kSecondsKept = 1'000'000'000;

Json time_or_null(const std::optional<Timestamp>& at) {
    return at ? Json(to_text(*at)) : Json();
}

Json hydration_json(const std::optional<HydrationStep>& step) {
    if (!step) {
        return Json();
    }
    const std::size_t at = static_cast<std::size_t>(*step);
    return Json::object({
        {"step", kHydrationWords[at]},
        {"done", static_cast<std::int64_t>(at)},
        {"total", static_cast<std::int64_t>(kHydrationWords.size())},
    });
}

// " buy 0.01 BTCUSDT at 50000 fee 0.5 USDT" of an order or a fill; nothing of anything else.
std::string trade_words(const Json* detail) {
    const auto word = [&](std::string_view key) -> std::string {
        const Json* value = detail != nullptr ? detail->find(key) : nullptr;
        return value != nullptr && value->is_string() ? value->as_string() : "";
    };
    const std::string side = word("side");
    if (side.empty()) {
        return {};
    }
    std::string words = " " + side + " " + word("qty") + " " + word("symbol");
    const std::string price = word("price").empty() ? word("limit_price") : word("price");
    words += price.empty() ? " at the market" : " at " + price;
    if (const std::string fee = word("fee"); !fee.empty()) {
        words += " fee " + fee + " " + word("fee_asset");
    }
    if (const std::string refused = word("reject_code"); !refused.empty()) {
        words += " refused " + refused;
    }
    return words;
}

std::string line_of(const LedgerEntry& entry) {
    const auto json = parse_json(entry.canonical_json);
    const auto word = [&](std::string_view key) -> std::string {
        const Json* value = json ? json->find(key) : nullptr;
        return value != nullptr && value->is_string() ? value->as_string() : "";
    };
    std::string line = word("timestamp") + " " + word("event") + " " + word("status");
    if (const std::string tick = word("tick_id"); !tick.empty() && tick != "-") {
        line += " " + tick;
    }
    line += trade_words(json ? json->find("detail") : nullptr);
    if (const std::string reason = word("reason"); !reason.empty()) {
        line += ": " + reason;
    }
    return line + "\n";
}

Json pnl_json(const PnlJobs::Answered& answered) {
    return Json::object({{"message", answered.message}, {"running", answered.running}});
}

Json position_json(const SymbolBook& book) {
    // As a book is read: from the highest price down.
    std::vector<OrderRecord> open = book.open;
    std::ranges::stable_sort(open, std::ranges::greater{}, [](const OrderRecord& order) {
        return order.request.limit_price.value_or(Decimal());
    });
    Json orders = Json::array();
    for (const OrderRecord& order : open) {
        orders.push(Json::object({
            {"order_client_id", order.id().text()},
            {"side", to_word(order.request.side)},
            {"price",
             order.request.limit_price ? Json(to_text(*order.request.limit_price)) : Json()},
            {"remaining_qty", to_text(reserved_qty(order))},
        }));
    }
    return Json::object({
        {"symbol", book.symbol.text()},
        {"quantity", to_text(book.position)},
        {"cost", to_text(book.cost)},
        {"average_price", to_text(avg_price(book))},
        {"realized", to_text(book.realized)},
        {"open_orders", std::move(orders)},
    });
}

}  // namespace

std::optional<Blocked> BotService::why_held_up(const StrategyInstance& instance) const {
    const TenantId& tenant_id = instance.account.tenant_id;
    if (!is_kept_strategy(instance.strategy_id) || instance.account != bot_account_of(tenant_id)) {
        return std::nullopt;
    }
    const auto seen = board_.view(tenant_id);
    return seen ? why_stalled(seen->record) : std::nullopt;
}

Result<bool> BotService::is_ticking(Turn& turn, const VenueAccount& account) const {
    TRY_ASSIGN(
        const auto bot, turn.load_as<BotRecord>(bot_machine(account.tenant_id), decode_bot_record));
    return bot && bot->state == BotState::running;
}

std::optional<Blocked> BotService::why_blocked(
    const TenantId& tenant_id, const BotView& view) const {
    if (std::optional<Blocked> stopped = parts_.kill.why_stopped(tenant_id)) {
        return stopped;
    }
    const BotRecord& record = view.record;
    if (std::optional<Blocked> stalled = why_stalled(record)) {
        return stalled;
    }
    if (auto blocked = parts_.loop.why_account_blocked(bot_account_of(tenant_id))) {
        return blocked;
    }
    const bool is_held = record.state == BotState::running && view.held;
    return is_held ? view.held : why_too_small(view.warnings, record.config);
}

Json BotService::status(const TenantId& tenant_id) const {
    const auto seen = board_.view(tenant_id);
    const BotView none;
    const BotView& view = seen ? *seen : none;
    const BotRecord& record = view.record;
    const std::optional<Blocked> blocked = why_blocked(tenant_id, view);
    std::vector<std::string> warnings = view.warnings;
    if (record.state == BotState::running && !blocked) {
        warnings.insert(warnings.end(), view.smaller.begin(), view.smaller.end());
    }
    return Json::object({
        {"bot_state", to_word(record.state)},
        {"trading", record.state == BotState::running && !blocked},
        {"blocked", encode(blocked)},
        {"bot_attached", record.state != BotState::uninitialized},
        {"stalled", record.stall.is_stalled},
        {"connected", record.is_connected},
        {"hydration", hydration_json(view.hydration)},
        {"last_pulse_at", time_or_null(view.last_pulse_at)},
        {"pulses", view.pulses},
        {"pulses_late", view.pulses_late},
        {"warnings", json_list(warnings)},
        {"config_version", record.config_version},
        {"trouble", record.trouble.empty() ? Json() : Json(record.trouble)},
    });
}

// The text of a configuration is the longest to make and is kept for a second. Before the
// bot was built once there is nothing yet that a version stands for.
std::string BotService::config(const TenantId& tenant_id) {
    const auto seen = board_.view(tenant_id);
    const bool keeps = seen && seen->record.state != BotState::uninitialized;
    const std::int64_t version = seen ? seen->record.config_version : 1;
    // What it is worth moves with the market: good for a second.
    const Timestamp now = parts_.clock.now();
    const std::int64_t moment =
        version * kSecondsKept + (now.microseconds / 1'000'000) % kSecondsKept;
    if (keeps) {
        if (auto kept = board_.text(tenant_id, kConfigText, moment)) {
            return *std::move(kept);
        }
    }
    const BotConfig& config = seen ? seen->record.config : parts_.defaults;
    Json json = describe(config);
    json.set("money", money_of(config, parts_.feed.facts(config.symbols), now));
    json.set("config_version", version);
    std::string text = to_text(json);
    if (keeps) {
        board_.keep_text(tenant_id, kConfigText, moment, text);
    }
    return text;
}

Json BotService::balances(const TenantId& tenant_id) const {
    const auto seen = board_.view(tenant_id);
    Json balances = Json::object();
    if (seen && seen->report) {
        for (const VenueBalance& one : seen->report->balances) {
            balances.set(
                std::string(one.asset.text()),
                Json::object({{"free", to_text(one.free)}, {"locked", to_text(one.locked)}}));
        }
    }
    return Json::object({
        {"balances", std::move(balances)},
        {"fetched_at", time_or_null(seen ? seen->fetched_at : std::nullopt)},
    });
}

Result<BotService::Logs> BotService::logs(const TenantId& tenant_id, std::int64_t lines) {
    TRY_ASSIGN(const LedgerHead head, parts_.store.read_head(tenant_id));
    const std::int64_t count = std::clamp<std::int64_t>(lines, 1, kLogLinesMax);
    // One text a tenant is kept: of this head and this many lines.
    const std::int64_t version = head.seq * (kLogLinesMax + 1) + count;
    if (auto kept = board_.text(tenant_id, kLogsText, version)) {
        return Logs{.text = *std::move(kept)};
    }
    TRY_ASSIGN(
        const auto entries,
        parts_.store.read_ledger(tenant_id, std::max<std::int64_t>(0, head.seq - count), count));
    std::string lines_text;
    for (const LedgerEntry& entry : entries) {
        lines_text += line_of(entry);
    }
    std::string text = to_text(Json::object({{"logs", std::move(lines_text)}}));
    board_.keep_text(tenant_id, kLogsText, version, text);
    return Logs{.text = std::move(text), .records_read = std::ssize(entries)};
}

void BotService::positions(Caller caller, Reply reply) {
    const TenantId tenant_id = caller.tenant_id;
    const auto watched = parts_.loop.watched(bot_account_of(tenant_id));
    const std::int64_t version = watched ? watched->version : 0;
    if (auto kept = board_.text(tenant_id, kPositionsText, version)) {
        reply(Answer{200, *std::move(kept)});
        return;
    }
    TurnRequest turn = turn_of(std::move(caller), "positions");
    turn.reply = std::move(reply);
    turn.decide = [this](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const AccountView view, load_account(t, bot_account_of(t.tenant_id())));
        Json list = Json::array();
        const std::size_t count = view.account ? view.books->books.size() : 0;
        for (std::size_t i = 0; i < count; ++i) {
            list.push(position_json(view.books->books[i]));
        }
        std::string text = to_text(Json::object({{"positions", std::move(list)}}));
        t.after_commit([this,
                        text,
                        tenant = t.tenant_id(),
                        version = view.account ? view.account->version : 0] {
            board_.keep_text(tenant, kPositionsText, version, text);
        });
        return Answer{200, std::move(text)};
    };
    parts_.submit(std::move(turn));
}

void BotService::exchange_status(Caller caller, Reply reply) {
    if (auto kept = board_.text(caller.tenant_id, kExchangeText, 0)) {
        reply(Answer{200, *std::move(kept)});
        return;
    }
    parts_.vault.has(
        {caller.principal, caller.tenant_id},
        [this, tenant_id = caller.tenant_id, reply](Result<VaultPresence> presence) {
            if (!presence) {
                reply(std::unexpected(std::move(presence).error()));
                return;
            }
            const auto seen = board_.view(tenant_id);
            Json body = encode(*presence);
            body.set("keys_loaded", presence->keys_loaded());
            body.set("exchange", presence->keys_loaded() ? Json(presence->exchange()) : Json());
            body.set("connected", seen && seen->record.is_connected);
            std::string text = to_text(body);
            board_.keep_text(tenant_id, kExchangeText, 0, text);
            reply(Answer{200, std::move(text)});
        });
}

void BotService::run_pnl(Caller caller, std::int64_t lookback_days, Reply reply) {
    TurnRequest turn = keyed_turn_of(std::move(caller), "run_pnl");
    turn.reply = std::move(reply);
    turn.decide = [this, lookback_days](Turn& t) -> Result<TurnReply> {
        // A bot that was never built has nothing to reckon, which is an answer too.
        const VenueAccount account = bot_account_of(t.tenant_id());
        TRY(parts_.loop.open_or_load(t, account));
        TRY_ASSIGN(
            const PnlJobs::Answered answered,
            parts_.pnl.start(t, {.account = account, .lookback_days = lookback_days}));
        return Answer{200, to_text(pnl_json(answered))};
    };
    parts_.submit(std::move(turn));
}

void BotService::stop_pnl(Caller caller, Reply reply) {
    TurnRequest turn = keyed_turn_of(std::move(caller), "stop_pnl");
    turn.reply = std::move(reply);
    turn.decide = [this](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const PnlJobs::Answered answered, parts_.pnl.stop(t));
        return Answer{200, to_text(pnl_json(answered))};
    };
    parts_.submit(std::move(turn));
}

}  // namespace interlock
