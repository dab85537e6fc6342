#include "bench/sink_process.h"

#include <fstream>
#include <sstream>

#include "base/errors.h"
#include "base/text.h"
#include "bench/server_process.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

Result<SinkArrival> decode_arrival(const Json& json) {
    FieldReader in(json);
    SinkArrival arrival;
    arrival.event = in.required<std::string>("event");
    arrival.effect_id = in.required<std::string>("effect_id");
    arrival.monotonic_us = in.required<std::int64_t>("monotonic_us");
    arrival.tenant_id = in.optional_or<std::string>("tenant_id", "");
    arrival.kind = in.optional_or<std::string>("kind", "");
    return in.finish(std::move(arrival));
}

}  // namespace

Result<std::vector<SinkArrival>> SinkJournalReader::read_new() {
    std::ifstream file(path_, std::ios::binary);
    if (!file) {
        return fail(errors::io_failed, "Cannot read " + path_ + ".");
    }
    file.seekg(offset_);
    std::ostringstream rest;
    rest << file.rdbuf();
    const std::string text = rest.str();
    // A line that is still being written is for the next time.
    const std::size_t whole = text.rfind('\n') + 1;
    std::vector<SinkArrival> arrivals;
    for (const std::string_view line : split(std::string_view(text).substr(0, whole), '\n')) {
        if (line.empty()) {
            continue;
        }
        TRY_ASSIGN(const Json json, parse_json(line));
        TRY_ASSIGN(SinkArrival arrival, decode_arrival(json));
        arrivals.push_back(std::move(arrival));
    }
    offset_ += static_cast<std::int64_t>(whole);
    return arrivals;
}

Result<SinkProcess> SinkProcess::start(const std::string& program, const std::string& folder) {
    const std::string socket_path = folder + "/sink.sock";
    const std::string journal_path = folder + "/sink.journal";
    MeasuredProcess::Options options;
    options.command = {program, "sink", "--socket", socket_path, "--journal", journal_path};
    options.log_path = folder + "/sink.log";
    TRY_ASSIGN(MeasuredProcess process, MeasuredProcess::start(options));
    TRY(process.read_line(kServerPatience));
    return SinkProcess{std::move(process), socket_path, journal_path};
}

}  // namespace interlock
