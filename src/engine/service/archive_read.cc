#include "engine/service/archive_read.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/sha256_stream.h"
#include "engine/service/export_header.h"

namespace interlock {
namespace {

constexpr std::string_view kRecordLine = R"({"record":)";
constexpr std::string_view kArtifactLine = R"({"artifact":"sha256:)";
constexpr std::string_view kHashMember = R"(,"hash":")";
constexpr std::size_t kDigestChars = 64;

// A record's line as we write it; nothing when it is another.
std::optional<LedgerEntry> entry_of(std::string_view line, const TenantId& tenant_id) {
    const std::size_t tail = kHashMember.size() + kDigestChars + 2;
    if (!line.starts_with(kRecordLine) || line.size() < kRecordLine.size() + tail ||
        !line.substr(line.size() - tail).starts_with(kHashMember)) {
        return std::nullopt;
    }
    const std::string_view record =
        line.substr(kRecordLine.size(), line.size() - tail - kRecordLine.size());
    return LedgerEntry{
        .tenant_id = tenant_id,
        .seq = 0,
        .canonical_json = std::string(record),
        .hash = std::string(line.substr(line.size() - kDigestChars - 2, kDigestChars))};
}

}  // namespace

Result<ArchiveState> load_archive(LedgerStore& store, const TenantId& tenant_id) {
    TRY_ASSIGN(const auto stored, store.load_state(archive_key(tenant_id)));
    const auto json = stored ? parse_json(stored->json) : Result<Json>(Json());
    auto state = json ? decode_archive(*json) : std::unexpected(json.error());
    return stored && state ? *std::move(state) : ArchiveState{};
}

std::unexpected<Error> archived_error(
    const TenantId& tenant_id, std::int64_t seq, const ArchivedSegment& segment) {
    return fail(
        errors::archived,
        "Record " + std::to_string(seq) + " of " + tenant_id.text() + " is archived in " +
            segment.file + " (records " + std::to_string(segment.from) + " to " +
            std::to_string(segment.to) + ").",
        "Put the file into archive/ of the data folder, or name its folder with --archive.");
}

Result<std::optional<SealPoint>> readable_from(LedgerStore& store, const TenantId& tenant_id) {
    const auto first = store.read_ledger(tenant_id, 0, 1);
    if (!first && first.error() != errors::archived) {
        return std::unexpected(first.error());
    }
    TRY_ASSIGN(const ArchiveState archive, load_archive(store, tenant_id));
    const bool has_first = first && !first->empty() && first->front().seq == 1;
    if (has_first || archive.segments.empty()) {
        return std::nullopt;
    }
    const ArchivedSegment& last = archive.segments.back();
    return SealPoint{.seq = last.to, .hash = last.hash, .at = last.at};
}

bool is_whole(std::istream& in, const ArchivedSegment& segment) {
    Sha256Stream digest;
    std::string piece(std::size_t{64} * 1024, '\0');
    std::int64_t bytes = 0;
    while (in) {
        in.read(piece.data(), std::ssize(piece));
        bytes += in.gcount();
        digest.add(std::string_view(piece).substr(0, static_cast<std::size_t>(in.gcount())));
    }
    return !in.bad() && bytes == segment.bytes && digest.finish_hex() == segment.sha256;
}

// An open file with an index: where every so many records begin, and where artifacts are.
class JoinedLedger::Segment {
public:
    static Result<std::unique_ptr<Segment>> read(
        const ArchivedSegment& segment, std::unique_ptr<std::istream> in) {
        std::unique_ptr<Segment> made(new Segment(segment, std::move(in)));
        Sha256Stream digest;
        std::int64_t bytes = 0;
        std::int64_t records = 0;
        std::string line;
        while (read_export_line(*made->in_, line) == LineEnd::newline) {
            if (line.starts_with(kRecordLine) && records++ % kStride == 0) {
                made->places_.push_back(bytes);
            } else if (line.starts_with(kArtifactLine)) {
                made->artifacts_.emplace(line.substr(kArtifactLine.size(), kDigestChars), bytes);
            }
            bytes += std::ssize(line) + 1;
            line += '\n';
            digest.add(line);
        }
        if (bytes != segment.bytes || digest.finish_hex() != segment.sha256 ||
            records != segment.to - segment.from + 1) {
            return fail(
                errors::corrupt_data,
                "The file " + segment.file + " is not the one that was archived.",
                "Find the file whose SHA-256 is " + segment.sha256 + ".");
        }
        return made;
    }

    // Records from `seq` on, at most `count`, to the end of the segment.
    Result<void> append(
        const TenantId& tenant_id,
        std::int64_t seq,
        std::int64_t count,
        std::vector<LedgerEntry>& to) {
        const std::int64_t index = seq - segment_.from;
        std::int64_t at = index / kStride * kStride + segment_.from;
        in_->clear();
        in_->seekg(places_.at(static_cast<std::size_t>(index / kStride)));
        std::string line;
        while (count > 0 && at <= segment_.to) {
            if (read_export_line(*in_, line) != LineEnd::newline) {
                return fail(errors::io_failed, "The file " + segment_.file + " cannot be read.");
            }
            auto entry = entry_of(line, tenant_id);
            if (!entry) {
                continue;  // An artifact.
            }
            if (at >= seq) {
                entry->seq = at;
                to.push_back(*std::move(entry));
                --count;
            }
            ++at;
        }
        return {};
    }

    Result<std::optional<std::string>> artifact(const std::string& hash) {
        const auto found = artifacts_.find(hash);
        if (found == artifacts_.end()) {
            return std::nullopt;
        }
        in_->clear();
        in_->seekg(found->second);
        std::string line;
        (void)read_export_line(*in_, line);
        TRY_ASSIGN(const Json json, parse_json(line));
        const Json* text = json.find("text");
        const Json* base64 = json.find("base64");
        if (text != nullptr && text->is_string()) {
            return text->as_string();
        }
        TRY_ASSIGN(std::string bytes, from_base64(base64 != nullptr ? base64->as_string() : ""));
        return bytes;
    }

private:
    static constexpr std::int64_t kStride = 256;

    Segment(ArchivedSegment segment, std::unique_ptr<std::istream> in)
        : segment_(std::move(segment)), in_(std::move(in)) {}

    const ArchivedSegment segment_;
    std::unique_ptr<std::istream> in_;
    std::vector<std::int64_t> places_;
    std::map<std::string, std::int64_t> artifacts_;
};

JoinedLedger::JoinedLedger(LedgerStore& live, SegmentSource& files, FindArchive find)
    : ForwardingStore(live), files_(files), find_(std::move(find)) {
    if (!find_) {
        find_ = [this](const TenantId& tenant_id) { return load_archive(inner_, tenant_id); };
    }
}

JoinedLedger::~JoinedLedger() = default;

Result<JoinedLedger::Segment*> JoinedLedger::open(const ArchivedSegment& segment) {
    const auto found = open_.find(segment.sha256);
    if (found != open_.end()) {
        return found->second.get();
    }
    TRY_ASSIGN(auto in, files_.open(segment));
    if (!in) {
        return nullptr;
    }
    TRY_ASSIGN(auto read, Segment::read(segment, std::move(in)));
    if (open_.size() >= kOpenMax) {
        open_.clear();
    }
    return (open_[segment.sha256] = std::move(read)).get();
}

Result<std::vector<LedgerEntry>> JoinedLedger::read_ledger(
    const TenantId& tenant_id, std::int64_t after, std::int64_t count_max) {
    TRY_ASSIGN(const ArchiveState state, find_(tenant_id));
    std::vector<LedgerEntry> entries;
    after = std::max<std::int64_t>(after, 0);
    while (std::ssize(entries) < count_max) {
        const std::int64_t room = count_max - std::ssize(entries);
        const ArchivedSegment* segment = state.find(after + 1);
        if (segment == nullptr) {
            TRY_ASSIGN(auto live, inner_.read_ledger(tenant_id, after, room));
            std::ranges::move(live, std::back_inserter(entries));
            return entries;
        }
        TRY_ASSIGN(Segment * opened, open(*segment));
        if (opened == nullptr) {
            if (!entries.empty()) {
                return entries;
            }
            // A seal of `_system` is still there.
            TRY_ASSIGN(auto kept, inner_.read_ledger(tenant_id, after, 1));
            if (count_max == 1 && !kept.empty() && kept.front().seq == after + 1) {
                return kept;
            }
            return archived_error(tenant_id, after + 1, *segment);
        }
        // The seal at the last cut is in the file, too; the live one is what counts.
        TRY(opened->append(tenant_id, after + 1, std::min(room, state.to() - after - 1), entries));
        after = entries.back().seq;
    }
    return entries;
}

Result<std::optional<std::string>> JoinedLedger::read_artifact(
    const TenantId& tenant_id, const std::string& hash) {
    TRY_ASSIGN(auto bytes, inner_.read_artifact(tenant_id, hash));
    if (bytes) {
        return bytes;
    }
    TRY_ASSIGN(const ArchiveState state, find_(tenant_id));
    // Those that are open first: whoever asks is reading in one of them, as a rule.
    for (const bool is_open : {true, false}) {
        for (const ArchivedSegment& segment : state.segments) {
            if (open_.contains(segment.sha256) != is_open) {
                continue;
            }
            TRY_ASSIGN(Segment * opened, open(segment));
            if (opened != nullptr) {
                TRY_ASSIGN(bytes, opened->artifact(hash));
            }
            if (bytes) {
                return bytes;
            }
        }
    }
    return std::nullopt;
}

}  // namespace interlock
