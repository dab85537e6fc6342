#include "engine/wire/audit_record.h"

#include <algorithm>
#include <array>

#include "base/canonical_json.h"
#include "codec/field_reader.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 7> kSteps{
    "PLAN", "VALIDATE", "DRY_RUN", "EXECUTE", "VERIFY", "RECORD", "CONTROL"};
constexpr std::array<std::string_view, 3> kActors{"codex", "python", "human"};
constexpr std::array<std::string_view, 4> kStatuses{"started", "passed", "failed", "skipped"};
constexpr std::array<std::string_view, 2> kSeverities{"info", "critical"};

// Writes `"key":` and the value; the callers below keep RFC 8785's key order by hand.
void append_text(std::string& out, std::string_view key, std::string_view value) {
    out += '"';
    out += key;
    out += "\":";
    append_json_string(out, value);
}

void append_rows(std::string& out, const std::vector<RowChange>& rows) {
    if (rows.empty()) {
        return;
    }
    out += ",\"rows\":";
    char before = '[';
    for (const RowChange& row : rows) {
        out += before;
        before = ',';
        out += '[';
        append_json_string(out, row.key);
        out += ',';
        append_json_string(out, row.was);
        out += ',';
        append_json_string(out, row.now);
        out += ']';
    }
    out += ']';
}

RowChange decode_row(FieldReader& in, const Json& json) {
    const bool is_row = json.is_array() && json.items().size() == 3 &&
                        std::ranges::all_of(json.items(), &Json::is_string);
    if (!is_row) {
        in.add_problem("rows", "holds something that is no [key, was, now]");
        return {};
    }
    const Json::Array& row = json.items();
    return {row[0].as_string(), row[1].as_string(), row[2].as_string()};
}

}  // namespace

std::string_view to_word(AuditStep step) {
    return kSteps[static_cast<std::size_t>(step)];
}
std::string_view to_word(AuditActor actor) {
    return kActors[static_cast<std::size_t>(actor)];
}
std::string_view to_word(AuditStatus status) {
    return kStatuses[static_cast<std::size_t>(status)];
}
std::string_view to_word(AuditSeverity severity) {
    return kSeverities[static_cast<std::size_t>(severity)];
}

std::string audit_id(const AuditRecord& record) {
    return record.draft.tenant_id.text() + "." + std::to_string(record.seq);
}

std::string audit_ref(const AuditRecord& record) {
    return std::to_string(record.seq) + ":" + record.hash.substr(0, 16);
}

// Built by hand rather than through canonical_json(encode()), because every turn passes here; a
// test holds the two to the same bytes.
Result<std::string> canonical_text(const AuditRecord& record) {
    const AuditDraft& draft = record.draft;
    std::string made;
    if (draft.detail_text.empty()) {
        TRY_ASSIGN(made, canonical_json(draft.detail));
    }
    const std::string& detail = draft.detail_text.empty() ? made : draft.detail_text;
    std::string out;
    out.reserve(640 + detail.size());
    out += '{';
    append_text(out, "actor", to_word(draft.actor));
    out += ",\"artifacts\":[";
    for (std::size_t i = 0; i < draft.artifacts.size(); ++i) {
        if (i > 0) {
            out += ',';
        }
        append_json_string(out, draft.artifacts[i]);
    }
    out += "],";
    append_text(out, "audit_id", audit_id(record));
    out += ',';
    append_text(out, "decision_id", draft.decision_id.text());
    out += ",\"detail\":";
    out += detail;
    out += ',';
    append_text(out, "event", draft.event);
    out += ',';
    append_text(out, "prev_hash", record.prev_hash);
    out += ',';
    append_text(out, "principal", draft.principal);
    out += ',';
    append_text(out, "reason", draft.reason);
    append_rows(out, draft.rows);
    out += ",\"seq\":";
    out += std::to_string(record.seq);
    out += ',';
    append_text(out, "severity", to_word(draft.severity));
    out += ',';
    append_text(out, "status", to_word(draft.status));
    out += ',';
    append_text(out, "step", to_word(draft.step));
    out += ',';
    append_text(out, "tenant_id", draft.tenant_id.text());
    out += ',';
    append_text(out, "tick_id", draft.tick_id.text());
    out += ',';
    append_text(out, "timestamp", to_text(draft.timestamp));
    out += '}';
    return out;
}

Result<AuditRecord> decode_audit_record(const Json& json) {
    FieldReader in(json);
    AuditRecord record;
    AuditDraft& draft = record.draft;
    draft.actor = static_cast<AuditActor>(in.required_word_index("actor", kActors));
    for (const Json& artifact : in.required_array("artifacts", 1000)) {
        if (artifact.is_string()) {
            draft.artifacts.push_back(artifact.as_string());
        } else {
            in.add_problem("artifacts", "holds something that is no string");
        }
    }
    const std::string claimed_id = in.required<std::string>("audit_id");
    draft.decision_id = in.required<DecisionId>("decision_id");
    draft.detail = in.required<Json>("detail");
    draft.event = in.required<std::string>("event");
    record.prev_hash = in.required<std::string>("prev_hash");
    draft.principal = in.required<std::string>("principal");
    draft.reason = in.required<std::string>("reason");
    if (const Json::Array* rows = in.optional_array("rows", kRecordRowsMax)) {
        for (const Json& row : *rows) {
            draft.rows.push_back(decode_row(in, row));
        }
    }
    record.seq = in.required<std::int64_t>("seq");
    draft.severity = static_cast<AuditSeverity>(in.required_word_index("severity", kSeverities));
    draft.status = static_cast<AuditStatus>(in.required_word_index("status", kStatuses));
    draft.step = static_cast<AuditStep>(in.required_word_index("step", kSteps));
    draft.tenant_id = in.required<TenantId>("tenant_id");
    draft.tick_id = in.required<TickId>("tick_id");
    draft.timestamp = in.required<Timestamp>("timestamp");
    if (in.ok() && claimed_id != audit_id(record)) {
        in.add_problem("audit_id", "does not name this tenant and seq");
    }
    in.reject_unknown();
    return in.finish(std::move(record));
}

Json encode(const AuditRecord& record) {
    const AuditDraft& draft = record.draft;
    Json json = Json::object({
        {"audit_id", audit_id(record)},
        {"seq", record.seq},
        {"tenant_id", draft.tenant_id.text()},
        {"event", draft.event},
        {"decision_id", draft.decision_id.text()},
        {"tick_id", draft.tick_id.text()},
        {"step", to_word(draft.step)},
        {"actor", to_word(draft.actor)},
        {"principal", draft.principal},
        {"status", to_word(draft.status)},
        {"severity", to_word(draft.severity)},
        {"reason", draft.reason},
        {"artifacts", json_list(draft.artifacts)},
        {"detail", draft.detail},
        {"timestamp", to_text(draft.timestamp)},
        {"prev_hash", record.prev_hash},
    });
    if (!draft.rows.empty()) {
        Json rows = Json::array();
        for (const RowChange& row : draft.rows) {
            rows.push(Json::array({row.key, row.was, row.now}));
        }
        json.set("rows", std::move(rows));
    }
    if (!record.hash.empty()) {
        json.set("hash", record.hash);
    }
    return json;
}

}  // namespace interlock
