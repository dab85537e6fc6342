#include "engine/rules/segment.h"

#include <algorithm>

#include "codec/field_reader.h"
#include "codec/json_list.h"
#include "engine/rules/merkle.h"

namespace interlock {
namespace {

constexpr std::string_view kArtifactPrefix = "\"sha256:";
constexpr std::size_t kDigestDigits = 64;
constexpr std::size_t kFileNameMax = 255;
constexpr std::size_t kBreakRowsRead = kBreakRowsMax;

bool is_digest(std::string_view text) {
    return text.size() == kDigestDigits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_plain_name(std::string_view name) {
    return !name.empty() && name.size() <= kFileNameMax && name.front() != '.' &&
           !name.contains('/');
}

Json encode_found(const BreakFound& found) {
    return Json::object({
        {"seq", found.seq},
        {"at", to_text(found.at)},
        {"bad_seq", found.broken.bad_seq},
        {"reason", found.broken.reason},
        {"detail", found.broken.detail},
        {"good_seq", found.broken.good_seq},
        {"rows", json_list(found.broken.rows)},
        {"accepted_by", found.accepted_by},
    });
}

Result<BreakFound> decode_found(const Json& json) {
    FieldReader in(json);
    BreakFound found;
    found.seq = in.required<std::int64_t>("seq");
    found.at = in.required<Timestamp>("at");
    found.broken.bad_seq = in.required<std::int64_t>("bad_seq");
    found.broken.reason = in.required<std::string>("reason");
    found.broken.detail = in.required<std::string>("detail");
    found.broken.good_seq = in.required<std::int64_t>("good_seq");
    for (const Json& row : in.required_array("rows", kBreakRowsRead)) {
        found.broken.rows.push_back(row.is_string() ? row.as_string() : std::string());
    }
    found.accepted_by = in.required<std::string>("accepted_by");
    in.reject_unknown();
    return in.finish(std::move(found));
}

}  // namespace

Json encode(const ArchivedSegment& segment) {
    Json breaks = Json::array();
    for (const BreakFound& found : segment.breaks) {
        breaks.push(encode_found(found));
    }
    return Json::object({
        {"from", segment.from},
        {"to", segment.to},
        {"hash", segment.hash},
        {"at", to_text(segment.at)},
        {"file", segment.file},
        {"bytes", segment.bytes},
        {"sha256", segment.sha256},
        {"seals", segment.seals},
        {"seals_root", segment.seals_root},
        {"breaks", std::move(breaks)},
        {"adopted", segment.adopted ? Json(*segment.adopted) : Json()},
    });
}

Result<ArchivedSegment> decode_segment(const Json& json) {
    FieldReader in(json);
    ArchivedSegment segment{
        .from = in.required_integer("from", 1, INT64_MAX),
        .to = in.required_integer("to", 1, INT64_MAX),
        .hash = in.required<std::string>("hash"),
        .at = in.required<Timestamp>("at"),
        .file = in.required<std::string>("file"),
        .bytes = in.required_integer("bytes", 1, INT64_MAX),
        .sha256 = in.required<std::string>("sha256"),
        .seals = in.required_integer("seals", 1, INT64_MAX),
        .seals_root = in.required<std::string>("seals_root"),
    };
    for (const Json& item : in.required_array("breaks", kSegmentBreaksMax)) {
        auto found = decode_found(item);
        if (found) {
            segment.breaks.push_back(*std::move(found));
        } else {
            in.add_problem("breaks", found.error().message);
        }
    }
    segment.adopted = in.required_nullable<std::int64_t>("adopted");
    if (in.ok() && segment.to <= segment.from) {
        in.add_problem("to", "must be above from");
    }
    if (in.ok() && !is_plain_name(segment.file)) {
        in.add_problem("file", "must be the name of a file without a folder");
    }
    if (in.ok() &&
        !(is_digest(segment.hash) && is_digest(segment.sha256) && is_digest(segment.seals_root))) {
        in.add_problem("sha256", "hashes must be 64 hex digits");
    }
    in.reject_unknown();
    return in.finish(std::move(segment));
}

const ArchivedSegment* ArchiveState::find(std::int64_t seq) const {
    if (seq >= to()) {
        return nullptr;
    }
    const auto found = std::ranges::find_if(
        segments, [&](const ArchivedSegment& segment) { return seq <= segment.to; });
    return found == segments.end() ? nullptr : &*found;
}

Json encode(const ArchiveState& state) {
    Json segments = Json::array();
    for (const ArchivedSegment& segment : state.segments) {
        segments.push(encode(segment));
    }
    return Json::object({{"segments", std::move(segments)}});
}

Result<ArchiveState> decode_archive(const Json& json) {
    FieldReader in(json);
    ArchiveState state;
    for (const Json& item : in.required_array("segments", kSegmentsMax)) {
        TRY_ASSIGN(ArchivedSegment segment, decode_segment(item));
        const std::int64_t next = state.segments.empty() ? 1 : state.to();
        if (segment.from != next) {
            in.add_problem("segments", "must follow each other");
        }
        state.segments.push_back(std::move(segment));
    }
    in.reject_unknown();
    return in.finish(std::move(state));
}

std::string archive_key(const TenantId& tenant_id) {
    return "archive/" + tenant_id.text();
}

std::string segment_file(const TenantId& tenant_id, std::int64_t from, std::int64_t to) {
    return tenant_id.text() + "-" + std::to_string(from) + "-" + std::to_string(to) + ".jsonl";
}

std::string seals_root(std::span<const ChainHead> seals) {
    std::vector<std::string> leaves;
    leaves.reserve(seals.size());
    for (const ChainHead& seal : seals) {
        leaves.push_back(std::to_string(seal.seq) + " " + seal.hash);
    }
    return merkle_root(leaves);
}

// Without a parse: `artifacts` is the second member of a canonical record, and holds plain texts.
std::vector<std::string> artifacts_of(std::string_view canonical) {
    std::vector<std::string> hashes;
    constexpr std::string_view kMember = "\"artifacts\":[";
    const std::size_t begin = canonical.find(kMember);
    if (begin == std::string_view::npos) {
        return hashes;
    }
    std::string_view rest = canonical.substr(begin + kMember.size());
    rest = rest.substr(0, rest.find(']'));
    std::size_t at = 0;
    while ((at = rest.find(kArtifactPrefix, at)) != std::string_view::npos) {
        at += kArtifactPrefix.size();
        hashes.emplace_back(rest.substr(at, kDigestDigits));
    }
    return hashes;
}

}  // namespace interlock
