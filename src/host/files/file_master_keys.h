// The vault's master key in a file of its own, 64 hex digits, mode 0600, made when it is first
// needed.
//
//     master.key        the key in use
//     master.key.next   while it is being replaced: the one that takes its place
//
// The replacement is one rename, so there is never a moment without a key.
#pragma once

#include <string>

#include "host/ports/master_keys.h"

namespace interlock {

class FileMasterKeys final : public MasterKeys {
public:
    explicit FileMasterKeys(std::string path) : path_(std::move(path)) {}

    Result<std::optional<MasterRing>> load() override;
    Result<MasterRing> create() override;
    Result<MasterRing> begin_rotation() override;
    Result<MasterRing> end_rotation() override;

private:
    std::string next_path() const { return path_ + ".next"; }
    Result<MasterRing> load_existing();

    std::string path_;
};

// 64 hex digits as 32 bytes; the error names where they stood (`origin`) and nothing of them.
Result<SecretString> parse_master_key(const SecretString& hex, const std::string& origin);

}  // namespace interlock
