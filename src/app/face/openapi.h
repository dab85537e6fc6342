// The OpenAPI 3.1 document, made from the operation table.
#pragma once

#include "host/face/operation.h"

namespace interlock {

Json openapi_document(const OperationTable& table, std::string_view version);

}  // namespace interlock
