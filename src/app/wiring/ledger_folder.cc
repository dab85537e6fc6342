#include "app/wiring/ledger_folder.h"

#include <algorithm>
#include <filesystem>

#include "app/command/console.h"
#include "app/wiring/archive_folder.h"
#include "app/wiring/data_path.h"
#include "base/bytes.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "base/text.h"
#include "codec/json_list.h"
#include "engine/system/file_head_log.h"
#include "engine/system/file_head_mirror.h"
#include "relay/service/relay_lane.h"

namespace interlock {
namespace {

constexpr std::size_t kKeyFileBytesMax = 4096;
constexpr std::size_t kPublicKeyBytes = 32;

Result<std::map<TenantId, LedgerHead>> read_heads_in(const std::string& folder) {
    std::error_code problem;
    if (!std::filesystem::is_directory(folder, problem)) {
        return std::map<TenantId, LedgerHead>();
    }
    TRY_ASSIGN(FileHeadMirror mirror, FileHeadMirror::open(folder));
    return mirror.load();
}

// With a database that cannot even be opened, the head files still say which chains are lost.
std::vector<ChainReport> lost_chains(
    const std::map<TenantId, LedgerHead>& mirror, const Error& error) {
    std::vector<ChainReport> chains;
    for (const auto& [tenant_id, head] : mirror) {
        ChainReport report;
        report.tenant_id = tenant_id;
        report.fault = ChainFault{1, "unreadable_record", error.message};
        chains.push_back(std::move(report));
    }
    return chains;
}

void warn_about_missing_heads(
    const std::map<TenantId, LedgerHead>& mirror,
    const std::vector<ChainReport>& chains,
    std::vector<std::string>& warnings) {
    for (const ChainReport& chain : chains) {
        if (!mirror.contains(chain.tenant_id) && !chain.fault) {
            warnings.push_back(
                "There is no head file of " + chain.tenant_id.text() +
                ": only the database itself says that its chain is complete.");
        }
    }
}

// What the ledger's chains told for those of the relay.
struct Known {
    KeyLineage keys;
    HeadExpectations expected = {};
    std::int64_t turn = 0;
    bool is_from_before = false;
};

// The relay's file has chains of its own in the same tables, and head files of its own.
Result<void> verify_relay(const FolderCheck& check, Known& known, FolderReport& report) {
    // Before the snapshot, as for the ledger.
    TRY_ASSIGN(const auto mirror, read_heads_in(relay_heads_folder(check.data_folder)));
    const std::string path = relay_database_path(check.data_folder);
    std::error_code problem;
    if (!std::filesystem::exists(path, problem)) {
        auto lost = mirror;  // And what `_system` says, when the head files went with it.
        for (const auto& [place, points] : known.expected) {
            if (place.first == kRelayBook) {
                lost.try_emplace(place.second);
            }
        }
        report.relay_chains =
            lost_chains(lost, fail(errors::not_found, "there is no relay.db").error());
        return {};
    }
    const auto store = SqliteLedgerStore::open({.path = path, .read_only = true, .snapshot = true});
    const auto look = [&]() -> Result<std::vector<ChainReport>> {
        if (!store) {
            return std::unexpected(store.error());
        }
        std::map<TenantId, RowSet> rows;
        TRY_ASSIGN(rows[system_tenant()], read_relay_rows(**store));
        return check_ledger(
            {.store = **store,
             .mirror = mirror,
             .keys = known.keys,
             .book = kRelayBook,
             .tenants = check.tenants,
             .expected = &known.expected,
             .turn = &known.turn,
             .rows = std::move(rows),
             .from_last_seal = check.from_last_seal,
             .is_from_before = known.is_from_before,
             .on_progress = check.on_progress});
    };
    auto chains = look();
    if (chains) {
        report.relay_chains = *std::move(chains);
        // A tenant that was asked for need not have a chain here.
        const auto stored = (*store)->load_heads();
        std::erase_if(report.relay_chains, [&](const ChainReport& chain) {
            return stored && !stored->contains(chain.tenant_id) &&
                   !mirror.contains(chain.tenant_id) &&
                   !known.expected.contains({std::string(kRelayBook), chain.tenant_id});
        });
        warn_about_missing_heads(mirror, report.relay_chains, report.warnings);
        return {};
    }
    if (chains.error() != errors::corrupt_data) {
        return std::unexpected(chains.error());
    }
    report.damage = "relay.db: " + chains.error().message;
    report.relay_chains = lost_chains(mirror, chains.error());
    return {};
}

Result<void> compare_with_witnesses(
    const FolderCheck& check, LedgerStore& store, const KeyLineage& keys, FolderReport& report) {
    if (check.witnesses == nullptr) {
        return {};
    }
    std::int64_t known_break = 0;
    Timestamp known_before{};
    for (const ChainReport& chain : report.chains) {
        for (const BreakFound& found : chain.breaks) {
            if (chain.tenant_id == system_tenant() && check.knows_breaks &&
                !found.accepted_by.empty()) {
                known_break = std::max(known_break, found.seq);
                known_before = std::max(known_before, found.at);
            }
        }
    }
    for (const WitnessEvidence& evidence : *check.witnesses) {
        TRY_ASSIGN(
            WitnessReport one,
            check_witness(
                {.store = store,
                 .keys = keys,
                 .evidence = evidence,
                 .check_token = check.check_token,
                 .known_break = known_break,
                 .known_before = known_before}));
        if (one.malformed > 0) {
            report.warnings.push_back(
                one.name + " has " + count_text(one.malformed, "line") +
                " that is no seal; a crash leaves one at most.");
        }
        if (one.unchecked_tokens > 0) {
            report.warnings.push_back(
                one.name + " has " + count_text(one.unchecked_tokens, "time stamp") +
                " that nobody checked: give --tsa-ca.");
        }
        report.witnesses.push_back(std::move(one));
    }
    return {};
}

// A database of another day beside the key of today, or the other way round, as the start would
// find it. A folder without its key, or one that may not be read, tells nothing.
void check_key(
    const std::vector<NumberedKey>& found, const KeyLineage& lineage, FolderReport& report) {
    const bool is_there = std::ranges::any_of(found, [&](const NumberedKey& key) {
        return key.epoch == lineage.last_epoch() &&
               to_hex(key.pair.public_key) == lineage.last_key();
    });
    for (ChainReport& chain : report.chains) {
        if (!found.empty() && !is_there && !chain.fault && chain.tenant_id == system_tenant()) {
            chain.fault = ChainFault{
                chain.head.seq,
                "lost_key",
                "the sealing key is not the one that the last seal names"};
            chain.complete = false;
        }
    }
}

Result<FolderReport> verify_once(const FolderCheck& check) {
    // In this order: the head files never lead, so a snapshot taken later has at least their seq.
    TRY_ASSIGN(const auto mirror, read_head_files(check.data_folder));
    std::string public_key = check.public_key;
    if (public_key.empty()) {
        TRY_ASSIGN(public_key, read_ledger_public_key(check.data_folder));
    }
    TRY_ASSIGN(auto head_log, read_head_log(head_log_path(check.data_folder)));
    // A chain without a seal is as good as it was only while its key is there; later nobody can
    // make one look so.
    const auto keys = read_sealing_keys(check.data_folder);
    const bool is_from_before = keys && !keys->empty() && keys->front().is_from_before &&
                                keys->front().pair.public_key == public_key && head_log.empty();
    FolderReport report;
    report.knows_breaks = check.knows_breaks;
    const auto store = open_ledger(check.data_folder, LedgerView::snapshot);
    if (!store) {
        if (store.error() != errors::corrupt_data) {
            return std::unexpected(store.error());
        }
        report.damage = store.error().message;
        report.chains = lost_chains(mirror, store.error());
        return report;
    }
    Known known{.keys = KeyLineage(public_key), .is_from_before = is_from_before};
    FolderSegments segments = segments_of(check.data_folder, check.archive_folder);
    auto chains = check_ledger(
        {.store = **store,
         .mirror = mirror,
         .keys = known.keys,
         .tenants = check.tenants,
         .head_log = std::move(head_log),
         .expected = &known.expected,
         .turn = &known.turn,
         .segments = &segments,
         .from_last_seal = check.from_last_seal,
         .is_from_before = is_from_before,
         .check_artifacts = check.check_artifacts && !check.from_last_seal,
         .on_progress = check.on_progress});
    if (chains) {
        report.chains = *std::move(chains);
        if (keys) {
            check_key(*keys, known.keys, report);
        }
    } else if (chains.error() == errors::corrupt_data) {
        report.damage = chains.error().message;
    } else {
        return std::unexpected(chains.error());
    }
    if (check.check_database && report.damage.empty()) {
        if (const auto sound = (*store)->check_integrity(); !sound) {
            report.damage = sound.error().message;
        }
    }
    warn_about_missing_heads(mirror, report.chains, report.warnings);
    if (is_from_before) {
        report.warnings.push_back(
            "No seal vouches for these chains yet: an older version wrote them, and whoever could "
            "write the folder could have written them, too. The next start adopts them.");
    }
    TRY(verify_relay(check, known, report));
    TRY(compare_with_witnesses(check, **store, known.keys, report));
    return report;
}

std::string state_of(const ChainReport& chain) {
    if (chain.fault || !chain.complete) {
        return "BROKEN";
    }
    return chain.breaks.empty() ? "OK" : "BREAK";
}

std::string break_text(const BreakFound& found) {
    return "broken at record " + std::to_string(found.broken.bad_seq) + " (" + found.broken.reason +
           ": " + found.broken.detail + "), continued at " + std::to_string(found.seq) + " on " +
           to_text(found.at) + ", " +
           (found.accepted_by.empty() ? "accepted by nobody yet"
                                      : "accepted by " + found.accepted_by);
}

std::string segment_text(const SegmentFound& segment) {
    const std::string records = "records " + std::to_string(segment.from) + " to " +
                                std::to_string(segment.to) + ": " + segment.file + ", archived, ";
    switch (segment.state) {
        case SegmentFound::State::whole:
            return records + "verified";
        case SegmentFound::State::changed:
            return records + "CHANGED";
        case SegmentFound::State::not_at_hand:
            break;
    }
    return records + "not at hand";
}

std::string verdict_of(const ChainReport& chain) {
    if (chain.fault) {
        return "at record " + std::to_string(chain.fault->seq) + ": " +
               std::string(chain.fault->reason) + " (" + chain.fault->detail + ")";
    }
    std::string text = count_text(chain.records, "record");
    if (chain.first_seq > 1) {
        text += " since checkpoint " + std::to_string(chain.first_seq - 1);
    }
    if (chain.adopted) {
        text += " (" + std::to_string(*chain.adopted) + " from before seals)";
    }
    return text + ", " + count_text(chain.checkpoints, "checkpoint") + ", head " +
           std::to_string(chain.head.seq) + ":" + chain.head.hash.substr(0, 16);
}

}  // namespace

Result<std::unique_ptr<SqliteLedgerStore>> open_ledger(
    const std::string& data_folder, LedgerView view) {
    const std::string path = database_path(data_folder);
    std::error_code problem;
    if (!std::filesystem::exists(path, problem)) {
        return fail(
            errors::not_found,
            "There is no ledger in " + data_folder + ".",
            "Name the data folder of a server with --data.");
    }
    return SqliteLedgerStore::open(
        {.path = path, .read_only = true, .snapshot = view == LedgerView::snapshot});
}

Result<std::map<TenantId, LedgerHead>> read_head_files(const std::string& data_folder) {
    return read_heads_in(heads_folder(data_folder));
}

Result<std::string> parse_public_key(const std::string& text) {
    const auto bytes = read_small_file(text, kKeyFileBytesMax);
    auto key = from_hex(trim(bytes ? *bytes : text));
    if (!key || key->size() != kPublicKeyBytes) {
        return fail(
            errors::invalid_request,
            "The public key is neither 64 hex digits nor a file that holds them.",
            "Give the server's ledger.pub.");
    }
    return key;
}

bool FolderReport::ok() const {
    return damage.empty() && first_broken() == nullptr && first_disagreement() == nullptr;
}

const WitnessReport* FolderReport::first_disagreement() const {
    const auto found =
        std::ranges::find_if(witnesses, [](const WitnessReport& witness) { return !witness.ok(); });
    return found == witnesses.end() ? nullptr : &*found;
}

Result<FolderSigner> FolderSigner::open(const std::string& data_folder) {
    TRY_ASSIGN(std::string first, read_ledger_public_key(data_folder));
    TRY_ASSIGN(NumberedKey key, read_sealing_key(data_folder));
    return FolderSigner(std::move(first), std::move(key));
}

Result<RowSet> read_relay_rows(SqliteLedgerStore& relay) {
    RowSet rows;
    for (const std::string_view kind : kProtectedRelayKinds) {
        TRY_ASSIGN(const auto found, relay.read_lasting_rows(kind));
        for (const auto& [key, json] : found) {
            rows.set(protected_relay_key(kind, key), sha256_hex(json));
        }
    }
    return rows;
}

const ChainReport* FolderReport::first_broken() const {
    for (const auto* list : {&chains, &relay_chains}) {
        const auto broken = std::ranges::find_if(*list, [this](const ChainReport& chain) {
            const bool is_known =
                knows_breaks && std::ranges::none_of(chain.breaks, [](const BreakFound& found) {
                    return found.accepted_by.empty();
                });
            return chain.fault || !chain.complete || (!chain.breaks.empty() && !is_known);
        });
        if (broken != list->end()) {
            return &*broken;
        }
    }
    return nullptr;
}

std::int64_t FolderReport::records() const {
    std::int64_t sum = 0;
    for (const auto* list : {&chains, &relay_chains}) {
        for (const ChainReport& chain : *list) {
            sum += chain.records;
        }
    }
    return sum;
}

Json encode(const FolderReport& report) {
    Json chains = Json::array();
    for (const ChainReport& chain : report.chains) {
        chains.push(encode(chain));
    }
    Json relay_chains = Json::array();
    for (const ChainReport& chain : report.relay_chains) {
        relay_chains.push(encode(chain));
    }
    Json witnesses = Json::array();
    for (const WitnessReport& witness : report.witnesses) {
        witnesses.push(encode(witness));
    }
    const ChainReport* broken = report.first_broken();
    const WitnessReport* disagrees = broken == nullptr ? report.first_disagreement() : nullptr;
    const std::string bad_tenant = broken != nullptr      ? broken->tenant_id.text()
                                   : disagrees != nullptr ? system_tenant().text()
                                                          : "";
    const std::optional<ChainFault> fault = broken != nullptr      ? broken->fault
                                            : disagrees != nullptr ? disagrees->fault
                                                                   : std::nullopt;
    return Json::object({
        {"ok", report.ok()},
        {"records", report.records()},
        {"first_bad_tenant", bad_tenant.empty() ? Json() : Json(bad_tenant)},
        {"first_bad_seq", fault ? Json(fault->seq) : Json()},
        {"problem", fault ? Json(fault->reason) : Json()},
        {"database_damage", report.damage.empty() ? Json() : Json(report.damage)},
        {"chains", std::move(chains)},
        {"relay_chains", std::move(relay_chains)},
        {"witnesses", std::move(witnesses)},
        {"warnings", json_list(report.warnings)},
    });
}

std::string describe(const FolderReport& report) {
    std::vector<std::vector<std::string>> rows;
    const auto add = [&rows](const std::string& name, const ChainReport& chain) {
        rows.push_back({name, state_of(chain), verdict_of(chain)});
        for (const BreakFound& found : chain.breaks) {
            rows.push_back({"", "", break_text(found)});
        }
        for (const SegmentFound& segment : chain.segments) {
            rows.push_back({"", "", segment_text(segment)});
        }
        for (const RowFault& row : chain.rows) {
            rows.push_back({"", "", row.key + ": " + row.reason});
        }
    };
    for (const ChainReport& chain : report.chains) {
        add(chain.tenant_id.text(), chain);
    }
    for (const ChainReport& chain : report.relay_chains) {
        add("relay " + chain.tenant_id.text(), chain);
    }
    if (!report.damage.empty()) {
        rows.push_back({"(database)", "BROKEN", report.damage});
    }
    for (const WitnessReport& witness : report.witnesses) {
        rows.push_back(
            {"witness " + witness.name, witness.ok() ? "OK" : "DISAGREES", describe(witness)});
    }
    std::string text = rows.empty() ? "" : render_table({"CHAIN", "STATE", "FOUND"}, rows);
    for (const std::string& warning : report.warnings) {
        text += "Note: " + print_safe(warning) + "\n";
    }
    if (report.ok()) {
        return text + "OK: " +
               count_text(
                   static_cast<std::int64_t>(report.chains.size() + report.relay_chains.size()),
                   "chain") +
               ", " + count_text(report.records(), "record") + ".\n";
    }
    const ChainReport* broken = report.first_broken();
    if (broken != nullptr && !broken->fault && !broken->breaks.empty()) {
        return text + "BREAK: " + print_safe(broken->tenant_id.text()) +
               " was broken once and continued; what stands before the break cannot be trusted.\n";
    }
    if (const WitnessReport* witness = report.first_disagreement();
        broken == nullptr && report.damage.empty() && witness != nullptr) {
        return text + "BROKEN: " + print_safe(witness->fault->reason) +
               ". The chains are of one piece, but not what the witness was told.\n";
    }
    if (broken == nullptr || !broken->fault) {
        return text + "BROKEN.\n";
    }
    return text + "BROKEN: " + print_safe(broken->tenant_id.text()) +
           " cannot be trusted from record " + std::to_string(broken->fault->seq) + " on.\n";
}

Result<FolderReport> verify_folder(const FolderCheck& check) {
    auto first = verify_once(check);
    const bool alarm = first ? !first->ok() : first.error() == errors::corrupt_data;
    return alarm ? verify_once(check) : first;
}

}  // namespace interlock
