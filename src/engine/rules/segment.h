// Segments: old records that left the database in a file of their own (ADR 0025).
//
// A segment begins with record 1 or with the seal at which the one before it ended, and ends with a
// seal. The row `archive/<tenant>` lists the segments of a chain; it is a protected row, so that
// nothing can be taken out of a chain without a record that says so.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rules/chain_verifier.h"

namespace interlock {

// Names the protected rows of the moment in an artifact, for walks that begin behind a cut.
inline constexpr std::string_view kSegmentEvent = "SEGMENT_ARCHIVED";

inline constexpr std::int64_t kSegmentRecordsMax = 200'000;
inline constexpr std::size_t kSegmentsMax = 4096;  // Of one chain.
inline constexpr std::size_t kSegmentBreaksMax = 100;
// What is younger may still be asked for by whoever decides: the least that is kept.
inline constexpr Duration kArchiveKeepMin = Duration::of_days(1);

struct ArchivedSegment {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::string hash;  // Of record `to`.
    Timestamp at;      // Of that record.
    std::string file;  // Its name, without a folder.
    std::int64_t bytes = 0;
    std::string sha256;
    std::int64_t seals = 0;  // Indexed ones in [from, to].
    std::string seals_root;
    std::vector<BreakFound> breaks = {};
    std::optional<std::int64_t> adopted = std::nullopt;
};
Json encode(const ArchivedSegment& segment);
Result<ArchivedSegment> decode_segment(const Json& json);

// The row of a chain.
struct ArchiveState {
    std::vector<ArchivedSegment> segments;
    // The seal with which the live chain begins; 0: it begins with record 1.
    std::int64_t to() const { return segments.empty() ? 0 : segments.back().to; }
    // In which a record lies that is in the database no longer; null: it is there.
    const ArchivedSegment* find(std::int64_t seq) const;
};
Json encode(const ArchiveState& state);
Result<ArchiveState> decode_archive(const Json& json);
std::string archive_key(const TenantId& tenant_id);

// The name of a segment's file.
std::string segment_file(const TenantId& tenant_id, std::int64_t from, std::int64_t to);

// The Merkle root over "<seq> <hash>" of the seals.
std::string seals_root(std::span<const ChainHead> seals);

// What a canonical record refers to: hashes without "sha256:".
std::vector<std::string> artifacts_of(std::string_view canonical);

}  // namespace interlock
