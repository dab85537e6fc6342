// Everything of the maker-bot platform (seed 004) that the server owns: the vault with its master
// key and the checks of exchange keys, the PnL jobs, the bots, and the accounts of their owners.
// Built once, in order, around a plane; the threads in here are the vault's, the hydrations', the
// PnL job's and the mail's.
#pragma once

#include <memory>
#include <optional>

#include "adapters/paper/paper_keys.h"
#include "adapters/system/file_pnl_log.h"
#include "bin/archive_folder.h"
#include "bin/config.h"
#include "ports/master_keys.h"
#include "services/bot/bot_service.h"
#include "services/metrics.h"
#include "services/onboarding/owner_rules.h"
#include "services/plane.h"
#include "services/pnl/pnl_job.h"
#include "services/principal_service.h"
#include "services/recovery_letters.h"
#include "services/vault/vault_service.h"
#include "services/worker_pool.h"

namespace interlock {

// What a tenant's bot trades until its owner says otherwise: 3 markets of the paper exchange.
BotConfig default_bot_platform_config(std::size_t symbols_max);

class BotPlatform {
public:
    // Jobs that may wait for the exchange or its word on a key; one more is refused as overload.
    static constexpr std::size_t kJobsWaitingMax = 4096;

    struct Parts {
        Plane& plane;
        LedgerStore& store;
        Clock& clock;
        IdSource& ids;
        SubmitTurn submit;
        PrincipalService& principals;
        const MarketFeed& feed;
        Venue& venue;
        const Config& config;
        std::string data_folder;
        std::function<std::string()> base_url;  // Where this server is reached; any thread.
    };
    // Before the engine starts; the plane is open.
    static Result<std::unique_ptr<BotPlatform>> open(Parts parts);
    ~BotPlatform();

    // Once the engine runs: records jobs that a crash cut short.
    void start();
    // Before the engine stops.
    void stop();

    BotService& bots() { return *bots_; }
    void add_gauges(Metrics& metrics) const;
    OnboardingService& onboarding() { return *onboarding_; }

private:
    explicit BotPlatform(Parts parts) : parts_(std::move(parts)), keys_(parts_.clock) {}
    Result<void> build();
    Result<void> build_onboarding();

    Parts parts_;
    PaperKeys keys_;
    std::unique_ptr<MasterKeys> masters_;
    std::optional<FilePnlLog> log_;
    std::unique_ptr<VaultService> vault_;
    std::unique_ptr<FolderSegments> segments_;
    std::unique_ptr<JoinedLedger> whole_ledger_;  // For runs that begin before a cut.
    std::unique_ptr<PnlJobs> pnl_;
    std::unique_ptr<BotService> bots_;
    std::unique_ptr<Mailer> mailer_;
    std::unique_ptr<OnboardingService> onboarding_;
    std::unique_ptr<RecoveryLetters> letters_;
    // Last: their jobs end before what they use.
    std::unique_ptr<WorkerPool> key_workers_;
    std::unique_ptr<WorkerPool> pnl_workers_;
    std::unique_ptr<WorkerPool> hydrators_;
    std::unique_ptr<WorkerPool> postmen_;
};

}  // namespace interlock
