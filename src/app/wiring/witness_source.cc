#include "app/wiring/witness_source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/bytes.h"
#include "base/errors.h"
#include "engine/service/witnessed_heads.h"
#include "engine/system/durable_file.h"
#include "engine/system/private_file.h"
#include "host/witness/file_witness.h"
#include "host/witness/http_witness.h"
#include "host/witness/time_stamp.h"

namespace interlock {
namespace {

constexpr std::size_t kTokenBytesMax = std::size_t{64} * 1024;

// A record of another Interlock's chain, in an export of it, has the line inside.
std::string unwrap(const std::string& text) {
    if (!text.contains(kWitnessedEvent)) {
        return text;
    }
    const auto json = parse_json(text);
    const Json* record = json ? json->find("record") : nullptr;
    const Json* event = record != nullptr ? record->find("event") : nullptr;
    const Json* detail = record != nullptr ? record->find("detail") : nullptr;
    const Json* line = detail != nullptr ? detail->find("line") : nullptr;
    const bool is_kept = event != nullptr && event->is_string() &&
                         event->as_string() == kWitnessedEvent && line != nullptr &&
                         line->is_string();
    return is_kept ? line->as_string() : text;
}

// In an export of another Interlock's chain most lines are that chain's own.
bool is_foreign_export(const std::string& first_line) {
    return first_line.starts_with(R"({"interlock_export":)");
}

Result<void> read_lines(const std::string& path, std::vector<WitnessLine>& into) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        return fail(errors::io_failed, "cannot read " + path);
    }
    std::error_code problem;
    if (std::filesystem::file_size(path, problem) > kWitnessBytesMax || problem) {
        return fail(errors::out_of_range, path + " is larger than any file of a witness.");
    }
    std::string line;
    bool is_export = false;
    for (bool is_first = true; std::getline(in, line); is_first = false) {
        is_export = is_export || (is_first && is_foreign_export(line));
        std::string text = unwrap(line);
        if (!text.empty() && (!is_export || text != line)) {
            into.push_back({std::move(text)});
        }
    }
    return {};
}

// Files of lines, and lines with their time stamps: <name>.json and <name>.tsr.
Result<void> read_folder(const std::string& folder, std::vector<WitnessLine>& into) {
    std::error_code problem;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
        if (files.size() >= kWitnessFolderFilesMax) {
            return fail(errors::out_of_range, folder + " has more files than any witness.");
        }
        if (entry.is_regular_file(problem)) {
            files.push_back(entry.path());
        }
    }
    if (problem) {
        return fail(errors::io_failed, "cannot read " + folder + ": " + problem.message());
    }
    std::ranges::sort(files);
    for (const std::filesystem::path& file : files) {
        if (file.extension() == ".tsr") {
            std::filesystem::path beside = file;
            beside.replace_extension(".json");
            TRY_ASSIGN(std::string text, read_small_file(beside.string(), kHeadLineBytesMax));
            TRY_ASSIGN(std::string token, read_small_file(file.string(), kTokenBytesMax));
            into.push_back({std::move(text), std::move(token)});
        } else if (file.extension() != ".json") {
            TRY(read_lines(file.string(), into));
        }
    }
    return {};
}

Result<void> read_url(
    const std::string& url,
    const WitnessOptions& options,
    const std::string& first_public_key,
    std::vector<WitnessLine>& into) {
    HttpWitnessOptions server{.url = url, .ca_file = options.ca_file};
    if (!options.key_file.empty()) {
        TRY_ASSIGN(auto token, read_private_file(options.key_file));
        if (!token) {
            return fail(errors::not_found, "there is no " + options.key_file);
        }
        server.token = *std::move(token);
    }
    InterlockWitness other(std::move(server), to_hex(first_public_key));
    auto lines = other.lines();
    if (!lines) {
        return fail(
            errors::unavailable,
            "The " + other.name() + " does not say what it has: " + lines.error().message,
            "Look at the address and the key, or give the witness's file.");
    }
    for (std::string& line : *lines) {
        into.push_back({std::move(line)});
    }
    return {};
}

}  // namespace

void add_witness_options(CLI::App& command, WitnessOptions& options) {
    command
        .add_option(
            "--witness",
            options.sources,
            "What somebody outside was told: a file of head lines, a folder of such files and "
            "time stamps, an export of the chain that another Interlock keeps them in, or the URL "
            "of its /witness/heads. May be repeated.")
        ->expected(1)
        ->take_all()
        ->type_name("FILE|FOLDER|URL");
    command.add_option("--witness-key-file", options.key_file, "Credential for a URL, in a file.")
        ->type_name("FILE");
    command.add_option("--witness-ca", options.ca_file, "PEM file of who vouches for a URL's TLS.")
        ->type_name("FILE");
    command
        .add_option(
            "--tsa-ca",
            options.tsa_ca,
            "PEM file of who vouches for time stamps; without it they are only counted.")
        ->type_name("FILE");
}

Result<std::vector<WitnessEvidence>> read_witnesses(
    const WitnessOptions& options, const std::string& first_public_key) {
    if (options.sources.size() > kWitnessSourcesMax) {
        return fail(errors::invalid_request, "More than 16 witnesses cannot be asked at once.");
    }
    std::vector<WitnessEvidence> all;
    for (const std::string& source : options.sources) {
        WitnessEvidence evidence{.name = source, .lines = {}};
        std::error_code problem;
        if (source.starts_with("https://") || source.starts_with("http://")) {
            TRY(read_url(source, options, first_public_key, evidence.lines));
        } else if (std::filesystem::is_directory(source, problem)) {
            TRY(read_folder(source, evidence.lines));
        } else {
            TRY(read_lines(source, evidence.lines));
        }
        all.push_back(std::move(evidence));
    }
    return all;
}

CheckToken token_check(const WitnessOptions& options) {
    if (options.tsa_ca.empty()) {
        return {};
    }
    return [ca_file = options.tsa_ca](const WitnessLine& line) {
        return verify_time_stamp(line.token, line.text, ca_file);
    };
}

AnchorReport ask_witnesses(
    const std::vector<WitnessEvidence>& witnesses, const std::string& anchor_hash) {
    AnchorReport report{{}, "there is no witness"};
    for (const WitnessEvidence& evidence : witnesses) {
        report = check_anchor(evidence, anchor_hash);
        if (report.problem.empty()) {
            break;
        }
    }
    return report;
}

Json encode(const AnchorReport& report) {
    return Json::object({
        {"ok", report.problem.empty()},
        {"seq", report.seal ? Json(report.seal->head.seq) : Json()},
        {"hash", report.seal ? Json(report.seal->head.hash) : Json()},
        {"at", report.seal ? Json(to_text(report.seal->at)) : Json()},
        {"problem", report.problem.empty() ? Json() : Json(report.problem)},
    });
}

std::string describe(const AnchorReport& report) {
    if (!report.seal) {
        return "UNWITNESSED: " + report.problem + ".\n";
    }
    return "The witness has the seal of _system that it names, " + short_text(report.seal->head) +
           " of " + to_text(report.seal->at) + ".\n";
}

}  // namespace interlock
