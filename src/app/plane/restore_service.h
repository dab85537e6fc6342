// The first start on a data folder that came from a backup (ADR 0023).
//
// A folder without its sealing key holds the bytes of another day: what was revoked, used up or
// ended since is there again. So before anything is answered every right for a time is void
// (sessions, codes, open recoveries, pending approvals, grants), every access key waits for a
// human, and what the venues did since is imported. The global stop is on already, for the break
// that the lost key is.
//
// Invariants: nothing here runs unless the restore row is open; each step may be repeated; the row
// is closed by the last turn, so a crash on the way only makes the next start do it again.
#pragma once

#include <functional>
#include <string>

#include "account/ports/venue_history.h"
#include "host/service/principal_service.h"
#include "host/service/restore_state.h"
#include "loop/service/loop_service.h"

namespace interlock {

class RestoreService {
public:
    struct Parts {
        TurnRunner& runner;
        SubmitTurn submit;
        PrincipalRecords& principals;
        const PrincipalDirectory& directory;
        LoopService& loop;
        const MarketFeed& feed;
        std::map<TradeMode, VenueMemory*> venues;
    };
    explicit RestoreService(Parts parts) : parts_(std::move(parts)) {}

    struct Voided {
        std::int64_t keys = 0;
        std::int64_t humans = 0;
        std::int64_t approvals = 0;
        std::int64_t grants = 0;
        std::int64_t orders = 0;  // Imported from venues.
    };
    // Before the engine starts. Nothing when this folder was not just restored. Fails when a venue
    // cannot be asked: then the server does not start, and the next start tries again.
    Result<std::optional<Voided>> open();

    // What others have to know of a restore, also long after it. After open().
    struct Verdict {
        // No human has accepted the break yet: what speaks to other people's chats stays shut.
        bool is_unconfirmed = false;
        // Codes that were made earlier may have been used since the backup.
        Timestamp void_before{};
    };
    Result<Verdict> verdict();

    // Any thread: a human's word for a key that came back with a backup. Needs a fresh login.
    using Reply = std::function<void(Result<Answer>)>;
    struct Caller {
        Principal principal;
        TenantId tenant_id;
    };
    void confirm_key(Caller caller, KeyId key_id, Reply reply);

private:
    Result<TurnReply> run_confirmation(Turn& turn, const KeyId& key_id);
    // One turn in the tenant's name, run here and now.
    Result<void> run(const TenantId& tenant_id, std::function<Result<void>(Turn&)> decide);
    Result<std::optional<RestoreState>> read_row();
    Result<void> lock_keys(Voided& voided);
    Result<void> end_sign_ins(Voided& voided);
    Result<void> end_approvals(Voided& voided);
    Result<void> end_grants(Voided& voided);
    Result<void> import_orders(Voided& voided);
    Result<void> finish(const Voided& voided);

    Parts parts_;
};

}  // namespace interlock
