// Files on their way between gateways and chats (docs/contracts/relay-connector.md#media): a
// gateway uploads one and names it in send_media, or fetches one that an event names. A file lives
// for an hour.
//
// What is known of a file is on the lane; its bytes are written and read by the workers. Only the
// tenant that has a file can fetch it, only its own instance can send it, and both are told nothing
// about others.
#pragma once

#include <atomic>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/ports/id_source.h"
#include "engine/service/worker_pool.h"
#include "relay/ports/media_folder.h"
#include "relay/service/relay_socket.h"
#include "relay/service/relay_state.h"

namespace interlock {

inline constexpr Duration kMediaLife = Duration::of_hours(1);
inline constexpr std::int64_t kMediaInstanceBytesMax = std::int64_t{200} * 1024 * 1024;
inline constexpr std::size_t kMediaInstanceFilesMax = 256;
inline constexpr std::int64_t kMediaTotalBytesMax = std::int64_t{4} * 1024 * 1024 * 1024;
// Uploads in memory, on their way to the disk.
inline constexpr std::size_t kMediaInFlightBytesMax = std::size_t{256} * 1024 * 1024;
inline constexpr std::size_t kMediaSweepMax = 64;  // Files removed in one second.

struct MediaUpload {
    std::string content_type;
    std::string filename;
    std::string bytes;
};
struct StoredMedia {
    std::string id;
    std::int64_t bytes = 0;
};

// Where send_media takes its bytes from: an id of ours, or a URL that the platform fetches.
struct MediaSource {
    std::string media_id;
    std::string content_type;
    std::string filename;
};

class RelayMedia {
public:
    // All of these outlive it.
    struct Parts {
        RelayLane& lane;
        RelayState& state;
        MediaFolder& folder;
        WorkerPool& workers;
        IdSource& ids;
    };
    explicit RelayMedia(Parts parts) : parts_(parts) {}

    // Learns what is there and removes files that no row speaks of. Before the lane starts.
    Result<void> load(Timestamp now);

    // Any thread; `done` is called once, from any thread. `body_too_large` beyond a file's bound,
    // `rate_limited` beyond the instance's, `overloaded` when we have no room.
    using StoreDone = std::function<void(Result<StoredMedia>)>;
    void store(const RelayCaller& caller, MediaUpload upload, StoreDone done);
    // `not_found` for what is not there, has ended or is another tenant's.
    using FetchDone = std::function<void(Result<MediaUpload>)>;
    void fetch(const RelayCaller& caller, const std::string& id, FetchDone done);

    // Lane only.
    std::expected<MediaSource, OutboundResult> resolve(
        const RelayCaller& caller, const std::string& url, Timestamp now) const;
    void sweep(RelayTurn& turn);  // Once in a while: removes what has ended.
    std::size_t held() const { return held_.size(); }

    // Any thread.
    Result<std::string> read(const std::string& id) const { return parts_.folder.read(id); }

private:
    struct Held {
        MediaRow row;
        Timestamp expires_at;
        bool is_ready = false;  // Its bytes are there.
    };
    struct Upload;

    Result<std::string> reserve(
        const RelayCaller& caller, const MediaUpload& upload, Timestamp now);
    void release(const std::string& id);
    void write(const std::shared_ptr<Upload>& upload);
    void record(RelayTurn& turn, const std::shared_ptr<Upload>& upload);
    const Held* find_for(const RelayCaller& caller, const std::string& id, Timestamp now) const;

    struct Use {
        std::int64_t bytes = 0;
        std::size_t files = 0;
    };
    Parts parts_;
    std::shared_ptr<std::atomic<std::size_t>> in_flight_ =
        std::make_shared<std::atomic<std::size_t>>(0);
    std::map<std::string, Held> held_;  // By id; bounded by the totals.
    std::map<std::string, Use> used_;   // By instance.
    std::int64_t total_bytes_ = 0;
};

}  // namespace interlock
