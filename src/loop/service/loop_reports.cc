// VERIFY: what the venue says, reconciled with our books and with every execution that still waits
// for its word (agent-loop.md#verification).
#include <algorithm>
#include <array>
#include <set>

#include "base/canonical_json.h"
#include "base/errors.h"
#include "base/log.h"
#include "codec/field_reader.h"
#include "loop/service/loop_service.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 3> kCauses{"verify", "recovery", "tool"};
constexpr std::size_t kReportRowsMax = 100'000;

template <class Rows>
Json encode_all(const Rows& rows) {
    Json list = Json::array();
    for (const auto& row : rows) {
        list.push(encode(row));
    }
    return list;
}

template <class T, class Decode>
Result<std::vector<T>> decode_all(FieldReader& in, std::string_view key, Decode decode) {
    std::vector<T> rows;
    for (const Json& item : in.required_array(key, kReportRowsMax)) {
        TRY_ASSIGN(T row, decode(item));
        rows.push_back(std::move(row));
    }
    return rows;
}

Json encode_answer(const OrderAnswer& answer) {
    return Json::object({
        {"order_client_id", answer.order_client_id.text()},
        {"is_reachable", answer.is_reachable},
        {"order", answer.order ? encode(*answer.order) : Json()},
        {"fills", encode_all(answer.fills)},
    });
}

Result<OrderAnswer> decode_answer(const Json& json) {
    FieldReader in(json);
    OrderAnswer answer;
    answer.order_client_id = in.required<OrderClientId>("order_client_id");
    answer.is_reachable = in.required<bool>("is_reachable");
    if (const Json* order = in.optional_object("order")) {
        TRY_ASSIGN(answer.order, decode_venue_order(*order));
    }
    TRY_ASSIGN(answer.fills, decode_all<VenueFill>(in, "fills", decode_venue_fill));
    return in.finish(std::move(answer));
}

std::vector<std::string> words_of(const std::vector<Finding>& findings) {
    std::vector<std::string> words;
    for (const Finding& finding : findings) {
        words.push_back(to_text(finding));
    }
    return words;
}

std::set<OrderClientId> ids_of(const std::vector<VenueOrder>& orders) {
    std::set<OrderClientId> ids;
    for (const VenueOrder& order : orders) {
        ids.insert(order.order_client_id);
    }
    return ids;
}

// An entry that was to be cancelled and that the venue still shows as open.
bool is_any_uncancelled(
    const std::vector<SymbolBook>& books, const std::set<OrderClientId>& shown_open) {
    return std::any_of(books.begin(), books.end(), [&](const SymbolBook& book) {
        return std::any_of(book.open.begin(), book.open.end(), [&](const OrderRecord& order) {
            return !order.is_reduce && order.cancel_requested && shown_open.contains(order.id());
        });
    });
}

bool is_final(const std::vector<OrderRecord>& orders) {
    return std::all_of(orders.begin(), orders.end(), [](const OrderRecord& order) {
        return !is_uncertain(order);
    });
}

// Another's order may lock our cash in a market where we have no book.
std::vector<Symbol> symbols_of(
    const AccountView& view, const VenueReport& report, const std::vector<OrderAnswer>& answers) {
    std::vector<Symbol> symbols = priced_symbols(view);
    for (const VenueOrder& order : report.open_orders) {
        symbols.push_back(order.symbol);
    }
    add_fee_symbols(symbols, view.account->quote, report.fills);
    for (const OrderAnswer& answer : answers) {
        add_fee_symbols(symbols, view.account->quote, answer.fills);
    }
    return symbols;
}

// The order of a trade that was booked: booking changed it, so the result holds it.
const OrderRecord& order_of(const Reconciliation& result, const VenueFill& fill) {
    return *std::find_if(result.orders.begin(), result.orders.end(), [&](const OrderRecord& one) {
        return one.id() == fill.order_client_id;
    });
}

}  // namespace

Json encode_report_answer(const VenueReport& report, const std::vector<OrderAnswer>& answers) {
    Json list = Json::array();
    for (const OrderAnswer& answer : answers) {
        list.push(encode_answer(answer));
    }
    return Json::object({
        {"open_orders", encode_all(report.open_orders)},
        {"balances", encode_all(report.balances)},
        {"fills", encode_all(report.fills)},
        {"fills_cursor", report.fills_cursor},
        {"has_more_fills", report.has_more_fills},
        {"answers", std::move(list)},
    });
}

Result<ReportAnswer> decode_report_answer(const Json& json) {
    FieldReader in(json);
    ReportAnswer answer;
    TRY_ASSIGN(
        answer.report.open_orders, decode_all<VenueOrder>(in, "open_orders", decode_venue_order));
    TRY_ASSIGN(
        answer.report.balances, decode_all<VenueBalance>(in, "balances", decode_venue_balance));
    TRY_ASSIGN(answer.report.fills, decode_all<VenueFill>(in, "fills", decode_venue_fill));
    answer.report.fills_cursor = in.required<std::int64_t>("fills_cursor");
    answer.report.has_more_fills = in.required<bool>("has_more_fills");
    TRY_ASSIGN(answer.answers, decode_all<OrderAnswer>(in, "answers", decode_answer));
    return in.finish(std::move(answer));
}

Result<std::vector<OrderRecord>> LoopService::records_of(
    Turn& turn, const VenueAccount& account, const std::vector<OrderClientId>& ids) {
    TRY_ASSIGN(const AccountView view, load_account(turn, account));
    std::vector<OrderRecord> records;
    for (const OrderClientId& id : ids) {
        const OrderRecord* open = nullptr;
        for (const SymbolBook& book : view.books->books) {
            open = open != nullptr ? open : book.find(id);
        }
        if (open != nullptr) {
            records.push_back(*open);
            continue;
        }
        TRY_ASSIGN(const auto settled, load_order(turn, account, id));
        if (settled) {
            records.push_back(*settled);
        }
    }
    return records;
}

Result<void> LoopService::ask_venue(Turn& turn, const VenueAccount& account, Ask ask) {
    TRY_ASSIGN(const AccountView view, load_account(turn, account));
    if (!view.account) {
        return {};
    }
    std::vector<OrderClientId> ids = std::move(ask.ids);
    for (const DecisionId& decision_id : view.books->unverified) {
        TRY_ASSIGN(const auto decision, load_decision(turn, account.tenant_id, decision_id));
        for (const Execution& row : decision ? decision->execution : std::vector<Execution>{}) {
            ids.push_back(row.order_client_id);
        }
    }
    for (const SymbolBook& book : view.books->books) {
        for (const OrderRecord& order : book.open) {
            if (is_uncertain(order) || ask.cause == AskCause::recovery) {
                ids.push_back(order.id());
            }
        }
    }
    TRY_ASSIGN(const std::vector<OrderRecord> records, records_of(turn, account, ids));
    Json wanted = Json::array();
    std::set<OrderClientId> named;
    for (const OrderRecord& record : records) {
        if (named.insert(record.id()).second && wanted.items().size() < kVerifyOrdersMax) {
            wanted.push(Json::object(
                {{"order_client_id", record.id().text()}, {"symbol", record.symbol().text()}}));
        }
    }
    turn.effect({
        .kind = std::string(kReportKind),
        .json = Json::object({
            {"account", encode(account)},
            {"cursor", view.account->fills_cursor},
            {"cause", kCauses[static_cast<std::size_t>(ask.cause)]},
            {"orders", std::move(wanted)},
            {"operation", std::move(ask.operation)},
        }),
        .delivery = Delivery::repeatable,
        .life = Duration::of_days(1),
    });
    return {};
}

Result<Reconciliation> LoopService::apply_report(
    Turn& turn,
    const VenueAccount& account,
    VenueReport report,
    const std::vector<OrderAnswer>& answers) {
    TRY_ASSIGN(const AccountView view, load_account(turn, account));
    if (!view.account) {
        return fail(errors::unknown_account, "A report speaks of an account that does not exist.");
    }
    ReconcileInput input;
    input.account = *view.account;
    input.books = view.books->books;
    input.now = turn.now();
    if (parts_.latch.is_raised(account.tenant_id)) {
        // The kill switch cancels past our books; the venue's cancels are ours.
        for (SymbolBook& book : input.books) {
            for (OrderRecord& order : book.open) {
                order = step_order(std::move(order), CancelRequested{}, turn.now()).order;
            }
        }
    }
    std::set<OrderClientId> named;
    for (const VenueOrder& order : report.open_orders) {
        named.insert(order.order_client_id);
    }
    for (const VenueFill& fill : report.fills) {
        named.insert(fill.order_client_id);
    }
    for (const OrderAnswer& answer : answers) {
        named.insert(answer.order_client_id);
    }
    for (const SymbolBook& book : input.books) {
        for (const OrderRecord& order : book.open) {
            named.erase(order.id());
        }
    }
    TRY_ASSIGN(input.settled, records_of(turn, account, {named.begin(), named.end()}));
    input.market = parts_.feed.facts(symbols_of(view, report, answers));
    input.report = std::move(report);
    input.answers = answers;
    TRY_ASSIGN(Reconciliation result, reconcile(std::move(input)));
    for (const BookedTrade& trade : result.fills) {
        TRY(record_fill(turn, order_of(result, trade.fill), trade));
    }
    for (const OrderRecord& order : result.orders) {
        save_order(turn, order);
    }
    AccountBooks books{.books = result.books, .unverified = view.books->unverified};
    const bool orders_changed = books != *view.books;
    if (orders_changed) {
        save_books(turn, account, std::move(books));
    }
    if (result.account != *view.account) {
        put_account(turn, result.account);
    }
    if (orders_changed) {
        TRY(tell_orders_changed(turn, account));
    }
    return result;
}

Result<void> LoopService::verify_decision(
    Turn& turn, Decision& decision, const VerifyInput& input, AccountBooks& books) {
    const Verification verification = verify_orders(input);
    Json encoded = encode(verification);
    const bool changed = encoded != decision.verification;
    decision.verification = std::move(encoded);
    const bool settled = verification.overall != VerifyOutcome::uncertain && is_final(input.orders);
    if (!changed && !settled) {
        return {};  // Still uncertain in the same way: said once.
    }
    TRY(audit_step(
        turn,
        decision,
        {.event = "VERIFICATION_RESULT",
         .step = AuditStep::verify,
         .status = verification.overall == VerifyOutcome::matched ? AuditStatus::passed
                                                                  : AuditStatus::failed,
         .reason = std::string(to_word(verification.overall)),
         .detail = decision.verification}));
    if (!settled) {
        return {};
    }
    std::erase(books.unverified, decision.decision_id);
    decision.stage = DecisionStage::recorded;
    return record_step(
        turn,
        decision,
        verification.overall == VerifyOutcome::matched ? AuditStatus::passed : AuditStatus::failed);
}

Result<void> LoopService::verify_decisions(
    Turn& turn,
    const VenueAccount& account,
    const Reconciliation& result,
    const std::vector<OrderAnswer>& answers) {
    TRY_ASSIGN(const AccountView view, load_account(turn, account));
    AccountBooks books = *view.books;
    std::vector<std::string> trouble;
    for (const DecisionId& decision_id : view.books->unverified) {
        TRY_ASSIGN(const auto stored, load_decision(turn, account.tenant_id, decision_id));
        if (!stored) {
            continue;
        }
        Decision decision = *stored;
        std::vector<OrderClientId> ids;
        for (const Execution& row : decision.execution) {
            ids.push_back(row.order_client_id);
        }
        VerifyInput input;
        TRY_ASSIGN(input.orders, records_of(turn, account, ids));
        input.now = turn.now();
        for (const OrderAnswer& answer : answers) {
            if (std::find(ids.begin(), ids.end(), answer.order_client_id) != ids.end()) {
                input.answers.push_back(answer);
            }
        }
        for (const Finding& finding : result.drift) {
            if (std::any_of(ids.begin(), ids.end(), [&](const OrderClientId& id) {
                    return id.text() == finding.subject;
                })) {
                input.drift.push_back(finding);
            }
        }
        TRY(verify_decision(turn, decision, input, books));
        if (const Json* overall = decision.verification.find("overall");
            overall != nullptr && *overall != Json("matched")) {
            trouble.push_back(overall->as_string() + ":" + decision_id.text());
        }
        save_decision(turn, std::move(decision));
    }
    if (books != *view.books) {
        save_books(turn, account, std::move(books));
    }
    if (!trouble.empty()) {
        TRY(enter_recovery_of(turn, account, std::move(trouble)));
    }
    return {};
}

Result<void> LoopService::on_report(Turn& turn, const EffectOutcome& outcome) {
    TRY_ASSIGN(const Json json, parse_json(outcome.effect.json));
    FieldReader in(json);
    VenueAccount account;
    if (const Json* named = in.required_object("account")) {
        TRY_ASSIGN(account, decode_venue_account(*named));
    }
    const auto cause = static_cast<AskCause>(in.required_word_index("cause", kCauses));
    const Json operation = in.optional_or<Json>("operation", {});
    TRY_ASSIGN(const Json receipt, parse_json(outcome.receipt.empty() ? "{}" : outcome.receipt));
    std::vector<std::string> trouble;
    bool is_doubted = false;
    Reconciliation result;
    std::vector<OrderAnswer> answers;
    std::set<OrderClientId> shown_open;
    if (receipt.find("answers") == nullptr) {
        trouble.push_back("venue_unreachable");
    } else {
        TRY_ASSIGN(ReportAnswer answer, decode_report_answer(receipt));
        answers = std::move(answer.answers);
        shown_open = ids_of(answer.report.open_orders);
        TRY_ASSIGN(result, apply_report(turn, account, std::move(answer.report), answers));
        TRY(verify_decisions(turn, account, result, answers));
        trouble = words_of(result.drift);
        for (std::string& word : words_of(result.uncertain)) {
            trouble.push_back(std::move(word));
        }
        is_doubted = !trouble.empty();
    }
    if (cause == AskCause::recovery) {
        TRY_ASSIGN(const AccountView view, load_account(turn, account));
        TRY_ASSIGN(const Decimal exposure, worst_case_exposure(view.books->books));
        // Books that contradict themselves do not return to normal by being compared.
        for (std::string& problem : startup_problems(*view.account, view.books->books)) {
            trouble.push_back(std::move(problem));
            is_doubted = true;
        }
        TRY(recover(
            turn,
            account,
            step_recovery(
                view.account->recovery,
                {.at = turn.now(),
                 .is_clean = trouble.empty() && result.is_clean,
                 .is_doubted = is_doubted,
                 .reasons = trouble,
                 .exposure = exposure,
                 .duplicate_seen = result.duplicate_seen,
                 .cancels_failed = is_any_uncancelled(view.books->books, shown_open)})));
    } else if (!trouble.empty()) {
        TRY(enter_recovery_of(turn, account, std::move(trouble)));
    }
    if (operation.is_null()) {
        return {};
    }
    return answer_verification(
        turn, account, {.request = operation, .answers = answers, .drift = result.drift});
}

Result<bool> LoopService::take_report(
    Turn& turn, const Watched& asked_at, const VenueReport& report) {
    const VenueAccount& account = asked_at.account;
    TRY_ASSIGN(const AccountView view, load_account(turn, account));
    if (!view.account || view.account->version != asked_at.version) {
        return false;
    }
    TRY_ASSIGN(const Reconciliation result, apply_report(turn, account, report, {}));
    if (!result.to_query.empty()) {
        TRY(ask_venue(turn, account, {.cause = AskCause::verify, .ids = result.to_query}));
    }
    std::vector<std::string> trouble = words_of(result.drift);
    if (!trouble.empty()) {
        TRY(enter_recovery_of(turn, account, std::move(trouble)));
    }
    return true;
}

TurnRequest LoopService::report_turn(const Watched& asked_at, VenueReport report) {
    TurnRequest turn;
    turn.tenant_id = asked_at.account.tenant_id;
    turn.principal = internal_principal("venue_watch");
    turn.function = "venue_report";
    turn.decide = [this, asked_at, report = std::move(report)](Turn& t) -> Result<TurnReply> {
        TRY(take_report(t, asked_at, report));
        return Answer{200, "{}"};
    };
    turn.reply = [](Result<Answer> answer) {
        if (!answer) {
            log_error("venue_report_failed", {{"message", answer.error().message}});
        }
    };
    return turn;
}

}  // namespace interlock
