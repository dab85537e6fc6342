#include "app/command/receipt_command.h"

#include <filesystem>
#include <fstream>
#include <iostream>

#include "app/command/audit_view.h"
#include "app/command/console.h"
#include "app/wiring/archive_folder.h"
#include "app/wiring/ledger_folder.h"
#include "app/wiring/server_client.h"
#include "app/wiring/witness_source.h"
#include "base/bytes.h"
#include "base/errors.h"
#include "engine/system/data_folder.h"
#include "engine/system/system_clock.h"
#include "trader/service/decision_receipt.h"

namespace interlock {
namespace {

struct Options {
    std::string decision;
    std::string tenant;
    std::string output;
    std::string file;
    std::string public_key;
    WitnessOptions witness;
};

// Written beside the target and put there when whole, so that no half receipt bears its name.
Result<void> write_file(const std::string& path, const std::string& text) {
    const std::string beside = path + ".partial";
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    std::error_code problem;
    if (!out) {
        std::filesystem::remove(beside, problem);
        return fail(
            errors::io_failed, "cannot write " + beside, "Choose another place with --output.");
    }
    std::filesystem::rename(beside, path, problem);
    if (problem) {
        return fail(errors::io_failed, "cannot write " + path + ": " + problem.message());
    }
    return {};
}

Result<std::string> make_receipt(const std::string& folder, const Options& options) {
    TRY_ASSIGN(const DecisionId decision_id, DecisionId::parse(options.decision));
    TRY_ASSIGN(const FolderSigner signer, FolderSigner::open(folder));
    TRY_ASSIGN(const auto ledger, WholeLedger::open(folder, LedgerView::snapshot));
    TRY_ASSIGN(const TenantId tenant_id, choose_chain(ledger->store(), options.tenant, folder));
    return write_receipt(
        {.store = ledger->store(), .signer = signer.signer(), .created_at = SystemClock().now()},
        tenant_id,
        decision_id);
}

ExitCode run_receipt(const GlobalOptions& global, const Options& options) {
    if (options.decision.empty()) {
        return report_usage(
            global, "Name the decision.", "Run `interlock receipt DECISION_ID -o FILE`.");
    }
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    const auto text = make_receipt(*folder, options);
    if (!text) {
        return report_failure(global, text.error());
    }
    if (options.output.empty() || options.output == "-") {
        std::cout << *text << std::flush;
        return ExitCode::ok;
    }
    if (const auto written = write_file(options.output, *text); !written) {
        return report_failure(global, written.error());
    }
    if (global.json) {
        print_json(encode(verify_receipt(*text)));
    } else {
        std::cout << "Wrote the receipt of " << print_safe(options.decision) << " to "
                  << print_safe(options.output) << " (" << text->size() << " bytes).\n";
    }
    return ExitCode::ok;
}

// At most the bytes a receipt may have, and one more to tell that there are too many.
Result<std::string> read_receipt(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::string text(kReceiptBytesMax + 1, '\0');
    if (!in) {
        return fail(errors::io_failed, "cannot read " + path);
    }
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

std::string orders_of(const Decision& decision) {
    std::string text;
    for (const Execution& row : decision.execution) {
        text += (text.empty() ? "" : ", ") + row.order_client_id.text() + " " + row.submit_status;
    }
    return text.empty() ? "-" : text;
}

std::string describe(const ReceiptReport& report) {
    if (!report.ok()) {
        return "BROKEN: " + print_safe(report.problem) + "\n";
    }
    const Decision& decision = *report.decision;
    std::string text = render_fields({
        {"decision", decision.decision_id.text()},
        {"tenant", report.tenant_id.text()},
        {"planner", decision.planner},
        {"stage", std::string(to_word(decision.stage))},
        {"orders", orders_of(decision)},
        {"verification", text_at(decision.verification, "overall")},
        {"made at", to_text(report.created_at)},
        {"signed by", to_hex(report.public_key)},
    });
    text += "OK: " + count_text(report.records, "audit record") + ", " +
            count_text(report.artifacts, "input") + ", " +
            (report.replay.is_other_policy
                 ? "not decided again. " + report.replay.detail + "\n"
                 : count_text(report.replay.steps, "step") + " replayed to the same bytes.\n");
    if (!report.authorship_proven) {
        text += "Note: the key is the file's own; give --key to know whose receipt it is.\n";
    }
    return text;
}

ExitCode run_verify(const GlobalOptions& global, const Options& options) {
    std::optional<std::string> public_key;
    if (!options.public_key.empty()) {
        auto key = parse_public_key(options.public_key);
        if (!key) {
            return report_failure(global, key.error());
        }
        public_key = *std::move(key);
    }
    const auto text = read_receipt(options.file);
    if (!text) {
        return report_failure(global, text.error());
    }
    const ReceiptReport report = verify_receipt(*text, public_key);
    bool is_witnessed = true;
    Json json = encode(report);
    std::string said = describe(report);
    if (options.witness.any() && report.ok()) {
        const auto witnesses = read_witnesses(options.witness, report.public_key);
        if (!witnesses) {
            return report_failure(global, witnesses.error());
        }
        const AnchorReport anchor = ask_witnesses(*witnesses, report.anchor_hash);
        is_witnessed = anchor.problem.empty();
        json.set("witness", encode(anchor));
        said += describe(anchor);
    }
    if (global.json) {
        print_json(json);
    } else {
        std::cout << said;
    }
    return report.ok() && is_witnessed ? ExitCode::ok : ExitCode::refused;
}

}  // namespace

void add_receipt_command(CommandLine& line) {
    CLI::App* receipt = line.app.add_subcommand(
        "receipt", "Write one decision as a signed file that can be checked anywhere.");
    const auto options = std::make_shared<Options>();
    receipt->add_option("decision", options->decision, "The decision.")->type_name("DECISION_ID");
    receipt
        ->add_option(
            "--tenant", options->tenant, "Whose; may be left out when there is one tenant.")
        ->type_name("TENANT");
    receipt->add_option("-o,--output", options->output, "The file; standard output otherwise.")
        ->type_name("FILE");
    receipt->callback([&line, options] {
        if (!line.run) {  // Not when the subcommand was chosen.
            line.run = [&line, options] { return run_receipt(line.global, *options); };
        }
    });

    CLI::App* verify = receipt->add_subcommand(
        "verify", "Check a receipt and re-run its decision; needs no data folder.");
    verify->add_option("file", options->file, "The receipt.")->required()->type_name("FILE");
    verify
        ->add_option(
            "--key", options->public_key, "Whose receipt it must be: 64 hex digits or ledger.pub.")
        ->type_name("KEY");
    add_witness_options(*verify, options->witness);
    verify->callback([&line, options] {
        line.run = [&line, options] { return run_verify(line.global, *options); };
    });
}

}  // namespace interlock
