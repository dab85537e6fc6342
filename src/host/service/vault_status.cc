// What the vault says about itself: the shapes of its answers, and a look at a stored vault from
// outside.
#include <algorithm>

#include "host/service/vault_service.h"

namespace interlock {
namespace {

Json time_or_null(const std::optional<Timestamp>& at) {
    return at ? Json(to_text(*at)) : Json();
}

Json encode_entry(const VaultPresence::Entry& entry) {
    return Json::object(
        {{"exchange", entry.exchange},
         {"api_key_hint", entry.api_key_hint},
         {"stored_at", to_text(entry.stored_at)},
         {"permissions", entry.permissions ? encode(*entry.permissions) : Json()},
         {"checked_at", time_or_null(entry.checked_at)}});
}

Json encode_entries(const std::vector<VaultPresence::Entry>& entries) {
    Json list = Json::array();
    for (const VaultPresence::Entry& entry : entries) {
        list.push(encode_entry(entry));
    }
    return list;
}

// Why the row does not open; empty when all of it does.
std::string problem_of(
    const TenantId& tenant_id, const VaultRow& row, const std::optional<MasterKeyring>& ring) {
    if (!row.data_key) {
        return row.entries.empty() ? "" : "Its data key is missing.";
    }
    if (!ring) {
        return "Its master key " + row.data_key->master_key_id + " is missing.";
    }
    const auto data_key = open_data_key(*ring, tenant_id, *row.data_key);
    if (!data_key) {
        return data_key.error().message;
    }
    for (const VaultEntry& entry : row.entries) {
        if (const auto keys = open_exchange_keys(tenant_id, *data_key, entry); !keys) {
            return keys.error().message;
        }
    }
    return "";
}

}  // namespace

std::string_view to_word(KeyMoment moment) {
    switch (moment) {
        case KeyMoment::initialise:
            return "initialise";
        case KeyMoment::start:
            return "start";
        case KeyMoment::daily:
            return "daily";
        case KeyMoment::venue_doubt:
            break;
    }
    return "venue_doubt";
}

Json encode(const KeyReport& report) {
    Json json =
        Json::object({{"exchange", report.exchange}, {"api_key_hint", report.api_key_hint}});
    const Json verdict = encode(report.verdict);
    for (const auto& [name, value] : verdict.members()) {
        json.set(name, value);
    }
    json.set("checked_at", to_text(report.checked_at));
    json.set("audit_ref", report.audit_ref);
    return json;
}

Json encode(const VaultPresence& presence) {
    return Json::object(
        {{"keys_loaded", presence.keys_loaded()},
         {"exchange", presence.keys_loaded() ? Json(presence.exchange()) : Json()},
         {"entries", encode_entries(presence.entries)}});
}

Json encode(const RotationReport& report) {
    return Json::object(
        {{"from_master_key_id", report.from_id},
         {"to_master_key_id", report.to_id},
         {"resealed", report.resealed},
         {"resumed", report.resumed}});
}

bool VaultStatus::ok() const {
    return std::all_of(
        rows.begin(), rows.end(), [](const Row& row) { return row.problem.empty(); });
}

Result<VaultStatus> inspect_vault(LedgerStore& store, std::optional<MasterRing> ring) {
    VaultStatus status;
    std::optional<MasterKeyring> keyring;
    if (ring) {
        TRY_ASSIGN(keyring, MasterKeyring::of(*std::move(ring)));
        status.master_key_id = keyring->current_id();
        status.next_master_key_id = keyring->is_rotating() ? keyring->sealing_id() : "";
    }
    TRY_ASSIGN(const auto stored, store.load_states(std::string(kVaultPrefix)));
    for (const auto& [machine, state] : stored) {
        VaultStatus::Row found;
        found.tenant_id = TenantId::trusted(machine.substr(kVaultPrefix.size()));
        const auto json = parse_json(state.json);
        const auto row = json ? decode_vault_row(*json) : std::unexpected(json.error());
        if (!row) {
            found.problem = "It cannot be read: it was changed.";
            status.rows.push_back(std::move(found));
            continue;
        }
        if (row->data_key) {
            found.data_key_version = row->data_key->version;
            found.master_key_id = row->data_key->master_key_id;
        }
        for (const VaultEntry& entry : row->entries) {
            found.entries.push_back(
                {entry.exchange,
                 entry.api_key_hint,
                 entry.stored_at,
                 entry.permissions,
                 entry.checked_at});
        }
        found.problem = problem_of(found.tenant_id, *row, keyring);
        status.rows.push_back(std::move(found));
    }
    return status;
}

Json encode(const VaultStatus& status) {
    Json rows = Json::array();
    for (const VaultStatus::Row& row : status.rows) {
        rows.push(Json::object(
            {{"tenant_id", row.tenant_id.text()},
             {"entries", encode_entries(row.entries)},
             {"data_key_version", row.data_key_version},
             {"master_key_id", row.master_key_id},
             {"problem", row.problem.empty() ? Json() : Json(row.problem)}}));
    }
    const auto text_or_null = [](const std::string& text) {
        return text.empty() ? Json() : Json(text);
    };
    return Json::object(
        {{"ok", status.ok()},
         {"master_key_id", text_or_null(status.master_key_id)},
         {"next_master_key_id", text_or_null(status.next_master_key_id)},
         {"tenants", std::move(rows)}});
}

}  // namespace interlock
