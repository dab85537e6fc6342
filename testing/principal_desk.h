// A principal service over a memory store, driven by hand: what a test about people needs.
// restart() builds everything anew over the same stored contents, as a crash and a start would.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/memory/held_seal_keys.h"
#include "engine/memory/memory_ledger_store.h"
#include "engine/service/worker_pool.h"
#include "host/service/notice_service.h"
#include "host/service/principal_service.h"
#include "host/service/recovery_letters.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"
#include "testing/fake_mailer.h"
#include "testing/fake_webhooks.h"
#include "testing/inline_engine.h"
#include "testing/null_head_mirror.h"
#include "testing/null_turn_observer.h"

namespace interlock {

class PrincipalDesk {
public:
    // The cheapest that libsodium allows: tests are not about the cost.
    static constexpr PasswordCost kCheap{.passes = 1, .memory_bytes = 8192};
    static constexpr std::string_view kOperatorToken = "ilo_operator";
    static constexpr std::string_view kPassword = "correct horse battery";

    explicit PrincipalDesk(PasswordPool::Bounds workers = {.threads = 0})
        : worker_bounds_(workers) {
        build(MemoryLedgerContents{});
    }

    void restart() {
        MemoryLedgerContents contents = store().take_contents();
        is_dead_ = false;
        build(std::move(contents));
    }
    // From now on nothing that is submitted is decided, until restart().
    void crash() { is_dead_ = true; }

    PrincipalService& service() { return parts_->service; }
    MemoryLedgerStore& store() { return parts_->store; }
    InlineEngine& engine() { return parts_->engine; }
    PasswordPool& workers() { return parts_->workers; }
    NoticeService& notices() { return parts_->notices; }
    PrincipalDirectory directory;
    FakeClock clock;
    FakeMailer mailer;
    FakeMailer notice_mailer;
    FakeWebhooks webhooks;

    // Runs one call of the notices to its reply.
    template <class... Arguments, class... Given>
    Result<Answer> ask_notices(void (NoticeService::*call)(Arguments...), Given... given) {
        std::optional<Result<Answer>> answer;
        (notices().*call)(std::move(given)..., [&](Result<Answer> result) {
            CHECK(!answer);
            answer = std::move(result);
        });
        CHECK(answer);
        return *std::move(answer);
    }
    // Runs `act` in a turn of the tenant's and gives what it gives.
    Result<void> in_turn(
        const TenantId& tenant_id, Principal principal, std::function<Result<void>(Turn&)> act) {
        std::optional<Result<void>> outcome;
        TurnRequest request;
        request.tenant_id = tenant_id;
        request.principal = std::move(principal);
        request.function = "test";
        request.decide = [act = std::move(act)](Turn& turn) -> Result<TurnReply> {
            TRY(act(turn));
            return Answer{};
        };
        request.reply = [&](Result<Answer> answer) {
            outcome = answer ? Result<void>() : std::unexpected(std::move(answer).error());
        };
        engine().submit_turn()(std::move(request));
        CHECK(outcome);
        return *std::move(outcome);
    }

    // Moves time and lets the timers come up that are due; what they submit runs after them.
    void pass(Duration time) {
        clock.advance(time);
        is_firing_ = true;
        parts_->runner.fire_timers(1000);
        is_firing_ = false;
        for (TurnRequest& request : std::exchange(submitted_, {})) {
            parts_->engine.submit_turn()(std::move(request));
        }
    }

    // Runs one call of the service to its reply.
    template <class T, class... Arguments, class... Given>
    Result<T> ask(void (PrincipalService::*call)(Arguments...), Given... given) {
        std::optional<Result<T>> answer;
        (service().*call)(std::move(given)..., [&](Result<T> result) {
            CHECK(!answer);  // Exactly once.
            answer = std::move(result);
        });
        CHECK(answer);
        return *std::move(answer);
    }

    static Principal host_operator() {
        Principal principal;
        principal.kind = PrincipalKind::host_operator;
        principal.id = "local";
        return principal;
    }
    // A tenant and its first human, invited by the operator and active. Gives the session.
    LoggedIn add_tenant_with_human(const std::string& tenant_id, const std::string& email) {
        const TenantId tenant = TenantId::trusted(tenant_id);
        CHECK(ask<Answer>(
                  &PrincipalService::create_tenant, host_operator(), CreateTenant{tenant, "A name"})
                  .has_value());
        auto invitation = ask<Invitation>(
            &PrincipalService::invite_human,
            PrincipalService::Caller{host_operator(), tenant},
            InviteHuman{email, false});
        CHECK(invitation.has_value());
        auto logged_in = ask<LoggedIn>(
            &PrincipalService::activate,
            ActivateRequest{
                std::move(*invitation->code), SecretString(std::string(kPassword)), false});
        CHECK(logged_in.has_value());
        return *std::move(logged_in);
    }
    // Who the directory says holds this token.
    std::optional<Principal> holder_of(std::string_view token) {
        return directory.by_session_token(token, clock.now());
    }

private:
    struct Running {
        Running(MemoryLedgerContents contents, PrincipalDesk& desk, std::string seed)
            : store(std::move(contents)),
              ids(std::move(seed)),
              runner({store, desk.clock, ids, mirror, keys, observer}),
              engine(runner),
              workers(desk.worker_bounds_),
              service(
                  {.runner = runner,
                   .submit = engine.submit_turn(),
                   .directory = desk.directory,
                   .workers = workers,
                   .clock = desk.clock,
                   .ids = ids,
                   .operator_token_hash = sha256_hex(kOperatorToken),
                   .password_cost = kCheap}),
              letters(
                  {.runner = runner,
                   .submit = [&desk](TurnRequest request) { desk.submit(std::move(request)); },
                   .principals = service,
                   .workers = senders,
                   .mailer = desk.mailer,
                   .ids = ids,
                   .base_url = [] { return std::string("https://desk.example"); }}),
              notices(
                  {.runner = runner,
                   .submit = [&desk](TurnRequest request) { desk.submit(std::move(request)); },
                   .principals = service,
                   .mailer = desk.notice_mailer,
                   .webhooks = desk.webhooks,
                   .letters = senders,
                   .calls = senders,
                   .suspect_calls = senders,
                   .clock = desk.clock,
                   .ids = ids,
                   .link = [] { return std::string("https://desk.example/"); }}) {}

        MemoryLedgerStore store;
        FakeIdSource ids;
        NullHeadMirror mirror;
        HeldSealKeys keys{std::string(32, 's')};
        NullTurnObserver observer;
        TurnRunner runner;
        InlineEngine engine;
        PasswordPool workers;
        WorkerPool senders{{.threads = 0, .waiting_max = 16}};
        PrincipalService service;
        RecoveryLetters letters;
        NoticeService notices;
    };

    void submit(TurnRequest request) {
        if (is_dead_) {
            return;
        }
        if (is_firing_) {
            submitted_.push_back(std::move(request));
            return;
        }
        parts_->engine.submit_turn()(std::move(request));
    }

    void build(MemoryLedgerContents contents) {
        submitted_.clear();
        parts_ = std::make_unique<Running>(
            std::move(contents), *this, "start " + std::to_string(++starts_));
        CHECK(parts_->service.open().has_value());
        CHECK(parts_->runner.open().has_value());
        CHECK(parts_->notices.open().has_value());
    }

    const PasswordPool::Bounds worker_bounds_;
    int starts_ = 0;
    bool is_firing_ = false;
    bool is_dead_ = false;
    std::vector<TurnRequest> submitted_;
    std::unique_ptr<Running> parts_;
};

}  // namespace interlock
