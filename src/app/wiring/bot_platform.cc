#include "app/wiring/bot_platform.h"

#include "app/wiring/mail_setup.h"
#include "app/wiring/vault_folder.h"
#include "base/check.h"
#include "base/log.h"

namespace interlock {
namespace {

struct DefaultMarket {
    std::string_view symbol;
    std::string_view amount;  // In base units: worth about a thousand of the quote.
};
constexpr DefaultMarket kMarkets[] = {{"BTCUSDT", "0.02"}, {"ETHUSDT", "0.4"}, {"SOLUSDT", "6"}};

}  // namespace

BotConfig default_bot_platform_config(std::size_t symbols_max) {
    std::map<Symbol, Decimal> amounts;
    for (const DefaultMarket& market : kMarkets) {
        if (amounts.size() >= symbols_max) {
            break;
        }
        const auto symbol = Symbol::parse(market.symbol);
        const auto amount = Decimal::parse(market.amount);
        CHECK(symbol.has_value() && amount.has_value());
        amounts[*symbol] = *amount;
    }
    return default_bot_config(std::move(amounts));
}

namespace {

std::optional<WriteBudget> refused_budget(
    const Config& config, const std::optional<PlanName>& plan) {
    const std::int64_t kib = plan == PlanName::trial      ? config.audit_trial_refused_kib
                             : plan == PlanName::standard ? config.audit_standard_refused_kib
                             : plan == PlanName::pro      ? config.audit_pro_refused_kib
                                                          : config.audit_tenant_refused_kib;
    return kib == 0 ? std::nullopt : std::optional(WriteBudget{.bytes_per_hour = kib * 1024});
}

}  // namespace

Result<std::unique_ptr<BotPlatform>> BotPlatform::open(Parts parts) {
    std::unique_ptr<BotPlatform> platform(new BotPlatform(std::move(parts)));
    TRY(platform->build());
    return platform;
}

BotPlatform::~BotPlatform() {
    stop();
}

Result<void> BotPlatform::build() {
    key_workers_ = std::make_unique<WorkerPool>(
        WorkerPool::Bounds{.threads = 1, .waiting_max = kJobsWaitingMax});
    pnl_workers_ = std::make_unique<WorkerPool>(
        WorkerPool::Bounds{.threads = 1, .waiting_max = PnlJobs::Bounds{}.jobs_max});
    hydrators_ = std::make_unique<WorkerPool>(
        WorkerPool::Bounds{.threads = 1, .waiting_max = kJobsWaitingMax});
    TRY_ASSIGN(
        masters_,
        open_master_keys(
            chosen_master_key(parts_.data_folder, parts_.config.vault_master_key_file)));
    TRY_ASSIGN(FilePnlLog log, FilePnlLog::open(parts_.data_folder + "/pnl"));
    log_.emplace(std::move(log));
    vault_ = std::make_unique<VaultService>(VaultService::Parts{
        .runner = parts_.plane.runner,
        .submit = parts_.submit,
        .workers = *key_workers_,
        .masters = *masters_,
        .ids = parts_.ids,
        .checks = {{std::string(kPaperExchange), &keys_}}});
    if (const auto opened = vault_->open(); !opened) {
        // Everything else works; whatever needs a key says why it cannot.
        log_error("vault_shut", {{"message", opened.error().message}});
    }
    segments_ = std::make_unique<FolderSegments>(segments_of(parts_.data_folder, ""));
    whole_ledger_ =
        std::make_unique<JoinedLedger>(parts_.store, *segments_, [this](const TenantId& tenant_id) {
            return Result<ArchiveState>(parts_.plane.archive.archive_of(tenant_id));
        });
    pnl_ = std::make_unique<PnlJobs>(PnlJobs::Parts{
        .runner = parts_.plane.runner,
        .store = *whole_ledger_,
        .feed = parts_.feed,
        .log = *log_,
        .clock = parts_.clock,
        .submit = parts_.submit,
        .run = [this](std::function<void()> slice) {
            return pnl_workers_->try_run(std::move(slice));
        }});
    TRY(pnl_->open());
    bots_ = std::make_unique<BotService>(BotService::Parts{
        .runner = parts_.plane.runner,
        .submit = parts_.submit,
        .loop = *parts_.plane.loop,
        .runtime = parts_.plane.running,
        .ticker = *parts_.plane.ticker,
        .control = *parts_.plane.decisions,
        .kill = parts_.plane.kill,
        .latch = parts_.plane.latch,
        .approvals = parts_.plane.approvals,
        .vault = *vault_,
        .store = parts_.store,
        .feed = parts_.feed,
        .clock = parts_.clock,
        .fetch = [this](
                     const VenueAccount& account,
                     std::int64_t cursor) { return parts_.venue.report(account, cursor); },
        .run = [this](std::function<void()> job) { return hydrators_->try_run(std::move(job)); },
        .pnl = *pnl_,
        .defaults = default_bot_platform_config(kBotSymbolsMax),
        .weight_per_minute = parts_.config.bots_venue_weight_per_minute});
    TRY(bots_->open());
    return build_onboarding();
}

void BotPlatform::add_gauges(Metrics& metrics) const {
    const auto add =
        [&](std::string name, std::string help, std::size_t (BotBoard::*count)() const) {
            metrics.add_gauge(std::move(name), std::move(help), [this, count] {
                return static_cast<double>((bots_->board().*count)());
            });
        };
    add("interlock_bots", "Bots that were ever built or configured.", &BotBoard::size);
    add("interlock_bots_running", "Bots in the state running.", &BotBoard::running);
    add("interlock_bots_stalled", "Bots whose exchange does not answer.", &BotBoard::stalled);
}

Result<void> BotPlatform::build_onboarding() {
    postmen_ = std::make_unique<WorkerPool>(
        WorkerPool::Bounds{.threads = kLetterThreads, .waiting_max = kJobsWaitingMax});
    TRY_ASSIGN(mailer_, open_configured_mailer(parts_.config, parts_.clock, parts_.ids));
    SignupRules rules;
    rules.open = parts_.config.bots_signup == "open";
    onboarding_ = std::make_unique<OnboardingService>(OnboardingService::Parts{
        .runner = parts_.plane.runner,
        .submit = parts_.submit,
        .principals = parts_.principals,
        .workers = *postmen_,
        .mailer = *mailer_,
        .clock = parts_.clock,
        .ids = parts_.ids,
        .base_url = parts_.base_url,
        .rules = rules});
    letters_ = std::make_unique<RecoveryLetters>(RecoveryLetters::Parts{
        .runner = parts_.plane.runner,
        .submit = parts_.submit,
        .principals = parts_.principals,
        .workers = *postmen_,
        .mailer = *mailer_,
        .ids = parts_.ids,
        .base_url = parts_.base_url});
    set_owner_rules({*onboarding_, *bots_, *parts_.plane.loop, default_bot_platform_config});
    parts_.plane.runner.set_folding(parts_.config.audit_fold ? Folding::allowed : Folding::off);
    parts_.plane.runner.set_budget_rule([this](const TenantId& tenant_id) {
        return refused_budget(parts_.config, onboarding_->view(tenant_id).plan);
    });
    return onboarding_->open();
}

void BotPlatform::start() {
    pnl_->settle();
}

void BotPlatform::stop() {
    if (onboarding_) {
        onboarding_->stop();  // Letters that wait go out after the next start.
    }
    if (letters_) {
        letters_->stop();
    }
    if (pnl_) {
        pnl_->shut_down();
    }
    for (WorkerPool* pool :
         {key_workers_.get(), pnl_workers_.get(), hydrators_.get(), postmen_.get()}) {
        if (pool != nullptr) {
            pool->stop();
        }
    }
}

}  // namespace interlock
