#include "bench/relay_bench.h"

#include <fmt/format.h>

#include "bench/rounded.h"
#include "bench/scratch_folder.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

Json encode_keys(const RelayKeysRow& row) {
    Json json = Json::object({
        {"platform", row.platform},
        {"bytes", row.bytes},
        {"read_ns", row.read_ns},
        {"normalise_ns", row.normalise_ns},
        {"session_key_ns", row.session_key_ns},
        {"gate_ns", row.gate_ns},
        {"sum_ns", row.sum_ns()},
    });
    row.spreads.write(json);
    return json;
}

Json encode_sockets(const RelaySocketsRow& row) {
    return Json::object({
        {"server", row.server},
        {"sockets", row.sockets},
        {"resident_before_bytes", row.resident_before},
        {"resident_after_bytes", row.resident_after},
        {"resident_per_socket", rounded(row.bytes_per_socket(), 0)},
        {"proportional_before_bytes", row.proportional_before},
        {"proportional_after_bytes", row.proportional_after},
        {"proportional_per_socket", rounded(row.proportional_per_socket(), 0)},
        {"dial_seconds", rounded(row.dial_seconds, 2)},
    });
}

Json encode_inbound(const RelayInboundRow& row) {
    Json json = Json::object({
        {"store", row.store},
        {"instances", row.instances},
        {"in_flight", row.in_flight},
        {"per_second", rounded(row.per_second, 0)},
        {"p50_us", row.p50_us},
        {"p99_us", row.p99_us},
        {"cpu_us", rounded(row.cpu_us, 1)},
        {"ratio", rounded(row.ratio, 3)},
    });
    row.spreads.write(json);
    return json;
}

std::string keys_text(const std::vector<RelayKeysRow>& rows) {
    std::string text =
        "What an event costs before it is stored, one thread; medians of rounds, in nanoseconds.\n"
        "The sum is without reading, which is the platform's JSON or form made into values.\n\n"
        "platform    bytes     read  normalise  session key   gate      sum\n";
    for (const RelayKeysRow& row : rows) {
        text += fmt::format(
            "{:<10} {:>6} {:>8} {:>10} {:>12} {:>6} {:>8}\n",
            row.platform,
            row.bytes,
            row.read_ns,
            row.normalise_ns,
            row.session_key_ns,
            row.gate_ns,
            row.sum_ns());
    }
    return text;
}

std::string sockets_text(const std::vector<RelaySocketsRow>& rows) {
    const auto mb = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
    std::string text =
        "Idle gateways with a checked token that have said hello; memory of the server's process.\n"
        "\n"
        "server       sockets   RSS before     after   each      PSS before     after   each   "
        "dialled in\n";
    for (const RelaySocketsRow& row : rows) {
        text += fmt::format(
            "{:<11} {:>8} {:>9.1f} MB {:>6.1f} MB {:>5.2f} kB {:>9.1f} MB {:>6.1f} MB {:>5.2f} kB "
            "{:>7.1f} s\n",
            row.server,
            row.sockets,
            mb(row.resident_before),
            mb(row.resident_after),
            row.bytes_per_socket() / 1e3,
            mb(row.proportional_before),
            mb(row.proportional_after),
            row.proportional_per_socket() / 1e3,
            row.dial_seconds);
    }
    return text;
}

std::string inbound_text(const std::vector<RelayInboundRow>& rows) {
    std::string text =
        "Event in, stored, delivered, acknowledged, acknowledgement stored; 600 bytes each, a fixed"
        "\nnumber on the way. Medians of rounds that alternate; the ratio is ours to the better "
        "peer's.\n\n"
        "store            instances  on the way  messages/s   p50 us   p99 us  server us each  "
        "ratio\n";
    for (const RelayInboundRow& row : rows) {
        text += fmt::format(
            "{:<16} {:>9} {:>11} {:>11.0f} {:>8} {:>8} {:>15.1f}  {}\n",
            row.store,
            row.instances,
            row.in_flight * row.instances,
            row.per_second,
            row.p50_us,
            row.p99_us,
            row.cpu_us,
            row.ratio > 0 ? fmt::format("{:.2f}", row.ratio) : "");
    }
    return text;
}

template <class Row>
Json list_of(const std::vector<Row>& rows, Json (*encode_row)(const Row&)) {
    Json list = Json::array();
    for (const Row& row : rows) {
        list.push(encode_row(row));
    }
    return list;
}

}  // namespace

Result<RelayBenchReport> run_relay_bench(const RelayBenchOptions& options) {
    TRY_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(options.folder));
    RelayBenchReport report;
    if (options.keys) {
        TRY_ASSIGN(report.keys, run_relay_keys(options));
    }
    if (options.sockets) {
        TRY_ASSIGN(const std::string folder, scratch.make_folder("sockets"));
        TRY_ASSIGN(report.sockets, run_relay_sockets(options, folder, report.missing));
    }
    if (options.inbound) {
        TRY_ASSIGN(const std::string folder, scratch.make_folder("inbound"));
        TRY_ASSIGN(report.inbound, run_relay_inbound(options, folder, report.missing));
    }
    return report;
}

Json encode(const RelayBenchReport& report) {
    return Json::object({
        {"keys", list_of(report.keys, encode_keys)},
        {"sockets", list_of(report.sockets, encode_sockets)},
        {"inbound", list_of(report.inbound, encode_inbound)},
        {"missing", json_list(report.missing)},
    });
}

std::string to_text(const RelayBenchReport& report) {
    std::string text;
    const auto add = [&text](const std::string& part) {
        text += (text.empty() ? "" : "\n") + part;
    };
    if (!report.keys.empty()) {
        add(keys_text(report.keys));
    }
    if (!report.sockets.empty()) {
        add(sockets_text(report.sockets));
    }
    if (!report.inbound.empty()) {
        add(inbound_text(report.inbound));
    }
    for (const std::string& one : report.missing) {
        add("not compared: " + one + "\n");
    }
    return text;
}

}  // namespace interlock
