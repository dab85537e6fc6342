// The whole server without threads, sockets or a disk: operations, HTTP face, services, memory
// store and a paper venue with a market that stands still until told, or a synthetic one of nine
// symbols, driven request by request. Contract cases and the authorisation matrix run against it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "app/mcp/mcp_http.h"
#include "app/mcp/operation_catalog.h"
#include "app/plane/restore_service.h"
#include "app/plane/venue_watch.h"
#include "bots/service/owner_rules.h"
#include "engine/service/witnessed_heads.h"
#include "host/face/http_face.h"
#include "host/face/operation.h"
#include "host/service/backup_service.h"
#include "host/service/metrics.h"
#include "host/service/notice_service.h"
#include "host/service/principal_service.h"
#include "host/service/recovery_letters.h"
#include "loop/service/venue_sink.h"
#include "net/http_message.h"
#include "relay_host.h"
#include "testing/fake_mailer.h"
#include "testing/fake_webhooks.h"
#include "testing/memory_pnl_log.h"
#include "testing/plane_world.h"
#include "testing/vault_desk.h"
#include "venues/paper/paper_keys.h"
#include "venues/paper/paper_venue.h"

namespace interlock {

class ApiWorld {
public:
    // The paper account of a tenant opens with 10,000 USDT and may trade ABCUSDT, which stands at
    // 99.99 to 100.01.
    explicit ApiWorld(PlaneConfig config = default_config());
    static PlaneConfig default_config();
    // On a market of its own; its symbols are the universe.
    ApiWorld(PlaneConfig config, std::unique_ptr<MarketModel> market);

    // Everything in memory is made anew over the same store, flag and sink.
    void restart();

    // Who a request comes from. Credentials are made through the API when the world is built:
    //   agent, planner, reader, supervisor, foreign_agent, revoked_agent, human, second_human,
    //   foreign_human, operator, bad_key, nobody.
    struct Sent {
        std::string as = "nobody";
        std::string method = "GET";
        std::string path;
        std::string body = {};
        std::vector<HttpHeader> headers = {};
    };
    // The response; CHECKs that there was exactly one. Requests that wait for an effect answer
    // after run_effects(), through `last_response`.
    HttpResponse send(const Sent& request);
    Json send_json(const Sent& request);
    std::shared_ptr<std::optional<HttpResponse>> send_later(const Sent& request);

    const OperationTable& table() const { return *table_; }
    PlaneWorld& plane_world() { return *world_; }
    PaperVenue& paper() { return *paper_; }
    BotService& bots() { return *bots_; }
    RelayHost& relay() { return relay_; }
    FakeKeyCheck real_exchange;  // What the exchange "live" says of a key.
    FakeMailer mailer;           // Outlives restarts, as people's letters do.
    FakeMailer notice_mailer;    // The same of letters that are notices.
    FakeWebhooks webhooks;
    // Moves time, with it the market, and fires the timers that are due.
    void advance(Duration span);
    // From the next market step on; the clock moves to it.
    void set_market(MarketView view);
    // The venue is looked at once, as the server's watch does.
    void watch() { watch_->poll(); }
    // Second by second: market, timers, effects and watch, as a server that is left alone.
    void pass(Duration span);
    // A credential of the world's people, or one that a test made, by the name `as` takes.
    const std::string& credential(const std::string& as) const { return credentials_.at(as); }
    void know(const std::string& as, const std::string& token) { credentials_[as] = token; }
    static std::vector<std::string> principals();

private:
    PlaneVenues open_venues(PlaneWorld& world);
    void build();
    void build_notices();
    void build_bots();
    void build_table();
    void build_faces();
    void hold_answers_to_their_schemas();
    void populate();
    void add_credential(HttpRequest& request, const std::string& as) const;
    std::string invite_and_activate(
        const std::string& tenant, const std::string& email, bool first);

    std::function<void(std::int64_t, MarketView)> write_market_;  // From a step on.
    std::unique_ptr<MarketModel> market_;                         // Until the venue has it.
    std::unique_ptr<PaperVenue> paper_;
    FakeMasterKeys masters_;
    MemoryPnlLog pnl_log_;
    std::unique_ptr<PaperKeys> paper_keys_;
    std::unique_ptr<VenueSink> venue_sink_;
    std::unique_ptr<PlaneWorld> world_;
    std::unique_ptr<VenueWatch> watch_;
    std::unique_ptr<PasswordPool> passwords_;
    std::unique_ptr<WorkerPool> workers_;
    std::unique_ptr<Metrics> metrics_;
    std::unique_ptr<PrincipalService> principals_;
    std::unique_ptr<BackupService> backups_;
    std::unique_ptr<RestoreService> restored_;
    std::unique_ptr<OnboardingService> onboarding_;
    std::unique_ptr<RecoveryLetters> letters_;
    std::unique_ptr<NoticeService> notices_;
    std::unique_ptr<VaultService> vault_;
    std::unique_ptr<PnlJobs> pnl_;
    std::unique_ptr<BotService> bots_;
    std::unique_ptr<WitnessedHeads> witnessed_;
    RelayHost relay_;
    std::unique_ptr<OperationTable> table_;
    std::unique_ptr<HttpFace> face_;
    // Of MCP's sessions, so that a call over MCP finds the ids that it would over HTTP.
    std::unique_ptr<FakeIdSource> session_ids_;
    std::unique_ptr<OperationCatalog> catalog_;
    std::unique_ptr<McpServer> mcp_server_;
    std::unique_ptr<McpHttp> mcp_;
    int faces_built_ = 0;
    std::map<std::string, std::string> credentials_;  // Name → bearer token.
};

}  // namespace interlock
