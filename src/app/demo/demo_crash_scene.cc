// The demo's fifth scene: a second server in a folder of its own is killed the moment its venue has
// taken an order, before anybody could write down the answer.
#include <fmt/format.h>

#include <filesystem>
#include <thread>

#include "app/command/child_process.h"
#include "app/demo/demo_books.h"
#include "app/demo/demo_scenes.h"
#include "app/wiring/server_client.h"
#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kPatience{30'000};
constexpr std::chrono::milliseconds kLookEvery{10};
// How often an order is planned anew, and how long the market has to move in between.
constexpr int kAttempts = 12;
constexpr std::chrono::milliseconds kNextLook{250};
constexpr int kOrdersBefore = 3;
constexpr const char* kTenant = "crash";

std::string log_of(const std::string& folder) {
    return folder + ".log";
}

Result<ChildProcess> start_server(const std::string& folder) {
    TRY_ASSIGN(
        ChildProcess child,
        ChildProcess::start_self({"serve", "--data", folder, "--port", "0"}, log_of(folder)));
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
        ServerClient server(folder);
        if (const auto answer = server.get("/tenants"); answer && answer->ok()) {
            return child;
        }
        pause_for(kLookEvery);
    }
    return fail(errors::internal, "the second server did not start; see " + log_of(folder));
}

Result<std::string> make_key(const std::string& folder) {
    ServerClient server(folder);
    TRY(server.post("/tenants", Json::object({{"tenant_id", kTenant}, {"name", "Crash scene"}})));
    TRY_ASSIGN(
        const ServerAnswer made,
        server.post(
            "/api/" + std::string(kTenant) + "/keys",
            Json::object(
                {{"label", "crash scene"}, {"scopes", Json::array({"planner", "read"})}})));
    const std::string key = demo_text(made.body, {"access_key"});
    if (key.empty()) {
        return fail(errors::internal, "the second server gave no key: " + to_text(made.body));
    }
    return key;
}

// The body of an execute call for an order that passed its gates. A market may be out of bounds for
// a moment; then the next look at it decides.
Result<Json> prepare_order(DemoPlanner& planner, int number) {
    const DemoOrder order{
        .symbol = "BTCUSDT", .side = "buy", .qty = fmt::format("0.0010{}", number)};
    DemoAnswer answer;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const std::string decision =
            planner.decision_id(fmt::format("order{}_{}", number, attempt));
        TRY_ASSIGN(answer, planner.validate(decision, order));
        if (demo_text(answer.json, {"validation", "pass"}) == "true") {
            TRY_ASSIGN(answer, planner.dry_run(decision, order));
        }
        if (demo_text(answer.json, {"dry_run", "pass"}) == "true") {
            return planner.execute_body(decision, order, answer);
        }
        pause_for(kNextLook);
    }
    return fail(errors::internal, "an order did not pass: " + answer.bytes);
}

// Sends the order and kills the server when the venue's journal has grown. True when the call got
// no answer.
Result<bool> kill_in_flight(DemoPlanner& planner, const Json& body, ChildProcess& child) {
    const std::string journal = planner.parts().data_folder + "/paper.journal";
    const auto before = std::filesystem::file_size(journal);
    Result<DemoAnswer> answer = fail(errors::internal, "not sent");
    std::thread caller([&] { answer = planner.execute(body); });
    const auto end = std::chrono::steady_clock::now() + kPatience;
    bool arrived = false;
    while (!arrived && std::chrono::steady_clock::now() < end) {
        std::error_code problem;
        arrived = std::filesystem::file_size(journal, problem) > before && !problem;
    }
    child.crash();
    caller.join();
    if (!arrived) {
        return fail(errors::internal, "the order never arrived at the venue");
    }
    return !answer.has_value();
}

Result<void> check_chain(DemoStage& stage, const std::string& folder, const std::string& when) {
    Result<FolderReport> report = fail(errors::internal, "not verified");
    const auto took = timed([&] { report = verify_folder({.data_folder = folder}); });
    if (!report) {
        return std::unexpected(report.error());
    }
    stage.show({"audit verify", took, verify_text(*report)});
    stage.promise(report->ok(), "the ledger is whole " + when);
    return {};
}

Result<void> compare_books(DemoStage& stage, DemoPlanner& planner, const Json& body) {
    const auto begun = std::chrono::steady_clock::now();
    TRY_ASSIGN(
        const DemoAnswer account,
        ask_until(
            [&] { return planner.account(); },
            [](const DemoAnswer& answer) {
                return demo_text(answer.json, {"recovery", "phase"}) == "normal";
            },
            kPatience));
    stage.show(
        {"safe recovery",
         std::chrono::steady_clock::now() - begun,
         "the venue was asked what had become of the order, and seen clean twice"});
    TRY_ASSIGN(const DemoAnswer again, planner.execute(body));
    stage.show(
        {"the same call again",
         again.took,
         "outcome when the server came back: " +
             demo_text(again.json, {"execution", "0", "submit_status"}),
         again.audit_ref()});
    TRY_ASSIGN(const VenueBooks venue, read_venue_books(planner.parts().data_folder, kTenant));
    TRY_ASSIGN(const auto ours, holdings_of(account.json));
    stage.say("ours          " + describe_holdings(ours));
    stage.say("the venue's   " + describe_holdings(venue.holdings));
    stage.promise(
        ours == venue.holdings && venue.orders() == kOrdersBefore + 1 && !venue.has_duplicate(),
        fmt::format("{} orders, none twice; our books equal the venue's journal", venue.orders()));
    return {};
}

Result<void> play(DemoStage& stage, const std::string& folder) {
    std::optional<Result<ChildProcess>> child;
    const auto start_time = timed([&] { child.emplace(start_server(folder)); });
    if (!*child) {
        return std::unexpected(child->error());
    }
    stage.show({"a second server", start_time, fmt::format("process {}", (*child)->pid())});
    TRY_ASSIGN(const std::string key, make_key(folder));
    DemoPlanner planner(
        {.data_folder = folder, .tenant = kTenant, .access_key = key, .run = "crash"});
    const auto trade_time = std::chrono::steady_clock::now();
    for (int number = 0; number < kOrdersBefore; ++number) {
        TRY_ASSIGN(const Json body, prepare_order(planner, number));
        TRY(planner.execute(body));
    }
    TRY_ASSIGN(const Json body, prepare_order(planner, kOrdersBefore));
    stage.show(
        {fmt::format("{} orders", kOrdersBefore),
         std::chrono::steady_clock::now() - trade_time,
         "through all gates and filled; one more is ready"});
    bool unanswered = false;
    const auto kill_time = timed([&] {
        const auto killed = kill_in_flight(planner, body, **child);
        unanswered = killed.value_or(false);
    });
    stage.show(
        {"kill -9",
         kill_time,
         unanswered ? "the venue took the order, and its sender is gone before the answer"
                    : "the answer came out just before"});
    TRY(check_chain(stage, folder, "as the crash left it"));
    const auto restart_time = timed([&] { child.emplace(start_server(folder)); });
    if (!*child) {
        return std::unexpected(child->error());
    }
    stage.show({"started again", restart_time, fmt::format("process {}", (*child)->pid())});
    TRY(compare_books(stage, planner, body));
    (*child)->crash();  // Its folder goes, too; there is nothing to finish.
    return check_chain(stage, folder, "after all of it");
}

}  // namespace

Result<void> play_crash_scene(DemoStage& stage, const std::string& data_folder) {
    const std::string folder = data_folder + "/crash_scene";
    std::error_code problem;
    std::filesystem::remove_all(folder, problem);
    std::filesystem::remove(log_of(folder), problem);
    TRY(play(stage, folder));
    std::filesystem::remove_all(folder, problem);
    std::filesystem::remove(log_of(folder), problem);
    return {};
}

}  // namespace interlock
