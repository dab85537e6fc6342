// The first line of an export, and how its lines are read; shared by who writes and who verifies.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <string_view>

#include "engine/rules/seal.h"
#include "engine/service/ledger_export.h"

namespace interlock {

struct ExportHeader {
    TenantId tenant_id;
    std::string public_key;  // Raw; the first one.
    Timestamp created_at;
    KeyLineage keys;
    std::optional<SegmentRange> segment = std::nullopt;
};

Json encode(const ExportHeader& header);
// With `knows_keys` the keys in the line need not follow from the first one: the caller knows them.
Result<ExportHeader> decode_export_header(std::string_view line, bool knows_keys);

enum class LineEnd { newline, end_of_file, too_long };
// Reads one line without its newline, and hardly more of it than the bound.
LineEnd read_export_line(std::istream& in, std::string& line);

}  // namespace interlock
