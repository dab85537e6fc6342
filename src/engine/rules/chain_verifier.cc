#include "engine/rules/chain_verifier.h"

#include <algorithm>
#include <charconv>
#include <ranges>

#include "base/json.h"
#include "engine/rules/segment.h"

namespace interlock {

// The few members of a canonical record that every record is judged by, found from its end without
// parsing it: after `detail` all values are texts and numbers, and a quote inside a text is
// escaped, so a member's name in quotes is that member.
struct ChainVerifier::Outline {
    std::string_view prev_hash;
    std::string_view event;
    std::string_view tenant_id;
    std::int64_t seq = 0;
    std::string_view timestamp;
    std::string_view artifacts;  // Between the brackets.
    bool has_rows = false;

    static std::optional<Outline> of(std::string_view text);
};

namespace {

constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kTimestampChars = 24;

// Cuts `text` before the last `,"name":` and gives what stood behind it.
std::optional<std::string_view> cut_member(std::string_view& text, std::string_view name) {
    const std::size_t at = text.rfind(name);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view value = text.substr(at + name.size());
    text = text.substr(0, at);
    return value;
}

// Without its quotes; nothing when it has none or holds an escape.
std::optional<std::string_view> plain_text(std::optional<std::string_view> value) {
    if (!value || value->size() < 2 || value->front() != '"' || value->back() != '"') {
        return std::nullopt;
    }
    const std::string_view text = value->substr(1, value->size() - 2);
    return text.contains('\\') ? std::nullopt : std::optional(text);
}

}  // namespace

std::optional<ChainVerifier::Outline> ChainVerifier::Outline::of(std::string_view text) {
    Outline outline;
    constexpr std::string_view kFront = "{\"actor\":\"";
    constexpr std::string_view kArtifacts = "\",\"artifacts\":[";
    const std::size_t artifacts = text.find(kArtifacts);
    if (!text.starts_with(kFront) || !text.ends_with('}') || artifacts == std::string_view::npos ||
        artifacts > kFront.size() + 16) {
        return std::nullopt;
    }
    const std::string_view listed = text.substr(artifacts + kArtifacts.size());
    outline.artifacts = listed.substr(0, listed.find(']'));
    std::string_view rest = text.substr(0, text.size() - 1);
    const auto timestamp = plain_text(cut_member(rest, ",\"timestamp\":"));
    const bool has_tick = cut_member(rest, ",\"tick_id\":").has_value();
    const auto tenant_id = plain_text(cut_member(rest, ",\"tenant_id\":"));
    const bool has_words = cut_member(rest, ",\"step\":") && cut_member(rest, ",\"status\":") &&
                           cut_member(rest, ",\"severity\":");
    const auto seq = cut_member(rest, ",\"seq\":");
    outline.has_rows = rest.ends_with(']');
    const bool has_reason = cut_member(rest, ",\"reason\":").has_value();
    const bool has_principal = cut_member(rest, ",\"principal\":").has_value();
    const auto prev_hash = plain_text(cut_member(rest, ",\"prev_hash\":"));
    const auto event = plain_text(cut_member(rest, ",\"event\":"));
    if (!timestamp || timestamp->size() != kTimestampChars || !has_tick || !tenant_id ||
        !has_words || !seq || !has_reason || !has_principal || !prev_hash ||
        prev_hash->size() != kHashDigits || !event) {
        return std::nullopt;
    }
    const auto read = std::from_chars(seq->data(), seq->data() + seq->size(), outline.seq);
    if (read.ptr != seq->data() + seq->size()) {
        return std::nullopt;
    }
    outline.timestamp = *timestamp;
    outline.tenant_id = *tenant_id;
    outline.prev_hash = *prev_hash;
    outline.event = *event;
    return outline;
}

ChainVerifier::ChainVerifier(TenantId tenant_id) : ChainVerifier(std::move(tenant_id), Trust{}) {}

ChainVerifier::ChainVerifier(TenantId tenant_id, Trust trust, SealPoint start)
    : tenant_id_(std::move(tenant_id)), trust_(std::move(trust)), seal_(std::move(start)) {
    if (seal_.seq > 0) {
        head_ = {seal_.seq, seal_.hash};
        knows_all_rows_ = false;
    }
}

void ChainVerifier::add(
    std::int64_t seq, std::string_view canonical, std::string_view stored_hash) {
    if (fault_) {
        resume(seq, canonical, stored_hash);
        return;
    }
    const std::int64_t expected = head_.seq + 1;
    if (seq > expected) {
        set_fault(
            expected,
            "missing_record",
            "record " + std::to_string(expected) + " is missing; the next one is " +
                std::to_string(seq));
        resume(seq, canonical, stored_hash);
        return;
    }
    const bool gives_hash = link_hash(head_.hash, canonical) == stored_hash;
    auto outline = Outline::of(canonical);
    if (!outline || !gives_hash) {
        // Not what we write; a full look says what it is.
        const auto json = parse_json(canonical);
        const auto record =
            json ? decode_audit_record(*json) : Result<AuditRecord>(std::unexpected(json.error()));
        if (!record) {
            set_fault(expected, "malformed_record", record.error().message);
            return;
        }
        if (seq != expected || record->seq != expected || record->draft.tenant_id != tenant_id_) {
            set_fault(
                expected,
                "misplaced_record",
                "at " + std::to_string(expected) + " stands record " +
                    record->draft.tenant_id.text() + "." + std::to_string(record->seq));
            return;
        }
        // Which of the two it was matters to whoever investigates: the text, or what it hangs on.
        const bool linked = record->prev_hash == head_.hash;
        if (!gives_hash || !linked) {
            set_fault(
                expected,
                linked ? "content_changed" : "broken_link",
                linked ? "the record's text does not give its stored hash"
                       : "the record names another predecessor");
            return;
        }
        set_fault(expected, "malformed_record", "the record is not in its canonical form");
        return;
    }
    if (seq != expected || outline->seq != expected || outline->tenant_id != tenant_id_.text()) {
        set_fault(
            expected,
            "misplaced_record",
            "at " + std::to_string(expected) + " stands record " + std::string(outline->tenant_id) +
                "." + std::to_string(outline->seq));
        return;
    }
    if (outline->prev_hash != head_.hash) {
        set_fault(expected, "broken_link", "the record names another predecessor");
        return;
    }
    const ChainHead before = head_;
    head_ = {expected, std::string(stored_hash)};
    ++count_;
    take(*outline, canonical);
    if (fault_) {
        head_ = before;  // The last good one.
        --count_;
    }
}

void ChainVerifier::take(const Outline& outline, std::string_view canonical) {
    if (trust_.on_artifact && !outline.artifacts.empty()) {
        std::string_view rest = outline.artifacts;
        while (!rest.empty()) {
            const std::size_t end = rest.find(',');
            if (const auto ref = plain_text(rest.substr(0, end))) {
                trust_.on_artifact(head_.seq, std::string(*ref));
            }
            rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        }
    }
    if (trust_.keys == nullptr) {
        return;
    }
    const bool seals = is_seal(outline.event);
    const bool lists_rows = outline.event == kSegmentEvent && !knows_all_rows_;
    if (seals || outline.has_rows || outline.event == kBreakAcceptedEvent) {
        const auto json = parse_json(canonical);
        const auto record =
            json ? decode_audit_record(*json) : Result<AuditRecord>(std::unexpected(json.error()));
        if (!record) {
            set_fault(head_.seq, "malformed_record", record.error().message);
            return;
        }
        if (seals) {
            take_seal(*record);
            return;
        }
        take_rows(record->draft.rows);
        if (lists_rows) {
            learn_rows(*record);
        }
        if (outline.event == kBreakAcceptedEvent && !breaks_.empty()) {
            for (BreakFound& found : breaks_) {
                if (found.accepted_by.empty()) {
                    found.accepted_by = record->draft.principal;
                }
            }
        }
    }
    if (fault_) {
        return;
    }
    const auto at = parse_timestamp(outline.timestamp);
    if (!at) {
        set_fault(head_.seq, "malformed_record", "the record has no time");
        return;
    }
    if (unsealed_++ == 0) {
        unsealed_since_ = *at;
    }
    if (unsealed_ <= kUnsealedMax && *at - unsealed_since_ <= kUnsealedLife) {
        return;
    }
    ChainFault overdue{
        head_.seq,
        "missing_checkpoint",
        "the last seal is record " + std::to_string(seal_.seq) + "; there must be one by here"};
    if (seal_.seq > 0) {
        fault_ = std::move(overdue);
    } else if (!overdue_) {
        overdue_ = std::move(overdue);  // The first seal may adopt what stands before it.
    }
}

void ChainVerifier::take_rows(const std::vector<RowChange>& rows) {
    for (const RowChange& row : rows) {
        if (knows_all_rows_ && rows_.hash_of(row.key) != row.was) {
            set_fault(
                head_.seq,
                "changed_row",
                "the record says that " + row.key + " was another than the records before it do");
            return;
        }
        if (knows_all_rows_) {
            rows_.set(row.key, row.now);
        }
        changes_.push_back(row);
    }
}

// Why the key of a seal is not to be trusted; "" when it is.
std::string ChainVerifier::trust_key(const Seal& seal) {
    KeyLineage& keys = *trust_.keys;
    const bool is_system = tenant_id_ == system_tenant() && trust_.book == kLedgerBook;
    if (is_system && seal.broken && !keys.holds(seal.epoch, seal.public_key) &&
        seal.epoch == keys.last_epoch() + 1) {
        keys.begin_anew({seal.epoch, seal.public_key, ""});  // The key before it was lost.
    }
    if (!keys.holds(seal.epoch, seal.public_key)) {
        return "the key that signs it does not follow from the first one";
    }
    // Whoever kept a key of before must not sign anything new with it.
    const bool has_turn = seal_.epoch < 0 || seal.epoch == seal_.epoch ||
                          (seal.broken && seal.epoch == seal_.epoch + 1);
    if (is_system && !has_turn) {
        return "the key that signs it has had its turn";
    }
    if (!seal.next_key) {
        return {};
    }
    if (!is_system) {
        return "only `_system` says which key is next";
    }
    // A walk from a later seal knows the lineage already.
    const bool follows =
        keys.holds(seal.next_key->epoch, seal.next_key->public_key) || keys.add(*seal.next_key);
    return follows ? std::string() : "the next key is not signed by the one before it";
}

std::string ChainVerifier::problem_of(const AuditRecord& record, const Seal& seal) const {
    if (seal.book != trust_.book) {
        return "it belongs to a chain of the " + seal.book;
    }
    if (seal.previous_seq != seal_.seq || seal.previous_hash != seal_.hash) {
        return "it does not name the seal before it";
    }
    if (seal.adopted && (seal_.seq > 0 || *seal.adopted != record.seq - 1)) {
        return "it adopts other records than those before it";
    }
    if (overdue_ && seal_.seq == 0 && !seal.adopted && !seal.broken) {
        return "a seal was due at record " + std::to_string(overdue_->seq);
    }
    if (!is_signed(record, seal)) {
        return "its signature does not hold";
    }
    return {};
}

void ChainVerifier::take_seal(const AuditRecord& record) {
    const auto seal = decode_seal(record.draft.detail);
    std::string problem = seal ? problem_of(record, *seal) : seal.error().message;
    std::optional<KeyLineage> keys_before;
    if (problem.empty()) {
        if (seal->broken) {
            keys_before = *trust_.keys;  // A break that does not hold brings no key, either.
        }
        problem = trust_key(*seal);
    }
    if (!problem.empty()) {
        set_fault(head_.seq, "bad_checkpoint", std::move(problem));
        return;
    }
    if (seal->adopted || seal->broken) {
        begin_rows(record, *seal);
    } else {
        take_rows(record.draft.rows);
    }
    if (!fault_ && knows_all_rows_ &&
        (rows_.root() != seal->rows.root ||
         static_cast<std::int64_t>(rows_.size()) != seal->rows.count)) {
        set_fault(
            head_.seq, "bad_checkpoint", "its root is not that of the rows which the records name");
    }
    if (fault_) {
        if (keys_before) {
            *trust_.keys = *std::move(keys_before);
        }
        return;
    }
    if (seal->adopted) {
        adopted_ = seal->adopted;
    }
    if (seal->broken) {
        breaks_.push_back({head_.seq, record.draft.timestamp, *seal->broken});
    }
    if (seal->heads && !record.draft.artifacts.empty()) {
        heads_points_.push_back(
            {head_.seq, record.draft.artifacts.front(), *seal->heads, next_epoch(*seal)});
    }
    changes_.clear();
    ++seals_;
    seal_ = {head_.seq, head_.hash, record.draft.timestamp, seal->rows, next_epoch(*seal)};
    unsealed_ = 0;
    overdue_.reset();
}

void ChainVerifier::begin_rows(const AuditRecord& record, const Seal& seal) {
    changes_.clear();
    auto rows = rows_brought(record, seal, trust_.artifact);
    knows_all_rows_ = rows.has_value();
    if (rows) {
        rows_ = *std::move(rows);
    } else if (trust_.artifact) {
        set_fault(
            head_.seq,
            "bad_checkpoint",
            "the list of rows beside it is missing or another than signed");
    }
}

// A walk that began behind a cut learns here which rows there are: the list must lead back to the
// root of the last seal.
void ChainVerifier::learn_rows(const AuditRecord& record) {
    for (const std::string& ref : record.draft.artifacts) {
        const auto text = trust_.artifact ? trust_.artifact(ref) : std::nullopt;
        auto rows = text ? parse_row_list(*text) : std::nullopt;
        const auto before = rows ? rows_before(*rows, changes_) : std::nullopt;
        if (before && before->root() == seal_.rows.root) {
            rows_ = *std::move(rows);
            knows_all_rows_ = true;
            changes_.clear();
            return;
        }
        if (text) {
            set_fault(
                head_.seq,
                "bad_checkpoint",
                "the list of rows beside it is another than the last seal and the records say");
            return;
        }
    }
}

bool ChainVerifier::resume(
    std::int64_t seq, std::string_view canonical, std::string_view stored_hash) {
    if (trust_.keys == nullptr || !canonical.contains("\"event\":\"CHAIN_BROKEN\"")) {
        return false;
    }
    const auto json = parse_json(canonical);
    const auto record =
        json ? decode_audit_record(*json) : Result<AuditRecord>(std::unexpected(json.error()));
    if (!record || record->seq != seq || record->draft.tenant_id != tenant_id_ ||
        record->draft.event != kBreakEvent || record->prev_hash != head_.hash ||
        link_hash(head_.hash, canonical) != stored_hash) {
        return false;
    }
    const auto seal = decode_seal(record->draft.detail);
    if (!seal || !seal->broken || seal->broken->bad_seq != fault_->seq ||
        seal->broken->good_seq != head_.seq) {
        return false;
    }
    // The seals between the last good record and here are lost with the rest; the break may name
    // one of them.
    const ChainFault fault = *fault_;
    const SealPoint before = seal_;
    const ChainHead good = head_;
    seal_ = {seal->previous_seq, seal->previous_hash, {}, {}};
    fault_.reset();
    head_ = {seq, std::string(stored_hash)};
    ++count_;
    take_seal(*record);
    if (fault_) {
        fault_ = fault;
        seal_ = before;
        head_ = good;
        --count_;
        return false;
    }
    return true;
}

void ChainVerifier::expect_at_least(const ChainHead& head, std::string_view where) {
    if (fault_) {
        return;
    }
    if (head.seq > head_.seq) {
        set_fault(
            head_.seq + 1,
            "truncated_tail",
            std::string(where) + " says the chain reaches " + std::to_string(head.seq) +
                ", but the last record is " + std::to_string(head_.seq));
    } else if (head.seq == head_.seq && head.hash != head_.hash) {
        set_fault(
            head.seq,
            "head_mismatch",
            std::string(where) + " holds another hash for record " + std::to_string(head.seq));
    }
}

void ChainVerifier::expect_point(std::int64_t seq, std::string_view hash) {
    if (!fault_ && seq == head_.seq && hash != head_.hash) {
        set_fault(seq, "bad_checkpoint", "a signed checkpoint holds another hash for this record");
    }
}

void ChainVerifier::set_fault(std::int64_t seq, std::string_view reason, std::string detail) {
    fault_ = ChainFault{seq, std::string(reason), std::move(detail)};
}

std::optional<RowSet> rows_brought(
    const AuditRecord& record, const Seal& seal, const ReadArtifact& artifact) {
    RowSet named;  // Where there is no place for a list, the record itself names them.
    for (const RowChange& row : record.draft.rows) {
        named.set(row.key, row.now);
    }
    if (named.root() == seal.rows.root) {
        return named;
    }
    for (const std::string& ref : record.draft.artifacts) {
        const auto text = artifact ? artifact(ref) : std::nullopt;
        auto rows = text ? parse_row_list(*text) : std::nullopt;
        if (rows && rows->root() == seal.rows.root) {
            return rows;
        }
    }
    return std::nullopt;
}

std::string row_list(const RowSet& rows) {
    std::vector<std::string> lines;
    rows.each([&](const std::string& key, const std::string& hash) {
        lines.push_back(key + " " + hash + "\n");
    });
    std::ranges::sort(lines);
    std::string text;
    for (const std::string& line : lines) {
        text += line;
    }
    return text;
}

std::optional<RowSet> parse_row_list(std::string_view text) {
    RowSet rows;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        const std::size_t space = line.rfind(' ');
        if (end == std::string_view::npos || space == std::string_view::npos ||
            line.size() - space - 1 != kHashDigits) {
            return std::nullopt;
        }
        rows.set(std::string(line.substr(0, space)), std::string(line.substr(space + 1)));
        text.remove_prefix(end + 1);
    }
    return rows;
}

std::vector<RowFault> compare_rows(const RowSet& expected, const RowSet& live) {
    std::vector<RowFault> faults;
    expected.each([&](const std::string& key, const std::string& hash) {
        const std::string found = live.hash_of(key);
        if (found != hash) {
            faults.push_back({key, found.empty() ? "missing_row" : "changed_row", hash, found});
        }
    });
    live.each([&](const std::string& key, const std::string& found) {
        if (expected.hash_of(key).empty()) {
            faults.push_back({key, "unknown_row", "", found});
        }
    });
    std::ranges::sort(faults, {}, &RowFault::key);
    return faults;
}

std::optional<RowSet> rows_before(const RowSet& live, const std::vector<RowChange>& changes) {
    RowSet rows = live;
    for (const RowChange& change : std::views::reverse(changes)) {
        if (rows.hash_of(change.key) != change.now) {
            return std::nullopt;
        }
        rows.set(change.key, change.was);
    }
    return rows;
}

}  // namespace interlock
