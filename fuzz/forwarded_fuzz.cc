// Headers of a proxy, one in a line. Whatever they say, the caller has one well-formed address and
// is not on this machine; and what stands left of an address that the proxy wrote changes nothing.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "net/forwarded.h"

namespace interlock {
namespace {

HttpRequest request_of(std::string_view text) {
    HttpRequest request;
    request.peer_address = "127.0.0.1";
    request.peer_is_loopback = true;
    for (const std::string_view line : split(text, '\n')) {
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos) {
            request.headers.emplace_back(line.substr(0, colon), trim(line.substr(colon + 1)));
        }
    }
    return request;
}

void try_headers(std::string_view text) {
    const std::vector<Cidr> trusted = {*parse_cidr("127.0.0.1"), *parse_cidr("10.0.0.0/8")};
    HttpRequest request = request_of(text);
    see_through_proxy(request, trusted);
    CHECK(!request.peer_is_loopback);
    const auto address = parse_ip(request.peer_address);
    CHECK(address.has_value());
    CHECK(to_text(*address) == request.peer_address);

    HttpRequest appended = request_of(text);
    appended.headers.emplace_back("X-Forwarded-For", "198.51.100.7");
    see_through_proxy(appended, trusted);
    CHECK(appended.peer_address == "198.51.100.7");
}

}  // namespace
}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    interlock::try_headers({reinterpret_cast<const char*>(data), size});
    return 0;
}
