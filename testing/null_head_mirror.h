// A head mirror that keeps nothing; for tests that are not about truncation.
#pragma once

#include "engine/ports/head_mirror.h"

namespace interlock {

class NullHeadMirror final : public HeadMirror {
public:
    void publish(const std::map<TenantId, LedgerHead>&) override {}
    Result<std::map<TenantId, LedgerHead>> load() override {
        return std::map<TenantId, LedgerHead>();
    }
};

}  // namespace interlock
