#include "host/witness/tsa_witness.h"

#include <algorithm>
#include <filesystem>

#include "base/errors.h"
#include "engine/system/durable_file.h"
#include "host/witness/time_stamp.h"

namespace interlock {
namespace {

// The seal's time first, so that names sort as they came even when numbers went back.
std::string file_name(const WitnessedHead& head) {
    std::string name;
    for (const char c : to_text(head.at)) {
        if (c != '-' && c != ':') {
            name += c;
        }
    }
    return name + "-" + std::to_string(head.head.seq) + "-" + head.head.hash.substr(0, 16);
}

}  // namespace

TsaWitness::TsaWitness(TsaWitnessOptions options)
    : folder_(std::move(options.folder)),
      ca_file_(std::move(options.ca_file)),
      caller_(std::move(options.server)) {}

Result<std::optional<WitnessedHead>> TsaWitness::newest() {
    std::error_code problem;
    std::string last;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, problem)) {
        if (entry.path().extension() == ".tsr") {
            last = std::max(last, entry.path().stem().string());
        }
    }
    if (problem) {
        return fail(errors::io_failed, "cannot read " + folder_ + ": " + problem.message());
    }
    if (last.empty()) {
        return std::nullopt;
    }
    TRY_ASSIGN(
        const std::string line, read_small_file(folder_ + "/" + last + ".json", kHeadLineBytesMax));
    TRY_ASSIGN(WitnessedHead head, read_head_line(line));
    return head;
}

Result<void> TsaWitness::push(const WitnessedHead& head) {
    TRY_ASSIGN(const TimeStampRequest request, make_time_stamp_request(head.line));
    TRY_ASSIGN(
        const HttpResponse answer,
        caller_.call("POST", "", std::string(kTimeStampQueryType), request.der));
    TRY(verify_time_stamp(answer.body, head.line, ca_file_, &request));
    const std::string path = folder_ + "/" + file_name(head);
    // The token last: a line without one counts as not yet given.
    TRY(create_file_durably({.path = path + ".json", .bytes = head.line}));
    TRY(create_file_durably({.path = path + ".tsr", .bytes = answer.body}));
    return {};
}

}  // namespace interlock
