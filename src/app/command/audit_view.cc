#include "app/command/audit_view.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "app/command/console.h"
#include "app/wiring/data_path.h"
#include "app/wiring/server_client.h"
#include "base/bytes.h"
#include "base/errors.h"
#include "base/text.h"
#include "engine/service/archive_read.h"
#include "engine/system/durable_file.h"

namespace interlock {
namespace {

constexpr std::int64_t kTailPage = 1000;
// Looks again at least this often, for head files on file systems that tell nobody.
constexpr int kFollowMilliseconds = 1000;

Result<AuditRecord> record_of(const LedgerEntry& entry) {
    TRY_ASSIGN(const Json json, parse_json(entry.canonical_json));
    TRY_ASSIGN(AuditRecord record, decode_audit_record(json));
    record.hash = entry.hash;
    return record;
}

std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(width, text.size()), ' ');
    return text;
}

std::string tail_line(const AuditRecord& record) {
    const AuditDraft& draft = record.draft;
    std::string line = padded(std::to_string(record.seq), 7) + " " + to_text(draft.timestamp) +
                       " " + padded(print_safe(draft.event), 28) + " " +
                       padded(std::string(to_word(draft.status)), 7) + " " +
                       padded(print_safe(draft.principal), 34);
    if (draft.severity == AuditSeverity::critical) {
        line += " !";
    }
    return line + " " + print_safe(draft.reason) + "\n";
}

// Prints everything after `after` and moves it on.
Result<void> print_after(
    LedgerStore& store, const TailOptions& options, std::int64_t& after, std::ostream& out) {
    while (out) {
        TRY_ASSIGN(const auto page, store.read_ledger(options.tenant_id, after, kTailPage));
        for (const LedgerEntry& entry : page) {
            TRY_ASSIGN(const AuditRecord record, record_of(entry));
            out << (options.json ? to_text(encode(record)) + "\n" : tail_line(record));
            after = entry.seq;
        }
        if (page.size() < static_cast<std::size_t>(kTailPage)) {
            break;
        }
    }
    out.flush();
    return {};
}

// Tells when a chain may have grown: the server writes its head file after each commit.
class HeadWatch {
public:
    explicit HeadWatch(const std::string& data_folder)
        : watch_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
        if (watch_.is_open()) {
            inotify_add_watch(watch_.get(), heads_folder(data_folder).c_str(), IN_MODIFY);
        }
    }

    void wait() {
        pollfd waiting{.fd = watch_.get(), .events = POLLIN, .revents = 0};
        poll(&waiting, watch_.is_open() ? 1 : 0, kFollowMilliseconds);
        std::array<char, 4096> events;  // What happened does not matter, only that it did.
        while (watch_.is_open() && read(watch_.get(), events.data(), events.size()) > 0) {
        }
    }

private:
    FileDescriptor watch_;
};

std::unexpected<Error> no_such_record(const std::string& text) {
    return fail(
        errors::not_found,
        "There is no record " + text + " in this chain.",
        "See `interlock audit tail` for the newest ones.");
}

}  // namespace

Result<TenantId> choose_chain(
    LedgerStore& store, const std::string& named, const std::string& data_folder) {
    TRY_ASSIGN(const auto heads, store.load_heads());
    if (!named.empty()) {
        const TenantId tenant_id = TenantId::trusted(named);
        if (!heads.contains(tenant_id)) {
            return fail(
                errors::not_found,
                "There is no chain of the tenant " + named + ".",
                "Leave --tenant out to see which there are.");
        }
        return tenant_id;
    }
    std::vector<TenantId> tenants;
    std::string names;
    for (const auto& [tenant_id, head] : heads) {
        names += (names.empty() ? "" : ", ") + tenant_id.text();
        if (tenant_id != system_tenant()) {
            tenants.push_back(tenant_id);
        }
    }
    // As chosen_tenant() has it: who signed up beside the demo makes no command ambiguous.
    if (is_demo_folder(data_folder) &&
        std::ranges::count(tenants, kDemoTenant, &TenantId::text) == 1) {
        return TenantId::trusted(std::string(kDemoTenant));
    }
    if (tenants.size() == 1) {
        return tenants.front();
    }
    return fail(
        errors::bad_usage,
        names.empty() ? std::string("There are no chains yet.")
                      : "There are the chains " + names + ".",
        "Name one with --tenant.");
}

Result<std::vector<TenantId>> choose_chains(LedgerStore& store, const std::string& named) {
    std::vector<TenantId> tenants;
    if (!named.empty()) {
        TRY_ASSIGN(TenantId tenant_id, choose_chain(store, named));
        tenants.push_back(std::move(tenant_id));
        return tenants;
    }
    TRY_ASSIGN(const auto heads, store.load_heads());
    for (const auto& [tenant_id, head] : heads) {
        if (tenant_id != system_tenant()) {
            tenants.push_back(tenant_id);
        }
    }
    return tenants;
}

Result<void> print_tail(LedgerStore& store, const TailOptions& options, std::ostream& out) {
    HeadWatch watch(options.data_folder);
    TRY_ASSIGN(const LedgerHead head, store.read_head(options.tenant_id));
    std::int64_t after = std::max<std::int64_t>(0, head.seq - options.count);
    TRY_ASSIGN(const ArchiveState archive, load_archive(store, options.tenant_id));
    if (archive.find(after + 1) != nullptr) {
        TRY_ASSIGN(const auto start, readable_from(store, options.tenant_id));
        after = start ? start->seq - 1 : after;
    }
    TRY(print_after(store, options, after, out));
    while (options.follow && out) {
        watch.wait();
        TRY(print_after(store, options, after, out));
    }
    return {};
}

Result<AuditRecord> find_record(
    LedgerStore& store, const TenantId& tenant_id, const std::string& text) {
    const std::size_t colon = text.find(':');
    const std::string number = text.substr(0, colon);
    std::int64_t seq = 0;
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), seq);
    if (problem != std::errc() || end != number.data() + number.size() || seq < 1) {
        return no_such_record(text);
    }
    TRY_ASSIGN(const auto entries, store.read_ledger(tenant_id, seq - 1, 1));
    if (entries.empty() || entries.front().seq != seq) {
        return no_such_record(text);
    }
    TRY_ASSIGN(AuditRecord record, record_of(entries.front()));
    if (colon != std::string::npos && text != audit_ref(record)) {
        return fail(
            errors::corrupt_data,
            "Record " + number + " is there, but its reference is " + audit_ref(record) + ", not " +
                text + ".",
            "The reference belongs to another chain, or the record was changed: run `interlock "
            "audit verify`.");
    }
    return record;
}

std::string describe_record(const AuditRecord& record) {
    const AuditDraft& draft = record.draft;
    std::string artifacts;
    for (const std::string& artifact : draft.artifacts) {
        artifacts += (artifacts.empty() ? "" : ", ") + artifact;
    }
    return render_fields({
               {"record", audit_id(record)},
               {"reference", audit_ref(record)},
               {"time", to_text(draft.timestamp)},
               {"event", draft.event},
               {"step", std::string(to_word(draft.step))},
               {"status", std::string(to_word(draft.status))},
               {"severity", std::string(to_word(draft.severity))},
               {"principal", draft.principal},
               {"actor", std::string(to_word(draft.actor))},
               {"decision", draft.decision_id.text()},
               {"tick", draft.tick_id.text()},
               {"reason", draft.reason},
               {"artifacts", artifacts.empty() ? "-" : artifacts},
               {"previous hash", record.prev_hash},
               {"hash", record.hash},
           }) +
           "detail\n" + print_safe(to_pretty_text(draft.detail), true) + "\n";
}

std::string describe_fault(const TenantId& tenant_id, const std::optional<ChainFault>& fault) {
    if (!fault) {
        return {};
    }
    return "The chain of " + print_safe(tenant_id.text()) + " is broken at record " +
           std::to_string(fault->seq) + " (" + std::string(fault->reason) +
           "); run `interlock audit verify`.\n";
}

std::string describe_export(const ExportReport& report) {
    const ChainReport& chain = report.chain;
    std::string text = render_fields({
        {"tenant", chain.tenant_id.text()},
        {"exported", to_text(report.created_at)},
        {"records", std::to_string(chain.records)},
        {"checkpoints", std::to_string(chain.checkpoints)},
        {"head", std::to_string(chain.head.seq) + ":" + chain.head.hash.substr(0, 16)},
        {"public key", to_hex(report.public_key)},
    });
    if (chain.fault) {
        return text + "BROKEN: at record " + std::to_string(chain.fault->seq) + ": " +
               std::string(chain.fault->reason) + " (" + print_safe(chain.fault->detail) + ").\n";
    }
    if (!chain.complete) {
        return text + "INCOMPLETE: " + print_safe(report.incomplete_because) + ".\n";
    }
    if (!report.authorship_proven) {
        text +=
            "Note: checked with the key inside the file; whose it is remains unproven without "
            "--public-key.\n";
    }
    return text + "OK: whole and unchanged.\n";
}

}  // namespace interlock
