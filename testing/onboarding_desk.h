// An onboarding service with its principals over a memory store, driven by hand: what a test about
// accounts needs. Timers come up with fire(). restart() builds everything anew over the same stored
// contents, as a crash and a start would; crash() loses what is on its way first.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "bots/service/onboarding_service.h"
#include "engine/memory/held_seal_keys.h"
#include "engine/memory/memory_ledger_store.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"
#include "testing/fake_mailer.h"
#include "testing/inline_engine.h"
#include "testing/null_head_mirror.h"
#include "testing/null_turn_observer.h"

namespace interlock {

class OnboardingDesk {
public:
    static constexpr std::string_view kPassword = "correct horse battery";
    static constexpr std::string_view kEmail = "owner@example.com";

    explicit OnboardingDesk(SignupRules rules = {}) : rules_(rules) {
        build(MemoryLedgerContents{});
    }

    using Change = std::function<void(MemoryLedgerContents&)>;
    void restart(const Change& change = nullptr) {
        MemoryLedgerContents contents = store().take_contents();
        if (change) {
            change(contents);
        }
        is_dead_ = false;
        build(std::move(contents));
    }
    // From now on nothing that is submitted is decided, until restart().
    void crash() { is_dead_ = true; }

    OnboardingService& service() { return parts_->onboarding; }
    PrincipalService& principals() { return parts_->principals; }
    MemoryLedgerStore& store() { return parts_->store; }
    InlineEngine& engine() { return parts_->engine; }
    WorkerPool& workers() { return parts_->workers; }
    PrincipalDirectory directory;
    FakeClock clock;
    FakeMailer mailer;
    OnboardingService::Hooks hooks;  // Counted from the next restart() on, or by set_hooks().

    // Runs one call of a service to its reply.
    template <class T, class Service, class... Arguments, class... Given>
    Result<T> ask(Service& of, void (Service::*call)(Arguments...), Given... given) {
        std::optional<Result<T>> answer;
        (of.*call)(std::move(given)..., [&](Result<T> result) {
            CHECK(!answer);  // Exactly once.
            answer = std::move(result);
        });
        CHECK(answer);
        return *std::move(answer);
    }

    // Timers that are due come up; what they submit runs after them, as in the server.
    void fire() {
        is_firing_ = true;
        parts_->runner.fire_timers(1000);
        is_firing_ = false;
        for (TurnRequest& request : std::exchange(submitted_, {})) {
            parts_->engine.submit_turn()(std::move(request));
        }
    }
    void pass(Duration time) {
        clock.advance(time);
        fire();
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

    static Principal host_operator() {
        Principal principal;
        principal.kind = PrincipalKind::host_operator;
        principal.id = "local";
        return principal;
    }
    static OnboardingService::Peer peer(std::string address = "203.0.113.7") {
        return {internal_principal("anyone"), std::move(address), false};
    }
    static OnboardingService::Peer loopback() {
        return {internal_principal("anyone"), "127.0.0.1", true};
    }

    Result<NewAccount> signup(
        std::string email = std::string(kEmail),
        PlanName plan = PlanName::standard,
        OnboardingService::Peer from = peer()) {
        return ask<NewAccount>(
            service(),
            &OnboardingService::signup,
            std::move(from),
            SignupRequest{std::move(email), plan, Json()});
    }
    // The code in the letter that was sent last.
    std::string mailed_code() const {
        CHECK(!mailer.sent.empty());
        const std::string& text = mailer.sent.back().text;
        const std::size_t at = text.find("ilc_");
        CHECK(at != std::string::npos);
        return text.substr(at, text.find_first_of("\n ", at) - at);
    }
    Result<LoggedIn> activate(const std::string& code, bool grants = false) {
        return ask<LoggedIn>(
            principals(),
            &PrincipalService::activate,
            ActivateRequest{
                .code = SecretString(code),
                .password = SecretString(std::string(kPassword)),
                .grant_key_provisioning = grants});
    }
    // Signs up, gets the letter and follows its link: the tenant's owner, logged in.
    struct Owner {
        TenantId tenant_id;
        std::string access_key;
        KeyId key_id;
        Principal human;
    };
    Owner add_owner(const std::string& email = std::string(kEmail)) {
        auto account = signup(email);
        CHECK(account.has_value());
        fire();
        const auto logged_in = activate(mailed_code());
        CHECK(logged_in.has_value());
        return {
            account->tenant_id,
            std::string(account->access_key.reveal()),
            account->key_id,
            *directory.by_session_token(logged_in->token.reveal(), clock.now())};
    }

    OnboardingRow row(const TenantId& tenant_id) {
        const auto stored = *store().load_state(onboarding_machine(tenant_id));
        return stored ? *decode_onboarding_row(*parse_json(stored->json)) : OnboardingRow{};
    }
    std::string states_text() {
        std::string text;
        const auto states = *store().load_states("");
        for (const auto& [key, state] : states) {
            text += key + " " + state.json + "\n";
        }
        return text;
    }
    std::string ledger_text(const TenantId& tenant_id) {
        std::string text;
        const auto entries = *store().read_ledger(tenant_id, 0, 10'000);
        for (const LedgerEntry& entry : entries) {
            text += entry.canonical_json + "\n";
        }
        return text;
    }
    int count_in_ledger(const TenantId& tenant_id, const std::string& word) {
        const std::string text = ledger_text(tenant_id);
        int count = 0;
        for (std::size_t at = text.find(word); at != std::string::npos;
             at = text.find(word, at + 1)) {
            ++count;
        }
        return count;
    }

private:
    struct Running {
        Running(MemoryLedgerContents contents, OnboardingDesk& desk, std::string seed)
            : store(std::move(contents)),
              ids(std::move(seed)),
              runner({store, desk.clock, ids, mirror, keys, observer}),
              engine(runner),
              passwords({.threads = 0}),
              workers({.threads = 0, .waiting_max = 0}),
              principals(
                  {.runner = runner,
                   .submit = engine.submit_turn(),
                   .directory = desk.directory,
                   .workers = passwords,
                   .clock = desk.clock,
                   .ids = ids,
                   .operator_token_hash = sha256_hex("ilo_operator"),
                   .password_cost = {.passes = 1, .memory_bytes = 8192}}),
              onboarding(
                  {.runner = runner,
                   .submit = [&desk](TurnRequest request) { desk.submit(std::move(request)); },
                   .principals = principals,
                   .workers = workers,
                   .mailer = desk.mailer,
                   .clock = desk.clock,
                   .ids = ids,
                   .base_url = [] { return std::string("https://bots.example"); },
                   .rules = desk.rules_}) {}

        MemoryLedgerStore store;
        FakeIdSource ids;
        NullHeadMirror mirror;
        HeldSealKeys keys{std::string(32, 's')};
        NullTurnObserver observer;
        TurnRunner runner;
        InlineEngine engine;
        PasswordPool passwords;
        WorkerPool workers;
        PrincipalService principals;
        OnboardingService onboarding;
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
        parts_->onboarding.set_hooks(hooks);
        CHECK(parts_->principals.open().has_value());
        CHECK(parts_->runner.open().has_value());
        CHECK(parts_->onboarding.open().has_value());
    }

    const SignupRules rules_;
    int starts_ = 0;
    bool is_firing_ = false;
    bool is_dead_ = false;
    std::vector<TurnRequest> submitted_;
    std::unique_ptr<Running> parts_;
};

}  // namespace interlock
