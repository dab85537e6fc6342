// The manifest of a backup (docs/contracts/backup.md): which files it has, where each chain was
// cut, and the seal of the server that vouches for both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/rules/seal.h"

namespace interlock {

inline constexpr std::int64_t kBackupVersion = 1;
inline constexpr std::string_view kManifestName = "backup.json";
inline constexpr std::size_t kBackupFilesMax = 200'000;
inline constexpr std::size_t kBackupChainsMax = 50'000;
inline constexpr std::size_t kManifestBytesMax = std::size_t{64} << 20;

struct BackupFile {
    std::string name;  // Relative, with slashes.
    std::int64_t bytes = 0;
    std::string sha256;  // Hex.
    friend bool operator==(const BackupFile&, const BackupFile&) = default;
};

// The sealing key that vouches for the manifest, and what leads to it from the keys that the
// backup's own chain of `_system` knows.
struct BackupSeal {
    std::int64_t epoch = 0;
    std::string public_key;  // Hex.
    std::vector<KeyStep> keys = {};
    std::string signature = {};  // Hex, over backup_text().
    friend bool operator==(const BackupSeal&, const BackupSeal&) = default;
};
Json encode(const BackupSeal& seal);
Result<BackupSeal> decode_backup_seal(const Json& json);

struct BackupManifest {
    Timestamp created_at;                // When the cut was made.
    std::string program;                 // Its version.
    std::string public_key;              // The first sealing key, hex.
    std::vector<HeadLine> chains = {};   // Where each was cut.
    std::vector<BackupFile> files = {};  // In order of names.
    friend bool operator==(const BackupManifest&, const BackupManifest&) = default;
};
Json encode(const BackupManifest& manifest);
// The SHA-256 that a seal is about.
Result<std::string> digest_of(const BackupManifest& manifest);
// What is signed.
std::string backup_text(std::string_view manifest_sha256);

struct SealedManifest {
    BackupManifest manifest;
    BackupSeal seal;
};
Json encode(const SealedManifest& sealed);
Result<SealedManifest> decode_sealed_manifest(const Json& json);

// Whether a backup may hold a file of this name. Keys and tokens are not among them, so that no
// restore can bring one in, and no name leads out of the folder.
bool is_backup_name(std::string_view name);

// `keys` is the lineage that the chain in the backup gives; the seal's own steps go on from there.
// Empty: the seal holds. Otherwise why not, in one sentence.
std::string why_not_sealed(const SealedManifest& sealed, KeyLineage keys);

}  // namespace interlock
