// PnL jobs of one tenant, driven slice by slice over a whole plane, and a log that can be read.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "account/wire/booked_fill.h"
#include "bots/service/pnl_job.h"
#include "testing/account_builders.h"
#include "testing/loop_world.h"
#include "testing/memory_pnl_log.h"

namespace interlock {

class PnlJob : public ::testing::Test {
protected:
    PnlJob() { open(); }

    void open(PnlJobs::Bounds bounds = {}) {
        jobs = std::make_unique<PnlJobs>(parts(), bounds);
        ASSERT_TRUE(jobs->open());
    }
    PnlJobs::Parts parts() {
        return {
            .runner = world.plane->runner,
            .store = world.store,
            .feed = *world.paper,
            .log = log,
            .clock = world.clock,
            .submit = [this](TurnRequest request) { world.submit(std::move(request)); },
            .run =
                [this](std::function<void()> slice) {
                    if (slices.size() >= queue_max) {
                        return false;
                    }
                    slices.push_back(std::move(slice));
                    return true;
                }};
    }
    void restart() {
        slices.clear();
        jobs.reset();
        world.rebuild();
        open();
    }

    TurnRequest turn_of(std::function<Result<PnlJobs::Answered>(Turn&)> call) {
        TurnRequest request;
        request.tenant_id = world.tenant;
        request.principal = PlaneWorld::agent();
        request.function = "run_pnl";
        request.decide = [call = std::move(call)](Turn& turn) -> Result<TurnReply> {
            TRY_ASSIGN(const PnlJobs::Answered answered, call(turn));
            return Answer{
                200, (answered.running ? "running: " : "not running: ") + answered.message};
        };
        request.reply = [this](Result<Answer> answer) {
            answers.push_back(answer ? answer->body : std::string(answer.error().code()));
        };
        return request;
    }
    TurnRequest start_turn(std::int64_t lookback_days = 30) {
        return turn_of([this, lookback_days](Turn& turn) {
            return jobs->start(turn, {world.venue_account(), lookback_days});
        });
    }
    std::string start(std::int64_t lookback_days = 30) {
        world.submit(start_turn(lookback_days));
        return answers.back();
    }
    std::string stop() {
        world.submit(turn_of([this](Turn& turn) { return jobs->stop(turn); }));
        return answers.back();
    }
    void run_slice() {
        ASSERT_FALSE(slices.empty());
        std::function<void()> slice = std::move(slices.front());
        slices.pop_front();
        slice();
    }
    void run_all() {
        while (!slices.empty()) {
            run_slice();
        }
    }
    // Until a symbol has been reckoned.
    void run_to_first_symbol() {
        while (status().symbols_done == 0) {
            run_slice();
        }
    }

    // A round trip of 1 ABC through the whole loop.
    void buy_and_sell() {
        const std::string number = std::to_string(++trades);
        world.trade("buy" + number, Json::array({LoopWorld::intent("buy", "1", nullptr)}));
        world.pass(Duration::of_seconds(61));
        world.trade("sell" + number, Json::array({LoopWorld::intent("sell", "0.5", nullptr)}));
        world.pass(Duration::of_seconds(61));
    }
    // Puts trades on record without trading them: 1 bought at 10, sold at 12.
    void forge(const std::string& base, VenueAccount account) {
        forge_details(
            base, [&](const BookedFill& booked) { return encode(booked); }, std::move(account));
    }
    void forge_details(
        const std::string& base,
        const std::function<Json(const BookedFill&)>& detail_of,
        VenueAccount account) {
        TurnRequest request = turn_of(nullptr);
        request.decide = [this, base, detail_of, account](Turn& turn) -> Result<TurnReply> {
            TRY_ASSIGN(const AccountView view, load_account(turn, world.venue_account()));
            AccountBooks books = *view.books;
            if (find_book(books.books, a_book(base).symbol) == nullptr) {
                books.books.push_back(a_book(base));
                std::sort(books.books.begin(), books.books.end(), [](const auto& a, const auto& b) {
                    return a.symbol < b.symbol;
                });
                save_books(turn, world.venue_account(), books);
            }
            for (const Side side : {Side::buy, Side::sell}) {
                OrderRecord order = an_order({.side = side, .base = base});
                VenueFill fill = a_trade(
                    order,
                    {.id = side == Side::buy ? 1 : 2,
                     .price = side == Side::buy ? "10" : "12",
                     .at = turn.now()});
                AuditDraft draft = turn.draft(std::string(kFillBookedEvent));
                draft.detail = detail_of({account, fill, std::nullopt});
                TRY(turn.audit(std::move(draft)));
            }
            return Answer{};
        };
        world.submit(std::move(request));
    }
    void open_account() {
        TurnRequest request = turn_of(nullptr);
        request.decide = [this](Turn& turn) -> Result<TurnReply> {
            TRY(world.plane->loop->open_or_load(turn, world.venue_account()));
            return Answer{};
        };
        world.submit(std::move(request));
    }

    PnlStatus status() { return jobs->status(world.tenant); }
    std::string word() { return std::string(to_word(status().state)); }
    std::vector<Json> lines() {
        std::vector<Json> parsed;
        for (const std::string& line : log.lines[world.tenant]) {
            parsed.push_back(parse_json(line).value());
        }
        return parsed;
    }
    Json last_line() {
        const auto all = lines();
        return all.empty() ? Json() : all.back();
    }
    static std::string text_at(const Json& line, std::string_view key) {
        const Json* value = line.find(key);
        return value == nullptr     ? "(absent)"
               : value->is_string() ? value->as_string()
                                    : to_text(*value);
    }

    LoopWorld world;
    MemoryPnlLog log;
    std::deque<std::function<void()>> slices;
    std::size_t queue_max = 100;
    std::unique_ptr<PnlJobs> jobs;
    std::vector<std::string> answers;
    int trades = 0;
};

}  // namespace interlock
