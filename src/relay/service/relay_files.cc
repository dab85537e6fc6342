#include "relay/service/relay_files.h"

#include <algorithm>

#include "base/errors.h"
#include "base/log.h"

namespace interlock {
namespace {

constexpr std::string_view kMediaPath = "/relay/media/";
constexpr std::string_view kLate = "It did not arrive in time.";

// For people: what went wrong, without a word of the platform's.
std::string missing_sentence(const Error& error) {
    if (error == errors::body_too_large) {
        return "It is larger than may be fetched.";
    }
    if (error == errors::not_found) {
        return "The platform has it no more.";
    }
    if (error == errors::rate_limited || error == errors::overloaded) {
        return "There is no room for more files at present.";
    }
    return "It could not be fetched.";
}

}  // namespace

std::size_t RelayFiles::running() const {
    std::size_t sum = 0;
    for (const auto& [instance_id, count] : running_) {
        sum += count;
    }
    return sum;
}

std::string RelayFiles::text_without_files(std::string_view stored) {
    auto message = decode_waiting(stored);
    if (!message) {
        // Nothing but a fault of ours writes such a text; the gateway still has to get past it.
        log_error("relay_files_unreadable", {{"message", message.error().message}});
        return to_text(encode(MessageEvent{}));
    }
    return to_text(encode(with_fates(*std::move(message), {})));
}

RelayFiles::JobPtr RelayFiles::job_for(const Entry& entry, std::string_view stored, Timestamp now) {
    Jobs& jobs = jobs_[entry.instance_id];
    if (const auto found = jobs.find(entry.seq); found != jobs.end()) {
        const JobPtr& job = found->second;
        const bool has_ended = job->left == 0 && now >= job->begun_at + kMediaLife - kFilesLifeMin;
        if (job->is_running || !(has_ended || job->is_late)) {
            return job;
        }
        // An earlier socket was given addresses that end soon, or the files came too late for it.
        jobs.erase(found);
    }
    auto message = decode_waiting(stored);
    if (!message) {
        return nullptr;
    }
    auto job = std::make_shared<Job>();
    job->caller = {entry.tenant_id, entry.instance_id, {}};
    job->message = *std::move(message);
    job->begun_at = now;
    job->left = std::min(job->message.files.size(), kFilesPerMessageMax);
    job->stored.resize(job->message.files.size());
    for (std::size_t i = job->left; i < job->stored.size(); ++i) {
        job->stored[i].missing = "A message has too many files.";
    }
    jobs.emplace(entry.seq, job);
    return job;
}

void RelayFiles::begin(const JobPtr& job) {
    const std::string& instance_id = job->caller.instance_id;
    if (job->is_running || job->left == 0 || !may_run(instance_id)) {
        return;
    }
    job->is_running = true;
    ++running_[instance_id];
    if (!parts_.run_blocking([this, job] { fetch(job); })) {
        end(job);  // Tried again with the next look at the buffer.
    }
}

bool RelayFiles::may_run(const std::string& instance_id) const {
    const auto running = running_.find(instance_id);
    return running == running_.end() || running->second < kFilesRunningPerInstanceMax;
}

void RelayFiles::end(const JobPtr& job) {
    job->is_running = false;
    const auto running = running_.find(job->caller.instance_id);
    if (--running->second == 0) {
        running_.erase(running);
    }
}

// On a fetcher.
void RelayFiles::fetch(const JobPtr& job) {
    ChatPlatform* const platform = parts_.platform({job->message.platform, job->message.bot_id});
    const std::size_t count = std::min(job->message.files.size(), kFilesPerMessageMax);
    for (std::size_t i = 0; i < count; ++i) {
        if (job->is_over.load() || platform == nullptr) {
            keep(job, i, fail(errors::unavailable, "nobody waits for it, or the bot is gone"));
            continue;
        }
        const PlatformFile& file = job->message.files[i];
        if (file.size.value_or(0) > static_cast<std::int64_t>(kMediaBytesMax)) {
            keep(job, i, fail(errors::body_too_large, "the platform says that it is too large"));
            continue;
        }
        keep(
            job,
            i,
            platform->download(
                {.file = file, .bytes_max = kMediaBytesMax, .timeout = kFileCallTimeout}));
    }
}

void RelayFiles::keep(const JobPtr& job, std::size_t index, Result<DownloadedFile> file) {
    const auto tell = [this, job, index](Stored stored) {
        parts_.lane.submit_internal(
            [this, job, index, stored = std::move(stored)](RelayTurn& turn) {
                settle(job, index, stored);
                if (job->left == 0) {
                    parts_.look_again(turn, job->caller.instance_id);
                }
            });
    };
    if (!file) {
        Stored missing;
        missing.missing = missing_sentence(file.error());
        tell(std::move(missing));
        return;
    }
    const PlatformFile& asked = job->message.files[index];
    Stored stored;
    stored.mime = safe_media_type(asked.mime.empty() ? file->content_type : asked.mime);
    stored.filename = safe_file_name(asked.filename.empty() ? file->filename : asked.filename);
    MediaUpload upload{
        .content_type = stored.mime, .filename = stored.filename, .bytes = std::move(file->bytes)};
    parts_.media.store(
        job->caller,
        std::move(upload),
        [tell, stored = std::move(stored)](const Result<StoredMedia>& kept) mutable {
            if (kept) {
                stored.media_id = kept->id;
                stored.bytes = kept->bytes;
            } else {
                stored.missing = missing_sentence(kept.error());
            }
            tell(std::move(stored));
        });
}

void RelayFiles::settle(const JobPtr& job, std::size_t index, Stored stored) {
    ++(stored.media_id.empty() ? counters_.missing : counters_.fetched);
    job->stored[index] = std::move(stored);
    if (--job->left == 0) {
        end(job);
    }
}

std::string RelayFiles::render(const Job& job, std::string_view media_base) const {
    std::vector<FileFate> fates;
    for (const Stored& stored : job.stored) {
        FileFate fate;
        if (!stored.media_id.empty()) {
            fate.url = std::string(media_base) + std::string(kMediaPath) + stored.media_id;
            fate.mime = stored.mime;
            fate.filename = stored.filename;
            fate.bytes = stored.bytes;
        } else {
            fate.missing = stored.missing.empty() ? std::string(kLate) : stored.missing;
        }
        fates.push_back(std::move(fate));
    }
    return to_text(encode(with_fates(job.message, fates)));
}

std::optional<std::string> RelayFiles::text_for(
    const Entry& entry, std::string_view stored, std::string_view media_base, Timestamp now) {
    const JobPtr job = job_for(entry, stored, now);
    if (job == nullptr) {
        return text_without_files(stored);
    }
    if (job->left > 0 && now < job->begun_at + kFilesPatience) {
        begin(job);
        return std::nullopt;
    }
    if (job->left > 0 && !std::exchange(job->is_late, true)) {
        job->is_over.store(true);
        ++counters_.late;
    }
    return render(*job, media_base);
}

void RelayFiles::prefetch(const Entry& entry, std::string_view stored, Timestamp now) {
    const auto held = jobs_.find(entry.instance_id);
    const bool is_far_ahead = held != jobs_.end() && held->second.size() >= kFilesAheadMax;
    if (is_far_ahead || !may_run(entry.instance_id)) {
        return;
    }
    if (const JobPtr job = job_for(entry, stored, now)) {
        begin(job);
    }
}

void RelayFiles::forget(const std::string& instance_id, std::int64_t seq) {
    const auto found = jobs_.find(instance_id);
    if (found == jobs_.end()) {
        return;
    }
    if (const auto job = found->second.find(seq); job != found->second.end()) {
        job->second->is_over.store(true);
        found->second.erase(job);
    }
    if (found->second.empty()) {
        jobs_.erase(found);
    }
}

void RelayFiles::forget(const std::string& instance_id) {
    if (const auto found = jobs_.find(instance_id); found != jobs_.end()) {
        for (const auto& [seq, job] : found->second) {
            job->is_over.store(true);
        }
        jobs_.erase(found);
    }
}

}  // namespace interlock
