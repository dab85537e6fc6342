#include "relay/service/relay_seal.h"

#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "base/json.h"

namespace interlock {
namespace {

constexpr std::string_view kRowKey = "relay";
constexpr std::size_t kNonceBytes = 12;

// In the place of a tenant; no tenant's id begins with an underscore.
TenantId relay_tenant() {
    return TenantId::trusted("_relay");
}

std::string bound_text(std::string_view bound) {
    return std::string("interlock relay 1\n").append(bound);
}

std::unexpected<Error> unreadable(std::string what) {
    return fail(errors::corrupt_data, "The relay's " + std::move(what) + " does not open.");
}

Result<SealedDataKey> decode_row_text(std::string_view text) {
    const auto json = parse_json(text);
    const Json* const version = json ? json->find("version") : nullptr;
    const Json* const master = json ? json->find("master_key_id") : nullptr;
    const Json* const sealed = json ? json->find("sealed") : nullptr;
    if (version == nullptr || !version->is_number() || !version->as_int64() || master == nullptr ||
        !master->is_string() || sealed == nullptr || !sealed->is_string()) {
        return unreadable("data key");
    }
    auto bytes = from_base64(sealed->as_string());
    if (!bytes) {
        return unreadable("data key");
    }
    return SealedDataKey{*version->as_int64(), master->as_string(), *std::move(bytes), {}};
}

}  // namespace

Result<void> RelaySeal::load() {
    TRY_ASSIGN(const auto stored, parts_.store.find_row(kRelayDataKeyKind, kRowKey));
    TRY_ASSIGN(std::optional<MasterRing> keys, parts_.masters.load());
    if (stored) {
        if (!keys) {
            return fail(
                errors::master_key_missing,
                "The relay's secrets are sealed, and their master key is missing.");
        }
        TRY_ASSIGN(const MasterKeyring ring, MasterKeyring::of(*std::move(keys)));
        TRY_ASSIGN(const SealedDataKey sealed, decode_row_text(stored->json));
        TRY_ASSIGN(data_key_, open_data_key(ring, relay_tenant(), sealed));
        master_id_ = sealed.master_key_id;
        return {};
    }
    if (!keys) {
        TRY_ASSIGN(keys, parts_.masters.create());
    }
    TRY_ASSIGN(const MasterKeyring ring, MasterKeyring::of(*std::move(keys)));
    data_key_ = make_data_key(parts_.ids, 1);
    TRY_ASSIGN(std::string text, sealed_row(ring, parts_.clock.now()));
    RelayCommit first;
    first.rows.push_back(
        {std::string(kRelayDataKeyKind),
         std::string(kRowKey),
         std::move(text),
         std::nullopt,
         /*must_be_new=*/true});
    TRY(parts_.store.commit(first));
    master_id_ = ring.sealing_id();
    return {};
}

Result<std::string> RelaySeal::sealed_row(const MasterKeyring& ring, Timestamp now) const {
    const TenantId tenant = relay_tenant();
    TRY_ASSIGN(
        const SealedDataKey sealed,
        seal_data_key(
            {.tenant_id = tenant, .ring = ring, .ids = parts_.ids, .now = now}, data_key_));
    return to_text(Json::object(
        {{"version", sealed.version},
         {"master_key_id", sealed.master_key_id},
         {"sealed", to_base64(sealed.sealed)},
         {"made_at", now.microseconds}}));
}

Result<void> RelaySeal::reseal(RelayTurn& turn) {
    CHECK(data_key_.version > 0);
    TRY_ASSIGN(std::optional<MasterRing> keys, parts_.masters.load());
    if (!keys) {
        return fail(errors::master_key_missing, "There is no master key to seal with.");
    }
    TRY_ASSIGN(const MasterKeyring ring, MasterKeyring::of(*std::move(keys)));
    if (ring.sealing_id() == master_id_) {
        return {};
    }
    TRY_ASSIGN(std::string text, sealed_row(ring, turn.now()));
    turn.rows().rows.push_back(
        {std::string(kRelayDataKeyKind),
         std::string(kRowKey),
         std::move(text),
         std::nullopt,
         /*must_be_new=*/false});
    master_id_ = ring.sealing_id();
    AuditDraft draft = relay_draft(system_tenant(), "RELAY_DATA_KEY_RESEALED", "internal:relay");
    draft.detail = Json::object({{"master_key_id", master_id_}});
    turn.audit(std::move(draft));
    return {};
}

Result<std::string> RelaySeal::seal(std::string_view plain, std::string_view bound) const {
    CHECK(data_key_.version > 0);
    // Ids have 130 random bits; their hash spreads those over the nonce.
    const std::string nonce = sha256(parts_.ids.new_id("nonce")).substr(0, kNonceBytes);
    TRY_ASSIGN(
        const std::string sealed,
        aes_256_gcm_seal(
            {.key = data_key_.key.reveal(), .nonce = nonce, .bound_data = bound_text(bound)},
            plain));
    return to_base64(sealed);
}

Result<SecretString> RelaySeal::open(std::string_view sealed, std::string_view bound) const {
    CHECK(data_key_.version > 0);
    const auto bytes = from_base64(sealed);
    if (!bytes) {
        return unreadable("sealed text");
    }
    auto plain = aes_256_gcm_open(data_key_.key.reveal(), bound_text(bound), *bytes);
    if (!plain) {
        return unreadable("sealed text");
    }
    return *std::move(plain);
}

}  // namespace interlock
