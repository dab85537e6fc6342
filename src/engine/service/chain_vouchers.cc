// What vouches for a chain besides its own links: the seals that the index names, the lineage of
// keys, the lists of heads in seals of `_system`, and the lines of `heads.log`.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "codec/json_list.h"
#include "engine/rules/merkle.h"
#include "engine/rules/protected_rows.h"
#include "engine/service/chain_check.h"
#include "engine/wire/chain_bounds.h"

namespace interlock {

Result<std::map<TenantId, RowSet>> live_rows(LedgerStore& store) {
    std::map<TenantId, RowSet> rows;
    for (const std::string_view prefix : kProtectedPrefixes) {
        TRY_ASSIGN(const auto states, store.load_states(std::string(prefix)));
        for (const auto& [machine_key, state] : states) {
            if (const auto row = protected_row(machine_key, state.json)) {
                rows[row->chain].set(machine_key, sha256_hex(row->text));
            }
        }
    }
    return rows;
}

Result<std::optional<FoundSeal>> find_seal(
    LedgerStore& store, const Checkpoint& place, const KeyLineage* keys) {
    if (place.seq < 1) {
        return std::nullopt;  // The index may say anything.
    }
    TRY_ASSIGN(const auto entries, store.read_ledger(place.tenant_id, place.seq - 1, 1));
    if (entries.empty() || entries.front().seq != place.seq || entries.front().hash != place.hash) {
        return std::nullopt;
    }
    const auto json = parse_json(entries.front().canonical_json);
    auto record =
        json ? decode_audit_record(*json) : Result<AuditRecord>(std::unexpected(json.error()));
    if (!record || !is_seal(record->draft.event) || record->draft.tenant_id != place.tenant_id ||
        link_hash(record->prev_hash, entries.front().canonical_json) != place.hash) {
        return std::nullopt;
    }
    auto seal = decode_seal(record->draft.detail);
    if (!seal || !is_signed(*record, *seal) ||
        (keys != nullptr && !keys->holds(seal->epoch, seal->public_key))) {
        return std::nullopt;
    }
    SealPoint point{place.seq, place.hash, record->draft.timestamp, seal->rows, next_epoch(*seal)};
    return FoundSeal{std::move(point), *std::move(seal), *std::move(record)};
}

namespace {

bool brings_rows(LedgerStore& store, const FoundSeal& found) {
    const auto read = [&](const std::string& ref) {
        return find_artifact(store, found.record.draft.tenant_id, ref);
    };
    return rows_brought(found.record, found.seal, read).has_value();
}

}  // namespace

Result<void> load_lineage(LedgerStore& store, KeyLineage& keys) {
    TRY_ASSIGN(const auto points, store.read_checkpoints(system_tenant()));
    for (const Checkpoint& point : points) {
        if (point.seq < 1) {
            continue;  // As below: the walk says so.
        }
        // Most seals keep the key, and there may be years of them: the text tells without a look at
        // the signature. A step is signed by the key before it, whatever stands around it.
        TRY_ASSIGN(const auto entries, store.read_ledger(system_tenant(), point.seq - 1, 1));
        const bool may_matter = !entries.empty() && entries.front().seq == point.seq &&
                                (entries.front().canonical_json.contains("\"next_key\":{") ||
                                 entries.front().canonical_json.contains("\"broken\":{"));
        if (!may_matter) {
            continue;
        }
        TRY_ASSIGN(const auto found, find_seal(store, point, nullptr));
        if (!found) {
            continue;  // The walk says what is wrong with it.
        }
        const Seal& seal = found->seal;
        const bool begins_anew = seal.broken && !keys.holds(seal.epoch, seal.public_key) &&
                                 seal.epoch == keys.last_epoch() + 1;
        // Anybody can write that the key was lost and bring one of his own. On those that the
        // server went on from it looked itself; the last one must at least know what it seals.
        if (begins_anew && (&point != &points.back() || brings_rows(store, *found))) {
            keys.begin_anew({seal.epoch, seal.public_key, ""});
        }
        if (seal.next_key && keys.holds(seal.epoch, seal.public_key)) {
            keys.add(*seal.next_key);
        }
    }
    return {};
}

Result<std::optional<ChainFault>> read_head_lists(
    LedgerStore& store,
    const std::vector<HeadsPoint>& points,
    HeadExpectations& expected,
    std::int64_t& turn) {
    std::optional<ChainFault> first;
    for (const HeadsPoint& point : points) {
        const auto text = find_artifact(store, system_tenant(), point.list);
        auto lines = text ? parse_head_list(*text)
                          : Result<std::vector<HeadLine>>(
                                fail(errors::not_found, "the list of heads is gone or changed"));
        std::vector<std::string> leaves;
        if (lines) {
            for (const HeadLine& line : *lines) {
                leaves.push_back(to_text(line));
            }
        }
        if (!lines || static_cast<std::int64_t>(leaves.size()) != point.heads.count ||
            merkle_root(leaves) != point.heads.root) {
            first = first.value_or(ChainFault{
                point.seq,
                "missing_artifact",
                lines ? "the list of heads is not the one that was sealed"
                      : lines.error().message});
            continue;  // The other lists still say what they say.
        }
        turn = point.epoch;
        for (HeadLine& line : *lines) {
            // What no chain can have was listed by a server that took a head for granted (before
            // kChainSeqMax was kept); nobody can be held to it.
            if (line.head.seq < 1 || line.head.seq > kChainSeqMax) {
                continue;
            }
            expected[{line.book, line.tenant_id}].insert_or_assign(
                line.head.seq, std::move(line.head.hash));
        }
    }
    return first;
}

Result<std::vector<HeadsPoint>> last_heads_point(
    LedgerStore& store, const SealPoint& last_seal, const KeyLineage& keys) {
    std::vector<HeadsPoint> points;
    if (last_seal.seq > 0) {
        TRY_ASSIGN(
            const auto found,
            find_seal(store, {system_tenant(), last_seal.seq, last_seal.hash, {}, {}}, &keys));
        if (found && found->seal.heads && !found->record.draft.artifacts.empty()) {
            points.push_back(
                {last_seal.seq,
                 found->record.draft.artifacts.front(),
                 *found->seal.heads,
                 next_epoch(found->seal)});
        }
    }
    return points;
}

namespace {

// What a line of the head log says of the chain's end; nothing when it is no seal, or of a number
// that no chain can have.
std::optional<ChainHead> head_in(const std::string& line, const ChainReport& report) {
    const auto json = parse_json(line);
    const Json* record = json ? json->find("record") : nullptr;
    const Json* hash = json ? json->find("hash") : nullptr;
    const Json* seq = record != nullptr ? record->find("seq") : nullptr;
    if (seq == nullptr || !seq->is_number() || hash == nullptr || !hash->is_string()) {
        return std::nullopt;
    }
    const std::int64_t at = seq->as_int64().value_or(0);
    if (at < 1 || at > std::max(kHeadSeqMax, report.head.seq)) {
        return std::nullopt;
    }
    return ChainHead{at, hash->as_string()};
}

// The first line that was written since the last break on record, which tells what came before.
std::size_t first_line_of_now(const std::vector<std::string>& lines, const ChainReport& report) {
    std::size_t first = 0;
    while (!report.breaks.empty() && first < lines.size()) {
        const auto head = head_in(lines[first], report);
        if (head && head->seq >= report.breaks.back().seq) {
            break;
        }
        ++first;
    }
    return first;
}

}  // namespace

Result<std::optional<ChainFault>> behind_head_log(
    LedgerStore& store, const std::vector<std::string>& lines, ChainReport& report, bool all) {
    std::size_t first = first_line_of_now(lines, report);
    if (!all && !lines.empty()) {
        first = std::max(first, lines.size() - 1);
    }
    for (std::size_t i = first; i < lines.size(); ++i) {
        const auto head = head_in(lines[i], report);
        if (!head) {
            return ChainFault{
                report.head.seq,
                "malformed_line",
                "line " + std::to_string(i + 1) + " of heads.log is no seal"};
        }
        const std::int64_t at = head->seq;
        if (!report.breaks.empty() && at < report.breaks.back().seq) {
            continue;  // Of before a break, which is told anyway.
        }
        report.known_seq = std::max(report.known_seq, at);
        TRY_ASSIGN(const auto entries, store.read_ledger(system_tenant(), at - 1, 1));
        if (entries.empty() && at > report.head.seq) {
            return ChainFault{
                report.head.seq + 1,
                "truncated_tail",
                "heads.log says the chain reaches " + std::to_string(at) +
                    ", but the last record is " + std::to_string(report.head.seq)};
        }
        if (entries.empty() || entries.front().seq != at || entries.front().hash != head->hash) {
            return ChainFault{at, "head_mismatch", "heads.log holds another hash for this record"};
        }
    }
    return std::nullopt;
}

}  // namespace interlock
