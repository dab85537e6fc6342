// What is committed about accounts, for network threads to read without a turn. The engine changes
// it after each commit and before the reply.
//
// The answer's text is kept beside the row: a status that is asked for a thousand times a second is
// encoded once. It is made anew when a trial or a grant runs out between two commits.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "bots/rules/plans.h"

namespace interlock {

class AccountBoard {
public:
    // Engine thread.
    void publish(const TenantId& tenant_id, const OnboardingRow& row, Timestamp now);

    // From any thread. A tenant without a row is one of the operator's.
    BotAccountView view(const TenantId& tenant_id, Timestamp now) const;
    std::string status_text(const TenantId& tenant_id, Timestamp now) const;

private:
    struct Entry {
        OnboardingRow row;
        std::string text;
        Timestamp good_from;
        Timestamp good_until;  // Excluded.
    };

    mutable std::mutex mutex_;  // Guards all below (ADR 0007).
    std::map<TenantId, Entry> entries_;
};

}  // namespace interlock
