// Everything of the maker-bot platform that the server owns: the vault with its master key and the
// checks of exchange keys, the PnL jobs, the bots, and the accounts of their owners. Built once, in
// order, around a plane; the threads in here are the vault's, the hydrations', the PnL job's and
// the mail's.
#pragma once

#include <memory>
#include <optional>

#include "app/plane/plane.h"
#include "app/wiring/archive_folder.h"
#include "app/wiring/config.h"
#include "bots/files/file_pnl_log.h"
#include "bots/service/bot_service.h"
#include "bots/service/owner_rules.h"
#include "bots/service/pnl_job.h"
#include "engine/service/worker_pool.h"
#include "host/ports/master_keys.h"
#include "host/service/metrics.h"
#include "host/service/principal_service.h"
#include "host/service/recovery_letters.h"
#include "host/service/vault_service.h"
#include "venues/paper/paper_keys.h"

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
