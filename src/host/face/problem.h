// Errors and answers as HTTP responses, with the headers every response carries.
#pragma once

#include "base/result.h"
#include "host/face/operation.h"
#include "net/http_message.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind no_such_route{
    "no_such_route", 404, false, "Read /openapi.json for what this server answers."};
inline constexpr ErrorKind method_not_allowed{
    "method_not_allowed", 405, false, "Use one of the methods in the Allow header."};
inline constexpr ErrorKind host_not_allowed{
    "host_not_allowed",
    403,
    false,
    "Call the server by a name it knows, or add the name to http.allowed_hosts."};
}  // namespace errors

HttpResponse problem(const Error& error);
// The same for a known operation.
HttpResponse problem(const Error& error, const Operation& operation);
// The body of a refusal. The planner's tools promise `status`, `errors` and `audit_ref` in every
// answer (agent-loop.md#tools), so theirs has them too; what never reached the engine has no
// record.
Json error_body(const Error& error, const Operation& operation);
HttpResponse to_response(ApiReply reply);
// What protects a browser; added to every response of the HTTP face.
void add_security_headers(HttpResponse& response, bool tls);

}  // namespace interlock
