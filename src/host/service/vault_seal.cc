#include "host/service/vault_seal.h"

#include <utility>

#include "base/crypto.h"
#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::size_t kIdDigits = 16;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kLengthBytes = 4;

// Ids have 130 random bits; their hash spreads those over the nonce.
std::string make_nonce(IdSource& ids) {
    return sha256(ids.new_id("nonce")).substr(0, kNonceBytes);
}

// No part can hold a newline, so two different lists never give the same text.
std::string bound_to(
    std::string_view kind, const TenantId& tenant_id, std::string_view what, std::int64_t version) {
    std::string text("interlock vault 1\n");
    text.append(kind).append("\n").append(tenant_id.text()).append("\n");
    return text.append(what).append("\n").append(std::to_string(version));
}

std::unexpected<Error> unreadable(const TenantId& tenant_id, const std::string& what) {
    return fail(
        errors::corrupt_data,
        "The " + what + " in the vault of " + tenant_id.text() +
            " does not open: it was changed, or it belongs elsewhere.",
        "Wipe these exchange keys, provision new ones, and run `interlock audit verify`.");
}

void append_part(std::string& out, std::string_view part) {
    const auto size = static_cast<std::uint32_t>(part.size());
    for (int shift = 24; shift >= 0; shift -= 8) {
        out.push_back(static_cast<char>((size >> shift) & 0xFF));
    }
    out.append(part);
}

// The bytes that are sealed: each text behind its length. Not JSON, so that no printer takes it.
SecretString pack(const ExchangeKeys& keys) {
    std::string bytes;
    // Reserved in one go: a string that grows leaves copies of its beginning behind.
    bytes.reserve(
        3 * kLengthBytes + keys.api_key.reveal().size() + keys.api_secret.reveal().size() +
        (keys.api_password ? keys.api_password->reveal().size() : 0));
    append_part(bytes, keys.api_key.reveal());
    append_part(bytes, keys.api_secret.reveal());
    if (keys.api_password) {
        append_part(bytes, keys.api_password->reveal());
    }
    return SecretString(std::move(bytes));
}

std::optional<SecretString> take_part(std::string_view& rest) {
    if (rest.size() < kLengthBytes) {
        return std::nullopt;
    }
    std::uint32_t size = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i) {
        size = (size << 8) | static_cast<unsigned char>(rest[i]);
    }
    rest.remove_prefix(kLengthBytes);
    if (rest.size() < size) {
        return std::nullopt;
    }
    SecretString part{std::string(rest.substr(0, size))};
    rest.remove_prefix(size);
    return part;
}

std::optional<ExchangeKeys> unpack(const SecretString& packed) {
    std::string_view rest = packed.reveal();
    auto api_key = take_part(rest);
    auto api_secret = take_part(rest);
    if (!api_key || !api_secret) {
        return std::nullopt;
    }
    ExchangeKeys keys;
    keys.api_key = *std::move(api_key);
    keys.api_secret = *std::move(api_secret);
    if (!rest.empty()) {
        keys.api_password = take_part(rest);
        if (!keys.api_password || !rest.empty()) {
            return std::nullopt;
        }
    }
    return keys;
}

}  // namespace

std::string master_key_id(const SecretString& master_key) {
    return sha256_hex_of("interlock master key id 1\n", master_key.reveal()).substr(0, kIdDigits);
}

Result<MasterKeyring> MasterKeyring::of(MasterRing ring) {
    if (ring.current.reveal().size() != kMasterKeyBytes ||
        (ring.next && ring.next->reveal().size() != kMasterKeyBytes)) {
        return fail(errors::crypto_failed, "A master key must have 32 bytes.");
    }
    MasterKeyring keyring;
    keyring.current_ = {master_key_id(ring.current), std::move(ring.current)};
    if (ring.next) {
        keyring.next_ = Named{master_key_id(*ring.next), *std::move(ring.next)};
    }
    return keyring;
}

const SecretString* MasterKeyring::find(const std::string& id) const {
    if (next_ && next_->id == id) {
        return &next_->key;
    }
    return current_.id == id ? &current_.key : nullptr;
}

// 256 random bits spelt as text; the hash makes a key of them.
DataKey make_data_key(IdSource& ids, std::int64_t version) {
    const SecretString text = ids.new_secret("data_key");
    return {version, SecretString(sha256(text.reveal()))};
}

Result<SealedDataKey> seal_data_key(const DataKeySeal& seal, const DataKey& data_key) {
    const std::string& master_id = seal.ring.sealing_id();
    const std::string nonce = make_nonce(seal.ids);
    const std::string bound = bound_to("data key", seal.tenant_id, master_id, data_key.version);
    TRY_ASSIGN(
        std::string sealed,
        aes_256_gcm_seal(
            {.key = seal.ring.find(master_id)->reveal(), .nonce = nonce, .bound_data = bound},
            data_key.key.reveal()));
    return SealedDataKey{data_key.version, master_id, std::move(sealed), seal.now};
}

Result<DataKey> open_data_key(
    const MasterKeyring& ring, const TenantId& tenant_id, const SealedDataKey& sealed) {
    const SecretString* master = ring.find(sealed.master_key_id);
    if (master == nullptr) {
        return fail(
            errors::master_key_wrong,
            "The vault of " + tenant_id.text() + " was sealed with the master key " +
                sealed.master_key_id + "; the one given is " + ring.sealing_id() + ".");
    }
    const std::string bound = bound_to("data key", tenant_id, sealed.master_key_id, sealed.version);
    auto opened = aes_256_gcm_open(master->reveal(), bound, sealed.sealed);
    if (!opened) {
        return unreadable(tenant_id, "data key");
    }
    return DataKey{sealed.version, *std::move(opened)};
}

Result<std::string> seal_exchange_keys(const KeysSeal& seal, const ExchangeKeys& keys) {
    const SecretString packed = pack(keys);
    const std::string nonce = make_nonce(seal.ids);
    const std::string bound =
        bound_to("exchange keys", seal.tenant_id, keys.exchange, seal.data_key.version);
    return aes_256_gcm_seal(
        {.key = seal.data_key.key.reveal(), .nonce = nonce, .bound_data = bound}, packed.reveal());
}

Result<ExchangeKeys> open_exchange_keys(
    const TenantId& tenant_id, const DataKey& data_key, const VaultEntry& entry) {
    const std::string bound =
        bound_to("exchange keys", tenant_id, entry.exchange, data_key.version);
    const auto packed = aes_256_gcm_open(data_key.key.reveal(), bound, entry.sealed);
    std::optional<ExchangeKeys> keys = packed ? unpack(*packed) : std::nullopt;
    if (!keys) {
        return unreadable(tenant_id, "entry of " + entry.exchange);
    }
    keys->exchange = entry.exchange;
    return *std::move(keys);
}

}  // namespace interlock
