// A human's own account on HTTP: logging in and out, password, second factor. Not offered to
// agents.
//
// A login sets the session cookie: HttpOnly, SameSite=Strict, and Secure under TLS. The token
// stands in the body only when asked for, for programs that keep no cookies.
#pragma once

#include "host/face/operation.h"
#include "host/service/principal_service.h"

namespace interlock {

void register_account_operations(OperationTable& table, PrincipalService& principals);

}  // namespace interlock
