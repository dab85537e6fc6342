#include "host/wire/vault_row.h"

#include <algorithm>

#include "base/bytes.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::size_t kSealedTextMax = 16 * 1024;

std::string read_sealed(FieldReader& in) {
    const std::string text = in.required_text("sealed", {.length_max = kSealedTextMax});
    auto bytes = from_base64(text);
    if (!bytes) {
        in.add_problem("sealed", "must be base64");
        return {};
    }
    return *std::move(bytes);
}

Json encode(const SealedDataKey& key) {
    return Json::object(
        {{"version", key.version},
         {"master_key_id", key.master_key_id},
         {"sealed", to_base64(key.sealed)},
         {"made_at", to_text(key.made_at)}});
}

Result<SealedDataKey> decode_data_key(const Json& json) {
    FieldReader in(json, "data_key");
    SealedDataKey key;
    key.version = in.required<std::int64_t>("version");
    key.master_key_id = in.required_text("master_key_id");
    key.sealed = read_sealed(in);
    key.made_at = in.required<Timestamp>("made_at");
    in.reject_unknown();
    return in.finish(std::move(key));
}

Json encode(const VaultEntry& entry) {
    return Json::object(
        {{"exchange", entry.exchange},
         {"api_key_hint", entry.api_key_hint},
         {"sealed", to_base64(entry.sealed)},
         {"stored_by", entry.stored_by},
         {"stored_at", to_text(entry.stored_at)},
         {"permissions", entry.permissions ? encode(*entry.permissions) : Json()},
         {"checked_at", entry.checked_at ? Json(to_text(*entry.checked_at)) : Json()}});
}

Result<VaultEntry> decode_entry(const Json& json) {
    FieldReader in(json, "entries[]");
    VaultEntry entry;
    entry.exchange = in.required_text("exchange");
    entry.api_key_hint = in.required<std::string>("api_key_hint");
    entry.sealed = read_sealed(in);
    entry.stored_by = in.required<std::string>("stored_by");
    entry.stored_at = in.required<Timestamp>("stored_at");
    if (const auto permissions = in.required_nullable<Json>("permissions")) {
        auto decoded = decode_key_permissions(*permissions);
        if (decoded) {
            entry.permissions = *decoded;
        } else {
            in.absorb(decoded.error());
        }
    }
    entry.checked_at = in.required_nullable<Timestamp>("checked_at");
    if (!entry.exchange.empty() && !is_exchange_text(entry.exchange)) {
        in.add_problem("exchange", "is no exchange");
    }
    in.reject_unknown();
    return in.finish(std::move(entry));
}

}  // namespace

const VaultEntry* VaultRow::find(std::string_view exchange) const {
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const VaultEntry& entry) {
        return entry.exchange == exchange;
    });
    return found == entries.end() ? nullptr : &*found;
}

VaultEntry* VaultRow::find(std::string_view exchange) {
    return const_cast<VaultEntry*>(std::as_const(*this).find(exchange));
}

std::string vault_machine(const TenantId& tenant_id) {
    return std::string(kVaultPrefix) + tenant_id.text();
}

Json encode(const VaultRow& row) {
    Json entries = Json::array();
    for (const VaultEntry& entry : row.entries) {
        entries.push(encode(entry));
    }
    return Json::object(
        {{"last_version", row.last_version},
         {"data_key", row.data_key ? encode(*row.data_key) : Json()},
         {"entries", std::move(entries)}});
}

Result<VaultRow> decode_vault_row(const Json& json) {
    FieldReader in(json);
    VaultRow row;
    row.last_version = in.required<std::int64_t>("last_version");
    if (const auto key = in.required_nullable<Json>("data_key")) {
        auto decoded = decode_data_key(*key);
        if (decoded) {
            row.data_key = *std::move(decoded);
        } else {
            in.absorb(decoded.error());
        }
    }
    for (const Json& item : in.required_array("entries", kVaultEntriesMax)) {
        auto entry = decode_entry(item);
        if (!entry) {
            in.absorb(entry.error());
        } else if (row.find(entry->exchange) != nullptr) {
            in.add_problem("entries", "must hold an exchange once");
        } else {
            row.entries.push_back(*std::move(entry));
        }
    }
    in.reject_unknown();
    return in.finish(std::move(row));
}

}  // namespace interlock
