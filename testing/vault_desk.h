// A vault over a memory store, driven by hand: what a test about exchange keys needs. restart() is
// a crash and a start: everything but the stored contents, the master keys and the venues is made
// anew.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/errors.h"
#include "engine/memory/held_seal_keys.h"
#include "engine/memory/memory_ledger_store.h"
#include "host/service/vault_service.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"
#include "testing/inline_engine.h"
#include "testing/null_head_mirror.h"
#include "testing/null_turn_observer.h"
#include "venues/paper/paper_keys.h"

namespace interlock {

// Master keys as a file keeps them: made here, and still there after a crash.
class FakeMasterKeys final : public MasterKeys {
public:
    Result<std::optional<MasterRing>> load() override {
        if (current.empty()) {
            return std::optional<MasterRing>();
        }
        return std::optional(ring());
    }
    Result<MasterRing> create() override {
        if (current.empty()) {
            current = new_key();
        }
        return ring();
    }
    Result<MasterRing> begin_rotation() override {
        if (next.empty()) {
            next = new_key();
        }
        return ring();
    }
    Result<MasterRing> end_rotation() override {
        if (broken) {
            return fail(errors::io_failed, "The disk is gone.");
        }
        if (!next.empty()) {
            current = std::exchange(next, {});
        }
        return ring();
    }

    std::string current;
    std::string next;
    int made = 0;
    bool broken = false;

private:
    std::string new_key() { return std::string(kMasterKeyBytes, static_cast<char>('a' + made++)); }
    MasterRing ring() const {
        MasterRing copy{SecretString(current), std::nullopt};
        if (!next.empty()) {
            copy.next.emplace(next);
        }
        return copy;
    }
};

// A venue with real money that says what it is told to say.
class FakeKeyCheck final : public KeyCheck {
public:
    Result<KeyPermissions> permissions(const ExchangeKeys&) override {
        if (while_asked) {
            std::exchange(while_asked, nullptr)();
        }
        if (!answer) {
            return fail(errors::unavailable, "The venue does not answer.");
        }
        return *answer;
    }
    std::optional<KeyPermissions> answer = good_spot_permissions();
    std::function<void()> while_asked;
};

class VaultDesk {
public:
    VaultDesk() { build(MemoryLedgerContents{}); }

    // With a change to what is stored, as somebody with a shell could make.
    using Change = std::function<void(MemoryLedgerContents&)>;
    Result<void> restart(const Change& change = nullptr) {
        MemoryLedgerContents contents = store().take_contents();
        if (change) {
            change(contents);
        }
        return build(std::move(contents));
    }

    VaultService& vault() { return parts_->vault; }
    MemoryLedgerStore& store() { return parts_->store; }
    InlineEngine& engine() { return parts_->engine; }
    WorkerPool& workers() { return parts_->workers; }
    FakeClock clock;
    FakeMasterKeys masters;
    PaperKeys paper{clock};
    FakeKeyCheck live;

    // Runs one call to its reply.
    template <class T, class Call>
    Result<T> answer_of(Call call) {
        std::optional<Result<T>> answer;
        call([&](Result<T> result) {
            CHECK(!answer);  // Exactly once.
            answer = std::move(result);
        });
        CHECK(answer);
        return *std::move(answer);
    }
    template <class T, class... Arguments, class... Given>
    Result<T> ask(void (VaultService::*call)(Arguments...), Given... given) {
        return answer_of<T>(
            [&](auto reply) { (vault().*call)(std::move(given)..., std::move(reply)); });
    }

    static VaultService::Caller human(const std::string& tenant = "demo") {
        Principal principal;
        principal.kind = PrincipalKind::human;
        principal.id = "hum_1";
        return {principal, TenantId::trusted(tenant)};
    }
    static VaultService::Caller program(const std::string& tenant = "demo") {
        return {internal_principal("connect"), TenantId::trusted(tenant)};
    }
    static Principal host_operator() {
        Principal principal;
        principal.kind = PrincipalKind::host_operator;
        principal.id = "local";
        return principal;
    }
    static ExchangeKeys keys(const std::string& api_key, const std::string& exchange = "paper") {
        ExchangeKeys keys;
        keys.exchange = exchange;
        keys.api_key = SecretString(api_key);
        keys.api_secret = SecretString("secret of " + api_key);
        return keys;
    }

    Result<KeyReport> put(
        const std::string& tenant, const std::string& api_key, const std::string& venue = "paper") {
        return put(human(tenant), keys(api_key, venue));
    }
    Result<KeyReport> put(VaultService::Caller caller, ExchangeKeys wanted) {
        return answer_of<KeyReport>([&](auto reply) {
            vault().put(std::move(caller), std::move(wanted), std::move(reply));
        });
    }
    VaultPresence has(const std::string& tenant = "demo") {
        return *ask<VaultPresence>(&VaultService::has, human(tenant));
    }
    Result<ExchangeKeys> open(const std::string& tenant, const std::string& venue = "paper") {
        return ask<ExchangeKeys>(
            &VaultService::open_keys, program(tenant), VaultService::Opening{venue, "test"});
    }
    // The opened key's text, or the code of the error.
    std::string opened(const std::string& tenant, const std::string& venue = "paper") {
        const auto found = open(tenant, venue);
        return std::string(found ? found->api_key.reveal() : found.error().code());
    }
    Result<KeyReport> check(const std::string& tenant, const std::string& venue = "paper") {
        return ask<KeyReport>(
            &VaultService::check, human(tenant), VaultService::StoredCheck{venue});
    }
    Result<RotationReport> rotate() {
        return ask<RotationReport>(&VaultService::rotate_master_key, host_operator());
    }

    VaultRow row(const std::string& tenant = "demo") {
        const auto stored = *store().load_state(vault_machine(TenantId::trusted(tenant)));
        return stored ? *decode_vault_row(*parse_json(stored->json)) : VaultRow{};
    }
    std::string states_text() {
        std::string text;
        const auto states = *store().load_states("");
        for (const auto& [key, state] : states) {
            text += key + " " + state.json + "\n";
        }
        return text;
    }
    // Every record of a chain, as text.
    std::string ledger_text(const std::string& tenant) {
        std::string text;
        const auto entries = *store().read_ledger(TenantId::trusted(tenant), 0, 10'000);
        for (const LedgerEntry& entry : entries) {
            text += entry.canonical_json + "\n";
        }
        return text;
    }
    int count_in_ledger(const std::string& tenant, const std::string& word) {
        const std::string text = ledger_text(tenant);
        int count = 0;
        for (std::size_t at = text.find(word); at != std::string::npos;
             at = text.find(word, at + 1)) {
            ++count;
        }
        return count;
    }

private:
    struct Running {
        Running(MemoryLedgerContents contents, VaultDesk& desk, std::string seed)
            : store(std::move(contents)),
              ids(std::move(seed)),
              runner({store, desk.clock, ids, mirror, keys, observer}),
              engine(runner),
              workers({.threads = 0, .waiting_max = 0}),
              vault(
                  {.runner = runner,
                   .submit = engine.submit_turn(),
                   .workers = workers,
                   .masters = desk.masters,
                   .ids = ids,
                   .checks = checks(desk)}) {}

        // Beside the paper venue and the live one as many more as a tenant may have keys of.
        static std::map<std::string, KeyCheck*> checks(VaultDesk& desk) {
            std::map<std::string, KeyCheck*> all = {{"paper", &desk.paper}, {"live", &desk.live}};
            for (std::size_t i = 0; i < kVaultEntriesMax; ++i) {
                all["live" + std::to_string(i)] = &desk.live;
            }
            return all;
        }

        MemoryLedgerStore store;
        FakeIdSource ids;
        NullHeadMirror mirror;
        HeldSealKeys keys{std::string(32, 's')};
        NullTurnObserver observer;
        TurnRunner runner;
        InlineEngine engine;
        WorkerPool workers;
        VaultService vault;
    };

    Result<void> build(MemoryLedgerContents contents) {
        parts_ = std::make_unique<Running>(
            std::move(contents), *this, "start " + std::to_string(++starts_));
        CHECK(parts_->runner.open().has_value());
        return parts_->vault.open();
    }

    int starts_ = 0;
    std::unique_ptr<Running> parts_;
};

}  // namespace interlock
