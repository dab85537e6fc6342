#include "host/service/vault_service.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/log.h"

namespace interlock {
namespace {

std::unexpected<Error> too_busy() {
    auto refusal = fail(errors::overloaded, "The server asks venues about as many keys as it can.");
    refusal.error().retry_after_seconds = 1;
    return refusal;
}

Error rejection_of(const KeyVerdict& verdict) {
    if (verdict.standing == KeyStanding::unverified) {
        return fail(
                   errors::permissions_unverified,
                   "The exchange did not say what this key may do, so it must not trade.")
            .error();
    }
    Error error = fail(errors::key_rejected, "This key was refused and wiped.").error();
    for (const KeyFault fault : verdict.faults) {
        error.problems.push_back({"api_key", std::string(sentence_of(fault))});
    }
    return error;
}

AuditDraft draft_of(const Turn& turn, const std::string& event, const VaultEntry& entry) {
    AuditDraft draft = turn.draft(event);
    draft.detail.set("exchange", entry.exchange);
    draft.detail.set("api_key_hint", entry.api_key_hint);
    return draft;
}

// What does not open is an alert: somebody changed the store, or it is damaged. Other errors pass.
Result<Refused> alert_of(Turn& turn, Error error, const std::string& exchange) {
    if (error != errors::corrupt_data) {
        return std::unexpected(std::move(error));
    }
    AuditDraft draft = turn.draft("VAULT_UNREADABLE");
    draft.status = AuditStatus::failed;
    draft.severity = AuditSeverity::critical;
    draft.reason = error.message;
    draft.detail.set("exchange", exchange);
    TRY(turn.audit(std::move(draft)));
    return Refused{std::move(error)};
}

std::unexpected<Error> no_keys_of(const std::string& exchange) {
    return fail(errors::keys_not_loaded, "No keys of " + exchange + " are in the vault.");
}

void remove_entry(VaultRow& row, const std::string& exchange) {
    std::erase_if(row.entries, [&](const VaultEntry& entry) { return entry.exchange == exchange; });
    if (row.entries.empty()) {
        // Nothing is sealed with it any more, and old copies of the row lose their key.
        row.data_key.reset();
    }
}

VaultPresence presence_of(const VaultRow& row) {
    VaultPresence presence;
    for (const VaultEntry& entry : row.entries) {
        presence.entries.push_back(
            {entry.exchange,
             entry.api_key_hint,
             entry.stored_at,
             entry.permissions,
             entry.checked_at});
    }
    return presence;
}

void save(Turn& turn, const VaultRow& row) {
    turn.save(vault_machine(turn.tenant_id()), encode(row));
}

}  // namespace

VaultService::VaultService(Parts parts) : parts_(std::move(parts)) {}

Result<void> VaultService::open() {
    const auto opened = [this]() -> Result<void> {
        TRY_ASSIGN(const auto stored, parts_.runner.stored_states(std::string(kVaultPrefix)));
        TRY_ASSIGN(std::optional<MasterRing> keys, parts_.masters.load());
        if (keys) {
            TRY_ASSIGN(ring_, MasterKeyring::of(*std::move(keys)));
        }
        std::int64_t sealed = 0;
        std::int64_t foreign = 0;
        for (const auto& [machine, state] : stored) {
            const auto json = parse_json(state.json);
            const auto row = json ? decode_vault_row(*json) : std::unexpected(json.error());
            if (row && !row->data_key) {
                continue;
            }
            ++sealed;
            // A row that cannot be read counts as one whose key we do not have.
            const bool known = row && ring_ && ring_->find(row->data_key->master_key_id) != nullptr;
            foreign += known ? 0 : 1;
        }
        if (sealed > 0 && !ring_) {
            return fail(
                errors::master_key_missing,
                "The vault holds keys of " + std::to_string(sealed) +
                    " tenants, and their master key is missing.");
        }
        if (sealed > 0 && foreign == sealed) {
            return fail(
                errors::master_key_wrong,
                "Nothing in the vault was sealed with the master key that was given (" +
                    ring_->sealing_id() + ").");
        }
        if (foreign > 0) {
            log_error("vault_rows_unreadable", {{"tenants", foreign}});
        }
        return {};
    }();
    if (!opened) {
        ring_.reset();
        shut_ = opened.error();
    }
    return opened;
}

TurnRequest VaultService::turn_of(Caller caller, std::string function) const {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = std::move(function);
    return turn;
}

Result<KeyCheck*> VaultService::check_of(const std::string& exchange) const {
    const auto found = parts_.checks.find(exchange);
    if (found == parts_.checks.end()) {
        std::string known;
        for (const auto& [name, check] : parts_.checks) {
            known += (known.empty() ? "" : ", ") + name;
        }
        return fail(
            errors::unknown_exchange,
            "This server reaches no exchange of that name; it reaches " + known + ".");
    }
    return found->second;
}

Result<void> VaultService::check_exchange(const std::string& exchange) const {
    TRY(check_of(exchange));
    return {};
}

Result<VaultRow> VaultService::load_row(Turn& turn) {
    const std::string machine = vault_machine(turn.tenant_id());
    TRY_ASSIGN(const std::optional<Json> json, turn.load(machine));
    if (!json) {
        return VaultRow{};
    }
    auto row = decode_vault_row(*json);
    if (!row) {
        return fail(
            errors::corrupt_data,
            "The vault of " + turn.tenant_id().text() + " cannot be read: it was changed.");
    }
    return row;
}

Result<SealedDataKey> VaultService::seal(Turn& turn, const DataKey& data_key) {
    return seal_data_key({turn.tenant_id(), *ring_, parts_.ids, turn.now()}, data_key);
}

Result<DataKey> VaultService::data_key_of(Turn& turn, VaultRow& row) {
    if (shut_) {
        return std::unexpected(*shut_);
    }
    if (row.data_key && !ring_) {
        return fail(errors::master_key_missing, "The master key of this vault is missing.");
    }
    if (row.data_key) {
        return open_data_key(*ring_, turn.tenant_id(), *row.data_key);
    }
    if (!ring_) {
        // The one file this service makes inside a turn, once in the life of a data folder. Made
        // twice it is the same one, and left behind by a turn that failed it does no harm.
        TRY_ASSIGN(MasterRing keys, parts_.masters.create());
        TRY_ASSIGN(ring_, MasterKeyring::of(std::move(keys)));
    }
    DataKey data_key = make_data_key(parts_.ids, ++row.last_version);
    TRY_ASSIGN(row.data_key, seal(turn, data_key));
    return data_key;
}

void VaultService::put(Caller caller, ExchangeKeys keys, Reply<KeyReport> reply, WithIt with_it) {
    const Result<KeyCheck*> check = check_of(keys.exchange);
    if (!check) {
        reply(std::unexpected(check.error()));
        return;
    }
    const auto candidate = std::make_shared<Candidate>();
    candidate->keys = std::move(keys);
    candidate->with_it = std::move(with_it);
    const bool taken =
        parts_.workers.try_run([this, check = *check, candidate, caller, reply]() mutable {
            if (const auto permissions = check->permissions(candidate->keys)) {
                candidate->permissions = *permissions;
            }
            TypedDecide<KeyReport> decide = [this, candidate](Turn& turn) {
                return decide_put(turn, *candidate);
            };
            parts_.submit(typed_turn<KeyReport>(
                turn_of(std::move(caller), "vault_put"), std::move(decide), std::move(reply)));
        });
    if (!taken) {
        reply(too_busy());
    }
}

Result<Outcome<KeyReport>> VaultService::decide_put(Turn& turn, const Candidate& candidate) {
    const ExchangeKeys& keys = candidate.keys;
    KeyReport report{
        .exchange = keys.exchange,
        .api_key_hint = keys.api_key.hint(),
        .verdict = judge_key(candidate.permissions, turn.now()),
        .checked_at = turn.now(),
        .audit_ref = {}};
    VaultEntry entry;
    entry.exchange = report.exchange;
    entry.api_key_hint = report.api_key_hint;
    entry.stored_by = to_text(turn.principal());
    entry.stored_at = turn.now();
    entry.permissions = candidate.permissions;
    if (candidate.permissions) {
        entry.checked_at = turn.now();
    }
    AuditDraft draft = draft_of(turn, "VAULT_KEYS_STORED", entry);
    draft.detail.set("verdict", encode(report.verdict));
    if (!may_use_key(report.verdict, keys.exchange)) {
        draft.event = "VAULT_KEYS_REFUSED";
        draft.status = AuditStatus::failed;
        TRY(turn.audit_refusal(std::move(draft)));
        return Refused{rejection_of(report.verdict)};
    }
    TRY(turn.charge_agent());
    TRY_ASSIGN(VaultRow row, load_row(turn));
    if (row.find(keys.exchange) == nullptr && row.entries.size() >= kVaultEntriesMax) {
        return fail(
            errors::out_of_range,
            "A tenant keeps keys of at most " + std::to_string(kVaultEntriesMax) + " exchanges.",
            "Wipe the keys of one that is not used.");
    }
    const Result<DataKey> data_key = data_key_of(turn, row);
    if (!data_key) {
        return alert_of(turn, data_key.error(), keys.exchange);
    }
    TRY_ASSIGN(
        entry.sealed,
        seal_exchange_keys(
            {.tenant_id = turn.tenant_id(), .data_key = *data_key, .ids = parts_.ids}, keys));
    std::erase_if(
        row.entries, [&](const VaultEntry& kept) { return kept.exchange == keys.exchange; });
    row.entries.push_back(std::move(entry));
    if (candidate.with_it) {
        TRY(candidate.with_it(turn));
    }
    save(turn, row);
    draft.detail.set("data_key_version", data_key->version);
    TRY_ASSIGN(report.audit_ref, turn.audit(std::move(draft)));
    return report;
}

void VaultService::has(Caller caller, Reply<VaultPresence> reply) {
    TypedDecide<VaultPresence> decide = [](Turn& turn) -> Result<Outcome<VaultPresence>> {
        TRY_ASSIGN(const VaultRow row, load_row(turn));
        return presence_of(row);
    };
    parts_.submit(typed_turn<VaultPresence>(
        turn_of(std::move(caller), "vault_has"), std::move(decide), std::move(reply)));
}

void VaultService::wipe(Caller caller, std::string exchange, Reply<VaultPresence> reply) {
    TypedDecide<VaultPresence> decide = [this, exchange = std::move(exchange)](Turn& turn) {
        return decide_wipe(turn, exchange);
    };
    parts_.submit(typed_turn<VaultPresence>(
        turn_of(std::move(caller), "vault_wipe"), std::move(decide), std::move(reply)));
}

Result<Outcome<VaultPresence>> VaultService::decide_wipe(Turn& turn, const std::string& exchange) {
    TRY_ASSIGN(VaultRow row, load_row(turn));
    const std::vector<VaultEntry> entries = row.entries;
    bool wiped = false;
    for (const VaultEntry& entry : entries) {
        if (!exchange.empty() && entry.exchange != exchange) {
            continue;
        }
        remove_entry(row, entry.exchange);
        TRY(turn.audit(draft_of(turn, "VAULT_KEYS_WIPED", entry)));
        wiped = true;
    }
    // To wipe what is not there is done already.
    if (wiped) {
        save(turn, row);
    }
    return presence_of(row);
}

Result<std::shared_ptr<VaultService::Doubted>> VaultService::open_entry(
    Turn& turn, StoredCheck which) {
    TRY_ASSIGN(VaultRow row, load_row(turn));
    const VaultEntry* entry = row.find(which.exchange);
    if (entry == nullptr || !row.data_key) {
        return no_keys_of(which.exchange);
    }
    TRY_ASSIGN(const DataKey data_key, data_key_of(turn, row));
    const auto doubted = std::make_shared<Doubted>();
    doubted->which = std::move(which);
    doubted->sealed = entry->sealed;
    TRY_ASSIGN(doubted->keys, open_exchange_keys(turn.tenant_id(), data_key, *entry));
    return doubted;
}

void VaultService::check(Caller caller, StoredCheck which, Reply<KeyReport> reply) {
    using Opened = std::shared_ptr<Doubted>;
    TypedDecide<Opened> decide = [this, which](Turn& turn) -> Result<Outcome<Opened>> {
        Result<Opened> opened = open_entry(turn, which);
        if (!opened) {
            return alert_of(turn, std::move(opened.error()), which.exchange);
        }
        return *std::move(opened);
    };
    TurnRequest turn = turn_of(caller, "vault_check");
    parts_.submit(typed_turn<Opened>(
        std::move(turn),
        std::move(decide),
        [this, caller = std::move(caller), reply = std::move(reply)](Result<Opened> opened) {
            if (opened) {
                ask_again(caller, *std::move(opened), reply);
            } else {
                reply(std::unexpected(std::move(opened).error()));
            }
        }));
}

void VaultService::ask_again(
    Caller caller, std::shared_ptr<Doubted> doubted, Reply<KeyReport> reply) {
    const Result<KeyCheck*> check = check_of(doubted->which.exchange);
    if (!check) {
        reply(std::unexpected(check.error()));
        return;
    }
    const bool taken =
        parts_.workers.try_run([this, check = *check, doubted, caller, reply]() mutable {
            if (const auto permissions = check->permissions(doubted->keys)) {
                doubted->permissions = *permissions;
            }
            TypedDecide<KeyReport> decide = [this, doubted](Turn& turn) {
                return decide_check(turn, *doubted);
            };
            parts_.submit(typed_turn<KeyReport>(
                turn_of(std::move(caller), "vault_check"), std::move(decide), std::move(reply)));
        });
    if (!taken) {
        reply(too_busy());
    }
}

Result<Outcome<KeyReport>> VaultService::decide_check(Turn& turn, const Doubted& doubted) {
    const std::string& exchange = doubted.which.exchange;
    TRY_ASSIGN(VaultRow row, load_row(turn));
    VaultEntry* entry = row.find(exchange);
    if (entry == nullptr) {
        return no_keys_of(exchange);
    }
    if (entry->sealed != doubted.sealed) {
        return fail(errors::conflict, "These keys were replaced while they were being checked.");
    }
    KeyReport report{
        .exchange = exchange,
        .api_key_hint = entry->api_key_hint,
        .verdict = judge_key(doubted.permissions, turn.now()),
        .checked_at = turn.now(),
        .audit_ref = {}};
    AuditDraft draft = draft_of(turn, "VAULT_KEYS_CHECKED", *entry);
    draft.detail.set("moment", to_word(doubted.which.moment));
    draft.detail.set("verdict", encode(report.verdict));
    if (report.verdict.standing == KeyStanding::refused) {
        // What a key may do has changed. Whoever trades with it has to be stopped as well.
        draft.event = "VAULT_KEYS_WIPED";
        draft.severity = AuditSeverity::critical;
        remove_entry(row, exchange);
        save(turn, row);
    } else if (doubted.permissions) {
        entry->permissions = doubted.permissions;
        entry->checked_at = turn.now();
        save(turn, row);
    }
    const bool usable = may_use_key(report.verdict, exchange);
    draft.status = usable ? AuditStatus::passed : AuditStatus::failed;
    TRY_ASSIGN(report.audit_ref, turn.audit(std::move(draft)));
    if (!usable) {
        return Refused{rejection_of(report.verdict)};
    }
    return report;
}

void VaultService::open_keys(Caller caller, Opening opening, Reply<ExchangeKeys> reply) {
    TypedDecide<ExchangeKeys> decide = [this, opening = std::move(opening)](Turn& turn) {
        return decide_opening(turn, opening);
    };
    parts_.submit(typed_turn<ExchangeKeys>(
        turn_of(std::move(caller), "vault_open"), std::move(decide), std::move(reply)));
}

Result<Outcome<ExchangeKeys>> VaultService::decide_opening(Turn& turn, const Opening& opening) {
    if (turn.principal().kind != PrincipalKind::internal) {
        return fail(errors::forbidden, "The vault is opened for venue adapters only.");
    }
    auto opened = open_entry(turn, {.exchange = opening.exchange});
    if (!opened) {
        return alert_of(turn, std::move(opened.error()), opening.exchange);
    }
    VaultEntry entry;
    entry.exchange = opening.exchange;
    entry.api_key_hint = (*opened)->keys.api_key.hint();
    AuditDraft draft = draft_of(turn, "VAULT_KEYS_OPENED", entry);
    draft.reason = opening.purpose;
    TRY(turn.audit(std::move(draft)));
    return std::move((*opened)->keys);
}

void VaultService::rotate_data_key(Caller caller, Reply<std::int64_t> reply) {
    TypedDecide<std::int64_t> decide = [this](Turn& turn) { return decide_data_key(turn); };
    parts_.submit(typed_turn<std::int64_t>(
        turn_of(std::move(caller), "vault_rotate_data_key"), std::move(decide), std::move(reply)));
}

Result<Outcome<std::int64_t>> VaultService::decide_data_key(Turn& turn) {
    TRY_ASSIGN(VaultRow row, load_row(turn));
    if (!row.data_key) {
        return fail(errors::keys_not_loaded, "This tenant keeps no keys in the vault.");
    }
    const Result<DataKey> old_key = data_key_of(turn, row);
    if (!old_key) {
        return alert_of(turn, old_key.error(), {});
    }
    const DataKey new_key = make_data_key(parts_.ids, ++row.last_version);
    for (VaultEntry& entry : row.entries) {
        auto keys = open_exchange_keys(turn.tenant_id(), *old_key, entry);
        if (!keys) {
            return alert_of(turn, std::move(keys.error()), entry.exchange);
        }
        TRY_ASSIGN(
            entry.sealed,
            seal_exchange_keys(
                {.tenant_id = turn.tenant_id(), .data_key = new_key, .ids = parts_.ids}, *keys));
    }
    TRY_ASSIGN(row.data_key, seal(turn, new_key));
    save(turn, row);
    AuditDraft draft = turn.draft("VAULT_DATA_KEY_ROTATED");
    draft.detail.set("data_key_version", new_key.version);
    TRY(turn.audit(std::move(draft)));
    return new_key.version;
}

}  // namespace interlock
