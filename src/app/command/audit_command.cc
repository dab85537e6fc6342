#include "app/command/audit_command.h"

#include <filesystem>
#include <fstream>
#include <iostream>

#include "app/command/archive_command.h"
#include "app/command/audit_view.h"
#include "app/command/console.h"
#include "app/command/table_command.h"
#include "app/wiring/archive_folder.h"
#include "app/wiring/ledger_folder.h"
#include "app/wiring/server_client.h"
#include "app/wiring/witness_source.h"
#include "base/bytes.h"
#include "base/errors.h"
#include "base/text.h"
#include "engine/service/ledger_export.h"
#include "engine/system/system_clock.h"

namespace interlock {
namespace {

struct Options {
    std::string tenant;
    bool all = false;
    std::int64_t count = 20;
    bool follow = false;
    std::string record;
    std::string output;
    std::string file;
    std::string public_key;
    std::string archive;
    bool skip_artifacts = false;
    bool knows_breaks = false;
    std::string reason;
    LoginOptions login;
    WitnessOptions witness;
};

// The store of the chosen folder and the chain meant; what is wrong has been printed.
struct Opened {
    std::string data_folder;
    std::unique_ptr<WholeLedger> ledger;
    TenantId tenant_id;
};

std::expected<Opened, ExitCode> open_chain(const GlobalOptions& global, const Options& options) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return std::unexpected(folder.error());
    }
    auto ledger = WholeLedger::open(*folder, LedgerView::live, options.archive);
    if (!ledger) {
        return std::unexpected(report_failure(global, ledger.error()));
    }
    const auto tenant_id = choose_chain((*ledger)->store(), options.tenant, *folder);
    if (!tenant_id) {
        return std::unexpected(report_failure(global, tenant_id.error()));
    }
    return Opened{*folder, *std::move(ledger), *tenant_id};
}

ExitCode run_tail(const GlobalOptions& global, const Options& options) {
    auto opened = open_chain(global, options);
    if (!opened) {
        return opened.error();
    }
    const TailOptions tail{
        .data_folder = opened->data_folder,
        .tenant_id = opened->tenant_id,
        .count = options.count,
        .follow = options.follow,
        .json = global.json,
    };
    const auto done = print_tail(opened->ledger->store(), tail, std::cout);
    return done ? ExitCode::ok : report_failure(global, done.error());
}

ExitCode run_show(const GlobalOptions& global, const Options& options) {
    auto opened = open_chain(global, options);
    if (!opened) {
        return opened.error();
    }
    const auto record = find_record(opened->ledger->store(), opened->tenant_id, options.record);
    if (!record) {
        return report_failure(global, record.error());
    }
    if (global.json) {
        print_json(encode(*record));
    } else {
        std::cout << describe_record(*record);
    }
    return ExitCode::ok;
}

ExitCode report_export(
    const GlobalOptions& global, const Options& options, const ChainReport& chain) {
    // The export itself may be on standard output, so the report is on the other one.
    if (chain.fault) {
        report(
            global,
            fail(
                errors::corrupt_data,
                "The chain is broken at record " + std::to_string(chain.fault->seq) + " (" +
                    std::string(chain.fault->reason) + "); an export of it would vouch for it.",
                "Run `interlock audit verify`, keep a copy of the data folder, and look into it.")
                .error());
        return ExitCode::refused;
    }
    if (options.output.empty() || options.output == "-") {
        return ExitCode::ok;
    }
    if (global.json) {
        print_json(encode(chain));
    } else {
        std::cout << "Exported " << count_text(chain.records, "record") << " and "
                  << count_text(chain.checkpoints, "checkpoint") << " to "
                  << print_safe(options.output) << ", head " << chain.head.seq << ":"
                  << chain.head.hash.substr(0, 16) << ".\n";
    }
    return ExitCode::ok;
}

// Writes beside the target and puts it there when whole, so that no half export bears its name.
Result<ChainReport> export_to_file(
    const ExportSources& sources, const TenantId& tenant_id, const std::string& path) {
    const std::string beside = path + ".partial";
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    if (!out) {
        return fail(
            errors::io_failed, "cannot write " + beside, "Choose another place with --output.");
    }
    auto chain = write_export(sources, tenant_id, out);
    out.close();
    std::error_code problem;
    if (!chain || chain->fault || !out) {
        std::filesystem::remove(beside, problem);
        if (chain && !chain->fault) {
            return fail(errors::io_failed, "cannot write all of " + beside);
        }
        return chain;
    }
    std::filesystem::rename(beside, path, problem);
    if (problem) {
        return fail(errors::io_failed, "cannot write " + path + ": " + problem.message());
    }
    return chain;
}

ExitCode run_export(const GlobalOptions& global, const Options& options) {
    auto opened = open_chain(global, options);
    if (!opened) {
        return opened.error();
    }
    const auto mirror = read_head_files(opened->data_folder);
    const auto signer = FolderSigner::open(opened->data_folder);
    if (!mirror || !signer) {
        return report_failure(global, mirror ? signer.error() : mirror.error());
    }
    const auto mirrored = mirror->find(opened->tenant_id);
    const bool to_file = !options.output.empty() && options.output != "-";
    ProgressLine progress(!to_file || global.json);
    const ExportSources sources{
        .store = opened->ledger->store(),
        .mirror_head = mirrored == mirror->end() ? nullptr : &mirrored->second,
        .signer = signer->signer(),
        .created_at = SystemClock().now(),
        .on_progress =
            [&](std::int64_t seq) {
                progress.show("exporting " + opened->tenant_id.text() + " " + std::to_string(seq));
            },
    };
    const auto chain = to_file ? export_to_file(sources, opened->tenant_id, options.output)
                               : write_export(sources, opened->tenant_id, std::cout);
    return chain ? report_export(global, options, *chain) : report_failure(global, chain.error());
}

ExitCode verify_file(const GlobalOptions& global, const Options& options) {
    ExportCheck check;
    if (!options.public_key.empty()) {
        auto key = parse_public_key(options.public_key);
        if (!key) {
            return report_failure(global, key.error());
        }
        check.public_key = *std::move(key);
    }
    std::ifstream in(options.file, std::ios::binary);
    if (!in) {
        return report_failure(
            global, fail(errors::io_failed, "cannot read " + options.file).error());
    }
    ProgressLine progress(global.json);
    check.on_progress = [&](std::int64_t seq) {
        progress.show("verifying record " + std::to_string(seq));
    };
    const auto report = verify_export(in, check);
    progress.clear();
    if (!report) {
        return report_failure(global, report.error());
    }
    bool is_witnessed = true;
    Json json = encode(*report);
    std::string text = describe_export(*report);
    if (options.witness.any()) {
        const auto witnesses = read_witnesses(options.witness, report->public_key);
        if (!witnesses) {
            return report_failure(global, witnesses.error());
        }
        const AnchorReport anchor = ask_witnesses(*witnesses, report->anchor_hash);
        is_witnessed = anchor.problem.empty();
        json.set("witness", encode(anchor));
        json.set("witnessed_seq", is_witnessed ? Json(report->anchored_seq) : Json());
        text += describe(anchor);
        if (is_witnessed) {
            text += "Records up to " + std::to_string(report->anchored_seq) +
                    " were there when it was sealed.\n";
        }
    }
    if (global.json) {
        print_json(json);
    } else {
        std::cout << text;
    }
    return report->ok() && is_witnessed ? ExitCode::ok : ExitCode::refused;
}

ExitCode run_verify(const GlobalOptions& global, const Options& options) {
    if (!options.file.empty()) {
        return verify_file(global, options);
    }
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    FolderCheck check;
    check.data_folder = *folder;
    check.check_artifacts = !options.skip_artifacts;
    check.knows_breaks = options.knows_breaks;
    check.archive_folder = options.archive;
    if (!options.tenant.empty()) {
        check.tenants.push_back(TenantId::trusted(options.tenant));
    }
    if (!options.public_key.empty()) {
        auto key = parse_public_key(options.public_key);
        if (!key) {
            return report_failure(global, key.error());
        }
        check.public_key = *std::move(key);
    }
    std::vector<WitnessEvidence> witnesses;
    if (options.witness.any()) {
        auto key = check.public_key.empty() ? read_ledger_public_key(*folder)
                                            : Result<std::string>(check.public_key);
        auto read =
            key ? read_witnesses(options.witness, *key) : std::unexpected(std::move(key).error());
        if (!read) {
            return report_failure(global, read.error());
        }
        witnesses = *std::move(read);
        check.witnesses = &witnesses;
        check.check_token = token_check(options.witness);
    }
    ProgressLine progress(global.json);
    check.on_progress = [&](const TenantId& tenant_id, std::int64_t seq) {
        progress.show("verifying " + tenant_id.text() + " " + std::to_string(seq));
    };
    const auto report = verify_folder(check);
    progress.clear();
    if (!report) {
        return report_failure(global, report.error());
    }
    if (global.json) {
        print_json(encode(*report));
    } else {
        std::cout << describe(*report);
    }
    return report->ok() ? ExitCode::ok : ExitCode::refused;
}

ExitCode run_accept_break(const GlobalOptions& global, const Options& options) {
    const auto answer = ask_table(
        global,
        {.operation = "accept_chain_break",
         .fields = Json::object({{"reason", options.reason}}),
         .tenant = options.tenant,
         .login = options.login});
    if (!answer) {
        return answer.error();
    }
    if (global.json) {
        print_json(*answer);
    } else {
        std::cout << "The break of " << print_safe(options.tenant) << " at record "
                  << text_at(*answer, "first_bad_seq") << " is accepted, audit_ref "
                  << text_at(*answer, "audit_ref")
                  << ". Trading stays stopped until the kill switch is released.\n";
    }
    return ExitCode::ok;
}

using Run = ExitCode (*)(const GlobalOptions&, const Options&);

void on_chosen(
    CLI::App& command, CommandLine& line, const std::shared_ptr<Options>& options, Run run) {
    command.callback([&line, options, run] {
        line.run = [&line, options, run] { return run(line.global, *options); };
    });
}

void add_archive_option(CLI::App& command, Options& options) {
    command
        .add_option(
            "--archive",
            options.archive,
            "Where segment files are, besides archive/ of the data folder.")
        ->type_name("FOLDER");
}

CLI::Option* add_tenant_option(CLI::App& command, Options& options) {
    return command
        .add_option(
            "--tenant",
            options.tenant,
            "Whose chain (_system: the host's); may be left out when there is one tenant.")
        ->type_name("TENANT");
}

}  // namespace

void add_audit_command(CommandLine& line) {
    CLI::App* audit = line.app.add_subcommand(
        "audit",
        "Read, export, verify and archive the ledger; works with or without a running server.");
    audit->require_subcommand(1);
    const auto options = std::make_shared<Options>();

    CLI::App* tail = audit->add_subcommand("tail", "Print the newest records.");
    add_tenant_option(*tail, *options);
    tail->add_option("-n,--count", options->count, "How many.")
        ->check(CLI::Range(std::int64_t{0}, kTailMax))
        ->type_name("COUNT");
    tail->add_flag("-f,--follow", options->follow, "Go on printing as records are made.");
    on_chosen(*tail, line, options, run_tail);

    CLI::App* show = audit->add_subcommand("show", "Print one record.");
    add_tenant_option(*show, *options);
    show->add_option("record", options->record, "A sequence number, or an audit_ref (SEQ:HASH).")
        ->required()
        ->type_name("SEQ");
    add_archive_option(*show, *options);
    on_chosen(*show, line, options, run_show);

    CLI::App* exporting = audit->add_subcommand(
        "export", "Write a tenant's whole chain with a signed head, for keeping elsewhere.");
    add_tenant_option(*exporting, *options);
    exporting->add_option("-o,--output", options->output, "The file; standard output otherwise.")
        ->type_name("FILE");
    add_archive_option(*exporting, *options);
    on_chosen(*exporting, line, options, run_export);
    add_archive_command(*audit, line);

    CLI::App* verify = audit->add_subcommand(
        "verify", "Check the chains of the data folder from the beginning, or an export.");
    CLI::Option* tenant = add_tenant_option(*verify, *options);
    verify->add_flag("--all", options->all, "Every chain (the default).")->excludes(tenant);
    verify->add_option("file", options->file, "An export; needs no data folder.")
        ->excludes(tenant)
        ->type_name("FILE");
    verify
        ->add_option(
            "--public-key",
            options->public_key,
            "Whose signatures to accept: 64 hex digits or a file (ledger.pub).")
        ->type_name("KEY");
    add_witness_options(*verify, options->witness);
    CLI::App* accept = audit->add_subcommand(
        "accept-break", "Take note, as a human, that a chain was broken; it stays on record.");
    accept->add_option("--tenant", options->tenant, "Whose chain (_system: the host's).")
        ->required()
        ->type_name("TENANT");
    accept->add_option("--reason", options->reason, "What you found, for the record.")
        ->required()
        ->type_name("TEXT");
    add_login_options(*accept, options->login);
    on_chosen(*accept, line, options, run_accept_break);

    verify->add_flag(
        "--skip-artifacts",
        options->skip_artifacts,
        "Do not hash again what records refer to; the records themselves are always checked.");
    verify->add_flag(
        "--accept-known-breaks",
        options->knows_breaks,
        "Breaks that a human accepted are shown but are no failure.");
    add_archive_option(*verify, *options);
    on_chosen(*verify, line, options, run_verify);
}

}  // namespace interlock
