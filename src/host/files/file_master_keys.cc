#include "host/files/file_master_keys.h"

#include <cstdio>
#include <filesystem>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "engine/system/durable_file.h"
#include "engine/system/private_file.h"

namespace interlock {
namespace {

Result<std::optional<SecretString>> read_key(const std::string& path) {
    TRY_ASSIGN(const std::optional<SecretString> hex, read_private_file(path));
    if (!hex) {
        return std::optional<SecretString>();
    }
    TRY_ASSIGN(SecretString key, parse_master_key(*hex, path));
    return std::optional(std::move(key));
}

// Leaves a key that is there alone.
Result<void> make_key(const std::string& path) {
    std::string bytes = random_bytes(kMasterKeyBytes);
    const SecretString hex(to_hex(bytes));
    wipe(bytes);
    TRY(create_private_file(path, hex));
    return {};
}

}  // namespace

Result<SecretString> parse_master_key(const SecretString& hex, const std::string& origin) {
    auto bytes = from_hex(hex.reveal());
    if (!bytes || bytes->size() != kMasterKeyBytes) {
        return fail(
            errors::crypto_failed,
            origin + " does not hold a master key: 64 hex digits",
            "Give back the master key that sealed this vault.");
    }
    return SecretString(*std::move(bytes));
}

Result<std::optional<MasterRing>> FileMasterKeys::load() {
    TRY_ASSIGN(std::optional<SecretString> current, read_key(path_));
    TRY_ASSIGN(std::optional<SecretString> next, read_key(next_path()));
    if (!current && next) {
        // No step of ours leaves it like this: the one that sealed so far was taken away.
        return fail(
            errors::master_key_missing, path_ + " is missing though " + next_path() + " is there");
    }
    if (!current) {
        return std::optional<MasterRing>();
    }
    return std::optional(MasterRing{*std::move(current), std::move(next)});
}

Result<MasterRing> FileMasterKeys::load_existing() {
    TRY_ASSIGN(std::optional<MasterRing> ring, load());
    if (!ring) {
        return fail(errors::master_key_missing, path_ + " does not exist");
    }
    return *std::move(ring);
}

Result<MasterRing> FileMasterKeys::create() {
    TRY(make_key(path_));
    return load_existing();
}

Result<MasterRing> FileMasterKeys::begin_rotation() {
    TRY(load_existing());
    TRY(make_key(next_path()));
    return load_existing();
}

Result<MasterRing> FileMasterKeys::end_rotation() {
    TRY_ASSIGN(MasterRing ring, load_existing());
    if (!ring.next) {
        return ring;
    }
    if (std::rename(next_path().c_str(), path_.c_str()) != 0) {
        return system_failure("replace", path_);
    }
    TRY(sync_folder(std::filesystem::absolute(path_).parent_path().string()));
    return load_existing();
}

}  // namespace interlock
