// Files of messages that only the bot itself can fetch (Telegram, WeCom, Twilio). The message is in
// its instance's buffer already, with the platform's names of its files; they are fetched when its
// gateway is there to take it, kept as media of the instance for an hour, and named in the event by
// addresses of our own.
//
// A message waits for its files at most kFilesPatience, and everything behind it in the buffer
// waits with it: the order of an instance does not change. Then it goes out with a line that tells
// what is missing. Lane only, but for what runs on the fetchers.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "relay/ports/chat_platform.h"
#include "relay/rules/waiting_files.h"
#include "relay/service/relay_media.h"

namespace interlock {

inline constexpr Duration kFilesPatience = Duration::of_seconds(45);
inline constexpr Duration kFileCallTimeout = Duration::of_seconds(20);
// Messages of one instance whose files are being fetched; so nobody takes all fetchers.
inline constexpr std::size_t kFilesRunningPerInstanceMax = 2;
// Messages of one instance that are fetched or being fetched and not acknowledged.
inline constexpr std::size_t kFilesAheadMax = 16;
// Fetched files must be there so much longer when they are told; else they are fetched again.
inline constexpr Duration kFilesLifeMin = Duration::of_minutes(10);

class RelayFiles {
public:
    // All of these outlive it.
    struct Parts {
        RelayLane& lane;
        RelayMedia& media;
        // Null: no such bot here. Any thread.
        std::function<ChatPlatform*(const BotKey&)> platform;
        // Runs something that may block for long, elsewhere; false: too busy.
        std::function<bool(std::function<void()>)> run_blocking;
        // The instance's buffer should be looked at again.
        std::function<void(RelayTurn&, const std::string& instance_id)> look_again;
    };
    explicit RelayFiles(Parts parts) : parts_(std::move(parts)) {}

    struct Entry {
        TenantId tenant_id;
        std::string instance_id;
        std::int64_t seq = 0;
    };
    // What a gateway gets of a buffer's text that has waiting files. Nothing: not yet; the instance
    // will be looked at again. `media_base` is where this gateway reaches us.
    std::optional<std::string> text_for(
        const Entry& entry, std::string_view stored, std::string_view media_base, Timestamp now);
    // Begins what will soon be asked for, where there is room.
    void prefetch(const Entry& entry, std::string_view stored, Timestamp now);
    // The entry has gone, or all of an instance.
    void forget(const std::string& instance_id, std::int64_t seq);
    void forget(const std::string& instance_id);

    // The same where nobody can fetch anything.
    static std::string text_without_files(std::string_view stored);

    struct Counters {
        std::int64_t fetched = 0;
        std::int64_t missing = 0;  // Refused, too large, gone, or no room for it.
        std::int64_t late = 0;     // Messages that went out before their files were there.
    };
    const Counters& counters() const { return counters_; }
    std::size_t running() const;

private:
    struct Stored {
        std::string media_id;
        std::string mime;
        std::string filename;
        std::int64_t bytes = 0;
        std::string missing;
    };
    // One message's files. What the fetcher reads does not change; `is_over` tells it to stop.
    struct Job {
        RelayCaller caller;
        WaitingFiles message;
        Timestamp begun_at;
        std::atomic<bool> is_over{false};
        // Lane only.
        bool is_running = false;
        bool is_late = false;
        std::size_t left = 0;
        std::vector<Stored> stored;
    };
    using JobPtr = std::shared_ptr<Job>;
    using Jobs = std::map<std::int64_t, JobPtr>;

    JobPtr job_for(const Entry& entry, std::string_view stored, Timestamp now);
    void begin(const JobPtr& job);
    bool may_run(const std::string& instance_id) const;
    void end(const JobPtr& job);
    void fetch(const JobPtr& job);
    void keep(const JobPtr& job, std::size_t index, Result<DownloadedFile> file);
    void settle(const JobPtr& job, std::size_t index, Stored stored);
    std::string render(const Job& job, std::string_view media_base) const;

    Parts parts_;
    std::map<std::string, Jobs> jobs_;            // By instance and number.
    std::map<std::string, std::size_t> running_;  // By instance.
    Counters counters_;
};

}  // namespace interlock
