// The calls by libcurl.
#include "net/web_client.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::size_t kHeaderBytesMax = 64 * 1024;
constexpr std::chrono::milliseconds kConnectTimeoutMax{10'000};
constexpr long kKeptConnectionsMax = 8;

using EasyPtr = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using ListPtr = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;
using AddressBytes = std::array<unsigned char, 17>;  // A family and up to 16 bytes.

AddressBytes address_bytes(const std::string& text) {
    AddressBytes bytes{};
    if (::inet_pton(AF_INET, text.c_str(), bytes.data() + 1) == 1) {
        bytes[0] = 4;
    } else if (::inet_pton(AF_INET6, text.c_str(), bytes.data() + 1) == 1) {
        bytes[0] = 6;
    }
    return bytes;
}

// One call while it is under way.
struct Exchange {
    const WebCall& call;
    HttpResponse response;
    std::size_t header_bytes = 0;
    int starts = 0;             // How often the request was about to be written.
    bool is_too_large = false;  // The answer.
    bool is_wrong_address = false;

    bool may_repeat() const { return call.method == "GET" || call.method == "HEAD"; }
};

// libcurl is connected and about to write the request. It writes anew when a kept connection turns
// out to be dead, although the other side may have acted on the first copy.
int on_start(void* data, char* peer_address, char*, int, int) {
    auto& exchange = *static_cast<Exchange*>(data);
    const std::string& pinned = exchange.call.pinned_address;
    if (!pinned.empty() && address_bytes(pinned) != address_bytes(peer_address)) {
        exchange.is_wrong_address = true;
        return CURL_PREREQFUNC_ABORT;
    }
    if (exchange.starts > 0 && !exchange.may_repeat()) {
        return CURL_PREREQFUNC_ABORT;
    }
    ++exchange.starts;
    return CURL_PREREQFUNC_OK;
}

int on_progress(void* data, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    const std::atomic<bool>* cancelled = static_cast<Exchange*>(data)->call.is_cancelled;
    return cancelled != nullptr && cancelled->load() ? 1 : 0;
}

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* data) {
    auto& exchange = *static_cast<Exchange*>(data);
    const std::string_view line(bytes, size * count);
    exchange.header_bytes += line.size();
    if (exchange.header_bytes > kHeaderBytesMax) {
        exchange.is_too_large = true;
        return 0;
    }
    if (line.starts_with("HTTP/")) {
        exchange.response.headers.clear();  // What came before was a "100 Continue".
        return line.size();
    }
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
        exchange.response.headers.emplace_back(line.substr(0, colon), trim(line.substr(colon + 1)));
    }
    return line.size();
}

std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* data) {
    auto& exchange = *static_cast<Exchange*>(data);
    const std::size_t total = size * count;
    if (total > exchange.call.body_bytes_max - exchange.response.body.size()) {
        exchange.is_too_large = true;
        return 0;
    }
    exchange.response.body.append(bytes, total);
    return total;
}

ListPtr append_to(ListPtr list, const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    CHECK(longer != nullptr);
    if (list.get() != longer) {
        (void)list.release();
        list.reset(longer);
    }
    return list;
}

ListPtr header_list(const WebCall& call) {
    ListPtr list(nullptr, &curl_slist_free_all);
    const auto is_given = [&](std::string_view wanted) {
        return std::ranges::any_of(call.headers, [&](const HttpHeader& header) {
            return equal_ignoring_case(header.first, wanted);
        });
    };
    for (const auto& [name, value] : call.headers) {
        list = append_to(std::move(list), value.empty() ? name + ";" : name + ": " + value);
    }
    list = append_to(std::move(list), "Expect:");  // No waiting for "100 Continue".
    if (!is_given("Content-Type")) {
        list = append_to(std::move(list), "Content-Type:");  // libcurl would guess a form.
    }
    return list;
}

// libcurl's own words for a failure never hold the URL; its longer messages may.
Result<HttpResponse> verdict(Exchange& exchange, CURLcode outcome, const WebUrl& url) {
    if (outcome == CURLE_OK) {
        return std::move(exchange.response);
    }
    const std::string to = " to " + url.host + " ";
    if (exchange.is_wrong_address) {
        return fail(errors::web_not_sent, "The call" + to + "would have gone to another address.");
    }
    const std::string why =
        exchange.is_too_large ? "the answer is larger than allowed" : curl_easy_strerror(outcome);
    if (exchange.starts == 0) {
        return fail(errors::web_not_sent, "The call" + to + "was not sent: " + why + ".");
    }
    return fail(errors::web_unknown, "What became of the call" + to + "is not known: " + why + ".");
}

class CurlWebClient final : public WebClient {
public:
    Result<HttpResponse> send(const WebCall& call) override {
        TRY_ASSIGN(const WebUrl url, parse_web_url(call.url));
        TRY(check(call, url));
        if (!easy_) {
            return fail(errors::web_not_sent, "There is no memory for a call.");
        }
        curl_easy_reset(easy_.get());  // Keeps the connections.
        Exchange exchange{.call = call, .response = {.status = 0, .headers = {}, .body = {}}};
        const ListPtr headers = header_list(call);
        ListPtr places(nullptr, &curl_slist_free_all);
        if (!call.pinned_address.empty()) {
            places = append_to(std::move(places), pinned_place(call, url));
        }
        curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, headers.get());
        curl_easy_setopt(easy_.get(), CURLOPT_CONNECT_TO, places.get());
        set_rules(call);
        set_request(call);
        set_callbacks(exchange);
        const CURLcode outcome = curl_easy_perform(easy_.get());
        long status = 0;
        curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
        exchange.response.status = static_cast<int>(status);
        return verdict(exchange, outcome, url);
    }

private:
    static Result<void> check(const WebCall& call, const WebUrl& url) {
        const bool is_method = !call.method.empty() && std::ranges::all_of(call.method, [](char c) {
            return c >= 'A' && c <= 'Z';
        });
        const bool is_pin_good =
            call.pinned_address.empty() || address_bytes(call.pinned_address)[0] != 0;
        if (!is_method || !is_pin_good || call.timeout.count() <= 0 ||
            (url.scheme != "http" && url.scheme != "https")) {
            return fail(errors::invalid_request, "The call is malformed.");
        }
        return check_headers(call.headers);
    }

    static std::string pinned_place(const WebCall& call, const WebUrl& url) {
        const std::string port = std::to_string(url.port);
        const bool is_v6 = call.pinned_address.contains(':');
        const std::string to = is_v6 ? "[" + call.pinned_address + "]" : call.pinned_address;
        return url.bracketed_host() + ":" + port + ":" + to + ":" + port;
    }

    void set_rules(const WebCall& call) {
        CURL* easy = easy_.get();
        curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
        curl_easy_setopt(easy, CURLOPT_PROXY, "");  // Whatever the environment says.
        curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
        curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
        curl_easy_setopt(easy, CURLOPT_MAXCONNECTS, kKeptConnectionsMax);
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(call.timeout.count()));
        curl_easy_setopt(
            easy,
            CURLOPT_CONNECTTIMEOUT_MS,
            static_cast<long>(std::min(call.timeout, kConnectTimeoutMax).count()));
        curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
        if (!call.ca_file.empty()) {
            curl_easy_setopt(easy, CURLOPT_CAINFO, call.ca_file.c_str());
            curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
        }
    }

    void set_request(const WebCall& call) {
        CURL* easy = easy_.get();
        curl_easy_setopt(easy, CURLOPT_URL, call.url.c_str());
        curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
        const bool has_body = !call.body.empty() || call.method == "POST" || call.method == "PUT" ||
                              call.method == "PATCH";
        if (call.method == "HEAD") {
            curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
        } else if (has_body) {
            curl_easy_setopt(
                easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
            curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call.body.data());
        }
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call.method.c_str());
    }

    void set_callbacks(Exchange& exchange) {
        CURL* easy = easy_.get();
        curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &on_start);
        curl_easy_setopt(easy, CURLOPT_PREREQDATA, &exchange);
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
        curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
        curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, &on_progress);
        curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &exchange);
        curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    }

    const EasyPtr easy_{curl_easy_init(), &curl_easy_cleanup};
};

}  // namespace

std::unique_ptr<WebClient> WebClient::create() {
    return std::make_unique<CurlWebClient>();
}

}  // namespace interlock
