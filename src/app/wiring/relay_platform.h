// Everything of the relay that the server owns: its database, its bots, the
// files of gateways, the wake calls, the plane, and the faces on the network. Built once, in order.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "app/plane/plane.h"
#include "app/plane/restore_service.h"
#include "app/wiring/config.h"
#include "app/wiring/relay_bots.h"
#include "engine/service/turn_gate.h"
#include "engine/system/file_head_mirror.h"
#include "host/ports/master_keys.h"
#include "relay/face/relay_face.h"
#include "relay/face/relay_http.h"
#include "relay/face/relay_media_http.h"
#include "relay/files/file_media_folder.h"
#include "relay/memory/local_relay_bus.h"
#include "relay/service/relay_chains.h"
#include "relay/service/relay_plane.h"
#include "relay/sqlite/sqlite_relay_store.h"
#include "relay/wake/http_wake_caller.h"

namespace interlock {

class RelayPlatform {
public:
    struct Parts {
        Clock& clock;
        IdSource& ids;
        const Config& config;
        std::string data_folder;
        SealKeys& seal_keys;                                 // Sign the relay's chains, too.
        RelayChains::Known known;                            // Of the ledger.
        std::function<bool(const TenantId&)> tenant_exists;  // Any thread.
        // Restored from a backup: while no human has looked, nothing goes to anybody's chat, and
        // codes of before stay void.
        RestoreService::Verdict restored = {};
        // Stops the tenant of a chain that does not hold and has that recorded in its ledger; or
        // the relay does not open. Called before the chain goes on behind its break, so that no
        // death in between leaves a break that no ledger knows.
        std::function<Result<void>(const ChainReport&)> on_break;
    };
    static Result<std::unique_ptr<RelayPlatform>> open(Parts parts);
    ~RelayPlatform();

    void start();
    // After the network: no socket or webhook comes in any more.
    void stop();

    // Whether a request is the relay's own; those never reach the operation table.
    bool takes(const HttpRequest& request) const;
    HeadVerdict judge(const HttpRequest& head) const;
    void handle(HttpRequest request, HttpResponderPtr responder);

    RelayPlane& plane() { return *plane_; }
    ConsolePlatform* console() { return bots_.console; }
    const SqliteRelayStore& store() const { return *store_; }
    std::vector<HeadLine> heads() const { return chains_->heads(); }  // Any thread.
    // From now on the ledger takes the relay's critical records as alerts. Before start().
    void attach(const SubmitTurn& submit);
    // Engine thread, each round. A store that failed may have failed because somebody wrote into a
    // chain: the chains are walked once more, and what does not hold is treated as at start.
    void duty(Plane& ledger);

private:
    explicit RelayPlatform(Parts parts) : parts_(std::move(parts)) {}
    Result<void> build();
    Result<void> check_chains();
    Result<std::vector<ChainReport>> walk_again();
    // Has each break recorded and its tenant stopped.
    Result<void> stop_for(const std::vector<ChainReport>& reports);
    Result<void> open_plane();  // Or leaves it shut, and says why.

    Parts parts_;
    std::unique_ptr<SqliteRelayStore> store_;
    LocalRelayBus bus_;
    std::unique_ptr<MasterKeys> masters_;
    std::optional<FileMediaFolder> media_;
    std::unique_ptr<HttpWakeCaller> waker_;
    RelayBots bots_;
    std::unique_ptr<RelayPlane> plane_;
    std::optional<FileHeadMirror> heads_;
    std::unique_ptr<RelayChains> chains_;
    std::unique_ptr<RelayFace> face_;
    std::unique_ptr<RelayHttp> http_;
    std::unique_ptr<RelayMediaHttp> media_http_;
    // How far the second walk is; between two of these one thread alone has what it is about.
    enum class Walk { not_needed, under_way, done, told };
    std::atomic<Walk> walk_{Walk::not_needed};
    std::vector<ChainReport> found_;
    bool is_shut_ = false;  // The master key is not at hand, or a restore is not confirmed.
};

}  // namespace interlock
