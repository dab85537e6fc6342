#include "engine/service/export_header.h"

#include <array>

#include "base/bytes.h"
#include "codec/field_reader.h"
#include "engine/service/head_proofs.h"

namespace interlock {
namespace {

constexpr std::size_t kPublicKeyBytes = 32;
constexpr std::size_t kReadBytes = std::size_t{64} * 1024;

}  // namespace

Json encode(const ExportHeader& header) {
    Json json = Json::object({
        {"interlock_export", header.segment ? kSegmentVersion : kExportVersion},
        {"tenant_id", header.tenant_id.text()},
        {"from_seq", header.segment ? header.segment->from : 1},
    });
    if (header.segment) {
        json.set("to_seq", header.segment->to);
    }
    json.set("public_key", to_hex(header.public_key));
    json.set("keys", encode_steps(header.keys.steps()));
    json.set("created_at", to_text(header.created_at));
    return json;
}

Result<ExportHeader> decode_export_header(std::string_view line, bool knows_keys) {
    TRY_ASSIGN(const Json json, parse_json(line));
    FieldReader in(json);
    const bool is_segment =
        in.required_integer("interlock_export", 1, kSegmentVersion) == kSegmentVersion;
    std::optional<SegmentRange> segment;
    if (is_segment) {
        segment = {
            in.required_integer("from_seq", 1, INT64_MAX),
            in.required_integer("to_seq", 1, INT64_MAX)};
    } else {
        in.required_integer("from_seq", 1, 1);
    }
    const std::string public_key = from_hex(in.required<std::string>("public_key")).value_or("");
    ExportHeader header{
        .tenant_id = in.required<TenantId>("tenant_id"),
        .public_key = public_key,
        .created_at = in.required<Timestamp>("created_at"),
        .keys = KeyLineage(public_key),
        .segment = segment,
    };
    if (in.ok() && header.public_key.size() != kPublicKeyBytes) {
        in.add_problem("public_key", "must be 64 hex digits");
    }
    if (json.find("keys") != nullptr) {
        auto keys = decode_steps(public_key, in.required<Json>("keys"));
        if (keys) {
            header.keys = *std::move(keys);
        } else if (!knows_keys) {
            in.add_problem("keys", "do not follow from the first key");
        }
    }
    in.reject_unknown();
    return in.finish(std::move(header));
}

LineEnd read_export_line(std::istream& in, std::string& line) {
    line.clear();
    std::array<char, kReadBytes> piece;
    while (line.size() <= kExportLineBytesMax) {
        in.getline(piece.data(), piece.size());
        const auto count = static_cast<std::size_t>(in.gcount());
        if (in.bad() || in.eof()) {
            line.append(piece.data(), count);
            return LineEnd::end_of_file;
        }
        if (!in.fail()) {
            line.append(piece.data(), count - 1);  // The newline was counted.
            return LineEnd::newline;
        }
        line.append(piece.data(), count);
        in.clear();  // Only the piece was full.
    }
    return LineEnd::too_long;
}

}  // namespace interlock
