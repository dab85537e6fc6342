// What `interlock audit archive` asks of a running server.
#pragma once

#include "api/operation.h"
#include "services/archive_service.h"

namespace interlock {

void register_archive_operations(OperationTable& table, ArchiveService& archive);

}  // namespace interlock
