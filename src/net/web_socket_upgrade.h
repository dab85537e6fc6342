// The opening handshake of a WebSocket, server side (RFC 6455 section 4.2): judges the request and
// writes the answer that ends HTTP on the connection.
#pragma once

#include <string>
#include <string_view>

#include "net/http_message.h"

namespace interlock {

// What accept_web_socket() can do with a request; found out before the handler takes it away.
struct UpgradeOffer {
    int refusal = 400;       // The status that says no: 400 or 426; 0: it can be accepted.
    std::string accept_key;  // Then the value of Sec-WebSocket-Accept.
};

// A request that brings a body is refused: whether those bytes are body or frames would be a
// matter of opinion. So is a key of other than 16 bytes, or a second one.
UpgradeOffer judge_upgrade(const HttpRequest& request, bool is_http_1_0);

HttpResponse upgrade_refusal(int status);  // 400 or 426; closes the connection.
void append_upgrade_answer(std::string& out, std::string_view accept_key);  // The 101.

}  // namespace interlock
