// The chains' heads as one small file per tenant, `heads/<tenant>.head`, holding "<seq> <hash>".
//
// The text always has the same size and is written over in place without a sync: after a crash a
// file may be behind or blank, which both mean "no news", but it is never ahead of the store.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "engine/ports/head_mirror.h"
#include "engine/system/durable_file.h"

namespace interlock {

// Files kept open between commits; with more tenants than that, some are opened anew each time.
inline constexpr std::size_t kHeadFilesOpenMax = 256;

class FileHeadMirror final : public HeadMirror {
public:
    // Creates `folder` when it is missing.
    static Result<FileHeadMirror> open(const std::string& folder);

    void publish(const std::map<TenantId, LedgerHead>& changed) override;
    Result<std::map<TenantId, LedgerHead>> load() override;

    std::size_t files_open() const { return files_.size(); }

private:
    explicit FileHeadMirror(std::string folder) : folder_(std::move(folder)) {}
    bool write_head(const TenantId& tenant_id, const LedgerHead& head);

    std::string folder_;
    std::map<TenantId, FileDescriptor> files_;
    bool failing_ = false;  // So that a full disk is logged once and not per commit.
};

}  // namespace interlock
