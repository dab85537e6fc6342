#include "app/demo/demo_scenes.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "app/command/console.h"
#include "app/demo/demo_books.h"
#include "base/errors.h"
#include "engine/system/data_folder.h"
#include "engine/system/system_clock.h"
#include "trader/service/decision_receipt.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kPatience{30'000};
constexpr const char* kSymbol = "BTCUSDT";
// How often an order is planned anew, and how long the market has to move in between.
constexpr int kAttempts = 12;
constexpr std::chrono::milliseconds kNextLook{250};

std::string verdict_of(const DemoAnswer& answer) {
    const std::string part = answer.json.find("dry_run") != nullptr ? "dry_run" : "validation";
    const std::string code = demo_text(answer.json, {"errors", "0", "code"});
    if (!code.empty()) {
        return code;
    }
    if (demo_text(answer.json, {part, "pass"}) == "true") {
        return part == "dry_run" ? "within limits after costs" : "all five gates pass";
    }
    return demo_text(answer.json, {part, "blocking_reasons", "0"});
}

Result<void> require_pass(const DemoAnswer& answer, const std::string& part) {
    if (demo_text(answer.json, {part, "pass"}) != "true") {
        return fail(errors::internal, "the order did not pass: " + verdict_of(answer));
    }
    return {};
}

std::string fill_text(const DemoAnswer& verified) {
    const Json& json = verified.json;
    return fmt::format(
        "{}: {}, {} at {}",
        demo_text(json, {"verification", "overall"}),
        demo_text(json, {"verification", "orders", "0", "final_state"}),
        demo_text(json, {"verification", "orders", "0", "fill_qty"}),
        demo_text(json, {"verification", "orders", "0", "avg_fill_price"}));
}

bool is_matched(const DemoAnswer& verified) {
    return demo_text(verified.json, {"verification", "overall"}) == "matched";
}

}  // namespace

std::string verify_text(const FolderReport& report) {
    return fmt::format(
        "{}: {} in {}",
        report.ok() ? "OK" : "NOT OK",
        count_text(report.records(), "record"),
        count_text(static_cast<std::int64_t>(report.chains.size()), "chain"));
}

DemoScenes::DemoScenes(DemoStage& stage, Server& server, DemoPlanner::Parts planner)
    : stage_(stage), server_(server), planner_(std::move(planner)) {
    // Two plays within a minute must not look like one order sent twice.
    const std::size_t odd = std::hash<std::string>()(planner_.parts().run) % 900;
    order_ = {.symbol = kSymbol, .side = "buy", .qty = fmt::format("0.00{:03}", odd + 100)};
}

bool DemoScenes::play() {
    struct Scene {
        const char* title;
        std::function<Result<void>()> act;
    };
    const std::vector<Scene> scenes{
        {"a good order, from the account to its fill", [this] { return good_order(); }},
        {"the same call again, and the same order in other words",
         [this] { return same_call_again(); }},
        {"an order over the limits", [this] { return over_the_limit(); }},
        {"the venue takes an order and goes silent", [this] { return silent_venue(); }},
        {"kill -9 with an order on its way",
         [this] { return play_crash_scene(stage_, planner_.parts().data_folder); }},
    };
    for (const Scene& scene : scenes) {
        if (DemoStage::is_stop_asked_for()) {
            return stage_.all_held();
        }
        stage_.open_scene(scene.title);
        if (const auto played = scene.act(); !played) {
            stage_.fail_scene(played.error().message);
        }
    }
    if (const auto verified = verify_ledger(); !verified) {
        stage_.fail_scene(verified.error().message);
    }
    stage_.close();
    return stage_.all_held();
}

Result<std::int64_t> DemoScenes::orders_at_venue() const {
    TRY_ASSIGN(
        const VenueBooks books,
        read_venue_books(planner_.parts().data_folder, planner_.parts().tenant));
    return books.orders();
}

Result<void> DemoScenes::wait_for_normal() {
    TRY_ASSIGN(
        const DemoAnswer account,
        ask_until(
            [this] { return planner_.account(); },
            [](const DemoAnswer& answer) {
                return demo_text(answer.json, {"recovery", "phase"}) == "normal";
            },
            kPatience));
    if (demo_text(account.json, {"recovery", "phase"}) != "normal") {
        return fail(errors::internal, "the account did not come out of safe recovery");
    }
    return {};
}

Result<DemoScenes::Sent> DemoScenes::send_order(const std::string& name, const DemoOrder& order) {
    Sent sent;
    DemoAnswer checked;
    for (int attempt = 1; attempt <= kAttempts; ++attempt) {
        sent.decision =
            planner_.decision_id(attempt == 1 ? name : fmt::format("{}_{}", name, attempt));
        TRY_ASSIGN(checked, planner_.validate(sent.decision, order));
        stage_.show({"py_validate_plan", checked.took, verdict_of(checked), checked.audit_ref()});
        if (!verdict_of(checked).starts_with("market_sanity")) {
            break;
        }
        pause_for(kNextLook);  // Out of bounds for a moment: the next look at the market decides.
    }
    TRY(require_pass(checked, "validation"));
    TRY_ASSIGN(const DemoAnswer rehearsed, planner_.dry_run(sent.decision, order));
    stage_.show({"py_dry_run_plan", rehearsed.took, verdict_of(rehearsed), rehearsed.audit_ref()});
    TRY(require_pass(rehearsed, "dry_run"));
    sent.order_client_id =
        demo_text(rehearsed.json, {"dry_run", "projected", "0", "order_client_id"});
    sent.body = planner_.execute_body(sent.decision, order, rehearsed);
    TRY_ASSIGN(sent.answer, planner_.execute(sent.body));
    stage_.show(
        {"py_execute_plan",
         sent.answer.took,
         fmt::format(
             "{}, order {}",
             demo_text(sent.answer.json, {"execution", "0", "submit_status"}),
             sent.order_client_id),
         sent.answer.audit_ref()});
    return sent;
}

Result<void> DemoScenes::show_receipt(const std::string& decision) {
    const std::string& folder = planner_.parts().data_folder;
    TRY_ASSIGN(const TenantId tenant, TenantId::parse(planner_.parts().tenant));
    TRY_ASSIGN(const DecisionId decision_id, DecisionId::parse(decision));
    const auto begun = std::chrono::steady_clock::now();
    TRY_ASSIGN(const FolderSigner signer, FolderSigner::open(folder));
    TRY_ASSIGN(const auto store, open_ledger(folder, LedgerView::snapshot));
    TRY_ASSIGN(
        const std::string text,
        write_receipt(
            {.store = *store, .signer = signer.signer(), .created_at = SystemClock().now()},
            tenant,
            decision_id));
    const ReceiptReport checked = verify_receipt(text);
    const std::string path = folder + "/receipts/" + decision + ".json";
    std::error_code problem;
    std::filesystem::create_directories(folder + "/receipts", problem);
    std::ofstream(path, std::ios::binary) << text;
    stage_.show(
        {"receipt",
         std::chrono::steady_clock::now() - begun,
         checked.ok() ? fmt::format(
                            "signed, {}, replayed to the same bytes",
                            count_text(checked.records, "audit record"))
                      : checked.problem});
    stage_.say(path);
    if (!checked.ok()) {
        stage_.promise(false, "a receipt can be checked without the database");
    }
    return {};
}

Result<void> DemoScenes::good_order() {
    TRY(wait_for_normal());
    const std::string decision = planner_.decision_id("good");
    TRY_ASSIGN(const DemoAnswer state, planner_.state(decision));
    TRY_ASSIGN(const auto held, holdings_of(*state.json.find("state")));
    stage_.show({"py_get_canonical_state", state.took, describe_holdings(held), state.audit_ref()});
    TRY_ASSIGN(const DemoAnswer market, planner_.snapshot(decision, kSymbol));
    stage_.show(
        {"py_get_market_snapshot",
         market.took,
         fmt::format(
             "{} bid {} ask {}",
             kSymbol,
             demo_text(market.json, {"market", "0", "best_bid"}),
             demo_text(market.json, {"market", "0", "best_ask"})),
         market.audit_ref()});
    TRY_ASSIGN(first_, send_order("good", order_));
    TRY_ASSIGN(const DemoAnswer verified, planner_.verify(first_.decision, first_.order_client_id));
    stage_.show({"py_verify_execution", verified.took, fill_text(verified), verified.audit_ref()});
    TRY_ASSIGN(
        const VenueBooks venue,
        read_venue_books(planner_.parts().data_folder, planner_.parts().tenant));
    TRY_ASSIGN(const DemoAnswer account, planner_.account());
    TRY_ASSIGN(const auto ours, holdings_of(account.json));
    stage_.promise(
        is_matched(verified) && ours == venue.holdings,
        "our books equal the venue's journal: " + describe_holdings(ours));
    return show_receipt(first_.decision);
}

Result<void> DemoScenes::same_call_again() {
    if (first_.decision.empty()) {
        return fail(errors::internal, "there is no call to repeat");
    }
    TRY_ASSIGN(const std::int64_t before, orders_at_venue());
    TRY_ASSIGN(const DemoAnswer again, planner_.execute(first_.body));
    stage_.show({"py_execute_plan again", again.took, "the same key", again.audit_ref()});
    stage_.promise(
        again.bytes == first_.answer.bytes,
        fmt::format("the answer is the same, all {} bytes of it", again.bytes.size()));
    const std::string decision = planner_.decision_id("twin");
    TRY_ASSIGN(const DemoAnswer twin, planner_.validate(decision, order_));
    stage_.show({"py_validate_plan", twin.took, verdict_of(twin), twin.audit_ref()});
    stage_.promise(
        verdict_of(twin).find("duplicate_of=" + first_.decision) != std::string::npos,
        "a fresh key and a fresh decision do not disguise the same order");
    TRY_ASSIGN(const std::int64_t after, orders_at_venue());
    stage_.promise(
        before == after, fmt::format("nothing was sent: the venue's journal has {} orders", after));
    return {};
}

Result<void> DemoScenes::over_the_limit() {
    TRY_ASSIGN(const std::int64_t before, orders_at_venue());
    const std::string decision = planner_.decision_id("large");
    TRY_ASSIGN(
        const DemoAnswer answer,
        planner_.validate(decision, {.symbol = kSymbol, .side = "buy", .qty = "2.5"}));
    stage_.show({"py_validate_plan", answer.took, "2.5 BTC at the market", answer.audit_ref()});
    const Json* validation = answer.json.find("validation");
    const Json* checks = validation == nullptr ? nullptr : validation->find("checks");
    if (checks == nullptr) {
        return fail(errors::internal, "there is no gate report: " + answer.bytes);
    }
    for (const Json& check : checks->items()) {
        stage_.say(fmt::format(
            "{:<20} {:<5} {}",
            demo_text(check, {"name"}),
            demo_text(check, {"pass"}) == "true" ? "pass" : "FAIL",
            demo_text(check, {"detail"})));
    }
    for (const Json& reason : validation->find("blocking_reasons")->items()) {
        stage_.say("blocked by " + reason.as_string());
    }
    TRY_ASSIGN(const std::int64_t after, orders_at_venue());
    stage_.promise(
        demo_text(*validation, {"pass"}) == "false" && checks->items().size() == 5 &&
            before == after,
        "every gate gave its verdict, and nothing was sent");
    return show_receipt(decision);
}

Result<void> DemoScenes::silent_venue() {
    TRY_ASSIGN(const std::int64_t before, orders_at_venue());
    TRY_ASSIGN(const TenantId tenant, TenantId::parse(planner_.parts().tenant));
    TRY(server_.lose_next_answer(tenant));
    DemoOrder order = order_;
    order.symbol = "ETHUSDT";
    order.qty = "0.0" + order.qty.substr(4);
    const auto begun = std::chrono::steady_clock::now();
    TRY_ASSIGN(const Sent sent, send_order("silent", order));
    const std::string status = demo_text(sent.answer.json, {"execution", "0", "submit_status"});
    stage_.promise(
        status == "timeout" || status == "unknown",
        "no answer is no failure: the outcome is " + status + ", and nothing is sent again");
    TRY_ASSIGN(
        const DemoAnswer settled,
        ask_until(
            [&] { return planner_.decision(sent.decision); },
            [](const DemoAnswer& answer) {
                return is_matched(answer) && demo_text(answer.json, {"stage"}) == "recorded";
            },
            kPatience));
    stage_.show(
        {"settled by asking",
         std::chrono::steady_clock::now() - begun,
         fill_text(settled),
         settled.audit_ref()});
    TRY(wait_for_normal());
    stage_.show(
        {"safe recovery is over",
         std::chrono::steady_clock::now() - begun,
         "the venue was seen clean twice; entries are open again"});
    TRY_ASSIGN(
        const VenueBooks venue,
        read_venue_books(planner_.parts().data_folder, planner_.parts().tenant));
    TRY_ASSIGN(const DemoAnswer account, planner_.account());
    TRY_ASSIGN(const auto ours, holdings_of(account.json));
    stage_.promise(
        is_matched(settled) && venue.orders() == before + 1 && !venue.has_duplicate() &&
            ours == venue.holdings,
        "one order at the venue, one fill in our books: " + describe_holdings(ours));
    return show_receipt(sent.decision);
}

Result<void> DemoScenes::verify_ledger() {
    FolderReport report;
    std::optional<Error> problem;
    const auto took = timed([&] {
        auto verified = verify_folder({.data_folder = planner_.parts().data_folder});
        if (verified) {
            report = *std::move(verified);
        } else {
            problem = verified.error();
        }
    });
    if (problem) {
        return std::unexpected(*problem);
    }
    stage_.show({"audit verify", took, verify_text(report)});
    stage_.promise(report.ok(), "the ledger of this server is whole, from the first record on");
    return {};
}

}  // namespace interlock
