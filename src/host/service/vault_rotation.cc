// Replacing the master key while the vault stays in use.
//
// First the new key is made durable beside the old one, and from then on seals. Then every data key
// is sealed anew, some per turn. When no row asks for the old key any more, the new one takes its
// place. A crash at any moment leaves each row openable with a key that is still there, and the
// next rotation goes on with the same new key.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "host/service/vault_service.h"

namespace interlock {
namespace {

struct SealedRow {
    TenantId tenant_id;
    SealedDataKey data_key;
};

// Every committed row that has a data key; one that cannot be read is an error, so that no rotation
// leaves it behind.
Result<std::vector<SealedRow>> sealed_rows(Turn& turn) {
    TRY_ASSIGN(const auto stored, turn.store().load_states(std::string(kVaultPrefix)));
    std::vector<SealedRow> rows;
    for (const auto& [machine, state] : stored) {
        const TenantId tenant_id = TenantId::trusted(machine.substr(kVaultPrefix.size()));
        const auto json = parse_json(state.json);
        auto row = json ? decode_vault_row(*json) : std::unexpected(json.error());
        if (!row) {
            return fail(
                errors::corrupt_data,
                "The vault of " + tenant_id.text() + " cannot be read: it was changed.");
        }
        if (row->data_key) {
            rows.push_back({tenant_id, *std::move(row->data_key)});
        }
    }
    return rows;
}

std::vector<TenantId> not_sealed_with(
    const std::string& master_id, const std::vector<SealedRow>& rows) {
    std::vector<TenantId> tenants;
    for (const SealedRow& row : rows) {
        if (row.data_key.master_key_id != master_id) {
            tenants.push_back(row.tenant_id);
        }
    }
    return tenants;
}

}  // namespace

void VaultService::rotate_master_key(Principal principal, Reply<RotationReport> reply) {
    const auto rotation = std::make_shared<Rotation>();
    rotation->principal = std::move(principal);
    rotation->reply = std::move(reply);
    TypedDecide<RotationReport> decide = [this, rotation](Turn& turn) {
        return begin_rotation(turn, *rotation);
    };
    parts_.submit(typed_turn<RotationReport>(
        turn_of({rotation->principal, system_tenant()}, "vault_rotate"),
        std::move(decide),
        [this, rotation](Result<RotationReport> begun) {
            if (!begun) {
                finish(rotation, std::move(begun));
                return;
            }
            rotation->report = *std::move(begun);
            go_on(rotation);
        }));
}

Result<Outcome<RotationReport>> VaultService::begin_rotation(Turn& turn, Rotation& rotation) {
    if (under_way_ != nullptr && under_way_ != &rotation) {
        return fail(errors::conflict, "The master key is being replaced already.");
    }
    if (shut_) {
        return std::unexpected(*shut_);
    }
    if (!ring_) {
        return fail(
            errors::not_found,
            "There is no master key yet.",
            "It is made with the first exchange keys that are stored.");
    }
    // Before anything is made: a row that does not open now would not open afterwards either.
    TRY_ASSIGN(const std::vector<SealedRow> rows, sealed_rows(turn));
    for (const SealedRow& row : rows) {
        TRY(open_data_key(*ring_, row.tenant_id, row.data_key));
    }
    // Durable before the first row needs it. Asked twice it gives the same key, so a turn that runs
    // again, or a rotation that goes on after a crash, does no harm.
    TRY_ASSIGN(MasterRing keys, parts_.masters.begin_rotation());
    TRY_ASSIGN(ring_, MasterKeyring::of(std::move(keys)));
    under_way_ = &rotation;
    rotation.waiting = not_sealed_with(ring_->sealing_id(), rows);
    RotationReport report;
    report.from_id = ring_->current_id();
    report.to_id = ring_->sealing_id();
    report.resumed = rotation.waiting.size() < rows.size();
    AuditDraft draft = turn.draft("VAULT_ROTATION_STARTED");
    draft.detail.set("from_master_key_id", report.from_id);
    draft.detail.set("to_master_key_id", report.to_id);
    draft.detail.set("data_keys", static_cast<std::int64_t>(rotation.waiting.size()));
    TRY(turn.audit(std::move(draft)));
    return report;
}

void VaultService::go_on(const RotationPtr& rotation) {
    if (rotation->done < rotation->waiting.size()) {
        TypedDecide<std::int64_t> decide = [this, rotation](Turn& turn) {
            return reseal_some(turn, *rotation);
        };
        parts_.submit(typed_turn<std::int64_t>(
            turn_of({rotation->principal, system_tenant()}, "vault_rotate"),
            std::move(decide),
            [this, rotation](const Result<std::int64_t>& resealed) {
                if (!resealed) {
                    finish(rotation, std::unexpected(resealed.error()));
                    return;
                }
                rotation->report.resealed += *resealed;
                rotation->done += kResealPerTurn;
                go_on(rotation);
            }));
        return;
    }
    using Left = std::vector<TenantId>;
    TypedDecide<Left> decide = [this, rotation](Turn& turn) {
        return end_rotation(turn, *rotation);
    };
    parts_.submit(typed_turn<Left>(
        turn_of({rotation->principal, system_tenant()}, "vault_rotate"),
        std::move(decide),
        [this, rotation](Result<Left> left) {
            if (!left) {
                finish(rotation, std::unexpected(std::move(left).error()));
            } else if (left->empty()) {
                finish(rotation, rotation->report);
            } else {
                rotation->waiting = *std::move(left);
                rotation->done = 0;
                go_on(rotation);
            }
        }));
}

Result<Outcome<std::int64_t>> VaultService::reseal_some(Turn& turn, const Rotation& rotation) {
    const std::size_t end = std::min(rotation.done + kResealPerTurn, rotation.waiting.size());
    std::int64_t resealed = 0;
    for (std::size_t i = rotation.done; i < end; ++i) {
        const TenantId& tenant_id = rotation.waiting[i];
        TRY_ASSIGN(const std::optional<Json> json, turn.load(vault_machine(tenant_id)));
        if (!json) {
            continue;
        }
        TRY_ASSIGN(VaultRow row, decode_vault_row(*json));
        // Wiped or sealed anew since the list was made.
        if (!row.data_key || row.data_key->master_key_id == ring_->sealing_id()) {
            continue;
        }
        const std::string from_id = row.data_key->master_key_id;
        TRY_ASSIGN(const DataKey data_key, open_data_key(*ring_, tenant_id, *row.data_key));
        TRY_ASSIGN(
            row.data_key,
            seal_data_key({tenant_id, *ring_, parts_.ids, row.data_key->made_at}, data_key));
        turn.save(vault_machine(tenant_id), encode(row));
        AuditDraft draft = turn.draft("VAULT_DATA_KEY_RESEALED");
        draft.tenant_id = tenant_id;
        draft.detail.set("from_master_key_id", from_id);
        draft.detail.set("to_master_key_id", ring_->sealing_id());
        TRY(turn.audit(std::move(draft)));
        ++resealed;
    }
    return resealed;
}

Result<Outcome<std::vector<TenantId>>> VaultService::end_rotation(
    Turn& turn, const Rotation& rotation) {
    // Looked at once more in what is committed: a put that was decided before the new key was there
    // may have been committed with the old one since. Later puts seal with the new one.
    TRY_ASSIGN(const std::vector<SealedRow> rows, sealed_rows(turn));
    std::vector<TenantId> left = not_sealed_with(ring_->sealing_id(), rows);
    if (!left.empty()) {
        return left;
    }
    // No committed row asks for the old key, so it may go whatever becomes of this turn.
    if (ring_->is_rotating()) {
        TRY_ASSIGN(MasterRing keys, parts_.masters.end_rotation());
        TRY_ASSIGN(ring_, MasterKeyring::of(std::move(keys)));
    }
    AuditDraft draft = turn.draft("VAULT_ROTATION_FINISHED");
    draft.detail.set("to_master_key_id", ring_->sealing_id());
    draft.detail.set("resealed", rotation.report.resealed);
    TRY(turn.audit(std::move(draft)));
    return left;
}

void VaultService::finish(const RotationPtr& rotation, Result<RotationReport> result) {
    if (under_way_ == rotation.get()) {
        under_way_ = nullptr;
    }
    rotation->reply(std::move(result));
}

}  // namespace interlock
