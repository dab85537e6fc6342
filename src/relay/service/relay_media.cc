#include "relay/service/relay_media.h"

#include <algorithm>
#include <set>

#include "base/errors.h"
#include "base/log.h"
#include "base/outbound_url.h"
#include "relay/service/relay_pieces.h"

namespace interlock {
namespace {

constexpr std::string_view kMediaPath = "/relay/media/";

// The id when a URL or path is one of /relay/media; empty otherwise.
std::string_view own_id_in(std::string_view target) {
    target = target.substr(0, target.find_first_of("?#"));
    const std::size_t at = target.rfind(kMediaPath);
    if (at == std::string_view::npos) {
        return {};
    }
    const std::string_view id = target.substr(at + kMediaPath.size());
    return is_media_id(id) ? id : std::string_view();
}

std::unexpected<Error> no_such_media() {
    return fail(errors::not_found, "there is no such media, or it has ended");
}

}  // namespace

// Its bytes count as long as it is there.
struct RelayMedia::Upload {
    ~Upload() { in_flight->fetch_sub(counted); }

    RelayCaller caller;
    MediaUpload upload;
    StoreDone done;
    std::string id;
    std::shared_ptr<std::atomic<std::size_t>> in_flight;
    std::size_t counted = 0;
};

Result<void> RelayMedia::load(Timestamp now) {
    std::string after;
    while (true) {
        TRY_ASSIGN(
            const auto page,
            parts_.state.store().read_rows(MediaRow::kKind, "", after, kRelayRowsPage));
        for (const RelayRow& stored : page) {
            TRY_ASSIGN(MediaRow row, decode_row<MediaRow>(stored.json));
            after = stored.key;
            used_[row.instance_id].bytes += row.bytes;
            used_[row.instance_id].files += 1;
            total_bytes_ += row.bytes;
            held_[stored.key] = Held{std::move(row), stored.expires_at.value_or(now), true};
        }
        if (page.size() < static_cast<std::size_t>(kRelayRowsPage)) {
            break;
        }
    }
    TRY_ASSIGN(const std::vector<std::string> files, parts_.folder.list());
    for (const std::string& id : files) {
        if (!held_.contains(id)) {
            TRY(parts_.folder.remove(id));  // A crash came before its row.
        }
    }
    return {};
}

Result<std::string> RelayMedia::reserve(
    const RelayCaller& caller, const MediaUpload& upload, Timestamp now) {
    const auto bytes = static_cast<std::int64_t>(upload.bytes.size());
    if (total_bytes_ + bytes > kMediaTotalBytesMax) {
        return fail(errors::overloaded, "there is no room for media at present");
    }
    Use& use = used_[caller.instance_id];
    if (use.bytes + bytes > kMediaInstanceBytesMax || use.files >= kMediaInstanceFilesMax) {
        return fail(
            errors::rate_limited,
            "this instance keeps as much media as it may; it ends an hour after its upload");
    }
    const std::string id = parts_.ids.new_id("med");
    MediaRow row{
        .tenant_id = caller.tenant_id,
        .instance_id = caller.instance_id,
        .content_type = upload.content_type,
        .filename = upload.filename,
        .bytes = bytes};
    use.bytes += bytes;
    use.files += 1;
    total_bytes_ += bytes;
    held_[id] = Held{std::move(row), now + kMediaLife, false};
    return id;
}

void RelayMedia::release(const std::string& id) {
    const auto found = held_.find(id);
    if (found == held_.end()) {
        return;
    }
    const MediaRow& row = found->second.row;
    const auto use = used_.find(row.instance_id);
    use->second.bytes -= row.bytes;
    use->second.files -= 1;
    total_bytes_ -= row.bytes;
    if (use->second.files == 0) {
        used_.erase(use);
    }
    held_.erase(found);
}

void RelayMedia::store(const RelayCaller& caller, MediaUpload upload, StoreDone done) {
    if (upload.bytes.size() > kMediaBytesMax) {
        done(fail(errors::body_too_large, "media is larger than 25 MiB"));
        return;
    }
    if (upload.bytes.empty()) {
        done(fail(errors::invalid_request, "the body is empty"));
        return;
    }
    const std::size_t bytes = upload.bytes.size();
    const auto job =
        std::make_shared<Upload>(caller, std::move(upload), done, std::string(), in_flight_, bytes);
    if (in_flight_->fetch_add(bytes) + bytes > kMediaInFlightBytesMax) {
        done(fail(errors::overloaded, "too many uploads wait"));
        return;
    }
    const bool is_taken = parts_.lane.submit([this, job](RelayTurn& turn) {
        Result<std::string> id = reserve(job->caller, job->upload, turn.now());
        if (!id) {
            job->done(std::unexpected(id.error()));
            return;
        }
        job->id = *std::move(id);
        if (!parts_.workers.try_run([this, job] { write(job); })) {
            release(job->id);
            job->done(fail(errors::overloaded, "too many uploads wait"));
        }
    });
    if (!is_taken) {
        done(fail(errors::overloaded, "the relay takes no work at present"));
    }
}

// On a worker.
void RelayMedia::write(const std::shared_ptr<Upload>& upload) {
    const Result<void> written = parts_.folder.write(upload->id, upload->upload.bytes);
    const bool is_taken = parts_.lane.submit_internal([this, upload, written](RelayTurn& turn) {
        if (written) {
            record(turn, upload);
            return;
        }
        release(upload->id);
        upload->done(std::unexpected(written.error()));
    });
    if (!is_taken) {
        upload->done(fail(errors::unavailable, "the relay is stopping"));
    }
}

void RelayMedia::record(RelayTurn& turn, const std::shared_ptr<Upload>& upload) {
    Held& held = held_.at(upload->id);
    held.is_ready = true;
    parts_.state.media.put(turn, upload->id, held.row, held.expires_at);
    const StoredMedia stored{upload->id, held.row.bytes};
    turn.after([done = upload->done, stored](bool is_committed) {
        if (is_committed) {
            done(stored);
        } else {
            done(fail(errors::unavailable, "the relay's store failed"));
        }
    });
}

const RelayMedia::Held* RelayMedia::find_for(
    const RelayCaller& caller, const std::string& id, Timestamp now) const {
    const auto found = held_.find(id);
    const bool is_theirs = found != held_.end() && found->second.is_ready &&
                           found->second.row.tenant_id == caller.tenant_id &&
                           now < found->second.expires_at;
    return is_theirs ? &found->second : nullptr;
}

void RelayMedia::fetch(const RelayCaller& caller, const std::string& id, FetchDone done) {
    const bool is_taken = parts_.lane.submit([this, caller, id, done](RelayTurn& turn) {
        const Held* const held = find_for(caller, id, turn.now());
        if (held == nullptr) {
            done(no_such_media());
            return;
        }
        const auto read_it = [this, id, done, row = held->row] {
            Result<std::string> bytes = parts_.folder.read(id);
            if (!bytes) {
                done(no_such_media());
                return;
            }
            done(MediaUpload{row.content_type, row.filename, *std::move(bytes)});
        };
        if (!parts_.workers.try_run(read_it)) {
            done(fail(errors::overloaded, "too many downloads wait"));
        }
    });
    if (!is_taken) {
        done(fail(errors::overloaded, "the relay takes no work at present"));
    }
}

std::expected<MediaSource, OutboundResult> RelayMedia::resolve(
    const RelayCaller& caller, const std::string& url, Timestamp now) const {
    const bool is_path = url.starts_with('/');
    const bool is_own = is_path || parse_outbound_url(url).has_value();
    const std::string_view id = is_own ? own_id_in(url) : std::string_view();
    if (!id.empty()) {
        const Held* const held = find_for(caller, std::string(id), now);
        if (held == nullptr || held->row.instance_id != caller.instance_id) {
            return std::unexpected(
                outbound_failure("not_found", "there is no such media, or it has ended"));
        }
        return MediaSource{std::string(id), held->row.content_type, held->row.filename};
    }
    // The platform fetches it, not we: its host is looked up there.
    if (is_path || !judge_outbound_url(url, {})) {
        return std::unexpected(outbound_failure(
            "invalid_request",
            "source_url must be a public http or https address, or media of this instance"));
    }
    return MediaSource{};
}

void RelayMedia::sweep(RelayTurn& turn) {
    std::vector<std::string> ended;
    for (const auto& [id, held] : held_) {
        if (held.is_ready && held.expires_at <= turn.now() && ended.size() < kMediaSweepMax) {
            ended.push_back(id);
        }
    }
    for (const std::string& id : ended) {
        const auto remove = [&folder = parts_.folder, id] {
            if (const auto removed = folder.remove(id); !removed) {
                log_warn("relay_media_not_removed", {{"message", removed.error().message}});
            }
        };
        if (!parts_.workers.try_run(remove)) {
            return;  // Busy; the next sweep goes on.
        }
        release(id);
        parts_.state.media.erase(turn, id);
    }
}

}  // namespace interlock
