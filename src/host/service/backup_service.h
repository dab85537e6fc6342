// The server's word for a backup that was taken of its folder: a record of `_system` that there is
// one, and a signature by the sealing key of the moment (ADR 0023).
#pragma once

#include <functional>
#include <string>

#include "engine/ports/seal_keys.h"
#include "engine/service/turn_gate.h"
#include "host/rules/backup_manifest.h"
#include "host/service/ledger_service.h"

namespace interlock {

struct SealBackup {
    std::string manifest_sha256;
    std::int64_t epoch = 0;  // The last key that the chain in the backup names.
    std::int64_t files = 0;
    std::int64_t bytes = 0;
};
Result<SealBackup> decode_seal_backup(const Json& json);
Json encode(const SealBackup& request);

class BackupService {
public:
    // All of these outlive the service.
    struct Parts {
        SubmitTurn submit;
        const SealKeys& keys;
        const LedgerService& ledger;
    };
    explicit BackupService(Parts parts) : parts_(std::move(parts)) {}

    using Reply = std::function<void(Result<Answer>)>;
    // Any thread. The answer is a BackupSeal with the reference of its record.
    void seal(Principal principal, SealBackup request, Reply reply);

private:
    Parts parts_;
};

}  // namespace interlock
