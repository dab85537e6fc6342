// The web pages: what a human sees in a browser. They hold no data and no secret; the script on
// them asks the same operations as everybody else, with the session cookie and from the same
// origin.
#pragma once

#include <string_view>

#include "host/face/operation.h"
#include "net/http_message.h"

namespace interlock {

// Only files of this server run, style or are called; nothing inline, no frame, no foreign form. A
// text of an agent that slipped into a page as markup could still do nothing.
inline constexpr std::string_view kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

// What a browser shows where there is no page for people.
HttpResponse lost_page(int status);

// `/`, `/activate` and, below `/assets/`, the files that they load.
void register_page_operations(OperationTable& table);

}  // namespace interlock
