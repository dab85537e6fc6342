// What `interlock audit archive` asks of a running server.
#pragma once

#include "host/face/operation.h"
#include "host/service/archive_service.h"

namespace interlock {

void register_archive_operations(OperationTable& table, ArchiveService& archive);

}  // namespace interlock
